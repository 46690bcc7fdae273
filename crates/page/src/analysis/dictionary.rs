//! Splits runs of ideographs and Hiragana into words, by the Chinese and Japanese dictionary of ICU.
//!
//! The next word is the longest dictionary word at the start of the rest. ICU does the same, but also classifies every
//! character. For each word ICU starts at the root of the dictionary, which has thousands of branches. Here a table
//! keeps the state after each first character. It takes 0.8 MB from the first run on.
//!
//! Other scripts with dictionaries, and characters that combine with others, such as marks, are left to ICU.
//!
//! **Invariant.** The words are those that ICU finds in a run whose neighbours end words.
//!
//! Reference: `DictionaryBreakIterator` of ICU4X, and <https://unicode-org.github.io/icu/userguide/boundaryanalysis/>.

use std::sync::LazyLock;

use icu_collections::char16trie::Char16TrieCursor;
use icu_provider::{DataIdentifierBorrowed, DataMarkerAttributes, DataProvider, DataRequest};
use icu_segmenter::provider::{Baked, DictionaryBreakData, SegmenterDictionaryAutoV2};

/// The dictionary, with its state after each first character.
pub(super) struct Dictionary {
    /// The state after each character of [`RANGES`], one range after the other.
    first: Vec<Char16TrieCursor<'static>>,
}

/// Returns whether a character may be in a run: a whole letter of Hiragana, or a frequent ideograph.
#[inline]
pub(super) fn has(letter: char) -> bool {
    place(letter).is_some()
}

impl Dictionary {
    /// The dictionary. `None` if the data of ICU does not have the expected format.
    #[inline]
    pub(super) fn get() -> Option<&'static Dictionary> {
        static DICTIONARY: LazyLock<Option<Dictionary>> = LazyLock::new(Dictionary::load);
        DICTIONARY.as_ref()
    }

    fn load() -> Option<Dictionary> {
        let id = DataIdentifierBorrowed::for_marker_attributes(
            DataMarkerAttributes::from_str_or_panic("cjdict"),
        );
        let request = DataRequest { id, ..DataRequest::default() };
        let found = DataProvider::<SegmenterDictionaryAutoV2>::load(&Baked, request).ok()?;
        let DictionaryBreakData::Char16Trie(trie) = found.payload.get_static()? else {
            return None;
        };
        let letters = RANGES.iter().flat_map(|&(first, last)| first..=last);
        let first = letters.map(|letter| {
            let mut cursor = trie.cursor();
            cursor.step(letter);
            cursor
        });
        Some(Dictionary { first: first.collect() })
    }

    /// Passes the bounds of every word of a run to `emit`, in order. The run begins at `offset`.
    pub(super) fn each(&self, run: &str, offset: usize, emit: &mut impl FnMut(usize, usize)) {
        let mut start = 0;
        while start < run.len() {
            let end = start + self.word_end(&run[start..]);
            emit(offset + start, offset + end);
            start = end;
        }
    }

    /// The end of the next word of a run. The word is not empty.
    fn word_end(&self, run: &str) -> usize {
        let mut letters = run.char_indices().map(|(at, letter)| (at + letter.len_utf8(), letter));
        let Some((mut end, letter)) = letters.next() else { return 0 };
        let Some(first) = place(letter).and_then(|place| self.first.get(place)) else { return end };
        let mut cursor = first.clone();
        let mut longest = None;
        loop {
            if cursor.value().is_some() {
                longest = Some(end);
            }
            if cursor.is_empty() {
                // Without a match, the word ends after the first character that continues no dictionary word.
                return longest.unwrap_or(end);
            }
            let Some((next, letter)) = letters.next() else { return longest.unwrap_or(end) };
            cursor.step(letter);
            end = next;
        }
    }
}

/// The characters of runs.
const RANGES: [(char, char); 2] = [('ぁ', 'ゖ'), ('一', '鿿')];

/// The index of a character in [`RANGES`], one range after the other.
#[inline]
fn place(letter: char) -> Option<usize> {
    let mut before = 0;
    for (first, last) in RANGES {
        if (first..=last).contains(&letter) {
            return Some(before + (letter as usize - first as usize));
        }
        before += last as usize - first as usize + 1;
    }
    None
}

//! Words of runs of ideographs and Hiragana alone, by the dictionary that ICU has for Chinese and Japanese.
//!
//! The longest word of the dictionary that the rest of a run begins with is the next one. ICU does the same, but looks at
//! every character for what else it might be, and begins at the root of the dictionary, which has thousands of branches, for
//! each word. Here the way from there by each first character is known, which takes 0.8 MB from the first run on.
//!
//! What does not live here: other scripts with dictionaries; characters that are written together with others, as marks are.
//!
//! **Invariant.** The words are those that ICU finds in a run, where what is beside it ends words.
//!
//! Reference: `DictionaryBreakIterator` of ICU4X, and <https://unicode-org.github.io/icu/userguide/boundaryanalysis/>.

use std::sync::LazyLock;

use icu_collections::char16trie::Char16TrieCursor;
use icu_provider::{DataIdentifierBorrowed, DataMarkerAttributes, DataProvider, DataRequest};
use icu_segmenter::provider::{Baked, DictionaryBreakData, SegmenterDictionaryAutoV2};

/// The dictionary, known from the first characters of its words on.
pub(super) struct Dictionary {
    /// For each character of [`RANGES`], one range after the other, where it leads from the root.
    first: Vec<Char16TrieCursor<'static>>,
}

/// Whether a character may be in a run: it is a letter of Hiragana that is whole, or a frequent ideograph.
#[inline]
pub(super) fn has(letter: char) -> bool {
    place(letter).is_some()
}

impl Dictionary {
    /// `None` if ICU's is not as we know it.
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

    /// Hands the bounds of every word of a run, which begins at `offset`, to `emit`, in order.
    pub(super) fn each(&self, run: &str, offset: usize, emit: &mut impl FnMut(usize, usize)) {
        let mut start = 0;
        while start < run.len() {
            let end = start + self.word_end(&run[start..]);
            emit(offset + start, offset + end);
            start = end;
        }
    }

    /// Where the next word of a run ends, which is not empty.
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
                // The beginning of a word that does not go on so is one with the character where it does not.
                return longest.unwrap_or(end);
            }
            let Some((next, letter)) = letters.next() else { return longest.unwrap_or(end) };
            cursor.step(letter);
            end = next;
        }
    }
}

/// What runs are of.
const RANGES: [(char, char); 2] = [('ぁ', 'ゖ'), ('一', '鿿')];

/// The place of a character among those of [`RANGES`], one range after the other.
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

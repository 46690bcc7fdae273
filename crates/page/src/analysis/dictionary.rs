//! Words of runs of Chinese and Japanese characters alone, by the dictionary that ICU has for them.
//!
//! The longest word of the dictionary that the rest of a run begins with is the next one. ICU does the same, but looks at
//! every character for what else it might be, and begins at the root of the dictionary, which has thousands of branches, for
//! each word. Here the way from there by each first character is known.
//!
//! What does not live here: other scripts with dictionaries; characters that are written together with others, as marks are.
//!
//! **Invariant.** The words are those that ICU finds in a run, where what is beside it ends words.

use std::sync::LazyLock;

use icu_collections::char16trie::Char16TrieCursor;
use icu_provider::{DataIdentifierBorrowed, DataMarkerAttributes, DataProvider, DataRequest};
use icu_segmenter::provider::{Baked, DictionaryBreakData, SegmenterDictionaryAutoV2};

/// A place in the dictionary.
type Cursor = Char16TrieCursor<'static>;

/// Where the dictionary is known from its first characters on.
struct Dictionary {
    /// For each character of [`RANGES`], one after the other, where it leads from the root.
    first: Vec<Cursor>,
}

/// The letters of Hiragana, and the frequent ideographs.
const RANGES: [(char, char); 2] = [('ぁ', 'ゖ'), ('一', '鿿')];

/// Not there if ICU's is not as we know it.
static DICTIONARY: LazyLock<Option<Dictionary>> = LazyLock::new(Dictionary::load);

impl Dictionary {
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

/// Its place in all of [`RANGES`], one after the other.
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

/// Whether runs of such characters are cut here.
#[inline]
pub(super) fn has(letter: char) -> bool {
    place(letter).is_some()
}

/// Whether there is a dictionary.
#[inline]
pub(super) fn is_there() -> bool {
    DICTIONARY.is_some()
}

/// Hands the bounds of every word of a run, which begins at `offset` and is of such characters alone, to `emit`, in order.
pub(super) fn each(run: &str, offset: usize, emit: &mut impl FnMut(usize, usize)) {
    let Some(dictionary) = &*DICTIONARY else { return };
    let mut start = 0;
    while start < run.len() {
        let end = start + dictionary.word_end(&run[start..]);
        emit(offset + start, offset + end);
        start = end;
    }
}

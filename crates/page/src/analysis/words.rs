//! Where words begin and end.
//!
//! Segments are those of the Unicode rules (UAX #29) as ICU ships them, with its dictionary for
//! Chinese and Japanese and its models for Thai, Lao, Khmer and Burmese; a segment with a letter
//! or a digit in it is a word.
//!
//! There is always a boundary at ASCII white space and controls. So a stretch between them that has a
//! character beyond ASCII is taken by itself, and everything else by the few rules that matter in ASCII
//! (`ascii.rs`) rather than by tables.
//!
//! **Invariant.** The words are those that ICU finds in the whole text.
//!
//! Reference: <https://www.unicode.org/reports/tr29/#Word_Boundaries>.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::ascii;

/// Hands the bounds of every word to `emit`, in order.
#[inline]
pub(super) fn each(text: &str, emit: &mut impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let is_break = |byte: &u8| *byte <= b' ';
    let mut from = 0;
    while from < bytes.len() {
        let ascii_end = from + ascii_bytes(&bytes[from..]);
        if ascii_end == bytes.len() {
            return ascii::each(bytes, from, ascii_end, emit);
        }
        let start = bytes[from..ascii_end].iter().rposition(is_break);
        let start = start.map_or(from, |at| from + at + 1);
        ascii::each(bytes, from, start, emit);
        let end = bytes[ascii_end..].iter().position(is_break);
        let end = end.map_or(bytes.len(), |at| ascii_end + at);
        each_unicode(&text[start..end], start, emit);
        from = end;
    }
}

/// How many bytes there are before the first that is not ASCII.
#[inline]
fn ascii_bytes(bytes: &[u8]) -> usize {
    // Many at a time, by instructions for that where there are any.
    let blocks = bytes.chunks_exact(64).take_while(|block| block.is_ascii()).count();
    let rest = &bytes[64 * blocks..];
    64 * blocks + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// ICU's rules and dictionaries; to look them up takes longer than a word.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

fn each_unicode(stretch: &str, offset: usize, emit: &mut impl FnMut(usize, usize)) {
    let mut start = 0;
    for end in SEGMENTER.segment_str(stretch).skip(1) {
        if stretch[start..end].contains(char::is_alphanumeric) {
            emit(offset + start, offset + end);
        }
        start = end;
    }
}

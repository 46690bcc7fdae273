//! Where words begin and end.
//!
//! Segments are those of the Unicode rules (UAX #29) as ICU ships them, with its dictionary for
//! Chinese and Japanese and its models for Thai, Lao, Khmer and Burmese; a segment with a letter
//! or a digit in it is a word.
//!
//! Text is taken in stretches between ASCII white space and controls, where there is a boundary
//! always. A stretch of pure ASCII, which most are, is cut by the few rules that matter there
//! rather than by tables.
//!
//! **Invariant.** The words are those that ICU finds in the whole text.
//!
//! Reference: <https://www.unicode.org/reports/tr29/#Word_Boundaries>.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

/// Hands the bounds of every word to `emit`, in order, and whether it stands among ASCII alone.
#[inline]
pub(super) fn each(text: &str, emit: &mut impl FnMut(usize, usize, bool)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        if bytes[start] <= b' ' {
            start += 1;
            continue;
        }
        let mut end = start;
        let mut all = 0;
        while end < bytes.len() && bytes[end] > b' ' {
            all |= bytes[end];
            end += 1;
        }
        if all.is_ascii() {
            each_ascii(bytes, start, end, emit);
        } else {
            each_unicode(&text[start..end], start, emit);
        }
        start = end;
    }
}

/// ICU's rules and dictionaries; to look them up takes longer than a word.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

fn each_unicode(stretch: &str, offset: usize, emit: &mut impl FnMut(usize, usize, bool)) {
    let mut start = 0;
    for end in SEGMENTER.segment_str(stretch).skip(1) {
        if stretch[start..end].contains(char::is_alphanumeric) {
            emit(offset + start, offset + end, false);
        }
        start = end;
    }
}

/// The rules that apply to ASCII: letters, digits and underscores stick together (WB5 and WB8 to
/// WB10, `WB13a`, `WB13b`); a full stop or an apostrophe between two letters (WB6, WB7) or two digits
/// does too, and so does a colon between two letters, as in Swedish `EU:s`, and a comma or a
/// semicolon between two digits (WB11, WB12).
#[inline]
fn each_ascii(bytes: &[u8], from: usize, to: usize, emit: &mut impl FnMut(usize, usize, bool)) {
    let bytes = &bytes[..to];
    let class = |at: usize| bytes.get(at).map_or(Class::Other, |&byte| CLASSES[usize::from(byte)]);
    let mut start = from;
    while start < to {
        if !class(start).is_word() {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        let mut is_word = class(start) != Class::Underscore;
        loop {
            let next = class(end);
            if next.is_word() {
                is_word |= next != Class::Underscore;
                end += 1;
            } else if joins(class(end - 1), next, class(end + 1)) {
                end += 2;
            } else {
                break;
            }
        }
        if is_word {
            emit(start, end, true);
        }
        start = end;
    }
}

/// The class of every byte.
static CLASSES: [Class; 256] = {
    let (mut classes, mut byte) = ([Class::Other; 256], 0_u8);
    while byte < 128 {
        classes[byte as usize] = Class::of(byte);
        byte += 1;
    }
    classes
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// `ExtendNumLet`
    Underscore,
    /// `MidNumLetQ`
    StopOrQuote,
    /// `MidLetter`
    Colon,
    /// `MidNum`
    CommaOrSemicolon,
    Other,
}

impl Class {
    const fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
            b'0'..=b'9' => Self::Digit,
            b'_' => Self::Underscore,
            b'.' | b'\'' => Self::StopOrQuote,
            b':' => Self::Colon,
            b',' | b';' => Self::CommaOrSemicolon,
            _ => Self::Other,
        }
    }

    fn is_word(self) -> bool {
        matches!(self, Self::Letter | Self::Digit | Self::Underscore)
    }
}

/// Whether there is no boundary on either side of `middle`.
fn joins(before: Class, middle: Class, after: Class) -> bool {
    match middle {
        Class::StopOrQuote => before == after && matches!(before, Class::Letter | Class::Digit),
        Class::Colon => before == Class::Letter && after == Class::Letter,
        Class::CommaOrSemicolon => before == Class::Digit && after == Class::Digit,
        _ => false,
    }
}

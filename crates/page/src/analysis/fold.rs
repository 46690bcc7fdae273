//! One spelling for characters that mean the same: compatibility forms, case, accents.
//!
//! This is NFKC with simple rules on top: full case mapping to lower case, the two letters whose
//! lower case differs from their folding (`ß`, `ς`), one apostrophe, and nothing that does not
//! show. Close to the standard's `NFKC_Casefold`, which differs in Cherokee and in rare signs.
//!
//! Reference: <https://www.unicode.org/reports/tr15/>, Unicode 3.13 "Default Case Algorithms".

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Writes the folded form of `word` to `out`, as many whole characters as fit in `bytes_max`.
pub(super) fn fold(word: &str, bytes_max: usize, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(&word[..word.len().min(bytes_max)]);
        out.make_ascii_lowercase();
        return;
    }
    for c in word.nfkc().flat_map(char::to_lowercase).nfkc().filter(|c| !is_invisible(*c)) {
        let (c, doubled) = match c {
            'ß' => ('s', true),
            'ς' => ('σ', false),
            '\u{2018}' | '\u{2019}' => ('\'', false),
            _ => (c, false),
        };
        let bytes = c.len_utf8() << u8::from(doubled);
        if out.len() + bytes > bytes_max {
            return;
        }
        out.push(c);
        if doubled {
            out.push(c);
        }
    }
}

/// The word without accents on Latin, Greek and Cyrillic letters; `buffer` is used if it has any.
///
/// Marks of other scripts are vowels and tones, not ornament, and stay.
pub(super) fn without_accents<'a>(word: &'a str, buffer: &'a mut String) -> &'a str {
    if word.is_ascii() {
        return word;
    }
    buffer.clear();
    for c in word.chars() {
        decompose_canonical(c, |part| match part {
            '\u{300}'..='\u{36f}' => {}
            'ø' => buffer.push('o'),
            'ł' => buffer.push('l'),
            'đ' | 'ð' => buffer.push('d'),
            'ħ' => buffer.push('h'),
            'ı' => buffer.push('i'),
            'æ' => buffer.push_str("ae"),
            'œ' => buffer.push_str("oe"),
            'þ' => buffer.push_str("th"),
            _ => buffer.push(part),
        });
    }
    if buffer.is_empty() { word } else { buffer }
}

/// Characters that a reader does not see: soft hyphen, joiners, marks of direction, selectors.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

//! Gives characters with the same meaning one spelling: compatibility forms, case, accents.
//!
//! This is NFKC with simple rules added. Full case mapping gives lower case. `ß` and `ς`, whose lower case differs from
//! their folding, are folded. Apostrophes become one character, and invisible characters are removed. The result is
//! close to `NFKC_Casefold` of the standard, which differs in Cherokee and in rare signs.
//!
//! Words whose letters all stay unchanged, as in most words, skip the decomposition.
//!
//! **Invariant.** Spellings of a word that differ in case, composition or width fold alike.
//!
//! Reference: <https://www.unicode.org/reports/tr15/>, Unicode 3.13 "Default Case Algorithms".

use std::iter;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Writes the folded form of `word` to `out`, up to the last whole character within `bytes_max`.
pub(super) fn fold(word: &str, bytes_max: usize, out: &mut String) {
    out.clear();
    if word.chars().all(|c| c.is_ascii() || is_folded(c)) {
        out.push_str(&word[..word.floor_char_boundary(bytes_max)]);
        out.make_ascii_lowercase();
        return;
    }
    fold_any(word, bytes_max, out);
}

/// Appends the folded form of any word to `out`, which must be empty.
fn fold_any(word: &str, bytes_max: usize, out: &mut String) {
    for c in word.nfkc().flat_map(char::to_lowercase).nfkc().filter(|c| !is_invisible(*c)) {
        let (first, second) = match c {
            'ß' => ('s', Some('s')),
            'ς' => ('σ', None),
            '\u{2018}' | '\u{2019}' => ('\'', None),
            _ => (c, None),
        };
        for c in iter::once(first).chain(second) {
            if out.len() + c.len_utf8() > bytes_max {
                return;
            }
            out.push(c);
        }
    }
}

/// Returns whether a letter stays unchanged beside ASCII and other such letters. These are frequent lower-case letters
/// and letters of scripts without case.
fn is_folded(letter: char) -> bool {
    matches!(letter, 'à'..='ö' | 'ø'..='ÿ' | 'α'..='ρ' | 'σ'..='ω' | 'а'..='џ' | 'ؠ'..='ي')
        || has_no_accents(letter)
}

/// Returns whether a letter belongs to a frequent script without accents.
fn has_no_accents(letter: char) -> bool {
    matches!(letter, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿿' | '가'..='힣')
}

/// The word without accents on Latin, Greek and Cyrillic letters. `buffer` holds the result if `word` is not ASCII.
///
/// Marks of other scripts are vowels and tones, so they stay. Letters that can be decomposed without an accent also
/// stay, such as the syllables of Hangul and voiced kana.
pub(super) fn without_accents<'a>(word: &'a str, buffer: &'a mut String) -> &'a str {
    if word.is_ascii() {
        return word;
    }
    buffer.clear();
    push_without_accents(word, buffer);
    buffer
}

/// Appends the word without its accents to `out`, which must be empty. A word of accents alone keeps them.
pub(super) fn push_without_accents(word: &str, out: &mut String) {
    for c in word.chars() {
        if c.is_ascii() || has_no_accents(c) {
            out.push(c);
            continue;
        }
        let mut has_accent = false;
        decompose_canonical(c, |part| has_accent |= is_accent(part));
        if has_accent {
            decompose_canonical(c, |part| {
                if !is_accent(part) {
                    push_plain(out, part);
                }
            });
        } else {
            push_plain(out, c);
        }
    }
    if out.is_empty() {
        out.push_str(word);
    }
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Appends the letter without a stroke or a similar part of its shape. Ligatures become two letters.
fn push_plain(out: &mut String, letter: char) {
    match letter {
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'đ' | 'ð' => out.push('d'),
        'ħ' => out.push('h'),
        'ı' => out.push('i'),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'þ' => out.push_str("th"),
        _ => out.push(letter),
    }
}

/// Returns whether a character is invisible: soft hyphen, joiners, direction marks, selectors.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The folded form by [`fold_any`], without the shortcut.
    fn taken_apart(word: &str, bytes_max: usize) -> String {
        let mut out = String::new();
        fold_any(word, bytes_max, &mut out);
        out
    }

    #[test]
    fn folded_letters_are_unchanged_next_to_other_letters() {
        let letters: Vec<char> = (char::MIN..=char::MAX).filter(|&c| is_folded(c)).collect();
        assert!(letters.len() > 30_000, "{} letters", letters.len());
        let mut buffer = String::new();
        for &letter in &letters {
            for other in ["a", "z", "'", "é", "ж", "か", "カ", "中", "가", "ي", "α"] {
                let word = format!("{letter}{other}{letter}{letter}");
                fold(&word, 64, &mut buffer);
                assert_eq!(buffer, taken_apart(&word, 64));
                assert_eq!(buffer, word);
            }
        }
        for letter in letters.into_iter().filter(|&c| has_no_accents(c)) {
            decompose_canonical(letter, |part| assert!(!is_accent(part), "{letter}"));
            buffer.clear();
            push_plain(&mut buffer, letter);
            assert_eq!(buffer.chars().next(), Some(letter));
        }
    }

    proptest! {
        /// Words of unchanged and other letters, cut at any byte.
        #[test]
        fn folding_equals_folding_by_decomposition(
            word in "([a-cA-C'àßςщЩかガ中가يé１ﬁ\u{301}\u{3099}\u{ad}\u{11a8}]|\\PC){0,12}",
            bytes_max in 4..40_usize,
        ) {
            let mut folded = String::new();
            fold(&word, bytes_max, &mut folded);
            prop_assert_eq!(folded, taken_apart(&word, bytes_max));
        }
    }
}

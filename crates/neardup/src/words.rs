//! The words of a text that count for its fingerprint.
//!
//! This module cuts a text into words, lower-cases them and leaves some out. It does not use stems, stop words or
//! languages. The analysis for searching is separate and may change.
//!
//! A word is a run of letters and digits. In a script without spaces (Chinese, Japanese, Thai, …) each character
//! is a word. Words with a digit and [names of months, days and time zones](crate::dates) are left out. A page
//! with a new date or counter thus keeps its words.
//!
//! Some words with a digit name a thing. They are returned separately, as *identifiers*. An identifier begins
//! with a letter (`BM1690`, `v2`), or follows a word after a hyphen, point, slash or underscore (`AB-1690`,
//! `v2.3`). Counters, dates, times, prices and measures are not identifiers (`1690`, `2025-03-01`, `12:45`,
//! `9.90`, `5kg`, `3rd`).
//!
//! **Invariant.** The remaining words do not depend on case, digits, dates, punctuation, white space or invisible
//! characters (soft hyphens, joiners).

use xxhash_rust::xxh3::xxh3_64;

use crate::dates;
use crate::letter::Letters;

/// The joined letters and the identifiers of a text.
pub(crate) struct Whole {
    /// All counted words, joined.
    pub(crate) letters: Vec<u8>,
    /// The hashes of the identifiers, in order.
    pub(crate) identifiers: Vec<u64>,
}

/// Passes each counted word to `emit`, in order and in UTF-8.
pub(crate) fn each(text: &str, mut emit: impl FnMut(&[u8])) -> Whole {
    let letters = Letters::get();
    let mut word = Word {
        letters: Vec::with_capacity(text.len()),
        start: 0,
        has_digit: false,
        joint: ' ',
        identifiers: Vec::new(),
    };
    let mut rest = text;
    loop {
        // Most characters of most texts are taken here.
        let plain = word.push_plain(rest.as_bytes());
        let mut chars = rest[plain..].chars();
        match chars.next() {
            Some(c) if c.is_ascii() => word.finish(c, &mut emit),
            Some(c) => word.push(c, letters, &mut emit),
            None => break,
        }
        rest = chars.as_str();
    }
    word.finish(' ', &mut emit);
    Whole { letters: word.letters, identifiers: word.identifiers }
}

/// Returns whether `c` joins a word to the word before.
fn is_joint(c: char) -> bool {
    matches!(c, '-' | '.' | '/' | '_' | '\u{2010}' | '\u{2011}')
}

/// The current word, stored after all counted words before it.
struct Word {
    letters: Vec<u8>,
    /// The start of the current word in `letters`.
    start: usize,
    has_digit: bool,
    /// The character between this word and the word or identifier right before it. A blank if there is neither.
    joint: char,
    identifiers: Vec<u64>,
}

impl Word {
    /// Takes the ASCII letters and digits at the start of `text`, eight at once. Returns their number.
    fn push_plain(&mut self, text: &[u8]) -> usize {
        let mut plain = 0;
        loop {
            let eight = eight_at(text, plain);
            // Set the bit of lower case. All digits have it already.
            let lower = eight | (EACH * 0x20);
            let digits = within(eight, b'0', b'9');
            let others = !(digits | within(lower, b'a', b'z')) & HIGH;
            let taken = others.trailing_zeros() as usize / 8;
            self.has_digit |= digits.trailing_zeros() < others.trailing_zeros();
            let end = self.letters.len() + taken;
            self.letters.extend_from_slice(&lower.to_le_bytes());
            self.letters.truncate(end);
            plain += taken;
            if taken < 8 {
                return plain;
            }
        }
    }

    /// Takes a character, which may end the word.
    fn push(&mut self, c: char, letters: &Letters, emit: &mut impl FnMut(&[u8])) {
        let letter = letters.of(c);
        if letter.is_unseen() {
            return;
        }
        if !letter.is_inside() || letter.is_alone() {
            self.finish(c, emit);
        }
        if letter.is_inside() {
            self.has_digit |= letter.is_digit();
            letter.push_folded(c, &mut self.letters);
        }
        if letter.is_alone() {
            self.finish(' ', emit);
        }
    }

    /// Ends the current word, if any. `next` is the character that follows it.
    fn finish(&mut self, next: char, emit: &mut impl FnMut(&[u8])) {
        let word = &self.letters[self.start..];
        let mut joint = next;
        if self.has_digit {
            if is_joint(self.joint) || !begins_with_digit(word) {
                self.identifiers.push(xxh3_64(word));
            } else {
                joint = ' ';
            }
            self.letters.truncate(self.start);
            self.has_digit = false;
        } else if dates::is_name(word) {
            self.letters.truncate(self.start);
            joint = ' ';
        } else if !word.is_empty() {
            emit(word);
            self.start = self.letters.len();
        } else {
            joint = ' ';
        }
        self.joint = joint;
    }
}

/// Returns whether a word, in UTF-8, begins with a digit.
fn begins_with_digit(word: &[u8]) -> bool {
    let first = word.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    first.is_some_and(char::is_numeric)
}

const EACH: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// The eight bytes at `at`, in little-endian order, padded with zeros after the end.
fn eight_at(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    let eight = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        eight
    });
    u64::from_le_bytes(eight)
}

/// The high bit of each byte of `eight` in the ASCII range `first..=last`.
fn within(eight: u64, first: u8, last: u8) -> u64 {
    let low = eight & !HIGH;
    let reaches = low + EACH * u64::from(0x80 - first);
    let exceeds = low + EACH * u64::from(0x7f - last);
    reaches & !exceeds & !eight & HIGH
}

#[cfg(test)]
mod tests {
    //! Texts compared with hand-written lists of their words.

    use proptest::prelude::*;

    use super::{each, xxh3_64};
    use crate::{dates, letter};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each(text, |word| words.push(String::from_utf8(word.to_vec()).expect("UTF-8")));
        assert_eq!(words, expected, "words of {text:?}");
    }

    #[test]
    fn identifiers_are_distinguished_from_counters_dates_and_prices() {
        for (text, expected) in [
            ("BM1690 and fn7845", &["bm1690", "fn7845"][..]),
            ("AB-1690, AB 1691", &["1690"]),
            ("v2.3.1", &["v2", "3", "1"]),
            ("part_07/4", &["07", "4"]),
            ("Ärmel7 東4 x²", &["ärmel7", "x²"]),
            ("1690 visitors on 2025-03-01 at 12:45, 9.90 or 5kg, the 3rd", &[]),
            ("Wed, 12-Mar-2025", &[]),
            ("end. 12 apples - 13 pears", &[]),
        ] {
            let hashes: Vec<u64> = expected.iter().map(|word| xxh3_64(word.as_bytes())).collect();
            assert_eq!(each(text, |_| ()).identifiers, hashes, "{text:?}");
        }
    }

    #[test]
    fn digits_dates_and_punctuation_are_removed() {
        check("", &[]);
        check(" \n\t…—!", &[]);
        check("Page 1 of 2, sheet B5, 3rd", &["page", "of", "sheet"]);
        check("Wed, 12 Mar 2025 10:30", &[]);
        check("l’ultimo lunedì di FÉVRIER", &["l", "ultimo", "di"]);
        check("x² ½ ٣ VIII", &["viii"]);
    }

    #[test]
    fn case_is_removed_in_every_script() {
        check("STRASSE straße", &["strasse", "strasse"]);
        check("ΟΔΟΣ οδος οδός", &["οδοσ", "οδοσ", "οδόσ"]);
        check("Ünï", &["ünï"]);
    }

    #[test]
    fn invisible_characters_are_removed() {
        check("co\u{ad}operate zero\u{200b}width \u{feff}bom", &["cooperate", "zerowidth", "bom"]);
        check("cafe\u{301}s", &["cafes"]);
    }

    #[test]
    fn scripts_without_spaces_are_split_by_character() {
        check("東京2024年abc", &["東", "京", "年", "abc"]);
        check("カタ カナ", &["カ", "タ", "カ", "ナ"]);
        check("한국어 텍스트", &["한국어", "텍스트"]);
    }

    /// A reference implementation of [`each`] that reads one character at a time.
    fn by_character(text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        for c in text.chars().filter(|c| !letter::is_unseen(*c)) {
            let is_alone = c.is_alphanumeric() && letter::is_unspaced(c);
            if is_alone || !c.is_alphanumeric() {
                words.push(String::new());
            }
            if c.is_alphanumeric() {
                words.last_mut().expect("one at least").push(c);
            }
            if is_alone {
                words.push(String::new());
            }
        }
        words.retain(|word| !word.is_empty() && !word.contains(char::is_numeric));
        let fold = |word: String| -> String {
            word.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
        };
        let folded = words.into_iter().map(fold);
        folded.filter(|word| !dates::is_name(word.as_bytes())).collect()
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -~]{1,12}",
            "[a-zA-Z0-9]{7,17}",
            "[À-žΑ-ωА-я]{1,4}",
            "[ßŉǰΐᾳﬀİı𝔸𐐀٣½\u{ad}\u{301}\u{200b}東カ한ก–€]{1,3}",
            any::<char>().prop_map(String::from),
            prop::sample::select(vec!["May", "août", " ", ". "]).prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn reading_eight_bytes_at_once_gives_equal_words(text in text()) {
            let expected = by_character(&text);
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            check(&text, &expected);
        }
    }
}

//! The words of a text that count for its fingerprint.
//!
//! What lives here: how a text is cut into words, lower-cased, and which are left out. What does
//! not: stems, stop words, languages; the analysis for searching is another one and may change.
//!
//! A word is a run of letters and digits. A character of a script that is written without spaces
//! (Chinese, Japanese, Thai, …) is a word by itself. Words with a digit and [names of
//! months and days](crate::dates) are left out, so that a page with today's date and a counter is
//! the page of yesterday.
//!
//! **Invariant.** What is left does not depend on case, digits, dates, punctuation, white space,
//! or characters that are not seen (soft hyphens, joiners).

use crate::dates;

/// Hands each word that counts to `emit`, in order and in UTF-8; returns all of them in a row.
pub(crate) fn each(text: &str, mut emit: impl FnMut(&[u8])) -> Vec<u8> {
    let mut word = Word::default();
    let mut rest = text;
    loop {
        // Most of most texts.
        let plain = word.push_plain(rest.as_bytes());
        let mut chars = rest[plain..].chars();
        match chars.next() {
            Some(c) if c.is_ascii() => word.finish(&mut emit),
            Some(c) => word.push(c, &mut emit),
            None => break,
        }
        rest = chars.as_str();
    }
    word.finish(&mut emit);
    word.letters
}

/// The lower case of ASCII letters and digits; 0 for what is neither.
static PLAIN: [u8; 256] = {
    let mut plain = [0; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        if byte.is_ascii_alphanumeric() {
            plain[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    plain
};

/// A word as far as it was read, behind those before it.
#[derive(Default)]
struct Word {
    letters: Vec<u8>,
    /// Where it begins.
    start: usize,
    has_digit: bool,
}

impl Word {
    /// Takes the ASCII letters and digits at the start of `text`; how many.
    fn push_plain(&mut self, text: &[u8]) -> usize {
        let mut plain = 0;
        while let Some(&byte) = text.get(plain) {
            let lower = PLAIN[usize::from(byte)];
            if lower == 0 {
                break;
            }
            self.has_digit |= lower <= b'9';
            self.letters.push(lower);
            plain += 1;
        }
        plain
    }

    /// Takes any character, which may end the word.
    fn push(&mut self, c: char, emit: &mut impl FnMut(&[u8])) {
        if is_unseen(c) {
            return;
        }
        let inside = c.is_alphanumeric();
        let alone = inside && is_unspaced(c);
        if !inside || alone {
            self.finish(emit);
        }
        if inside {
            self.has_digit |= c.is_numeric();
            push_folded(&mut self.letters, c);
        }
        if alone {
            self.finish(emit);
        }
    }

    fn finish(&mut self, emit: &mut impl FnMut(&[u8])) {
        let word = &self.letters[self.start..];
        if self.has_digit || dates::is_name(word) {
            self.letters.truncate(self.start);
            self.has_digit = false;
        } else if !word.is_empty() {
            emit(word);
            self.start = self.letters.len();
        }
    }
}

/// Lower case by way of upper case, which makes one of `ß` and `SS`, of `σ` and `ς`.
fn push_folded(word: &mut Vec<u8>, c: char) {
    for lower in c.to_uppercase().flat_map(char::to_lowercase) {
        word.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Soft hyphen, combining accents, zero-width spaces and joiners, byte-order mark: they neither
/// end a word nor belong to it.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// Whether `c` belongs to a script that is written without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'        // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3040}'..='\u{312f}'    // Hiragana, Katakana, Bopomofo
        | '\u{31f0}'..='\u{31ff}'    // Katakana
        | '\u{3400}'..='\u{4dbf}'    // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'    // half-width Katakana
        | '\u{20000}'..='\u{3ffff}'  // Han
    )
}

#[cfg(test)]
mod tests {
    //! Texts against their words, written out by hand.

    use super::each;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each(text, |word| words.push(String::from_utf8(word.to_vec()).expect("UTF-8")));
        assert_eq!(words, expected, "words of {text:?}");
    }

    #[test]
    fn digits_dates_and_punctuation_go() {
        check("", &[]);
        check(" \n\t…—!", &[]);
        check("Page 1 of 2, sheet B5, 3rd", &["page", "of", "sheet"]);
        check("Wed, 12 Mar 2025 10:30", &[]);
        check("l’ultimo lunedì di FÉVRIER", &["l", "ultimo", "di"]);
        check("x² ½ ٣ VIII", &["viii"]);
    }

    #[test]
    fn case_goes_in_every_script() {
        check("STRASSE straße", &["strasse", "strasse"]);
        check("ΟΔΟΣ οδος οδός", &["οδοσ", "οδοσ", "οδόσ"]);
        check("Ünï", &["ünï"]);
    }

    #[test]
    fn unseen_characters_go() {
        check("co\u{ad}operate zero\u{200b}width \u{feff}bom", &["cooperate", "zerowidth", "bom"]);
        check("cafe\u{301}s", &["cafes"]);
    }

    #[test]
    fn scripts_without_spaces_go_by_character() {
        check("東京2024年abc", &["東", "京", "年", "abc"]);
        check("カタ カナ", &["カ", "タ", "カ", "ナ"]);
        check("한국어 텍스트", &["한국어", "텍스트"]);
    }
}

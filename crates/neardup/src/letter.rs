//! The role of a character in a word: a part, the end, a word by itself, or ignored.
//!
//! The class and case of a letter need several searches in Unicode tables. A table of four bytes per character
//! caches the results for the Basic Multilingual Plane. It is built at first use.
//!
//! `words.rs` reads ASCII eight bytes at a time, and finds the ends of words.
//!
//! **Invariant.** A cached result equals the computed one.

use std::sync::LazyLock;

/// The number of characters of the Basic Multilingual Plane.
const PLANE: u32 = 1 << 16;

const LENGTH: u8 = 0b11;
const INSIDE: u8 = 1 << 2;
const DIGIT: u8 = 1 << 3;
const ALONE: u8 = 1 << 4;
const UNSEEN: u8 = 1 << 5;

/// The role of a character in a word, and its folded form if that is at most three bytes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letter {
    folded: [u8; 3],
    /// The flags above. The bits of [`LENGTH`] give the length of `folded`; 0 if the folded form does not fit.
    kind: u8,
}

impl Letter {
    fn of(c: char) -> Self {
        let mut letter = Self { folded: [0; 3], kind: 0 };
        if is_unseen(c) {
            letter.kind = UNSEEN;
        } else if c.is_alphanumeric() {
            let flag = |is: bool, flag: u8| if is { flag } else { 0 };
            letter.kind = INSIDE | flag(c.is_numeric(), DIGIT) | flag(is_unspaced(c), ALONE);
            let mut folded = Vec::new();
            push_folded(&mut folded, c);
            if let Some(room) = letter.folded.get_mut(..folded.len()) {
                room.copy_from_slice(&folded);
                letter.kind |= u8::try_from(folded.len()).expect("three at most");
            }
        }
        letter
    }

    /// Returns whether the character neither ends a word nor belongs to it.
    pub(crate) fn is_unseen(self) -> bool {
        self.kind & UNSEEN != 0
    }

    /// Returns whether the character belongs to a word.
    pub(crate) fn is_inside(self) -> bool {
        self.kind & INSIDE != 0
    }

    /// Returns whether the character is a word by itself.
    pub(crate) fn is_alone(self) -> bool {
        self.kind & ALONE != 0
    }

    pub(crate) fn is_digit(self) -> bool {
        self.kind & DIGIT != 0
    }

    /// Appends the folded form of `c`, the character of this letter.
    pub(crate) fn push_folded(self, c: char, word: &mut Vec<u8>) {
        let length = usize::from(self.kind & LENGTH);
        if length == 0 {
            return push_folded(word, c);
        }
        let end = word.len() + length;
        word.extend_from_slice(&self.folded);
        word.truncate(end);
    }
}

/// The letters of the Basic Multilingual Plane, by code point.
pub(crate) struct Letters(Vec<Letter>);

impl Letters {
    pub(crate) fn get() -> &'static Self {
        static LETTERS: LazyLock<Letters> = LazyLock::new(|| {
            // Surrogates are not characters, so their entries are never used.
            let letter = |number| Letter::of(char::from_u32(number).unwrap_or_default());
            Letters((0..PLANE).map(letter).collect())
        });
        &LETTERS
    }

    pub(crate) fn of(&self, c: char) -> Letter {
        self.0.get(c as usize).copied().unwrap_or_else(|| Letter::of(c))
    }
}

/// Converts to upper case and then to lower case, which unifies `ß` with `SS` and `σ` with `ς`.
fn push_folded(word: &mut Vec<u8>, c: char) {
    for lower in c.to_uppercase().flat_map(char::to_lowercase) {
        word.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Returns whether `c` neither ends a word nor belongs to it: soft hyphens, combining accents, zero-width spaces,
/// joiners and byte-order marks.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// Returns whether a word is a character of a script without spaces and with few characters. Chinese is the only
/// script without spaces that has many.
pub(crate) fn is_of_few(word: &[u8]) -> bool {
    // All of them take three bytes.
    let [0xe0..=0xef, _, _] = word else { return false };
    let c = std::str::from_utf8(word).ok().and_then(|word| word.chars().next());
    c.is_some_and(|c| is_unspaced(c) && !('\u{3400}'..'\u{ff66}').contains(&c))
}

/// Returns whether `c` belongs to a script written without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
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

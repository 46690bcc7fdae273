//! What a character is to a word: part of it, its end, a word by itself, or not seen at all.
//!
//! Telling a letter and its case takes several searches in tables of Unicode. For the characters of the
//! Basic Multilingual Plane the answers are kept, four bytes each, once a text has asked.
//!
//! What does not live here: ASCII, which `words.rs` reads eight at a time; where words end.
//!
//! **Invariant.** An answer kept is the answer computed.

use std::sync::LazyLock;

/// Characters of the Basic Multilingual Plane.
const PLANE: u32 = 1 << 16;

const LENGTH: u8 = 0b11;
const INSIDE: u8 = 1 << 2;
const DIGIT: u8 = 1 << 3;
const ALONE: u8 = 1 << 4;
const UNSEEN: u8 = 1 << 5;

/// What a character is, and its folded form where that is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letter {
    folded: [u8; 3],
    /// The flags above; those of [`LENGTH`] say how many bytes of `folded` count, none where the form has
    /// no room there.
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

    /// It neither ends a word nor belongs to it.
    pub(crate) fn is_unseen(self) -> bool {
        self.kind & UNSEEN != 0
    }

    /// It belongs to a word.
    pub(crate) fn is_inside(self) -> bool {
        self.kind & INSIDE != 0
    }

    /// It is a word by itself.
    pub(crate) fn is_alone(self) -> bool {
        self.kind & ALONE != 0
    }

    pub(crate) fn is_digit(self) -> bool {
        self.kind & DIGIT != 0
    }

    /// Appends the folded form of `c`, whose letter this is.
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

/// The letters of the Basic Multilingual Plane by number.
pub(crate) struct Letters(Vec<Letter>);

impl Letters {
    pub(crate) fn get() -> &'static Self {
        static LETTERS: LazyLock<Letters> = LazyLock::new(|| {
            // Halves of surrogate pairs are no characters, and nobody asks for them.
            let letter = |number| Letter::of(char::from_u32(number).unwrap_or_default());
            Letters((0..PLANE).map(letter).collect())
        });
        &LETTERS
    }

    pub(crate) fn of(&self, c: char) -> Letter {
        self.0.get(c as usize).copied().unwrap_or_else(|| Letter::of(c))
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
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// Whether a word is a character of a script without spaces that has few of them, as all have but Chinese.
pub(crate) fn is_of_few(word: &[u8]) -> bool {
    // None of these is shorter or longer.
    let [0xe0..=0xef, _, _] = word else { return false };
    let c = std::str::from_utf8(word).ok().and_then(|word| word.chars().next());
    c.is_some_and(|c| is_unspaced(c) && !('\u{3400}'..'\u{ff66}').contains(&c))
}

/// Whether `c` belongs to a script that is written without spaces between words.
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

//! Evidence in the bytes for or against UTF-8. Text in another charset is rarely valid UTF-8.
//!
//! **Invariant.** Pure ASCII refutes no charset but UTF-16.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memchr;

/// This number of valid characters beyond ASCII proves UTF-8. In text with two bytes a character, one character in
/// seven is valid by chance. Four of four are valid in one text of two thousand.
const BEYOND_DOUBT_MIN: usize = 4;
/// One malformed sequence in this number of characters does not refute UTF-8, because pages are often pasted together.
const BEYOND_DOUBT_SHARE: usize = 16;

/// The counts of sequences that a UTF-8 decoder would find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Well-formed sequences of more than one byte.
    wellformed: usize,
    /// Malformed sequences.
    malformed: usize,
    /// Whether the bytes contain a NUL, as every UTF-16 text with ASCII does.
    has_nul: bool,
}

impl Evidence {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut evidence = Self { has_nul: memchr(0, bytes).is_some(), ..Self::default() };
        for chunk in bytes.utf8_chunks() {
            evidence.wellformed += chunk.valid().bytes().filter(|&byte| byte >= 0xc0).count();
            evidence.malformed += usize::from(!chunk.invalid().is_empty());
        }
        evidence
    }

    /// The evidence of valid UTF-8. It counts only up to [`BEYOND_DOUBT_MIN`] characters.
    pub(super) fn of_text(text: &str) -> Self {
        let (mut rest, mut wellformed) = (text, 0);
        while wellformed < BEYOND_DOUBT_MIN {
            rest = &rest[Encoding::ascii_valid_up_to(rest.as_bytes())..];
            let Some(character) = rest.chars().next() else { break };
            rest = &rest[character.len_utf8()..];
            wellformed += 1;
        }
        Self { wellformed, malformed: 0, has_nul: memchr(0, text.as_bytes()).is_some() }
    }

    /// Returns whether text with this evidence can be in `encoding`.
    pub(super) fn admits(&self, encoding: &'static Encoding) -> bool {
        if encoding == UTF_8 {
            return self.malformed <= self.wellformed;
        }
        if (encoding == UTF_16LE || encoding == UTF_16BE) && !self.has_nul {
            return self.malformed > 0;
        }
        self.wellformed < BEYOND_DOUBT_MIN || self.malformed * BEYOND_DOUBT_SHARE > self.wellformed
    }
}

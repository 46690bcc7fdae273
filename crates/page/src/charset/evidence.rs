//! What the bytes themselves say about UTF-8, the one charset that text in another hardly ever
//! happens to fit.
//!
//! **Invariant.** Pure ASCII refutes no charset but UTF-16.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memchr;

/// So many characters beyond ASCII that fit are UTF-8 beyond doubt. In text of two bytes a
/// character, one in seven fits by chance; four of four, one text in two thousand.
const BEYOND_DOUBT_MIN: usize = 4;
/// One mistake in so many characters leaves it beyond doubt: pages get cut and pasted together.
const BEYOND_DOUBT_SHARE: usize = 16;

/// A count of what a UTF-8 decoder would find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Well-formed sequences of more than one byte.
    wellformed: usize,
    /// Malformed sequences.
    malformed: usize,
    /// There is a NUL, as in every UTF-16 text with ASCII in it.
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

    /// As [`Evidence::of`] for bytes that are UTF-8 throughout, of which no more are counted than put
    /// it beyond doubt.
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

    /// Whether text with this evidence can be in `encoding`, as far as UTF-8 tells.
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

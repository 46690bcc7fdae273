//! The digest: equal for texts that differ only in case, digits, dates, punctuation and white space.
//!
//! The counted words are joined without separators, so that white space has no effect. XXH3 hashes the result
//! in 64 bits. Among *n* different pages about *n*²/2⁶⁵ pairs have equal digests by chance. For a million pages,
//! that is one pair in 37 million runs.
//!
//! `words.rs` chooses the counted words.
//!
//! **Invariant.** The value depends on the sequence of letters, not on the ends of words.
//!
//! **Reference.** Y. Collet, XXH3, <https://github.com/Cyan4973/xxHash>; the idea is that of the
//! crawler `BUbiNG` (P. Boldi, A. Marino, M. Santini, S. Vigna, "`BUbiNG`: massive crawling for
//! the masses", ACM Transactions on the Web 12(2), 2018).

use xxhash_rust::xxh3::xxh3_64;

/// The digest of the counted words, given as their joined letters.
pub(crate) fn digest(letters: &[u8]) -> u64 {
    xxh3_64(letters)
}

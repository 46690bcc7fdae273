//! The digest: equal for texts that are the same page but for case, digits, dates, punctuation
//! and white space.
//!
//! The words that count are put one after the other without separators, so that it does not
//! matter where white space was, and hashed by XXH3 in 64 bits. Among *n* different pages about
//! *n*²/2⁶⁵ pairs have the same digest by chance: one pair in 37 million runs of a million pages.
//!
//! What does not live here: which words count (`words.rs`).
//!
//! **Invariant.** The value depends on the letters in a row, not on where one word ends.
//!
//! **Reference.** Y. Collet, XXH3, <https://github.com/Cyan4973/xxHash>; the idea is that of the
//! crawler `BUbiNG` (P. Boldi, A. Marino, M. Santini, S. Vigna, "`BUbiNG`: massive crawling for
//! the masses", ACM Transactions on the Web 12(2), 2018).

use xxhash_rust::xxh3::xxh3_64;

/// The digest of the words that count, given as their letters in a row.
pub(crate) fn digest(letters: &[u8]) -> u64 {
    xxh3_64(letters)
}

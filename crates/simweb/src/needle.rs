//! Needles: every page has a made-up word, which only copies of the page share.
//!
//! A page's number of 42 bits goes through a bijection, then each six bits become a syllable. The
//! last letter is one that no Snowball stemmer takes for a suffix, so that different needles stay
//! different terms.
//!
//! **Invariant.** Different pages of one web have different needles.

use crate::words::Language;

const MASK: u64 = (1 << 42) - 1;
const CONSONANTS: [char; 16] =
    ['b', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'];
const CYRILLIC: [char; 16] =
    ['б', 'д', 'ф', 'г', 'х', 'ж', 'к', 'л', 'м', 'н', 'п', 'р', 'с', 'т', 'в', 'з'];
const CZECH: [char; 16] =
    ['b', 'ď', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'ň', 'p', 'ř', 'š', 'ť', 'v', 'ž'];
const VOWELS: [char; 4] = ['a', 'e', 'i', 'o'];
const CYRILLIC_VOWELS: [char; 4] = ['а', 'е', 'и', 'о'];

/// The needle of page `page` (below 2^24) of host `host` (below 2^18).
pub(crate) fn needle(seed: u64, host: u32, page: u32, language: Language) -> String {
    debug_assert!(host < 1 << 18 && page < 1 << 24, "a needle has 42 bits");
    let mut bits = scramble(u64::from(host) << 24 | u64::from(page), seed);
    let (consonants, vowels, end) = match language {
        Language::Russian => (&CYRILLIC, &CYRILLIC_VOWELS, 'к'),
        Language::Czech => (&CZECH, &VOWELS, 'x'),
        _ => (&CONSONANTS, &VOWELS, 'x'),
    };
    let mut word = String::with_capacity(32);
    for _ in 0..7 {
        let syllable = usize::try_from(bits & 63).expect("six bits");
        word.push(consonants[syllable / 4]);
        word.push(vowels[syllable % 4]);
        bits >>= 6;
    }
    word.push(end);
    word
}

/// A bijection of 42-bit numbers for every seed: multiplying by odd numbers and folding the upper
/// half into the lower can both be undone.
fn scramble(number: u64, seed: u64) -> u64 {
    let mut word = (number ^ crate::random::mix(seed)) & MASK;
    for odd in [0x9e37_79b9_7f4b, 0xbf58_476d_1ce5] {
        word = word.wrapping_mul(odd) & MASK;
        word ^= word >> 21;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn needles_are_distinct_in_every_alphabet() {
        for language in [Language::English, Language::Russian, Language::Czech] {
            let mut seen = BTreeSet::new();
            for host in [0, 1, 2, 100_019] {
                for page in (0..1000).chain([999_999]) {
                    assert!(seen.insert(needle(1, host, page, language)), "{host} {page}");
                }
            }
        }
    }
}

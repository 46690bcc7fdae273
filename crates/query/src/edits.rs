//! Words at edit distance one or two from a word.
//!
//! An edit deletes, transposes, replaces or inserts a letter (optimal string alignment). All words at distance one
//! are generated. At distance two, only words without new letters are generated: each edit deletes a letter,
//! transposes two neighbours, or doubles a letter.
//!
//! **Invariant.** The number of words depends only on the letters of the word, not on any lexicon.
//!
//! F. J. Damerau, "A technique for computer detection and correction of spelling errors", CACM 1964; P. Norvig,
//! "How to write a spelling corrector", 2007.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Unicode blocks of 2⁷ code points; the letters of a block are tried together.
const BLOCK_BITS: u32 = 7;
/// Number of blocks whose letters are tried: those with most letters of the word, such as Latin and its accents.
const BLOCKS_MAX: usize = 2;
/// The last letter of the blocks that are tried. Later scripts have too many letters.
const LAST_ALPHABET: char = '\u{2dff}';

/// Every word at distance one from `word`, some of them twice.
pub(crate) fn one_away(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut words = without_new_letters(&letters);
    for new in alphabet(&letters) {
        for at in 0..=letters.len() {
            let (before, behind) = letters.split_at(at);
            // A letter next to an equal one is a doubled letter, generated above. Replacing a letter by itself is
            // no edit.
            if before.last() != Some(&new) && behind.first() != Some(&new) {
                words.push(join(&[before, &[new], behind]));
            }
            if let [replaced, rest @ ..] = behind
                && *replaced != new
            {
                words.push(join(&[before, &[new], rest]));
            }
        }
    }
    words.retain(|other| other != word && !other.is_empty());
    words
}

/// The words at distance two from `word` that need no new letter.
pub(crate) fn two_away(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let once = distinct(without_new_letters(&letters), word);
    let twice = once.iter().flat_map(|word| without_new_letters(&word.chars().collect::<Vec<_>>()));
    let twice = distinct(twice.collect(), word).into_iter();
    twice.filter(|word| once.binary_search(word).is_err()).collect()
}

/// The words with one letter of `letters` deleted, doubled, or transposed with the next one.
fn without_new_letters(letters: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    for at in 0..letters.len() {
        let (before, behind) = letters.split_at(at);
        words.push(join(&[before, &behind[1..]]));
        words.push(join(&[before, &behind[..1], behind]));
        if let [first, second, rest @ ..] = behind {
            words.push(join(&[before, &[*second, *first], rest]));
        }
    }
    words
}

/// The letters of the alphabets that contain most of `letters`.
fn alphabet(letters: &[char]) -> Vec<char> {
    let block = |letter: char| u32::from(letter) >> BLOCK_BITS;
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &letter in letters.iter().filter(|&&letter| letter <= LAST_ALPHABET) {
        *counts.entry(block(letter)).or_default() += 1;
    }
    let mut blocks: Vec<u32> = counts.keys().copied().collect();
    blocks.sort_by_key(|block| Reverse(counts[block]));
    blocks.truncate(BLOCKS_MAX);
    let range = |block: u32| -> RangeInclusive<u32> {
        block << BLOCK_BITS..=(block << BLOCK_BITS) + (1 << BLOCK_BITS) - 1
    };
    let known = blocks.into_iter().flat_map(range).filter_map(char::from_u32);
    known.filter(|c| c.is_alphabetic() && !c.is_uppercase()).collect()
}

fn join(parts: &[&[char]]) -> String {
    let mut text = String::with_capacity(2 * parts.iter().map(|part| part.len()).sum::<usize>());
    text.extend(parts.iter().copied().flatten());
    text
}

/// Sorts the words and removes duplicates, the word itself and the empty word.
fn distinct(mut words: Vec<String>, word: &str) -> Vec<String> {
    words.retain(|other| other != word && !other.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with all words of a small alphabet.
    #[test]
    fn one_away_gives_all_words_at_distance_one() {
        let mut words = vec![String::new()];
        for from in [0, 1, 4, 13, 40] {
            let longer: Vec<String> = words[from..]
                .iter()
                .flat_map(|word| ["a", "b", "c"].map(|c| format!("{word}{c}")))
                .collect();
            words.extend(longer);
        }
        for word in ["a", "ab", "abc", "baab", "ccab"] {
            let mut expected: Vec<&String> = words
                .iter()
                .filter(|other| !other.is_empty() && strsim::osa_distance(word, other) == 1)
                .collect();
            expected.sort();
            let is_small = |word: &&String| word.bytes().all(|byte| byte <= b'c');
            let found = distinct(one_away(word), word);
            assert_eq!(found.iter().filter(is_small).collect::<Vec<_>>(), expected, "{word}");
        }
    }

    #[test]
    fn two_away_includes_common_misspellings() {
        for (typed, meant) in
            [("acomodate", "accommodate"), ("neccesary", "necessary"), ("tommorow", "tomorrow")]
        {
            assert!(two_away(typed).iter().any(|word| word == meant), "{typed}");
        }
        let two = two_away("gardening");
        let mut distances = two.iter().map(|word| strsim::damerau_levenshtein("gardening", word));
        assert!(distances.all(|distance| (1..=2).contains(&distance)));
        assert!(two.len() < 1000, "{}", two.len());
    }

    #[test]
    fn edits_use_letters_of_the_alphabet_of_the_word() {
        for (typed, meant) in [("gardnen", "garden"), ("сдержат", "содержат"), ("σπτι", "σπιτι")]
        {
            assert!(one_away(typed).iter().any(|word| word == meant), "{typed}");
        }
        assert!(one_away("图书馆").len() < 20);
    }
}

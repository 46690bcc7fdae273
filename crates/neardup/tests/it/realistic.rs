//! Texts of words drawn by Zipf's law from one small vocabulary, in scripts with and without spaces.
//!
//! Copies with another date must have close fingerprints. Unrelated texts must have distant ones.

use std::fmt::Write;

use neardup::{Fingerprint, fingerprint};

const VOCABULARY: usize = 600;
const TEXTS: usize = 120;

/// The default maximum number of differing bits between the fingerprints of compared pages.
const DISTANCE_MAX: u32 = 3;

fn distance(a: &Fingerprint, b: &Fingerprint) -> u32 {
    (a.simhash ^ b.simhash).count_ones()
}

/// `SplitMix64`, so that the texts are reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }
}

/// The `rank`-th word: letters only.
fn word(rank: usize) -> String {
    let letter = |digit: usize| char::from(b"aeioumnrst"[digit % 10]);
    ['w', letter(rank / 100), 'b', letter(rank / 10), 'k', letter(rank)].into_iter().collect()
}

/// A random word. Its probability falls with its rank.
fn zipf(random: &mut Random) -> String {
    word(zipf_rank(random))
}

fn zipf_rank(random: &mut Random) -> usize {
    let weight = |rank: usize| 1_000_000 / (rank as u64 + 1);
    let mut left = random.below((0..VOCABULARY).map(weight).sum());
    let rank = (0..VOCABULARY).find(|&rank| match left.checked_sub(weight(rank)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    rank.expect("less than the sum of weights")
}

/// A text of 150 to 400 words, with `date` at a random position.
fn text(random: &mut Random, date: &str) -> String {
    let count = 150 + random.below(251);
    let place = random.below(count);
    let mut text = String::new();
    for at in 0..count {
        if at == place {
            write!(text, "Last changed: {date}. ").expect("writing to memory");
        }
        write!(text, "{} ", zipf(random)).expect("writing to memory");
    }
    text
}

#[test]
fn only_texts_differing_in_dates_are_close() {
    let dates =
        ["Monday, 3 March 2025", "gio 27/06/2024, 11:05", "4. Dezember 1999", "1er août 2024"];
    let mut pages: Vec<Fingerprint> = Vec::new();
    for seed in 0..TEXTS as u64 {
        for date in dates {
            pages.push(fingerprint("", &text(&mut Random(seed), date)));
        }
    }
    for alike in pages.chunks(dates.len()) {
        assert!(alike.iter().all(|page| distance(page, &alike[0]) <= DISTANCE_MAX));
    }
    // The 7,140 pairs of different texts are clearly apart.
    let texts: Vec<_> = pages.iter().step_by(dates.len()).collect();
    let pairs = (0..TEXTS).flat_map(|a| (0..a).map(move |b| (a, b)));
    let least = pairs.map(|(a, b)| distance(texts[a], texts[b])).min();
    assert!(least.expect("pairs") > 2 * DISTANCE_MAX);
}

#[test]
fn a_changed_word_in_a_long_page_is_usually_close() {
    let mut random = Random(1);
    let close = (0..100).filter(|&at| {
        let words: Vec<String> = (0..1000).map(|_| zipf(&mut random)).collect();
        let mut changed = words.clone();
        changed[at * 10] = "altogether".to_owned();
        let [page, changed] = [words, changed].map(|words| fingerprint("", &words.join(" ")));
        distance(&page, &changed) <= DISTANCE_MAX
    });
    assert!(close.count() >= 90);
}

/// Scripts without spaces and with few letters: the first letter, and the number of consecutive letters.
const SCRIPTS: [(&str, char, u32); 5] = [
    ("Thai", 'ก', 46),
    ("Lao", 'ດ', 20),
    ("Burmese", 'က', 33),
    ("Khmer", 'ក', 35),
    ("Hiragana", 'あ', 80),
];

/// Random words of a script, with two to five letters each.
fn vocabulary(first: char, letters: u32) -> Vec<String> {
    let mut random = Random(first.into());
    let letter = |random: &mut Random| {
        let number = u32::try_from(random.below(letters.into())).expect("few");
        char::from_u32(first as u32 + number).expect("a letter")
    };
    let mut word = || (0..2 + random.below(4)).map(|_| letter(&mut random)).collect();
    (0..VOCABULARY).map(|_| word()).collect()
}

#[test]
fn only_edited_versions_of_long_texts_are_close() {
    const TEXTS: usize = 20;
    let mut random = Random(3);
    for (script, first, letters) in SCRIPTS {
        let words = vocabulary(first, letters);
        let texts: Vec<Vec<usize>> =
            (0..TEXTS).map(|_| (0..1_000).map(|_| zipf_rank(&mut random)).collect()).collect();
        let print = |text: &[usize]| {
            fingerprint("", &text.iter().map(|&rank| words[rank].as_str()).collect::<String>())
        };
        let pages: Vec<Fingerprint> = texts.iter().map(|text| print(text)).collect();
        for (at, page) in pages.iter().enumerate() {
            let is_apart = |other| distance(page, other) > DISTANCE_MAX;
            assert!(pages[..at].iter().all(is_apart), "{script}: the texts differ");
        }
        let edited = texts.iter().zip(&pages).filter(|(text, page)| {
            let mut text = (*text).clone();
            text[500] = 599;
            distance(page, &print(&text)) <= DISTANCE_MAX
        });
        let edited = edited.count();
        assert!(edited >= TEXTS * 9 / 10, "{script}: {edited} of {TEXTS} are found again");
    }
}

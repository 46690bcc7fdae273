//! Texts of words drawn by Zipf's law from one small vocabulary: copies with another date against
//! unrelated texts, in scripts with spaces between words and without. The former must all be folded and the latter
//! must not.

use std::fmt::Write;

use neardup::{Config, Fingerprint, fingerprint, fold};

const VOCABULARY: usize = 600;
const TEXTS: usize = 120;

/// `SplitMix64`, so that the texts are always the same.
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

/// A word with a chance that falls with its rank.
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

/// A text of 150 to 400 words, with `date` somewhere inside.
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
fn other_dates_fold_and_other_texts_do_not() {
    let dates =
        ["Monday, 3 March 2025", "gio 27/06/2024, 11:05", "4. Dezember 1999", "1er août 2024"];
    let mut pages: Vec<Fingerprint> = Vec::new();
    for seed in 0..TEXTS as u64 {
        for date in dates {
            pages.push(fingerprint(&text(&mut Random(seed), date)));
        }
    }
    let clusters = fold(&pages, &Config::default());
    for (page, cluster) in clusters.iter().enumerate() {
        assert_eq!(*cluster as usize, page - page % dates.len(), "page {page}");
    }
    // Not by a hair either: of 7140 pairs of texts none is within twice the distance.
    let distance = |a: usize, b: usize| {
        (pages[a * dates.len()].simhash ^ pages[b * dates.len()].simhash).count_ones()
    };
    let least = (0..TEXTS).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| distance(a, b));
    assert!(least.min().expect("pairs") > 2 * Config::default().distance_max);
}

#[test]
fn a_changed_word_in_a_long_page_usually_folds() {
    let mut random = Random(1);
    let folded = (0..100).filter(|&at| {
        let words: Vec<String> = (0..1000).map(|_| zipf(&mut random)).collect();
        let mut changed = words.clone();
        changed[at * 10] = "altogether".to_owned();
        let pages = [fingerprint(&words.join(" ")), fingerprint(&changed.join(" "))];
        fold(&pages, &Config::default()) == [0, 0]
    });
    assert!(folded.count() >= 90);
}

/// Scripts without spaces that have few letters: the first of them in a row, and how many.
const SCRIPTS: [(&str, char, u32); 5] = [
    ("Thai", 'ก', 46),
    ("Lao", 'ດ', 20),
    ("Burmese", 'က', 33),
    ("Khmer", 'ក', 35),
    ("Hiragana", 'あ', 80),
];

/// The words of such a script; they have two to five letters.
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
fn long_texts_of_few_letters_do_not_fold_and_edited_ones_do() {
    const TEXTS: usize = 20;
    let mut random = Random(3);
    for (script, first, letters) in SCRIPTS {
        let words = vocabulary(first, letters);
        let texts: Vec<Vec<usize>> =
            (0..TEXTS).map(|_| (0..1_000).map(|_| zipf_rank(&mut random)).collect()).collect();
        let print = |text: &[usize]| {
            fingerprint(&text.iter().map(|&rank| words[rank].as_str()).collect::<String>())
        };
        let pages: Vec<Fingerprint> = texts.iter().map(|text| print(text)).collect();
        let apart: Vec<u32> = (0..u32::try_from(TEXTS).expect("few")).collect();
        assert_eq!(fold(&pages, &Config::default()), apart, "{script}: the texts differ");
        let edited = texts.iter().zip(&pages).filter(|(text, page)| {
            let mut text = (*text).clone();
            text[500] = 599;
            fold(&[**page, print(&text)], &Config::default()) == [0, 0]
        });
        let edited = edited.count();
        assert!(edited >= TEXTS * 9 / 10, "{script}: {edited} of {TEXTS} are found again");
    }
}

//! Difficult terms for a lexicon: long ones, common prefixes over whole buckets, one of each length. Looked up
//! singly and together, along with similar terms that do not exist.

use crate::contents::{Doc, build};
use index::{Field, Index};
use std::collections::BTreeMap;

/// Terms, with the number of documents of each.
fn terms() -> BTreeMap<String, u32> {
    let alike = (0..2_000).map(|n| format!("thesamebeginning{n:05}"));
    let nested = (1..400).map(|length| "ab".repeat(length));
    // Their common prefix is longer than a stem.
    let long = (0..40).map(|n| format!("{}{n}", "x".repeat(230 + 3 * n)));
    let short =
        ('a'..='z').flat_map(|first| ('a'..='z').map(move |second| format!("{first}{second}")));
    let others = ["", "é", "日本語", "\u{0}", "\u{0}\u{0}"].map(str::to_owned);
    let all = alike.chain(nested).chain(long).chain(short).chain(others);
    (0_u32..)
        .zip(all)
        .map(|(at, term)| (term, if at % 50 == 0 { 200 } else { 1 + at % 3 }))
        .collect()
}

/// From every term to every later one, by steps and by skips.
#[test]
fn a_walk_over_prefix_terms_skips_to_a_target() {
    let terms = terms();
    let all: Vec<_> = terms.keys().map(|term| (Field::Body, term.clone(), 0)).collect();
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 24, &[Doc { terms: all, ..Doc::default() }], "");
    let index = Index::open(dir.path()).expect("just built");
    for prefix in ["", "the", "thesamebeginning01", "ab", "x", "日", "none"] {
        let inside: Vec<&str> =
            terms.keys().map(String::as_str).filter(|term| term.starts_with(prefix)).collect();
        for stride in [1, 2, 3, 9, 40, 700] {
            for more in ["", "!"] {
                let mut walk = index.segments()[0].terms(Field::Body, prefix).expect("sound");
                let (mut at, mut steps) = (0, 0);
                while let Some(&wanted) = inside.get(at) {
                    let is_there = if steps % 2 == 0 {
                        let target = format!("{wanted}{more}");
                        at = inside.partition_point(|term| **term < *target).max(at);
                        walk.skip_to(&target)
                    } else {
                        walk.advance()
                    };
                    let expected = inside.get(at).copied();
                    assert_eq!(is_there.expect("sound"), expected.is_some(), "{prefix} {wanted}");
                    let Some(expected) = expected else { break };
                    assert_eq!(walk.term().expect("sound"), expected);
                    assert_eq!(walk.doc_frequency(), 1);
                    // A step moves to the next term, a skip to any later one.
                    at += if steps % 2 == 0 { 1 } else { stride };
                    steps += 1;
                }
            }
        }
    }
}

#[test]
fn single_and_batch_lookups_find_only_existing_terms() {
    let terms = terms();
    let docs: Vec<Doc> = (0..200)
        .map(|doc| {
            let own = terms.iter().filter(|&(_, &documents)| doc < documents);
            let fields = [Field::Title, Field::Body];
            let of_field = own.flat_map(|(term, _)| fields.map(|field| (field, term.clone())));
            let mut places = [0; 2];
            let place = |(field, term): (Field, String)| {
                let place = &mut places[usize::from(field == Field::Body)];
                *place += 1;
                (field, term, *place)
            };
            Doc { terms: of_field.map(place).collect(), ..Doc::default() }
        })
        .collect();
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 24, &docs, "");
    let index = Index::open(dir.path()).expect("just built");
    index.verify().expect("it is sound");
    let segment = &index.segments()[0];
    let mut asked = Vec::new();
    for (term, &documents) in &terms {
        for near in ["", "!", "0", "é"].map(|more| format!("{term}{more}")) {
            let there = terms.get(&near).copied().unwrap_or(0);
            asked.extend([(Field::Title, near.clone(), there), (Field::Body, near, there)]);
        }
        asked.push((Field::Url, term.clone(), 0));
        let list = segment.postings(Field::Body, term).expect("sound").expect("it is there");
        assert_eq!(list.doc_frequency(), documents, "{term:?}");
    }
    // Shuffle, so that terms looked up together are far apart.
    asked.sort_by_key(|(field, term, _)| (crc(term), *field as u8));
    for (field, term, there) in &asked {
        assert_eq!(segment.doc_frequency(*field, term).expect("sound"), *there, "{term:?}");
    }
    for count in [1, 2, 4, 5, 15, 16, 17, 100] {
        for asked in asked.chunks(count) {
            let question: Vec<(Field, &str)> =
                asked.iter().map(|(field, term, _)| (*field, term.as_str())).collect();
            let found = segment.doc_frequencies(&question).expect("sound");
            let there: Vec<u32> = asked.iter().map(|&(.., there)| there).collect();
            assert_eq!(found, there, "{question:?}");
        }
    }
}

fn crc(term: &str) -> u32 {
    term.bytes().fold(7, |sum: u32, byte| sum.wrapping_mul(0x9E37_79B1) ^ u32::from(byte))
}

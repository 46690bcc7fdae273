//! Stops a search at its first check, its second, and so on, until it completes. Its results must also be found
//! without a stop, with the same score, and it must end soon after.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use index::{DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};

use super::{Flag, Stop};
use crate::expansion::{Expander, Pattern};
use crate::{Answer, Config, Query, QueryError, Searcher, Weighting, parse};

impl Stop {
    /// A flag that is set at the check with this number.
    fn at_look(number: u64) -> Stop {
        Stop(Arc::new(Flag { looks: (AtomicU64::new(0), Some(number)), ..Flag::default() }))
    }

    pub(super) fn look(&self) {
        let (looks, last) = &self.0.looks;
        let number = looks.fetch_add(1, Ordering::Relaxed) + 1;
        if last.is_some_and(|last| number >= last) {
            self.set();
        }
    }

    fn looks(&self) -> u64 {
        self.0.looks.0.load(Ordering::Relaxed)
    }
}

const DOCUMENTS: u32 = 3000;

/// Words of two letters: the first one sets the rarity, the second is one of eight.
fn words(doc: u32) -> impl Iterator<Item = String> {
    let letters = move |shift: u32| {
        let random = doc.wrapping_mul(2_654_435_761) >> shift;
        ["a", "b", "c", "d", "e", "f", "g", "h"][(random & 7) as usize]
    };
    let rarities = [("a", 1), ("e", 2), ("i", 3), ("o", 7), ("u", 40)];
    let there = rarities.into_iter().filter(move |(_, every)| doc.is_multiple_of(*every));
    there
        .zip([3, 7, 11, 15, 19])
        .map(move |((vowel, _), shift)| format!("{vowel}{}", letters(shift)))
}

fn write(dir: &Path) -> Arc<Index> {
    let mut writer = IndexWriter::create(dir, &index::Config::default()).expect("begun");
    for doc in 0..DOCUMENTS {
        writer.add(&DocRecord::default()).expect("added");
        for (position, word) in (0..).zip(words(doc)) {
            writer.term(Field::Body, &word, position);
            if position == 1 {
                writer.term(Field::Title, &word, 0);
            }
        }
    }
    writer.commit("test").expect("committed");
    Arc::new(Index::open(dir).expect("opened"))
}

fn searcher(index: &Arc<Index>, config: Config) -> Searcher {
    let analysis = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
    let analyzer = Analyzer::build(&analysis).expect("no stemmer");
    Searcher::new(Arc::clone(index), analyzer, config, Vec::new()).expect("ready")
}

/// One query for each method of evaluation.
fn questions() -> Vec<Query> {
    let many = |between: &str| {
        let words = ["a", "e", "i", "o", "u"].into_iter().flat_map(|vowel| {
            ["a", "b", "c", "d", "e"].map(move |letter| format!("{vowel}{letter}"))
        });
        words.collect::<Vec<_>>().join(between)
    };
    let mut texts: Vec<String> = [
        "body:aa",
        "aa",
        "body:aa OR body:eb OR body:ic",
        "aa OR eb OR ic",
        "body:aa body:eb",
        "(aa OR ab) (ea OR eb)",
        "aa -eb",
        "-aa",
        "-a*",
        "\"aa eb\"",
        "\"a* e*\"",
        "a* e*",
        "a* OR e*",
        "a* -e*",
        "ab~1",
        "(a* e* i*)~3",
        "\"a* i*\"~5",
        "a* BEFORE/4 (e* OR \"i* o*\")",
        "(aa eb)~2 OR \"ab ec\"",
        "site:example.org OR aa",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push(many(" OR "));
    texts.iter().map(|text| parse(text).expect("a query")).collect()
}

fn configs() -> [Config; 3] {
    [
        Config::default(),
        Config { proximity_weight: 0.7, ..Config::default() },
        Config { model: Weighting::TfIdf, ..Config::default() },
    ]
}

fn search(searcher: &Searcher, query: &Query, stop: &Stop) -> Answer {
    searcher.prepare_until(query, stop).and_then(|ready| ready.search(2, 10)).expect("answered")
}

/// Stops at many checks, with growing gaps. Returns the number of checks without a stop.
fn at_each_look(mut check: impl FnMut(&Stop)) -> u64 {
    let mut number = 1;
    loop {
        let stop = Stop::at_look(number);
        check(&stop);
        if stop.looks() < number {
            return stop.looks();
        }
        number += 1 + number / 8;
    }
}

#[test]
fn a_stopped_search_gives_correct_partial_results() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = write(dir.path());
    for config in configs() {
        let searcher = searcher(&index, config);
        for query in questions() {
            let whole = search(&searcher, &query, &Stop::default());
            assert!(!whole.partial);
            let all = searcher.exhaustive(&query, 0, usize::MAX).expect("answered");
            let all: BTreeMap<u32, u64> =
                all.iter().map(|hit| (hit.doc.0, hit.score.to_bits())).collect();
            let mut found_some = false;
            let looks = at_each_look(|stop| {
                let answer = search(&searcher, &query, stop);
                if !answer.partial {
                    return assert_eq!(answer, whole, "{query}");
                }
                for hit in &answer.hits {
                    assert_eq!(all.get(&hit.doc.0), Some(&hit.score.to_bits()), "{query}");
                }
                let least = if answer.hits.is_empty() { 0 } else { 2 + answer.hits.len() };
                assert!((least as u64..=whole.total).contains(&answer.total), "{query}");
                found_some |= !answer.hits.is_empty();
            });
            assert!(looks > 3, "{query}: {looks} looks");
            assert!(found_some || whole.hits.is_empty(), "{query}: nothing before the end");
        }
    }
}

/// After the flag is set, each list and each loop over lists or windows checks it at most once more.
#[test]
fn a_stopped_search_ends_soon() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = write(dir.path());
    for config in configs() {
        let searcher = searcher(&index, config);
        for query in questions() {
            at_each_look(|stop| {
                search(&searcher, &query, stop);
                let (_, last) = &stop.0.looks;
                let more = stop.looks().saturating_sub(last.expect("a look"));
                assert!(more < 400, "{query}: {more} looks after it was set");
            });
        }
    }
}

#[test]
fn explanations_and_suggestions_are_stopped_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = write(dir.path());
    let searcher = searcher(&index, Config::default());
    for query in questions() {
        let hit = searcher.best(&query, 0, 1).expect("answered").first().copied();
        let Some(hit) = hit else { continue };
        let whole = searcher.explain(&query, hit.segment, hit.doc).expect("explained");
        at_each_look(|stop| {
            let ready = searcher.prepare_until(&query, stop).expect("prepared");
            let explanation = ready.explain(hit.segment, hit.doc).expect("explained");
            let is_whole = explanation == whole;
            assert!(is_whole || explanation.what.starts_with("stopped before scoring"), "{query}");
        });
    }
    let misspelt = parse("aax eex").expect("a query");
    let none = |_: &crate::Hit| Ok::<_, QueryError>(None);
    let found = crate::Matches { with_all: 0, total: 0 };
    let suggested = searcher.suggest(&misspelt, found, &Stop::default(), none).expect("answered");
    at_each_look(|stop| {
        let again = searcher.suggest(&misspelt, found, stop, none).expect("answered");
        assert!(again.is_none() || stop.is_set() || again == suggested);
    });
    at_each_look(|stop| {
        searcher.complete("aa ea", stop, none).expect("answered");
        searcher.complete("title:ea", stop, none).expect("answered");
    });
}

#[test]
fn a_stopped_highlighter_marks_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let searcher = searcher(&write(dir.path()), Config::default());
    let (query, stop) = (parse("aa").expect("a query"), Stop::default());
    let highlighter = searcher.prepare_until(&query, &stop).expect("prepared").highlighter();
    assert_eq!(highlighter.snippet("ab aa", 80).len(), 2);
    stop.set();
    for pieces in [highlighter.mark("ab aa"), highlighter.snippet("ab aa", 80)] {
        assert_eq!(pieces.iter().map(|piece| &*piece.text).collect::<String>(), "ab aa");
        assert!(pieces.iter().all(|piece| !piece.highlighted));
    }
}

#[test]
fn equal_parts_of_a_query_are_expanded_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = write(dir.path());
    let searcher = searcher(&index, Config::default());
    let looks = |text: &str| {
        let stop = Stop::default();
        searcher.prepare_until(&parse(text).expect("a query"), &stop).expect("prepared");
        stop.looks()
    };
    assert_eq!(looks("a* a* a* a*"), looks("a*"));
    assert!(looks("a* e* a* e*") > looks("a* a* a* a*"));
    // In another field it counts as another word.
    let stop = Stop::default();
    let mut expander = Expander::new(&index, 1, &stop);
    let mut expand = |field| {
        let before = stop.looks();
        let pattern = Pattern::Beginning("a".to_owned());
        expander.expand("a*", &[field], pattern).expect("expanded");
        stop.looks() - before
    };
    let counts = [Field::Body, Field::Title, Field::Body, Field::Title].map(&mut expand);
    assert!(counts[0] > 0 && counts[1] > 0);
    assert_eq!(counts[2..], [0, 0]);
}

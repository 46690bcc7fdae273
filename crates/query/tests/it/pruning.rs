//! Dynamic pruning is safe: [`Searcher::best`] gives the results of exhaustive evaluation, equal in every bit, for
//! any static scores. Every score is the sum that explains it, and [`Searcher::count`] is right.
//!
//! The collection is large enough for many windows and for lists of all lengths: words by Zipf's law, in every
//! field, in clusters, with many equal documents and so equal scores.

use std::path::Path;
use std::sync::Arc;

use index::{DocRecord, Field, Index, IndexWriter, MergePolicy, Slope};
use page::{AnalysisConfig, Analyzer};
use query::{Config, FieldWeights, Query, RankValues, Searcher, Weighting};

use crate::damage::{Files, Random};
use crate::search::check_sums;

const DOCUMENTS: u32 = 24_000;
const WORDS: u32 = 3000;
const QUERIES: usize = 1920;

/// A word by Zipf's law: as likely between n and 2n as between 2n and 4n.
fn word(random: &mut Random) -> String {
    let magnitude = random.below(12);
    format!("w{}", ((1 << magnitude) + random.below(1 << magnitude)).min(WORDS))
}

/// Documents in clusters of 300 that share a word; every fourth equals the one before. Two words fill whole blocks,
/// far from the last document.
fn write(dir: &Path, random: &mut Random, config: &index::Config, docs: std::ops::Range<u32>) {
    let mut writer = match Index::open(dir) {
        Ok(_) => IndexWriter::update(dir, config).expect("begun"),
        Err(_) => IndexWriter::create(dir, config).expect("begun"),
    };
    let mut fields: [Vec<String>; Field::ALL.len()] = Default::default();
    for doc in docs {
        if doc % 4 != 3 {
            for (field, words) in Field::ALL.into_iter().zip(&mut fields) {
                let most = if field == Field::Body { 40 } else { 4 };
                words.clear();
                words.extend((0..random.below(most)).map(|_| word(random)));
            }
            let body = &mut fields[Field::Body as usize];
            for _ in 0..random.below(6) {
                body.push(format!("c{}", doc / 300));
            }
            for blocks in [1, 2] {
                if (5120..5120 + 128 * blocks).contains(&doc) {
                    body.push(format!("full{blocks}"));
                }
            }
        }
        // Some have an invalid date.
        let date_s = if doc % 11 == 0 { -1 } else { i64::from(doc % 700) * 86_400 };
        writer.add(&DocRecord { date_s, ..DocRecord::default() }).expect("added");
        for (field, words) in Field::ALL.into_iter().zip(&fields) {
            for (position, word) in (0..).zip(words) {
                writer.term(field, word, position);
            }
        }
    }
    writer.commit("test").expect("committed");
}

fn term(random: &mut Random) -> Query {
    let text = match random.below(8) {
        0 => format!("c{}", random.below(80)),
        1 if random.below(2) == 0 => "nowhere".to_owned(),
        1 => format!("full{}", 1 + random.below(2)),
        _ => word(random),
    };
    let field = match random.below(3) {
        0 => Some(Field::Body),
        1 => Some(Field::ALL[random.below(5) as usize]),
        _ => None,
    };
    Query::Term { field, text }
}

fn terms(random: &mut Random) -> Vec<Query> {
    (0..2 + random.below(4)).map(|_| term(random)).collect()
}

fn question(random: &mut Random) -> Query {
    let phrase = |random: &mut Random| {
        let field = (random.below(2) == 0).then_some(Field::Body);
        let words: Vec<String> = (0..2 + random.below(2)).map(|_| word(random)).collect();
        Query::Phrase { field, text: words.join(" ") }
    };
    match random.below(14) {
        0 => term(random),
        12 | 13 => nested(random, 3),
        10 => {
            let word = |random: &mut Random| Query::Term { field: None, text: word(random) };
            Query::Sequence((0..=random.below(7)).map(|_| word(random)).collect())
        }
        1..=3 => Query::Or(terms(random)),
        4 | 5 => Query::And(terms(random)),
        6 => Query::And(vec![term(random), Query::Or(terms(random)), term(random)]),
        7 => without(Query::Or(terms(random)), term(random)),
        8 => without(
            Query::And(vec![term(random), term(random)]),
            Query::Or(vec![term(random), term(random)]),
        ),
        9 => match random.below(3) {
            0 => Query::And(vec![
                term(random),
                without(Query::And(vec![term(random), term(random)]), term(random)),
            ]),
            1 => without(term(random), phrase(random)),
            _ => Query::And(vec![term(random), term(random), Query::Not(Box::new(term(random)))]),
        },
        _ => match random.below(3) {
            0 => phrase(random),
            1 => Query::And(vec![term(random), phrase(random)]),
            _ => Query::Or(vec![Query::And(terms(random)), phrase(random), term(random)]),
        },
    }
}

/// Nested alternatives, conjunctions, phrases, windows and words in several forms.
fn nested(random: &mut Random, depth: u32) -> Query {
    let parts = |random: &mut Random| -> Vec<Query> {
        (0..2 + random.below(2)).map(|_| nested(random, depth - 1)).collect()
    };
    let field = if random.below(2) == 0 { Some(Field::Body) } else { None };
    let words = |random: &mut Random| format!("{} {}", word(random), word(random));
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 | 1 => term(random),
        2 => Query::Phrase { field, text: words(random) },
        3 => Query::Near {
            ordered: random.below(2) == 0,
            width: 2 + random.below(12),
            parts: vec![
                Query::Term { field, text: word(random) },
                Query::Or(vec![term(random), Query::Phrase { field, text: words(random) }]),
            ],
        },
        4 => Query::Prefix { field, text: format!("w{}", 10 + random.below(290)) },
        5 => Query::And(parts(random)),
        6 => without(nested(random, depth - 1), nested(random, depth - 1)),
        _ => Query::Or(parts(random)),
    }
}

fn without(wanted: Query, unwanted: Query) -> Query {
    Query::AndNot(Box::new(wanted), Box::new(unwanted))
}

fn configs() -> [Config; 8] {
    let ranks = |weights: &[(&str, f64)]| {
        weights.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect()
    };
    let even = FieldWeights { title: 1.0, headings: 1.0, body: 1.0, url: 1.0, anchor: 1.0 };
    let body = FieldWeights { title: 0.0, headings: 0.0, body: 1.0, url: 0.0, anchor: 0.0 };
    [
        Config::default(),
        Config { b: 0.75, ranks: ranks(&[]), weights: even, ..Config::default() },
        Config { b: 1.0, k1: 0.0, ranks: ranks(&[("pagerank", 3.0)]), ..Config::default() },
        Config { b: 0.0, k1: 9.0, weights: body, ..Config::default() },
        Config {
            ranks: ranks(&[("pagerank", 0.1), ("in-degree", 0.7), ("mine", 0.3), ("gone", 1.0)]),
            topic_weight: 0.9,
            freshness_weight: 1.1,
            ..Config::default()
        },
        Config { proximity_weight: 0.3, ..Config::default() },
        Config { proximity_weight: 5.0, b: 1.0, k1: 0.5, ranks: ranks(&[]), ..Config::default() },
        Config { model: Weighting::TfIdf, proximity_weight: 1.0, ..Config::default() },
    ]
}

fn analyzer() -> Analyzer {
    let config = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
    Analyzer::build(&config).expect("no stemmer")
}

/// Ranks of all magnitudes.
fn ranks(index: &Index, random: &mut Random) -> RankValues {
    let mut rank = |_| 0.01 * [0.0, 1.0, 3.0, 10.0, 100.0, 3000.0][random.below(6) as usize];
    let segments = index.segments().iter();
    segments.map(|segment| (0..segment.doc_count()).map(&mut rank).collect()).collect()
}

/// Runs many queries on an index whose documents have ranks of all magnitudes.
fn ask(dir: &Path, random: &mut Random, queries: usize) {
    let index = Arc::new(Index::open(dir).expect("opened"));
    let named = ["pagerank", "mine", "in-degree", "unused"]
        .map(|name| (name.to_owned(), ranks(&index, random)))
        .to_vec();
    let mut found = 0;
    for config in configs() {
        let searcher = Searcher::new(Arc::clone(&index), analyzer(), config.clone(), named.clone());
        let searcher = searcher.expect("ready");
        let of_topic = searcher.with_topic("zoo", ranks(&index, random));
        for number in 0..queries / 8 {
            let query = question(random);
            let searcher = if number % 2 == 0 { &searcher } else { &of_topic };
            let all = searcher.exhaustive(&query, 0, usize::MAX).expect("answered");
            let (count, page) = (searcher.count(&query), searcher.search(&query, 5, 10));
            let (total, page) = (all.len() as u64, page.expect("answered"));
            assert_eq!(count.expect("counted"), total, "{query} {config:?}");
            let hits = all.iter().skip(5).take(10).copied().collect();
            assert_eq!((page.total, page.hits), (total, hits), "{query} {config:?}");
            for (offset, k) in [(0, 1), (0, 10), (5, 20), (0, 300)] {
                let best = searcher.best(&query, offset, k).expect("answered");
                let expected = &all[offset.min(all.len())..(offset + k).min(all.len())];
                assert_eq!(best, expected, "{query} from {offset} {config:?}");
            }
            for hit in all.iter().take(20) {
                let explanation = searcher.explain(&query, hit.segment, hit.doc).expect("found");
                check_sums(&explanation);
                assert_eq!(explanation.value.to_bits(), hit.score.to_bits(), "{explanation}");
            }
            found += all.len();
        }
    }
    assert!(found > 100 * queries, "{found} documents");
}

#[test]
fn pruned_results_of_a_large_segment_are_exact() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(1));
    write(dir.path(), &mut random, &index::Config::default(), 0..DOCUMENTS);
    ask(dir.path(), &mut random, QUERIES);
}

/// More documents than a window has, and lists of all densities, some with documents only near the end of a window.
/// Up to sixteen words of one list each are evaluated differently from more.
#[test]
fn pruned_results_for_many_optional_words_are_exact() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut random = Random(77);
    write(dir.path(), &mut random, &index::Config::default(), 0..6000);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    for number in 0..120 {
        let count = 14 + number % 5;
        let mut words = Vec::new();
        for at in 0..count {
            let field = if at == 3 { Field::Title } else { Field::Body };
            words.push(Query::Term { field: Some(field), text: word(&mut random) });
        }
        words[5] = words[1].clone();
        let mut query = Query::Or(words);
        if number % 3 == 0 {
            query = without(query, term(&mut random));
        }
        let ranks = ("pagerank".to_owned(), ranks(&index, &mut random));
        let config = configs()[number % 8].clone();
        let searcher = Searcher::new(Arc::clone(&index), analyzer(), config, vec![ranks]);
        let searcher = searcher.expect("a searcher");
        let prepared = searcher.prepare(&query).expect("prepared");
        for k in [1, 10, 300] {
            let [best, all] = [prepared.best(0, k), prepared.exhaustive(0, k)];
            assert_eq!(best.expect("found"), all.expect("found"), "{query}, {k}");
        }
    }
}

#[test]
fn documents_counted_by_window_are_counted_once() {
    let has = |word: u32, doc: u32| match word {
        0 => !doc.is_multiple_of(3),
        1 => doc % 7 < 2,
        2 => doc / 500 % 3 == 1,
        3 => doc.wrapping_mul(2_654_435_761) >> 27 == 0,
        4 => doc % 911 == 5,
        _ => (32_600..32_900).contains(&doc) || doc % 19 == 1 && doc > 60_000,
    };
    let docs = 70_000;
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("begun");
    for doc in 0..docs {
        writer.add(&DocRecord::default()).expect("added");
        for (position, word) in (0..).zip((0..6).filter(|&word| has(word, doc))) {
            writer.term(Field::Body, &format!("w{word}"), position);
        }
    }
    writer.commit("test").expect("committed");
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let searcher = Searcher::new(index, analyzer(), Config::default(), Vec::new()).expect("ready");
    for asked in 1..1_u32 << 6 {
        let words = || (0..6).filter(move |word| asked >> word & 1 != 0);
        let text = |word| Query::Term { field: Some(Field::Body), text: format!("w{word}") };
        let count = |query| searcher.count(&query).expect("counted");
        let counted = (
            count(Query::Or(words().map(text).collect())),
            count(Query::And(words().map(text).collect())),
        );
        let any = (0..docs).filter(|&doc| words().any(|word| has(word, doc))).count() as u64;
        let all = (0..docs).filter(|&doc| words().all(|word| has(word, doc))).count() as u64;
        assert_eq!(counted, (any, all), "{asked:b}");
    }
}

/// For one word in one field, champions may replace or speed up evaluation, with equal results for any slope of the
/// index.
#[test]
fn champions_do_not_change_results() {
    for b in [0.0, 0.07, 0.5, 0.75, 1.0] {
        let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(6));
        let slope = Slope::of(b);
        let config = index::Config { slope, ..index::Config::default() };
        write(dir.path(), &mut random, &config, 0..DOCUMENTS / 2);
        let index = Arc::new(Index::open(dir.path()).expect("opened"));
        index.verify().expect("sound");
        assert_eq!(index.segments()[0].slope(), slope);
        let words: Vec<String> = (1..80).map(|word| format!("w{word}")).collect();
        let asked: Vec<(Field, &str)> = words.iter().map(|word| (Field::Body, &**word)).collect();
        let lists = index.segments()[0].lists(&asked).expect("found");
        let told = lists.iter().flatten().filter(|list| list.champions().is_some()).count();
        // If lengths do not count, most documents tie with others of different length.
        assert!(told > 30 || slope == Slope::of(0.0), "{told} with {b}");
        let text = |word: &String| Query::Term { field: Some(Field::Body), text: word.clone() };
        let questions: Vec<Query> = words.iter().map(text).collect();
        for config in configs_near(b) {
            let searcher = Searcher::new(Arc::clone(&index), analyzer(), config, Vec::new());
            check_pages(&searcher.expect("ready"), &questions);
        }
    }
}

/// Configurations with that *b* or others, with and without distinguishable scores.
fn configs_near(b: f64) -> [Config; 9] {
    let body = |body: f64| FieldWeights { body, ..FieldWeights::default() };
    let plain = Config { b, ..Config::default() };
    [
        plain.clone(),
        Config { b: 0.4, ..plain.clone() },
        Config { b: (b + 1e-7).min(1.0), ..plain.clone() },
        Config { k1: 0.01, ..plain.clone() },
        Config { k1: 100.0, ..plain.clone() },
        Config { weights: body(0.0), ..plain.clone() },
        Config { weights: body(1e6), ..plain.clone() },
        // Any occurrence gives the maximum score, up to the last digits.
        Config { k1: 2e-6, weights: body(1e8), ..plain.clone() },
        Config { freshness_weight: 0.7, ..plain },
    ]
}

/// Pages of few results are slices of all results.
fn check_pages(searcher: &Searcher, questions: &[Query]) {
    for question in questions {
        let all = searcher.exhaustive(question, 0, 40).expect("answered");
        for (offset, k) in [(0, 1), (0, 3), (0, 10), (0, 11), (4, 6), (4, 7), (10, 10)] {
            let best = searcher.best(question, offset, k).expect("answered");
            let end = (offset + k).min(all.len());
            assert_eq!(best, all[offset.min(end)..end], "{question} {offset} {k}");
        }
    }
}

#[test]
fn pruned_results_of_segments_with_deletions_are_exact() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(2));
    let config = index::Config { merge: MergePolicy::Never, ..index::Config::default() };
    for (part, slope) in (0..).zip([0.0, 0.75, 1.0]) {
        let step = DOCUMENTS / 6;
        let config = index::Config { slope: Slope::of(slope), ..config.clone() };
        write(dir.path(), &mut random, &config, part * step..(part + 1) * step);
    }
    let mut writer = IndexWriter::update(dir.path(), &config).expect("begun");
    for segment in 0..2 {
        for doc in (0..DOCUMENTS / 6).filter(|doc| doc % 7 == 1) {
            writer.delete(segment, index::DocId(doc)).expect("deleted");
        }
    }
    writer.commit("test").expect("committed");
    ask(dir.path(), &mut random, QUERIES / 2);
}

/// A large index in a folder: its files, and the number and payload of each.
fn large(dir: &Path, random: &mut Random) -> (Files, Vec<(u8, Vec<u8>)>) {
    write(dir, random, &index::Config::default(), 0..6000);
    let files = Files::read(dir);
    let sound = files.payloads().map(|(number, payload)| (number, payload.to_vec())).collect();
    (files, sound)
}

/// A forged index, if it opens.
fn open_forged(dir: &Path) -> Option<Searcher> {
    let index = Index::open(dir).ok()?;
    let searcher = Searcher::new(Arc::new(index), analyzer(), Config::default(), Vec::new());
    Some(searcher.expect("dates are not asked for"))
}

/// With forged checksums: lists with blocks that contradict each other cause no panic.
#[test]
fn contradictory_blocks_cause_no_panic() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(3));
    let (mut files, sound) = large(dir.path(), &mut random);
    for (number, payload) in sound.iter().filter(|(_, payload)| payload.len() > 100) {
        for _ in 0..12 {
            let mut forged = payload.clone();
            for _ in 0..200 {
                let at = random.below(u32::try_from(forged.len()).expect("short")) as usize;
                forged[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            files.forge(files.choose(*number), &forged);
            files.write();
            if let Some(searcher) = open_forged(dir.path()) {
                for _ in 0..40 {
                    // Any result is accepted, but no panic.
                    let _ = searcher.search(&question(&mut random), 0, 10);
                }
            }
            files.restore();
        }
    }
}

/// With forged checksums: bit sets with a wrong number of documents cause no panic.
#[test]
fn bit_sets_of_wrong_size_cause_no_panic() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(4));
    let (mut files, sound) = large(dir.path(), &mut random);
    let forgeries: [fn(&mut [u8]); 4] =
        [|set| set[0] ^= 1, |set| set.fill(0xff), |set| set[1..].fill(0), |set| set[0] = 0xff];
    for ((number, payload), forge) in
        sound.iter().flat_map(|file| forgeries.map(|forge| (file, forge)))
    {
        let mut forged = payload.clone();
        // A block begins with the mark of a bit set (64) and its length. Other bytes of 64 may be hit as well.
        for at in (2..payload.len()).filter(|&at| payload[at - 2] == 64) {
            let end = at + usize::from(payload[at - 1]);
            if let Some(set) = forged.get_mut(at..end).filter(|set| !set.is_empty()) {
                forge(set);
            }
        }
        files.forge(files.choose(*number), &forged);
        files.write();
        if let Some(searcher) = open_forged(dir.path()) {
            for _ in 0..200 {
                let question = question(&mut random);
                let _ = searcher.search(&question, 0, 10);
                let _ = searcher.count(&question);
            }
        }
        files.restore();
    }
}

/// With forged checksums: a bit set with a wrong number of documents adds no documents.
#[test]
fn bit_sets_of_wrong_size_add_no_documents() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(5));
    let (mut files, sound) = large(dir.path(), &mut random);
    let all: Vec<Query> =
        (0..60).map(|_| Query::And(vec![term(&mut random), term(&mut random)])).collect();
    let count = |searcher: &Searcher| {
        all.iter().map(|question| searcher.count(question).unwrap_or(0)).collect::<Vec<_>>()
    };
    let before = count(&open_forged(dir.path()).expect("it is sound"));
    let ones = |set: &[u8]| set.iter().map(|byte| byte.count_ones()).sum::<u32>();
    let mut lost = 0;
    for (number, payload) in &sound {
        let mut forged = payload.clone();
        for at in (2..payload.len()).filter(|&at| payload[at - 2] == 64) {
            let end = at + usize::from(payload[at - 1]);
            if let Some(set) = forged.get_mut(at..end).filter(|set| ones(set) == 128) {
                set.fill(0xff);
            }
        }
        files.forge(files.choose(*number), &forged);
        files.write();
        let after = open_forged(dir.path()).map_or_else(|| vec![0; all.len()], |it| count(&it));
        for ((question, before), after) in all.iter().zip(&before).zip(after) {
            assert!(after <= *before, "{question}: {after} of {before}");
            lost += before - after;
        }
        files.restore();
    }
    assert!(lost > 0, "some were sets");
}

//! Searches of a real index against a naive evaluation: documents and scores are computed from the tokens, and must
//! be equal.

mod forms;
mod model;

use std::sync::Arc;

use index::{DocId, DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use query::{
    Config, Explanation, FieldWeights, Hit, Match, Query, QueryError, Searcher, TERMS_MAX,
    Weighting, parse,
};

use crate::language::soup;
use model::{Document, Model};

const WORDS: [&str; 5] = ["ka", "mo", "ri", "tu", "ze"];
const HOSTS: [&str; 4] = ["a.example", "www.a.example", "b.example", "example"];

fn analyzer(stemmer: &str) -> Analyzer {
    let config = AnalysisConfig { stemmer: stemmer.to_owned(), ..AnalysisConfig::default() };
    Analyzer::build(&config).expect("a stemmer that exists")
}

/// Writes documents and commits.
fn put(mut writer: IndexWriter, documents: &[Document]) {
    for document in documents {
        writer.add(&DocRecord::default()).expect("added");
        for (field, terms) in Field::ALL.into_iter().zip(&document.fields) {
            for (position, term) in (0..).zip(terms) {
                writer.term(field, term, position);
            }
        }
    }
    writer.commit("test").expect("committed");
}

/// An index in a temporary folder, with its searcher.
fn searcher(documents: &[Document], ranks: &[f32], stemmer: &str) -> (tempfile::TempDir, Searcher) {
    searcher_with(documents, ranks, stemmer, strict())
}

/// Every word of a query is required, as in the model.
fn strict() -> Config {
    Config { matching: Match::All, ..Config::default() }
}

fn searcher_with(
    documents: &[Document],
    ranks: &[f32],
    stemmer: &str,
    config: Config,
) -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().expect("a folder");
    let writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("created");
    put(writer, documents);
    let index = Index::open(dir.path()).expect("opened");
    let segments = usize::from(!documents.is_empty());
    assert_eq!(index.segments().len(), segments, "ranks below are for one segment");
    let ranks = vec![("pagerank".to_owned(), vec![ranks.to_vec()])];
    let searcher = Searcher::new(Arc::new(index), analyzer(stemmer), config, ranks).expect("ready");
    (dir, searcher)
}

/// Every node with parts is exactly their sum from the left.
pub(crate) fn check_sums(explanation: &Explanation) {
    if !explanation.parts.is_empty() {
        let sum = explanation.parts.iter().fold(0.0, |sum, part| sum + part.value);
        assert!(sum.to_bits() == explanation.value.to_bits(), "{explanation}");
    }
    explanation.parts.iter().for_each(check_sums);
}

fn check_search(searcher: &Searcher, model: &Model<'_>, query: &Query) {
    let Some(expected) = model.answer(query) else {
        assert!(matches!(searcher.search(query, 0, 10), Err(QueryError::Empty)), "{query}");
        return;
    };
    let total = expected.len() as u64;
    let whole = searcher.search(query, 0, usize::MAX).expect("answered");
    assert_eq!(whole.hits, expected, "{query}");
    assert_eq!(whole.total, total);
    let count_only = searcher.search(query, 0, 0).expect("answered");
    assert_eq!((count_only.total, count_only.hits.len()), (total, 0));

    let mut paged: Vec<Hit> = Vec::new();
    for offset in (0..=expected.len()).step_by(3) {
        let page = searcher.search(query, offset, 3).expect("answered");
        assert_eq!(page.total, total);
        paged.extend(page.hits);
    }
    assert_eq!(paged, expected, "{query}: pages in a row");

    for doc in (0..).take(model.documents.len()) {
        let explanation = searcher.explain(query, 0, DocId(doc)).expect("explained");
        check_sums(&explanation);
        match expected.iter().find(|hit| hit.doc == DocId(doc)) {
            Some(hit) => {
                assert!(explanation.value.to_bits() == hit.score.to_bits(), "{explanation}");
            }
            None => assert!(explanation.what.starts_with("does not match"), "{explanation}"),
        }
    }
}

fn document() -> impl Strategy<Value = Document> {
    let text =
        || prop_oneof![2 => vec(select(&WORDS[..]), 0..4), 1 => vec(select(&WORDS[..]), 4..12)];
    let (host, language) = (select(&HOSTS[..]), select(&["", "en", "it"][..]));
    ([text(), text(), text(), text(), text()], host, language)
        .prop_map(|(fields, host, language)| Document::new(fields, host, language))
}

fn config() -> impl Strategy<Value = Config> {
    let numbers = || prop_oneof![1 => Just(0.0), 4 => 0.0..4.0_f64];
    let weights = [numbers(), numbers(), numbers(), numbers(), numbers()];
    let model = select(&[Weighting::Bm25f, Weighting::TfIdf][..]);
    let chosen = (
        numbers(),
        prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
        weights,
        (numbers(), numbers(), model),
    );
    let chosen = chosen.prop_map(|(k1, b, [title, headings, body, url, anchor], others)| {
        let weights = FieldWeights { title, headings, body, url, anchor };
        let (rank, proximity_weight, model) = others;
        let ranks = [("pagerank".to_owned(), rank)].into();
        Config { model, k1, b, weights, proximity_weight, ranks, ..strict() }
    });
    prop_oneof![1 => Just(strict()), 3 => chosen]
}

/// Words in all forms, and phrases.
fn placed() -> impl Strategy<Value = Query> {
    let field = || prop_oneof![2 => Just(None), 1 => select(&Field::ALL[..]).prop_map(Some)];
    let word = select(&["ka", "mo", "ri", "tu", "ze", "Ka", "none", "ka-mo", "!?"][..]);
    let own = str::to_owned;
    let phrase = || {
        vec(select(&["ka", "mo", "ri", "!", "ka-mo", "m*", "ka*", "*"][..]), 0..4)
            .prop_map(|words| words.join(" "))
    };
    let beginning = select(&["k", "ka", "M", "r", "zz", "ka-m", "s", "site"][..]);
    let near = select(&["ka", "kam", "om", "rituze", "Zee", "ka-me"][..]);
    prop_oneof![
        6 => (field(), word).prop_map(move |(field, text)| Query::Term { field, text: own(text) }),
        3 => (field(), phrase()).prop_map(|(field, text)| Query::Phrase { field, text }),
        1 => (field(), beginning).prop_map(move |(field, text)| Query::Prefix { field, text: own(text) }),
        1 => (field(), near, 1..3_u32)
            .prop_map(move |(field, text, distance)| Query::Fuzzy { field, text: own(text), distance }),
        1 => (field(), phrase(), 1..6_u32)
            .prop_map(|(field, text, width)| Query::Within { field, text, width }),
    ]
}

/// A random window.
fn window() -> impl Strategy<Value = Query> {
    let inner = placed().prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Query::And),
            vec(inner.clone(), 0..3).prop_map(Query::Or),
            near(inner),
        ]
    });
    near(inner)
}

fn near(inner: impl Strategy<Value = Query> + Clone) -> impl Strategy<Value = Query> + Clone {
    (any::<bool>(), 1..9_u32, vec(inner, 1..4)).prop_map(|(ordered, width, parts)| Query::Near {
        ordered,
        width,
        parts,
    })
}

fn leaf() -> impl Strategy<Value = Query> {
    prop_oneof![
        12 => placed(),
        3 => window(),
        1 => select(&HOSTS[..]).prop_map(|host| Query::Site(host.to_owned())),
        1 => select(&["en", "it", "de"][..]).prop_map(|code| Query::Language(code.to_owned())),
    ]
}

fn any_query() -> impl Strategy<Value = Query> {
    leaf().prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Query::And),
            vec(inner.clone(), 0..4).prop_map(Query::Or),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Query::AndNot(Box::new(a), Box::new(b))),
            inner.prop_map(|query| Query::Not(Box::new(query))),
        ]
    })
}

/// A query with random sequences.
fn any_sequence() -> impl Strategy<Value = Query> {
    let required = |part| Query::Required(Box::new(part));
    leaf().prop_recursive(4, 16, 4, move |inner| {
        let part = prop_oneof![4 => inner.clone(), 1 => inner.clone().prop_map(required)];
        prop_oneof![
            4 => vec(part, 0..5).prop_map(Query::Sequence),
            1 => vec(inner.clone(), 0..4).prop_map(Query::And),
            1 => vec(inner.clone(), 0..4).prop_map(Query::Or),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Query::AndNot(Box::new(a), Box::new(b))),
            1 => inner.prop_map(|query| Query::Not(Box::new(query))),
        ]
    })
}

/// The query without sequences; `combine` joins their plain words.
struct SpellOut(fn(Vec<Query>) -> Query);

impl SpellOut {
    fn part(&self, query: &Query) -> Query {
        let parts = |queries: &[Query]| queries.iter().map(|query| self.part(query)).collect();
        match query {
            Query::Sequence(parts) => self.sequence(parts),
            Query::Required(part) => self.part(part),
            Query::And(queries) => Query::And(parts(queries)),
            Query::Or(queries) => Query::Or(parts(queries)),
            Query::AndNot(wanted, unwanted) => {
                let unwanted = SpellOut(Query::Or).part(unwanted);
                Query::AndNot(Box::new(self.part(wanted)), Box::new(unwanted))
            }
            Query::Not(unwanted) => Query::Not(Box::new(SpellOut(Query::Or).part(unwanted))),
            query => query.clone(),
        }
    }

    fn sequence(&self, parts: &[Query]) -> Query {
        let (mut wanted, mut required) = (Vec::new(), Vec::new());
        self.sort(parts, &mut wanted, &mut required);
        required.push((self.0)(wanted));
        Query::And(required)
    }

    fn sort(&self, parts: &[Query], wanted: &mut Vec<Query>, required: &mut Vec<Query>) {
        for part in parts {
            match part {
                Query::Sequence(inner) if part.is_plain() => self.sort(inner, wanted, required),
                Query::Term { field: None, text } => {
                    let words = model::words(text).into_iter();
                    wanted.extend(words.map(|(text, _)| Query::Term { field: None, text }));
                }
                Query::Prefix { field: None, .. } | Query::Fuzzy { field: None, .. } => {
                    wanted.push(part.clone());
                }
                part => required.push(self.part(part)),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn at_least_one_plain_word_is_required(
        documents in vec(document(), 1..20),
        queries in vec(any_sequence(), 24),
    ) {
        let (_dir, lenient) = searcher_with(&documents, &[], "none", Config::default());
        let (_other, strict) = searcher(&documents, &[], "none");
        for query in &queries {
            let some = SpellOut(Query::Or).part(query);
            let all = SpellOut(Query::And).part(query);
            let Ok(expected) = strict.search(&some, 0, 30) else {
                prop_assert!(lenient.search(query, 0, 30).is_err(), "{query:?}");
                continue;
            };
            let found = lenient.search(query, 0, 30).expect("as spelled out");
            prop_assert_eq!(&found.hits, &expected.hits, "{:?}", query);
            prop_assert_eq!(found.total, expected.total);
            let with_all = strict.count(&all).expect("as spelled out");
            prop_assert_eq!(found.with_all.unwrap_or(found.total), with_all, "{:?}", query);
            prop_assert!(with_all <= found.total, "{:?}", query);
        }
    }

    #[test]
    fn search_equals_naive_evaluation(
        documents in vec(document(), 0..20),
        ranks in vec(prop_oneof![Just(0.0_f32), 0.0..20.0_f32], 0..20),
        config in config(),
        queries in vec(any_query(), 12),
    ) {
        let (_dir, searcher) = searcher_with(&documents, &ranks, "none", config.clone());
        let model = Model { documents: &documents, ranks: &ranks, config };
        for query in &queries {
            check_search(&searcher, &model, query);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any text gets an answer or an error, and can be explained and highlighted.
    #[test]
    fn any_query_text_gets_an_answer(text in prop_oneof![soup(), any::<String>()]) {
        thread_local! {
            static SEARCHER: (tempfile::TempDir, Searcher) =
                texts(&["a b é", "b 日本 x y", "en example.org OR", ""], "english");
        }
        if let Ok(query) = parse(&text) {
            SEARCHER.with(|(_dir, searcher)| check_answered(searcher, &query));
        }
    }
}

fn check_answered(searcher: &Searcher, query: &Query) {
    match searcher.search(query, 0, 10) {
        Ok(answer) => {
            for hit in answer.hits {
                let explanation = searcher.explain(query, hit.segment, hit.doc).expect("found");
                assert!(explanation.value.to_bits() == hit.score.to_bits(), "{explanation}");
            }
        }
        Err(error) => {
            let known = matches!(error, QueryError::Empty | QueryError::TooManyTerms { .. });
            assert!(known, "{query}: {error}");
        }
    }
    let text = query.to_string();
    if let Ok(prepared) = searcher.prepare(query) {
        let marked = prepared.highlighter().mark(&text);
        assert_eq!(marked.into_iter().map(|piece| piece.text).collect::<String>(), text);
    }
}

/// Documents of texts alone.
fn texts(texts: &[&str], stemmer: &str) -> (tempfile::TempDir, Searcher) {
    texts_with(texts, stemmer, strict())
}

fn texts_with(texts: &[&str], stemmer: &str, config: Config) -> (tempfile::TempDir, Searcher) {
    let analyzer = analyzer(stemmer);
    let documents: Vec<Document> = texts
        .iter()
        .map(|text| {
            let mut document = Document::new(Default::default(), "example", "");
            document.fields[Field::Body as usize] = analyzer.terms(text);
            document
        })
        .collect();
    searcher_with(&documents, &[], stemmer, config)
}

fn found(searcher: &Searcher, text: &str) -> Vec<u32> {
    let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let hits =
        searcher.search(&query, 0, 100).unwrap_or_else(|error| panic!("{text}: {error}")).hits;
    let mut docs: Vec<u32> = hits.into_iter().map(|hit| hit.doc.0).collect();
    docs.sort_unstable();
    docs
}

/// The address has a filter and no words. Its length of 0 must not cause a division by 0.
#[test]
fn an_empty_page_is_found_by_site() {
    let mut other = Document::new(Default::default(), "b.example", "");
    other.fields[Field::Url as usize] = vec!["ka".to_owned()];
    let documents = [Document::new(Default::default(), "a.example", ""), other];
    let weights = FieldWeights { title: 0.0, headings: 0.0, body: 0.0, url: 0.0, anchor: 0.0 };
    for (k1, b) in [(0.0, 1.0), (1.2, 1.0), (0.0, 0.0)] {
        let config = Config { k1, b, weights: weights.clone(), ..strict() };
        let (_dir, searcher) = searcher_with(&documents, &[], "english", config);
        for text in
            ["ka OR site:a.example", "site:a.example", "(ka OR site:a.example) site:a.example"]
        {
            let query = parse(text).expect("a query");
            let best = searcher.best(&query, 0, 10).expect("answered");
            assert_eq!(
                best,
                searcher.exhaustive(&query, 0, 10).expect("answered"),
                "{text} {k1} {b}"
            );
            assert!(best.iter().any(|hit| hit.doc == DocId(0)), "{text} {k1} {b}");
        }
    }
}

#[test]
fn queries_are_analysed_like_documents() {
    let (_dir, searcher) = texts(
        &[
            "The sieves of Eratosthenes",
            "state-of-the-art sieve",
            "the art of a state",
            "東京都に住む",
            "צה\"ל",
        ],
        "english",
    );
    let table: [(&str, &[u32]); 13] = [
        ("Sieve", &[0, 1]),
        ("sieving !!", &[0, 1]),
        ("state-of-the-art", &[1]),
        ("\"art of\"", &[2]),
        ("\"of art\"", &[]),
        ("-sieve", &[2, 3, 4]),
        ("צה\"ל", &[4]),
        ("- sieve", &[0, 1]),
        ("-sieve -東京", &[2, 4]),
        ("eratosthenes | state", &[0, 1, 2]),
        ("title:sieve", &[]),
        ("body:sieve -state", &[0]),
        ("site:example", &[0, 1, 2, 3, 4]),
    ];
    for (text, expected) in table {
        assert_eq!(found(&searcher, text), expected, "{text}");
    }
}

/// Parts of filters: letters and everything that is, or becomes, or hides next to a colon.
#[rustfmt::skip]
const COLONS: [&str; 16] = [
    "site", "lang", "example.org", "en", "é", "日本", "1", ":", ":", "：", "﹕", "︓", "·", "'", "\u{200d}",
    "\u{301}",
];

proptest! {
    /// So that no text of a page can imitate the special terms of `site:` and `lang:`.
    #[test]
    fn no_term_contains_two_consecutive_colons(scraps in vec(select(&COLONS[..]), 0..12)) {
        let text = scraps.concat();
        for analyzer in [analyzer("none"), analyzer("english")] {
            let terms = analyzer.terms(&text);
            prop_assert!(terms.iter().all(|term| !term.contains("::")), "{}: {:?}", text, terms);
        }
    }
}

/// A page cannot claim another host or language by its address.
#[test]
fn page_addresses_cannot_forge_filters() {
    let mut forger = Document::new(Default::default(), "forger.example", "en");
    let address = &mut forger.fields[Field::Url as usize];
    for text in
        ["forger.example/site:a.example/lang:it", "site::a.example lang::it", "SITE：a.example"]
    {
        address.extend(analyzer("none").terms(text));
    }
    let honest = Document::new(Default::default(), "a.example", "it");
    let (_dir, searcher) = searcher(&[forger, honest], &[], "none");
    for (text, expected) in
        [("site:a.example", 1), ("lang:it", 1), ("site:forger.example", 0), ("lang:en", 0)]
    {
        assert_eq!(found(&searcher, text), [expected], "{text}");
    }
}

#[test]
fn forms_and_windows_find_the_expected_documents() {
    let (_dir, searcher) = texts(
        &[
            "computers compute computations",            // 0: one stem
            "a colour is a color",                       // 1
            "computing in colours, coolers",             // 2
            "solar panels on the roof of the city hall", // 3
            "the roof without solar or wind panel",      // 4
            "résumé of the site",                        // 5
        ],
        "english",
    );
    let table: [(&str, &[u32]); 26] = [
        // Filters are no words.
        ("url:site* | url:sit~2 | url:s*", &[]),
        ("comput*", &[0, 2]),
        // A term is a stem. A longer prefix matches its own term.
        ("computing*", &[0, 2]),
        ("COMPUT* colour*", &[2]),
        ("résu*", &[5]),
        ("resume*", &[5]),
        ("zzz*", &[]),
        ("colour~1", &[1, 2]),
        ("color~1", &[1, 2]),
        ("cooler~1", &[2]),
        ("cooler~2", &[1, 2]),
        ("colouur~1", &[1, 2]),
        ("colruo~1", &[]),
        ("colruo~2", &[1, 2]),
        ("\"solar pan*\"", &[3]),
        ("\"pan* solar\"", &[]),
        ("solar NEAR/2 panel", &[3]),
        ("solar NEAR/4 panel", &[3, 4]),
        ("solar NEAR/3 panel", &[3]),
        ("(roof solar)~5", &[3, 4]),
        ("solar BEFORE/5 roof", &[3]),
        ("\"solar roof\"~5", &[3]),
        ("\"solar roof\"~4", &[]),
        ("\"roof solar\"~3", &[4]),
        ("(\"city hall\" (solar panel*)~2)~9", &[3]),
        ("(\"city hall\" (solar panel*)~2)~8", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(found(&searcher, text), expected, "{text}");
    }
}

#[test]
fn words_matching_a_form_are_highlighted() {
    let (_dir, searcher) = texts(&["a colour and a computer"], "english");
    let query = parse("comput* color~1 -a").expect("a query");
    let marked =
        searcher.prepare(&query).expect("has words").highlighter().mark("a colour and a computer");
    let words: Vec<&str> =
        marked.iter().filter(|piece| piece.highlighted).map(|piece| piece.text.as_str()).collect();
    assert_eq!(words, ["colour", "computer"]);
}

/// A prefix of very many words: only the most frequent ones are searched for, and a note says so.
#[test]
fn too_many_forms_are_truncated_with_a_note() {
    let words: Vec<String> = (0..30_000).map(|number| format!("w{number}x")).collect();
    let often = "w777x w29999x";
    let all = words.join(" ");
    let (_dir, searcher) = texts(&[&all, often, often, "v"], "none");
    let answer = searcher.search(&parse("w*").expect("a query"), 0, 10).expect("answered");
    assert_eq!(answer.total, 3);
    let said = "w* matches 30000 words; only the 1024 most common are searched for";
    assert_eq!(answer.notes, [said]);
    let next_to = found(&searcher, "\"w* w29999x\"");
    assert_eq!(next_to, [1, 2], "w777x is one of those that most have, w29998x is not");
    let answer = searcher.search(&parse("v* w777x~1").expect("a query"), 0, 10).expect("answered");
    assert_eq!((answer.total, answer.notes.len()), (0, 0));
    // The limit applies to all of them together.
    let many = "w* ".repeat(TERMS_MAX);
    let answer = searcher.search(&parse(&many).expect("a query"), 0, 10).expect("answered");
    let said = "w* may match more words than were examined; only the 16 most common of those are searched for";
    assert_eq!((answer.total, answer.notes), (1, vec![said.to_owned()]));
    let many = "w1~2 ".repeat(TERMS_MAX);
    searcher.search(&parse(&many).expect("a query"), 0, 10).expect("answered");
}

/// A filter of a kind that the index lacks matches nothing, and a note says why.
#[test]
fn a_filter_missing_from_the_index_is_reported() {
    let (_dir, searcher) = texts(&["a", "b"], "none");
    let notes = |text: &str| {
        let query = parse(text).expect("a query");
        searcher.search(&query, 0, 10).expect("answered").notes
    };
    assert_eq!(notes("a site:example"), [""; 0]);
    assert_eq!(notes("a site:other.example"), [""; 0], "others have sites");
    let unknown = notes("a -lang:en (lang:it | date:2026 filetype:txt link:a.example/)");
    let kinds: Vec<&str> = unknown.iter().map(|note| &note[..5]).collect();
    assert_eq!(kinds, ["`lang", "`date", "`file", "`link"], "{unknown:?}");
    let (_dir, searcher) = texts(&[], "none");
    let answer = searcher.search(&parse("lang:en").expect("a query"), 0, 10).expect("answered");
    assert_eq!(answer.notes, [""; 0], "nothing is known of nothing");
}

#[test]
fn filters_choose_by_type_link_and_date() {
    let mut documents = vec![Document::new(Default::default(), "a.example", ""); 3];
    let of = [
        "type::html date::2025 date::2025-12 date::2025-12-31",
        "type::pdf date::2026 date::2026-01 date::2026-01-01",
        "type::pdf date::2026 date::2026-03 date::2026-03-15",
    ];
    for (document, filters) in documents.iter_mut().zip(of) {
        document.fields[Field::Url as usize].extend(filters.split(' ').map(str::to_owned));
    }
    let links =
        [(0, "http://b.example/x"), (1, "https://b.example/x"), (2, "http://b.example/x?y=(z)")];
    for (doc, link) in links {
        documents[doc].fields[Field::Url as usize].push(page::Filter::of_link(link));
    }
    let (_dir, searcher) = searcher(&documents, &[], "none");
    let table: [(&str, &[u32]); 13] = [
        ("filetype:PDF", &[1, 2]),
        ("-filetype:pdf", &[0]),
        ("date:2026", &[1, 2]),
        ("date:2026-01", &[1]),
        ("date:2025-12-31..2026-01-01", &[0, 1]),
        ("date:..2025", &[0]),
        ("date:2026-01-02..", &[2]),
        ("date:2026-02..2026-03-14", &[]),
        ("date:2026-02..2026-03-15", &[2]),
        ("link:http://b.example:80/x#part", &[0]),
        ("link:https://b.example/x", &[1]),
        ("link:b.example/x", &[0, 1]),
        ("link:\"b.example/x?y=(z)\"", &[2]),
    ];
    for (text, expected) in table {
        assert_eq!(found(&searcher, text), expected, "{text}");
    }
}

/// A part without positions cannot be put into a window, not even by a program.
#[test]
fn a_window_of_parts_without_positions_is_refused() {
    let (_dir, searcher) = texts(&["a"], "none");
    let word = || Query::Term { field: None, text: "a".to_owned() };
    for wrong in [Query::Site("example".to_owned()), Query::Not(Box::new(word()))] {
        let near = Query::Near { ordered: false, width: 5, parts: vec![word(), wrong] };
        let error = searcher.search(&near, 0, 1).unwrap_err();
        assert!(matches!(error, QueryError::InWindowTree { .. }), "{error}");
    }
}

#[test]
fn a_query_of_punctuation_is_empty() {
    let (_dir, searcher) = texts(&["a"], "none");
    for text in ["!", "-!", "\"?\" OR ...", "a -a"] {
        let answer = searcher.search(&parse(text).expect("a query"), 0, 10);
        assert_eq!(matches!(answer, Err(QueryError::Empty)), text != "a -a", "{text}");
    }
}

#[test]
fn an_empty_index_answers_queries() {
    let (_dir, searcher) = texts(&[], "none");
    for text in ["a", "-a", "\"a b\"", "a OR b", "site:example.org"] {
        assert_eq!(found(&searcher, text), [], "{text}");
    }
    let error = searcher.explain(&parse("a").expect("a query"), 0, DocId(0)).unwrap_err();
    assert!(matches!(error, QueryError::NoSuchDocument { segment: 0, doc: 0 }));
}

#[test]
fn limits_apply_to_query_trees_from_programs() {
    let (_dir, searcher) = texts(&["a"], "none");
    let word = || Query::Term { field: None, text: "a".to_owned() };
    let wide = |count: usize| Query::And((0..count).map(|_| word()).collect());
    assert_eq!(searcher.search(&wide(TERMS_MAX), 0, 1).expect("at the limit").total, 1);
    let error = searcher.search(&wide(TERMS_MAX + 1), 0, 1).unwrap_err();
    assert!(matches!(error, QueryError::TooManyTerms { .. }), "{error}");
    let glued = Query::Phrase { field: None, text: "a ".repeat(TERMS_MAX + 1) };
    let error = searcher.search(&glued, 0, 1).unwrap_err();
    assert!(matches!(error, QueryError::TooManyTerms { .. }), "{error}");

    let deep = |depth: usize| (0..depth).fold(word(), |query, _| Query::Not(Box::new(query)));
    assert_eq!(searcher.search(&deep(256), 0, 1).expect("at the limit").total, 1);
    let error = searcher.search(&deep(1000), 0, 1).unwrap_err();
    assert!(matches!(error, QueryError::TooDeepTree { .. }), "{error}");
}

/// The deepest and widest texts that parse are also answered.
#[test]
fn every_parsed_query_is_answered() {
    let (_dir, searcher) = texts(&["a b", "b c", "c"], "none");
    for level in ["(", "-(", "(a -", "(b | c -", "a OR -(b c -", "(a b -c | -"] {
        let text = format!("{}b{}", level.repeat(64), ")".repeat(64));
        let query = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        searcher.search(&query, 0, 10).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

/// Function words count only in queries without other words.
#[test]
fn function_words_are_dropped_beside_other_words() {
    let texts = ["please use the red rose", "a rose", "methods to use and use", "tulips"];
    let (_dir, searcher) = texts_with(&texts, "english", Config::default());
    let ask = |text: &str| {
        let hits = searcher.search(&parse(text).expect(text), 0, 10).expect("answered").hits;
        hits.iter().map(|hit| (hit.doc.0, hit.score)).collect::<Vec<_>>()
    };
    let docs = |text: &str| ask(text).iter().map(|&(doc, _)| doc).collect::<Vec<_>>();
    assert_eq!(ask("What is the a of roses?"), ask("rose"));
    assert_eq!(docs("rose"), [1, 0], "the shorter one first");
    assert_eq!(docs("the method"), [2], "a word with content stays");
    assert_eq!(docs("the"), [0], "the only word stays");
    assert_eq!(docs("the site:none.example"), [0_u32; 0], "beside a filter, too");
    assert_eq!(docs("+the rose"), [0], "a required word stays");
    assert_eq!(docs("\"the red\" of"), [0], "beside a phrase it goes");
}

/// Alone, words joined by punctuation are a phrase; words of a script without spaces are not.
#[test]
fn joined_words_form_a_phrase_only_alone() {
    let texts = ["an art state", "state-of-the-art", "東京都に住む", "東京"];
    let (_dir, searcher) = texts_with(&texts, "none", Config::default());
    for (text, expected) in [
        ("state-art", &[][..]),
        ("state-of-the-art", &[1]),
        ("state-art tulips", &[0, 1]),
        ("+state-art tulips", &[]),
        ("-state-of", &[0, 2, 3]),
        ("-state-art -tulips", &[0, 1, 2, 3]),
        ("+state-art", &[]),
        ("state-art OR tulips", &[]),
        ("+東京に住む", &[]),
        ("(+art) tulips", &[]),
        ("東京に住む", &[2, 3]),
        ("+東京に住む 東京", &[]),
    ] {
        let answer = searcher.search(&parse(text).expect(text), 0, 10).expect("answered");
        let mut docs: Vec<u32> = answer.hits.iter().map(|hit| hit.doc.0).collect();
        docs.sort_unstable();
        assert_eq!(docs, expected, "{text}");
    }
}

/// Punctuation alone gives an error with a cure.
#[test]
fn a_query_without_words_gets_an_explanatory_error() {
    let (_dir, searcher) = texts(&["roses"], "english");
    for text in ["!!!", "\"...\"", "-- ??", "title:*", "§ → ©", " "] {
        let error = parse(text).and_then(|query| searcher.search(&query, 0, 10)).expect_err(text);
        let told = error.to_string();
        assert!(!told.contains("empty"), "{text}: {told}");
        assert!(told.contains("no words") && told.contains("letter or a digit"), "{told}");
    }
}

#[test]
fn ranks_order_results_without_word_scores() {
    let documents = vec![Document::new(Default::default(), "example", ""); 4];
    let (_dir, searcher) = searcher(&documents, &[0.5, f32::NAN, 3.0, -1.0], "none");
    let query = parse("site:example").expect("a query");
    let hits = searcher.search(&query, 0, 10).expect("answered").hits;
    assert_eq!(hits.iter().map(|hit| hit.doc.0).collect::<Vec<_>>(), [2, 0, 1, 3]);
    assert!(hits[2].score == 0.0 && hits[3].score == 0.0, "no rank is worth nothing");
}

#[test]
fn an_explanation_has_the_expected_text() {
    let (_dir, searcher) =
        texts(&["solar panel", "solar solar wind roof", "wind farm sea"], "none");
    let query = parse("\"solar wind\" roof").expect("a query");
    let text = searcher.explain(&query, 0, DocId(1)).expect("explained").to_string();
    let expected = "\
1.938170  score for \"solar wind\" roof
  1.938170  all of
    1.039077  \"solar wind\"
      0.608240  solar: idf 0.4700 × tf 1.2941; 2 of 4 in body (average 3.0, weight 1); in 2 of 3 documents
";
    assert!(text.starts_with(expected), "{text}");
    let prior =
        "  0.000000  static score of the page\n    0.000000  pagerank: weight 0.1 × ln(1 + 0)\n";
    assert!(text.ends_with(prior), "{text}");
}

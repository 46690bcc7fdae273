//! Suggestions: examples by hand, and single words against a search of all words.

use std::sync::Arc;

use index::{DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};
use proptest::collection::vec;
use proptest::prelude::*;
use query::{
    Config, FEW_RESULTS, Hit, Matches, Query, QueryError, Searcher, Stop, Suggestion, parse,
};

/// Documents, each a title and a text, and a searcher over them.
pub(crate) struct Library {
    searcher: Searcher,
    texts: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Library {
    pub(crate) fn new(stemmer: &str, documents: &[(&str, &str)]) -> Library {
        let folder = tempfile::tempdir().expect("a folder");
        let config = AnalysisConfig { stemmer: stemmer.to_owned(), ..AnalysisConfig::default() };
        let analyzer = Analyzer::build(&config).expect("a stemmer that exists");
        let mut writer =
            IndexWriter::create(folder.path(), &index::Config::default()).expect("created");
        for (title, text) in documents {
            let record = DocRecord { title: (*title).to_owned(), ..DocRecord::default() };
            writer.add(&record).expect("added");
            for (field, words) in [(Field::Title, title), (Field::Body, text)] {
                for (position, term) in (0..).zip(analyzer.terms(words)) {
                    writer.term(field, &term, position);
                }
            }
        }
        writer.commit("test").expect("committed");
        let index = Arc::new(Index::open(folder.path()).expect("opened"));
        let searcher =
            Searcher::new(index, analyzer, Config::default(), Vec::new()).expect("ready");
        let texts = documents.iter().map(|(_, text)| (*text).to_owned()).collect();
        Library { searcher, texts, _folder: folder }
    }

    fn text(&self, hit: &Hit) -> Option<String> {
        self.texts.get(hit.doc.0 as usize).cloned()
    }

    fn matches(&self, query: &Query) -> Matches {
        self.searcher.prepare(query).expect("prepared").matches().expect("counted")
    }

    fn suggest(&self, query: &str) -> Option<Suggestion> {
        let query = parse(query).expect("a query");
        let found = self.matches(&query);
        self.searcher
            .suggest(&query, found, &Stop::default(), |hit| Ok::<_, QueryError>(self.text(hit)))
            .expect("answered")
    }

    fn suggested(&self, query: &str) -> Option<String> {
        self.suggest(query).map(|suggestion| suggestion.query)
    }

    pub(crate) fn complete(&self, text: &str) -> Vec<String> {
        self.searcher
            .complete(text, &Stop::default(), |hit| Ok::<_, QueryError>(self.text(hit)))
            .expect("answered")
    }

    /// Completes as in an index without texts.
    pub(crate) fn complete_without_texts(&self, text: &str) -> Vec<String> {
        self.searcher
            .complete(text, &Stop::default(), |_| Ok::<_, QueryError>(None))
            .expect("answered")
    }
}

fn garden() -> Library {
    Library::new(
        "english",
        &[
            ("Gardening for Beginners", "soil, seeds and a database of plants"),
            ("Gardening in Winter", "what the okapi does not know of gardening"),
            ("The Gardens of Rome", "roses and databases"),
            ("Résumé of a year", "gardening, seeds, wardens"),
            ("A warden", "solar panels on roofs"),
            ("City hall", "solar panels and seeds"),
        ],
    )
}

#[test]
fn suggestions_keep_the_original_spelling() {
    let library = garden();
    for (query, expected) in [
        ("gardning", Some("gardening")),
        ("gardenign", Some("gardening")),
        ("gardnes", Some("gardens")),
        ("Gardning", Some("Gardening")),
        // The stem of `database` is `databas`, whose own stem differs.
        ("databsae", Some("database")),
        ("resme", Some("résumé")),
        ("title:gardning", Some("title:gardening")),
        ("title:pannels", None),
        ("soler pannels", Some("solar panels")),
        ("(soler roof)~9", Some("(solar roof)~9")),
        ("soler -pannels", Some("solar -pannels")),
        ("okapi OR gardning", Some("okapi | gardening")),
        ("seeds -gardning", None),
        ("\"solar pannels\"", None),
        ("xyzzyplugh", None),
        // Three results are enough, and an equal number is not better.
        ("seeds OR gardning", None),
        ("okapi OR okapo", None),
    ] {
        assert_eq!(library.suggested(query).as_deref(), expected, "{query}");
    }
}

/// A correct rare word stays. A correction must find more.
#[test]
fn a_suggestion_changes_least_and_finds_more() {
    let library = garden();
    assert_eq!(library.suggested("okapi gardning").as_deref(), Some("okapi gardening"));
    assert_eq!(library.suggested("+okapi +rozes"), None);
    assert_eq!(library.suggested("gardening"), None, "enough results");
    assert_eq!(library.suggested("wardens"), None, "pages have it");
    let suggestion = library.suggest("sedes").expect("seeds");
    assert_eq!(suggestion, Suggestion { query: "seeds".to_owned(), total: 3 });
}

/// A word that occurs is replaced only by a far more frequent one, and only without results.
#[test]
fn a_misspelling_found_in_documents_is_corrected() {
    for (right, expected) in [(10, None), (11, Some("+separate +garden"))] {
        let texts = std::iter::once("seperate").chain((0..right).map(|_| "separate garden"));
        let documents: Vec<(&str, &str)> = texts.map(|text| ("", text)).collect();
        let library = Library::new("english", &documents);
        assert_eq!(library.suggested("+seperate +garden").as_deref(), expected, "{right}");
        assert_eq!(library.suggested("seperate"), None);
    }
}

/// Words with digits are names, not misspelt.
#[test]
fn words_with_digits_are_not_corrected() {
    let text = "BM1690 1690 BM1690s";
    let library = Library::new("none", &[("a", text), ("b", text), ("c", text), ("d", text)]);
    for query in ["1691", "BM1691", "BM1690x", "a++"] {
        assert_eq!(library.suggested(query), None, "{query}");
    }
}

/// At equal distance, the most frequent word is suggested. Distance one comes before two.
#[test]
fn suggestions_are_ordered_by_distance_then_document_frequency() {
    let documents: Vec<(&str, &str)> = ["bread", "brand brand", "brand"]
        .iter()
        .map(|text| ("", *text))
        .chain((0..5).map(|_| ("", "grind grant")))
        .collect();
    let library = Library::new("none", &documents);
    // `brand` and `bread` are one edit away, `grind` and `grant` two.
    assert_eq!(library.suggested("bra nd"), None);
    assert_eq!(library.suggested("brend").as_deref(), Some("brand"));
    // Words of four letters are corrected up to distance one.
    assert_eq!(library.suggested("bred").as_deref(), Some("bread"));
    assert_eq!(library.suggested("rant").as_deref(), Some("grant"));
    assert_eq!(library.suggested("gint"), None);
}

/// A search of all words for the best one at distance one.
fn naive(documents: &[Vec<String>], typed: &str) -> Option<(String, u64)> {
    if with(documents, typed) > 0 {
        return None;
    }
    let mut words: Vec<(std::cmp::Reverse<usize>, &String)> = documents
        .iter()
        .flatten()
        .filter(|word| distance(typed, word) == 1)
        .map(|word| (std::cmp::Reverse(with(documents, word)), word))
        .collect();
    words.sort();
    words.first().map(|(documents, word)| ((*word).clone(), documents.0 as u64))
}

/// The number of documents with a word.
fn with(documents: &[Vec<String>], word: &str) -> usize {
    documents.iter().filter(|words| words.iter().any(|other| other == word)).count()
}

/// The optimal string alignment distance, by its definition.
fn distance(a: &str, b: &str) -> usize {
    fn of(one: &[u8], other: &[u8]) -> usize {
        let (Some((x, rest)), Some((y, other_rest))) = (one.split_last(), other.split_last())
        else {
            return one.len().max(other.len());
        };
        let replaced = of(rest, other_rest) + usize::from(x != y);
        let best = replaced.min(of(rest, other) + 1).min(of(one, other_rest) + 1);
        match (rest, other_rest) {
            ([shorter @ .., before], [other_shorter @ .., other_before])
                if before == y && other_before == x =>
            {
                best.min(of(shorter, other_shorter) + 1)
            }
            _ => best,
        }
    }
    of(a.as_bytes(), b.as_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn single_word_suggestions_equal_an_exhaustive_search(
        documents in vec(vec("[ab]{3,6}", 1..6), 1..30),
        typed in "[ab]{3,6}",
    ) {
        let texts: Vec<String> = documents.iter().map(|words| words.join(" ")).collect();
        let pairs: Vec<(&str, &str)> = texts.iter().map(|text| ("", text.as_str())).collect();
        let library = Library::new("none", &pairs);
        let suggestion = library.suggest(&typed).map(|found| (found.query, found.total));
        let nearest = naive(&documents, &typed);
        if nearest.is_some() {
            prop_assert_eq!(suggestion, nearest);
        } else if let Some((word, total)) = suggestion {
            // Two edits of the same letters may be three in optimal string alignment.
            prop_assert!((2..=3).contains(&distance(&typed, &word)));
            prop_assert_eq!(with(&documents, &typed), 0);
            prop_assert_eq!(total, with(&documents, &word) as u64);
        }
    }

    /// A suggestion has the stated number of results, and more than the query.
    #[test]
    fn a_suggestion_has_the_stated_number_of_results(query in "(title:|-|\\(|\")?[gsrw][aeo][a-z]{1,5}( | OR |\\) )[a-z]{2,5}[*\")]?") {
        let library = garden();
        let Ok(parsed) = parse(&query) else { return Ok(()) };
        if library.searcher.count(&parsed).is_err() { return Ok(()) }
        if let Some(suggestion) = library.suggest(&query) {
            let again = parse(&suggestion.query).expect("a query");
            let (before, after) = (library.matches(&parsed), library.matches(&again));
            prop_assert_eq!(after.total, suggestion.total);
            prop_assert!(before.with_all < FEW_RESULTS && after > before);
        }
    }
}

/// At most two words of a query are changed.
#[test]
fn at_most_two_words_are_corrected() {
    let library = garden();
    let changed = |query: &str| library.suggested(query);
    assert_eq!(changed("gardning gardenng").as_deref(), Some("gardening gardening"));
    assert_eq!(
        changed("gardning gardenng gardeni").as_deref(),
        Some("gardening gardening gardeni")
    );
    assert_eq!(changed("gardning xyzzyplugh").as_deref(), Some("gardening xyzzyplugh"));
    assert_eq!(changed("+gardning +xyzzyplugh"), None);
    assert_eq!(changed("+gardning +gardenng +gardeni"), None);
    library.suggested(&"gardnig solr pannel ".repeat(80));
    let other: Vec<String> = (0..200).map(|n| format!("g{}rden", "ab".repeat(n % 9))).collect();
    library.suggested(&other.join(" OR "));
}

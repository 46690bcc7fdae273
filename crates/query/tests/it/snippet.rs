//! Snippets: examples by hand, and the best window against all windows.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::{Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use query::{Config, Highlighter, Piece, Searcher, parse};

/// The highlighter of a query, on an empty index.
fn highlighter(query: &str) -> Highlighter {
    let dir = tempfile::tempdir().expect("a folder");
    let writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("created");
    writer.commit("nothing").expect("committed");
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let analyzer = Analyzer::build(&AnalysisConfig::default()).expect("the default chain");
    let searcher = Searcher::new(index, analyzer, Config::default(), Vec::new()).expect("ready");
    searcher.prepare(&parse(query).expect("a query")).expect("has words").highlighter()
}

/// Highlighted pieces in brackets.
fn bracketed(pieces: &[Piece]) -> String {
    let print = |piece: &Piece| {
        if piece.highlighted { format!("[{}]", piece.text) } else { piece.text.clone() }
    };
    pieces.iter().map(print).collect()
}

fn plain(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

#[test]
fn titles_are_highlighted_by_stem_phrase_and_script() {
    let table = [
        ("sieve", "Sieves, sieving & SIEVE", "[Sieves], [sieving] & [SIEVE]"),
        ("\"city hall\" -tax", "Hall of the city: tax", "[Hall] of the [city]: tax"),
        ("title:budget OR site:hall.example", "The hall's budget", "The hall's [budget]"),
        ("a", "", ""),
    ];
    for (query, text, expected) in table {
        assert_eq!(bracketed(&highlighter(query).mark(text)), expected, "{query}");
    }
}

#[test]
fn snippets_have_the_expected_text() {
    let text = "A first line about nothing at all.\nThe town council voted. \
                It met in the (old) city hall, late at night, to speak about solar panels\tand wind. \
                Then everybody went home, as far as anyone knows.";
    let table = [
        ("hall", 40, "… the (old) city [hall], late at night, …"),
        (
            "solar hall",
            70,
            "… (old) city [hall], late at night, to speak about [solar] panels and …",
        ),
        ("panel wind", 30, "… [panels] and [wind]. Then …"),
        ("council", 60, "… The town [council] voted. It met in the (old) city hall, …"),
        ("absent", 24, "A first line about …"),
        ("knows", 31, "… as far as anyone [knows]."),
        ("first", 20, "A [first] line …"),
        ("hall", 4, "A f…"),
        ("hall", 0, ""),
    ];
    for (query, chars_max, expected) in table {
        let pieces = highlighter(query).snippet(text, chars_max);
        assert_eq!(bracketed(&pieces), expected, "{query} in {chars_max}");
    }
    let whole = highlighter("wind").snippet("a  wind\n blows", 100);
    assert_eq!(bracketed(&whole), "a [wind] blows");
}

#[test]
fn snippets_without_spaces_are_cut_between_words() {
    let text = "私は東京都に住んでいます。".repeat(20)
        + "京都のお寺は美しいです。"
        + &"これは文です。".repeat(20);
    let pieces = highlighter("お寺").snippet(&text, 30);
    assert!(plain(&pieces).chars().count() <= 30);
    assert_eq!(bracketed(&pieces), "… 都に住んでいます。京都の[お寺]は美しいです。これは文 …");
}

const WORDS: [&str; 6] = ["ka", "mo", "ri", "tu", "ze", "longer"];

/// The greatest (different terms, highlighted words) of any stretch of at most `budget` characters.
fn best_of_all_windows(words: &[&str], wanted: &[&str], budget: usize) -> Option<(usize, usize)> {
    let mut best = None;
    for first in 0..words.len() {
        for last in first..words.len() {
            let window = &words[first..=last];
            let marked: Vec<&str> = window.iter().copied().filter(|w| wanted.contains(w)).collect();
            if window.join(" ").chars().count() <= budget && !marked.is_empty() {
                let distinct = marked.iter().collect::<BTreeSet<_>>().len();
                best = best.max(Some((distinct, marked.len())));
            }
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_snippet_is_the_best_window(words in vec(select(&WORDS[..]), 0..60), chars_max in 6..60_usize) {
        let wanted = ["ka", "mo", "longer"];
        let text = words.join(" ");
        let highlighter = highlighter("ka \"mo longer\" -ri");
        let pieces = highlighter.snippet(&text, chars_max);
        let snippet = plain(&pieces);
        prop_assert!(snippet.chars().count() <= chars_max);
        prop_assert!(pieces.iter().all(|piece| !piece.text.is_empty()));
        let budget = if text.len() <= chars_max { text.len() } else { chars_max - 4 };
        let best = best_of_all_windows(&words, &wanted, budget);
        if best.is_none() && words.first().is_some_and(|word| word.len() > budget) {
            // No word fits: the first one is cut.
            let cut = snippet.strip_suffix('…').is_some_and(|start| text.starts_with(start));
            prop_assert!(cut, "{}", snippet);
            return Ok(());
        }
        let inside = snippet.trim_start_matches("… ").trim_end_matches(" …");
        prop_assert!(text.contains(inside));
        prop_assert!(inside.split_whitespace().all(|word| WORDS.contains(&word)), "{}", snippet);
        prop_assert!(snippet.contains('…') || snippet == text);
        let marked: Vec<&str> =
            pieces.iter().filter(|piece| piece.highlighted).map(|piece| piece.text.as_str()).collect();
        let quality = (!marked.is_empty())
            .then(|| (marked.iter().collect::<BTreeSet<_>>().len(), marked.len()));
        prop_assert_eq!(quality, best);
    }

    #[test]
    fn any_text_can_be_highlighted_and_cut(text in any::<String>(), chars_max in 0..40_usize) {
        let highlighter = highlighter("a e 1 日 \u{e9}");
        let pieces = highlighter.mark(&text);
        prop_assert_eq!(plain(&pieces), text.clone());
        prop_assert!(pieces.windows(2).all(|pair| pair[0].highlighted != pair[1].highlighted));
        let long = format!("{text} {text}\n{text}");
        prop_assert!(plain(&highlighter.snippet(&long, chars_max)).chars().count() <= chars_max);
    }
}

/// Thai words are found by a model. In a long text it runs only on the beginning and on stretches with query words.
#[test]
fn query_words_in_long_thai_texts_are_highlighted() {
    let phrase = "ประเทศไทยเป็นเมืองใหญ่ ";
    let text = format!("{}น้ำ ทุกวัน {}", phrase.repeat(1 << 12), phrase.repeat(1 << 12));
    let pieces = highlighter("น้ำ").snippet(&text, 60);
    assert!(bracketed(&pieces).contains("[น้ำ] ทุกวัน"), "{}", bracketed(&pieces));
    let marked = highlighter("เมือง").mark(&text);
    assert_eq!(plain(&marked), text);
    let count = marked.iter().filter(|piece| piece.highlighted).count();
    assert!((200..400).contains(&count), "{count} of {}", 1 << 13);
}

/// Linear time: quadratic time would take too long.
#[test]
fn a_snippet_of_a_mebibyte_is_fast() {
    let highlighter = highlighter("ka mo");
    for scrap in ["ka mo ", "ka", "x ", "....", " ", "ka\n.", "東", "ภาษา", "ภาษา ", "ភាសា "]
    {
        let text = scrap.repeat((1 << 20) / scrap.len() + 10);
        assert!(plain(&highlighter.snippet(&text, 200)).chars().count() <= 200, "{scrap:?}");
    }
}

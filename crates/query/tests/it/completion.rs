//! Completion of an unfinished word.

use proptest::prelude::*;
use query::COMPLETIONS_MAX;

use crate::suggestion::Library;

fn shelf() -> Library {
    Library::new(
        "english",
        &[
            ("Computing for Beginners", "begonias"),
            ("Computers and People", "begonias in the beginning"),
            ("Computers at Home", "beggars"),
            ("Résumés", "Berlin begets begetters"),
            ("The City Hall of Rome", "romance"),
            ("Beginnings", ""),
        ],
    )
}

#[test]
fn title_words_are_completed_before_text_words() {
    let library = shelf();
    for (text, expected) in [
        // `begin` words are in two titles, begonias in two texts.
        ("beg", &["beginnings", "beginners", "begonias", "begets", "begetters", "beggars"][..]),
        ("comput", &["computers", "computing"]),
        ("Comput", &["Computers", "Computing"]),
        // Longer than its stem.
        ("computin", &["computing"]),
        ("resu", &["résumés"]),
        ("\"city ha", &["\"city hall"]),
        ("rome -title:beg", &["rome -title:beginnings", "rome -title:beginners"]),
        (
            "body:beg",
            &["body:begonias", "body:begets", "body:begetters", "body:beggars", "body:beginning"],
        ),
        ("(computers|ro", &["(computers|rome", "(computers|romance"]),
        // No unfinished word, no completion, or no longer word.
        ("beg ", &[]),
        ("b", &[]),
        ("", &[]),
        ("xyz", &[]),
        ("romance", &[]),
        ("site:ro", &[]),
        ("beg!", &[]),
    ] {
        assert_eq!(library.complete(text), expected, "{text:?}");
    }
}

/// Without texts, terms are used if they analyse to themselves.
#[test]
fn without_texts_completions_come_from_terms() {
    let library = shelf();
    assert_eq!(library.complete_without_texts("berl"), ["berlin"]);
    assert_eq!(library.complete_without_texts("begon"), ["begonia"]);
    // The stem of `databases` is `databas`, whose stem is `databa`.
    let library = Library::new("english", &[("", "databases")]);
    assert_eq!(library.complete_without_texts("datab"), [""; 0]);
    assert_eq!(library.complete("datab"), ["databases"]);
}

#[test]
fn at_most_ten_completions_are_given() {
    let words: Vec<String> = ('a'..='z').map(|letter| format!("wo{letter}ds")).collect();
    let library = Library::new("english", &[("", &words.join(" "))]);
    assert_eq!(library.complete("wo").len(), COMPLETIONS_MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_completion_begins_with_the_typed_text(text in any::<String>(), word in "[bcr][eo][a-z]{0,3}") {
        let library = shelf();
        library.complete(&text);
        let typed = format!("{text} {word}");
        for completion in library.complete(&typed) {
            prop_assert!(completion.len() > typed.len());
            let accents = |text: &str| text.replace('é', "e");
            prop_assert!(accents(&completion).starts_with(&accents(&typed)), "{} {}", typed, completion);
        }
    }
}

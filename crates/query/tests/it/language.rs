//! The language: texts against their trees by hand, wrong texts against their columns, printing
//! against parsing, and anything at all against panics.

use index::Field;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use query::{DEPTH_MAX, LENGTH_BYTES_MAX, Query, QueryError, TERMS_MAX, parse};

/// The tree in prefix form: short to write, and without the rules of printing.
fn tree(query: &Query) -> String {
    let all = |name: &str, queries: &[Query]| {
        format!("{name}[{}]", queries.iter().map(tree).collect::<Vec<_>>().join(" "))
    };
    match query {
        Query::Term { field: None, text } => text.clone(),
        Query::Term { field: Some(field), text } => format!("{}:{text}", field.name()),
        Query::Phrase { field: None, text } => format!("'{text}'"),
        Query::Phrase { field: Some(field), text } => format!("{}:'{text}'", field.name()),
        Query::Site(host) => format!("site={host}"),
        Query::Language(code) => format!("lang={code}"),
        Query::And(queries) => all("and", queries),
        Query::Or(queries) => all("or", queries),
        Query::AndNot(wanted, unwanted) => format!("without[{} {}]", tree(wanted), tree(unwanted)),
        Query::Not(unwanted) => format!("not[{}]", tree(unwanted)),
        other => panic!("no form for {other:?}"),
    }
}

#[test]
fn texts_and_their_trees() {
    let table = [
        ("solar", "solar"),
        ("solar panels", "and[solar panels]"),
        ("a AND b c", "and[a b c]"),
        ("a b OR c d", "or[and[a b] and[c d]]"),
        ("a|b | c", "or[a b c]"),
        ("(a OR b) AND NOT c", "without[or[a b] c]"),
        ("a -b c -d", "without[and[a c] or[b d]]"),
        ("-a", "not[a]"),
        ("-a -b", "not[or[a b]]"),
        ("NOT NOT a", "a"),
        ("---a", "not[a]"),
        ("a OR -b", "or[a not[b]]"),
        ("a (b -c)", "and[a without[b c]]"),
        ("((a))", "a"),
        ("\"city hall\"", "'city hall'"),
        ("“city hall”", "'city hall'"),
        ("a\"b\"c", "and[a 'b' c]"),
        ("title:budget body:\"a b\"", "and[title:budget body:'a b']"),
        ("TITLE:x", "title:x"),
        ("title:OR url:-x", "and[title:OR url:-x]"),
        ("headings:a anchor:b", "and[headings:a anchor:b]"),
        ("-site:Example.org. lang:EN-gb", "without[lang=en site=example.org]"),
        ("site:https://www.example.org/", "site=www.example.org"),
        ("site:bücher.example", "site=xn--bcher-kva.example"),
        ("site:127.0.0.1 site:[::1]", "and[site=127.0.0.1 site=[::1]]"),
        ("state-of-the-art", "state-of-the-art"),
        ("a - b", "and[a - b]"),
        ("or and not", "and[or and not]"),
        ("http://example.org/x", "http://example.org/x"),
        ("main() (  ( ) )", "main"),
        ("\"\" x", "and['' x]"),
        ("צה\"ל x", "and[צה\"ל x]"),
        ("\"צה\"ל ב\" x", "and['צה\"ל ב' x]"),
        ("title:\"ב\" ב", "and[title:'ב' ב]"),
        (
            "solar panels \"city hall\" -site:example.org title:budget",
            "without[and[solar panels 'city hall' title:budget] site=example.org]",
        ),
    ];
    for (text, expected) in table {
        let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(tree(&query), expected, "{text}");
    }
}

#[test]
fn wrong_texts_and_where_they_are_wrong() {
    let table = [
        ("é \"a b", 3, "quotation mark is never closed"),
        ("a title:\"b", 9, "quotation mark is never closed"),
        ("日本 (a (b)", 4, "parenthesis is never closed"),
        ("a (", 3, "parenthesis is never closed"),
        ("(a) b)", 6, "closes nothing"),
        (")", 1, "closes nothing"),
        ("a OR", 3, "nothing stands after OR"),
        ("a OR AND b", 3, "nothing stands after OR"),
        ("OR a", 1, "nothing stands before OR"),
        ("a (| b)", 4, "nothing stands before OR"),
        ("AND", 1, "nothing stands before AND"),
        ("a AND )", 3, "nothing stands after AND"),
        ("a NOT", 3, "nothing stands after NOT"),
        ("a -OR", 3, "nothing stands after NOT"),
        ("a title: b", 3, "`title:` must be followed at once by a word or"),
        ("url:(a b)", 1, "`url:` must be followed at once"),
        ("site:", 1, "`site:` must be followed at once by a host"),
        ("site:\"a\"", 1, "`site:` must be followed at once by a host"),
        ("lang: a", 1, "`lang:` must be followed at once by a language"),
        ("a site:example.org/blog", 3, "`example.org/blog` is not a host name"),
        ("site:example.org:80", 1, "takes a host without its port"),
        ("site:http://Example.org:80/", 1, "; write site:example.org"),
        ("a site:[::1]:80", 3, "; write site:[::1]"),
        ("site:example.org/x:80", 1, "is not a host name"),
        ("site:me@example.org", 1, "is not a host name"),
        ("site:%28.org", 1, "is not a host name"),
        ("site:.", 1, "is not a host name"),
        ("lang:klingon", 1, "`klingon` is not a language code"),
    ];
    for (text, column, expected) in table {
        let error = parse(text).expect_err(text);
        assert_eq!(error.column(), Some(column), "{text}: {error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("column {column}: ")), "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn nothing_is_its_own_error() {
    for text in ["", " \t\n\u{a0}", "()", "( ( ) )"] {
        assert!(matches!(parse(text), Err(QueryError::Empty)), "{text:?}");
    }
}

#[test]
fn every_limit_holds_at_its_edge() {
    let long = |bytes: usize| "é".repeat(bytes / 2);
    assert!(parse(&long(LENGTH_BYTES_MAX)).is_ok());
    let error = parse(&long(LENGTH_BYTES_MAX + 2)).unwrap_err();
    assert_eq!(error.column(), Some(LENGTH_BYTES_MAX / 2 + 1), "{error}");

    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&nested(DEPTH_MAX)).is_ok());
    let error = parse(&nested(DEPTH_MAX + 1)).unwrap_err();
    assert!(matches!(error, QueryError::TooDeep { column, .. } if column == DEPTH_MAX + 1));

    let words = |count: usize| "ab ".repeat(count);
    assert!(parse(&words(TERMS_MAX)).is_ok());
    let error = parse(&words(TERMS_MAX + 1)).unwrap_err();
    assert!(
        matches!(error, QueryError::TooManyWords { column, .. } if column == 3 * TERMS_MAX + 1)
    );
    let error = parse(&format!("x \"{}\"", words(TERMS_MAX))).unwrap_err();
    assert!(matches!(error, QueryError::TooManyWords { column: 3, .. }));
}

#[test]
fn endless_texts_are_refused_at_once() {
    for text in ["(", "a ", "\" ", "NOT ", "a OR ", "title:\"", "(-", "-"] {
        for count in [999, 9_999, 1_000_000] {
            // The last of some dashes is punctuation, which the others negate.
            let short = text == "-" && count < LENGTH_BYTES_MAX;
            assert_eq!(parse(&text.repeat(count)).is_ok(), short, "{count} times {text:?}");
        }
    }
    assert!(parse(&("-".repeat(LENGTH_BYTES_MAX - 1) + "a")).is_ok(), "a loop, not a recursion");
}

/// Scraps that the language gives a meaning to, and some that it does not; some more often.
#[rustfmt::skip]
const SCRAPS: [&str; 31] = [
    "a", "b", "é", "日本", "א", "א\"ב", " ", " ", " ", "(", ")", "(", ")", "\"", "“", "-", "|", " OR ", " AND ",
    " NOT ", "OR", "title:", "url:", "site:", "lang:", "en", "example.org", ":", "!", "x-y", "\n",
];

pub(crate) fn soup() -> impl Strategy<Value = String> {
    vec(select(&SCRAPS[..]), 0..24).prop_map(|scraps| scraps.concat())
}

fn check_round_trip(text: &str) {
    if let Ok(query) = parse(text) {
        let printed = query.to_string();
        let again =
            parse(&printed).unwrap_or_else(|error| panic!("{text:?} → {printed:?}: {error}"));
        assert_eq!(again, query, "{text:?} → {printed:?}");
        assert_eq!(again.to_string(), printed);
    }
}

#[test]
fn a_site_with_dots_to_spare_is_read_back() {
    for text in ["site:6...", "site:example.org.", "site:..a..", "site:1.2.3.4."] {
        check_round_trip(text);
    }
    assert_eq!(parse("site:6..").expect("a host").to_string(), "site:0.0.0.6");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_printed_is_read_back(text in soup()) {
        check_round_trip(&text);
    }

    #[test]
    fn any_text_is_a_query_or_an_error_inside_it(text in any::<String>()) {
        check_round_trip(&text);
        if let Err(error) = parse(&text) {
            let length = text.chars().count();
            prop_assert!(error.column().is_none_or(|column| (1..=length).contains(&column)));
        }
    }

    #[test]
    fn any_bytes_are_a_query_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        check_round_trip(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_site_is_a_host_or_an_error(name in "[a-zA-Z0-9.:/%@\\[\\]_é-]{0,12}") {
        check_round_trip(&format!("site:{name}"));
    }
}

#[test]
fn printing_adds_no_parentheses_at_the_deepest_level() {
    let text = format!("{}-a -b{}", "(c -d ".repeat(DEPTH_MAX), ")".repeat(DEPTH_MAX));
    assert!(parse(&text).is_ok());
    check_round_trip(&text);
}

#[test]
fn a_field_is_kept_by_its_name() {
    for field in Field::ALL {
        let query = parse(&format!("{}:x", field.name())).expect("a field");
        assert_eq!(query, Query::Term { field: Some(field), text: "x".to_owned() });
    }
}

/// A misspelt field is a word, and whoever shows the answer can say so.
#[test]
fn a_word_that_looks_like_a_field_is_found() {
    for (text, name, meant) in [
        ("titel:x", "titel", Some("title")),
        ("a -Sites:b", "Sites", Some("site")),
        ("a OR (b heading:c)", "heading", Some("headings")),
        ("language:en", "language", None),
        ("author:ada", "author", None),
        ("ulr:x", "ulr", Some("url")),
        ("titel:\"a b\"", "titel", Some("title")),
    ] {
        let found = parse(text).expect("a query").unknown_field();
        let found = found.unwrap_or_else(|| panic!("{text}"));
        assert_eq!((found.name.as_str(), found.meant), (name, meant), "{text}");
        let said = found.to_string();
        assert!(said.contains(&format!("`{}:`", meant.unwrap_or("anchor"))), "{said}");
    }
    for text in
        ["title:x", "http://a.example/", "localhost:80", "std::vec", "a:/b", "'a b'", "10:30"]
    {
        assert_eq!(parse(text).expect("a query").unknown_field(), None, "{text}");
    }
}

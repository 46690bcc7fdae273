//! The language: texts with their trees by hand, invalid texts with their columns, printing against parsing, and
//! random texts.

use index::Field;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use query::{DEPTH_MAX, LENGTH_BYTES_MAX, Query, QueryError, TERMS_MAX, WIDTH_MAX, parse};

/// The tree in prefix form: short, and independent of printing.
fn tree(query: &Query) -> String {
    let all = |name: &str, queries: &[Query]| {
        format!("{name}[{}]", queries.iter().map(tree).collect::<Vec<_>>().join(" "))
    };
    let of = |field: Option<Field>| field.map_or(String::new(), |it| format!("{}:", it.name()));
    match query {
        Query::Term { field: None, text } => text.clone(),
        Query::Term { field: Some(field), text } => format!("{}:{text}", field.name()),
        Query::Phrase { field: None, text } => format!("'{text}'"),
        Query::Phrase { field: Some(field), text } => format!("{}:'{text}'", field.name()),
        Query::Prefix { field, text } => format!("{}{text}…", of(*field)),
        Query::Fuzzy { field, text, distance } => format!("{}{text}±{distance}", of(*field)),
        Query::Within { field, text, width } => format!("{}'{text}'<{width}", of(*field)),
        Query::Near { ordered: false, width, parts } => all(&format!("near{width}"), parts),
        Query::Near { ordered: true, width, parts } => all(&format!("before{width}"), parts),
        Query::FileType(ending) => format!("type={ending}"),
        Query::Link(url) => format!("link={url}"),
        Query::Date(range) => format!("date={range}"),
        Query::Site(host) => format!("site={host}"),
        Query::Language(code) => format!("lang={code}"),
        Query::Sequence(queries) => all("seq", queries),
        Query::Required(part) => format!("+{}", tree(part)),
        Query::And(queries) => all("and", queries),
        Query::Or(queries) => all("or", queries),
        Query::AndNot(wanted, unwanted) => format!("without[{} {}]", tree(wanted), tree(unwanted)),
        Query::Not(unwanted) => format!("not[{}]", tree(unwanted)),
        other => panic!("no form for {other:?}"),
    }
}

#[test]
fn query_texts_parse_to_the_expected_trees() {
    let table = [
        ("solar", "solar"),
        ("solar panels", "seq[solar panels]"),
        ("a AND b", "and[a b]"),
        ("a AND b c", "seq[+a +b c]"),
        ("+a", "+a"),
        ("a AND NOT b", "without[+a b]"),
        ("+a b", "seq[+a b]"),
        ("+a +(b c) d", "seq[+a +seq[b c] d]"),
        ("+a +b", "and[a b]"),
        ("+\"a b\" c", "seq['a b' c]"),
        ("-+a +-b", "not[or[a b]]"),
        ("a + b c++ +", "seq[a + b c++ +]"),
        ("a AND (b OR c) d", "seq[+a or[b c] d]"),
        ("FOUR WORDS IN CAPITALS AND MORE", "seq[FOUR WORDS IN CAPITALS and MORE]"),
        ("A B OR C D OR E F", "or[seq[A B] seq[C D] seq[E F]]"),
        ("2019 OR 2020 NOT 2021 2022 2023 2024", "or[2019 without[seq[2020 2022 2023 2024] 2021]]"),
        ("NASA OR ESA", "or[NASA ESA]"),
        ("a b OR c d", "or[seq[a b] seq[c d]]"),
        ("a|b | c", "or[a b c]"),
        ("(a OR b) AND NOT c", "without[or[a b] c]"),
        ("a -b c -d", "without[seq[a c] or[b d]]"),
        ("-a", "not[a]"),
        ("-a -b", "not[or[a b]]"),
        ("NOT NOT a", "a"),
        ("---a", "not[a]"),
        ("a OR -b", "or[a not[b]]"),
        ("a (b -c)", "seq[a without[b c]]"),
        ("((a))", "a"),
        ("\"city hall\"", "'city hall'"),
        ("“city hall”", "'city hall'"),
        ("a\"b\"c", "seq[a 'b' c]"),
        ("title:budget body:\"a b\"", "seq[title:budget body:'a b']"),
        ("TITLE:x", "title:x"),
        ("title:OR url:-x", "seq[title:OR url:-x]"),
        ("headings:a anchor:b", "seq[headings:a anchor:b]"),
        ("-site:Example.org. lang:EN-gb", "without[lang=en site=example.org]"),
        ("site:https://www.example.org/", "site=www.example.org"),
        ("site:bücher.example", "site=xn--bcher-kva.example"),
        ("site:127.0.0.1 site:[::1]", "seq[site=127.0.0.1 site=[::1]]"),
        ("state-of-the-art", "state-of-the-art"),
        ("a - b", "seq[a - b]"),
        ("or and not", "seq[or and not]"),
        ("http://example.org/x", "http://example.org/x"),
        ("main() (  ( ) )", "main"),
        ("\"\" x", "seq['' x]"),
        ("צה\"ל x", "seq[צה\"ל x]"),
        ("\"צה\"ל ב\" x", "seq['צה\"ל ב' x]"),
        ("title:\"ב\" ב", "seq[title:'ב' ב]"),
        (
            "solar panels \"city hall\" -site:example.org title:budget",
            "without[seq[solar panels 'city hall' title:budget] site=example.org]",
        ),
    ];
    for (text, expected) in table {
        let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(tree(&query), expected, "{text}");
    }
}

#[test]
fn forms_windows_and_filters_parse_to_expected_trees() {
    let table = [
        ("comput*", "comput…"),
        ("title:comput* -a*", "without[title:comput… a…]"),
        ("a** * !* a*b", "seq[a… * !* a*b]"),
        ("colour~1 body:x~2", "seq[colour±1 body:x±2]"),
        ("a~ a~b ~1 /~5 colour~", "seq[a~ a~b ~1 /~5 colour~]"),
        ("(a b c)~8", "near8[a b c]"),
        ("(a OR \"b c\" (d e)~3)~8 x", "seq[near8[or[a seq['b c' near3[d e]]]] x]"),
        ("(a (b OR c*) \"d e\"~4)~8", "near8[a or[b c…] 'd e'<4]"),
        ("((a b) c)~8", "near8[seq[a b] c]"),
        ("(a)~8 | (a AND b)~2", "or[near8[a] near2[a b]]"),
        ("\"a b\"~8 title:\"a b\"~3", "seq['a b'<8 title:'a b'<3]"),
        ("\"a b\" ~8 (a) ~8", "seq['a b' ~8 a ~8]"),
        ("\"a\"~x (a)~y", "seq['a' ~x a ~y]"),
        ("main()~5", "seq[main ~5]"),
        ("a NEAR/5 b", "near5[a b]"),
        ("x a NEAR/5 b y", "seq[x near5[a b] y]"),
        ("a NEAR/5 b NEAR/5 c NEAR/6 d", "near6[near5[a b c] d]"),
        ("a BEFORE/5 b BEFORE/5 (c OR d)", "before5[a b or[c d]]"),
        ("a BEFORE/5 (b BEFORE/5 c) NEAR/2 d", "near2[before5[a before5[b c]] d]"),
        ("-a NEAR/5 b OR c", "or[not[near5[a b]] c]"),
        ("(a b)~3 NEAR/3 c", "near3[a b c]"),
        ("NEAR near/5 NEAR/x NEAR/ title:NEAR/5", "seq[NEAR near/5 NEAR/x NEAR/ title:NEAR/5]"),
        ("filetype:.PDF FILETYPE:html", "seq[type=pdf type=html]"),
        ("link:HTTP://Example.org:80/a#b", "link=http://example.org/a"),
        ("link:example.org", "link=example.org/"),
        ("link:\"https://example.org/a_(b)|\"", "link=https://example.org/a_(b)|"),
        ("date:2026 -date:2026-01..2026-03-15", "without[date=2026 date=2026-01..2026-03-15]"),
        ("date:..2025 date:2026-03.. date:2026..2026", "seq[date=..2025 date=2026-03.. date=2026]"),
    ];
    for (text, expected) in table {
        let query = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(tree(&query), expected, "{text}");
        check_round_trip(text);
    }
}

#[test]
fn invalid_queries_are_refused_with_the_error_position() {
    let table = [
        ("é \"a b", 3, "quotation mark is never closed"),
        ("a title:\"b", 9, "quotation mark is never closed"),
        ("日本 (a (b)", 4, "parenthesis is never closed"),
        ("a (", 3, "parenthesis is never closed"),
        ("(a) b)", 6, "closes nothing"),
        (")", 1, "closes nothing"),
        ("a OR", 3, "OR needs a word after it"),
        ("a OR AND b", 3, "OR needs a word after it"),
        ("OR a", 1, "OR needs a word before it"),
        ("a (| b)", 4, "OR needs a word before it"),
        ("AND", 1, "AND needs a word before it"),
        ("a AND )", 3, "AND needs a word after it"),
        ("a NOT", 3, "NOT needs a word after it"),
        ("a -OR", 3, "NOT needs a word after it"),
        ("a title: b", 3, "`title:` must be followed directly by a word or"),
        ("url:(a b)", 1, "`url:` must be followed directly"),
        ("site:", 1, "`site:` must be followed directly by a host"),
        ("site:\"a\"", 1, "`site:` must be followed directly by a host"),
        ("lang: a", 1, "`lang:` must be followed directly by a language"),
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
    check_errors(&table);
}

fn check_errors(table: &[(&str, usize, &str)]) {
    for &(text, column, expected) in table {
        let error = parse(text).expect_err(text);
        assert_eq!(error.column(), Some(column), "{text}: {error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("column {column}: ")), "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn invalid_forms_windows_and_filters_are_refused_with_position() {
    check_errors(&[
        ("a colour~3", 3, "at most 2 letters may differ; write colour~1 or colour~2"),
        ("title:a~0", 1, "at most 2 letters"),
        ("a~0.8", 1, "at most 2 letters"),
        ("(a b)~0", 6, "from 1 to 10000 words"),
        ("(a b)~ c", 6, "write for example (solar panel)~8"),
        ("\"a b\"~8x", 6, "the width of a window"),
        ("\"a b\"~99999999999", 6, "the width of a window"),
        ("a NEAR/0 b", 3, "the width of a window"),
        ("a BEFORE/10001 b", 3, "the width of a window"),
        ("é NEAR/3", 3, "NEAR needs a word after it"),
        ("BEFORE/3 b", 1, "BEFORE needs a word before it"),
        ("a NEAR/3 OR b", 3, "NEAR needs a word after it"),
        ("x (a -b)~3", 6, "NOT has no position in a text"),
        ("a NEAR/3 -b", 10, "NOT has no position in a text"),
        (
            "(a ((site:a.example)))~3",
            6,
            "site: has no position in a text and cannot be in a window",
        ),
        ("lang:en NEAR/3 b", 1, "lang: has no position"),
        ("a NEAR/3 date:2026", 10, "date: has no position"),
        ("(a (b filetype:txt))~2", 7, "filetype: has no position"),
        ("(link:a.example a)~2", 2, "link: has no position"),
        ("filetype:a.b", 1, "`a.b` is not a file extension"),
        ("filetype: x", 1, "`filetype:` must be followed directly by a file extension"),
        ("link:x", 1, "`x` is not a web address"),
        ("a link:ftp://example.org/", 3, "is not a web address"),
        ("link:", 1, "`link:` must be followed directly by a URL"),
        ("date:", 1, "`date:` must be followed directly by a date"),
        (
            "a date:2026-13",
            3,
            "`2026-13` is not a date from 1970 to 2199; write for example date:2026",
        ),
        ("date:2026..2025", 1, "is not a date"),
    ]);
}

#[test]
fn an_empty_query_has_its_own_error() {
    for text in ["", " \t\n\u{a0}", "()", "( ( ) )"] {
        assert!(matches!(parse(text), Err(QueryError::Empty)), "{text:?}");
    }
}

#[test]
fn every_limit_is_exact() {
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
fn overlong_queries_are_refused_quickly() {
    for text in [
        "(",
        "a ",
        "\" ",
        "NOT ",
        "a OR ",
        "title:\"",
        "(-",
        "-",
        "a* ",
        "a~1 ",
        "a NEAR/2 ",
        "(a)~2 ",
    ] {
        for count in [999, 9_999, 1_000_000] {
            // The last dash is punctuation. The others negate it.
            let short = text == "-" && count < LENGTH_BYTES_MAX;
            assert_eq!(parse(&text.repeat(count)).is_ok(), short, "{count} times {text:?}");
        }
    }
    assert!(parse(&("-".repeat(LENGTH_BYTES_MAX - 1) + "a")).is_ok(), "a loop, not a recursion");
}

/// Pieces with and without a meaning in the language. Some are more frequent.
#[rustfmt::skip]
const SCRAPS: [&str; 45] = [
    "a", "b", "é", "日本", "א", "א\"ב", " ", " ", " ", "(", ")", "(", ")", "\"", "“", "-", "|", " OR ", " AND ",
    " NOT ", "OR", "title:", "url:", "site:", "lang:", "en", "example.org", ":", "!", "x-y", "\n",
    "*", "*", "~1", "~2", "~", "~8", ")~8", "\"~3", " NEAR/5 ", " BEFORE/2 ", "filetype:", "link:", "date:2026", "..",
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

/// A random query with positions, by the grammar.
fn placed() -> impl Strategy<Value = String> {
    let words = ["a", "b*", "title:c~2", "\"d e*\"", "url:\"f g\"~9", "h-i", "OR*", "é"];
    let leaf = select(words.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(4, 12, 3, |inner| {
        let parts = || vec(inner.clone(), 1..4);
        let window = select(&["NEAR/5", "BEFORE/5", "NEAR/7", "BEFORE/7"][..]);
        prop_oneof![
            (parts(), 1..=WIDTH_MAX)
                .prop_map(|(parts, width)| format!("({})~{width}", parts.join(" "))),
            (parts(), window).prop_map(|(parts, by)| {
                let parts: Vec<String> = parts.iter().map(|part| factor(part)).collect();
                parts.join(&format!(" {by} "))
            }),
            parts().prop_map(|parts| format!("({})", parts.join(" OR "))),
            parts().prop_map(|parts| format!("({})", parts.join(" AND "))),
        ]
    })
}

/// Adds parentheses unless it is one word.
fn factor(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// A random query, by the grammar.
fn sentence() -> impl Strategy<Value = String> {
    let filters = [
        "site:example.org",
        "lang:en",
        "filetype:pdf",
        "link:http://a.example/(x)",
        "link:\"a.example/(x)\"",
        "date:2026-03..",
        "date:..2025-12-31",
        "date:2026",
    ];
    let filters: Vec<&str> = filters.into_iter().filter(|it| parse(it).is_ok()).collect();
    let leaf = prop_oneof![3 => placed(), 1 => select(filters).prop_map(str::to_owned)];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let parts = || vec(inner.clone(), 1..4);
        prop_oneof![
            parts().prop_map(|parts| parts.join(" ")),
            parts().prop_map(|parts| parts.join(" OR ")),
            parts().prop_map(|parts| format!("({})", parts.join(" | "))),
            inner.prop_map(|part| format!("-{}", factor(&part))),
        ]
    })
}

/// Printed windows have parentheses: at the maximum depth, and one level beyond.
#[test]
fn window_depth_counts_the_printed_parentheses() {
    for (open, chain) in [("(", "a NEAR/5 b"), ("(x OR ", "a BEFORE/5 b NEAR/6 c")] {
        let mut depth = DEPTH_MAX;
        let text = |depth: usize| format!("{}{chain}{}", open.repeat(depth), ")".repeat(depth));
        while parse(&text(depth)).is_err() {
            depth -= 1;
        }
        assert!(depth >= DEPTH_MAX - 2, "{chain}: {depth}");
        let error = parse(&text(depth + 1)).expect_err("too deep");
        assert!(matches!(error, QueryError::TooDeep { .. }), "{error}");
        check_round_trip(&text(depth));
    }
    let chain = |count: usize| {
        (0..count).fold("a".to_owned(), |text, at| format!("{text} NEAR/{} a", at + 1))
    };
    check_round_trip(&chain(DEPTH_MAX - 1));
    let error = parse(&chain(DEPTH_MAX + 1)).expect_err("too deep");
    assert!(matches!(error, QueryError::TooDeep { .. }), "{error}");
}

/// Texts far beyond a limit are rejected quickly, with a column and a cure.
#[test]
fn too_many_words_or_levels_are_refused() {
    let deep = |open: &str, close: &str| format!("{}a{}", open.repeat(1000), close.repeat(1000));
    for (text, expected) in [
        ("word ".repeat(10_000), "leave out the rest"),
        ("w ".repeat(2000), "leave out this one and the rest"),
        ("w* ".repeat(1000), "leave out this one and the rest"),
        (deep("(", ")"), "leave some of them out"),
        (deep("-(", ")"), "leave some of them out"),
        (deep("(", ")~9").chars().take(4096).collect(), "leave some of them out"),
    ] {
        let error = parse(&text).expect_err("too much");
        assert!(error.column().is_some() && error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_site_with_extra_dots_is_read_back() {
    for text in ["site:6...", "site:example.org.", "site:..a..", "site:1.2.3.4."] {
        check_round_trip(text);
    }
    assert_eq!(parse("site:6..").expect("a host").to_string(), "site:0.0.0.6");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_printed_query_is_read_back(text in soup()) {
        check_round_trip(&text);
    }

    #[test]
    fn every_query_of_the_grammar_survives_a_round_trip(text in sentence()) {
        prop_assert!(parse(&text).is_ok(), "{}", text);
        check_round_trip(&text);
    }

    #[test]
    fn any_link_or_date_is_parsed_or_refused(
        name in select(&["link", "date", "filetype"][..]),
        value in "[a-zA-Z0-9.:/%@\\[\\]_é?#()|-]{0,12}",
    ) {
        check_round_trip(&format!("{name}:{value}"));
        check_round_trip(&format!("{name}:\"{value}\""));
        check_round_trip(&format!("link:https://a.example/{value}"));
    }

    #[test]
    fn any_text_parses_or_has_an_error_position(text in any::<String>()) {
        check_round_trip(&text);
        if let Err(error) = parse(&text) {
            let length = text.chars().count();
            prop_assert!(error.column().is_none_or(|column| (1..=length).contains(&column)));
        }
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        check_round_trip(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_site_is_parsed_or_refused(name in "[a-zA-Z0-9.:/%@\\[\\]_é-]{0,12}") {
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
fn every_field_is_parsed_by_its_name() {
    for field in Field::ALL {
        let query = parse(&format!("{}:x", field.name())).expect("a field");
        assert_eq!(query, Query::Term { field: Some(field), text: "x".to_owned() });
    }
}

/// A misspelt field is a word, and gives a hint.
#[test]
fn an_unknown_field_is_detected_with_a_hint() {
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

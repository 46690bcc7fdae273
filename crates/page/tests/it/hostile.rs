//! Tests hostile input: time grows linearly, results observe the limits, and nothing panics.

use std::fs;

use page::{AnalysisConfig, Analyzer, Limits, Page, PageError, normalise, parse};
use proptest::prelude::*;

use crate::shared::{HERE, html, url};

/// The CPU time of this thread in nanoseconds.
fn cpu_ns() -> u64 {
    // The kernel updates the count when it may switch threads.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let first = text.split(' ').next().expect("three numbers");
    first.parse().expect("a number")
}

/// The least time of three runs of `run`.
fn least_ns(run: &dyn Fn()) -> u64 {
    let once = || {
        let start = cpu_ns();
        run();
        cpu_ns() - start
    };
    (0..3).map(|_| once()).min().expect("three tries")
}

/// The tolerance for the least time.
const NOISE_NS: u64 = 10_000_000;

/// Checks that four times the input takes at most eight times as long, with a tolerance. Quadratic time would take
/// sixteen times as long.
fn check_linear(name: &str, run: &dyn Fn(usize)) {
    let single = least_ns(&|| run(1));
    let fourfold = least_ns(&|| run(4));
    let is_linear = fourfold < 8 * single + NOISE_NS;
    assert!(is_linear, "{name}: {single} ns, four times as much {fourfold} ns");
}

#[test]
fn html_is_read_in_linear_time() {
    let limits = Limits { links_max: usize::MAX, headings_max: usize::MAX, ..Limits::default() };
    let pieces = [
        ("nested elements", "<div>", 20_000),
        ("nested links", "<a href=/a>", 10_000),
        ("nested headings", "<h1>a", 10_000),
        ("nested templates", "<template>", 10_000),
        ("nested pictures", "<svg><title>", 10_000),
        ("half tags", "<", 40_000),
        ("half end tags", "</", 40_000),
        ("half comments", "<!--", 50_000),
        ("half declarations", "<!", 50_000),
        ("half titles", "<title></titl", 10_000),
        ("half scripts", "<script></scrip", 10_000),
        ("escaped scripts", "<script><!--<script>", 10_000),
        ("half CDATA", "<svg><![CDATA[]]", 10_000),
        ("half attributes", "<a b='", 10_000),
        ("the same attribute", "<a href=b href=c href=d ", 15_000),
        ("half entities", "&Counter", 10_000),
        ("numbers without end", "&#1111111111", 10_000),
        ("NULs", "text \0 text text text text text text text text", 5_000),
        ("blanks", " \n", 40_000),
        ("one word", "a", 75_000),
        ("character references", "&amp;", 50_000),
        ("quotes", "<a href=\"'>", 10_000),
        ("metas", "<meta name=description content=>", 10_000),
        ("bases", "<base href=a>", 10_000),
    ];
    for (name, piece, count) in pieces {
        let bodies = [1, 4].map(|times| piece.repeat(count / 2 * times));
        check_linear(name, &|times| drop(read(&bodies[times / 4], &limits)));
    }
    let tags = [1, 4].map(|times| format!("<a{}", " a=b".repeat(20_000 * times)));
    check_linear("attributes of one tag", &|times| drop(read(&tags[times / 4], &limits)));
}

fn read(body: &str, limits: &Limits) -> Result<Page, PageError> {
    parse(&url(HERE), Some("text/html"), body.as_bytes(), limits)
}

#[test]
fn a_hundred_thousand_nested_elements_are_read() {
    let body = format!("{}deep{}after", "<div>".repeat(100_000), "</div>".repeat(100_000));
    assert_eq!(html(&body).text, "deep\nafter");
    let body = format!("{}<b>deep</b>", "<p><b><i><table><tr><td>".repeat(100_000));
    assert_eq!(html(&body).text, "deep");
}

#[test]
fn a_hundred_thousand_links_are_read() {
    let body: String =
        (0..100_000).fold(String::new(), |body, n| body + &format!("<a href=/{n}>link {n}</a> "));
    let page = html(&body);
    assert_eq!(page.links.len(), Limits::default().links_max);
    assert_eq!(page.links[1999].url.as_str(), "http://example.com/1999");
    assert_eq!(page.links[1999].text, "link 1999");
    let limits = Limits { links_max: usize::MAX, ..Limits::default() };
    let page = read(&body, &limits).expect("a page");
    assert_eq!(page.links.len(), 100_000);
    assert_eq!(page.links[99_999].text, "link 99999");
}

#[test]
fn links_are_also_limited_in_bytes() {
    let href = "a".repeat(3000);
    let body = format!("<a href=/{href}>a</a><a href=/b>b</a>");
    let page = html(&body);
    assert_eq!(page.links.len(), 1);
    assert_eq!(page.links[0].text, "b");
}

#[test]
fn markdown_is_read_in_linear_time() {
    let pieces = [
        ("brackets", "[", 20_000),
        ("images", "![", 20_000),
        ("links", "[a](", 10_000),
        ("quotes", ">", 1_000),
        ("emphasis", "*a _b", 10_000),
        ("ticks", "`a``b", 10_000),
        ("tags", "<a ", 10_000),
        ("tables", "|-", 10_000),
        ("lists", "* ", 1_000),
        ("references", "[a]: b\n", 10_000),
    ];
    for (name, piece, count) in pieces {
        let inputs = [1, 4].map(|times| piece.repeat(count / 2 * times));
        check_linear(name, &|times| {
            let body = inputs[times / 4].as_bytes();
            let page = parse(&url(HERE), Some("text/markdown"), body, &Limits::default());
            assert!(page.is_ok(), "{name}");
        });
    }
    let nested = [("deep quotes", ">"), ("deep lists", "* "), ("deep numbers", "1. ")];
    for (name, marker) in nested {
        let inputs =
            [1, 4].map(|times| marker.repeat(2_000 * times) + &"a\n".repeat(2_000 * times));
        check_linear(name, &|times| {
            let body = inputs[times / 4].as_bytes();
            let page = parse(&url(HERE), Some("text/markdown"), body, &Limits::default());
            assert!(page.expect("a page").text.starts_with("a a"), "{name}");
        });
    }
}

#[test]
fn analysis_takes_linear_time() {
    let analyzer = Analyzer::build(&AnalysisConfig::default()).expect("the default");
    let pieces = [
        ("one ASCII word", "a", 200_000),
        ("ASCII words", "word. and, ", 10_000),
        ("one accented word", "é", 20_000),
        ("combining marks", "\u{301}", 10_000),
        ("Japanese", "日本語の文章です。", 1_000),
        ("Chinese without a stop", "我们学习中文", 1_000),
        ("Thai", "สวัสดีชาวโลก", 300),
        ("Korean", "안녕하세요 ", 2_000),
        ("emoji", "👩‍👩‍👧", 2_000),
        ("flags", "🇨🇿", 5_000),
        ("apostrophes", "a'", 20_000),
        ("katakana", "カ", 10_000),
        ("ligatures", "\u{fdfa}", 10_000),
    ];
    for (name, piece, count) in pieces {
        let inputs = [1, 4].map(|times| piece.repeat(count / 2 * times));
        check_linear(name, &|times| analyzer.each(&inputs[times / 4], &mut |_| {}));
    }
}

#[test]
fn charsets_are_detected_in_linear_time() {
    let pieces: [(&str, &[u8], usize); 5] = [
        ("latin 1", b"caf\xe9 ", 20_000),
        ("high bytes", b"\x81\xe9", 20_000),
        ("half metas", b"<meta charset=", 20_000),
        ("half UTF-8", b"abcdefghijklmnopqrstuvwxyz\xe2\x82", 10_000),
        ("escapes", b"\x1b$B\x1b(B", 20_000),
    ];
    for (name, piece, count) in pieces {
        let inputs = [1, 4].map(|times| piece.repeat(count / 2 * times));
        check_linear(name, &|times| {
            drop(parse(&url(HERE), Some("text/html"), &inputs[times / 4], &Limits::default()));
        });
    }
}

/// Pieces of markup, so that malformed pages are frequent.
fn markup() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 58] = [
        b"<",
        b">",
        b"</",
        b"/>",
        b"<!--",
        b"-->",
        b"<!",
        b"<?",
        b"<![CDATA[",
        b"]]>",
        b"=",
        b"'",
        b"\"",
        b" ",
        b"\n",
        b"\0",
        b"&",
        b"&amp;",
        b"&#x",
        b";",
        b"a",
        b"title",
        b"script",
        b"style",
        b"template",
        b"svg",
        b"math",
        b"noscript",
        b"h1",
        b"p",
        b"td",
        b"href",
        b"src",
        b"meta",
        b"name",
        b"robots",
        b"content",
        b"base",
        b"link",
        b"rel",
        b"canonical",
        b"http-equiv",
        b"refresh",
        b"charset",
        b"utf-16",
        b"iso-2022-jp",
        b"<a href=/b>",
        b"</a>",
        b"<h2>",
        b"\xc3",
        b"\xa9",
        b"\xe6\x97\xa5",
        b"\xff",
        b"\xf0\x9f",
        b"\xef\xbb\xbf",
        b"\xfe\xff",
        b"textarea",
        b"<plaintext>",
    ];
    let piece = prop::sample::select(&PIECES[..]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn check_within(page: &Page, limits: &Limits) {
    assert!(page.title.len() <= limits.title_bytes_max);
    assert!(page.text.len() <= limits.text_bytes_max);
    assert!(page.description.len() <= limits.description_bytes_max);
    assert!(page.headings.len() <= limits.headings_max);
    assert!(page.headings.iter().all(|heading| heading.len() <= limits.heading_bytes_max));
    assert!(page.links.len() <= limits.links_max);
    assert!(page.links.iter().all(|link| link.text.len() <= limits.link_text_bytes_max));
    assert!(page.language.len() <= 3);
    let urls = page.links.iter().map(|link| &link.url);
    for found in urls.chain(&page.canonical).chain(&page.refresh) {
        assert!(found.as_str().len() <= limits.url_bytes_max, "{found}");
        assert_eq!(normalise(found.as_str(), None, limits).as_ref().ok(), Some(found));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_page_or_an_error(
        marked in markup(),
        noise in prop::collection::vec(any::<u8>(), 0..300),
        content_type in prop::sample::select(vec![
            None, Some("text/html"), Some("text/plain"), Some("text/markdown"),
            Some("application/xhtml+xml"), Some("text/html; charset=utf-16le"),
            Some("text/html; charset=iso-2022-jp"), Some("text/html; charset=gbk"), Some("a/b"),
        ]),
        (small, large) in (0..12_usize, 0..200_usize),
    ) {
        let tight = Limits {
            body_bytes_max: 4 * large,
            url_bytes_max: large,
            links_max: small,
            link_text_bytes_max: small,
            title_bytes_max: small,
            description_bytes_max: small,
            headings_max: small,
            heading_bytes_max: small,
            text_bytes_max: large,
        };
        for limits in [Limits::default(), tight] {
            for body in [&marked, &noise] {
                if let Ok(page) = parse(&url(HERE), content_type, body, &limits) {
                    check_within(&page, &limits);
                }
            }
        }
    }

    #[test]
    fn any_content_type_is_handled_without_panic(content_type in any::<String>(), body in markup()) {
        let _ = parse(&url(HERE), Some(&content_type), &body, &Limits::default());
        let charset = format!("text/html; charset={content_type}");
        let _ = parse(&url(HERE), Some(&charset), &body, &Limits::default());
        let _ = page::Directives::from_header(&content_type, &charset);
    }

    /// White space is collapsed: no text has a blank at an end or two blanks in a row.
    #[test]
    fn text_has_no_superfluous_blanks(body in markup(), bytes_max in 0..20_usize) {
        let limits = Limits {
            text_bytes_max: bytes_max,
            title_bytes_max: bytes_max,
            description_bytes_max: bytes_max,
            ..Limits::default()
        };
        if let Ok(page) = parse(&url(HERE), Some("text/html"), &body, &limits) {
            for text in [&page.text, &page.title, &page.description] {
                prop_assert_eq!(text.trim_matches([' ', '\n', '\t', '\r', '\0', '\u{a0}']), text);
                prop_assert!(!text.contains("  ") && !text.contains(" \n") && !text.contains("\n\n"));
            }
        }
    }
}

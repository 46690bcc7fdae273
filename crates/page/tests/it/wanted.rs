//! Tests which parts of a page are left out when they are not wanted.

use page::{Known, Limits, Page, Wanted, parse, parse_wanted};

use crate::shared::{HERE, links, url};

const MARKUP: &str = "<html lang=de><title>Sieves</title><meta name=description content=d>\
    <meta name=robots content=noindex><link rel=canonical href=/c>\
    <meta http-equiv=refresh content='5;url=/r'><base href=/base/>\
    <h1>Heading</h1><a href=a>one</a> <a href=a#b>two</a> <a href='a' rel=nofollow>three</a>\
    <a href='../a'><img alt=four></a><script>'<a href=/s>'</script><a href=mailto:m>five</a>";

fn read(content_type: &str, body: &str, wanted: Wanted) -> Page {
    read_unknown(content_type, body, wanted, &|_| false)
}

fn read_unknown(content_type: &str, body: &str, wanted: Wanted, known: Known<'_>) -> Page {
    let (url, limits) = (url(HERE), Limits::default());
    parse_wanted(&url, Some(content_type), body.as_bytes(), wanted, known, &limits).expect("a page")
}

#[test]
fn reading_links_alone_gives_the_same_links() {
    let whole = parse(&url(HERE), Some("text/html"), MARKUP.as_bytes(), &Limits::default());
    let whole = whole.expect("a page");
    let alone = read("text/html", MARKUP, Wanted::LINKS);
    let [a, above] = ["http://example.com/base/a", "http://example.com/a"];
    assert_eq!(links(&whole), [a, a, a, above]);
    assert_eq!(links(&alone), links(&whole));
    let nofollow: Vec<bool> = alone.links.iter().map(|link| link.nofollow).collect();
    assert_eq!(nofollow, [false, false, true, false]);
    assert_eq!(alone.canonical, whole.canonical);
    assert_eq!(alone.refresh, whole.refresh);
    assert!(alone.refresh.is_some() && alone.canonical.is_some());
    assert_eq!((alone.robots, alone.charset), (whole.robots, whole.charset));
}

#[test]
fn links_to_known_urls_are_left_out() {
    let body =
        "<a href=/a>1</a> <a href=b#c>2</a> <a href='./d e'>3</a> <a href=//EXAMPLE.com/f>4</a>";
    let all = ["a", "dir/b", "dir/d%20e", "f"].map(|path| format!("http://example.com/{path}"));
    for wanted in [Wanted::LINKS, Wanted::ALL] {
        for left_out in &all {
            let page = read_unknown("text/html", body, wanted, &|url| url == left_out);
            let rest: Vec<&String> = all.iter().filter(|url| *url != left_out).collect();
            assert_eq!(links(&page), rest);
        }
    }
}

#[test]
fn repeated_links_are_deduplicated_if_texts_are_unwanted() {
    let limits = Limits { links_max: 6, ..Limits::default() };
    let read = |wanted, body: &str| {
        let page = parse_wanted(&url(HERE), None, body.as_bytes(), wanted, &|_| false, &limits);
        let page = page.expect("a page");
        let paths = page.links.iter().map(|link| link.url.path().trim_matches('/').to_owned());
        paths.collect::<Vec<_>>().join(" ")
    };
    let anchors = |paths: &str| -> String {
        paths
            .chars()
            .fold(String::new(), |body, path| body + &format!("<a href=/{path}#{path}></a>"))
    };
    assert_eq!(read(Wanted::LINKS, &anchors("aabbabccabcd")), "a b c c d");
    assert_eq!(read(Wanted::LINKS, &anchors("aaaaaabbbbbbabcdcdefghi")), "a b c d e f");
    assert_eq!(read(Wanted::LINKS, &anchors("abcdefaghi")), "a b c d e f");
    assert_eq!(read(Wanted::ALL, &anchors("aaaaaab")), "a a a a a a");
}

#[test]
fn unwanted_fields_are_empty() {
    for (content_type, body) in
        [("text/html", MARKUP), ("text/plain", "words"), ("text/markdown", "# words")]
    {
        let page = read(content_type, body, Wanted::LINKS);
        assert!(page.title.is_empty() && page.text.is_empty() && page.headings.is_empty());
        assert!(page.description.is_empty() && page.language.is_empty());
        assert!(page.links.iter().all(|link| link.text.is_empty()));
    }
    let page = read("text/html", MARKUP, Wanted { language: false, ..Wanted::ALL });
    assert_eq!((page.title.as_str(), page.text.as_str()), ("Sieves", "Heading\none two threefive"));
    assert_eq!((page.language.as_str(), page.links.len()), ("", 4));
}

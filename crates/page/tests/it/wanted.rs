//! What is left out when it is not wanted, and what is not.

use page::{Limits, Page, Wanted, parse, parse_wanted};

use crate::shared::{HERE, links, url};

const MARKUP: &str = "<html lang=de><title>Sieves</title><meta name=description content=d>\
    <meta name=robots content=noindex><link rel=canonical href=/c>\
    <meta http-equiv=refresh content='5;url=/r'><base href=/base/>\
    <h1>Heading</h1><a href=a>one</a> <a href=a#b>two</a> <a href='a' rel=nofollow>three</a>\
    <a href='../a'><img alt=four></a><script>'<a href=/s>'</script><a href=mailto:m>five</a>";

fn read(content_type: &str, body: &str, wanted: Wanted) -> Page {
    parse_wanted(&url(HERE), Some(content_type), body.as_bytes(), wanted, &Limits::default())
        .expect("a page")
}

#[test]
fn links_alone_are_those_of_the_whole_each_once() {
    let whole = parse(&url(HERE), Some("text/html"), MARKUP.as_bytes(), &Limits::default());
    let whole = whole.expect("a page");
    let alone = read("text/html", MARKUP, Wanted::LINKS);
    let [a, above] = ["http://example.com/base/a", "http://example.com/a"];
    assert_eq!(links(&whole), [a, a, a, above]);
    assert_eq!(links(&alone), [a, a, above]);
    assert_eq!(
        alone.links.iter().map(|link| link.nofollow).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(alone.canonical, whole.canonical);
    assert_eq!(alone.refresh, whole.refresh);
    assert!(alone.refresh.is_some() && alone.canonical.is_some());
    assert_eq!((alone.robots, alone.charset), (whole.robots, whole.charset));
}

#[test]
fn what_is_not_wanted_is_empty() {
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

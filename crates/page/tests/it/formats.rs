//! Tests plain text and Markdown, the selection of a reader, and refused bodies.

use page::{Limits, Page, PageError, parse};

use crate::shared::{HERE, links, url};

fn read(content_type: &str, body: &str) -> Page {
    parse(&url(HERE), Some(content_type), body.as_bytes(), &Limits::default()).expect("a text")
}

#[test]
fn plain_text() {
    let page = read("text/plain", "\n  A  title \r\n\r\nsome <b>text</b>\ron three\tlines &amp;\n");
    assert_eq!(page.title, "A title");
    assert_eq!(page.text, "A title\nsome <b>text</b>\non three lines &amp;");
    assert!(page.links.is_empty() && page.headings.is_empty());
    let page = read("text/plain", "");
    assert_eq!((page.title.as_str(), page.text.as_str()), ("", ""));
}

#[test]
fn plain_text_respects_the_limits() {
    let limits = Limits { title_bytes_max: 5, text_bytes_max: 9, ..Limits::default() };
    let page = parse(&url(HERE), Some("text/plain"), "ééééé ééééé".as_bytes(), &limits);
    let page = page.expect("a text");
    assert_eq!((page.title.as_str(), page.text.as_str()), ("éé", "éééé"));
}

const MARKDOWN: &str = "\
---
layout: post
---
Sieves & *grids*
================

A [sieve](../sieve.html \"title\") keeps the **coarse**; see <https://example.org/auto>.

## Second

* one
* two

| a | b |
|---|---|
| 1 | 2 |

```rust
let code = \"<p>\";
```

<script>hidden()</script>

<p>inline <a href=/html rel=nofollow>HTML</a></p>

![image](i.png) &copy; ~~struck~~ [ref]

[ref]: /reference
";

#[test]
fn markdown() {
    let page = read("text/markdown; charset=utf-8", MARKDOWN);
    assert_eq!(page.title, "Sieves & grids");
    assert_eq!(page.headings, ["Sieves & grids", "Second"]);
    let lines = [
        "Sieves & grids",
        "A sieve keeps the coarse; see https://example.org/auto.",
        "Second",
        "one",
        "two",
        "a b",
        "1 2",
        "let code = \"<p>\";",
        "inline HTML",
        "© struck ref",
    ];
    assert_eq!(page.text.lines().collect::<Vec<_>>(), lines);
    assert_eq!(
        links(&page),
        [
            "http://example.com/sieve.html",
            "https://example.org/auto",
            "http://example.com/html",
            "http://example.com/reference",
        ]
    );
    assert!(page.links[2].nofollow);
}

#[test]
fn the_type_comes_from_label_then_name_then_bytes() {
    const MARKED: &str = "# <b>A</b>";
    let table = [
        (HERE, Some("text/html"), MARKED, "# A"),
        (HERE, Some("Text/HTML ; charset=utf-8"), MARKED, "# A"),
        (HERE, Some("text/plain"), MARKED, "# <b>A</b>"),
        (HERE, Some("text/markdown"), MARKED, "A"),
        ("http://example.com/README.md", Some("text/plain"), MARKED, "A"),
        ("http://example.com/README.md", Some("text/html"), MARKED, "# A"),
        ("http://example.com/a.MarkDown?b", None, MARKED, "A"),
        (HERE, None, "<p>A", "A"),
        (HERE, None, " <!DOCTYPE html>A", "A"),
        (HERE, None, "a < b", "a < b"),
        (HERE, Some(""), "<html>A", "A"),
        (HERE, Some("nonsense"), "<html>A", "A"),
        (HERE, Some("*/*"), "<html>A", "A"),
    ];
    for (at, content_type, body, expected) in table {
        let page = parse(&url(at), content_type, body.as_bytes(), &Limits::default());
        assert_eq!(page.expect("a text").text, expected, "{at} {content_type:?} {body}");
    }
}

#[test]
fn other_types_are_refused_by_name() {
    for content_type in ["image/png", "application/pdf", "application/json", "text/css", "a/b;c"] {
        let error = parse(&url(HERE), Some(content_type), b"<p>", &Limits::default());
        let essence = content_type.split(';').next().unwrap_or_default();
        match error {
            Err(PageError::UnsupportedType { content_type }) => assert_eq!(content_type, essence),
            other => panic!("{content_type}: {other:?}"),
        }
    }
}

#[test]
fn binary_bodies_are_refused_whatever_their_label() {
    let next = |n: &u32| Some(n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let numbers = std::iter::successors(Some(1_u32), next).take(4096);
    let noise: Vec<u8> = numbers.map(|n| n.to_be_bytes()[0]).collect();
    let bodies: [&[u8]; 5] =
        [b"\x89PNG\r\n\x1a\n....", b"%PDF-1.4", b"\x1f\x8b\x08", b"PK\x03\x04", &noise];
    for body in bodies {
        for content_type in [Some("text/html"), Some("text/plain"), None] {
            let error = parse(&url(HERE), content_type, body, &Limits::default());
            assert!(matches!(error, Err(PageError::NotText { .. })), "{content_type:?} {error:?}");
        }
    }
    let stray = format!("<p>text{}", "\0\x01".repeat(7));
    assert_eq!(read("text/html", &stray).text, "text");
}

#[test]
fn markdown_respects_the_limits() {
    let limits = Limits { text_bytes_max: 20, ..Limits::default() };
    let body = "[one](/1) two three [four](/4)";
    let page = parse(&url(HERE), Some("text/markdown"), body.as_bytes(), &limits);
    let page = page.expect("a text");
    assert_eq!((page.text.as_str(), page.text_is_cut), ("one two three", true));
    assert_eq!(links(&page), ["http://example.com/1"]);
    assert!(!read("text/markdown", body).text_is_cut);
}

/// Deep quotes lose only their markers.
#[test]
fn markdown_nesting_is_limited() {
    let line = |levels: usize| read("text/markdown", &format!("{}1.5 - text", "> ".repeat(levels)));
    for levels in [1, 32, 33, 1000] {
        assert_eq!(line(levels).text, "1.5 - text", "{levels}");
    }
}

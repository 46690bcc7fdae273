//! Tests that cleaning removes forbidden markup in every spelling and keeps the rest.

use page::Cleaner;
use proptest::prelude::*;

/// Cleans a page in pieces of a given number of bytes.
fn clean_by(bytes_each: usize, charset: &str, page: &[u8]) -> String {
    let mut cleaner = Cleaner::new(charset, false);
    let mut out = String::new();
    for piece in page.chunks(bytes_each) {
        cleaner.push(piece, false, &mut out);
    }
    cleaner.push(b"", true, &mut out);
    out
}

fn clean(page: &str) -> String {
    let cleaned = clean_by(usize::MAX, "utf-8", page.as_bytes());
    cleaned.strip_prefix("<!DOCTYPE html>").expect("a doctype").to_owned()
}

/// Markup that a copy must not contain, in lower case.
const FORBIDDEN: [&str; 21] = [
    "<link",
    "<iframe",
    "<frame",
    "<object",
    "<embed",
    "<base",
    "<meta",
    "<script",
    "<style",
    "<svg",
    "<math",
    "<video",
    "<audio",
    "<source",
    "<form",
    "<input",
    "<portal",
    "<applet",
    "<noscript",
    "<!--",
    "<select",
];

fn check_safe(page: &str, cleaned: &str) {
    let lower = cleaned.to_ascii_lowercase();
    for forbidden in FORBIDDEN {
        assert!(!lower.contains(forbidden), "{forbidden} of {page:?} is in {cleaned:?}");
    }
    let body = lower.strip_prefix("<!doctype html>").unwrap_or(&lower);
    for after in body.split('<').skip(1) {
        let name = after.trim_start_matches('/');
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{page:?}: {cleaned:?}");
    }
}

#[test]
fn known_elements_and_text_are_kept() {
    for (page, expected) in [
        ("<p class=x>a &amp; b<br>c</p>", "<p>a &amp; b<br>c</p>"),
        ("<TABLE Border=1><td COLSPAN='2'>x", "<table border=\"1\"><td colspan=\"2\">x"),
        ("<a href='HTTP://a.test/?b=1&c'>x</a>", "<a href=\"HTTP://a.test/?b=1&c\">x</a>"),
        ("<a href='#b'>x</a><a href=/c>y", "<a href=\"#b\">x</a><a>y"),
        ("<a href='java\nscript:x'>x", "<a>x"),
        (
            "<img src='data:image/png;base64,AA' alt='\"<b>'>",
            "<img src=\"data:image/png;base64,AA\" alt=\"&quot;&lt;b>\">",
        ),
        ("<img src=http://a.test/ srcset=x onerror=y alt=z>", "<img alt=\"z\">"),
        ("1 < 2 <3 a<b>c", "1 &lt; 2 &lt;3 a<b>c"),
        ("<title>a <b> &lt;</title><title>c</title>d", "<title>a &lt;b> &lt;</title>d"),
        ("<title>open", "<title>open</title>"),
        ("<xmp><b>&amp;</xmp>x", "<pre>&lt;b>&amp;amp;</pre>x"),
        ("<plaintext><b></plaintext>", "<pre>&lt;b>&lt;/plaintext></pre>"),
        ("<textarea><b></textarea>x", "&lt;b>x"),
        ("<frameset><frame src=a><noframes><p>text</noframes></frameset>", "<p>text"),
        ("<object data=a><p>instead</p></object>", "<p>instead</p>"),
        ("<iframe src=a><p>never</p></iframe>after", "after"),
        ("<noscript><p>text</noscript>", "<p>text"),
        ("a<!--b--><!---->c<!-->d<!--->e<!-- > --!>f<!x>g<?y>h</>i</ j>k<!", "acdefghik"),
        ("a<p", "a"),
        ("a<", "a"),
    ] {
        assert_eq!(clean(page), expected, "{page}");
    }
}

#[test]
fn connecting_elements_are_removed_in_any_spelling() {
    let hint = "<link rel=preconnect href=//third.test>";
    let pages = [
        hint.to_owned(),
        format!("<LINK\u{c}rel=preconnect href=//x{hint}"),
        format!("<svg><style>{hint}</style></svg>"),
        format!("<svg><style><p>{hint}"),
        format!("<svg><title><p>{hint}</title></svg>"),
        format!("<math><mtext><style>{hint}</style></math>"),
        format!("<svg><![CDATA[><!--]]>{hint}-->"),
        format!("<![CDATA[{hint}]]>"),
        format!("<select><style></select>{hint}</style>"),
        format!("<select><title></select>{hint}</title>"),
        format!("<noscript><p title='</noscript>{hint}'>"),
        format!("<p title='{hint}'>"),
        format!("<p title=\"{hint}"),
        format!("<p x={hint}"),
        format!("<!--><p>{hint}"),
        format!("<!-- --!>{hint}"),
        format!("<script><!--<script></script>{hint}--></script>"),
        format!("<textarea></textarea >{hint}"),
        format!("<title></title\n{hint}>"),
        format!("<style></styleX>{hint}</style>{hint}"),
        format!("<xmp></xmp{hint}"),
        format!("<plaintext>{hint}"),
        format!("<iframe srcdoc='{hint}'>{hint}</iframe>{hint}"),
        format!("<template>{hint}</template>"),
        format!("<a{}>{hint}", " b=c".repeat(40_000)),
        format!("<p title='{}'>{hint}", "x".repeat(200_000)),
        format!("<title></title {}>{hint}", "x".repeat(200_000)),
        "<meta http-equiv=refresh content='0;url=//third.test'><base href=//third.test>".to_owned(),
        "<body background=//third.test/x.png style='background:url(//third.test)'>".to_owned(),
        "<a ping=//third.test href=http://a.test/ attributionsrc=//third.test>x".to_owned(),
    ];
    for page in pages {
        for bytes_each in [1, 7, usize::MAX] {
            let bytes_each = if page.len() > 10_000 { bytes_each.max(4096) } else { bytes_each };
            let cleaned = clean_by(bytes_each, "utf-8", page.as_bytes());
            check_safe(&page, &cleaned);
            for attribute in ["ping=", "background=", "srcdoc=", "attributionsrc", "style="] {
                assert!(!cleaned.contains(attribute), "{cleaned:?}");
            }
        }
    }
}

#[test]
fn the_copy_is_utf_8_for_any_page_charset() {
    assert!(clean_by(1, "windows-1252", b"<p>caf\xe9").ends_with("<p>café"));
    let utf_16: Vec<u8> = "<p>né<link>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(clean_by(3, "UTF-16LE", &utf_16).ends_with("<p>né"));
    assert!(clean_by(1, "no such", "<p>né".as_bytes()).ends_with("<p>né"));
    assert!(clean_by(2, "utf-8", b"\xef\xbb\xbf<p>\xff").ends_with("<!DOCTYPE html><p>\u{fffd}"));
}

#[test]
fn self_closing_elements_are_recognised_only_in_xml() {
    let page = b"<script src='a'/><p>text</p>";
    for (is_xml, expected) in [(true, "<!DOCTYPE html><p>text</p>"), (false, "<!DOCTYPE html>")] {
        let mut out = String::new();
        Cleaner::new("utf-8", is_xml).push(page, true, &mut out);
        assert_eq!(out, expected);
    }
}

/// Long runs of starts of constructs that never end.
#[test]
fn time_and_memory_are_bounded() {
    for unit in [
        "<",
        "<a",
        "<a b='",
        "<!--",
        "<!",
        "<title>",
        "</",
        "<style></styl",
        "--",
        "<a <",
        "<p x=\"'",
    ] {
        let page = unit.repeat((4 << 20) / unit.len());
        let mut cleaner = Cleaner::new("utf-8", false);
        let mut bytes = 0;
        for piece in page.as_bytes().chunks(32 << 10) {
            let mut out = String::new();
            cleaner.push(piece, false, &mut out);
            bytes += out.len();
        }
        assert!(bytes <= 8 * page.len(), "{unit}: {bytes}");
    }
}

proptest! {
    #[test]
    fn any_page_is_cleaned_equally_in_pieces(
        parts in proptest::collection::vec(
            "<|>|/|=|'|\"|-|!|<!--|-->|]]>|<!\\[CDATA\\[| |x|</|&lt;|<(svg|style|title|p|link|script|select|xmp|iframe|template|/style|/title|/script|/xmp|/svg)[ >]",
            0..40,
        ),
        bytes_each in 1..9_usize,
    ) {
        let page = parts.concat();
        let whole = clean_by(usize::MAX, "utf-8", page.as_bytes());
        check_safe(&page, &whole);
        prop_assert_eq!(clean_by(bytes_each, "utf-8", page.as_bytes()), whole);
    }
}

//! Tests the reader of HTML with tables of markup.

use page::{Limits, normalise, parse};

use crate::shared::{HERE, html, links, url};

fn check_text(table: &[(&str, &str)]) {
    for (markup, expected) in table {
        assert_eq!(html(markup).text, *expected, "{markup}");
    }
}

#[test]
fn blocks_are_separated() {
    check_text(&[
        ("<p>One<p>Two", "One\nTwo"),
        ("One<br>Two<br/>Three", "One\nTwo\nThree"),
        ("<div>One</div>Two<div>Three</div>", "One\nTwo\nThree"),
        ("<ul><li>One<li>Two</ul>Three", "One\nTwo\nThree"),
        ("<dl><dt>One<dd>Two</dl>", "One\nTwo"),
        ("<h1>One</h1>Two", "One\nTwo"),
        ("<table><tr><td>1<td>2<tr><th>3<th>4</table>5", "1 2\n3 4\n5"),
        ("a<hr>b", "a\nb"),
        ("<pre>One\n  Two</pre>", "One Two"),
        ("<select><option>One<option>Two</select>", "One\nTwo"),
        ("<p><p><p>One<p><p>", "One"),
    ]);
}

#[test]
fn inline_elements_split_no_word() {
    check_text(&[
        ("<b>w</b>ord", "word"),
        ("E=mc<sup>2</sup>", "E=mc2"),
        ("<a href=/>li</a>nk", "link"),
        ("<unknown>w</unknown>ord", "word"),
        ("wo<!-- -->rd", "word"),
        ("wo<wbr>rd", "word"),
        ("wo<span> rd", "wo rd"),
        ("wo<img src=a alt=alternative>rd", "word"),
    ]);
}

#[test]
fn white_space_collapses() {
    check_text(&[
        (" \t\r\n a \x0c  b \n", "a b"),
        ("a&nbsp;&nbsp;b", "a b"),
        ("a\u{3000}b", "a\u{3000}b"),
        ("<p> <b> a </b> <i> b </i> </p> <p> c", "a b\nc"),
    ]);
}

#[test]
fn entities() {
    check_text(&[
        ("&lt;p&gt; &amp;amp; &quot;&apos;", "<p> &amp; \"'"),
        ("&eacute;&Eacute;&#233;&#xe9;&#XE9;", "éÉééé"),
        ("&copy 2024 &copy2024", "© 2024 ©2024"),
        ("&notit; &notin;", "¬it; ∉"),
        ("&unknown; & &; &#; &#x;", "&unknown; & &; &#; &#x;"),
        ("&#128; &#x110000; &#xd800;", "€ \u{fffd} \u{fffd}"),
        ("&CounterClockwiseContourIntegral;", "∳"),
        ("&NotEqualTilde;", "≂̸"),
        ("a&shy;b", "a\u{ad}b"),
    ]);
    let page = html("<a href='?a=1&amp;b=2&copy=3&lt;'>x</a>");
    assert_eq!(links(&page), ["http://example.com/dir/page.html?a=1&b=2&copy=3%3C"]);
}

#[test]
fn hidden_content_is_not_text() {
    check_text(&[
        ("a<script>b</script>c", "ac"),
        ("a<script>'<p>' + \"</div>\" // <!-- b</script>c", "ac"),
        ("a<script><!-- <script> </script> b --></script>c", "ac"),
        ("a<SCRIPT>b</sCrIpT >c", "ac"),
        ("a<style>b{}</style>c", "ac"),
        ("a<style><!-- </style> -->c", "a -->c"),
        ("a<template><p>b<a href=/b>b</a></template>c", "ac"),
        ("a<template><template>b</template>b</template>c", "ac"),
        ("a<iframe>b</iframe>c", "a c"),
        ("a<noframes><p>b</noframes>c", "ac"),
        ("a<noembed>b</noembed>c", "ac"),
        ("a<textarea>b</textarea>c", "a\nc"),
        ("a<!-- b -->c", "ac"),
        ("a<!doctype b>c", "ac"),
        ("a<?php b ?>c", "ac"),
        ("a<![CDATA[b]]>c", "ac"),
        ("a<script>b", "a"),
        ("a<!-- b", "a"),
        ("<title>b</title>a", "a"),
    ]);
}

/// Visitors do not see the content of `noscript`, but a crawler without scripts follows its links.
#[test]
fn only_links_are_read_from_noscript() {
    let page = html("a<noscript><h1>Switch scripts on</h1><p>b <a href=/c>d</a></noscript>e");
    assert_eq!(page.text, "a\ne");
    assert!(page.headings.is_empty());
    assert_eq!(links(&page), ["http://example.com/c"]);
    assert_eq!(page.links[0].text, "d");
    assert!(
        html("<noscript><meta http-equiv=refresh content='0;url=/a'></noscript>").refresh.is_none()
    );
}

#[test]
fn unfinished_tags_are_dropped() {
    check_text(&[
        ("a < b", "a < b"),
        ("a <", "a <"),
        ("a </", "a </"),
        ("a <b", "a"),
        ("a <b c", "a"),
        ("a <b c='", "a"),
        ("a <b c='d", "a"),
        ("a </b", "a"),
        ("a <!", "a"),
        ("a <!-", "a"),
        ("a <!--", "a"),
        ("a &am", "a &am"),
        ("a &", "a &"),
        ("a &#", "a &#"),
        ("a <3 b", "a <3 b"),
        ("a <> b", "a <> b"),
        ("a </> b", "a b"),
        ("a <p<b>c", "a c"),
        ("<p =a>b", "b"),
        ("<p a='b'c='d'>e", "e"),
        ("<p a=\"<p>\">b", "b"),
        ("</p></div></html>a</body>b", "a\nb"),
    ]);
}

#[test]
fn nuls_are_removed() {
    check_text(&[("a\0b", "ab"), ("\0", ""), ("a\0 \0b", "a b")]);
    let page = html("<title>a\0b</title><a href='/\0'>c</a>");
    assert_eq!(page.title, "a\u{fffd}b");
    assert_eq!(links(&page), ["http://example.com/%EF%BF%BD"]);
}

#[test]
fn titles() {
    let table = [
        ("<title> A \n title </title>", "A title"),
        ("<title>a &amp; <b>b</b></title>", "a & <b>b</b>"),
        ("<title></title><title>second</title>", "second"),
        ("<title>first</title><title>second</title>", "first"),
        ("<svg><title>picture</title></svg><title>page</title>", "page"),
        ("<svg><title/></svg>text<title>page</title>", "page"),
        ("<title>never closed", "never closed"),
        ("<body><p>a</p><title>late</title>", "late"),
        ("<h1>heading</h1>", ""),
        ("<template><title>a</title></template><title>b</title>", "b"),
        ("<title>a</Title >", "a"),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).title, expected, "{markup}");
    }
}

#[test]
fn headings() {
    let page = html("<h1>One <b>two</b></h1>a<h2>Three<br>four</h3>b<h6> </h6><h3>Five<h4>Six");
    assert_eq!(page.headings, ["One two", "Three four", "Five", "Six"]);
    assert_eq!(page.text, "One two\na\nThree\nfour\nb\nFive\nSix");
}

#[test]
fn descriptions() {
    let table = [
        ("<meta name=description content=' a \n b '>", "a b"),
        ("<meta name=Description content='a &amp; b'>", "a & b"),
        ("<meta name=description content=''><meta name=description content=b>", "b"),
        ("<meta name=description content=a><meta name=description content=b>", "a"),
        ("<meta property=og:description content=a>", ""),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).description, expected, "{markup}");
    }
}

fn check_links(table: &[(&str, &[&str])]) {
    for (markup, expected) in table {
        assert_eq!(links(&html(markup)), *expected, "{markup}");
    }
}

#[test]
fn links_of_every_kind() {
    check_links(&[
        ("<a href=a>", &["http://example.com/dir/a"]),
        ("<A HREF = ' /a '>", &["http://example.com/a"]),
        ("<a href='/a\n\tb'>", &["http://example.com/ab"]),
        ("<area href=a alt=b>", &["http://example.com/dir/a"]),
        ("<frameset><frame src=a></frameset>", &["http://example.com/dir/a"]),
        ("<iframe src=a></iframe>", &["http://example.com/dir/a"]),
        ("<svg><a xlink:href=a></a></svg>", &["http://example.com/dir/a"]),
        ("<a href=/a href=/b>", &["http://example.com/a"]),
        ("<a href=/a><a href=/a>", &["http://example.com/a", "http://example.com/a"]),
        ("<a name=a>", &[]),
        ("<a href>", &[]),
        ("<a href=''>", &[]),
        ("<a href='#top'>", &[]),
        ("<a href=mailto:a@example.com><a href=javascript:b()><a href=tel:1>", &[]),
        ("<a href='java\nscript:b()'>", &[]),
        ("<a href='http://[/'>", &[]),
        ("<link rel=stylesheet href=a><img src=a><script src=a></script>", &[]),
        ("<!-- <a href=a> --><script>'<a href=a>'</script><style><a href=a></style>", &[]),
        ("<textarea><a href=a></textarea><title><a href=a></title>", &[]),
        ("<template><a href=a></template>", &[]),
        ("<a href=/a/b:c>", &["http://example.com/a/b:c"]),
        ("<a href='?b:c'>", &["http://example.com/dir/page.html?b:c"]),
    ]);
}

#[test]
fn only_the_first_base_applies_to_all_links() {
    let base = "<base href='https://other.example/x/'>";
    check_links(&[
        (&format!("{base}<a href=a>"), &["https://other.example/x/a"]),
        (&format!("<a href=a>{base}"), &["https://other.example/x/a"]),
        (&format!("{base}<base href=/y/><a href=a>"), &["https://other.example/x/a"]),
        (&format!("<base target=_top>{base}<a href=a>"), &["https://other.example/x/a"]),
        (&format!("{base}<a href=''><a href='#b'>"), &["https://other.example/x/"; 2]),
        ("<base href=../up/><a href=a>", &["http://example.com/up/a"]),
        ("<base href='mailto:a'><a href=a>", &["http://example.com/dir/a"]),
        ("<base href='http://['><a href=a>", &["http://example.com/dir/a"]),
    ]);
    let page = html(&format!(
        "{base}<link rel=canonical href=c><meta http-equiv=refresh content='0;url=r'>"
    ));
    assert_eq!(page.canonical.map(String::from).as_deref(), Some("https://other.example/x/c"));
    assert_eq!(page.refresh.map(String::from).as_deref(), Some("https://other.example/x/r"));
}

#[test]
fn link_texts() {
    let table = [
        ("<a href=/a> One <b>two</b>\n three </a> four", "One two three"),
        ("<a href=/a><div>One</div><div>two</div></a>", "One two"),
        ("<a href=/a><img src=i alt='An image'></a>", "An image"),
        ("<a href=/a>See<img src=i alt='an image'>here</a>", "See an image here"),
        ("<a href=/a>One<a href=/b>two</a>", "One"),
        ("<a href=/a>One<script>two</script></a>", "One"),
        ("<area href=/a alt='An area'>", "An area"),
        ("<a href=/a></a>One", ""),
        ("<a href=/a>never closed", "never closed"),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).links[0].text, expected, "{markup}");
    }
}

#[test]
fn nofollow_applies_to_one_link() {
    let table = [
        ("<a href=/a rel=nofollow>", true),
        ("<a href=/a rel='external NoFollow\tugc'>", true),
        ("<area href=/a rel=nofollow>", true),
        ("<a href=/a rel=follow>", false),
        ("<a href=/a rel='x-nofollow,nofollow'>", false),
        ("<a href=/a>", false),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).links[0].nofollow, expected, "{markup}");
    }
}

#[test]
fn canonical() {
    let table = [
        ("<link rel=canonical href=/a>", Some("http://example.com/a")),
        (
            "<link REL='Canonical nofollow' href='https://b.example/?c#d'>",
            Some("https://b.example/?c"),
        ),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", Some("http://example.com/a")),
        ("<link rel=alternate href=/a>", None),
        ("<link rel=canonical>", None),
        ("<link rel=canonical href='ftp://a/'>", None),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).canonical.map(String::from).as_deref(), expected, "{markup}");
    }
}

#[test]
fn refresh() {
    let table = [
        ("0;url=/a", Some("http://example.com/a")),
        ("5; URL = '/a' ignored", Some("http://example.com/a")),
        ("0;url=\"/a", Some("http://example.com/a")),
        ("0.5, /a", Some("http://example.com/a")),
        (".5;/a", Some("http://example.com/a")),
        (" 0 /a", Some("http://example.com/a")),
        ("0;url=a b", Some("http://example.com/dir/a%20b")),
        ("5", None),
        ("5;", None),
        ("5;url=", None),
        ("url=/a", None),
        ("-1;url=/a", None),
        ("5a;url=/a", None),
        ("0;url=javascript:a", None),
        ("", None),
        ("0;é", Some("http://example.com/dir/%C3%A9")),
    ];
    for (content, expected) in table {
        let content = content.replace('"', "&quot;");
        let page = html(&format!("<meta http-equiv=Refresh content=\"{content}\">"));
        assert_eq!(page.refresh.map(String::from).as_deref(), expected, "{content}");
    }
}

#[test]
fn self_closing_elements_are_closed_in_xhtml() {
    let read = |content_type, body: &str| {
        parse(&url(HERE), Some(content_type), body.as_bytes(), &Limits::default()).expect("a page")
    };
    let body = "<title/><script src='a'/><p>text</p>";
    assert_eq!(read("application/xhtml+xml", body).text, "text");
    assert_eq!(read("text/html", body).text, "");
}

/// Limits that are small enough for tests to reach.
#[test]
fn limits_are_respected() {
    let limits = Limits {
        body_bytes_max: 4000,
        url_bytes_max: 40,
        links_max: 3,
        link_text_bytes_max: 10,
        title_bytes_max: 11,
        description_bytes_max: 12,
        headings_max: 2,
        heading_bytes_max: 13,
        text_bytes_max: 101,
    };
    let long = "é".repeat(50);
    let many = format!("<h1>{long}</h1><a href=/a>{long}</a><a href='/{long}'>b</a>").repeat(5);
    let body = format!("<title>{long}</title><meta name=description content='{long}'>{many}");
    let here = normalise(HERE, None, &limits).expect("short");
    let page = parse(&here, Some("text/html"), body.as_bytes(), &limits).expect("a page");
    assert_eq!(page.title, "ééééé");
    assert_eq!(page.description, "éééééé");
    assert_eq!(page.headings, ["éééééé"; 2]);
    assert_eq!(page.text.len(), 100);
    assert_eq!(links(&page), ["http://example.com/a"; 3]);
    assert!(page.links.iter().all(|link| link.text == "ééééé"));

    let body = format!("{}beyond", " ".repeat(3998));
    let page = parse(&here, Some("text/html"), body.as_bytes(), &limits).expect("a page");
    assert_eq!(page.text, "be");
}

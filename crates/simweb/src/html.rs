//! The skeleton of every page: head, navigation, prose, links, footer.
//!
//! **Invariant.** The same sheet is the same bytes, on every machine.

use crate::{prose::Voice, random::key};
use jiff::civil::Date;
use std::fmt::Write as _;

/// A link of a page.
#[derive(Debug, Clone)]
pub(crate) struct Href {
    pub(crate) url: String,
    pub(crate) text: String,
    pub(crate) nofollow: bool,
}

impl Href {
    pub(crate) fn to(url: impl Into<String>, text: impl Into<String>) -> Self {
        Self { url: url.into(), text: text.into(), nofollow: false }
    }
}

/// All that a page is made of.
pub(crate) struct Sheet<'a> {
    pub(crate) voice: Voice,
    pub(crate) site: &'a str,
    pub(crate) title: &'a str,
    pub(crate) needle: &'a str,
    /// Key of the prose.
    pub(crate) draw: u64,
    pub(crate) date: Date,
    /// The charset that the meta element declares. If it is empty, there is no such element.
    pub(crate) charset: &'a str,
    /// More elements of the head.
    pub(crate) head: &'a str,
    pub(crate) navigation: &'a [Href],
    pub(crate) contents: &'a [Href],
    pub(crate) see_also: &'a [Href],
    /// Links that go into further paragraphs, one each, until the page has `bytes_min`.
    pub(crate) asides: &'a [Href],
    pub(crate) bytes_min: usize,
}

impl Sheet<'_> {
    /// The page as HTML.
    pub(crate) fn render(&self) -> String {
        let lexicon = self.voice.lexicon;
        let mut out = String::with_capacity(6 << 10);
        out.push_str("<!DOCTYPE html>\n<html lang=\"");
        out.push_str(self.voice.language().code());
        out.push_str("\">\n<head>\n");
        if !self.charset.is_empty() {
            let _ = writeln!(out, "<meta charset=\"{}\">", self.charset);
        }
        out.push_str("<title>");
        push_escaped(self.title, &mut out);
        out.push_str("</title>\n<meta name=\"description\" content=\"");
        push_escaped(&self.voice.sentence(self.draw ^ 1), &mut out);
        out.push_str("\">\n");
        out.push_str(self.head);
        out.push_str("</head>\n<body>\n<header>");
        push_escaped(self.site, &mut out);
        out.push_str("\n<nav>");
        for href in self.navigation {
            push_link(href, &mut out);
        }
        out.push_str("</nav></header>\n<main>\n<h1>");
        push_escaped(self.title, &mut out);
        out.push_str("</h1>\n");
        self.voice.push_body(self.draw, self.needle, &mut out);
        push_list(lexicon.contents, self.contents, &mut out);
        push_list(lexicon.see_also, self.see_also, &mut out);
        self.push_asides(&mut out);
        let date = self.date.strftime(match self.voice.language().code() {
            "en" => "%-d %B %Y",
            _ => "%Y-%m-%d",
        });
        let _ =
            write!(out, "</main>\n<footer>{} {date}</footer>\n</body>\n</html>\n", lexicon.updated);
        out
    }
}

impl Sheet<'_> {
    fn push_asides(&self, out: &mut String) {
        for (number, href) in (1..).zip(self.asides.iter().cycle()) {
            if out.len() >= self.bytes_min {
                return;
            }
            out.push_str("<p>");
            for sentence in 0..4 {
                out.push_str(&self.voice.sentence(key(&[self.draw, number, sentence])));
                out.push_str(self.voice.lexicon.space);
            }
            push_link(href, out);
            out.push_str("</p>\n");
        }
    }
}

fn push_list(heading: &str, links: &[Href], out: &mut String) {
    if links.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{heading}</h2>\n<ul>");
    for href in links {
        out.push_str("<li>");
        push_link(href, out);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn push_link(href: &Href, out: &mut String) {
    out.push_str("<a href=\"");
    push_escaped(&href.url, out);
    out.push_str(if href.nofollow { "\" rel=\"nofollow\">" } else { "\">" });
    push_escaped(&href.text, out);
    out.push_str("</a> ");
}

fn push_escaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            _ => "&quot;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

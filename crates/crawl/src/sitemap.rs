//! Sitemaps: the list of its pages that a site publishes (V7).
//!
//! What lives here: reading a sitemap or an index of sitemaps, in XML or as plain text, both perhaps
//! gzipped. What does not: finding them (robots.txt names them), and whether their URLs are wanted.
//!
//! **Invariant.** Any bytes are a sitemap, if perhaps an empty one; no more than [`URLS_MAX`] URLs
//! of the first [`BYTES_MAX`] bytes come out, those changed last first, and reading is linear in the bytes.
//!
//! Reference: sitemaps.org, protocol 0.9.

use std::borrow::Cow;

use archive::HttpResponse;

/// URLs kept of one file: what the protocol allows.
pub(crate) const URLS_MAX: usize = 50_000;

/// Bytes read of one file, unpacked: what the protocol allows.
pub(crate) const BYTES_MAX: usize = 50 << 20;

/// Bytes, unpacked, in which a file has to show what it is.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// Bytes of an entity, `&` and `;` included.
const ENTITY_BYTES_MAX: usize = 11;

/// What a sitemap lists.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sitemap {
    /// Whether the URLs are those of further sitemaps.
    pub(crate) is_index: bool,
    /// As written, entities undone; those that were changed last come first, those without a date last.
    pub(crate) urls: Vec<String>,
}

impl Sitemap {
    /// Reads a file, at most `bytes_max` bytes of it once unpacked.
    pub(crate) fn parse(bytes: &[u8], bytes_max: usize) -> Sitemap {
        let text = text(bytes, bytes_max.min(BYTES_MAX));
        if text.starts_with('<') { xml(&text) } else { plain(&text) }
    }

    /// Whether a file is one, by its first element or, if it is plain text, its first line. An empty one may
    /// be.
    pub(crate) fn is_in(bytes: &[u8]) -> bool {
        let text = text(bytes, HEAD_BYTES);
        if !text.starts_with('<') {
            return text.is_empty() || ["http://", "https://"].iter().any(|s| text.starts_with(s));
        }
        next_element(&text).is_some_and(|(name, _)| matches!(name.1, "sitemapindex" | "urlset"))
    }
}

/// The text of a file, unpacked, from its first letter on.
fn text(bytes: &[u8], bytes_max: usize) -> String {
    let bytes = gunzip(bytes, bytes_max);
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(bytes_max)]);
    text.trim_start_matches('\u{feff}').trim_start().to_owned()
}

/// The file itself if it is not gzipped.
fn gunzip(bytes: &[u8], bytes_max: usize) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Cow::Borrowed(bytes);
    }
    let headers = vec![("Content-Encoding".to_owned(), "gzip".to_owned())];
    let packed = HttpResponse { status: 200, headers, body: bytes, body_offset: 0 };
    match packed.decoded_body(bytes_max) {
        Ok(bytes) => Cow::Owned(bytes.into_owned()),
        Err(_) => Cow::Borrowed(&[]),
    }
}

/// One URL a line.
fn plain(text: &str) -> Sitemap {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("http"));
    Sitemap { is_index: false, urls: lines.take(URLS_MAX).map(str::to_owned).collect() }
}

/// The `loc` elements in the namespace of the root: those of images and videos are in others.
fn xml(text: &str) -> Sitemap {
    let mut sitemap = Sitemap::default();
    // Each with the day of its last change, and whether an entry has begun since.
    let mut listed: Vec<(Option<Day>, String)> = Vec::new();
    let mut prefix = None;
    let mut rest = text;
    let (mut is_entry_new, mut date) = (true, None);
    while let Some(((space, name), after)) = next_element(rest) {
        rest = after;
        match prefix {
            None => match name {
                "sitemapindex" | "urlset" => {
                    sitemap.is_index = name == "sitemapindex";
                    prefix = Some(space);
                }
                _ => return sitemap,
            },
            Some(prefix) if prefix == space && name == "lastmod" => {
                let (value, after) = value(rest);
                rest = after;
                if let Some(last) = listed.last_mut().filter(|_| !is_entry_new) {
                    last.0 = last.0.or(day(&value));
                } else {
                    date = day(&value);
                }
            }
            Some(prefix) if prefix == space && (name == "url" || name == "sitemap") => {
                (is_entry_new, date) = (true, None);
            }
            Some(prefix) if prefix == space && name == "loc" => {
                let (value, after) = value(rest);
                rest = after;
                if listed.len() == URLS_MAX {
                    break;
                }
                if !value.is_empty() {
                    listed.push((date.take(), value));
                    is_entry_new = false;
                }
            }
            Some(_) => {}
        }
    }
    listed.sort_by_key(|(date, _)| std::cmp::Reverse(*date));
    sitemap.urls = listed.into_iter().map(|(_, url)| url).collect();
    sitemap
}

/// The namespace prefix and the name of the next element that begins, and what comes after its tag.
fn next_element(mut rest: &str) -> Option<((&str, &str), &str)> {
    loop {
        rest = &rest[rest.find('<')?..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->")? + 3..];
            continue;
        }
        let end = rest.find('>')?;
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if !tag.starts_with(['?', '!', '/']) {
            let name = tag.split([' ', '\t', '\r', '\n', '/']).next().unwrap_or_default();
            return Some((name.split_once(':').unwrap_or(("", name)), rest));
        }
    }
}

/// Year, month and day; months and days that are not given are the first.
type Day = (u16, u8, u8);

/// The day of a date as W3C writes it: `2026`, `2026-11`, `2026-11-15`, `2026-11-15T10:00:00Z`.
fn day(text: &str) -> Option<Day> {
    let mut parts = text.split('T').next()?.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let mut number = || parts.next().map_or(Some(1), |part| part.parse().ok());
    let (month, day) = (number()?, number()?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// The text up to the next tag, and what comes after it.
fn value(text: &str) -> (String, &str) {
    if let Some(raw) = text.trim_start().strip_prefix("<![CDATA[") {
        let end = raw.find("]]>").unwrap_or(raw.len());
        return (raw[..end].trim().to_owned(), &raw[end..]);
    }
    let end = text.find('<').unwrap_or(text.len());
    (undo_entities(text[..end].trim()), &text[end..])
}

fn undo_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // No further than an entity may be long, so that reading stays linear.
        let end = rest.bytes().take(ENTITY_BYTES_MAX).position(|byte| byte == b';');
        let entity = end.map(|end| &rest[1..end]);
        let letter = entity.and_then(|entity| match entity {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = entity.strip_prefix('#')?;
                let hexadecimal = number.strip_prefix(['x', 'X']);
                let code = match hexadecimal {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                code.ok().and_then(char::from_u32)
            }
        });
        if let (Some(letter), Some(entity)) = (letter, entity) {
            out.push(letter);
            rest = &rest[entity.len() + 2..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(bytes: &[u8], is_index: bool, urls: &[&str]) {
        let sitemap = Sitemap::parse(bytes, 1 << 20);
        assert_eq!((sitemap.is_index, sitemap.urls.as_slice()), (is_index, &strings(urls)[..]));
    }

    fn strings(urls: &[&str]) -> Vec<String> {
        urls.iter().map(|&url| url.to_owned()).collect()
    }

    #[test]
    fn lists_and_indexes() {
        check(
            b"\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- <loc>http://no/</loc> -->\n<urlset xmlns='x'>\
              <url><loc>\n http://a/?x=1&amp;y=2&#38;z </loc><image:loc>http://a/i.png</image:loc></url>\
              <url><loc><![CDATA[http://a/b?c&d]]></loc></url><url><loc/><loc></loc></url></urlset>",
            false,
            &["http://a/?x=1&y=2&z", "http://a/b?c&d"],
        );
        check(
            b"<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>http://a/1.xml</s:loc></s:sitemap>",
            true,
            &["http://a/1.xml"],
        );
        check(
            b"http://a/1\r\n  https://b/2  \nnot a link\n",
            false,
            &["http://a/1", "https://b/2"],
        );
        check(b"<html><loc>http://a/</loc></html>", false, &[]);
        check(
            b"<urlset><loc>http://a/?b&c;d&verylongname;&</loc>",
            false,
            &["http://a/?b&c;d&verylongname;&"],
        );
        check(b"", false, &[]);
        check(b"\x1f\x8bnot gzip at all", false, &[]);
    }

    #[test]
    fn a_page_is_no_sitemap() {
        for (text, wanted) in [
            ("<?xml version='1.0'?>\n<!-- <html> -->\n<urlset/>", true),
            ("\u{feff} <s:sitemapindex xmlns:s='x'>", true),
            ("\n https://a/\n", true),
            (" ", true),
            ("<!DOCTYPE html><html><urlset>", false),
            ("<!-- <urlset> -->", false),
            ("<rss>", false),
            ("see http://a/", false),
            ("httpd, a server", false),
        ] {
            assert_eq!(Sitemap::is_in(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn what_changed_last_comes_first() {
        check(
            b"<urlset><url><loc>http://a/1</loc></url>\
              <url><loc>http://a/2</loc><lastmod>2024-05</lastmod></url>\
              <url><lastmod>2026-11-15T10:00:00+01:00</lastmod><loc>http://a/3</loc></url>\
              <url><loc>http://a/4</loc><lastmod>2025</lastmod><x:lastmod>2030</x:lastmod></url>\
              <url><loc>http://a/5</loc><lastmod>yesterday</lastmod></url></urlset>",
            false,
            &["http://a/3", "http://a/4", "http://a/2", "http://a/1", "http://a/5"],
        );
        check(
            b"<sitemapindex><sitemap><loc>http://a/old</loc><lastmod>2001-01-01</lastmod></sitemap>\
              <sitemap><loc>http://a/new</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>",
            true,
            &["http://a/new", "http://a/old"],
        );
    }

    #[test]
    fn no_more_than_the_protocol_allows() {
        let entry = |number: usize| format!("<url><loc>http://a/{number}</loc></url>");
        let all: String = (0..URLS_MAX + 5).map(entry).collect();
        let sitemap = Sitemap::parse(format!("<urlset>{all}").as_bytes(), BYTES_MAX);
        assert_eq!(sitemap.urls.len(), URLS_MAX);
        let late = format!("<urlset>{}{}", " ".repeat(BYTES_MAX), entry(1));
        assert!(Sitemap::parse(late.as_bytes(), usize::MAX).urls.is_empty());
        let lines = "http://a/\n".repeat(URLS_MAX + 5);
        assert_eq!(Sitemap::parse(lines.as_bytes(), BYTES_MAX).urls.len(), URLS_MAX);
    }

    #[test]
    fn a_sitemap_of_ampersands_is_quick() {
        let url = "&".repeat(4 << 20);
        let sitemap = Sitemap::parse(format!("<urlset><loc>{url}").as_bytes(), 8 << 20);
        assert_eq!(sitemap.urls, [url]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_sitemap(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            Sitemap::parse(&bytes, 1000);
        }

        #[test]
        fn any_markup_is_a_sitemap(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<urlset>", "<loc>", "</loc>", "<![CDATA[", "]]>", "&", "&#x41;", "&amp;", "é",
                    "<!--", "-->", ">", "<", "x:", "http://a/",
                ]),
                0..30,
            )
        ) {
            Sitemap::parse(format!("<urlset>{}", parts.concat()).as_bytes(), 1000);
        }
    }
}

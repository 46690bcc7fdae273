//! Sitemaps: the list of its pages that a site publishes (V7).
//!
//! What lives here: reading a sitemap or an index of sitemaps, in XML or as plain text, or a feed that serves as
//! one (RSS, Atom), all of them perhaps gzipped, in UTF-8 or UTF-16; `sitemap/xml.rs` is their markup. What does
//! not: finding them (robots.txt names them), and whether their URLs are wanted.
//!
//! **Invariant.** Any bytes are a sitemap, if perhaps an empty one; no more than [`URLS_MAX`] URLs come out,
//! those changed last first, and reading is linear in the bytes. Of a file that was cut the whole URLs count,
//! and it is told.
//!
//! Reference: sitemaps.org, protocol 0.9; RSS 2.0 and 1.0; Atom 1.0 (RFC 4287) and 0.3.

mod xml;

use std::borrow::Cow;

use archive::HttpResponse;

use xml::{Scanner, Tag, Value};

/// URLs kept of one file: what the protocol allows.
pub const URLS_MAX: usize = 50_000;

/// Bytes, unpacked, in which a file has to show what it is.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// What a sitemap lists.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sitemap {
    /// Whether the URLs are those of further sitemaps.
    pub(crate) is_index: bool,
    /// As written, entities undone; those that were changed last come first, those without a date last.
    pub(crate) urls: Vec<String>,
    /// Whether there was more of it than is read.
    pub(crate) is_cut: bool,
}

impl Sitemap {
    /// Reads a file, at most `bytes_max` bytes of it once unpacked; `is_cut` says that its end is missing.
    pub(crate) fn parse(bytes: &[u8], bytes_max: usize, is_cut: bool) -> Sitemap {
        let (bytes, is_whole) = gunzip(bytes, bytes_max.saturating_add(1));
        let is_cut = is_cut || !is_whole || bytes.len() > bytes_max;
        let text = text(&bytes[..bytes.len().min(bytes_max)]);
        if text.starts_with('<') { xml(&text, is_cut) } else { plain(&text, is_cut) }
    }

    /// Whether a file is one, by its first element or, if it is plain text, its first line. An empty one may
    /// be.
    pub(crate) fn is_in(bytes: &[u8]) -> bool {
        let (bytes, _) = gunzip(bytes, HEAD_BYTES);
        let text = text(&bytes[..bytes.len().min(HEAD_BYTES)]);
        if !text.starts_with('<') {
            return text.is_empty() || ["http://", "https://"].iter().any(|s| text.starts_with(s));
        }
        Scanner::new(&text).next_tag().is_some_and(|tag| Format::of(tag).is_some())
    }
}

/// The text of a file from its first letter on. It is UTF-8, or UTF-16 by its mark or by its first letter.
fn text(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => utf16(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    text.trim_start_matches('\u{feff}').trim_start().to_owned()
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let letters = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)));
    letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The file itself if it is not gzipped, and whether it can be unpacked to its end.
fn gunzip(bytes: &[u8], bytes_max: usize) -> (Cow<'_, [u8]>, bool) {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return (Cow::Borrowed(bytes), true);
    }
    let headers = vec![("Content-Encoding".to_owned(), "gzip".to_owned())];
    let packed = HttpResponse { status: 200, headers, body: bytes, body_offset: 0 };
    if let Ok(whole) = packed.whole_body(bytes_max) {
        return (Cow::Owned(whole.into_owned()), true);
    }
    let part = packed.decoded_body(bytes_max).map_or_else(|_| Vec::new(), Cow::into_owned);
    (Cow::Owned(part), false)
}

/// One URL a line; the last line of a file that was cut may not be whole.
fn plain(text: &str, is_cut: bool) -> Sitemap {
    let end = if is_cut { text.rfind('\n').unwrap_or(0) } else { text.len() };
    let mut lines = text[..end].lines().map(str::trim).filter(|line| line.starts_with("http"));
    let urls = lines.by_ref().take(URLS_MAX).map(str::to_owned).collect();
    Sitemap { is_index: false, urls, is_cut: is_cut || lines.next().is_some() }
}

/// What a document is, by its first element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A sitemap.
    List,
    /// An index of sitemaps.
    Index,
    Rss,
    Atom,
}

/// What an element is to a sitemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Entry,
    Address,
    Date,
    /// In it, what looks like an address is that of something else.
    Foreign,
}

impl Format {
    fn of(root: Tag<'_>) -> Option<Format> {
        match root.name {
            "urlset" => Some(Format::List),
            "sitemapindex" => Some(Format::Index),
            "rss" | "RDF" => Some(Format::Rss),
            "feed" => Some(Format::Atom),
            _ => None,
        }
    }

    /// What the elements of this name are, in the namespace of the root.
    fn role(self, name: &str) -> Option<Role> {
        let (entry, address, dates): (_, _, &[_]) = match self {
            Format::List => ("url", "loc", &["lastmod"]),
            Format::Index => ("sitemap", "loc", &["lastmod"]),
            Format::Rss => ("item", "link", &["pubDate"]),
            Format::Atom => ("entry", "link", &["updated", "modified"]),
        };
        match name {
            _ if name == entry => Some(Role::Entry),
            _ if name == address => Some(Role::Address),
            "source" if self == Format::Atom => Some(Role::Foreign),
            _ => dates.contains(&name).then_some(Role::Date),
        }
    }

    /// Whether an address counts only inside an entry: feeds have one of their own.
    fn is_feed(self) -> bool {
        matches!(self, Format::Rss | Format::Atom)
    }
}

/// The addresses in the namespace of the root: those of images and videos are in others.
fn xml(text: &str, is_cut: bool) -> Sitemap {
    let mut scanner = Scanner::new(text);
    let Some((root, format)) = scanner.next_tag().and_then(|root| Some((root, Format::of(root)?)))
    else {
        return Sitemap { is_cut, ..Sitemap::default() };
    };
    // In RSS 1.0 the root alone is of another namespace.
    let prefix = if root.name == "RDF" { "" } else { root.prefix };
    let mut sitemap = Sitemap { is_index: format == Format::Index, is_cut, ..Sitemap::default() };
    // Each with the day of its last change, and whether an entry has begun since.
    let mut listed: Vec<(Option<Day>, String)> = Vec::new();
    let (mut is_entry_new, mut date) = (true, None);
    let (mut is_inside, mut is_foreign) = (!format.is_feed(), false);
    while let Some(tag) = scanner.next_tag() {
        let Some(role) = format.role(tag.name).filter(|_| tag.prefix == prefix) else { continue };
        match role {
            Role::Entry => {
                (is_entry_new, date) = (true, None);
                is_inside = !tag.is_end || !format.is_feed();
            }
            Role::Foreign => is_foreign = !tag.is_end,
            Role::Date if !tag.is_end && !is_foreign => {
                let day = day(&scanner.value().text);
                match listed.last_mut().filter(|_| !is_entry_new) {
                    Some(last) => last.0 = last.0.or(day),
                    None => date = day,
                }
            }
            Role::Address if !tag.is_end && is_inside && !is_foreign => {
                let Some(url) = address(&mut scanner, tag, format) else { continue };
                if url.text.is_empty() || is_cut && !url.is_ended || !url.is_explained {
                    continue;
                }
                if listed.len() == URLS_MAX {
                    sitemap.is_cut = true;
                    break;
                }
                listed.push((date.take(), url.text));
                is_entry_new = false;
            }
            Role::Date | Role::Address => {}
        }
    }
    listed.sort_by_key(|(date, _)| std::cmp::Reverse(*date));
    sitemap.urls = listed.into_iter().map(|(_, url)| url).collect();
    sitemap
}

/// What an element says is an address; in Atom that of the page, not of its comments or its pictures.
fn address(scanner: &mut Scanner<'_>, tag: Tag<'_>, format: Format) -> Option<Value> {
    if format != Format::Atom {
        return Some(scanner.value());
    }
    let rel = scanner.attribute(tag, "rel");
    let is_page = rel.is_none_or(|rel| rel.text.eq_ignore_ascii_case("alternate"));
    scanner.attribute(tag, "href").filter(|_| is_page)
}

/// Year, month and day; months and days that are not given are the first.
type Day = (u16, u8, u8);

/// The day of a date as W3C writes it, `2026`, `2026-11`, `2026-11-15`, `2026-11-15T10:00:00Z`, or as mail does,
/// `Sun, 15 Nov 2026 10:00:00 +0100`.
fn day(text: &str) -> Option<Day> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).take(4).collect();
    let (year, month, day) = match words[..] {
        [day, month, year, _] if month.parse::<u8>().is_err() && day.parse::<u8>().is_ok() => {
            (year, month_number(month)?, day.parse().ok()?)
        }
        [_, day, month, year] => (year, month_number(month)?, day.parse().ok()?),
        _ => {
            let mut parts = text.split('T').next()?.split('-');
            let year = parts.next()?;
            let mut number = || parts.next().map_or(Some(1), |part| part.parse().ok());
            (year, number()?, number()?)
        }
    };
    let year = Some(year).filter(|year| year.len() == 4)?.parse().ok()?;
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

fn month_number(name: &str) -> Option<u8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let place = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    u8::try_from(place + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(bytes: &[u8], is_index: bool, urls: &[&str]) {
        let sitemap = Sitemap::parse(bytes, 1 << 20, false);
        assert_eq!((sitemap.is_index, sitemap.urls.as_slice()), (is_index, &strings(urls)[..]));
        assert!(!sitemap.is_cut);
    }

    fn strings(urls: &[&str]) -> Vec<String> {
        urls.iter().map(|&url| url.to_owned()).collect()
    }

    /// What is missing may be the end of a URL.
    #[test]
    fn a_gzipped_file_that_is_torn_or_damaged_is_cut() {
        let urls: Vec<String> =
            (0..2000_u64).map(|n| format!("http://a/{}\n", n * n * 7919)).collect();
        let urls = urls.concat();
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, urls.as_bytes()).expect("memory");
        let packed = packer.finish().expect("memory");
        let parse = |bytes: &[u8]| Sitemap::parse(bytes, 1 << 20, false);
        assert_eq!((parse(&packed).urls.len(), parse(&packed).is_cut), (2000, false));
        let torn = parse(&packed[..packed.len() / 2]);
        assert!(torn.is_cut && (1..2000).contains(&torn.urls.len()), "{}", torn.urls.len());
        assert!(torn.urls.iter().all(|url| urls.contains(&format!("{url}\n"))), "only whole ones");
        let none = parse(b"\x1f\x8bnot gzip at all");
        assert!(none.is_cut && none.urls.is_empty());
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
            ("<rss>", true),
            ("<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>", true),
            ("<rdf:RDF xmlns:rdf='x'>", true),
            ("<!DOCTYPE urlset [<!ENTITY a '<html>'>]><urlset>", true),
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
    fn feeds_are_lists_of_their_entries() {
        check(
            b"<?xml version='1.0'?><rss version='2.0'><channel><title>t</title><link>http://a/</link>\
              <atom:link href='http://a/feed' rel='self'/><image><link>http://a/</link></image>\
              <item><link> http://a/old </link><pubDate>Mon, 06 Sep 2010 00:01:00 +0000</pubDate></item>\
              <item><pubDate>15 Nov 2026 10:00 GMT</pubDate><link><![CDATA[http://a/new?b&c]]></link></item>\
              <item><guid>x</guid></item></channel></rss>",
            false,
            &["http://a/new?b&c", "http://a/old"],
        );
        check(
            b"<rdf:RDF xmlns:rdf='x' xmlns='y'><channel><link>http://a/</link></channel>\
              <item rdf:about='http://a/1'><link>http://a/1</link></item></rdf:RDF>",
            false,
            &["http://a/1"],
        );
        check(
            b"<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://a/'/>\
              <entry><link rel='self' href='http://a/1.atom'/><link title=\"a > b\" href='http://a/1?b&amp;c'/>\
              <updated>2024-01-01T00:00:00Z</updated></entry>\
              <entry><source><link href='http://b/'/></source><link rel='alternate' href=\"http://a/2\"/>\
              <updated>2025-01-01T00:00:00Z</updated></entry></feed>",
            false,
            &["http://a/2", "http://a/1?b&c"],
        );
    }

    #[test]
    fn a_file_may_be_in_utf_16() {
        let text =
            "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://a/\u{e9}</loc></url>";
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for (mark, bytes) in [(&[0xFF, 0xFE][..], &little), (&[0xFE, 0xFF], &big)] {
            for mark in [mark, &[]] {
                let bytes = [mark, bytes].concat();
                assert!(Sitemap::is_in(&bytes));
                check(&bytes, false, &["http://a/\u{e9}"]);
            }
        }
        check(&[0xFF, 0xFE, b'<'], false, &[]);
    }

    #[test]
    fn entities_that_a_document_declares_are_refused() {
        let bomb: Vec<String> =
            (1..20).map(|n| format!("<!ENTITY e{n} '&e{};&e{};'>", n - 1, n - 1)).collect();
        let bomb = bomb.concat();
        let text = format!(
            "<!DOCTYPE urlset [<!-- ' --><!ENTITY e0 '<urlset><loc>http://no/</loc>'>{bomb}]>\
             <urlset><loc>http://a/&e19;</loc><loc>http://a/?b&amp;c</loc>\
             <loc><!-- a -->http://a/<![CDATA[d&]]>e</loc></urlset>"
        );
        check(text.as_bytes(), false, &["http://a/?b&c", "http://a/d&e"]);
    }

    #[test]
    fn no_more_than_the_protocol_allows() {
        const BYTES_MAX: usize = 50 << 20;
        let entry = |number: usize| format!("<url><loc>http://a/{number}</loc></url>");
        let all: String = (0..URLS_MAX + 5).map(entry).collect();
        let sitemap = Sitemap::parse(format!("<urlset>{all}").as_bytes(), BYTES_MAX, false);
        assert_eq!((sitemap.urls.len(), sitemap.is_cut), (URLS_MAX, true));
        let late = format!("<urlset>{}{}", " ".repeat(1 << 20), entry(1));
        let sitemap = Sitemap::parse(late.as_bytes(), 1 << 20, false);
        assert!(sitemap.urls.is_empty() && sitemap.is_cut);
        let lines = "http://a/\n".repeat(URLS_MAX + 5);
        let sitemap = Sitemap::parse(lines.as_bytes(), BYTES_MAX, false);
        assert_eq!((sitemap.urls.len(), sitemap.is_cut), (URLS_MAX, true));
    }

    /// Wherever a file is cut, its URLs are some of those of the whole, and it is told.
    #[test]
    fn of_a_file_that_was_cut_whole_urls_count() {
        for whole in [
            "<urlset><url><loc>http://a/1</loc></url><url><loc>http://a/<![CDATA[23]]></loc></url></urlset>",
            "<rss><item><link>http://a/1</link></item><item><link>http://a/23</link></item></rss>",
            "<feed><entry><link href='http://a/1'/></entry><entry><link href='http://a/23'/></entry></feed>",
            "http://a/1\nhttp://a/23\n",
        ] {
            let mut most = 0;
            for length in 0..whole.len() {
                let sitemap = Sitemap::parse(whole.as_bytes(), length, false);
                assert!(sitemap.is_cut, "{length} of {whole}");
                let is_whole = |url: &String| url == "http://a/1" || url == "http://a/23";
                assert!(sitemap.urls.iter().all(is_whole), "{length}: {:?}", sitemap.urls);
                most = most.max(sitemap.urls.len());
            }
            assert!(most > 0, "{whole}");
        }
    }

    #[test]
    fn a_sitemap_of_ampersands_is_quick() {
        let url = "&".repeat(4 << 20);
        let sitemap = Sitemap::parse(format!("<urlset><loc>{url}").as_bytes(), 8 << 20, false);
        assert_eq!(sitemap.urls, [url]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_sitemap(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            Sitemap::parse(&bytes, 1000, false);
        }

        #[test]
        fn any_markup_is_a_sitemap(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<urlset>", "<loc>", "</loc>", "<![CDATA[", "]]>", "&", "&#x41;", "&amp;", "é",
                    "<!--", "-->", ">", "<", "x:", "http://a/", "<!DOCTYPE x [", "]>", "<?", "'", "\"",
                ]),
                0..30,
            )
        ) {
            Sitemap::parse(format!("<urlset>{}", parts.concat()).as_bytes(), 1000, true);
        }
    }
}

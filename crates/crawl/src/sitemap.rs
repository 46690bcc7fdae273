//! Sitemaps: the list of pages that a site publishes.
//!
//! What lives here: parsing a sitemap or an index of sitemaps, in XML or as plain text, or a feed (RSS, Atom). All
//! of them may be gzipped, in UTF-8 or UTF-16. `sitemap/listing.rs` interprets the XML elements, `sitemap/xml.rs`
//! parses the markup. What does not: finding them (robots.txt names them), and whether their URLs are wanted.
//!
//! **Invariant.** Parsing never fails; any bytes are a sitemap, possibly an empty one. At most [`URLS_MAX`] URLs
//! come out, those changed last first. Parsing is linear in the bytes. A truncated file is marked, and only its whole URLs count.
//!
//! Reference: sitemaps.org, protocol 0.9; RSS 2.0 and 1.0; Atom 1.0 (RFC 4287) and 0.3.

mod listing;
mod xml;

use std::borrow::Cow;

use archive::HttpResponse;

use listing::is_listing;

/// Maximum number of URLs of one file, as in the protocol.
pub const URLS_MAX: usize = 50_000;

/// The format is recognised by this many decompressed bytes.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// The contents of a sitemap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sitemap {
    /// Whether the URLs are those of further sitemaps.
    pub(crate) is_index: bool,
    /// As written, with entities decoded; those changed last come first, those without a date last.
    pub(crate) urls: Vec<String>,
    /// Whether the file was not read in full, or its end is missing.
    pub(crate) is_cut: bool,
}

impl Sitemap {
    /// Parses at most `bytes_max` decompressed bytes of a file; `is_cut` says that its end is missing.
    pub(crate) fn parse(bytes: &[u8], bytes_max: usize, is_cut: bool) -> Sitemap {
        let (bytes, is_whole) = gunzip(bytes, bytes_max.saturating_add(1));
        let is_cut = is_cut || !is_whole || bytes.len() > bytes_max;
        let text = text(&bytes[..bytes.len().min(bytes_max)]);
        let text = from_first_letter(&text);
        if text.starts_with('<') { listing::read(text, is_cut) } else { plain(text, is_cut) }
    }

    /// Returns whether a file exceeds `bytes_max` or has [`URLS_MAX`] URLs or more.
    pub(crate) fn is_long(bytes: &[u8], bytes_max: usize) -> bool {
        let (unpacked, _) = gunzip(bytes, bytes_max.saturating_add(1));
        unpacked.len() > bytes_max || Sitemap::parse(bytes, bytes_max, false).urls.len() >= URLS_MAX
    }

    /// Returns whether a file is a sitemap, by its first element or its first line of text. An empty file may be
    /// one.
    pub(crate) fn is_in(bytes: &[u8]) -> bool {
        let (bytes, _) = gunzip(bytes, HEAD_BYTES);
        let text = text(&bytes[..bytes.len().min(HEAD_BYTES)]);
        let text = from_first_letter(&text);
        if text.starts_with('<') { is_listing(text) } else { text.is_empty() || is_absolute(text) }
    }
}

/// Decodes a file: UTF-8, or UTF-16 by its byte-order mark or its first character.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xFF, 0xFE, ..] | [1..=255, 0, ..] => utf16(bytes, u16::from_le_bytes).into(),
        [0xFE, 0xFF, ..] | [0, 1..=255, ..] => utf16(bytes, u16::from_be_bytes).into(),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// Removes a byte-order mark and white space from the beginning.
fn from_first_letter(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_start()
}

/// Returns whether a text begins as an absolute URL.
fn is_absolute(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let letters = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)));
    letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Decompresses a gzipped file; also returns whether it is complete.
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

/// Parses one URL a line; the last line of a truncated file may not be whole.
fn plain(text: &str, is_cut: bool) -> Sitemap {
    let end = if is_cut { text.rfind('\n').unwrap_or(0) } else { text.len() };
    let mut lines = text[..end].lines().map(str::trim).filter(|line| line.starts_with("http"));
    let urls = lines.by_ref().take(URLS_MAX).map(str::to_owned).collect();
    Sitemap { is_index: false, urls, is_cut: is_cut || lines.next().is_some() }
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

    /// The missing part may be the end of a URL.
    #[test]
    fn a_damaged_gzip_file_is_truncated() {
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
    fn sitemaps_and_indexes_are_parsed() {
        check(
            b"\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- <loc>http://no/</loc> -->\n<urlset xmlns='x'>\
              <url><loc>\n http://a/?x=1&amp;y=2&#38;z </loc><image:loc>http://a/i.png</image:loc></url>\
              <url><loc><![CDATA[http://a/b?c&d]]></loc></url><url><loc/><loc></loc></url></urlset>",
            false,
            &["http://a/?x=1&y=2&z", "http://a/b?c&d"],
        );
        check(
            b"<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>http://a/1.xml</s:loc></s:sitemap></s:sitemapindex>",
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
            b"<urlset><loc>http://a/?b&c;d&verylongname;&</loc></urlset>",
            false,
            &["http://a/?b&c;d&verylongname;&"],
        );
        check(b"", false, &[]);
        check(b"<urlset xmlns='http://x/'/>", false, &[]);
    }

    #[test]
    fn a_page_is_not_a_sitemap() {
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
    fn recently_changed_urls_come_first() {
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
    fn feeds_list_their_entries() {
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
        let text = "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://a/\u{e9}</loc></url></urlset>";
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
        check(&[0xFF, 0xFE, b' '], false, &[]);
    }

    /// With and without a byte-order mark, with and without white space before the first address.
    #[test]
    fn a_url_list_may_be_in_utf_16() {
        for text in ["http://a/1\r\nhttps://b/\u{e9}\r\n", "\n http://a/1\nhttps://b/\u{e9}"] {
            for mark in ["", "\u{feff}"] {
                let units = || mark.encode_utf16().chain(text.encode_utf16());
                let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
                let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
                for bytes in [little, big] {
                    assert!(Sitemap::is_in(&bytes), "{bytes:?}");
                    check(&bytes, false, &["http://a/1", "https://b/\u{e9}"]);
                }
            }
        }
        for bytes in [&[0][..], &[0, 0], &[b'h', 0], &[0, b'h'], &[0, 0, b'h', 0]] {
            check(bytes, false, &[]);
        }
    }

    /// RSS 2.0: a guid is an address unless it says otherwise; the link takes precedence.
    #[test]
    fn an_item_without_a_link_uses_its_guid() {
        check(
            b"<rss><channel><guid>http://a/channel</guid>\
              <item><guid>http://a/1</guid><pubDate>15 Nov 2026 10:00 GMT</pubDate></item>\
              <item><guid isPermaLink='true'> http://a/2?b&amp;c </guid></item>\
              <item><guid isPermaLink=\"false\">http://a/no-address</guid></item>\
              <item><guid>tag:a,2026:3</guid></item>\
              <item><guid>http://a/short</guid><link>http://a/4</link></item>\
              <item><link>http://a/5</link><guid>http://a/short</guid>\
              <pubDate>14 Nov 2026 10:00 GMT</pubDate></item>\
              <item><link></link><guid>https://a/6</guid></item>\
              </channel></rss>",
            false,
            &["http://a/1", "http://a/5", "http://a/2?b&c", "http://a/4", "https://a/6"],
        );
    }

    #[test]
    fn declared_entities_are_refused() {
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
    fn sitemap_urls_and_bytes_are_limited() {
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

    /// Wherever a file is truncated, its URLs are a subset of those of the whole, and it is marked.
    #[test]
    fn only_whole_urls_of_a_truncated_file_count() {
        for whole in [
            "<urlset><url><loc>http://a/1</loc></url><url><loc>http://a/<![CDATA[23]]></loc></url></urlset>",
            "<rss><item><link>http://a/1</link></item><item><link>http://a/23</link></item></rss>",
            "<rss><item><guid>http://a/1</guid></item><item><guid>http://a/23</guid></item></rss>",
            "<feed><entry><link href='http://a/1'/></entry><entry><link href='http://a/23'/></entry></feed>",
            "http://a/1\nhttp://a/23\n",
        ] {
            let mut most = 0;
            let is_xml = whole.starts_with('<');
            for length in 0..whole.len() {
                let sitemap = Sitemap::parse(whole.as_bytes(), length, false);
                assert!(sitemap.is_cut, "{length} of {whole}");
                if is_xml {
                    // The parser notices by itself that the end is missing.
                    let alone = Sitemap::parse(&whole.as_bytes()[..length], 1 << 20, false);
                    let is_begun = Sitemap::is_in(&whole.as_bytes()[..length]);
                    assert_eq!(
                        (alone.urls, alone.is_cut),
                        (sitemap.urls.clone(), is_begun && length > 0)
                    );
                }
                let is_whole = |url: &String| url == "http://a/1" || url == "http://a/23";
                assert!(sitemap.urls.iter().all(is_whole), "{length}: {:?}", sitemap.urls);
                most = most.max(sitemap.urls.len());
            }
            assert!(most > 0, "{whole}");
        }
    }

    /// Ten times the markup takes about ten times as long: the parser does not search for a missing end tag at
    /// every place.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "what takes time is the parser, not a host")]
    fn unclosed_markup_is_parsed_quickly() {
        let url = "&".repeat(4 << 20);
        let sitemap = Sitemap::parse(format!("<urlset><loc>{url}").as_bytes(), 8 << 20, false);
        assert!(sitemap.urls.is_empty() && sitemap.is_cut);
        let text = format!("<urlset><loc>{url}</loc></urlset>");
        assert_eq!(Sitemap::parse(text.as_bytes(), 8 << 20, false).urls, [url]);
        for root in ["<urlset>", "<rss>", "<feed>"] {
            for part in [
                "<",
                ">",
                "<loc>",
                "<item><guid>",
                "<entry><link href='",
                "<a b=\"",
                "<!--",
                "<![CDATA[",
                "<!DOCTYPE [",
                "<!'",
                "<?",
                "</",
                "<loc><![CDATA[]]>",
                "<loc><!-- -->",
                "'",
                "=",
                "a=b ",
            ] {
                for end in ["", ">", "'/></loc></guid></entry>"] {
                    let [short, long] = [2_000, 20_000].map(|times| {
                        let text = format!("{root}{}{end}", part.repeat(times));
                        let begun = std::time::Instant::now();
                        Sitemap::parse(text.as_bytes(), 8 << 20, false);
                        begun.elapsed()
                    });
                    // The machine may be busy for a moment, but not as long as quadratic time takes.
                    let room = std::time::Duration::from_millis(500);
                    assert!(long < 40 * short + room, "{root}{part}{end}: {short:?}, {long:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_parse_as_a_sitemap(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            start in prop::sample::select(vec![
                &b""[..], b"\xff\xfe", b"\xfe\xff", b"h\0", b"\0<", b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
                b"http://", b"\xef\xbb\xbf<urlset>",
            ]),
            bytes_max in 0..400_usize,
        ) {
            let bytes = [start, &bytes].concat();
            Sitemap::is_in(&bytes);
            let sitemap = Sitemap::parse(&bytes, bytes_max, false);
            prop_assert!(sitemap.is_cut || bytes.len() <= bytes_max || bytes.starts_with(&[0x1f, 0x8b]));
        }

        /// Whatever the markup, a truncated file has no URL that the whole does not have.
        #[test]
        fn any_markup_parses_as_a_sitemap(
            root in prop::sample::select(vec!["<urlset>", "<sitemapindex>", "<rss>", "<feed>", "<RDF>", ""]),
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<url>", "</url>", "<loc>", "</loc>", "<![CDATA[", "]]>", "&", "&#x41;", "&amp;", "é",
                    "<!--", "-->", ">", "<", "x:", "http://a/", "<!DOCTYPE x [", "]>", "<?", "'", "\"",
                    "<item>", "</item>", "<guid>", "<guid isPermaLink='false'>", "</guid>", "<link>", "</link>",
                    "<entry>", "</entry>", "<link href='http://a/b'/>", "<source>", "</source>",
                    "<lastmod>2026-11-15</lastmod>", "<pubDate>Sun, 15 Nov 2026</pubDate>", "<updated>", "\n",
                ]),
                0..30,
            ),
        ) {
            let text = format!("{root}{}", parts.concat());
            let whole = Sitemap::parse(text.as_bytes(), 10_000, false);
            prop_assert!(whole.urls.iter().all(|url| !url.is_empty()), "{whole:?}");
            prop_assert!(whole.urls.len() <= parts.len());
            let gone = Sitemap::parse(text.as_bytes(), 10_000, true);
            let cut = Sitemap::parse(text.as_bytes(), text.len() / 2, false);
            for url in gone.urls.iter().chain(&cut.urls) {
                prop_assert!(whole.urls.contains(url), "{url:?} of {text:?}");
            }
        }
    }
}

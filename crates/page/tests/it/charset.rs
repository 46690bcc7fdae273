//! Tests with tables which charset wins: byte order mark, header, declaration or detection. Also tests declarations
//! that the bytes refute.

use page::CharsetSource::{Bom, Detected, Header, Meta};
use page::{CharsetSource, Limits, Page, parse};

use crate::shared::{self, HERE, html_bytes, url};

fn read(content_type: &str, body: &[u8]) -> Page {
    parse(&url(HERE), Some(content_type), body, &Limits::default()).expect("a text")
}

fn check(content_type: &str, body: &[u8], name: &str, source: CharsetSource, text: &str) {
    let page = read(content_type, body);
    let shown = String::from_utf8_lossy(body);
    assert_eq!((page.charset.name, page.charset.source), (name, source), "{content_type} {shown}");
    assert_eq!(page.text, text, "{content_type} {shown}");
}

fn utf_16(text: &str, is_little_endian: bool) -> Vec<u8> {
    let bytes = |unit: u16| if is_little_endian { unit.to_le_bytes() } else { unit.to_be_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn the_header_overrides_meta_and_meta_overrides_detection() {
    // 0xe8 is è in windows-1252, č in ISO-8859-2 and и in windows-1251.
    let meta = b"<meta charset=iso-8859-2><p>\xe8";
    check("text/html; charset=windows-1251", meta, "windows-1251", Header, "и");
    check("text/html", meta, "ISO-8859-2", Meta, "č");
    check("text/html; charset=nonsense", meta, "ISO-8859-2", Meta, "č");
    check("text/html; charset=", meta, "ISO-8859-2", Meta, "č");
    check("text/html", b"<p>caf\xe9 cr\xe8me", "windows-1252", Detected, "café crème");
    check("text/html", "<p>café".as_bytes(), "UTF-8", Detected, "café");
    check("text/html", b"<p>plain", "UTF-8", Detected, "plain");
}

#[test]
fn headers_as_servers_write_them() {
    for content_type in [
        "text/html;charset=iso-8859-2",
        "text/html; Charset=ISO-8859-2",
        "text/html; charset=iso-8859-2;boundary=a",
        "text/html; charset=\"iso-8859-2\"",
        "text/html; charset='latin2'",
        "text/html; charset = iso-8859-2 ; boundary=a",
        "text/html; version=1; charset=iso-8859-2, text/html",
        "TEXT/HTML;;charset=l2",
    ] {
        check(content_type, b"<p>\xe8", "ISO-8859-2", Header, "č");
    }
}

#[test]
fn unsupported_charset_declarations_are_ignored() {
    for label in ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn", "replacement"] {
        let content_type = format!("text/html; charset={label}");
        check(&content_type, b"<p>plain", "UTF-8", Detected, "plain");
        let meta = format!("<meta charset={label}><p>plain");
        check("text/html", meta.as_bytes(), "UTF-8", Detected, "plain");
        let meta = b"<meta charset=iso-8859-2><p>\xe8";
        check(&content_type, meta, "ISO-8859-2", Meta, "č");
    }
}

#[test]
fn the_byte_order_mark_overrides_all_declarations() {
    let content_type = "text/html; charset=iso-8859-2";
    let body = "\u{feff}<meta charset=windows-1251><p>čè".as_bytes();
    check(content_type, body, "UTF-8", Bom, "čè");
    for (is_little_endian, name) in [(true, "UTF-16LE"), (false, "UTF-16BE")] {
        let body = utf_16("\u{feff}<p>čè 日本", is_little_endian);
        check(content_type, &body, name, Bom, "čè 日本");
        let page = read("text/plain", &body);
        assert_eq!((page.text.as_str(), page.charset.source), ("<p>čè 日本", Bom));
    }
    assert_eq!(read("text/plain", b"\xef\xbb\xbf").text, "");
}

#[test]
fn utf_16_declared_in_the_header() {
    let body = utf_16("<p>plain text, čè", true);
    check("text/html; charset=utf-16", &body, "UTF-16LE", Header, "plain text, čè");
    let body = utf_16("<p>plain text, čè", false);
    check("text/html; charset=utf-16be", &body, "UTF-16BE", Header, "plain text, čè");
    let body = utf_16("<?xml version='1.0'?><p>plain text, čè", true);
    check("text/html", &body, "UTF-16LE", Meta, "plain text, čè");
}

#[test]
fn declarations_contradicted_by_the_bytes_are_ignored() {
    // Latin 1 declared as UTF-8.
    let latin_1 = b"<meta charset=utf-8><p>Stra\xdfe, Gr\xfc\xdfe, sch\xf6n";
    check("text/html; charset=utf-8", latin_1, "windows-1252", Detected, "Straße, Grüße, schön");
    // UTF-8 declared as Latin 1, in the header and in the page.
    let utf_8 = "<meta charset=iso-8859-1><p>Straße, Grüße, schön".as_bytes();
    check("text/html; charset=iso-8859-1", utf_8, "UTF-8", Detected, "Straße, Grüße, schön");
    // The header is wrong, the page is right.
    let right = b"<meta charset=iso-8859-2><p>p\xf8\xedli\xb9 \xbelu\xbbou\xe8k\xfd k\xf9\xf2";
    check("text/html; charset=utf-8", right, "ISO-8859-2", Meta, "příliš žluťoučký kůň");
    // ASCII declared as UTF-16.
    check("text/html; charset=utf-16le", b"<p>plain text", "UTF-8", Detected, "plain text");
    // One valid character refutes no declaration: this is Ã¤ in a page about charsets.
    check("text/html; charset=iso-8859-1", b"<p>\xc3\xa4", "windows-1252", Header, "Ã¤");
}

#[test]
fn a_page_with_a_few_broken_characters_stays_utf_8() {
    let mut body = "<meta charset=utf-8><p>".as_bytes().to_vec();
    body.extend("Grüße aus Köln. ".repeat(20).as_bytes());
    body.extend(b"\xe4\xff end");
    let page = html_bytes(&body);
    assert_eq!((page.charset.name, page.charset.source), ("UTF-8", Meta));
    assert!(page.text.ends_with("\u{fffd}\u{fffd} end"), "{}", page.text);
    // The body is cut in the middle of a character.
    let page = html_bytes("<p>Grüße, Köln, schö".as_bytes().split_last().expect("bytes").1);
    assert_eq!((page.charset.name, page.text.as_str()), ("UTF-8", "Grüße, Köln, sch\u{fffd}"));
}

#[test]
fn detection_distinguishes_charsets() {
    let table: [(&str, &[u8], &str, &str); 4] = [
        (
            "http://a.ru/",
            b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0! \xca\xe0\xea \xe4\xe5\xeb\xe0?",
            "windows-1251",
            "Привет, мир! Как дела?",
        ),
        (
            "http://a.jp/",
            b"\x93\xfa\x96{\x8c\xea\x82\xcc\x83y\x81[\x83W\x82\xc5\x82\xb7\x81B",
            "Shift_JIS",
            "日本語のページです。",
        ),
        (
            "http://a.jp/",
            b"\xc6\xfc\xcb\xdc\xb8\xec\xa4\xce\xa5\xda\xa1\xbc\xa5\xb8\xa4\xc7\xa4\xb9\xa1\xa3",
            "EUC-JP",
            "日本語のページです。",
        ),
        (
            "http://a.cn/",
            b"\xd6\xd0\xce\xc4\xcd\xf8\xd2\xb3\xb5\xc4\xc4\xda\xc8\xdd\xa1\xa3",
            "GBK",
            "中文网页的内容。",
        ),
    ];
    for (at, body, name, text) in table {
        let page = parse(&url(at), Some("text/plain"), body, &Limits::default()).expect("text");
        assert_eq!((page.charset.name, page.text.as_str()), (name, text));
        assert_eq!(page.charset.source, Detected);
    }
}

#[test]
fn declarations_count_in_html_only_and_near_its_top() {
    let meta = "<meta charset=iso-8859-2>\u{10}".as_bytes();
    assert_eq!(read("text/plain", meta).charset.source, Detected);
    let within = format!("<!--{}--><meta charset=l2><p>", " ".repeat(1024));
    assert_eq!(html_bytes(within.as_bytes()).charset.source, Meta, "{}", within.len());
    let beyond = format!("<!--{}--><meta charset=l2><p>", " ".repeat(16 << 10));
    assert_eq!(html_bytes(beyond.as_bytes()).charset.source, Detected);
}

#[test]
fn xml_declarations() {
    let body = b"<?xml version='1.0' encoding='iso-8859-2'?><p>\xe8</p>";
    check("application/xhtml+xml", body, "ISO-8859-2", Meta, "č");
    check("text/html", body, "ISO-8859-2", Meta, "č");
}

/// The cases of html5lib. The results differ where the standard falls back to windows-1252, and where the bytes are
/// clearly UTF-8. The module `charset` documents both.
#[test]
fn needs_shared_html5lib_encodings() {
    let mut checked = 0;
    for file in shared::files("html/html5lib-tests/encoding", ".dat") {
        for (data, expected) in encoding_cases(&shared::read(&file)) {
            let page = html_bytes(&data);
            let shown = String::from_utf8_lossy(&data);
            let characters = shown.chars().filter(|c| !c.is_ascii()).count();
            let is_beyond_doubt = characters >= 4 && !shown.contains('\u{fffd}');
            let is_default = expected.eq_ignore_ascii_case("windows-1252");
            match page.charset.source {
                Meta | Bom => assert!(page.charset.name.eq_ignore_ascii_case(&expected), "{shown}"),
                _ => assert!(is_default || is_beyond_doubt, "{file}: {expected} for {shown}"),
            }
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} cases");
}

/// The cases of a file. Each has `#data`, some lines, `#encoding` and one line.
fn encoding_cases(file: &[u8]) -> Vec<(Vec<u8>, String)> {
    let mut cases = Vec::new();
    let mut lines = file.split_inclusive(|&byte| byte == b'\n');
    while let Some(line) = lines.next() {
        if line != b"#data\n" {
            continue;
        }
        let data = lines.by_ref().take_while(|line| *line != b"#encoding\n").collect::<Vec<_>>();
        let mut data = data.concat();
        data.pop();
        let expected = lines.next().expect("an encoding");
        cases.push((data, String::from_utf8_lossy(expected).trim().to_owned()));
    }
    cases
}

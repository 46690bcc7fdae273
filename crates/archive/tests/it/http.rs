//! HTTP answers: taken apart, codings undone, limits kept.

use std::io::{Read as _, Write as _};

use archive::{
    ArchiveError, HttpResponse, UNDONE_TRANSFER_ENCODING, body_reader, http_block, http_response,
    parse_http,
};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

fn bare_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

fn chunked(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in bytes.chunks(size) {
        out.extend_from_slice(format!("{:X};ext=1\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
    out
}

fn block(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut block = format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    block.extend_from_slice(body);
    block
}

/// The body after undoing, at most `bytes_max` of it, at once and piece by piece.
fn check(headers: &str, body: &[u8], bytes_max: usize, expected: &[u8]) {
    let block = block(headers, body);
    let decoded = parse_http(&block).expect("a response").decoded_body(bytes_max);
    let decoded = decoded.expect("decoded");
    let shown = String::from_utf8_lossy(&decoded[..decoded.len().min(60)]);
    assert!(*decoded == *expected, "{headers:?} gave {} bytes: {shown:?}", decoded.len());
    let mut read = Vec::new();
    let reader = body_reader(block.clone()).expect("a reader");
    reader.take(bytes_max as u64).read_to_end(&mut read).expect("no error");
    let shown = String::from_utf8_lossy(&read[..read.len().min(60)]);
    assert!(read == expected, "{headers:?} read as {} bytes: {shown:?}", read.len());
}

const TEXT: &[u8] = b"Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura";
const ALL: usize = 1 << 20;

#[test]
fn codings_are_decoded() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    check("", TEXT, ALL, TEXT);
    check("Content-Encoding: identity\r\n", TEXT, ALL, TEXT);
    check(CHUNKED, &chunked(TEXT, 7), ALL, TEXT);
    check("Content-Encoding: gzip\r\n", &gzip(TEXT), ALL, TEXT);
    check("Content-Encoding: X-GZIP\r\n", &gzip(TEXT), ALL, TEXT);
    check("Content-Encoding: deflate\r\n", &zlib(TEXT), ALL, TEXT);
    check("Content-Encoding: deflate\r\n", &bare_deflate(TEXT), ALL, TEXT);
    let both = format!("{CHUNKED}content-encoding: gzip\r\n");
    check(&both, &chunked(&gzip(TEXT), 5), ALL, TEXT);
    check("Transfer-Encoding: gzip, chunked\r\n", &chunked(&gzip(TEXT), 5), ALL, TEXT);
    check("Content-Encoding: deflate, gzip\r\n", &gzip(&zlib(TEXT)), ALL, TEXT);
    // Two members are one body.
    check("Content-Encoding: gzip\r\n", &[gzip(b"one"), gzip(b"two")].concat(), ALL, b"onetwo");
}

#[test]
fn wrong_coding_headers_leave_the_body_unchanged() {
    check("Content-Encoding: gzip\r\n", TEXT, ALL, TEXT);
    check("Content-Encoding: deflate\r\n", TEXT, ALL, TEXT);
    check("Transfer-Encoding: chunked\r\n", TEXT, ALL, TEXT);
    check("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", &gzip(TEXT), ALL, TEXT);
    check("Content-Encoding: sesame\r\n", TEXT, ALL, TEXT);
    check("Transfer-Encoding: chunked\r\n", b"FFFFFFFFF\r\nabc", ALL, b"FFFFFFFFF\r\nabc");
}

#[test]
fn a_truncated_body_is_kept_up_to_the_cut() {
    check("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n9\r\nworld", ALL, b"helloworld");
    check("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\nzz", ALL, b"hello");
    let text: Vec<u8> = (0..20_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    let packed = gzip(&text);
    let block = block("Content-Encoding: gzip\r\n", &packed[..packed.len() / 2]);
    let half = parse_http(&block).expect("a response").decoded_body(ALL).expect("decoded");
    assert!(half.len() > 1000 && text.starts_with(&half), "{} bytes", half.len());
    let mut read = Vec::new();
    body_reader(block).expect("a reader").read_to_end(&mut read).expect("no error");
    assert!(read.len() > 1000 && text.starts_with(&read), "{} bytes", read.len());
}

#[test]
fn an_incomplete_whole_body_is_an_error() {
    let check = |headers: &str, body: &[u8], bytes_max, is_whole| {
        let block = block(headers, body);
        let body = parse_http(&block).expect("a response").whole_body(bytes_max);
        assert_eq!(body.is_ok(), is_whole, "{headers:?}: {body:?}");
    };
    let (packed, header) = (gzip(TEXT), "Content-Encoding: gzip\r\n");
    check(header, &packed, ALL, true);
    check(header, &packed, 9, true);
    check(header, TEXT, ALL, true);
    check("", b"\x00\x01", ALL, true);
    for cut in 1..packed.len() {
        check(header, &packed[..cut], ALL, false);
    }
    for at in (0..3).chain(10..packed.len()) {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x55;
        check(header, &damaged, ALL, false);
    }
    check("Content-Encoding: deflate\r\n", &zlib(TEXT)[..40], ALL, false);
    check("Transfer-Encoding: chunked\r\n", &chunked(TEXT, 7), ALL, true);
    // Bytes after the last member are ignored unless they begin a member. Half a member is a fault.
    check(header, &[&packed[..], b"\0\0junk"].concat(), ALL, true);
    check(header, &[&packed[..], &packed[..packed.len() - 3]].concat(), ALL, false);
    check("Transfer-Encoding: chunked\r\n", &chunked(TEXT, 7), 9, true);
    check("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n9\r\nworld", ALL, false);
    check("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\nzz", ALL, false);
}

#[test]
fn unknown_compression_is_named_in_the_error() {
    for coding in ["br", "zstd", "compress", "BR"] {
        let block = block(&format!("Content-Encoding: {coding}\r\n"), TEXT);
        let error = parse_http(&block).expect("a response").decoded_body(ALL).expect_err("no");
        assert!(matches!(&error, ArchiveError::Coding { .. }));
        assert!(error.to_string().contains(&coding.to_lowercase()), "{error}");
        let error = body_reader(block).err().expect("no");
        assert!(matches!(&error, ArchiveError::Coding { .. }));
    }
}

#[test]
fn a_wholly_unreadable_body_is_an_error() {
    let packed = gzip(TEXT);
    let garbage = [&packed[..10], b"garbage"].concat();
    for (coding, body) in
        [("gzip", &garbage[..]), ("gzip", &packed[..3]), ("gzip, gzip", &gzip(&garbage))]
    {
        let block = block(&format!("Content-Encoding: {coding}\r\n"), body);
        let error = parse_http(&block).expect("a response").decoded_body(ALL).expect_err("nothing");
        assert!(matches!(&error, ArchiveError::DamagedCoding { .. }), "{coding}: {error}");
        let error = body_reader(block).err().expect("nothing");
        assert!(matches!(&error, ArchiveError::DamagedCoding { .. }), "{coding}: {error}");
    }
    check("Content-Encoding: gzip\r\n", &gzip(b""), ALL, b"");
    check("Content-Encoding: gzip\r\n", b"", ALL, b"");
}

#[test]
fn a_bomb_is_unpacked_only_to_the_limit() {
    let zeros = vec![0; 100 << 20];
    let bomb = gzip(&zeros);
    assert!(bomb.len() < 200_000);
    check("Content-Encoding: gzip\r\n", &bomb, 1000, &zeros[..1000]);
    check("Content-Encoding: deflate\r\n", &zlib(&zeros), 1000, &zeros[..1000]);
    let layered = gzip(&bomb);
    check("Content-Encoding: gzip, gzip\r\n", &layered, 200_000, &zeros[..200_000]);
    // A limit on the way is a limit too: the inner layer is cut at it and gives what it can.
    let cut = block("Content-Encoding: gzip, gzip\r\n", &layered);
    let body = parse_http(&cut).expect("a response").decoded_body(500).expect("decoded");
    assert!(body.len() <= 500);
    check("", TEXT, 9, &TEXT[..9]);
    check("Transfer-Encoding: chunked\r\n", &chunked(TEXT, 7), 9, &TEXT[..9]);
    check("Content-Encoding: gzip\r\n", &gzip(TEXT), 0, b"");
}

#[test]
fn decoding_many_layers_terminates() {
    let names = ["gzip"; 1000].join(",");
    let block = block(&format!("Content-Encoding: {names}\r\n"), &gzip(TEXT));
    let body = parse_http(&block).expect("a response").decoded_body(ALL).expect("decoded");
    assert_eq!(&*body, TEXT);
}

fn parsed(block: &[u8]) -> Result<(u16, &[u8]), String> {
    let response: Result<HttpResponse<'_>, _> = parse_http(block);
    response.map(|r| (r.status, r.body)).map_err(|error| error.to_string())
}

#[test]
fn only_valid_responses_are_parsed() {
    assert_eq!(parsed(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"), Ok((200, &b"body"[..])));
    assert_eq!(parsed(b"HTTP/1.0 404\nA: b\n\nbody"), Ok((404, &b"body"[..])));
    assert_eq!(parsed(b"http/2 503 \r\n\r\n"), Ok((503, &b""[..])));
    assert_eq!(parsed(b"HTTP/1.1 204 No Content\r\n"), Ok((204, &b""[..])));
    for bad in [
        &b""[..],
        b"HTTP/1.1 200 OK",
        b"GET / HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"<html>\n\n",
    ] {
        assert!(parsed(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
    }
    let mut endless = b"HTTP/1.1 200 OK\r\n".to_vec();
    endless.extend(b"A: b\r\n".repeat(60_000));
    endless.extend(b"\r\n");
    assert!(parsed(&endless).is_err());
}

#[test]
fn a_block_keeps_only_headers_that_are_safe() {
    let headers: [(&str, &[u8]); 5] = [
        ("Content-Type", b"text/html"),
        ("transfer-encoding", b"chunked"),
        ("X-Forged", b"a\r\nSet-Cookie: b"),
        ("Bad:Name", b"x"),
        ("X-Latin", b"caf\xe9"),
    ];
    let (block, offset) = http_block("HTTP/1.1 200 O\r\nK", headers.into_iter(), b"body");
    let response = parse_http(&block).expect("a response");
    assert_eq!((response.body, response.body_offset), (&b"body"[..], offset));
    let names: Vec<_> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Content-Type", UNDONE_TRANSFER_ENCODING, "X-Latin"]);
    assert_eq!(response.header("x-latin"), Some("café"));
    // The body was stored with the chunks taken off, so nothing more is undone.
    assert_eq!(&*response.decoded_body(ALL).expect("decoded"), b"body");
}

proptest! {
    #[test]
    fn a_response_is_equal_with_and_without_its_block(
        line in "HTTP/1.[01] ([1-9][0-9]{2}|99|x)( [a-z ]{0,5})?",
        headers in proptest::collection::vec(
            ("[a-zA-Z-]{0,4}:?|Transfer-Encoding", proptest::collection::vec(any::<u8>(), 0..6)),
            0..5,
        ),
        body in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let fields = || headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        let (block, body_offset) = http_block(&line, fields(), &body);
        let with = parse_http(&block);
        let without = http_response(&line, fields(), &body);
        let without = without.map(|response| HttpResponse { body_offset, ..response });
        prop_assert_eq!(format!("{with:?}"), format!("{without:?}"));
    }

    #[test]
    fn any_bytes_are_parsed_or_refused_within_the_limit(
        head in "(HTTP/1.1 200 OK\r\n)?((Content|Transfer)-Encoding: (gzip|deflate|chunked)\r\n){0,3}\r\n",
        body in proptest::collection::vec(any::<u8>(), 0..200),
        packed in 0..4_u8,
        bytes_max in 0..100_usize,
    ) {
        let body = match packed {
            0 => gzip(&body),
            1 => zlib(&body),
            2 => chunked(&body, 9),
            _ => body,
        };
        let mut block = head.into_bytes();
        block.extend_from_slice(&body);
        if let Ok(response) = parse_http(&block) {
            prop_assert!(response.decoded_body(bytes_max).expect("known codings").len() <= bytes_max);
        }
    }
}

#[test]
fn a_field_value_keeps_the_sent_bytes() {
    let block =
        b"HTTP/1.1 200 caf\xe9\r\nETag:  \"\xe9\" \r\netag: \"2\"\r\nno colon\r\nX:\r\n\r\nBody: b";
    for (name, wanted) in [
        ("etag", Some(b"\"\xe9\"".as_slice())),
        ("X", Some(b"".as_slice())),
        ("Body", None),
        ("HTTP/1.1", None),
    ] {
        assert_eq!(archive::http_field(block, name), wanted, "{name}");
    }
    assert_eq!(archive::http_field(b"no head at all", "etag"), None);
}

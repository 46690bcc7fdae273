//! Servers that answer with almost any bytes: every URL has an outcome, the crawl ends normally, and its archive
//! can be read.

use std::fmt::Write as _;
use std::io::Write as _;

use archive::Archive;
use crawl::Config;

use crate::hostile;
use crate::support::crawl;

const PAGES: usize = 400;

/// The parts of heads and bodies, in addition to the usual ones.
const WORDS: [&[u8]; 30] = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 99 x\r\n",
    b"HTTP/1.0 999\r\n",
    b"HTTP/2 200\r\n",
    b"HTTP/1.1 304 Not Modified\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /\xff\r\n",
    b"Location: http://[::1\r\n",
    b"Content-Length: 18446744073709551616\r\n",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: deflate, gzip\r\n",
    b"Content-Encoding: br\r\n",
    b"Content-Type: text/html; charset=utf-16\r\n",
    b"Content-Type: \xff/\0\r\n",
    b"Retry-After: 99999999999999999999\r\n",
    b"X-Robots-Tag: \xc3\r\n",
    b"ETag: \x01\r\n",
    b"Set-Cookie: a=b\r\n",
    b"\r\n\r\n",
    b"\r\n",
    b"\n",
    b"\0",
    b" ",
    b":",
    b"fffffffff\r\n",
    b"0\r\n\r\n",
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
    b"<base href='http://%'><a href=//><meta charset=utf-16>",
];

/// Returns the answer to the request for a page: one of several good ones, with a few changes that its number
/// decides.
fn answer(number: usize) -> Vec<u8> {
    let mut seed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut below = |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % bound.max(1) as u64).expect("small")
    };
    let page = format!("<title>{number}</title><a href=/0>first</a> text");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(page.as_bytes()).expect("memory");
    let packed = packer.finish().expect("memory");
    let chunks = format!("{:x}\r\n{page}\r\n0\r\n\r\n", page.len());
    let (extra, body) = match below(3) {
        0 => (format!("Content-Length: {}", page.len()), page.into_bytes()),
        1 => ("Content-Encoding: gzip".to_owned(), packed),
        _ => ("Transfer-Encoding: chunked".to_owned(), chunks.into_bytes()),
    };
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html";
    let mut bytes = [format!("{head}\r\n{extra}\r\n\r\n").as_bytes(), &body].concat();
    for _ in 0..=below(4) {
        let at = below(bytes.len());
        let end = (at + below(12)).min(bytes.len());
        match below(4) {
            0 => bytes[at] ^= 1 << below(8),
            1 => drop(bytes.drain(at..end)),
            _ => drop(bytes.splice(at..at, WORDS[below(WORDS.len())].iter().copied())),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn any_answer_gives_an_outcome() {
    let port = hostile::serve(|request, out| {
        let number = request.path.strip_prefix("/p").and_then(|number| number.parse().ok());
        match (request.path.as_str(), number) {
            ("/", _) => {
                let mut links = String::new();
                for number in 0..PAGES {
                    let _ = write!(links, "<a href=/p{number}>x</a>");
                }
                let head = "Content-Type: text/html\r\nConnection: close";
                out.say(&format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{links}"));
            }
            (_, Some(number)) => drop(out.send(&answer(number))),
            _ => out.say("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        }
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config {
        delay_ms: 0,
        ip_delay_ms: 0,
        retry_ms: 1,
        retries: 0,
        retry_after_s_max: 0,
        timeout_ms: 500,
        body_timeout_ms: 500,
        ..Config::default()
    };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let report = crawl(dir.path(), &config, &seeds).expect("it ends in order");
    let asked = report.requests;
    assert!(report.pages > 50 && !report.failures.is_empty(), "{report:?}");
    let mut records = 0;
    for record in Archive::open(&dir.path().join("archive")).expect("the crawl made it").records() {
        records += u64::from(record.expect("the crawl wrote it").target.is_some());
    }
    assert!(records >= asked, "{records} of {asked}");
}

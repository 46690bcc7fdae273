//! Measures the processor time to archive a page and to read it again, in microseconds.
//!
//! ```text
//! cargo run --release -p crivello-archive --example records -- FOLDER [PAGES [ROUNDS [FORMAT]]]
//! ```
//!
//! The input is PAGES files of FOLDER and its subfolders, of 20 to 36 KB each and spread evenly. They are written as
//! the crawler writes answers: a `request` and a `response` record each. They are then read with all checks. The
//! figures are those of the fastest of ROUNDS rounds, since other work on the machine only adds.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use archive::{
    Archive, Compression, Draft, Kind, WarcWriter, WriterOptions, http_block, parse_http,
};

const PAGE_BYTES: std::ops::Range<u64> = 20_000..36_000;
const DATE_S: i64 = 1_700_000_000;
const REQUEST: &str = "GET /usr/share/doc/page.html HTTP/1.1\r\nhost: docs.example\r\nuser-agent: \
    crivello/0.1.0 (+https://bot.example/)\r\naccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.1\r\n\
    accept-encoding: gzip\r\n\r\n";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let folder = args.first().ok_or("which folder has the pages?")?;
    let number = |at: usize, default: usize| args.get(at).map_or(Ok(default), |text| text.parse());
    let (pages_max, rounds) = (number(1, 750)?, number(2, 7)?);
    let mut paths = Vec::new();
    list(Path::new(folder), &mut paths)?;
    paths.sort_unstable();
    let step = paths.len().div_ceil(pages_max).max(1);
    let pages: Vec<_> = paths.iter().step_by(step).map(fs::read).collect::<Result<_, _>>()?;
    let wanted = args.get(3).map_or("", String::as_str);
    for (name, options) in formats().into_iter().filter(|(name, _)| name.starts_with(wanted)) {
        measure(name, &options, &pages, rounds)?;
    }
    Ok(())
}

fn formats() -> Vec<(&'static str, WriterOptions)> {
    let with = |compression| WriterOptions { compression, ..WriterOptions::default() };
    let gzip = |level| with(Compression::Gzip { level });
    let zstd = |level| with(Compression::Zstd { level });
    vec![
        ("gzip 1", gzip(1)),
        ("gzip 6", gzip(6)),
        ("zstd 1", zstd(1)),
        ("zstd 3", zstd(3)),
        ("stored", gzip(0)),
    ]
}

#[expect(clippy::print_stdout, reason = "the answer")]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure(
    name: &str,
    options: &WriterOptions,
    pages: &[Vec<u8>],
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("crivello-records-{}", std::process::id()));
    let (mut write_ns, mut read_ns, mut bytes) = (u64::MAX, u64::MAX, 0);
    for _ in 0..rounds {
        let before = cpu_ns()?;
        write(&dir, options, pages)?;
        let between = cpu_ns()?;
        let body_bytes = read(&dir)?;
        let after = cpu_ns()?;
        assert_eq!(body_bytes, pages.iter().map(Vec::len).sum::<usize>(), "every page is there");
        (write_ns, read_ns) = (write_ns.min(between - before), read_ns.min(after - between));
        bytes = fs::read_dir(&dir)?
            .map(|entry| Ok(entry?.metadata()?.len()))
            .sum::<Result<u64, std::io::Error>>()?;
        fs::remove_dir_all(&dir)?;
    }
    let per_page = |total: u64| total as f64 / pages.len() as f64;
    println!(
        "{name:<8} {} pages: write {:6.1} µs, read {:6.1} µs, {:6.0} bytes a page",
        pages.len(),
        per_page(write_ns) / 1e3,
        per_page(read_ns) / 1e3,
        per_page(bytes)
    );
    Ok(())
}

fn write(dir: &Path, options: &WriterOptions, pages: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let mut writer = WarcWriter::create(dir, options.clone())?;
    for (at, page) in pages.iter().enumerate() {
        let url = format!("http://docs.example/usr/share/doc/package/page-{at}.html");
        let length = page.len().to_string();
        let headers = [
            ("server", "nginx/1.22.1"),
            ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
            ("content-type", "text/html"),
            ("content-length", length.as_str()),
            ("last-modified", "Mon, 06 Mar 2017 04:03:53 GMT"),
            ("connection", "keep-alive"),
            ("etag", "\"58bce0a9-6f2a\""),
            ("accept-ranges", "bytes"),
        ];
        let headers = headers.iter().map(|&(name, value)| (name, value.as_bytes()));
        let (block, payload_offset) = http_block("HTTP/1.1 200 OK", headers, page);
        let request = Draft {
            kind: Kind::Request,
            date_s: DATE_S,
            date_us: 0,
            target: Some(&url),
            content_type: "application/http;msgtype=request",
            extra: &[("WARC-IP-Address", "127.0.0.1")],
            block: REQUEST.as_bytes(),
            payload_offset: REQUEST.len(),
        };
        writer.write(&request)?;
        writer.write(&Draft {
            kind: Kind::Response,
            content_type: "application/http;msgtype=response",
            extra: &[
                ("WARC-IP-Address", "127.0.0.1"),
                ("Crivello-Purpose", "page"),
                ("Crivello-Depth", "4"),
            ],
            block: &block,
            payload_offset,
            ..request
        })?;
    }
    Ok(writer.finish()?)
}

/// Reads everything through; how many bytes the bodies had.
fn read(dir: &Path) -> Result<usize, Box<dyn Error>> {
    let mut body_bytes = 0;
    for record in Archive::open(dir)?.records() {
        let record = record?;
        if record.kind == Kind::Response {
            body_bytes += parse_http(&record.block)?.body.len();
        }
    }
    Ok(body_bytes)
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        let path = entry.path();
        if about.is_dir() {
            list(&path, paths)?;
        } else if PAGE_BYTES.contains(&about.len()) && path.extension().is_some_and(|e| e == "html")
        {
            paths.push(path);
        }
    }
    Ok(())
}

/// The processor time of this thread so far, which is the whole process here.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().ok_or("no figure in schedstat")?.parse()?)
}

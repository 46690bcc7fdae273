//! How fast pages are read: MB of HTML per CPU-second, for the links alone and for all there is.
//!
//! `cargo run --release -p crivello-page --example throughput -- FILE…`; a file whose name ends in
//! `.txt` is a list of files, one a line. The checksums are of the results, so that a faster reader
//! is seen to read the same.
//!
//! **Invariant.** The time is what this thread has computed; reading the files is not in it.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::path::Path;
use std::{env, fs, process};

use page::{Limits, Page, Url, Wanted, parse_wanted};

/// The best of this number of rounds counts.
const ROUNDS: usize = 3;

fn main() {
    let mut names = Vec::new();
    for name in env::args().skip(1) {
        if Path::new(&name).extension().is_some_and(|extension| extension == "txt") {
            names.extend(read(&name).split(|byte| *byte == b'\n').filter_map(line));
        } else {
            names.push(name);
        }
    }
    let pages: Vec<(Url, Vec<u8>)> = names.iter().map(|name| (url(name), read(name))).collect();
    let bytes: usize = pages.iter().map(|(_, body)| body.len()).sum();
    println!("{} pages, {bytes} bytes", pages.len());
    let text = Wanted { language: false, ..Wanted::ALL };
    for (what, wanted) in [("links", Wanted::LINKS), ("text", text), ("all", Wanted::ALL)] {
        let ns = (0..ROUNDS).map(|_| round(&pages, wanted)).min().expect("more than no round");
        // Bytes in a microsecond are megabytes in a second.
        let rate = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(1000) / ns.max(1);
        println!("{what:5}  {rate:5} MB/CPU-s  checksum {:016x}", checksum(&pages, wanted));
    }
}

fn line(bytes: &[u8]) -> Option<String> {
    let name = String::from_utf8_lossy(bytes).trim().to_owned();
    (!name.is_empty()).then_some(name)
}

fn url(name: &str) -> Url {
    let base = Url::parse("http://docs.example/").expect("a URL");
    base.join(name).expect("a path")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(name).unwrap_or_else(|error| {
        eprintln!("cannot read {name}: {error}");
        process::exit(2)
    })
}

fn parse(url: &Url, body: &[u8], wanted: Wanted) -> Option<Page> {
    parse_wanted(url, Some("text/html"), body, wanted, &|_| false, &Limits::default()).ok()
}

/// Nanoseconds that all pages take.
fn round(pages: &[(Url, Vec<u8>)], wanted: Wanted) -> u64 {
    let start = cpu_ns();
    for (url, body) in pages {
        black_box(parse(url, body, wanted));
    }
    cpu_ns() - start
}

fn checksum(pages: &[(Url, Vec<u8>)], wanted: Wanted) -> u64 {
    let mut hasher = DefaultHasher::new();
    for page in pages.iter().filter_map(|(url, body)| parse(url, body, wanted)) {
        add(&page, &mut hasher);
    }
    hasher.finish()
}

fn add(page: &Page, hasher: &mut DefaultHasher) {
    for link in &page.links {
        (link.url.as_str(), &link.text, link.nofollow).hash(hasher);
    }
    (page.canonical.as_ref().map(Url::as_str), page.refresh.as_ref().map(Url::as_str)).hash(hasher);
    (page.robots.noindex, page.robots.nofollow, page.charset.name).hash(hasher);
    (&page.title, &page.headings, &page.text, &page.description, &page.language).hash(hasher);
}

/// Nanoseconds that this thread has computed, not waited.
fn cpu_ns() -> u64 {
    // The kernel adds up when it may switch threads.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("three numbers")
}

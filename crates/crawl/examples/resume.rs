//! How long a crawl with many known URLs takes to go on: by its logs, and by its archive alone.
//!
//! `cargo run --release -p crivello-crawl --example resume -- FOLDER [PAGES] [LINKS] [BYTES]` makes an
//! archive of PAGES pages with LINKS links of their own, twenty links that all pages of a host share, and
//! BYTES bytes of text each; then resumes a crawl that may have no further page, so that it makes no
//! request: first without logs, then with them. It prints seconds, seconds of CPU (of its only busy
//! thread, where the system tells), pages and URLs waiting.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::{Draft, Kind, WarcWriter, WriterOptions};
use crawl::{Config, Dirs, Report, Scope, SystemClock, run};

const HOSTS: u64 = 1000;
const SHARED_LINKS: u64 = 20;
const WORDS: [&str; 8] = ["garden", "water", "house", "letter", "stone", "river", "bread", "light"];

fn url(host: u64, page: u64) -> String {
    format!("http://host{host}.test/section/{}/page-{page}.html", page % 37)
}

/// A page that differs from all others.
fn page(number: u64, links: u64, bytes: usize) -> String {
    let mut html = String::with_capacity(bytes + 8192);
    let _ = write!(html, "<!DOCTYPE html><title>Page {number}</title><nav>");
    let host = number % HOSTS;
    for shared in 0..SHARED_LINKS {
        let _ = write!(html, "<a href=\"{}\">home</a> ", url(host, shared * HOSTS));
    }
    html.push_str("</nav><main>");
    for link in 0..links {
        let target = 1_000_000_000 + number * links + link;
        let _ = write!(html, "<p>See <a href=\"{}\">another</a>.", url(target % HOSTS, target));
    }
    let mut word = number;
    while html.len() < bytes {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        html.push(' ');
        html.push_str(WORDS[usize::try_from(word >> 61).expect("below eight")]);
    }
    html
}

fn make(dir: &Path, pages: u64, links: u64, bytes: usize) -> Result<(), Box<dyn Error>> {
    let mut writer = WarcWriter::create(dir, WriterOptions::default())?;
    for number in 0..pages {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
        let block = format!("{head}{}", page(number, links, bytes));
        writer.write(&Draft {
            kind: Kind::Response,
            date_s: 1_700_000_000 + i64::try_from(number)?,
            date_us: 0,
            target: Some(&url(number % HOSTS, number)),
            content_type: "application/http;msgtype=response",
            extra: &[("Crivello-Purpose", "page")],
            block: block.as_bytes(),
            payload_offset: head.len(),
        })?;
    }
    // As a kill leaves it: without its index.
    writer.sync()?;
    Ok(())
}

fn resume(dirs: &Dirs) -> Result<Report, Box<dyn Error>> {
    let config = Config {
        scope: Scope::Any,
        pages_max: 1,
        contact: "nobody@example.org".to_owned(),
        ..Config::default()
    };
    let seeds = [url(0, 0)];
    let never = AtomicBool::new(false);
    Ok(run(dirs, &config, &seeds, Arc::new(SystemClock::new()), &never, &|_| {})?)
}

/// Seconds of CPU that this thread has had.
fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0);
    std::time::Duration::from_nanos(nanoseconds).as_secs_f64()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let mut number = |usual: u64| arguments.next().map_or(Ok(usual), |text| text.parse());
    let (pages, links, bytes) = (number(30_000)?, number(34)?, number(40_000)?);
    let (archive, frontier) = (folder.join("archive"), folder.join("frontier"));
    let dirs = Dirs { archive, frontier, named: Vec::new() };
    if !dirs.archive.exists() {
        make(&dirs.archive, pages, links, usize::try_from(bytes)?)?;
    }
    let logs = dirs.frontier.join("visits");
    if logs.exists() {
        std::fs::remove_dir_all(&logs)?;
    }
    let mut out = std::io::stdout().lock();
    for way in ["by the archive", "by the log"] {
        let before_s = cpu_s();
        let report = resume(&dirs)?;
        let cpu_s = cpu_s() - before_s;
        let seconds = std::time::Duration::from_millis(report.elapsed_ms).as_secs_f64();
        let Report { pages, waiting, .. } = report;
        writeln!(
            out,
            "{way}: {seconds:.2} s, {cpu_s:.2} s of CPU, {pages} pages, {waiting} URLs waiting"
        )?;
    }
    let mut bytes = 0;
    for entry in std::fs::read_dir(&logs)? {
        bytes += entry?.metadata()?.len();
    }
    writeln!(out, "log: {bytes} bytes")?;
    Ok(())
}

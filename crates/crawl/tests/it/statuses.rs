//! The statuses that remove a known page, those that are retried, and those that change nothing
//! (`page::StatusClass`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use archive::{Archive, Kind, Record};
use crawl::{Config, Recrawl, Report};
use tempfile::TempDir;

use crate::hostile::serve;
use crate::support::crawl;

const GONE: [u16; 7] = [204, 401, 403, 404, 410, 418, 451];
const PASSING: [u16; 8] = [202, 408, 409, 421, 423, 425, 429, 501];
const ODD: [u16; 6] = [203, 206, 300, 305, 416, 417];

fn all() -> impl Iterator<Item = u16> {
    [GONE.as_slice(), &PASSING, &ODD].concat().into_iter()
}

/// How often each path was requested.
type Times = Arc<Mutex<BTreeMap<String, u64>>>;

/// A site with a page `/STATUS` for each status, which it answers in odd editions, and its first crawl.
fn site() -> (TempDir, Config, Arc<AtomicU64>, Times) {
    let (edition, times) = (Arc::new(AtomicU64::new(0)), Times::default());
    let (now, log) = (Arc::clone(&edition), Arc::clone(&times));
    let port = serve(move |request, out| {
        *log.lock().expect("no panic").entry(request.path.clone()).or_default() += 1;
        let status = match request.path.strip_prefix('/').and_then(|path| path.parse().ok()) {
            Some(status) if now.load(Ordering::Relaxed) % 2 == 1 => status,
            _ => 200_u16,
        };
        let links: Vec<String> = all().map(|status| format!("<a href=/{status}>x</a>")).collect();
        let body =
            if request.path == "/" { links.concat() } else { format!("page {}", request.path) };
        let body = if status == 204 { String::new() } else { body };
        let length = body.len();
        // Following it would be wrong as well.
        let place = if matches!(status, 300 | 305) { "Location: /\r\n" } else { "" };
        out.say(&format!(
            "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{place}Content-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config {
        delay_ms: 0,
        ip_delay_ms: 0,
        retry_ms: 1,
        retries: 1,
        host_failures_max: 100,
        ..Config::default()
    };
    let first =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("a crawl");
    assert_eq!(first.pages, 1 + all().count() as u64, "{first:?}");
    (dir, config, edition, times)
}

fn found(report: &Report) -> (u64, u64, u64, u64) {
    (report.unchanged, report.changed, report.deleted, report.failed)
}

#[test]
fn only_a_definite_status_deletes_a_page() {
    let (dir, config, edition, times) = site();
    let again = Config { recrawl: Recrawl::All, ..config.clone() };
    let count = |statuses: &[u16]| statuses.len() as u64;
    let lost = count(&GONE);
    let vain = count(&PASSING) + count(&ODD);
    edition.store(1, Ordering::Relaxed);
    times.lock().expect("no panic").clear();
    let report = crawl(dir.path(), &again, &[]).expect("a recrawl");
    assert_eq!(found(&report), (1, 0, lost, vain), "{report:?}");
    assert_eq!((report.pages, report.asked), (1 + vain, 1 + lost + vain), "{report:?}");
    let asked = |status: u16| times.lock().expect("no panic").get(&format!("/{status}")).copied();
    for status in all() {
        let wanted = if PASSING.contains(&status) { 2 } else { 1 };
        assert_eq!(asked(status), Some(wanted), "{status}");
    }
    let resumed = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((resumed.pages, resumed.requests), (1 + vain, 0), "{resumed:?}");
    // A page that stayed is compared with its last capture, and a page that was gone is a page again.
    edition.store(2, Ordering::Relaxed);
    let report = crawl(dir.path(), &again, &[]).expect("a recrawl");
    assert_eq!(found(&report), (1 + vain, lost, 0, 0), "{report:?}");
    assert_eq!(report.pages, 1 + lost + vain, "{report:?}");
}

/// At the first request, an odd answer is not a page, and is not retried.
#[test]
fn an_odd_first_answer_is_not_a_page() {
    let port = serve(|request, out| {
        let status = request.path.strip_prefix('/').and_then(|path| path.parse::<u16>().ok());
        let body =
            if request.path == "/" { "<a href=/206>x</a><a href=/300>x</a>" } else { "<p>a part" };
        let head = format!("HTTP/1.1 {} X\r\nContent-Type: text/html", status.unwrap_or(200));
        out.say(&format!(
            "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, ..Config::default() };
    let first =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("a crawl");
    assert_eq!((first.pages, first.requests), (1, 4), "{first:?}");
    let again =
        crawl(dir.path(), &Config { recrawl: Recrawl::All, ..config }, &[]).expect("a recrawl");
    assert_eq!(found(&again), (3, 0, 0, 0), "{again:?}");
}

#[test]
fn a_failed_condition_is_omitted_once() {
    let heads: Arc<Mutex<Vec<bool>>> = Arc::default();
    let edition = Arc::new(AtomicU64::new(0));
    let (log, now) = (Arc::clone(&heads), Arc::clone(&edition));
    let port = serve(move |request, out| {
        let is_conditional = request.head.to_ascii_lowercase().contains("if-none-match");
        let (status, body) = match request.path.as_str() {
            "/robots.txt" => ("404 Not Found", String::new()),
            _ if is_conditional || now.load(Ordering::Relaxed) == 2 => {
                ("412 Failed", "no".to_owned())
            }
            _ => ("200 OK", format!("edition {}", now.load(Ordering::Relaxed))),
        };
        if request.path == "/" {
            log.lock().expect("no panic").push(is_conditional);
        }
        let length = body.len();
        out.say(&format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nETag: \"q\"\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, ..Config::default() };
    crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("a crawl");
    let again = |number| {
        edition.store(number, Ordering::Relaxed);
        heads.lock().expect("no panic").clear();
        let report = crawl(dir.path(), &Config { recrawl: Recrawl::All, ..config.clone() }, &[]);
        (report.expect("a recrawl"), heads.lock().expect("no panic").clone())
    };
    let (report, asked) = again(1);
    assert_eq!((found(&report), asked), ((0, 1, 0, 0), vec![true, false]), "{report:?}");
    assert_eq!(report.statuses, BTreeMap::from([(200, 1), (412, 1)]), "{report:?}");
    // An answer to an unconditional request says nothing about the page, which stays.
    let (report, asked) = again(2);
    assert_eq!((found(&report), asked), ((0, 0, 0, 1), vec![true, false]), "{report:?}");
    assert_eq!(report.pages, 1, "{report:?}");
    let (report, _) = again(1);
    assert_eq!(found(&report), (1, 0, 0, 0), "{report:?}");
    let archive = Archive::open(&dir.path().join("archive")).expect("the crawl made it");
    let records = archive.records().map(|record| record.expect("the crawl wrote it"));
    let answers = records.filter(|record| matches!(record.kind, Kind::Response | Kind::Revisit));
    let failed = answers.filter(|record| record.block.starts_with(b"HTTP/1.1 412"));
    let is_inconclusive = |record: &Record| record.header("Crivello-Inconclusive").is_some();
    let failed: Vec<bool> = failed.map(|record| is_inconclusive(&record)).collect();
    assert_eq!(failed, [true, true, false, true], "what speaks of the condition alone says so");
}

/// RFC 9309: for any status 4xx, there are no rules.
#[test]
fn a_robots_file_with_status_4xx_forbids_nothing() {
    for status in [408, 409, 421, 423, 425, 416] {
        let port = serve(move |request, out| {
            let status = if request.path == "/robots.txt" { status } else { 200 };
            out.say(&format!(
                "HTTP/1.1 {status} X\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
            ));
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, ..Config::default() };
        let report =
            crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("a crawl");
        assert_eq!((report.pages, report.requests), (1, 2), "{status}: {report:?}");
    }
}

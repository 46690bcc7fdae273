//! The metrics of a running crawl against the text format of Prometheus, and the report on disk against the one
//! that is returned.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crawl::{AsideHost, Board, CrawlError, Snapshot, SystemClock, read_report, run, serve_metrics};
use tokio::net::TcpListener;

use crate::support::{config, crawl, dirs, server};

/// Returns every sample of a text in the format of Prometheus, by name and labels.
///
/// Checks that each line is valid in the format, with HELP and TYPE once before the samples of a family.
fn check_exposition(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'));
    let (mut samples, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    let mut helped = BTreeSet::new();
    let is_name = |name: &str| {
        name.starts_with("crivello_")
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            assert!(is_name(name) && !help.is_empty(), "{line}");
            assert!(helped.insert(name.to_owned()), "helped twice: {line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a kind");
            assert!(helped.contains(name) && matches!(kind, "counter" | "gauge"), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            assert_eq!(kinds.insert(name.to_owned(), kind.to_owned()), None, "{line}");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let name = series.split('{').next().expect("a name");
            assert!(kinds.contains_key(name), "no type before {line}");
            if let Some(labels) = series.strip_prefix(name).filter(|labels| !labels.is_empty()) {
                let inside = labels.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                let (key, quoted) =
                    inside.and_then(|inside| inside.split_once('=')).expect("a label");
                assert!(key.bytes().all(|byte| byte.is_ascii_lowercase()), "{line}");
                let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                assert!(!text.expect("quotes").contains(['"', '\\', '\n']), "{line}");
            }
            let value: f64 = value.parse().expect("a number");
            assert!(value >= 0.0, "{line}");
            assert_eq!(samples.insert(series.to_owned(), value), None, "twice: {line}");
        }
    }
    samples
}

fn scrape(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    body.to_owned()
}

#[test]
fn metrics_are_well_formed_and_counters_never_decrease() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let board = Arc::new(Board::default());
    runtime.spawn(serve_metrics(listener, Arc::clone(&board)));

    let last: Mutex<BTreeMap<String, f64>> = Mutex::default();
    let watch = |snapshot: &Snapshot| {
        board.post(snapshot);
        let now = check_exposition(&scrape(address, "/metrics"));
        let mut last = last.lock().expect("no panic before");
        for (series, value) in last.iter().filter(|(series, _)| series.contains("_total")) {
            assert!(now.get(series).is_some_and(|now| now >= value), "{series} went down");
        }
        let page = scrape(address, "/");
        assert!(page.contains("http-equiv=\"refresh\"") && !page.contains("<script"), "{page}");
        *last = now;
    };
    let (stop, clock) = (AtomicBool::new(false), Arc::new(SystemClock::new()));
    let config = config(&server);
    let seeds = server.web().seeds();
    let report = run(&dirs(dir.path()), &config, &seeds, clock, &stop, &watch).expect("a crawl");

    let last = last.into_inner().expect("no panic before");
    let value = |series: &str| last.get(&format!("crivello_{series}")).copied();
    #[expect(clippy::cast_precision_loss, reason = "a small web")]
    for (series, expected) in [
        ("pages_fetched_total", report.pages_new),
        ("requests_total", report.requests),
        ("received_bytes_total", report.bytes),
        ("responses_total{status=\"404\"}", report.statuses[&404]),
        ("failures_total{class=\"connect\"}", report.failures["connect"]),
        ("hosts_known", report.hosts),
        ("waiting_urls", report.waiting),
        ("sieve_emitted_total", report.sieve.emitted),
    ] {
        assert_eq!(value(series), Some(expected as f64), "{series}");
    }
    let states = last.iter().filter(|(series, _)| series.starts_with("crivello_hosts{"));
    let states: f64 = states.map(|(_, count)| count).sum();
    assert!((1.0..=value("hosts_known").expect("hosts")).contains(&states), "{states} of hosts");
}

#[test]
fn the_saved_report_equals_the_returned_report() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let frontier = dirs(dir.path()).frontier;
    assert_eq!(read_report(&frontier).expect("none yet"), None);
    let report = crawl(dir.path(), &config(&server), &server.web().seeds()).expect("a crawl");
    let kept = read_report(&frontier).expect("readable").expect("there");
    let text = |report| serde_json::to_string(report).expect("JSON");
    assert_eq!(text(&kept), text(&report));
    let is_tried_again = |aside: &AsideHost| aside.until_s.is_none() && !aside.refused;
    assert!(kept.aside.iter().all(is_tried_again), "{kept:#?}");
    assert!(!kept.aside.is_empty() && kept.finished_s > 1_700_000_000, "{kept:#?}");
}

#[test]
fn a_crawl_without_storing_leaves_no_archive() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let stored = tempfile::tempdir().expect("a temporary folder");
    let seeds = server.web().seeds();
    let config = config(&server);
    let kept = crawl(stored.path(), &config, &seeds).expect("a crawl");
    let lean = crawl::Config { store: false, ..config };
    let report = crawl(dir.path(), &lean, &seeds).expect("a crawl");
    assert_eq!(report.pages, kept.pages);
    let crawl::Dirs { archive, frontier, .. } = dirs(dir.path());
    for folder in [archive, frontier.join("visits")] {
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0, "{folder:?}");
    }
    let again = crawl::Config { recrawl: crawl::Recrawl::All, ..lean };
    let error = again.check().expect_err("there is nothing to ask for again");
    assert!(matches!(error, CrawlError::Config { key: "recrawl", .. }), "{error}");
}

//! Recrawls of a web that has changed, and of one that has not (V6).

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use archive::{Archive, Kind, Record};
use crawl::{Config, CrawlError, CrawlStatus, Recrawl, Report, Scope, SystemClock, run};
use simweb::{Changes, Options, Server};
use tempfile::TempDir;

use crate::hostile;
use crate::support::{Later, PAGES_PER_HOST, archived, config, crawl, dirs, recrawl_until};

const DAY_S: i64 = 24 * 3600;

fn plain() -> Options {
    Options {
        hosts: 5,
        pages_per_host: 25,
        addresses: 16,
        seed: 7,
        oddities: false,
        ..Options::default()
    }
}

fn start(options: Options) -> Server {
    Server::start(options).expect("loopback has room for a server")
}

/// The next edition, at the same port.
fn change(server: Server) -> Server {
    let mut options = server.web().options().clone();
    options.port = server.port();
    options.edition += 1;
    server.stop();
    start(options)
}

/// A run that is over before the first request is due.
fn short(config: &Config) -> Config {
    Config { delay_ms: 60_000, time_s_max: 1, ..config.clone() }
}

fn all(config: &Config) -> Config {
    Config { recrawl: Recrawl::All, ..config.clone() }
}

/// The records about pages in files that are not in `files`.
fn new_records(dir: &Path, files: &[String]) -> Vec<Record> {
    let archive = Archive::open(&dir.join("archive")).expect("the crawl made it");
    let records = archive.records().map(|record| record.expect("the crawl wrote it"));
    let is_new = |record: &Record| {
        !files.contains(&record.location.file)
            && record.header("Crivello-Purpose").is_some_and(|purpose| purpose == "page")
    };
    records.filter(is_new).collect()
}

fn files(dir: &Path) -> Vec<String> {
    Archive::open(&dir.join("archive")).expect("the crawl made it").files().to_vec()
}

/// What the records say has changed.
fn noticed(records: &[Record]) -> Changes {
    let mut changes = Changes::default();
    for record in records.iter().filter(|record| record.kind == Kind::Response) {
        let status = archive::parse_http(&record.block).expect("an answer").status;
        let url = record.target.clone().expect("a target");
        match (record.header("Crivello-Before"), status) {
            (Some("200"), 200) => changes.changed.push(url),
            (Some("200"), 404) => changes.deleted.push(url),
            (None, 200) => changes.added.push(url),
            other => panic!("{url}: {other:?}"),
        }
    }
    for list in [&mut changes.changed, &mut changes.deleted, &mut changes.added] {
        list.sort_unstable();
    }
    changes
}

#[test]
fn a_recrawl_fetches_abandoned_pages_again() {
    for recrawl in [Recrawl::All, Recrawl::Due] {
        let other = Arc::new(AtomicBool::new(false));
        let port = serve_bare(&other);
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Config { delay_ms: 0, retry_ms: 1, ..Config::default() };
        let seeds = ["/", "/busy"].map(|path| format!("http://127.0.0.1:{port}{path}"));
        let first = crawl(dir.path(), &config, &seeds).expect("a crawl");
        other.store(true, Ordering::Relaxed);
        let same = crawl(dir.path(), &config, &[]).expect("nothing is left");
        assert_eq!((same.requests, same.pages), (0, first.pages));
        let again = crawl(dir.path(), &Config { recrawl, ..config }, &[]).expect("a recrawl");
        assert_eq!(again.pages_new, 1 + u64::from(recrawl == Recrawl::All), "{again:?}");
    }
}

#[test]
fn a_recrawl_ended_by_a_limit_resumes() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    let cut = crawl(dir.path(), &short(&all(&config)), &[]).expect("a recrawl");
    assert!(cut.limit.is_some() && cut.waiting > 0, "{cut:?}");
    let rest = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert!(rest.recrawled && rest.limit.is_none(), "{rest:?}");
    assert_eq!(rest.pages, first.pages);
    let over = crawl(dir.path(), &config, &[]).expect("there is nothing left");
    assert_eq!((over.recrawled, over.requests), (false, 0));
}

/// As many pages as there may be: they are asked for again all the same, however often, and no new one is.
#[test]
fn a_full_collection_can_be_recrawled_repeatedly() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { pages_max: 30, ..config(&server) };
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    assert_eq!((first.pages, first.limit.as_deref()), (30, Some("pages_max")));
    for run in 0..2 {
        let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
        assert_eq!((again.pages, again.pages_new), (30, 0), "run {run}: {again:?}");
        assert_eq!(found(&again), again.asked, "run {run}: {again:?}");
        assert!(again.unchanged >= 30 && again.limit.as_deref() == Some("pages_max"), "{again:?}");
        assert_eq!(again.failed + again.deleted + again.changed, 0, "run {run}: {again:?}");
        let after = crawl(dir.path(), &config, &[]).expect("nothing is left of it");
        assert_eq!((after.recrawled, after.requests, after.pages), (false, 0, 30), "run {run}");
        assert!(again.waiting > 0 && again.waiting == after.waiting, "{again:?} {after:?}");
    }
    let wider = Config { pages_max: 40, ..config.clone() };
    let report = crawl(dir.path(), &all(&wider), &[]).expect("a recrawl with room");
    assert_eq!((report.pages, report.pages_new), (40, 10), "{report:?}");
}

/// They stay in the collection as they are.
#[test]
fn a_recrawl_skips_pages_the_rules_now_refuse() {
    let (dir, config, _) = crawl_editions();
    let strict =
        Config { fetch_filter: r#"path !~ "^/(text|same)$""#.to_owned(), ..config.clone() };
    let again = crawl(dir.path(), &all(&strict), &[]).expect("a recrawl");
    assert_eq!((again.pages, again.asked), (9, 9), "{again:?}");
    let over = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((over.pages, over.requests), (9, 0), "{over:?}");
    let scope_patterns = vec!["/text$".to_owned()];
    let narrow = Config { scope: Scope::Pattern, scope_patterns, ..config };
    let again = crawl(dir.path(), &all(&narrow), &[]).expect("a recrawl");
    assert_eq!((again.pages, again.asked), (9, 2), "the seed and one page: {again:?}");
}

#[test]
fn a_due_recrawl_can_be_widened_to_all_pages() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    // Everything is due by these bounds, nothing by those of the next run.
    let due = Config { recrawl: Recrawl::Due, recrawl_min_s: 0, ..config.clone() };
    let cut = crawl(dir.path(), &short(&due), &[]).expect("a recrawl");
    assert!(cut.recrawled && cut.limit.is_some() && cut.waiting >= first.pages, "{cut:?}");
    assert_eq!(cut.pages, first.pages, "the pages are there, whatever a recrawl has asked for");
    // The bounds are those it was begun with.
    let cut = crawl(dir.path(), &short(&config), &[]).expect("it goes on");
    assert!(cut.recrawled && cut.waiting >= first.pages, "{cut:?}");
    fs::remove_file(dir.path().join("frontier/recrawl")).expect("it is not over");

    // Nothing is due by the bounds of the configuration; everything is asked for.
    let due = Config { recrawl: Recrawl::Due, ..config.clone() };
    let new = format!("{}nowhere", server.web().seeds()[0]);
    let none = crawl(dir.path(), &short(&due), &[new]).expect("a recrawl");
    assert!(none.recrawled && (none.asked, none.waiting) == (0, 1), "{none:?}");
    let standing = CrawlStatus::read(&dirs(dir.path()).frontier).expect("a folder");
    assert_eq!(standing.recrawl, Some(Recrawl::Due));
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!((again.asked, again.unchanged), (first.pages, first.pages), "{again:?}");
    assert_eq!(
        CrawlStatus::read(&dirs(dir.path()).frontier).expect("over"),
        CrawlStatus::default()
    );
}

#[test]
fn an_unknown_recrawl_version_is_an_error() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    fs::write(dir.path().join("frontier/recrawl"), durable::seal("crivello recrawl 9\nall\n"))
        .expect("a file");
    let error = crawl(dir.path(), &config, &[]).expect_err("nobody knows what was meant");
    assert!(matches!(&error, CrawlError::Recrawl { .. }), "{error}");
    assert!(CrawlStatus::read(&dirs(dir.path()).frontier).is_err());
    fs::remove_file(dir.path().join("frontier/recrawl")).expect("as the error says");
    let report = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((report.recrawled, report.requests), (false, 0));
}

/// The sum of what a recrawl found.
fn found(report: &Report) -> u64 {
    let Report { unchanged, changed, moved, deleted, failed, .. } = report;
    unchanged + changed + moved + deleted + failed
}

#[test]
fn the_outcomes_of_a_recrawl_add_up() {
    let (dir, config, edition) = crawl_editions();
    edition.store(1, Ordering::Relaxed);
    let second = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    // All but the page that is forbidden, gone, moved or failing; failing ones stay as they were.
    assert_eq!(second.asked, 11, "{second:?}");
    assert_eq!(found(&second), second.asked, "{second:?}");
    let Report { unchanged, changed, moved, deleted, failed, .. } = second;
    // The one that appeared, and the one whose text is another; the one silent and the one busy failed.
    assert_eq!((unchanged, changed, moved, deleted, failed), (3, 2, 1, 3, 2));
    // Of nine pages three are gone, one of them forbidden, and one has moved; one was none before.
    assert_eq!(second.pages, 9 - 4 + 1, "{second:?}");
    edition.store(2, Ordering::Relaxed);
    let third = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!(found(&third), third.asked, "{third:?}");
    let over = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((over.pages, over.recrawled), (third.pages, false));
}

/// The first edition, crawled: nine pages.
fn crawl_editions() -> (TempDir, Config, Arc<AtomicU64>) {
    let edition = Arc::new(AtomicU64::new(0));
    let port = serve_editions(&edition);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 0, retry_ms: 1, timeout_ms: 300, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let first = crawl(dir.path(), &config, &seeds).expect("a crawl");
    assert_eq!((first.pages, first.asked), (9, 0), "{first:?}");
    (dir, config, edition)
}

/// A server whose pages change with the edition: one of each kind.
fn serve_editions(edition: &Arc<AtomicU64>) -> u16 {
    let edition = Arc::clone(edition);
    serve(move |path| {
        let now = edition.load(Ordering::Relaxed);
        let body = match path {
            "/" => {
                let names = "same text gone gone2 moved forbidden silent busy none still";
                let links = names.split(' ').map(|name| format!("<a href=/{name}>{name}</a>"));
                return ("200 OK".to_owned(), links.collect::<String>());
            }
            "/text" => format!("edition {now}"),
            // It tells the time: still none.
            "/still" => return ("404 Not Found".to_owned(), format!("none at {now}")),
            _ => "a page".to_owned(),
        };
        let status = match (path, now) {
            ("/none", 0) | ("/gone", 1..) => "404 Not Found",
            ("/gone2", 1..) => "410 Gone",
            ("/moved", 1..) => "301 Moved Permanently\r\nLocation: /same",
            ("/forbidden", 1..) => "403 Forbidden",
            ("/busy", 1..) => "503 Service Unavailable",
            ("/silent", 1..) => "",
            _ => "200 OK",
        };
        (status.to_owned(), body)
    })
}

#[test]
fn a_recrawl_during_an_outage_loses_no_page() {
    let server = start(Options { hosts: 2, ..plain() });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    server.stop();
    let config = Config { host_failures_max: 3, retry_ms: 1, ..config };
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert!(again.recrawled && again.requests > 0 && again.statuses.is_empty(), "{again:?}");
    assert_eq!((again.pages, found(&again)), (first.pages, again.asked), "{again:?}");
    assert_eq!(again.waiting + again.asked, first.pages, "{again:?}");
}

#[test]
fn an_unchanged_web_answers_only_not_modified() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    assert!(!first.recrawled && first.pages > 100, "{first:?}");
    let (requests, before) = (server.log().len(), files(dir.path()));
    let second = crawl(dir.path(), &all(&config), &[]).expect("it runs");
    assert!(second.recrawled, "{second:?}");
    assert_eq!((second.pages, second.unchanged), (first.pages, first.pages), "{second:?}");
    assert_eq!((second.changed, second.deleted, second.pages_new), (0, 0, 0), "{second:?}");
    let log = server.log().split_off(requests);
    let pages: Vec<_> = log.iter().filter(|line| line.path != "/robots.txt").collect();
    assert_eq!(pages.len() as u64, first.pages);
    assert!(pages.iter().all(|line| line.status == 304), "{pages:?}");
    let records = new_records(dir.path(), &before);
    assert_eq!(records.len() as u64, first.pages);
    for record in records {
        assert_eq!(record.kind, Kind::Revisit);
        let profile = record.header("WARC-Profile").unwrap_or_default();
        assert!(profile.ends_with("server-not-modified"), "{profile}");
        assert!(record.header("WARC-Refers-To").is_some(), "{record:?}");
        assert!(record.header("WARC-Payload-Digest").is_some(), "{record:?}");
    }
    // And the crawl is over: nothing is asked for without being told to.
    let requests = server.log().len();
    let third = crawl(dir.path(), &config, &[]).expect("it runs");
    assert_eq!((third.pages, third.recrawled), (first.pages, false), "{third:?}");
    assert_eq!(server.log().len(), requests);
}

#[test]
fn filtered_pages_are_fetched_again_but_not_counted() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let filter = "length < 2600 and not duplicate".to_owned();
    let config = Config { store_filter: filter, ..config(&server) };
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    let kept_out = first.refused.get("store-filter").copied().unwrap_or_default();
    assert!(first.pages > 10 && kept_out > 10, "{first:?}");
    let asked = |from: usize| {
        let log = server.log().split_off(from);
        log.into_iter().filter(|line| line.path != "/robots.txt").count() as u64
    };
    for _ in 0..2 {
        let requests = server.log().len();
        let again = crawl(dir.path(), &all(&config), &[]).expect("it runs");
        assert_eq!((again.pages, again.unchanged), (first.pages, first.pages), "{again:?}");
        assert_eq!((again.changed, again.deleted, again.pages_new), (0, 0, 0), "{again:?}");
        assert_eq!(asked(requests), first.pages + kept_out);
    }
    let requests = server.log().len();
    let last = crawl(dir.path(), &config, &[]).expect("it runs");
    assert_eq!((last.pages, asked(requests)), (first.pages, 0), "{last:?}");
}

#[test]
fn an_unchanged_odd_web_is_found_unchanged() {
    let server = start(Options { oddities: true, ..plain() });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    let second = crawl(dir.path(), &all(&config), &[]).expect("it runs");
    assert_eq!((second.changed, second.deleted, second.pages_new), (0, 0, 0), "{second:?}");
    assert_eq!(second.pages, first.pages);
    let archived = archived(dir.path());
    let twice: Vec<_> = archived.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn exactly_the_changed_pages_are_detected() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    let mut server = server;
    for edition in 0..2 {
        server = change(server);
        let before = files(dir.path());
        let report = crawl(dir.path(), &all(&config), &[]).expect("it runs");
        let wanted = server.web().changes(edition);
        assert!(wanted.changed.len() >= 5 && wanted.deleted.len() == 5, "{wanted:?}");
        assert_eq!(noticed(&new_records(dir.path(), &before)), wanted);
        let count = |urls: &[String]| urls.len() as u64;
        assert_eq!(
            (report.changed, report.deleted, report.pages_new),
            (count(&wanted.changed), count(&wanted.deleted), count(&wanted.added))
        );
        assert_eq!(report.pages, server.web().truth(PAGES_PER_HOST).pages.len() as u64);
        // Resumed without a recrawl, the count is the same.
        let report = crawl(dir.path(), &config, &[]).expect("it runs");
        assert_eq!(report.pages, server.web().truth(PAGES_PER_HOST).pages.len() as u64);
    }
}

#[test]
fn a_stopped_recrawl_resumes_without_repeating_requests() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    let (server, before) = (change(server), files(dir.path()));
    let first = recrawl_until(dir.path(), &all(&config), 40).expect("it runs");
    assert!(first.interrupted && first.recrawled && first.waiting > 0, "{first:?}");
    // With its logs gone, and without being told that it is a recrawl.
    fs::remove_dir_all(dir.path().join("frontier/visits")).expect("there are logs");
    let second = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert!(second.recrawled && !second.interrupted, "{second:?}");
    assert_eq!(noticed(&new_records(dir.path(), &before)), server.web().changes(0));
    assert_eq!(second.pages, server.web().truth(PAGES_PER_HOST).pages.len() as u64);
    let mut times: BTreeMap<(String, String), u32> = BTreeMap::new();
    for line in server.log().into_iter().filter(|line| line.path != "/robots.txt") {
        *times.entry((line.host, line.path)).or_default() += 1;
    }
    times.retain(|_, times| *times > 1);
    assert!(times.is_empty(), "asked for twice: {times:?}");
}

/// The next run asks it, and the recrawl is over when it has answered; a new recrawl does not wait for it.
#[test]
fn a_recrawl_waits_for_hosts_set_aside() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let port = hostile::serve(move |request, out| {
        let is_b = request.head.to_ascii_lowercase().contains("host: b.test");
        let status = if is_b && down.load(Ordering::Relaxed) { "503 Busy" } else { "200 OK" };
        let body = format!("<a href=/1>1</a><a href=/2>2</a>{}", request.path);
        let head = format!("Content-Type: text/html\r\nContent-Length: {}", body.len());
        out.say(&format!("HTTP/1.1 {status}\r\n{head}\r\nConnection: close\r\n\r\n{body}"));
    });
    let resolve = ["a.test", "b.test"]
        .map(|host| (host.to_owned(), "127.0.0.1".parse().expect("an address")));
    let resolve = resolve.into_iter().collect();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, ip_delay_ms: 0, retries: 0, resolve, ..Config::default() };
    let seeds = ["a", "b"].map(|name| format!("http://{name}.test:{port}/"));
    assert_eq!(crawl(dir.path(), &config, &seeds).expect("a crawl").pages, 6);
    let standing = || CrawlStatus::read(&dir.path().join("frontier")).expect("a folder");
    for _ in 0..2 {
        // It is down, and its robots.txt is too old to be believed.
        is_down.store(true, Ordering::Relaxed);
        let report = run_later(dir.path(), &all(&config), 2 * DAY_S);
        assert_eq!((report.asked, report.waiting, report.pages), (3, 3, 6), "{report:?}");
        assert!(standing().recrawl_rest && standing().recrawl == Some(Recrawl::All));
    }
    let report = run_later(dir.path(), &config, 4 * DAY_S);
    assert_eq!((report.asked, report.recrawled), (0, true), "{report:?}");
    assert!(standing().recrawl_rest, "it is still down");
    is_down.store(false, Ordering::Relaxed);
    let report = run_later(dir.path(), &config, 4 * DAY_S);
    assert_eq!((report.unchanged, report.asked, report.pages), (3, 3, 6), "{report:?}");
    assert_eq!(standing(), CrawlStatus::default());
}

/// A page that asks for more time than a run has ends every recrawl for its host; so it is the last to be asked.
#[test]
fn a_blocking_page_does_not_starve_a_recrawl() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let is_bad = Arc::new(AtomicBool::new(false));
    let (log, bad) = (Arc::clone(&asked), Arc::clone(&is_bad));
    let port = hostile::serve(move |request, out| {
        log.lock().expect("no panic").push(request.path.clone());
        let head = match request.path.as_str() {
            "/robots.txt" => "404 Not Found",
            "/p1" if bad.load(Ordering::Relaxed) => "503 Busy\r\nRetry-After: 50",
            _ => "200 OK",
        };
        let body = format!("<a href=/p0>0</a><a href=/p1>1</a><a href=/p2>2</a>{}", request.path);
        let length = format!("Content-Type: text/html\r\nContent-Length: {}", body.len());
        out.say(&format!("HTTP/1.1 {head}\r\n{length}\r\nConnection: close\r\n\r\n{body}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, ip_delay_ms: 0, retry_after_s_max: 5, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    assert_eq!(crawl(dir.path(), &config, &seeds).expect("a crawl").pages, 4);
    let again = |seconds: i64| {
        asked.lock().expect("no panic").clear();
        run_later(dir.path(), &all(&config), seconds);
        let mut asked = asked.lock().expect("no panic").clone();
        asked.retain(|path| path != "/robots.txt");
        asked
    };
    is_bad.store(true, Ordering::Relaxed);
    assert_eq!(again(0), ["/", "/p0", "/p1"]);
    for recrawl in 1..3 {
        assert_eq!(again(recrawl * 100), ["/", "/p0", "/p2", "/p1"]);
    }
    is_bad.store(false, Ordering::Relaxed);
    assert_eq!(again(300), ["/", "/p0", "/p2", "/p1"]);
    assert_eq!(again(400), ["/", "/p0", "/p1", "/p2"], "it has answered since");
}

/// As many bytes as there may be: nothing can be asked for, so no recrawl begins that would be in the way of
/// a later one; one that has begun goes on when there is room.
#[test]
fn a_reached_limit_starts_no_recrawl() {
    let port = serve_bare(&Arc::new(AtomicBool::new(false)));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let first = crawl(dir.path(), &config, &seeds).expect("a crawl");
    let standing = || CrawlStatus::read(&dir.path().join("frontier")).expect("a folder");
    let full = Config { bytes_max: first.bytes, ..config.clone() };
    let report = crawl(dir.path(), &all(&full), &[]).expect("it ends at once");
    assert_eq!((report.requests, report.limit.as_deref()), (0, Some("bytes_max")), "{report:?}");
    assert!(!report.recrawled && standing() == CrawlStatus::default(), "{report:?}");
    let room = Config { bytes_max: first.bytes + 1, ..config.clone() };
    let report = crawl(dir.path(), &all(&room), &[]).expect("it asks for a little");
    assert!(report.recrawled && report.requests > 0, "{report:?}");
    let report = crawl(dir.path(), &all(&full), &[]).expect("it ends at once");
    assert_eq!((report.requests, report.recrawled), (0, true), "{report:?}");
    let report = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert!(report.recrawled && standing() == CrawlStatus::default(), "{report:?}");
}

fn run_later(dir: &Path, config: &Config, seconds: i64) -> Report {
    let clock = Arc::new(Later(SystemClock::new(), seconds));
    run(&dirs(dir), config, &[], clock, &AtomicBool::new(false), &|_| {}).expect("it runs")
}

/// A run `days` later; the paths that were asked for, and the report.
fn crawl_later(
    server: &Server,
    dir: &Path,
    config: &Config,
    half_days: i64,
) -> (BTreeSet<String>, Report) {
    let requests = server.log().len();
    let clock = Arc::new(Later(SystemClock::new(), half_days * DAY_S / 2));
    let stop = AtomicBool::new(false);
    let report = run(&dirs(dir), config, &server.web().seeds(), clock, &stop, &|_| {});
    let log = server.log().split_off(requests).into_iter();
    let url = |host: &str, path: &str| format!("http://{host}:{}{path}", server.port());
    let pages = log.filter(|line| line.path != "/robots.txt");
    (pages.map(|line| url(&line.host, &line.path)).collect(), report.expect("it runs"))
}

#[test]
fn frequently_changing_pages_are_fetched_often() {
    let server = start(plain());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { recrawl: Recrawl::Due, ..config(&server) };
    let (every, report) = crawl_later(&server, dir.path(), &config, 0);
    let pages = every.len();
    assert!(pages > 100 && !report.recrawled, "there was nothing to ask for again");
    // Nothing is due within a day, everything after two.
    let (asked, report) = crawl_later(&server, dir.path(), &config, 1);
    assert!(asked.is_empty() && report.recrawled && report.pages == pages as u64, "{report:?}");
    let server = change(server);
    let (asked, report) = crawl_later(&server, dir.path(), &config, 4);
    let changes = server.web().changes(0);
    assert_eq!(report.changed, changes.changed.len() as u64);
    assert_eq!(asked.len(), pages + changes.added.len());
    // Two days later those are due that had changed, and those that were seen for the first time.
    let (asked, report) = crawl_later(&server, dir.path(), &config, 8);
    let due = [changes.changed, changes.deleted, changes.added].concat();
    let due: BTreeSet<String> = due.into_iter().collect();
    assert_eq!(asked, due);
    // Nothing changed but that what is gone is gone still.
    assert_eq!((report.changed, report.deleted, report.pages_new), (0, 0, 0), "{report:?}");
    // All the others when they have been left alone for twice the time that they were watched.
    let (asked, _) = crawl_later(&server, dir.path(), &config, 13);
    assert_eq!(asked, every.difference(&due).cloned().collect());
}

/// A server that never heard of validators: `answer` gives status and body of a path. Without a status it
/// hangs up.
fn serve(answer: impl Fn(&str) -> (String, String) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]).to_ascii_lowercase();
            assert!(!request.contains("\r\nif-"), "{request}");
            let (head, body) = answer(request.split(' ').nth(1).unwrap_or_default());
            if head.is_empty() {
                continue;
            }
            let length = body.len();
            // The crawler may have hung up.
            let _ = write!(
                stream,
                "HTTP/1.1 {head}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n{body}"
            );
        }
    });
    port
}

/// A server whose pages are the same until `other` is set.
fn serve_bare(other: &Arc<AtomicBool>) -> u16 {
    let other = Arc::clone(other);
    serve(move |path| {
        let place = if other.load(Ordering::Relaxed) { "/b" } else { "/a" };
        let (head, body) = match path {
            "/" => ("200 OK", "<a href=/moved>m</a><a href=/gone>g</a>"),
            "/moved" => ("302 Found\r\nLocation: PLACE", "moved"),
            "/a" | "/b" => ("200 OK", "<p>a page"),
            "/busy" if place == "/b" => ("200 OK", "<p>at last"),
            "/busy" => ("503 Service Unavailable", "later"),
            _ => ("404 Not Found", "none"),
        };
        (head.replace("PLACE", place), body.to_owned())
    })
}

#[test]
fn answers_without_validators_are_compared() {
    let other = Arc::new(AtomicBool::new(false));
    let port = serve_bare(&other);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let first = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!(first.pages, 2);
    let before = files(dir.path());
    let second = crawl(dir.path(), &all(&config), &[]).expect("it runs");
    assert_eq!((second.pages, second.unchanged, second.changed), (2, 4, 0), "{second:?}");
    for record in new_records(dir.path(), &before) {
        let profile = record.header("WARC-Profile").unwrap_or_default();
        assert!(profile.ends_with("identical-payload-digest"), "{record:?}");
    }
    // The redirect has the same body and leads elsewhere.
    other.store(true, Ordering::Relaxed);
    let before = files(dir.path());
    let third = crawl(dir.path(), &all(&config), &[]).expect("it runs");
    assert_eq!((third.pages, third.pages_new, third.unchanged), (3, 1, 3), "{third:?}");
    assert_eq!((third.moved, third.asked), (1, 4), "{third:?}");
    let records = new_records(dir.path(), &before);
    let moved = records.iter().find(|record| record.kind == Kind::Response);
    assert!(moved.is_some_and(|r| r.target.as_deref().is_some_and(|t| t.ends_with("/moved"))));
}

/// What an earlier run archived is known to the next one, by its log.
#[test]
fn the_same_bytes_in_another_run_are_a_duplicate() {
    let port = serve_bare(&Arc::new(AtomicBool::new(false)));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let store_filter = "not duplicate".to_owned();
    let config = Config { delay_ms: 5, ip_delay_ms: 0, store_filter, ..Config::default() };
    for (path, refused) in [("/a", None), ("/b", Some(&1))] {
        let seeds = [format!("http://127.0.0.1:{port}{path}")];
        let config = Config { scope: Scope::Any, ..config.clone() };
        let report = crawl(dir.path(), &config, &seeds).expect("it runs");
        assert_eq!((report.pages, report.refused.get("store-filter")), (1, refused), "{path}");
    }
}

#[test]
fn needs_warcio_recrawled_archives_pass_its_check() {
    let tool = env::var_os("WARCIO").unwrap_or_else(|| "warcio".into());
    let server = start(Options { hosts: 2, ..plain() });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    let server = change(server);
    crawl(dir.path(), &all(&config), &server.web().seeds()).expect("it runs");
    let mut revisits = 0;
    for file in files(dir.path()) {
        let path = dir.path().join("archive").join(file);
        let output = Command::new(&tool).args(["check", "-v"]).arg(path).output();
        let output =
            output.unwrap_or_else(|error| panic!("cannot run {}: {error}", tool.display()));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !text.contains("fail"), "{text}");
        revisits += text.lines().filter(|line| line.contains("revisit")).count();
    }
    assert!(revisits > 30, "{revisits}");
}

/// Whatever ends a run while it reads what earlier ones archived, what it was asked for is kept as a whole.
#[test]
fn the_requested_recrawl_is_saved_before_reading_the_archive() {
    let other = Arc::new(AtomicBool::new(false));
    let port = serve_bare(&other);
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let page = Config { delay_ms: 0, retry_ms: 1, follow: false, ..Config::default() };
    let all = Config { recrawl: Recrawl::All, ..page.clone() };
    let given = Config { recrawl: Recrawl::Given, ..page.clone() };
    let list = Config { alone: true, ..all.clone() };
    let sitemap = format!("sitemap:{}", url("/new.xml"));
    for (config, seed) in [(&all, &sitemap), (&given, &url("/")), (&list, &sitemap)] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        crawl(dir.path(), &page, &[url("/")]).expect("a crawl");
        let frontier = dir.path().join("frontier");
        let seeds = fs::read_to_string(frontier.join("seeds")).expect("a file");
        // A run that ends between the two has kept nothing of what it was given.
        fs::create_dir(frontier.join("recrawl.tmp")).expect("a folder");
        crawl(dir.path(), config, std::slice::from_ref(seed)).expect_err("it cannot be kept");
        assert_eq!(fs::read_to_string(frontier.join("seeds")).expect("a file"), seeds);
        fs::remove_dir(frontier.join("recrawl.tmp")).expect("a folder");
        let stop = AtomicBool::new(true);
        let clock = Arc::new(SystemClock::new());
        let seed = std::slice::from_ref(seed);
        run(&dirs(dir.path()), config, seed, clock, &stop, &|_| {}).expect("it is stopped");
        let standing = CrawlStatus::read(&frontier).expect("a recrawl");
        let mode = if config.alone { Recrawl::Given } else { config.recrawl };
        assert_eq!(standing.recrawl, Some(mode), "{seed:?}");
        if config.alone {
            // The list is also what it asks for first.
            fs::write(frontier.join("seeds"), &seeds).expect("a file");
            let after = crawl(dir.path(), &page, &[]).expect("it goes on");
            assert_eq!(after.statuses.get(&404), Some(&1), "the sitemap: {after:?}");
        }
    }
}

/// A kill between the two files leaves what a run was given as if both had been one.
#[test]
fn unsaved_seeds_are_saved_with_the_recrawl() {
    let port = serve_bare(&Arc::new(AtomicBool::new(false)));
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let page = Config { delay_ms: 0, retry_ms: 1, follow: false, ..Config::default() };
    for recrawl in [Recrawl::Given, Recrawl::Due, Recrawl::All] {
        for seed in [url("/added"), format!("sitemap:{}", url("/added.xml"))] {
            let dir = tempfile::tempdir().expect("a temporary folder");
            crawl(dir.path(), &page, &[url("/")]).expect("a crawl");
            let frontier = dir.path().join("frontier");
            fs::create_dir(frontier.join("seeds.tmp")).expect("a folder");
            let config = Config { recrawl, ..page.clone() };
            let given = [url("/"), seed.clone()];
            crawl(dir.path(), &config, &given).expect_err("the seeds cannot be kept");
            fs::remove_dir(frontier.join("seeds.tmp")).expect("a folder");
            let seeds = || fs::read_to_string(frontier.join("seeds")).expect("a file");
            assert!(!seeds().contains("added"), "as after a kill: {}", seeds());
            let standing = CrawlStatus::read(&frontier).expect("a recrawl");
            assert_eq!(standing.recrawl, Some(recrawl), "{seed}");
            crawl(dir.path(), &page, &[]).expect("it goes on");
            let archive = Archive::open(&dir.path().join("archive")).expect("the crawl made it");
            let asked = archive.records().flatten().filter(|record| {
                let target = record.target.as_deref().unwrap_or_default();
                record.kind == Kind::Request && target.contains("/added")
            });
            assert_eq!(asked.count(), 1, "{recrawl:?} {seed}");
            assert!(seeds().lines().any(|line| line == seed), "{}", seeds());
        }
    }
}

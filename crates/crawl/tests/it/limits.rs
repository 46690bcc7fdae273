//! Seeds of all kinds, and the limits of a whole crawl.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crawl::{
    Clock, Config, Order, Recrawl, Scope, Snapshot, Weights, read_report, read_seeds, run,
};
use simweb::Kind;

use crate::hostile;
use crate::support::{archived, config, crawl, dirs, server};

#[test]
fn a_sitemap_seed_is_kept_as_a_sitemap() {
    let server = server();
    let web = server.web();
    let host = web.special(Kind::Sitemap).expect("there are oddities");
    let truth = web.truth(30);
    let sitemap = server_sitemap(&server, host);
    let dir = tempfile::tempdir().expect("a temporary folder");
    // With `follow = false`, exactly the pages of the sitemap are fetched.
    let config = Config { follow: false, scope: Scope::Host, ..config(&server) };
    let report = crawl(dir.path(), &config, &[format!("sitemap:{sitemap}")]).expect("it runs");
    let pages: BTreeSet<String> = archived(dir.path()).into_keys().collect();
    assert!(report.pages > 0);
    let only: Vec<_> = truth
        .pages
        .iter()
        .filter(|page| page.sitemap_only && page.url.contains(&host.name))
        .collect();
    assert!(!only.is_empty() && only.iter().any(|page| pages.contains(&page.url)), "{pages:?}");
    assert!(!pages.contains(&sitemap), "a sitemap is no page");
    let kept = read_seeds(&dir.path().join("frontier")).expect("they are there");
    assert_eq!(kept.iter().map(page::Url::as_str).collect::<Vec<_>>(), [sitemap.as_str()]);
    let text = fs::read_to_string(dir.path().join("frontier/seeds")).expect("a file");
    assert!(text.starts_with(&format!("sitemap:{sitemap}\n# sum ")), "{text}");
    let again = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((again.pages, again.pages_new), (report.pages, 0));
}

/// Returns the first sitemap that the robots.txt of the host names.
fn server_sitemap(server: &simweb::Server, host: &simweb::Host) -> String {
    let web = server.web();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = [web.url(host, "/")];
    crawl(dir.path(), &config(server), &seeds).expect("it runs");
    let archive = archive::Archive::open(&dir.path().join("archive")).expect("the crawl made it");
    let records = archive.records().map(|record| record.expect("the crawl wrote it"));
    let mut sitemaps =
        records.filter(|record| record.header("Crivello-Purpose") == Some("sitemap"));
    sitemaps.next().and_then(|record| record.target).expect("a sitemap")
}

#[test]
fn total_bytes_are_limited_across_runs() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { bytes_max: 50_000, fetchers: 4, ..config(&server) };
    let report = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    assert_eq!(report.limit.as_deref(), Some("bytes_max"));
    assert!(report.bytes >= 50_000 && report.waiting > 0, "{report:?}");
    let again = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((again.pages_new, again.limit.as_deref()), (0, Some("bytes_max")));
}

/// The limit is on bytes that servers send. An unchanged body was sent again, although the archive has it once.
#[test]
fn bytes_of_unchanged_pages_count_in_later_runs() {
    const BODY_BYTES: u64 = 20_000;
    let port = hostile::serve(|request, out| {
        let (links, status) = match request.path.as_str() {
            "/robots.txt" => ("", "404 Not Found"),
            "/" => ("<a href=/1>1</a><a href=/2>2</a>", "200 OK"),
            _ => ("", "200 OK"),
        };
        let length =
            if status == "200 OK" { usize::try_from(BODY_BYTES).expect("small") } else { 0 };
        let body = format!("{links:length$}");
        let head = format!("Content-Type: text/html\r\nContent-Length: {}", body.len());
        out.say(&format!("HTTP/1.1 {status}\r\n{head}\r\nConnection: close\r\n\r\n{body}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let first = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!((first.pages, first.bytes), (3, 3 * BODY_BYTES), "{first:?}");
    let again = Config { recrawl: Recrawl::All, ..config.clone() };
    let second = crawl(dir.path(), &again, &[]).expect("a recrawl");
    assert_eq!((second.unchanged, second.bytes), (3, 3 * BODY_BYTES), "{second:?}");

    // Six bodies were received in all: by the log of visits, and by the archive alone.
    for _ in 0..2 {
        let full = Config { bytes_max: 6 * BODY_BYTES, ..again.clone() };
        let report = crawl(dir.path(), &full, &[]).expect("it runs");
        assert_eq!(
            (report.requests, report.limit.as_deref()),
            (0, Some("bytes_max")),
            "{report:?}"
        );
        fs::remove_dir_all(dir.path().join("frontier/visits")).expect("there is a log");
    }
    let room = Config { bytes_max: 6 * BODY_BYTES + 1, ..again };
    let report = crawl(dir.path(), &room, &[]).expect("there is room for one");
    assert_eq!(report.limit.as_deref(), Some("bytes_max"), "{report:?}");
    assert!((1..4).contains(&report.asked), "{report:?}");
}

#[test]
fn total_time_is_limited() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    // At this pace the crawl would take minutes.
    let config = Config { time_s_max: 1, delay_ms: 5_000, ..config(&server) };
    let report = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    assert_eq!(report.limit.as_deref(), Some("time_s_max"));
    assert!(!report.interrupted && report.elapsed_ms < 5_500, "{}", report.elapsed_ms);
    assert!(report.waiting > 0);
}

/// Requests under way have three seconds to end; then they are interrupted, and wait for the next run.
#[test]
fn a_hanging_server_does_not_extend_the_time() {
    let port = hostile::serve(|request, out| {
        let head = "Content-Type: text/html\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
        out.say(&format!("HTTP/1.1 200 OK\r\n{head}"));
        if request.path == "/robots.txt" {
            out.say("...");
        } else {
            std::thread::sleep(Duration::from_secs(50));
        }
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { time_s_max: 1, delay_ms: 1, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let report = crawl(dir.path(), &config, &seeds).expect("it ends");
    assert!((1_000..9_000).contains(&report.elapsed_ms), "{} ms", report.elapsed_ms);
    assert_eq!((report.limit.as_deref(), report.waiting), (Some("time_s_max"), 1), "{report:?}");
}

#[test]
fn urls_queued_too_far_ahead_are_dropped_and_counted() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { turn_s_max: 1, delay_ms: 400, scope: Scope::Host, ..config(&server) };
    let seeds = [server.web().url(&server.web().hosts()[1], "/")];
    let report = crawl(dir.path(), &config, &seeds).expect("it runs");
    // A link is accepted while no more than two wait.
    assert!(report.pruned > 0 && report.pages >= 3, "{report:?}");
    assert!(report.pages < 25, "{report:?}");
}

#[test]
fn a_crawl_with_disk_queues_finds_the_same_pages() {
    let server = server();
    let seeds = server.web().seeds();
    let run = |change: &dyn Fn(&mut Config)| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut config = config(&server);
        change(&mut config);
        let report = crawl(dir.path(), &config, &seeds).expect("it runs");
        let names = fs::read_dir(dir.path().join("frontier")).expect("a folder");
        let names = names.map(|entry| entry.expect("an entry").file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("spill")).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(report.spilled_bytes > 0, "what waits for the dead host is on disk");
        archived(dir.path()).into_keys().collect::<BTreeSet<_>>()
    };
    let wanted: BTreeSet<String> =
        server.web().truth(30).pages.into_iter().map(|page| page.url).collect();
    for order in [Order::BreadthFirst, Order::Priority] {
        let pages = run(&|config| {
            config.waiting_memory_bytes = 1;
            config.order = order;
            config.keywords = vec!["the".to_owned()];
            config.weights =
                Weights { short_url: 1, off_site: 1, url_keywords: 1, page_keywords: 1 };
        });
        let missing: Vec<_> = wanted.difference(&pages).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// The head of a page.
const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";

/// A request that the end of the run interrupts still counts.
#[test]
fn an_interrupted_request_is_counted() {
    let asked = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&asked);
    let port = hostile::serve(move |request, out| {
        seen.fetch_add(1, Ordering::Relaxed);
        match request.path.as_str() {
            "/slow" => std::thread::sleep(Duration::from_secs(30)),
            _ => out.say(&format!("{PAGE}{}", hostile::links_to(&["/slow"]))),
        }
    });
    let config = Config { delay_ms: 1, ip_delay_ms: 0, time_s_max: 1, ..Config::default() };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!((report.requests, report.waiting), (asked.load(Ordering::Relaxed), 1));
}

/// A clock that advances by a tenth of a second with each reading.
#[derive(Default)]
struct Hasty(AtomicU64);

impl Clock for Hasty {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(100, Ordering::Relaxed)
    }

    fn unix_s(&self) -> i64 {
        i64::try_from(self.now_ms() / 1000).expect("a few seconds")
    }
}

/// The log of visits is rebuilt. The run may end before it has read the archive; then it does not know the counts
/// of states.
#[test]
fn a_run_stopped_while_reading_keeps_previous_counts() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let first = crawl(dir.path(), &config, &server.web().seeds()).expect("it runs");
    assert!(first.pages > 50, "{first:?}");
    for is_stopped in [false, true] {
        fs::remove_dir_all(dir.path().join("frontier/visits")).expect("there is a log");
        let (stop, never) = (AtomicBool::new(is_stopped), |_: &Snapshot| {});
        let timed = Config { time_s_max: 1, recrawl: Recrawl::All, ..config.clone() };
        let clock = Arc::new(Hasty::default());
        let cut = run(&dirs(dir.path()), &timed, &[], clock, &stop, &never).expect("it ends");
        let limit = (!is_stopped).then_some("time_s_max");
        assert_eq!((cut.limit.as_deref(), cut.interrupted), (limit, is_stopped), "{cut:?}");
        assert!(cut.unread && cut.requests == 0, "{cut:?}");
        assert_eq!((cut.pages, cut.hosts), (first.pages, first.hosts), "{cut:?}");
        let kept = read_report(&dir.path().join("frontier")).expect("it can be read");
        assert_eq!(kept.as_ref(), Some(&cut));
        let has_recrawl = dir.path().join("frontier/recrawl").exists();
        assert!(has_recrawl, "what was asked for is kept");
    }
    let last = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert!(last.recrawled, "{last:?}");
    assert_eq!((last.pages, last.hosts, last.unread), (first.pages, first.hosts, false));
}

/// By the clock of the server, from the moment before an answer to the moment after the next request.
#[test]
#[expect(clippy::disallowed_methods, reason = "the server has a clock of its own")]
fn no_pause_is_shorter_than_the_delay() {
    const DELAY: Duration = Duration::from_millis(7);
    let gaps: Arc<Mutex<(Option<Instant>, Vec<Duration>)>> = Arc::default();
    let seen = Arc::clone(&gaps);
    let port = hostile::serve(move |request, out| {
        let mut seen = seen.lock().expect("no panic");
        let gap = seen.0.map(|over| over.elapsed());
        seen.1.extend(gap);
        let links: Vec<String> = (0..150).map(|page| format!("/{page}")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let page = hostile::links_to(if request.path == "/" { &links } else { &[] });
        seen.0 = Some(Instant::now());
        out.say(&format!("{PAGE}{page}"));
    });
    let delay_ms = u64::try_from(DELAY.as_millis()).expect("a few");
    let config = Config { delay_ms, ip_delay_ms: 0, ..Config::default() };
    let dir = tempfile::tempdir().expect("a temporary folder");
    crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("it runs");
    let gaps = gaps.lock().expect("no panic");
    let short: Vec<&Duration> = gaps.1.iter().filter(|gap| **gap < DELAY).collect();
    assert!(gaps.1.len() > 150 && short.is_empty(), "{} gaps: {short:?}", gaps.1.len());
}

//! Pages with several paths: with `depth_max`, the shortest one counts even if it is found later.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crawl::{Config, Order, Recrawl, Report};
use tempfile::TempDir;

use crate::faults::{serve, write};
use crate::support::{archived, crawl, crawl_until};

/// Two paths lead to `/p`, by `/near` and by `/1` and `/2`; from there on it is a chain.
const LINKS: [(&str, &[&str]); 9] = [
    ("/", &["/near", "/1"]),
    ("/1", &["/2"]),
    ("/2", &["/p"]),
    ("/near", &["/p"]),
    ("/p", &["/q"]),
    ("/q", &["/r"]),
    ("/r", &["/s"]),
    ("/s", &["/t"]),
    ("/t", &["/u"]),
];

/// A server on which `/near` answers with 503 the given number of times.
struct Web {
    seed: [String; 1],
    failures: Arc<AtomicUsize>,
    asked: Arc<Mutex<BTreeSet<String>>>,
    dir: TempDir,
}

impl Web {
    fn start(failures: usize) -> Web {
        let failures = Arc::new(AtomicUsize::new(failures));
        let asked: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let (left, log) = (Arc::clone(&failures), Arc::clone(&asked));
        let port = serve(move |path, out| {
            log.lock().expect("nobody panics with it").insert(path.to_owned());
            let fails = path == "/near"
                && left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                    .is_ok();
            let links = LINKS.iter().find(|(known, _)| *known == path).map(|(_, links)| *links);
            let (status, links) = match links {
                _ if fails => ("500 Broken", &[][..]),
                Some(links) => ("200 OK", links),
                None => ("404 Not Found", &[][..]),
            };
            let links: Vec<String> =
                links.iter().map(|link| format!("<a href={link}>x</a>")).collect();
            let body = links.concat();
            let head = format!(
                "Content-Type: text/html\r\nConnection: close\r\nContent-Length: {}",
                body.len()
            );
            write(out, &format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}"));
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        Web { seed: [format!("http://127.0.0.1:{port}/")], failures, asked, dir }
    }

    fn crawl(&self, config: &Config, seeds: &[String]) -> Report {
        self.asked.lock().expect("nobody panics with it").clear();
        crawl(self.dir.path(), config, seeds).expect("it runs")
    }

    /// Checks the last path segments of all archived pages.
    #[track_caller]
    fn check(&self, wanted: &[&str]) {
        let pages = archived(self.dir.path()).into_keys();
        let pages: Vec<String> =
            pages.filter_map(|url| url.rsplit('/').next().map(str::to_owned)).collect();
        assert_eq!(pages.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
    }
}

fn config() -> Config {
    Config {
        delay_ms: 1,
        ip_delay_ms: 0,
        retry_ms: 300,
        retries: 1,
        depth_max: 4,
        ..Config::default()
    }
}

/// `/p` is visited at depth 3 and `/q` at 4, before `/near` has answered and both are one link nearer.
#[test]
fn a_shorter_path_found_later_counts() {
    for order in [Order::BreadthFirst, Order::Priority] {
        let web = Web::start(1);
        let report = web.crawl(&Config { order, ..config() }, &web.seed);
        web.check(&["", "1", "2", "near", "p", "q", "r"]);
        assert_eq!((report.pages, report.waiting), (7, 0), "{report:?}");
        let report = web.crawl(&config(), &[]);
        assert_eq!((report.requests, report.pages), (0, 7), "{report:?}");
    }
}

/// This also holds if a later run finds the path, or a seed does.
#[test]
fn a_shorter_path_found_by_another_run_counts() {
    let web = Web::start(1);
    let later = Config { retry_ms: 600_000, ..config() };
    let report = crawl_until(web.dir.path(), &later, &web.seed, 5).expect("it runs");
    assert_eq!(report.waiting, 1, "{report:?}");
    web.check(&["", "1", "2", "p", "q"]);
    web.crawl(&config(), &[]);
    web.check(&["", "1", "2", "near", "p", "q", "r"]);
    let seed = web.seed[0].clone();
    let report = web.crawl(&config(), &[format!("{seed}r")]);
    web.check(&["", "1", "2", "near", "p", "q", "r", "s", "t"]);
    assert_eq!(report.requests, 3, "the page that is a seed now is not asked again: {report:?}");
}

/// Pages that were crawled without a limit are fetched again if their shortest path is within it.
#[test]
fn a_recrawl_counts_the_shortest_path() {
    let web = Web::start(2);
    web.crawl(&Config { depth_max: 0, retry_ms: 1, ..config() }, &web.seed);
    web.check(&["", "1", "2", "p", "q", "r", "s", "t"]);
    web.failures.store(0, Ordering::Relaxed);
    let recrawl = Config { recrawl: Recrawl::All, ..config() };
    let report = web.crawl(&recrawl, &[]);
    let asked = web.asked.lock().expect("nobody panics with it").clone();
    assert!(asked.contains("/r") && !asked.contains("/s"), "{asked:?}");
    assert_eq!((report.unchanged, report.pages_new), (6, 1), "{report:?}");
}

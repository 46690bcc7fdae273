//! Recrawls of lists whose sitemaps or redirects cannot be read at first, or are something else for a while (V6).

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crawl::{Config, CrawlStatus, Recrawl, Report, SystemClock, run};
use tempfile::TempDir;

use crate::hostile::serve;
use crate::support::{Later, crawl, dirs};

/// What `/list.xml` and `/way` are.
const BUSY: u64 = 0;
const READY: u64 = 1;
const HTML: u64 = 2;
const MOVED: u64 = 3;

/// How long they are busy, in seconds.
const BUSY_S: i64 = 3600;

/// A site with a sitemap, a redirect and known pages, and a collection of these.
struct Site {
    dir: TempDir,
    root: String,
    edition: Arc<AtomicU64>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn crawl() -> Site {
        let edition = Arc::new(AtomicU64::new(READY));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (now, log) = (Arc::clone(&edition), Arc::clone(&asked));
        let port = serve(move |request, out| {
            let host = request.head.lines().find_map(|line| line.strip_prefix("host: "));
            let host = host.unwrap_or_default();
            let loc = |path: &str| format!("<url><loc>http://{host}{path}</loc></url>");
            let edition = now.load(Ordering::Relaxed);
            let busy = format!("503 Busy\r\nRetry-After: {BUSY_S}");
            let ok = "200 OK\r\nContent-Type: text/html".to_owned();
            let (head, body) = match (request.path.as_str(), edition) {
                ("/robots.txt", _) => ("404 Not Found".to_owned(), String::new()),
                ("/", _) => (ok, "<a href=/p1>1</a><a href=/p2>2</a>".to_owned()),
                ("/list.xml" | "/way", BUSY) => (busy, String::new()),
                ("/list.xml", READY) => {
                    (ok, format!("<urlset>{}{}</urlset>", loc("/p1"), loc("/new")))
                }
                ("/way", READY) | ("/list.xml", MOVED) => {
                    ("302 Found\r\nLocation: /p2".to_owned(), String::new())
                }
                (path, _) => (ok, format!("<p>{path}")),
            };
            if request.path != "/robots.txt" {
                log.lock().expect("no panic").push(request.path.clone());
            }
            let length = body.len();
            let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close");
            out.send(format!("{head}\r\n\r\n{body}").as_bytes());
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let site = Site { dir, root: format!("http://127.0.0.1:{port}"), edition, asked };
        let report = crawl(site.dir.path(), &config(), &[site.url("/")]).expect("a crawl");
        assert_eq!(report.pages, 3, "{report:?}");
        site.asked.lock().expect("no panic").clear();
        site
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    /// A run so many seconds later; what it asked for.
    fn run(&self, config: &Config, seeds: &[String], later_s: i64) -> (Vec<String>, Report) {
        let clock = Arc::new(Later(SystemClock::new(), later_s));
        let stop = AtomicBool::new(false);
        let report = run(&dirs(self.dir.path()), config, seeds, clock, &stop, &|_| {});
        let mut asked = std::mem::take(&mut *self.asked.lock().expect("no panic"));
        asked.sort_unstable();
        (asked, report.expect("it runs"))
    }

    fn standing(&self) -> CrawlStatus {
        let frontier: &Path = &self.dir.path().join("frontier");
        CrawlStatus::read(frontier).expect("the files of a crawl")
    }
}

fn config() -> Config {
    Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, retry_after_s_max: 1, ..Config::default() }
}

fn list() -> Config {
    Config { recrawl: Recrawl::All, alone: true, follow: false, ..config() }
}

#[test]
fn a_list_waits_for_its_sitemap_or_redirect() {
    for (is_sitemap, wanted) in
        [(true, &["/list.xml", "/new", "/p1"][..]), (false, &["/p2", "/way"][..])]
    {
        let seed = |site: &Site| {
            if is_sitemap { format!("sitemap:{}", site.url("/list.xml")) } else { site.url("/way") }
        };
        for is_same in [false, true] {
            let site = Site::crawl();
            site.edition.store(BUSY, Ordering::Relaxed);
            let (asked, report) = site.run(&list(), &[seed(&site)], 0);
            assert_eq!(asked.len(), 1, "{report:?}");
            assert!(site.standing().recrawl_rest, "{report:?}");
            assert_eq!(site.run(&config(), &[], 1).0, [""; 0], "it is to be left alone");
            assert!(site.standing().recrawl_rest, "and goes on waiting");
            site.edition.store(READY, Ordering::Relaxed);
            let (asked, report) = if is_same {
                site.run(&list(), &[seed(&site)], BUSY_S + 2)
            } else {
                site.run(&config(), &[], BUSY_S + 2)
            };
            assert_eq!(asked, wanted, "{report:?}");
            assert_eq!(site.standing().recrawl, None, "it is over");
            assert_eq!(site.run(&config(), &[], BUSY_S + 3).0, [""; 0]);
        }
    }
}

/// Whatever it was before: what is given as a sitemap is asked for as one.
#[test]
fn a_given_sitemap_is_always_fetched_as_a_sitemap() {
    for recrawl in [list(), Config { recrawl: Recrawl::All, follow: false, ..config() }] {
        let site = Site::crawl();
        let seed = [format!("sitemap:{}", site.url("/list.xml"))];
        site.edition.store(HTML, Ordering::Relaxed);
        assert_eq!(site.run(&list(), &seed, 0).0, ["/list.xml"]);
        assert_eq!(site.run(&list(), &seed, 0).0, ["/list.xml"], "and again");
        site.edition.store(READY, Ordering::Relaxed);
        let (asked, report) = site.run(&recrawl, &seed, 0);
        let has = |path: &str| asked.iter().filter(|asked| *asked == path).count();
        assert_eq!(["/list.xml", "/new", "/p1"].map(has), [1, 1, 1], "{asked:?} {report:?}");
        // It may be one now and the other then.
        site.edition.store(HTML, Ordering::Relaxed);
        assert!(site.run(&list(), &seed, 0).0.contains(&"/list.xml".to_owned()));
        site.edition.store(READY, Ordering::Relaxed);
        assert_eq!(site.run(&list(), &seed, 0).0, ["/list.xml", "/new", "/p1"]);
        assert_eq!(site.run(&config(), &[], 0).0, [""; 0]);
    }
}

/// What it names is not given then, but where it has moved to is.
#[test]
fn a_sitemap_listed_as_a_page_is_fetched_again() {
    let site = Site::crawl();
    let (page, sitemap) = (site.url("/list.xml"), format!("sitemap:{}", site.url("/list.xml")));
    assert_eq!(site.run(&list(), &[sitemap], 0).0, ["/list.xml", "/new", "/p1"]);
    for (edition, wanted) in [
        (READY, &["/list.xml"][..]),
        (HTML, &["/list.xml"]),
        (READY, &["/list.xml"]),
        (MOVED, &["/list.xml", "/p2"]),
    ] {
        site.edition.store(edition, Ordering::Relaxed);
        let (asked, report) = site.run(&list(), std::slice::from_ref(&page), 0);
        assert_eq!(asked, wanted, "{edition}: {report:?}");
        assert_eq!(report.visited.first, [], "it was asked for: {report:?}");
        let sitemaps = u64::from(edition == READY || edition == MOVED);
        assert_eq!(report.asked_sitemaps, sitemaps, "{edition}: {report:?}");
        assert_eq!(report.put_off, 0, "{edition}: {report:?}");
    }
}

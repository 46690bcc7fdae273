//! URLs that alternate between page and sitemap: the page counts of every report, compared with the archive, and
//! the purpose of each request.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use archive::{Archive, Kind, Record, parse_http};
use crawl::{Config, Recrawl, Report, SystemClock, host_limit, run};
use tempfile::TempDir;

use crate::hostile::{Request, serve};
use crate::support::{Later, dirs};

/// The answer of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    /// A page, which is unchanged if its tag is in the request.
    Html,
    /// A sitemap of `/listed`.
    Xml,
    /// The same list as plain text.
    Text,
    /// An index with `/part` in it.
    Index,
    Gone,
    /// A robots.txt that names `/list` and `/index`, and one that names nothing.
    Names,
    Nothing,
}

type Faces = Arc<Mutex<BTreeMap<&'static str, Face>>>;

/// A site, and an archive of it.
struct Site {
    dir: TempDir,
    root: String,
    faces: Faces,
    /// The run is stopped when this path is requested.
    last: Arc<Mutex<Option<&'static str>>>,
    stop: Arc<AtomicBool>,
    /// The offset of the next run's clock.
    later_s: AtomicI64,
}

impl Site {
    fn new(faces: &[(&'static str, Face)]) -> Site {
        let faces: Faces = Arc::new(Mutex::new(faces.iter().copied().collect()));
        let (last, stop) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let (now, end, signal) = (Arc::clone(&faces), Arc::clone(&last), Arc::clone(&stop));
        let port = serve(move |request, out| {
            let face = now.lock().expect("no panic").get(request.path.as_str()).copied();
            if end.lock().expect("no panic").is_some_and(|path| path == request.path) {
                signal.store(true, Ordering::Relaxed);
            }
            let (head, body) = answer(request, face);
            let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n");
            let length = if head.contains(" 304 ") {
                String::new()
            } else {
                format!("Content-Length: {}\r\n", body.len())
            };
            out.say(&format!("{head}{length}\r\n{body}"));
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = format!("http://127.0.0.1:{port}");
        Site { dir, root, faces, last, stop, later_s: AtomicI64::new(0) }
    }

    fn set(&self, path: &'static str, face: Face) {
        self.faces.lock().expect("no panic").insert(path, face);
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    /// Runs a crawl two days after the one before, so that robots.txt is fetched again.
    fn run(&self, recrawl: Recrawl, seeds: &[String]) -> Report {
        let later_s = self.later_s.fetch_add(2 * 24 * 3600, Ordering::Relaxed);
        let clock = Arc::new(Later(SystemClock::new(), later_s));
        self.stop.store(false, Ordering::Relaxed);
        let config = Config { recrawl, ..config() };
        run(&dirs(self.dir.path()), &config, seeds, clock, &self.stop, &|_| {}).expect("it runs")
    }

    /// Runs a crawl that is stopped when `path` is requested.
    fn run_until(&self, path: &'static str, recrawl: Recrawl, seeds: &[String]) -> Report {
        *self.last.lock().expect("no panic") = Some(path);
        let report = self.run(recrawl, seeds);
        *self.last.lock().expect("no panic") = None;
        report
    }

    fn archive(&self) -> Archive {
        Archive::open(&self.dir.path().join("archive")).expect("the crawl made it")
    }

    /// Returns the purposes of the answers from a path, oldest first.
    fn purposes(&self, path: &str) -> Vec<String> {
        let mut found: Vec<(i64, u32, String)> = Vec::new();
        for record in self.archive().records().flatten() {
            let is_answer = matches!(record.kind, Kind::Response | Kind::Revisit);
            if is_answer && record.target.as_deref() == Some(&self.url(path)) {
                let purpose = record.header("Crivello-Purpose").unwrap_or_default().to_owned();
                found.push((record.date_s, record.date_us, purpose));
            }
        }
        found.sort();
        found.into_iter().map(|(.., purpose)| purpose).collect()
    }

    /// Returns the number of URLs whose last answer was a page.
    fn pages(&self) -> u64 {
        let mut last: BTreeMap<String, (i64, u32, bool)> = BTreeMap::new();
        for record in self.archive().records().flatten() {
            let Some(is_page) = is_page(&record) else { continue };
            let found = (record.date_s, record.date_us, is_page);
            let last = last.entry(record.target.unwrap_or_default()).or_insert(found);
            *last = found.max(*last);
        }
        last.values().filter(|(.., is_page)| *is_page).count() as u64
    }

    /// Checks the report of a run and the limit of the host against the archive.
    #[track_caller]
    fn check(&self, report: &Report, what: &str) {
        let pages = self.pages();
        assert_eq!(report.pages, pages, "{what}: {report:?}");
        let frontier = self.dir.path().join("frontier");
        if !frontier.join("recrawl").exists() {
            for (pages_per_host_max, limit) in
                [(pages, Some("pages_per_host_max")), (pages + 1, None)]
            {
                let config = Config { pages_per_host_max, ..config() };
                let found = host_limit(&self.archive(), &frontier, &config, &self.url("/"));
                assert_eq!(found.expect("it is read"), limit, "{what}: {pages_per_host_max}");
            }
        }
    }
}

fn config() -> Config {
    Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, ..Config::default() }
}

fn answer(request: &Request, face: Option<Face>) -> (String, String) {
    let host = request.head.lines().find_map(|line| line.strip_prefix("host: "));
    let root = format!("http://{}", host.unwrap_or_default());
    let ok = |kind: &str| format!("200 OK\r\nContent-Type: {kind}");
    match face {
        Some(Face::Html) if request.head.contains("if-none-match: \"h\"") => {
            ("304 Not Modified".to_owned(), String::new())
        }
        Some(Face::Html) => (ok("text/html\r\nETag: \"h\""), "<p>no list".to_owned()),
        Some(Face::Xml) => {
            let list = format!("<urlset><url><loc>{root}/listed</loc></url></urlset>");
            (ok("text/xml\r\nETag: \"x\""), list)
        }
        Some(Face::Text) if request.head.contains("if-none-match: \"t\"") => {
            ("304 Not Modified".to_owned(), String::new())
        }
        Some(Face::Text) => (ok("text/plain\r\nETag: \"t\""), format!("{root}/listed\n")),
        Some(Face::Index) => {
            let part = format!("<sitemap><loc>{root}/part</loc></sitemap>");
            (ok("text/xml"), format!("<sitemapindex>{part}</sitemapindex>"))
        }
        Some(Face::Names) => {
            (ok("text/plain"), format!("Sitemap: {root}/list\nSitemap: {root}/index\n"))
        }
        Some(Face::Nothing) => (ok("text/plain"), "User-agent: *\nDisallow:\n".to_owned()),
        Some(Face::Gone) => ("404 Not Found".to_owned(), String::new()),
        None => match request.path.as_str() {
            "/" => (ok("text/html"), "<a href=/linked>l</a>".to_owned()),
            "/robots.txt" => ("404 Not Found".to_owned(), String::new()),
            path => (ok("text/html"), format!("<p>{path}")),
        },
    }
}

/// Returns whether a record is of a page; `None` if it does not say.
fn is_page(record: &Record) -> Option<bool> {
    let purpose = record.header("Crivello-Purpose")?;
    let is_answer = matches!(record.kind, Kind::Response | Kind::Revisit);
    let http = parse_http(&record.block).ok().filter(|_| is_answer && purpose != "robots")?;
    Some(purpose == "page" && matches!(http.status, 200 | 304))
}

/// Checks that the page count equals that of the archive, whatever `path` was before and however a run ends.
#[track_caller]
fn check_way(robots: Face, path: &'static str, first: Face, is_given: bool) {
    use Face::{Gone, Html, Index, Text, Xml};
    let faces = [("/robots.txt", robots), ("/index", Index), ("/list", Xml), (path, first)];
    let site = Site::new(&faces);
    let report = site.run(Recrawl::Never, &[site.url("/")]);
    site.check(&report, "at first");
    let sitemap = [format!("sitemap:{}", site.url(path))];
    let given = if is_given { &sitemap[..] } else { &[] };
    for (step, face) in [first, Xml, Html, Text, Gone, Html, Xml].into_iter().enumerate() {
        site.set(path, face);
        let what = |run: &str| format!("{path} {face:?} {run}");
        site.check(&site.run_until(path, Recrawl::All, given), &what("cut short"));
        site.check(&site.run(Recrawl::Never, &[]), &what("gone on with"));
        // With the log of visits, and with the archive alone.
        if step % 2 == 0 {
            fs::remove_dir_all(site.dir.path().join("frontier/visits")).expect("there are logs");
        }
        let idle = site.run(Recrawl::Never, &[]);
        site.check(&idle, &what("replayed"));
        assert_eq!((idle.requests, idle.waiting), (0, 0), "{idle:?}");
        site.check(&site.run(Recrawl::All, &[]), &what("once more"));
        let purpose = if matches!(face, Xml | Text) { "sitemap" } else { "page" };
        let last = site.purposes(path).pop();
        assert!(face == Gone || last.as_deref() == Some(purpose), "{path} {face:?}: {last:?}");
    }
}

#[test]
fn a_robots_txt_sitemap_is_counted_by_its_content() {
    check_way(Face::Names, "/list", Face::Html, false);
}

#[test]
fn an_index_sitemap_is_counted_by_its_content() {
    check_way(Face::Names, "/part", Face::Html, false);
}

#[test]
fn a_given_sitemap_is_counted_by_its_content() {
    check_way(Face::Nothing, "/list", Face::Html, true);
}

/// The same bytes are a page first, and then a sitemap.
#[test]
fn a_previously_linked_sitemap_is_counted_by_its_content() {
    check_way(Face::Nothing, "/linked", Face::Text, true);
}

/// By robots.txt, and by an index that robots.txt names.
#[test]
fn a_named_sitemap_is_always_fetched_as_a_sitemap() {
    use Face::{Html, Index, Names, Nothing, Text, Xml};
    for path in ["/list", "/part"] {
        let namer = if path == "/list" { "/robots.txt" } else { "/index" };
        let (names, silent) = if path == "/list" { (Names, Nothing) } else { (Index, Xml) };
        let faces = [("/robots.txt", Names), ("/index", Index), (path, Html)];
        let site = Site::new(&faces);
        site.run(Recrawl::Never, &[site.url("/")]);
        assert_eq!(site.purposes(path), ["page"]);
        // A page that is unchanged and not a sitemap need not be sent again.
        let again = site.run(Recrawl::All, &[]);
        assert!(again.unchanged > 0 && again.statuses.contains_key(&304), "{path}: {again:?}");
        assert_eq!(site.purposes(path), ["page"; 2]);
        site.set(path, Text);
        let report = site.run(Recrawl::All, &[]);
        assert_eq!(site.purposes(path), ["page", "page", "sitemap"], "{path}");
        assert!(report.pages_new == 1 || path == "/part", "what it lists: {report:?}");
        site.set(path, Html);
        site.run(Recrawl::All, &[]);
        // The sitemap is no longer named; the run that still requests it as one finds this out.
        site.set(namer, silent);
        site.run(Recrawl::All, &[]);
        site.set(path, Text);
        site.run(Recrawl::All, &[]);
        let purposes = site.purposes(path);
        assert_eq!(purposes[3..], ["page"; 3], "{path}");
        site.set(namer, names);
        site.run(Recrawl::All, &[]);
        site.run(Recrawl::All, &[]);
        assert_eq!(site.purposes(path)[6..], ["page", "sitemap"], "{path}");
        let idle = site.run(Recrawl::Never, &[]);
        site.check(&idle, path);
    }
}

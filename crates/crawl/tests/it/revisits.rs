//! Pages with an unchanged body and a changed head: their meaning, and their next request.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use archive::{Archive, Kind, Record};
use crawl::{Config, Recrawl, Report, SystemClock, run};
use flate2::{Compression, GzBuilder};
use tempfile::TempDir;

use crate::hostile::{Request, serve};
use crate::support::{crawl, dirs};

/// The answer for a page: status and headers, and the body.
type Answer = (String, Vec<u8>);

/// The heads of all requests, by path.
type Asked = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// A site in editions, and an archive of it.
struct Site {
    dir: TempDir,
    config: Config,
    root: String,
    edition: Arc<AtomicU64>,
    /// In this edition.
    asked: Asked,
}

impl Site {
    /// Crawls the first edition; the first page links to all others.
    fn crawl(
        paths: &[&str],
        answer: impl Fn(&Request, u64) -> Answer + Send + Sync + 'static,
    ) -> Site {
        let (edition, asked) = (Arc::new(AtomicU64::new(0)), Asked::default());
        let links: Vec<String> = paths.iter().map(|path| format!("<a href={path}>x</a>")).collect();
        let (now, log) = (Arc::clone(&edition), Arc::clone(&asked));
        let port = serve(move |request, out| {
            let (head, body) = match request.path.as_str() {
                "/robots.txt" => ("404 Not Found".to_owned(), Vec::new()),
                "/" => {
                    ("200 OK\r\nContent-Type: text/html".to_owned(), links.concat().into_bytes())
                }
                _ => answer(request, now.load(Ordering::Relaxed)),
            };
            let path = request.path.clone();
            log.lock().expect("no panic").entry(path).or_default().push(request.head.clone());
            let is_bodiless = head.starts_with("304") || head.starts_with("204");
            let length = if is_bodiless {
                String::new()
            } else {
                format!("Content-Length: {}\r\n", body.len())
            };
            let mut bytes: Vec<u8> = b"HTTP/1.1 ".to_vec();
            // Every character of a head is one byte.
            bytes.extend(head.chars().map(|letter| u8::try_from(letter).expect("Latin-1")));
            bytes.extend(format!("\r\n{length}Connection: close\r\n\r\n").bytes());
            bytes.extend_from_slice(if is_bodiless { &[] } else { &body });
            out.send(&bytes);
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config =
            Config { delay_ms: 0, ip_delay_ms: 0, retry_ms: 1, retries: 1, ..Config::default() };
        let root = format!("http://127.0.0.1:{port}");
        let site = Site { dir, config, root, edition, asked };
        let first =
            crawl(site.dir.path(), &site.config, &[format!("{}/", site.root)]).expect("a crawl");
        assert_eq!(first.pages, 1 + paths.len() as u64, "{first:?}");
        site
    }

    /// Recrawls an edition.
    fn again(&self, edition: u64) -> Report {
        self.edition.store(edition, Ordering::Relaxed);
        self.asked.lock().expect("no panic").clear();
        let config = Config { recrawl: Recrawl::All, ..self.config.clone() };
        crawl(self.dir.path(), &config, &[]).expect("a recrawl")
    }

    /// Returns the conditions of the requests for a page in this edition.
    fn conditions(&self, path: &str) -> Vec<String> {
        let asked = self.asked.lock().expect("no panic");
        let condition = |head: &String| {
            let lines = head.lines().filter(|line| line.to_ascii_lowercase().starts_with("if-"));
            lines.map(str::to_owned).collect::<Vec<_>>().join("; ")
        };
        asked.get(path).into_iter().flatten().map(condition).collect()
    }

    /// Returns the answers for a page, oldest first.
    fn records(&self, path: &str) -> Vec<Record> {
        let target = format!("{}{path}", self.root);
        let archive = Archive::open(&self.dir.path().join("archive")).expect("the crawl made it");
        let records = archive.records().map(|record| record.expect("the crawl wrote it"));
        let is_answer = |record: &Record| {
            record.target.as_deref() == Some(&target)
                && matches!(record.kind, Kind::Response | Kind::Revisit)
        };
        records.filter(is_answer).collect()
    }

    /// Returns the kinds of the answers for a page, and their profiles.
    fn kinds(&self, path: &str) -> Vec<&'static str> {
        let kind = |record: &Record| match (&record.kind, record.header("WARC-Profile")) {
            (Kind::Response, None) => "response",
            (Kind::Revisit, Some(profile)) if profile.ends_with("server-not-modified") => "304",
            (Kind::Revisit, Some(profile)) if profile.ends_with("identical-payload-digest") => {
                "same"
            }
            (Kind::Revisit, Some("urn:crivello:revisit:identical-decoded-payload")) => "decoded",
            other => panic!("{path}: {other:?}"),
        };
        self.records(path).iter().map(kind).collect()
    }
}

fn html(fields: &str, body: &str) -> Answer {
    (format!("200 OK\r\nContent-Type: text/html{fields}"), body.as_bytes().to_vec())
}

fn typed(content_type: &str) -> Answer {
    (format!("200 OK\r\nContent-Type: {content_type}"), b"<p>a page".to_vec())
}

/// Returns whether a request has a condition.
fn is_conditional(request: &Request) -> bool {
    request.head.to_ascii_lowercase().contains("\r\nif-")
}

#[test]
fn a_changed_head_makes_a_page_changed() {
    const TAG: &str = "\r\nX-Robots-Tag: noindex";
    const PATHS: [&str; 7] =
        ["/added", "/removed", "/type", "/charset", "/spelling", "/other-tag", "/other-robot"];
    let site = Site::crawl(&PATHS, |request, edition| {
        let is_new = edition > 0;
        let tagged = |is_tagged, tag| html(if is_tagged { tag } else { "" }, "<p>a page");
        match request.path.as_str() {
            "/added" => tagged(is_new, TAG),
            "/removed" => tagged(!is_new, TAG),
            "/type" => typed(if is_new { "text/plain" } else { "text/html" }),
            "/charset" => typed(if is_new { "text/html; charset=latin1" } else { "text/html" }),
            "/spelling" if is_new => typed("Text/HTML;charset=\"UTF8\""),
            "/spelling" => typed("text/html; charset=utf-8"),
            "/other-tag" => tagged(is_new, "\r\nX-Robots-Tag: noarchive"),
            _ => tagged(is_new, "\r\nX-Robots-Tag: otherbot: noindex"),
        }
    });
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged, report.asked), (4, 4, 8), "{report:?}");
    for (path, kind) in PATHS.iter().zip(["response"; 4].into_iter().chain(["same"; 3])) {
        assert_eq!(site.kinds(path), ["response", kind], "{path}");
    }
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged), (0, 8), "{report:?}");
}

#[test]
fn a_304_with_changed_headers_causes_a_full_fetch() {
    const VALID: &str = "\r\nETag: \"1\"";
    const PATHS: [&str; 5] = ["/tag", "/freed", "/type", "/lax", "/silent"];
    let site = Site::crawl(&PATHS, |request, edition| {
        let is_new = edition > 0;
        let robots = match request.path.as_str() {
            "/tag" if is_new => "\r\nX-Robots-Tag: noindex",
            "/freed" if !is_new => "\r\nX-Robots-Tag: noindex",
            _ => "",
        };
        let content_type = match request.path.as_str() {
            "/type" if is_new => "text/plain",
            // As from a server that has one type for all answers without a body.
            "/lax" if is_conditional(request) => "text/html",
            _ => "text/html; charset=utf-8",
        };
        let status = if is_conditional(request) { "304 Not Modified" } else { "200 OK" };
        let content_type = match request.path.as_str() {
            "/silent" if is_conditional(request) => String::new(),
            _ => format!("\r\nContent-Type: {content_type}"),
        };
        (format!("{status}{content_type}{VALID}{robots}"), b"<p>a page".to_vec())
    });
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged, report.failed), (3, 3, 0), "{report:?}");
    let asked = |path: &str| site.conditions(path);
    let by_tag = "if-none-match: \"1\"";
    // The 304 shows that the page has changed, but not how.
    assert_eq!(
        (asked("/tag"), asked("/type")),
        (vec![by_tag.to_owned(), String::new()], vec![by_tag.to_owned(), String::new()])
    );
    assert_eq!(asked("/freed"), [""], "a 304 would not have freed it");
    assert_eq!(
        (asked("/lax"), asked("/silent")),
        (vec![by_tag.to_owned()], vec![by_tag.to_owned()])
    );
    assert_eq!((report.statuses.get(&304), report.requests), (Some(&4), 8), "{report:?}");
    for path in ["/tag", "/type"] {
        assert_eq!(site.kinds(path), ["response", "304", "response"], "{path}");
    }
    assert_eq!(site.kinds("/freed"), ["response", "response"]);
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged), (0, 6), "{report:?}");
    assert_eq!(
        (asked("/tag"), asked("/freed"), asked("/type")),
        (vec![String::new()], vec![by_tag.to_owned()], vec![by_tag.to_owned()])
    );
}

/// The journal has the 304 before the page is fetched again, so that a kill in between does not lose it. A resumed
/// run fetches the page.
#[test]
fn a_304_is_archived_before_the_full_fetch() {
    const TAGS: &str = "\r\nETag: \"1\"\r\nX-Robots-Tag: noindex";
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (folder, log) = (Arc::new(Mutex::new(None)), Arc::clone(&seen));
    let archive = Arc::clone(&folder);
    let site = Site::crawl(&["/page", "/1", "/2", "/3"], move |request, edition| {
        if request.path != "/page" {
            return html("", "<p>one that tells that the host is well");
        }
        if edition == 0 {
            return html("\r\nETag: \"1\"", "<p>a page");
        }
        if is_conditional(request) {
            return (format!("304 Not Modified{TAGS}"), Vec::new());
        }
        let path: Option<std::path::PathBuf> = archive.lock().expect("no panic").clone();
        let archive = Archive::open(&path.expect("it was set")).expect("the crawl made it");
        let is_told = |record: &Record| record.header("Crivello-Inconclusive").is_some();
        log.lock().expect("no panic").push(archive.records().flatten().filter(is_told).count());
        let status = if edition == 1 { "503 Busy" } else { "200 OK\r\nContent-Type: text/html" };
        (format!("{status}{TAGS}"), b"<p>a page".to_vec())
    });
    *folder.lock().expect("no panic") = Some(site.dir.path().join("archive"));
    let report = site.again(1);
    assert_eq!((report.unchanged, report.failed, report.pages), (4, 1, 5), "{report:?}");
    assert_eq!(std::mem::take(&mut *seen.lock().expect("no panic")), [1, 1]);
    assert_eq!(site.kinds("/page"), ["response", "304", "response", "response"]);
    // The archive alone shows that it is a failure: the next recrawl sends the same request as this one.
    std::fs::remove_dir_all(site.dir.path().join("frontier/visits")).expect("there are logs");
    let idle = crawl(site.dir.path(), &site.config, &[]).expect("a run");
    assert_eq!((idle.requests, idle.pages), (0, 5), "{idle:?}");
    let report = site.again(2);
    assert_eq!((report.unchanged, report.changed, report.failed), (4, 1, 0), "{report:?}");
    assert_eq!(site.conditions("/page"), ["if-none-match: \"1\"", ""]);
    assert_eq!(*seen.lock().expect("no panic"), [2]);
}

/// The journal has the answer to the conditional request, so a resumed run makes only the remaining request.
#[test]
fn a_recrawl_stopped_after_a_304_resumes_unconditionally() {
    const TAGS: &str = "\r\nETag: \"1\"\r\nX-Robots-Tag: noindex";
    let stop = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&stop);
    let site = Site::crawl(&["/page"], move |request, edition| {
        if edition == 0 {
            return html("\r\nETag: \"1\"", "<p>a page");
        }
        if is_conditional(request) {
            end.store(true, Ordering::Relaxed);
            return (format!("304 Not Modified{TAGS}"), Vec::new());
        }
        html(TAGS, "<p>a page")
    });
    site.edition.store(1, Ordering::Relaxed);
    site.asked.lock().expect("no panic").clear();
    let all = Config { recrawl: Recrawl::All, ..site.config.clone() };
    let clock = Arc::new(SystemClock::new());
    let cut = run(&dirs(site.dir.path()), &all, &[], clock, &stop, &|_| {}).expect("it ends");
    assert!(cut.interrupted, "{cut:?}");
    let asked = site.conditions("/page");
    assert_eq!(asked, ["if-none-match: \"1\""], "{cut:?}");
    site.asked.lock().expect("no panic").clear();
    let report = crawl(site.dir.path(), &site.config, &[]).expect("it goes on");
    assert_eq!(site.conditions("/page"), [""], "{report:?}");
    assert_eq!((report.changed, report.failed), (1, 0), "{report:?}");
}

#[test]
fn links_obey_the_current_response_head() {
    let site = Site::crawl(&["/page"], |request, edition| match (request.path.as_str(), edition) {
        ("/page", 0) => html("\r\nX-Robots-Tag: nofollow\r\nETag: \"1\"", "<a href=/hidden>x</a>"),
        ("/page", _) if is_conditional(request) => ("304 Not Modified".to_owned(), Vec::new()),
        ("/page", _) => html("\r\nETag: \"1\"", "<a href=/hidden>x</a>"),
        _ => html("", "<p>hidden"),
    });
    let report = site.again(1);
    assert_eq!((report.changed, report.pages_new, report.pages), (1, 1, 3), "{report:?}");
}

/// A server that has one validator in each edition and knows no other.
fn by_edition(
    name: &'static str,
    value: &'static [&'static str],
) -> impl Fn(&Request, u64) -> Answer {
    move |request, edition| {
        let now = value[usize::try_from(edition).expect("few").min(value.len() - 1)];
        let field = if now.is_empty() { String::new() } else { format!("\r\n{name}: {now}") };
        let is_same = !now.is_empty() && request.head.contains(&format!(": {now}\r\n"));
        if is_same && is_conditional(request) {
            return (format!("304 Not Modified{field}"), Vec::new());
        }
        html(&field, "<p>a page")
    }
}

#[test]
fn the_newest_validators_are_sent() {
    const DATES: [&str; 2] = ["Sun, 01 Nov 2026 00:00:00 GMT", "Mon, 02 Nov 2026 00:00:00 GMT"];
    const PATHS: [&str; 5] = ["/tag", "/date", "/gained", "/lost", "/rotating"];
    let site = Site::crawl(&PATHS, |request, edition| match request.path.as_str() {
        "/tag" => by_edition("ETag", &["\"one\"", "\"two\""])(request, edition),
        "/date" => by_edition("Last-Modified", &DATES)(request, edition),
        "/gained" => by_edition("ETag", &["", "\"g\""])(request, edition),
        "/lost" => by_edition("ETag", &["\"l\"", ""])(request, edition),
        // The tag of each edition is that of the next answer; the last is a 304 without a tag.
        _ => {
            let known = format!("if-none-match: \"{}\"", edition.min(3).wrapping_sub(1));
            let is_known = request.head.to_ascii_lowercase().contains(&known);
            match edition {
                4.. if is_known => ("304 Not Modified".to_owned(), Vec::new()),
                _ => {
                    let head = format!("\r\nETag: \"{}\"", edition.min(2));
                    let answer = html(&head, "<p>a page");
                    if is_known { (format!("304 Not Modified{head}"), Vec::new()) } else { answer }
                }
            }
        }
    });
    let unchanged = |edition| {
        let report = site.again(edition);
        assert_eq!((report.unchanged, report.asked), (6, 6), "{report:?}");
        PATHS.map(|path| site.conditions(path).concat())
    };
    let one = [
        "if-none-match: \"one\"".to_owned(),
        format!("if-modified-since: {}", DATES[0]),
        String::new(),
        "if-none-match: \"l\"".to_owned(),
        "if-none-match: \"0\"".to_owned(),
    ];
    assert_eq!(unchanged(1), one);
    let two = [
        "if-none-match: \"two\"".to_owned(),
        format!("if-modified-since: {}", DATES[1]),
        "if-none-match: \"g\"".to_owned(),
        String::new(),
        "if-none-match: \"1\"".to_owned(),
    ];
    assert_eq!(unchanged(2), two);
    for edition in 3..6 {
        let mut wanted = two.clone();
        wanted[4] = "if-none-match: \"2\"".to_owned();
        assert_eq!(unchanged(edition), wanted, "{edition}");
    }
    assert_eq!(site.kinds("/tag"), ["response", "same", "304", "304", "304", "304"]);
    assert_eq!(site.kinds("/rotating"), ["response", "304", "304", "304", "304", "304"]);
    // The archive alone gives the same result.
    std::fs::remove_dir_all(site.dir.path().join("frontier/visits")).expect("there are logs");
    unchanged(6);
    assert_eq!(site.conditions("/tag"), ["if-none-match: \"two\""]);
}

#[test]
fn an_etag_is_returned_unchanged() {
    let site = Site::crawl(&["/latin", "/utf8"], |request, _| {
        // The test sees a byte that is not UTF-8 as this character.
        let latin = request.head.contains("if-none-match: \"\u{fffd}\"\r\n");
        let utf8 = request.head.contains("if-none-match: \"é\"\r\n");
        match request.path.as_str() {
            "/latin" if latin => ("304 Not Modified".to_owned(), Vec::new()),
            "/latin" => html("\r\nETag: \"\u{e9}\"", "<p>a page"),
            _ if utf8 => ("304 Not Modified".to_owned(), Vec::new()),
            _ => html("\r\nETag: \"\u{c3}\u{a9}\"", "<p>another"),
        }
    });
    let report = site.again(1);
    assert_eq!((report.unchanged, report.statuses.get(&304)), (3, Some(&2)), "{report:?}");
    let archive = Archive::open(&site.dir.path().join("archive")).expect("the crawl made it");
    let requests = archive.records().map(|record| record.expect("the crawl wrote it"));
    let mut requests = requests.filter(|record| record.kind == Kind::Request);
    assert!(requests.any(|request| request.block.windows(3).any(|bytes| bytes == b"\"\xe9\"")));
}

/// Compresses a text with gzip, with a timestamp.
fn gzip(text: &str, time_s: u32) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(time_s).write(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn decoded_bodies_are_compared() {
    const PATHS: [&str; 6] =
        ["/stamped", "/plain-first", "/gzip-first", "/endless", "/text", "/broken"];
    let text = "<p>the same text, again and again. ".repeat(9);
    let site = Site::crawl(&PATHS, move |request, edition| {
        let time_s = u32::try_from(edition).expect("small");
        let coded = |body: Vec<u8>| {
            ("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip".to_owned(), body)
        };
        let is_gzip = match request.path.as_str() {
            "/plain-first" => edition % 2 == 1,
            "/gzip-first" => edition % 2 == 0,
            _ => true,
        };
        match request.path.as_str() {
            "/text" => coded(gzip(&format!("{text} {}", edition.min(1)), time_s)),
            // Without the checksum and the length at the end, as some servers send it.
            "/endless" => {
                let mut body = gzip(&text, time_s);
                body.truncate(body.len() - 8);
                coded(body)
            }
            "/broken" => {
                let mut body = gzip(&text, time_s);
                body.truncate(body.len() - 9 * usize::from(edition == 1));
                coded(body)
            }
            _ if is_gzip => coded(gzip(&text, time_s)),
            _ => html("", &text),
        }
    });
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged, report.failed), (2, 5, 0), "{report:?}");
    let kinds = ["decoded", "decoded", "decoded", "decoded", "response", "response"];
    for (path, kind) in PATHS.iter().zip(kinds) {
        assert_eq!(site.kinds(path), ["response", kind], "{path}");
    }
    let report = site.again(2);
    assert_eq!((report.changed, report.unchanged), (1, 6), "{report:?}");
    assert_eq!(site.kinds("/plain-first"), ["response", "decoded", "same"]);
    assert_eq!(site.kinds("/text"), ["response", "response", "decoded"]);
    assert_eq!(site.kinds("/broken"), ["response", "response", "response"]);
}

/// The same bytes are another page if the head now says that they are compressed.
#[test]
fn a_newly_declared_coding_changes_the_page() {
    let site = Site::crawl(&["/page"], |_, edition| {
        let coding = if edition == 0 { "" } else { "\r\nContent-Encoding: gzip" };
        (format!("200 OK\r\nContent-Type: text/html{coding}"), gzip("<p>a page", 7))
    });
    let report = site.again(1);
    assert_eq!((report.changed, report.unchanged), (1, 1), "{report:?}");
    assert_eq!(site.kinds("/page"), ["response", "response"]);
}

#[test]
fn needs_warcio_revisits_of_all_kinds_pass_its_check() {
    let tool = env::var_os("WARCIO").unwrap_or_else(|| "warcio".into());
    let site = Site::crawl(&["/stamped", "/tag", "/same"], |request, edition| {
        let time_s = u32::try_from(edition).expect("small");
        match request.path.as_str() {
            "/stamped" => {
                let head = "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip";
                (head.to_owned(), gzip("<p>a page", time_s))
            }
            "/tag" => by_edition("ETag", &["\"\u{e9}\""])(request, edition),
            _ => html("", "<p>a page"),
        }
    });
    site.again(1);
    site.again(2);
    let check = |path: &Path| {
        let output = Command::new(&tool).args(["check", "-v"]).arg(path).output();
        let output =
            output.unwrap_or_else(|error| panic!("cannot run {}: {error}", tool.display()));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !text.contains("fail"), "{text}");
        text.lines().filter(|line| line.contains("revisit")).count()
    };
    let archive = site.dir.path().join("archive");
    let files = Archive::open(&archive).expect("the crawl made it").files().to_vec();
    assert!(files.iter().map(|file| check(&archive.join(file))).sum::<usize>() >= 8);
}

/// With several parsers, a 304 and the answer to the next request may be in two files, whose order means nothing.
/// A resumed run finds the same state in either order, and the archive lists them by date.
#[test]
fn a_304_replays_alike_in_any_file_order() {
    let site = Site::crawl(&["/page"], |request, edition| {
        if edition > 0 && is_conditional(request) {
            return ("304 Not Modified\r\nX-Robots-Tag: noindex".to_owned(), Vec::new());
        }
        html("\r\nETag: \"1\"", "<p>a page")
    });
    let report = site.again(1);
    assert_eq!((report.unchanged, report.pages), (2, 2), "{report:?}");
    assert_eq!(site.kinds("/page"), ["response", "304", "same"]);
    let (dir, frontier) = (site.dir.path().join("archive"), site.dir.path().join("frontier"));
    let archive = Archive::open(&dir).expect("an archive");
    let [old, new] = archive.files() else { panic!("a file for each run: {archive:?}") };
    let records = archive.records().map(|record| record.expect("the crawl wrote it"));
    let records: Vec<Record> = records.filter(|record| record.location.file == *new).collect();
    let bytes = std::fs::read(dir.join(new)).expect("a file");
    let members = |records: &[Record]| -> Vec<u8> {
        let member = |record: &Record| {
            let at = usize::try_from(record.location.offset).expect("a small file");
            bytes[at..at + usize::try_from(record.location.length).expect("it")].to_vec()
        };
        records.iter().flat_map(member).collect()
    };
    let is_told = |record: &Record| record.header("Crivello-Inconclusive").is_some();
    let at = records.iter().position(is_told).expect("it is there") + 1;
    let halves = [members(&records[..at]), members(&records[at..])];
    for [first, second] in [[0, 1], [1, 0]] {
        for file in std::fs::read_dir(&dir).expect("a folder") {
            let path = file.expect("a file").path();
            if !path.ends_with(old) {
                std::fs::remove_file(path).expect("removed");
            }
        }
        std::fs::write(dir.join(new), &halves[first]).expect("written");
        std::fs::write(dir.join("crivello-00003.warc.gz"), &halves[second]).expect("written");
        std::fs::remove_dir_all(frontier.join("visits")).expect("there are logs");
        // The recrawl is not over.
        let open = format!("crivello recrawl 6\nrecrawls 1\nall 7\nfiles 1\n{old}\nseeds 0\n");
        std::fs::write(frontier.join("recrawl"), durable::seal(&open)).expect("written");
        let report = crawl(site.dir.path(), &site.config, &[]).expect("a run");
        assert_eq!((report.requests, report.pages), (0, 2), "{report:?}");
        let archive = Archive::open(&dir).expect("an archive");
        let captures = archive.captures(&format!("{}/page", site.root)).expect("captures");
        let statuses: Vec<_> = captures.iter().map(|capture| capture.status).collect();
        assert_eq!(statuses, [Some(200), Some(304), Some(200)], "{captures:?}");
        assert!(captures.iter().any(|capture| capture.date_us > 0), "{captures:?}");
    }
}

/// The answer is about the condition alone; it is archived, and a resumed run makes the unconditional request.
#[test]
fn a_412_is_archived_before_the_unconditional_fetch() {
    let stop = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&stop);
    let site = Site::crawl(&["/page"], move |request, edition| {
        if edition == 0 || !is_conditional(request) {
            return html("\r\nETag: \"1\"", "<p>a page");
        }
        end.store(edition == 1, Ordering::Relaxed);
        ("412 Precondition Failed".to_owned(), b"no".to_vec())
    });
    site.edition.store(1, Ordering::Relaxed);
    let config = Config { recrawl: Recrawl::All, delay_ms: 300, ..site.config.clone() };
    let clock = Arc::new(SystemClock::new());
    let report = run(&dirs(site.dir.path()), &config, &[], clock, &stop, &|_| {});
    assert!(report.expect("a run").interrupted);
    let records = site.records("/page");
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records[1].block.starts_with(b"HTTP/1.1 412 "), "{records:?}");
    assert_eq!(records[1].header("Crivello-Inconclusive"), Some("yes"));
    site.asked.lock().expect("no panic").clear();
    let report = crawl(site.dir.path(), &site.config, &[]).expect("it goes on");
    assert_eq!(site.conditions("/page"), [""], "{report:?}");
    assert_eq!((report.unchanged, report.failed, report.pages), (1, 0, 2), "{report:?}");
    assert!(!site.dir.path().join("frontier/recrawl").exists());
    // The archive alone gives the same result.
    std::fs::remove_dir_all(site.dir.path().join("frontier/visits")).expect("there are logs");
    let idle = crawl(site.dir.path(), &site.config, &[]).expect("a run");
    assert_eq!((idle.requests, idle.pages), (0, 2), "{idle:?}");
    let report = site.again(2);
    assert_eq!(site.conditions("/page"), ["if-none-match: \"1\"", ""]);
    assert_eq!((report.unchanged, report.failed, report.pages), (2, 0, 2), "{report:?}");
}

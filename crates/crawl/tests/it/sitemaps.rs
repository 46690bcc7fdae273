//! Sitemaps that are pages, that redirect, and that nest: the answer decides what a named sitemap is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use archive::Archive;
use crawl::{Config, Recrawl, Report, Scope};

use crate::faults::{serve, write};
use crate::support::{archived, crawl, crawl_until};

type Web = &'static [(&'static str, &'static str, &'static str)];

/// Starts a server of `(path, type, body)`; a type that is a path is a redirect there. Returns its address.
fn serve_web(web: Web) -> String {
    let port = serve(move |path, out| {
        let found = web.iter().find(|(known, ..)| *known == path);
        let head = match found {
            Some((_, target, _)) if target.starts_with('/') => {
                format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\n")
            }
            Some((_, kind, _)) => format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n"),
            None => "HTTP/1.1 404 Not Found\r\n".to_owned(),
        };
        let body = found.map_or("", |(.., body)| body);
        write(out, &format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()));
    });
    format!("http://127.0.0.1:{port}")
}

fn config() -> Config {
    Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() }
}

/// Returns the paths that were archived as pages.
fn pages(dir: &Path) -> Vec<String> {
    let path = |url: &String| url.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
    archived(dir).keys().filter_map(path).collect()
}

/// Returns how often each path was requested.
fn asked(dir: &Path) -> BTreeMap<String, usize> {
    let archive = Archive::open(&dir.join("archive")).expect("the crawl made it");
    let mut asked = BTreeMap::new();
    for record in archive.records() {
        let record = record.expect("the crawl wrote it");
        if record.kind == archive::Kind::Request {
            let target = record.target.expect("a request has a target");
            let path = target.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
            *asked.entry(format!("/{path}")).or_default() += 1;
        }
    }
    asked
}

const PAGES_AS_SITEMAPS: Web = &[
    (
        "/robots.txt",
        "text/plain",
        "Sitemap: /article\nSitemap: /notes.txt\nSitemap: /moved\nSitemap: /sitemap.txt\n\
         Sitemap: /picture.png\nSitemap: /twice?sid=1\n",
    ),
    ("/", "text/html", "<a href=/article>a</a><a href=/notes.txt>n</a><a href=/target>t</a>"),
    ("/article", "text/html", "<title>An article</title><a href=/linked>on</a>"),
    ("/linked", "text/html", "<p>on"),
    ("/notes.txt", "text/plain", "Notes, no list"),
    ("/moved", "/target", ""),
    ("/target", "text/html", "<p>there"),
    ("/sitemap.txt", "text/plain", "/no\n"),
    ("/picture.png", "image/png", "PNG"),
    ("/twice?sid=1", "text/html", "<p>once"),
];

#[test]
fn a_page_named_as_a_sitemap_is_a_page() {
    let (web, dir) = (serve_web(PAGES_AS_SITEMAPS), tempfile::tempdir().expect("a folder"));
    let seed = [format!("{web}/")];
    // The pages are the same however often the crawl is interrupted, and in a recrawl.
    let wanted = ["/", "/article", "/linked", "/notes.txt", "/sitemap.txt", "/target"];
    let mut report = Report::default();
    for pages in 1..10 {
        report = crawl_until(dir.path(), &config(), &seed, pages).expect("it runs");
    }
    assert_eq!(pages(dir.path()), wanted);
    assert_eq!((report.pages, report.waiting), (6, 0));
    let asked = asked(dir.path());
    assert!(
        asked.iter().all(|(path, &times)| times == 1 || path == "/robots.txt"),
        "each once: {asked:?}"
    );
    let again = Config { recrawl: Recrawl::All, ..config() };
    let report = crawl(dir.path(), &again, &[]).expect("it runs");
    assert_eq!((report.pages, report.unchanged, report.pages_new), (6, 6, 0), "{report:?}");
}

const INDEX_BEHIND_REDIRECTS: Web = &[
    ("/robots.txt", "text/plain", "Sitemap: /1\n"),
    ("/", "text/html", "<p>a page"),
    ("/1", "/2", ""),
    ("/2", "/index.xml", ""),
    (
        "/index.xml",
        "text/xml",
        "<sitemapindex><sitemap><loc>/list.xml</loc></sitemap>\
         <sitemap><loc>/nested.xml</loc></sitemap></sitemapindex>",
    ),
    ("/list.xml", "text/xml", "<urlset><url><loc>/page</loc></url></urlset>"),
    (
        "/nested.xml",
        "text/xml",
        "<sitemapindex><sitemap><loc>/deep.xml</loc></sitemap></sitemapindex>",
    ),
    (
        "/deep.xml",
        "text/xml",
        "<sitemapindex><sitemap><loc>/too-deep.xml</loc></sitemap></sitemapindex>",
    ),
    ("/too-deep.xml", "text/xml", "<urlset><url><loc>/never</loc></url></urlset>"),
    ("/page", "text/html", "<p>found"),
];

/// Redirects are counted separately, and indexes that nest too deep are counted as dropped.
#[test]
fn a_redirected_sitemap_index_is_followed() {
    let (web, dir) = (serve_web(INDEX_BEHIND_REDIRECTS), tempfile::tempdir().expect("a folder"));
    let report = crawl(dir.path(), &config(), &[format!("{web}/")]).expect("it runs");
    assert_eq!(pages(dir.path()), ["/", "/page"]);
    let asked = asked(dir.path());
    assert!(asked.contains_key("/deep.xml") && !asked.contains_key("/too-deep.xml"), "{asked:?}");
    assert_eq!(report.dropped.get("sitemap-depth"), Some(&1), "{:?}", report.dropped);
}

/// A feed, a file in UTF-16, one longer than a page may be, and one longer than a sitemap may be.
#[test]
fn sitemaps_of_every_format_are_read() {
    let list = |number: usize, blanks: usize| {
        let loc = format!("<url><loc>/{number}</loc></url>");
        format!("<urlset>{loc}{}<url><loc>/late{number}</loc></url></urlset>", " ".repeat(blanks))
    };
    let wide: Vec<u8> =
        [0xFEFF].into_iter().chain(list(1, 0).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let feed = "<feed><entry><link href='/2'/></entry></feed>";
    let robots =
        "Sitemap: /wide\nSitemap: /feed\nSitemap: /long\nSitemap: /endless\nSitemap: /large\n";
    let (long, endless) = (list(3, 2_000), list(4, 4_000));
    let page = |text: &str| text.as_bytes().to_vec();
    let large = format!("<p>{}", "x".repeat(3_000));
    let port = serve(move |path, out| {
        let body = match path {
            "/robots.txt" => page(robots),
            "/wide" => wide.clone(),
            "/feed" => page(feed),
            "/long" => page(&long),
            "/endless" => page(&endless),
            "/large" => page(&large),
            _ => page("<p>a page"),
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = out.write_all(&[head.as_bytes(), &body].concat());
    });
    let dir = tempfile::tempdir().expect("a folder");
    let config = Config { body_bytes_max: 1_024, sitemap_bytes_max: 4_000, ..config() };
    let report =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!(pages(dir.path()), ["/", "/1", "/2", "/3", "/4", "/late1", "/late3"]);
    assert_eq!(report.refused.get("sitemap-cut"), Some(&1), "{:?}", report.refused);
    // A body that is not a sitemap has the limit of a page.
    assert_eq!(report.failures.get("too-large"), Some(&1), "{:?}", report.failures);
    let again = Config { recrawl: Recrawl::All, ..config };
    let report = crawl(dir.path(), &again, &[]).expect("it runs");
    assert_eq!((report.pages, report.unchanged), (7, 7), "{report:?}");
}

/// It is one page more in a recrawl, and in every count afterwards.
#[test]
fn a_sitemap_turned_page_is_counted_as_a_page() {
    let is_other = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&is_other);
    let port = serve(move |path, out| {
        let (kind, body) = match path {
            "/robots.txt" => ("text/plain", "Sitemap: /list\n"),
            "/" => ("text/html", "<p>home"),
            "/list" if other.load(Ordering::Relaxed) => ("text/html", "<p>no list any more"),
            "/list" => ("text/xml", "<urlset><url><loc>/listed</loc></url></urlset>"),
            _ => ("text/html", "<p>listed"),
        };
        let head =
            format!("Content-Type: {kind}\r\nConnection: close\r\nContent-Length: {}", body.len());
        write(out, &format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let first = crawl(dir.path(), &config(), &[format!("http://127.0.0.1:{port}/")]);
    assert_eq!(first.expect("it runs").pages, 2);
    is_other.store(true, Ordering::Relaxed);
    let again = Config { recrawl: Recrawl::All, ..config() };
    let report = crawl(dir.path(), &again, &[]).expect("a recrawl");
    assert_eq!((report.pages, report.pages_new, report.asked), (3, 1, 2), "{report:?}");
    let report = crawl(dir.path(), &config(), &[]).expect("nothing is left");
    assert_eq!((report.pages, report.requests), (3, 0), "{report:?}");
    let report = crawl(dir.path(), &again, &[]).expect("a recrawl");
    assert_eq!((report.pages, report.unchanged), (3, 3), "{report:?}");
}

/// Refused sitemaps are not fetched again, like refused pages: other rules admitted them.
#[test]
fn a_recrawl_skips_sitemaps_the_rules_now_refuse() {
    let (web, dir) = (serve_web(INDEX_BEHIND_REDIRECTS), tempfile::tempdir().expect("a folder"));
    let first = crawl(dir.path(), &config(), &[format!("{web}/")]).expect("it runs");
    let before = asked(dir.path());
    let scope_patterns = vec!["/(page)?$".to_owned(), "/index.xml$".to_owned()];
    let narrow =
        Config { scope: Scope::Pattern, scope_patterns, recrawl: Recrawl::All, ..config() };
    let report = crawl(dir.path(), &narrow, &[]).expect("a recrawl");
    let mut wanted = before.clone();
    for path in ["/", "/page", "/index.xml"] {
        *wanted.get_mut(path).expect("it was asked for") += 1;
    }
    assert_eq!(asked(dir.path()), wanted);
    assert_eq!((report.pages, report.unchanged), (first.pages, 2), "{report:?}");
}

const NAMED_AND_GIVEN: Web = &[
    ("/robots.txt", "text/plain", "Sitemap: /named.xml\n"),
    ("/", "text/html", "<a href=/a>a</a>"),
    (
        "/named.xml",
        "text/xml",
        "<urlset><url><loc>/s1</loc></url><url><loc>/s2</loc></url></urlset>",
    ),
    ("/given.xml", "/index.xml", ""),
    (
        "/index.xml",
        "text/xml",
        "<sitemapindex><sitemap><loc>/part.xml</loc></sitemap></sitemapindex>",
    ),
    (
        "/part.xml",
        "text/xml",
        "<urlset><url><loc>/g1</loc></url><url><loc>/g2</loc></url></urlset>",
    ),
    ("/a", "text/html", "<p>a"),
    ("/moved", "/s2", ""),
    ("/new", "text/html", "<a href=/b>b</a>"),
    ("/b", "text/html", "<p>b"),
    ("/s1", "text/html", "<p>1"),
    ("/s2", "text/html", "<p>2"),
    ("/g1", "text/html", "<p>g1"),
    ("/g2", "text/html", "<p>g2"),
];

/// Returns the paths requested since `before`, without robots.txt.
fn asked_since(dir: &Path, before: &BTreeMap<String, usize>) -> Vec<String> {
    let mut asked = asked(dir);
    asked.retain(|path, times| path != "/robots.txt" && before.get(path) != Some(times));
    asked.into_keys().collect()
}

/// URLs that wait for any reason are left to a crawl that follows links, and counted.
#[test]
fn a_list_visits_only_the_given_urls() {
    let (web, dir) = (serve_web(NAMED_AND_GIVEN), tempfile::tempdir().expect("a folder"));
    let seed = |path: &str| [format!("{web}{path}")];
    let first = Config { pages_max: 2, ..config() };
    let report = crawl(dir.path(), &first, &seed("/")).expect("it runs");
    assert_eq!((report.pages, report.held), (2, 0), "{report:?}");
    let mut before = asked(dir.path());
    assert!(before.contains_key("/named.xml"), "{before:?}");
    for sitemaps in [true, false] {
        let list = Config { follow: false, sitemaps, ..config() };
        let path = if sitemaps { "/new" } else { "/b" };
        let report = crawl(dir.path(), &list, &seed(path)).expect("a list");
        assert_eq!(asked_since(dir.path(), &before), [path]);
        assert_eq!((report.held, report.waiting), (2, 0), "{report:?}");
        before = asked(dir.path());
    }
    // Given URLs lead on by redirects, and given sitemaps to the URLs that they name; also if a run ended in
    // between.
    let list = Config { follow: false, ..config() };
    let report = crawl(dir.path(), &list, &seed("/moved")).expect("a list");
    assert_eq!(asked_since(dir.path(), &before), ["/moved", "/s2"]);
    assert_eq!(report.held, 1, "{report:?}");
    before = asked(dir.path());
    let short = Config { pages_max: report.pages + 1, ..list.clone() };
    let sitemap = [format!("sitemap:{web}/given.xml")];
    crawl(dir.path(), &short, &sitemap).expect("a list that a limit ends");
    let report = crawl(dir.path(), &list, &[]).expect("it goes on");
    let wanted = ["/g1", "/g2", "/given.xml", "/index.xml", "/part.xml"];
    assert_eq!(asked_since(dir.path(), &before), wanted);
    assert_eq!(report.held, 1, "{report:?}");
    before = asked(dir.path());
    // Nothing was lost.
    let report = crawl(dir.path(), &config(), &[]).expect("it follows");
    assert_eq!(asked_since(dir.path(), &before), ["/s1"]);
    assert_eq!((report.held, report.waiting), (0, 0), "{report:?}");
}

const WITHOUT_AN_END: Web = &[
    ("/urlset", "text/xml", "<urlset><url><loc>/1</loc></url><url><loc>/half"),
    ("/index", "text/xml", "<sitemapindex><sitemap><loc>/list</loc></sitemap><sitemap>"),
    ("/list", "text/xml", "<urlset><url><loc>/2</loc></url></urlset>"),
    ("/rss", "text/xml", "<rss><channel><item><link>/3</link></item><item><link>/half"),
    ("/atom", "text/xml", "<feed><entry><link href='/4'/></entry><entry><link href='/half"),
    ("/lines", "text/plain", "http://127.0.0.1:1/5"),
];

/// The whole addresses count, the truncated one does not.
#[test]
fn a_truncated_sitemap_is_reported() {
    let (web, dir) = (serve_web(WITHOUT_AN_END), tempfile::tempdir().expect("a folder"));
    let names = ["urlset", "index", "rss", "atom", "lines"];
    let seeds = names.map(|name| format!("sitemap:{web}/{name}"));
    let report = crawl(dir.path(), &config(), &seeds).expect("it runs");
    assert_eq!(report.refused.get("sitemap-broken"), Some(&4), "{:?}", report.refused);
    let asked: Vec<String> = asked(dir.path()).into_keys().collect();
    let wanted = ["/1", "/2", "/3", "/4", "/atom", "/index", "/lines", "/list", "/robots.txt"];
    assert_eq!(asked, [&wanted[..], &["/rss", "/urlset"]].concat());
}

const BOTH: Web = &[
    ("/list", "text/xml", "<urlset><url><loc>/1</loc></url></urlset>"),
    ("/1", "text/html", "<p>one"),
];

/// The result does not depend on which comes first, nor on whether links are followed.
#[test]
fn a_url_given_as_both_is_a_sitemap() {
    for follow in [false, true] {
        for prefixes in [["", "sitemap:"], ["sitemap:", ""]] {
            let (web, dir) = (serve_web(BOTH), tempfile::tempdir().expect("a folder"));
            let seeds = prefixes.map(|prefix| format!("{prefix}{web}/list"));
            let config = Config { follow, ..config() };
            crawl(dir.path(), &config, &seeds).expect("it runs");
            assert_eq!(pages(dir.path()), ["/1"], "{prefixes:?}, links followed: {follow}");
        }
    }
}

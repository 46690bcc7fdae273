//! Archives that have lost records: what is missing is found out, asked for again, and counted right.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use archive::Archive;
use crawl::{Config, Recrawl, host_limit};
use simweb::{Options, Server};
use tempfile::TempDir;

use crate::faults::{serve, write};
use crate::support::{archived, config, crawl};

fn start(edition: u32, port: u16) -> Server {
    let options = Options {
        hosts: 3,
        pages_per_host: 12,
        addresses: 8,
        seed: 7,
        oddities: false,
        edition,
        port,
        ..Options::default()
    };
    Server::start(options).expect("loopback has room for a server")
}

fn all(config: &Config) -> Config {
    Config { recrawl: Recrawl::All, ..config.clone() }
}

fn files(dir: &Path) -> Vec<String> {
    Archive::open(&dir.join("archive")).expect("the crawl made it").files().to_vec()
}

/// A crawl, and a recrawl that found everything as it was; the files of the first, and how many pages there are.
fn twice(server: &Server, config: &Config) -> (TempDir, Vec<String>, u64) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let first = crawl(dir.path(), config, &server.web().seeds()).expect("a crawl");
    let old = files(dir.path());
    let again = crawl(dir.path(), &all(config), &[]).expect("a recrawl");
    assert_eq!((again.pages, again.changed, again.lost), (first.pages, 0, 0), "{again:?}");
    assert!(again.unchanged >= first.pages, "{again:?}");
    (dir, old, first.pages)
}

/// A page of which only the 304 is left has no text, no links and no place in an index.
#[test]
fn a_page_with_a_lost_body_is_fetched_again() {
    let server = start(0, 0);
    let config = config(&server);
    for damage in ["gone", "empty", "junk"] {
        let (dir, old, pages) = twice(&server, &config);
        for file in &old {
            let file = dir.path().join("archive").join(file);
            match damage {
                "gone" => fs::remove_file(&file),
                "empty" => fs::write(&file, b""),
                _ => fs::write(&file, vec![0xA5; 9000]),
            }
            .expect("it is there");
        }
        let mended = crawl(dir.path(), &config, &[]).expect("a crawl");
        assert_eq!((mended.lost, mended.missing), (pages, 0), "{damage}: {mended:?}");
        assert_eq!((mended.pages, mended.pages_new), (pages, pages), "{damage}: {mended:?}");
        assert_eq!(mended.page_statuses.get(&304), None, "{damage}: without a condition");
        if damage != "junk" {
            assert_eq!(archived(dir.path()).len() as u64, pages, "{damage}");
        }
        for _ in 0..2 {
            let same = crawl(dir.path(), &config, &[]).expect("nothing is left");
            assert_eq!((same.requests, same.pages, same.lost), (0, pages, 0), "{damage}: {same:?}");
            let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
            assert_eq!((again.pages, again.pages_new), (pages, 0), "{damage}: {again:?}");
        }
    }
}

/// An older version of the page is not what it was found to be still.
#[test]
fn an_older_body_does_not_replace_a_lost_one() {
    let server = start(0, 0);
    let config = config(&server);
    let dir = tempfile::tempdir().expect("a temporary folder");
    crawl(dir.path(), &config, &server.web().seeds()).expect("a crawl");
    let (old, port) = (files(dir.path()), server.port());
    server.stop();
    let server = start(1, port);
    let changed = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert!(changed.changed > 0, "{changed:?}");
    let new: Vec<String> =
        files(dir.path()).into_iter().filter(|file| !old.contains(file)).collect();
    let same = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!(same.changed, 0, "{same:?}");
    for file in new {
        fs::remove_file(dir.path().join("archive").join(file)).expect("it is there");
    }
    let mended = crawl(dir.path(), &config, &[]).expect("a crawl");
    assert!(mended.lost >= changed.changed && mended.missing == 0, "{mended:?}");
    assert_eq!(mended.page_statuses.get(&304), None, "without a condition: {mended:?}");
    assert_eq!(mended.pages, same.pages, "{mended:?}");
    let after = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((after.requests, after.pages, after.lost), (0, same.pages, 0), "{after:?}");
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!((again.pages, again.pages_new), (same.pages, 0), "{again:?}");
    drop(server);
}

/// The log of visits tells of records that cannot be read any more; only a recrawl finds out.
#[test]
fn pages_with_damaged_records_are_counted_once() {
    let server = start(0, 0);
    let config = config(&server);
    let (dir, old, pages) = twice(&server, &config);
    for file in &old {
        let file = dir.path().join("archive").join(file);
        let mut bytes = fs::read(&file).expect("it is there");
        let end = bytes.len();
        // Not the last bytes: by them the log knows the file.
        for at in (1000..end - 1000).step_by(2000) {
            bytes[at] ^= 0x55;
        }
        fs::write(&file, bytes).expect("room");
    }
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert!(again.page_statuses.get(&200).is_some_and(|&times| times > 3), "{again:?}");
    assert_eq!((again.pages, again.pages_new), (pages, 0), "{again:?}");
    let same = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((same.requests, same.pages), (0, pages), "{same:?}");
    // Nor does it matter that nothing tells of them any more.
    fs::remove_dir_all(dir.path().join("frontier/visits")).expect("it is there");
    let same = crawl(dir.path(), &config, &[]).expect("nothing is left");
    assert_eq!((same.pages, same.lost), (pages, 0), "{same:?}");
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!((again.pages, again.pages_new), (pages, 0), "{again:?}");
}

#[test]
fn lost_pages_wait_for_a_run_allowed_to_fetch() {
    let server = start(0, 0);
    let config = config(&server);
    let (dir, old, pages) = twice(&server, &config);
    for file in &old {
        fs::remove_file(dir.path().join("archive").join(file)).expect("it is there");
    }
    let seeds = server.web().seeds();
    let alone = Config { alone: true, follow: false, ..config.clone() };
    let one = crawl(dir.path(), &alone, &seeds[..1]).expect("a crawl of one page");
    assert_eq!((one.pages, one.lost, one.missing), (1, pages, pages - 1), "{one:?}");
    assert!(one.put_off >= pages - 1, "{one:?}");
    let short = Config { pages_max: 5, ..config.clone() };
    let some = crawl(dir.path(), &short, &[]).expect("a crawl of some");
    assert_eq!((some.lost, some.missing, some.pages), (pages - 1, pages - 5, 5), "{some:?}");
    let rest = crawl(dir.path(), &config, &[]).expect("a crawl of the rest");
    assert_eq!((rest.pages, rest.missing), (pages, 0), "{rest:?}");
}

/// Whatever else is missing, and however the recrawl of the list is asked for.
#[test]
fn a_recrawl_of_a_list_fetches_lost_pages() {
    let server = start(0, 0);
    let config = config(&server);
    let seeds = server.web().seeds();
    for recrawl in [Recrawl::All, Recrawl::Due, Recrawl::Given] {
        for given in [&seeds[..1], &[]] {
            let (dir, old, pages) = twice(&server, &config);
            for file in &old {
                fs::remove_file(dir.path().join("archive").join(file)).expect("it is there");
            }
            let list = Config { alone: true, follow: false, recrawl, ..config.clone() };
            let named = if given.is_empty() { seeds.len() as u64 } else { 1 };
            let some = crawl(dir.path(), &list, given).expect("a recrawl of a list");
            assert_eq!((some.pages, some.missing), (named, pages - named), "{recrawl:?} {some:?}");
            assert_eq!(some.page_statuses.get(&304), None, "{recrawl:?}: without a condition");
            let rest = crawl(dir.path(), &config, &[]).expect("a crawl of the rest");
            assert_eq!((rest.pages, rest.missing), (pages, 0), "{recrawl:?}: {rest:?}");
        }
    }
}

/// What is asked for again besides is none: a sitemap, a redirect, an error.
#[test]
fn only_lost_pages_are_counted_as_lost() {
    let asked = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&asked);
    let port = serve(move |path, out| {
        count.fetch_add(1, Ordering::Relaxed);
        let (head, body) = match path {
            "/robots.txt" => ("200 OK\r\nContent-Type: text/plain", "Sitemap: /map\n"),
            "/map" => ("200 OK", "<urlset><url><loc>/gone</loc></url></urlset>"),
            "/gone" => ("404 Not Found", ""),
            "/moved" => ("302 Found\r\nLocation: /page", ""),
            _ => ("200 OK\r\nContent-Type: text/html", "<a href=/moved>a page</a>"),
        };
        let length = body.len();
        let end = format!("Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        write(out, &format!("HTTP/1.1 {head}\r\n{end}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, ip_delay_ms: 0, ..Config::default() };
    let first =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]).expect("a crawl");
    let old = files(dir.path());
    let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
    assert_eq!((first.pages, again.changed), (2, 0), "{again:?}");
    for file in &old {
        fs::remove_file(dir.path().join("archive").join(file)).expect("it is there");
    }
    let before = asked.load(Ordering::Relaxed);
    let mended = crawl(dir.path(), &config, &[]).expect("a crawl");
    assert_eq!((mended.lost, mended.missing, mended.pages), (2, 0, 2), "{mended:?}");
    assert!(asked.load(Ordering::Relaxed) - before >= 5, "the others are asked for as well");
}

/// A sitemap that is lost, too, tells only when it is read again what a list names.
#[test]
fn lost_pages_of_a_lost_sitemap_are_counted_once() {
    let port = serve(move |path, out| {
        let loc = |path: &str| format!("<url><loc>{path}</loc></url>");
        let (head, body) = match path {
            "/robots.txt" => ("404 Not Found", String::new()),
            "/map" => ("200 OK", format!("<urlset>{}{}</urlset>", loc("/a"), loc("/b"))),
            _ => ("200 OK\r\nContent-Type: text/html", format!("<p>{path}")),
        };
        let length = body.len();
        let end = format!("Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        write(out, &format!("HTTP/1.1 {head}\r\n{end}"));
    });
    let config = Config { delay_ms: 1, ip_delay_ms: 0, ..Config::default() };
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let seeds = [format!("sitemap:{}", url("/map")), url("/c"), url("/d")];
    for recrawl in [Recrawl::Never, Recrawl::All, Recrawl::Due] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        crawl(dir.path(), &config, &seeds).expect("a crawl");
        let old = files(dir.path());
        crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
        for file in &old {
            fs::remove_file(dir.path().join("archive").join(file)).expect("it is there");
        }
        let list = Config { alone: true, follow: false, recrawl, ..config.clone() };
        let some = crawl(dir.path(), &list, &seeds[..1]).expect("a list");
        assert_eq!((some.lost, some.missing), (4, 2), "{recrawl:?}: {some:?}");
        assert_eq!((some.pages, some.pages_new, some.put_off), (2, 2, 2), "{recrawl:?}: {some:?}");
        assert_eq!((some.waiting, some.asked), (0, 0), "{recrawl:?}: {some:?}");
        let rest = crawl(dir.path(), &config, &[]).expect("a crawl of the rest");
        assert_eq!((rest.pages, rest.pages_new, rest.missing), (4, 2, 0), "{recrawl:?}: {rest:?}");
    }
}

/// What was in it has been asked for meanwhile as if it were new.
#[test]
fn pages_of_a_restored_file_are_counted_once() {
    let server = start(0, 0);
    let config = config(&server);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let short = Config { pages_max: 5, ..config.clone() };
    crawl(dir.path(), &short, &server.web().seeds()).expect("a crawl of some");
    let first = files(dir.path());
    let pages = crawl(dir.path(), &config, &[]).expect("a crawl of the rest").pages;
    let away: Vec<String> =
        files(dir.path()).into_iter().filter(|file| !first.contains(file)).collect();
    let place = |file: &String| dir.path().join("archive").join(file);
    let aside = |file: &String| dir.path().join(file);
    for file in &away {
        fs::rename(place(file), aside(file)).expect("it is there");
    }
    let again = crawl(dir.path(), &config, &[]).expect("a crawl of what is missing");
    assert_eq!((again.pages, again.pages_new), (pages, pages - 5), "{again:?}");
    for file in &away {
        fs::rename(aside(file), place(file)).expect("it is there");
    }
    let limit = Config { pages_max: pages + 1, ..config.clone() };
    for config in [&config, &limit, &all(&config), &limit] {
        let back = crawl(dir.path(), config, &[]).expect("nothing is left");
        assert_eq!((back.pages, back.pages_new, back.limit.as_ref()), (pages, 0, None), "{back:?}");
    }
}

/// A file may be copied, imported, or put back under another name: a URL is a page once, whatever files have it.
#[test]
fn pages_in_two_files_are_counted_once() {
    let is_later = Arc::<AtomicUsize>::default();
    let later = Arc::clone(&is_later);
    let port = serve(move |path, out| {
        let is_later = later.load(Ordering::Relaxed) > 0;
        let (head, body) = match path {
            "/" => {
                ("200 OK", "<a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a> <a href=/d>d</a>")
            }
            "/a" | "/b" if is_later => ("404 Not Found", ""),
            "/c" if !is_later => ("404 Not Found", ""),
            "/robots.txt" => ("404 Not Found", ""),
            _ => ("200 OK", "<p>a page"),
        };
        let length = body.len();
        let end = format!("Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        write(out, &format!("HTTP/1.1 {head}\r\nContent-Type: text/html\r\n{end}"));
    });
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let config = Config { delay_ms: 1, ip_delay_ms: 0, ..Config::default() };
    for which in [&[0][..], &[1], &[0, 1], &[0, 0, 1]] {
        is_later.store(0, Ordering::Relaxed);
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (place, frontier) = (dir.path().join("archive"), dir.path().join("frontier"));
        let first = crawl(dir.path(), &config, &[url("/")]).expect("a crawl");
        assert_eq!(first.pages, 4, "{first:?}");
        is_later.store(1, Ordering::Relaxed);
        let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
        assert_eq!(again.pages, 3, "{again:?}");
        let files = files(dir.path());
        assert_eq!(files.len(), 2, "a crawl writes a file");
        for (number, file) in which.iter().enumerate() {
            let copy = format!("copy-{number}.warc.gz");
            fs::copy(place.join(&files[*file]), place.join(copy)).expect("room");
        }
        let same = crawl(dir.path(), &config, &[]).expect("nothing is left");
        assert_eq!((same.pages, same.requests), (3, 0), "{which:?}: {same:?}");
        let limit = Config { pages_per_host_max: 4, ..config.clone() };
        let reached = || {
            let archive = Archive::open(&place).expect("it is there");
            host_limit(&archive, &frontier, &limit, &url("/x")).expect("it is whole")
        };
        assert_eq!(reached(), None, "{which:?}");
        let more = Config { pages_max: 4, ..limit.clone() };
        let more = crawl(dir.path(), &more, &[url("/e")]).expect("room for one");
        assert_eq!((more.pages, more.pages_new), (4, 1), "{which:?}: {more:?}");
        assert_eq!(reached(), Some("pages_per_host_max"), "{which:?}");
        let again = crawl(dir.path(), &all(&config), &[]).expect("a recrawl");
        assert_eq!((again.pages, again.pages_new), (4, 0), "{which:?}: {again:?}");
    }
}

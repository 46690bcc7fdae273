//! Loss of archive files together with their CDXJ files and logs.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{Ran, Sandbox};
use crate::why_servers::{HTML, NEXT_GIVEN, Pages, check, crawled, crawled_twice, page};

const FIRST: &str = "web/archive/crivello-00001.warc.gz";
const CDXJ: &str = "web/archive/crivello-00001.warc.gz.cdxj";
const GONE: &str = "1 file of the archive is gone: crivello-00001.warc.gz";

fn remove(path: PathBuf) {
    fs::remove_file(path).expect("it is there");
}

/// A collection whose only host requests a wait of two hours.
fn busy(server: &Pages) -> Sandbox {
    server.set("/busy", "503 Busy\nRetry-After: 7200\n\n");
    let sandbox = crawled(server);
    server.set("/busy", HTML);
    sandbox
}

/// Runs a crawl that makes no request, since the host requested a wait.
fn check_cooldowns(sandbox: &Sandbox, server: &Pages, what: &str) -> Ran {
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    let site = server.url("").replace("http://", "");
    let is_waiting = ran.stderr.contains(&format!("Waiting   {site}: "));
    assert!(ran.code == 1 && is_waiting, "{what}: {ran:#?}");
    ran
}

/// A visit log counts even if the list of files lacks it.
#[test]
fn unlisted_visit_logs_reveal_a_missing_file() {
    for list in [None, Some(""), Some("x\n"), Some("crivello-00001.warc.gz\n# 00000000\n")] {
        let server = Pages::serve(&[("/", &page(&["/busy"]))]);
        let sandbox = busy(&server);
        remove(sandbox.path(FIRST));
        remove(sandbox.path(CDXJ));
        let files = sandbox.path("web/frontier/visits/files");
        match list {
            None => remove(files),
            Some(list) => fs::write(files, list).expect("room"),
        }
        let what = format!("{list:?}");
        let status = sandbox.done(&["status", "--dir", "web"]);
        assert!(status.contains(GONE), "{what}: {status}");
        let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
        assert_eq!(ran.code, 1, "{what}: {ran:#?}");
        check(&sandbox, &server.url("/"), "lost: ");
        let ran = check_cooldowns(&sandbox, &server, &what);
        assert!(ran.stderr.contains(GONE), "{what}: {ran:#?}");
        let ran = check_cooldowns(&sandbox, &server, &what);
        assert!(!ran.stderr.contains(GONE), "{what}: {ran:#?}");
    }
}

/// If all else is lost, the wait of a host comes from the last report.
#[test]
fn a_host_wait_survives_lost_archive_and_logs() {
    for how in ["gone", "shorter"] {
        let server = Pages::serve(&[("/", &page(&["/busy"]))]);
        let sandbox = busy(&server);
        let list = sandbox.done(&["archive", "list", "--dir", "web"]);
        let place = list.lines().find(|line| line.contains("\t503\t")).expect("the answer");
        let place = place.split('\t').nth(5).and_then(|at| at.parse().ok()).expect("a place");
        if how == "gone" {
            remove(sandbox.path(FIRST));
        } else {
            let file = fs::File::options().write(true).open(sandbox.path(FIRST));
            file.and_then(|file| file.set_len(place)).expect("it is there");
        }
        remove(sandbox.path(CDXJ));
        fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
        let until = || {
            let status = sandbox.json(&["status", "--dir", "web"]);
            let until_s = status["crawl"]["aside"][0]["until_s"].as_i64();
            until_s.unwrap_or_else(|| panic!("{how}: {status}"))
        };
        let promised = until();
        for _ in 0..2 {
            let ran = sandbox.run(&["crawl", "--dir", "web"]);
            assert!(ran.stderr.contains("(0 requests, "), "{how}: {ran:#?}");
            assert_eq!(until(), promised, "{how}");
        }
    }
}

/// A change to the bytes of a CDXJ file.
type Damage = fn(Vec<u8>) -> Vec<u8>;

/// Replaces the first occurrence of `from`.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1).into_bytes()
}

/// A damaged first line says nothing about the archive file, and the next crawl repairs it.
#[test]
fn a_crawl_rebuilds_a_cdxj_file_with_damaged_header() {
    let damages: [(&str, Damage); 8] = [
        ("nothing", |_| Vec::new()),
        ("zeros", |bytes| vec![0; bytes.len()]),
        ("truncated", |bytes| bytes[..bytes.len() - 9].to_vec()),
        ("half of !meta", |bytes| bytes[..40].to_vec()),
        ("no !meta", |bytes| {
            let end = bytes.iter().position(|byte| *byte == b'\n').expect("a line");
            bytes[end + 1..].to_vec()
        }),
        ("changed", |bytes| replaced(&bytes, "\"filename\"", "\"gilename\"")),
        ("covers too much", |bytes| replaced(&bytes, "\"covers\":", "\"covers\":9")),
        ("covers too little", |bytes| {
            let text = String::from_utf8(bytes.clone()).expect("text");
            let at = text.find("\"covers\":").expect("it covers something") + 9;
            let digits = text[at..].find(',').expect("more");
            replaced(&bytes, &text[at - 9..at + digits], "\"covers\":1")
        }),
    ];
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    for (what, damage) in damages {
        let sandbox = crawled(&server);
        let bytes = fs::read(sandbox.path(CDXJ)).expect("it is there");
        fs::write(sandbox.path(CDXJ), damage(bytes)).expect("room");
        let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
        let is_told = ran.stdout.contains("warc.gz.cdxj is damaged");
        assert!(ran.code == 1 && is_told, "{what}: {ran:#?}");
        assert!(!ran.stdout.contains("shorter"), "{what}: {ran:#?}");
        let report = sandbox.json(&["crawl", "--dir", "web"]);
        assert_eq!(report["shortened"], serde_json::json!([]), "{what}: {report:#}");
        let said = sandbox.done(&["doctor", "archive", "--dir", "web"]);
        assert!(!said.contains("shorter"), "{what}: {said}");
        check(&sandbox, &server.url("/a"), "fetched");
    }
}

#[test]
fn a_file_missing_with_its_log_is_reported_once() {
    let server = Pages::serve(&[("/", &page(&["/busy"]))]);
    for has_cdxj in [true, false] {
        let sandbox = busy(&server);
        remove(sandbox.path(FIRST));
        remove(sandbox.path("web/frontier/visits/crivello-00001.warc.gz.log"));
        if !has_cdxj {
            remove(sandbox.path(CDXJ));
        }
        let told = [0, 1, 2].map(|_| sandbox.run(&["crawl", "--dir", "web"]).stderr.contains(GONE));
        assert_eq!(told, [true, false, false], "CDXJ: {has_cdxj}");
    }
}

#[test]
fn a_missing_folder_is_reported_like_missing_files() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    fs::remove_dir_all(sandbox.path("web/archive")).expect("it is there");
    let status = sandbox.done(&["status", "--dir", "web"]);
    assert!(status.contains(GONE), "{status}");
    check(&sandbox, &server.url("/a"), "lost: ");
    assert_eq!(sandbox.run(&["archive", "get", "--dir", "web", &server.url("/a")]).code, 3);
    assert_eq!(sandbox.run(&["doctor", "archive", "--dir", "web"]).code, 1);
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 0 && ran.stderr.contains(GONE), "{ran:#?}");
    check(&sandbox, &server.url("/a"), "fetched");
}

/// The archive may be on a disk that is not mounted.
#[test]
fn a_missing_archive_does_not_empty_the_index() {
    let a = format!("{HTML}<title>second</title>of two");
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &a)]);
    let sandbox = crawled_twice(&server);
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains(" gone: "), "{ran:#?}");
    let (archive, away) = (sandbox.path("web/archive"), sandbox.path("away"));
    fs::rename(&archive, &away).expect("it is there");
    for is_folder in [false, true] {
        if is_folder {
            fs::create_dir(&archive).expect("a folder");
        }
        for command in [&["index"][..], &["index", "--rebuild"], &["rank"], &["dedup"]] {
            let ran = sandbox.run(&[command, &["--dir", "web"]].concat());
            let said = "web/archive has no archive file, but the index has 2 documents: put ";
            assert!(ran.code == 1 && ran.stderr.contains(said), "{command:?}: {ran:#?}");
        }
        assert!(sandbox.done(&["search", "second", "--dir", "web"]).contains("/a"));
    }
    let manifest = fs::read(sandbox.path("web/index/manifest")).expect("it is there");
    fs::write(sandbox.path("web/index/manifest"), &manifest[..manifest.len() - 1]).expect("room");
    assert_eq!(sandbox.run(&["index", "--dir", "web"]).code, 1);
    fs::write(sandbox.path("web/index/manifest"), manifest).expect("room");
    for file in ["crivello-00001.warc.gz", "crivello-00001.warc.gz.cdxj"] {
        fs::rename(away.join(file), archive.join(file)).expect("it is there");
    }
    let ran = sandbox.run(&["index", "--dir", "web"]);
    let said = "\nMissing   1 file of the archive is gone: crivello-00002.warc.gz; ";
    assert!(ran.code == 0 && ran.stderr.contains(said), "{ran:#?}");
    assert_eq!(sandbox.json(&["status", "--dir", "web"])["index"]["documents"], 1);
    // A user who wants an empty index deletes both folders.
    fs::remove_dir_all(&archive).expect("it is there");
    fs::remove_dir_all(sandbox.path("web/index")).expect("it is there");
    assert_eq!(sandbox.json(&["index", "--dir", "web"])["documents"], 0);
}

/// Returns the offset of the last record of this kind and URL.
pub(crate) fn place(sandbox: &Sandbox, kind: &str, url: &str) -> usize {
    let list = sandbox.done(&["archive", "list", "--dir", "web"]);
    let (kind, url) = (format!("\t{kind}\t"), format!("\t{url}"));
    let is_it = |line: &&str| line.contains(&kind) && line.ends_with(&url);
    let line = list.lines().rfind(is_it).expect("an answer");
    line.split('\t').nth(5).and_then(|at| at.parse().ok()).expect("a place")
}

/// Changes a file of the archive; keeps its date unless `is_dated`.
pub(crate) fn change(sandbox: &Sandbox, file: &str, is_dated: bool, change: &dyn Fn(&mut [u8])) {
    let path = sandbox.path(file);
    let date = fs::metadata(&path).and_then(|about| about.modified()).expect("a date");
    let mut bytes = fs::read(&path).expect("it is there");
    change(&mut bytes);
    fs::write(&path, bytes).expect("room");
    if !is_dated {
        let written = fs::File::options().write(true).open(&path);
        written.and_then(|file| file.set_modified(date)).expect("set");
    }
}

/// If robots.txt cannot be read, the rules are unknown, and a crawl fetches it again.
#[test]
fn an_unreadable_robots_txt_is_reported() {
    for is_dated in [false, true] {
        let robots = format!("200 OK\n\nUser-agent: *\nDisallow: /secret\n#{}", "x".repeat(300));
        let server = Pages::serve(&[("/", &page(&["/secret"])), ("/robots.txt", &robots)]);
        let sandbox = crawled(&server);
        check(&sandbox, &server.url("/secret"), "forbidden by robots.txt");
        let at = place(&sandbox, "response", &server.url("/robots.txt"));
        change(&sandbox, FIRST, is_dated, &|bytes| bytes[at + 200] ^= 0x55);
        let said = "waiting: the robots.txt of 20";
        check(&sandbox, &server.url("/secret"), said);
        check(&sandbox, &server.url("/robots.txt"), "damaged: ");
        fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 1);
        check(&sandbox, &server.url("/secret"), "forbidden by robots.txt");
        remove(sandbox.path(FIRST));
        remove(sandbox.path("web/archive/crivello-00002.warc.gz"));
        check(&sandbox, &server.url("/robots.txt"), "lost: ");
    }
}

/// A rebuilt CDXJ file lacks a damaged record; the visit log has it.
#[test]
fn a_damaged_record_is_reported_without_its_cdxj_file() {
    let robots = format!("200 OK\n\nUser-agent: *\nDisallow: /secret\n#{}", "x".repeat(300));
    let root = page(&["/a", "/b", "/c", "/secret"]);
    let long = format!("{HTML}{}", "y".repeat(300));
    let pages = [("/", root.as_str()), ("/a", &long), ("/b", &long), ("/c", HTML)];
    let pages = [&pages[..], &[("/robots.txt", &robots)]].concat();
    let server = Pages::serve(&pages);
    let sandbox = crawled(&server);
    // Two of these are adjacent.
    let places =
        ["/a", "/b", "/robots.txt"].map(|path| place(&sandbox, "response", &server.url(path)));
    change(&sandbox, FIRST, true, &|bytes| places.iter().for_each(|at| bytes[at + 200] ^= 0x55));
    remove(sandbox.path(&format!("{FIRST}.cdxj")));
    for _ in 0..2 {
        for path in ["/a", "/b"] {
            let why = check(&sandbox, &server.url(path), "damaged: the record of ");
            assert!(why["verdict"].as_str().is_some_and(|it| it.ends_with(NEXT_GIVEN)), "{why}");
        }
        check(&sandbox, &server.url("/c"), "fetched");
        let said = "waiting: the robots.txt of 20";
        check(&sandbox, &server.url("/secret"), said);
        check(&sandbox, &server.url("/robots.txt"), "damaged: ");
        let of_http = server.url("/a");
        for asked in [of_http.replace("http:", "https:"), server.url("/b"), of_http] {
            let ran = sandbox.run(&["archive", "get", "--dir", "web", &asked]);
            assert_eq!(ran.code, 1, "{ran:#?}");
        }
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 0);
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl=given", &server.url("/a")]);
    check(&sandbox, &server.url("/a"), "fetched");
}

/// A crawl cuts off the torn end and fetches the page again.
#[test]
fn any_crawl_refetches_a_page_in_a_torn_end() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    let at = place(&sandbox, "response", &server.url("/a"));
    change(&sandbox, FIRST, false, &|bytes| bytes[at..].fill(0));
    check(&sandbox, &server.url("/a"), "damaged: ");
    let ran = sandbox.run(&["archive", "get", "--dir", "web", &server.url("/a")]);
    assert!(ran.code != 0 && !ran.stderr.contains("\\0"), "{ran:#?}");
    assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 1);
    check(&sandbox, &server.url("/a"), "fetched");
}

#[test]
fn an_older_body_replaces_a_damaged_one_in_output() {
    for (is_dated, is_listed) in [(false, true), (true, true), (true, false)] {
        let server = Pages::serve(&[("/", &format!("{HTML}old"))]);
        let sandbox = crawled(&server);
        server.set("/", &format!("{HTML}new"));
        sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
        let at = place(&sandbox, "response", &server.url("/"));
        let second = "web/archive/crivello-00002.warc.gz";
        change(&sandbox, second, is_dated, &|bytes| bytes[at + 100] ^= 0x55);
        if !is_listed {
            remove(sandbox.path(&format!("{second}.cdxj")));
        }
        let ran = sandbox.run(&["archive", "get", "--dir", "web", &server.url("/")]);
        assert!(ran.code == 0 && ran.stderr.contains("cannot be read: "), "{is_dated}: {ran:#?}");
        assert_eq!(ran.stdout, "old", "{is_dated}");
    }
}

/// The visit log records damage before a report names it. A crawl may be killed in between.
#[test]
fn the_next_crawl_reports_damage_left_unreported() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    let at = place(&sandbox, "response", &server.url("/a"));
    change(&sandbox, FIRST, true, &|bytes| bytes[at + 100] ^= 0x55);
    fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
    let report = sandbox.path("web/frontier/report.json.tmp");
    fs::create_dir(&report).expect("room");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code != 0 && !ran.stderr.contains("Damaged   archive"), "{ran:#?}");
    fs::remove_dir(&report).expect("it is there");
    let told = [0, 1].map(|_| {
        let said = sandbox.run(&["crawl", "--dir", "web"]).stderr;
        said.contains("Damaged   archive") && said.contains(&format!("at byte {at}"))
    });
    assert_eq!(told, [true, false]);
}

//! robots.txt: the published suite of Google, and cases beyond it.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::{env, fs};

use crawl::{Config, Robots};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::faults::{serve, write};
use crate::support::crawl;

#[track_caller]
fn check(file: &str, agent: &str, path: &str, allowed: bool, line: Option<usize>) {
    let verdict = Robots::parse(file.as_bytes(), agent).allows(path);
    assert_eq!((verdict.allowed, verdict.line), (allowed, line), "{path} for {agent} in {file:?}");
}

#[test]
fn the_longest_line_decides_and_allow_wins_a_tie() {
    let file =
        "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c$\nAllow: /t\nDisallow: /t\n";
    check(file, "crivello", "/a/x", false, Some(2));
    check(file, "crivello", "/a/b/x", true, Some(3));
    check(file, "crivello", "/a/b/c", false, Some(4));
    check(file, "crivello", "/a/b/c/d", true, Some(3));
    check(file, "crivello", "/t", true, Some(5));
    check(file, "crivello", "/else", true, None);
}

#[test]
fn matching_groups_are_merged_and_override_the_wildcard() {
    let file = "User-agent: *\nDisallow: /all\n\nUser-agent: Crivello/1.0\nDisallow: /one\n\n\
                User-agent: other\nUser-agent: crivello\nDisallow: /two\n";
    check(file, "crivello", "/all", true, None);
    check(file, "crivello", "/one", false, Some(5));
    check(file, "crivello", "/two", false, Some(9));
    check(file, "someone", "/all", false, Some(2));
    check(file, "someone", "/one", true, None);
}

/// Rules, and spellings of the paths that they forbid. A site serves all of them.
const FORBIDDEN: [(&str, &[&str]); 17] = [
    ("/h%69dden", &["/hidden", "/h%69dden"]),
    ("/a b/", &["/a%20b/1"]),
    ("/Still Life", &["/Still%20Life.html"]),
    ("/q\"uote", &["/q%22uote.html"]),
    ("/br{ace}/", &["/br%7Bace%7D/1", "/br%7bace%7d/1"]),
    ("/<less>", &["/%3Cless%3E"]),
    ("/or|else^`", &["/or%7Celse%5E%60", "/or|else^%60"]),
    ("/q?it='s", &["/q?it=%27s", "/q?it='s"]),
    ("/hex/*%2b", &["/hex/a%2b.html", "/hex/b%2B.html"]),
    ("/a%2Fb", &["/a%2fb", "/a%2Fb"]),
    ("/ca%c3%a9", &["/ca%C3%A9", "/ca%c3%a9"]),
    ("/café/", &["/caf%c3%a9/1.html", "/caf%C3%A9/2.html"]),
    ("/star-%2A", &["/star-*", "/star-%2a"]),
    ("/dollar-%24", &["/dollar-$", "/dollar-%24/more"]),
    ("/wiki/Special%3A", &["/wiki/Special:All", "/wiki/Special%3aAll"]),
    ("/off/*40%$", &["/off/40%25"]),
    ("/cut/*%2*x", &["/cut/%2Cx", "/cut/%2cx"]),
];

/// Paths that no rule of [`FORBIDDEN`] matches.
const ALLOWED: [&str; 6] = ["/a/b", "/ab/", "/star-a", "/hex/a.html", "/caf/", "/off/40%25/more"];

fn forbidding() -> String {
    let rules = FORBIDDEN.map(|(rule, _)| format!("Disallow: {rule}\n"));
    format!("User-agent: *\n{}", rules.concat())
}

#[test]
fn a_rule_forbids_every_spelling_of_its_path() {
    let file = forbidding();
    for ((rule, paths), line) in FORBIDDEN.iter().zip(2..) {
        for path in *paths {
            check(&file, "crivello", path, false, Some(line));
            check(&format!("user-agent: *\nDisallow: {rule}"), "crivello", path, false, Some(2));
        }
    }
    for path in ALLOWED {
        check(&file, "crivello", path, true, None);
    }
}

/// Before the query, `/` and `?` divide a URL, so that their escapes are other characters.
#[test]
fn path_separators_differ_from_their_escapes() {
    let file = "user-agent: *\nDisallow: /*?\nDisallow: /private/\nDisallow: /x%2Fy\n";
    check(file, "crivello", "/Who%3F", true, None);
    check(file, "crivello", "/private%2F1", true, None);
    check(file, "crivello", "/x/y", true, None);
}

#[test]
fn an_allow_rule_matches_only_its_literal_path() {
    let file = |rule: &str| format!("user-agent: *\nDisallow: /\nAllow: {rule}\n");
    for (rule, path) in [
        ("/a b", "/a%20b"),
        ("/café", "/caf%c3%a9"),
        ("/x%2b", "/x%2B"),
        ("/star-%2A", "/star-*"),
        ("/dollar-%24", "/dollar-$"),
    ] {
        check(&file(rule), "crivello", path, true, Some(3));
    }
    for (rule, path) in [("/h%69dden", "/hidden"), ("/a%3Ab", "/a:b"), ("/star-%2A", "/star-a")] {
        check(&file(rule), "crivello", path, false, Some(2));
    }
}

/// The tables of RFC 9309, 2.2.2 and 2.2.3: a rule and a path that it matches.
#[test]
fn the_rfc_examples_match() {
    for (rule, path) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/\u{30C4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
    ] {
        check(&format!("user-agent: *\nDisallow: {rule}"), "crivello", path, false, Some(2));
    }
    let file = "user-agent: *\nAllow: /this/*/exactly\nDisallow: /*.gif$\n";
    check(file, "crivello", "/a.gif", false, Some(3));
    check(file, "crivello", "/a.gif?b", true, None);
    check(file, "crivello", "/this/path/exactly", true, Some(2));
}

#[test]
fn crawl_delays_and_sitemaps_are_parsed() {
    let robots = Robots::parse(
        b"Sitemap: http://a/1.xml\nUser-agent: *\nCrawl-delay: 2.5\nUser-agent: crivello\n\
          Disallow: /x\nCrawl-delay: nonsense\nCrawl-delay: 0.1\nsitemap : http://a/2.xml",
        "crivello",
    );
    assert_eq!(robots.sitemaps(), ["http://a/1.xml", "http://a/2.xml"]);
    // A Crawl-delay is not a rule, so both agents are of one group.
    assert_eq!(robots.crawl_delay_ms(), Some(100));
    for (value, delay_ms) in
        [("1e12", 1_000_000_000_000), ("inf", 1_000_000_000_000), ("3,5", 3500)]
    {
        let text = format!("User-agent: *\nCrawl-delay: {value}");
        let robots = Robots::parse(text.as_bytes(), "crivello");
        assert_eq!(robots.crawl_delay_ms(), Some(delay_ms), "{value}");
    }
    let forbidding = Robots::forbid_all();
    assert!(!forbidding.allows("/").allowed && !forbidding.allows("/x?y").allowed);
}

#[test]
fn a_missing_colon_after_a_field_is_accepted() {
    let file = b"sitemap http://a/1.xml\nSitemap\thttps://a/2.xml\nSitemap:\nuser-agent *\n\
                 disallow /wiki/Special:Search\nDisallow: /b:c d\n";
    let robots = Robots::parse(file, "crivello");
    assert_eq!(robots.sitemaps(), ["http://a/1.xml", "https://a/2.xml"]);
    assert_eq!(robots.allows("/wiki/Special:Search").line, Some(5));
    assert_eq!(robots.allows("/b:c%20d").line, Some(6));
}

#[test]
fn ten_thousand_sitemaps_are_kept() {
    let robots = Robots::parse("Sitemap: http://a/1\n".repeat(10_001).as_bytes(), "crivello");
    assert_eq!(robots.sitemaps().len(), 10_000);
}

proptest! {
    #[test]
    fn any_bytes_parse_as_a_robots_file(
        bytes in prop::collection::vec(any::<u8>(), 0..400), path in "/[ -~]{0,40}",
    ) {
        Robots::parse(&bytes, "crivello").allows(&path);
    }

    /// Lines as people and machines write them, and invalid ones: parsing and matching end, and the result is no
    /// larger than the file.
    #[test]
    fn any_lines_parse_as_a_robots_file(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "User-agent: *", "User-agent: crivello", "user agent crivello", "Disallow: /", "Allow: /", "Disallow:",
                "Disallow: /*a*b$", "Disallow: %2F%ff%", "Crawl-delay: 1e308", "Crawl-delay: -1", "Crawl-delay: NaN",
                "Crawl-delay: 0.5", "Sitemap: http://a/", "Sitemap:", "\n", "\r", "\r\n", "\u{feff}", "#", ":", "\t",
                "\0", "é", "*", "$",
            ]),
            0..40,
        ),
        path in "/[a-c/%*$?é]{0,12}",
    ) {
        let text = parts.concat();
        let robots = Robots::parse(text.as_bytes(), "crivello");
        let verdict = robots.allows(&path);
        let lines = text.matches(['\n', '\r']).count() + 1;
        prop_assert!(verdict.line.is_none_or(|line| (1..=lines).contains(&line)), "{verdict:?}");
        prop_assert!(verdict.allowed || verdict.line.is_some());
        prop_assert!(robots.sitemaps().iter().map(String::len).sum::<usize>() <= text.len());
    }

    #[test]
    fn disallowing_everything_allows_nothing(path in "/[a-z/?%*$]{0,30}") {
        prop_assert!(!Robots::parse(b"user-agent: *\ndisallow: /", "x").allows(&path).allowed);
        prop_assert!(Robots::parse(b"user-agent: *\ndisallow:", "x").allows(&path).allowed);
    }
}

/// The longest file that is read, with rules that are hard to match.
#[test]
fn the_longest_file_of_stars_matches_quickly() {
    let path = format!("/{}b", "a".repeat(2_000));
    for line in
        ["Disallow: /*a*a*a*a*a*a*a*a*a*c\n", &format!("Disallow: /{}c\n", "*a".repeat(4_000))]
    {
        let text = format!("User-agent: *\n{}", line.repeat((500 << 10) / line.len() - 1));
        let robots = Robots::parse(text.as_bytes(), "crivello");
        for _ in 0..5 {
            assert!(robots.allows(&path).allowed);
        }
    }
}

/// The suite, beside the checkout or beside one of the folders above it.
fn suite() -> PathBuf {
    let shared = env::var_os("CRIVELLO_SHARED").map(PathBuf::from).or_else(|| {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        above.map(|dir| dir.join("shared")).find(|shared| shared.is_dir())
    });
    let suite = shared.expect("a folder `shared`, or CRIVELLO_SHARED").join("samples/robots");
    let suite = suite.join("google-spec-test/src/main/resources/CTC");
    assert!(suite.is_dir(), "no {}", suite.display());
    suite
}

/// One question of the suite.
#[derive(Default)]
struct Case {
    robots: Vec<u8>,
    url: String,
    agent: String,
    allowed: bool,
}

/// Parses the text form of a protocol buffer as far as the suite uses it: `key: value`, where a value is a word or
/// several consecutive strings.
fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut robots = Vec::new();
    let mut case = Case::default();
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some((key, first)) = line.split_once(':').filter(|_| !line.starts_with('#')) else {
            if line.starts_with('}') && !case.agent.is_empty() | !case.url.is_empty() {
                cases.push(Case { robots: robots.clone(), ..std::mem::take(&mut case) });
            }
            continue;
        };
        let mut value = unquote(first.trim());
        while let Some(more) = lines.next_if(|line| line.starts_with('"')) {
            value.extend(unquote(more));
        }
        let word = || String::from_utf8_lossy(&value).into_owned();
        match key {
            "robotstxt" => robots = value,
            "testurl" => case.url = word(),
            "useragent" => case.agent = word(),
            "expected_outcome" => case.allowed = word() == "ALLOWED",
            _ => {}
        }
    }
    cases
}

fn unquote(text: &str) -> Vec<u8> {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.into();
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next().expect("an escape has a letter") {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'x' => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            digit @ b'0'..=b'7' => {
                let digits: String =
                    [digit].into_iter().chain(bytes.by_ref().take(2)).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 8).expect("three octal digits"));
            }
            letter => out.push(letter),
        }
    }
    out
}

#[test]
fn needs_shared_the_published_suite_passes() {
    let (mut asked, mut wrong) = (0, Vec::new());
    for folder in ["correctness", "stress"] {
        for entry in fs::read_dir(suite().join(folder)).expect("listed") {
            let path = entry.expect("listed").path();
            if path.extension().is_none_or(|extension| extension != "textproto") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("read");
            for case in cases(&text) {
                // A crawl has no empty URLs. The others are not normalised, since the suite leaves that to the
                // caller.
                let Some((_, rest)) = case.url.split_once("://") else { continue };
                asked += 1;
                let path_and_query = &rest[rest.find('/').unwrap_or(rest.len())..];
                let verdict = Robots::parse(&case.robots, &case.agent).allows(path_and_query);
                if verdict.allowed != case.allowed {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    wrong.push(format!("{file}: {} for {}", case.url, case.agent));
                }
            }
        }
    }
    assert!(asked >= 390, "only {asked} questions were read");
    assert_eq!(wrong, Vec::<String>::new());
}

/// A page links to every spelling of what its robots.txt forbids, and to a few pages that are allowed.
#[test]
fn no_spelling_of_a_forbidden_page_is_fetched() {
    let asked = Arc::<Mutex<BTreeSet<String>>>::default();
    let log = Arc::clone(&asked);
    let paths = FORBIDDEN.iter().flat_map(|(_, paths)| *paths);
    let links = paths.chain(&ALLOWED).map(|path| format!("<a href=\"{path}\">x</a>\n"));
    let page = links.collect::<String>();
    let port = serve(move |path, out| {
        let body = if path == "/robots.txt" { forbidding() } else { page.clone() };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
        write(out, &format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
        log.lock().expect("whole").insert(path.to_owned());
    });
    for normalise in [Config::default().normalise, Vec::new()] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Config { delay_ms: 1, normalise, ..Config::default() };
        let seeds = [format!("http://127.0.0.1:{port}/")];
        let report = crawl(dir.path(), &config, &seeds).expect("it runs");
        let mut expected: BTreeSet<&str> = ALLOWED.into_iter().collect();
        expected.extend(["/", "/robots.txt"]);
        let mut asked = asked.lock().expect("whole");
        assert_eq!(asked.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
        assert_eq!(report.pages, 1 + ALLOWED.len() as u64, "{report:?}");
        asked.clear();
    }
}

/// URLs that differ only in the case of their escapes are one.
#[test]
fn a_page_is_fetched_once_however_its_escapes_are_written() {
    let port = serve(|path, out| {
        let (status, body) = match path {
            "/robots.txt" => ("404 Not Found", ""),
            _ => (
                "200 OK",
                "<a href='/caf%c3%a9'>1</a> <a href='/caf%C3%A9'>2</a> <a href='/café'>3</a>",
            ),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8");
        let length = body.len();
        write(
            out,
            &format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"),
        );
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, normalise: Vec::new(), ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/"), format!("http://127.0.0.1:{port}/caf%c3%A9")];
    let report = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!((report.pages, report.requests), (2, 3), "{report:?}");
}

/// A truncated file counts as unavailable: the host is set aside, and the next crawl fetches it again.
#[test]
fn an_undecodable_file_is_fetched_again() {
    let is_whole = Arc::<AtomicBool>::default();
    let whole = Arc::clone(&is_whole);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&b"User-agent: *\nAllow: /\n".repeat(50)).expect("memory");
    let packed = packer.finish().expect("memory");
    let port = serve(move |path, out| {
        let length = packed.len() - if whole.load(Ordering::Relaxed) { 0 } else { 10 };
        if path != "/robots.txt" {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
            return write(out, &format!("{head}\r\nContent-Length: 5\r\n\r\n<p>ok"));
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close";
        write(out, &format!("{head}\r\nContent-Length: {length}\r\n\r\n"));
        let _ = out.write_all(&packed[..length]);
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 1, retry_ms: 5, retries: 1, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let report = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!((report.pages, report.waiting, report.requests), (0, 1, 2), "{report:?}");
    assert_eq!((report.aside.len(), report.forbidden_by_robots), (1, 0), "{report:?}");
    assert!(report.aside[0].why.contains("cannot be decoded"), "{:?}", report.aside);
    is_whole.store(true, Ordering::Relaxed);
    let report = crawl(dir.path(), &config, &[]).expect("it runs");
    assert_eq!((report.pages, report.waiting), (1, 0), "{report:?}");
}

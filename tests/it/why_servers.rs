//! `crivello why` on unusual servers: two schemes, unrequested 304s, limits of a host, recrawls, filters, agents;
//! and on every URL of a crawl.
//!
//! What lives here: [`Pages`], the server of all tests, which answers from a table. What does not: the verdicts on
//! ordinary servers (`why.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::sandbox::{Sandbox, init_web, truth};

/// A server whose answers can change while it runs; other paths are 404. The key `PATH if` is the answer to a
/// conditional request, and `*` to all other paths but robots.txt.
pub(crate) struct Pages {
    state: Arc<Mutex<State>>,
    root: String,
}

#[derive(Default)]
struct State {
    answers: BTreeMap<String, Vec<u8>>,
    requests: Vec<String>,
}

impl Pages {
    pub(crate) fn serve(pages: &[(&str, &str)]) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let root = format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = Pages { state: Arc::default(), root };
        for (path, answer) in pages {
            server.set(path, answer);
        }
        let state = Arc::clone(&server.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                thread::spawn(move || answer(stream, &state));
            }
        });
        server
    }

    /// Serves texts of pages. One that begins with a slash is a redirect to that path.
    pub(crate) fn of_texts(pages: &[(&str, &str)]) -> Pages {
        let server = Pages::serve(&[]);
        for (path, text) in pages {
            let head = match text.strip_prefix('/') {
                Some(_) => format!("302 Found\nLocation: {text}\n\n"),
                None => HTML.to_owned(),
            };
            server.set(path, &(head + text));
        }
        server
    }

    /// Sets an answer: the status and the headers, a blank line, the body.
    pub(crate) fn set(&self, path: &str, answer: &str) {
        self.set_bytes(path, answer.replace("ROOT", &self.root).as_bytes());
    }

    /// Sets an answer with a binary body.
    pub(crate) fn set_bytes(&self, path: &str, answer: &[u8]) {
        self.state.lock().expect("no panic").answers.insert(path.to_owned(), answer.to_vec());
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    pub(crate) fn port(&self) -> &str {
        self.root.rsplit(':').next().expect("a port")
    }

    /// Returns the heads of the requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().expect("no panic").requests)
    }
}

/// The file of one open recrawl without seeds.
pub(crate) fn one_recrawl(lines: &str) -> String {
    durable::seal(&format!("crivello recrawl 6\nrecrawls 1\n{lines}seeds 0\n"))
}

fn answer(stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let path = head.first()?.split(' ').nth(1)?.to_owned();
    let is_asked = head.iter().any(|line| line.to_ascii_lowercase().starts_with("if-"));
    let found = state.lock().ok().and_then(|mut state| {
        state.requests.push(head.join("\r\n") + "\r\n");
        let answers = &state.answers;
        let conditional = answers.get(&format!("{path} if")).filter(|_| is_asked);
        let any = || answers.get("*").filter(|_| path != "/robots.txt");
        conditional.or_else(|| answers.get(&path)).or_else(any).cloned()
    });
    let found = found.unwrap_or_else(|| b"404 Not Found\n\n".to_vec());
    let end = found.windows(2).position(|pair| pair == b"\n\n")?;
    let (head, body) = (str::from_utf8(&found[..end]).ok()?, &found[end + 2..]);
    let head = head.replace('\n', "\r\n");
    let length = format!("Content-Length: {}\r\nConnection: close", body.len());
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {head}\r\n{length}\r\n\r\n").ok()?;
    stream.write_all(body).ok()
}

pub(crate) const HTML: &str = "200 OK\nContent-Type: text/html\n\n";

/// A page with these links.
pub(crate) fn page(links: &[&str]) -> String {
    let links: Vec<String> = links.iter().map(|link| format!("<a href=\"{link}\">x</a>")).collect();
    format!("{HTML}<title>t</title>{}", links.concat())
}

pub(crate) const SETTINGS: &str =
    "[crawl]\ndelay_ms = 1\nip_delay_ms = 0\nretry_ms = 1\nretries = 1\n";

/// The end of a verdict about a URL that any crawl fetches again.
pub(crate) const NEXT_CRAWL: &str = "`crivello crawl` fetches it again";
/// The end of a verdict about a damaged page.
pub(crate) const NEXT_GIVEN: &str =
    "`crivello crawl --recrawl=given` with this URL fetches it again";

/// Writes the configuration and runs a crawl with these flags.
pub(crate) fn crawl(sandbox: &Sandbox, settings: &str, flags: &[&str]) {
    std::fs::create_dir_all(sandbox.path("web")).expect("a folder");
    let text = format!("{SETTINGS}{settings}");
    std::fs::write(sandbox.path("web/crivello.toml"), text).expect("a file");
    sandbox.done(&[&["crawl", "--dir", "web", "-q"], flags].concat());
}

/// Returns a collection of all pages of a server.
pub(crate) fn crawled(server: &Pages) -> Sandbox {
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    sandbox
}

/// Returns a collection whose first archive file has the first page, and whose second has the others.
pub(crate) fn crawled_twice(server: &Pages) -> Sandbox {
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    crawl(&sandbox, "", &[]);
    sandbox
}

pub(crate) fn why(sandbox: &Sandbox, url: &str) -> Value {
    let ran = sandbox.run(&["why", "--dir", "web", "--json", url]);
    assert!(matches!(ran.code, 0 | 3), "{url}: {ran:#?}");
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[track_caller]
pub(crate) fn check(sandbox: &Sandbox, url: &str, verdict: &str) -> Value {
    let why = why(sandbox, url);
    assert!(why["verdict"].as_str().is_some_and(|said| said.starts_with(verdict)), "{why:#}");
    why
}

#[test]
fn http_and_https_urls_are_distinct() {
    let (sandbox, server) = (Sandbox::new(), Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]));
    crawl(&sandbox, "", &[&server.url("/")]);
    check(&sandbox, &server.url("/a"), "fetched");
    let secure = server.url("/a").replace("http:", "https:");
    let why = check(&sandbox, &secure, "never seen");
    assert!(why["robots"].is_null() && why["captures"] == Value::Array(Vec::new()), "{why:#}");
}

#[test]
fn an_unrequested_304_is_not_a_page() {
    let pages = [("/", page(&["/odd"])), ("/odd", "304 Not Modified\n\n".to_owned())];
    let pages = pages.each_ref().map(|(path, answer)| (*path, answer.as_str()));
    let (sandbox, server) = (Sandbox::new(), Pages::serve(&pages));
    crawl(&sandbox, "", &[&server.url("/")]);
    let said = "given up after 2 failures, the last: protocol: the server answered 304";
    check(&sandbox, &server.url("/odd"), said);
}

/// A failed visit hides no page: crawl, index and `why` agree, also after several recrawls.
#[test]
fn a_failed_recrawl_keeps_the_page() {
    let zebra = |name: &str| format!("{HTML}<title>t</title><p>zebra{name}");
    let server = Pages::serve(&[
        ("/", &page(&["/odd", "/broken", "/good"])),
        ("/odd", &zebra("odd")),
        ("/broken", &zebra("broken")),
        ("/good", &zebra("good")),
    ]);
    let sandbox = crawled(&server);
    server.set("/odd", "304 Not Modified\n\n");
    server.set("/broken", "500 Oh\n\n");
    for _ in 0..2 {
        let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
        let counts = ["pages", "asked", "unchanged", "changed", "deleted", "failed"];
        let counts = counts.map(|name| report[name].as_u64().expect("a number"));
        assert_eq!(counts, [4, 4, 2, 0, 0, 2], "{report:#}");
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert_eq!(status["crawl"]["pages"], 4, "{status:#}");
        sandbox.done(&["index", "--dir", "web", "-q"]);
        for (name, vain) in [
            ("odd", "fetched; after that, a request failed (protocol: the server answered 304, "),
            ("broken", "fetched; after that, the server answered 500 to the last of 2 requests"),
        ] {
            let found = sandbox.json(&["search", "--dir", "web", &format!("zebra{name}")]);
            assert_eq!(found["hits"][0]["url"], server.url(&format!("/{name}")), "{found:#}");
            let why = check(&sandbox, &server.url(&format!("/{name}")), vain);
            assert_eq!(why["standing"], "a page", "{why:#}");
        }
    }
    // The next run has nothing left to do.
    let report = sandbox.json(&["crawl", "--dir", "web", "-q"]);
    assert_eq!((&report["pages"], &report["requests"]), (&4.into(), &0.into()), "{report:#}");
}

#[test]
fn changed_answers_are_reported() {
    let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", HTML), ("/b", HTML)]);
    let sandbox = crawled(&server);
    server.set("/a", "301 Moved\nLocation: /c\n\n");
    server.set("/b", "410 Gone\n\n");
    crawl(&sandbox, "", &["--recrawl"]);
    let moved = format!("fetched: it redirects to {}", server.url("/c"));
    check(&sandbox, &server.url("/a"), &moved);
    let why =
        check(&sandbox, &server.url("/b"), "gone: the server answered 410; it was there at 20");
    assert_eq!(why["captures"].as_array().map(Vec::len), Some(2), "{why:#}");
    check(&sandbox, &server.url("/c"), "fetched: the server answered 404");
}

/// In an unfinished recrawl, the limits of a host count pages that it has fetched and pages that are not due, but
/// no page that it has yet to fetch.
#[test]
fn host_limits_count_recrawled_pages_like_the_crawl() {
    let files = |sandbox: &Sandbox| -> Vec<String> {
        let entries = std::fs::read_dir(sandbox.path("web/archive")).expect("a folder");
        let names = entries.map(|entry| entry.expect("listed").file_name());
        let names = names.map(|name| name.into_string().expect("text"));
        names.filter(|name| name.ends_with(".warc.gz")).collect()
    };
    let (limit, dropped) =
        ("requests_per_host_max = 3\n", "dropped: its host has reached its limit of 3 requests");
    let waiting = "waiting: the last crawl left it out by its own settings";
    for (extent, old, verdict) in [
        ("all 7", "first", dropped), // all was asked for again: three requests
        ("all 7", "both", waiting),  // nothing was: none
        ("due 7 0 86400 864000", "both", dropped), // nothing is due: the three first ones
    ] {
        let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", HTML), ("/b", HTML)]);
        let sandbox = crawled(&server);
        let first = files(&sandbox);
        server.set("/", &page(&["/a", "/b", "/new"]));
        crawl(&sandbox, limit, &["--recrawl", "--set", "crawl.follow=false"]);
        let both = files(&sandbox);
        assert!(both.len() > first.len(), "{both:?}");
        let old = if old == "first" { first } else { both };
        let text = one_recrawl(&format!("{extent}\nfiles {}\n{}\n", old.len(), old.join("\n")));
        std::fs::write(sandbox.path("web/frontier/recrawl"), text).expect("a file");
        check(&sandbox, &server.url("/new"), verdict);
        // The crawl agrees.
        if verdict == dropped {
            crawl(&sandbox, limit, &[]);
            let why = why(&sandbox, &server.url("/new"));
            assert_eq!(why["captures"], Value::Array(Vec::new()), "{extent}: {why:#}");
        }
    }
}

/// A robots.txt may contain control characters for a terminal.
#[test]
fn server_text_sends_no_control_characters_to_terminals() {
    let robots = "200 OK\n\nUser-agent: *\nDisallow: /x # \x1b[2J\u{202E}\n";
    let server = Pages::serve(&[("/robots.txt", robots), ("/", &page(&["/x"]))]);
    let sandbox = crawled(&server);
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/x")]);
    assert!(said.contains("robots.txt: forbidden by line 2 (Disallow: /x #"), "{said}");
    assert!(!said.contains(['\x1b', '\u{202E}']), "{said:?}");
}

/// `why` and the next crawl agree on a host that is set aside.
#[test]
fn waiting_and_refused_hosts_are_not_contacted() {
    let busy = "503 Busy\nRetry-After: 4000\n\n";
    let links = page(&["http://127.0.0.2:9/x", "/busy", "/next"]);
    let server = Pages::serve(&[("/", &links), ("/busy", busy), ("/next", HTML)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "scope = \"any\"\n", &[&server.url("/"), "--max-time", "5"]);
    let refused = "refused: address: 127.0.0.2 is not a public address";
    for _ in 0..2 {
        check(&sandbox, "http://127.0.0.2:9/x", refused);
        check(&sandbox, &server.url("/next"), "waiting, because its host is set aside: ");
        let report = sandbox.json(&["crawl", "--dir", "web"]);
        assert_eq!((&report["requests"], &report["waiting"]), (&0.into(), &3.into()), "{report:#}");
    }
}

#[test]
fn abandoned_and_unreadable_answers_are_reported() {
    let pdf = "200 OK\nContent-Type: application/pdf\n\n%PDF-1.4";
    let pages = [
        ("/", page(&["/broken", "/large", "/doc", "/damaged", "/half"])),
        ("/broken", "500 Oh\n\n".to_owned()),
        ("/large", format!("{HTML}{}", "x".repeat(5_000))),
        ("/doc", pdf.to_owned()),
    ];
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (sandbox, server) = (Sandbox::new(), Pages::serve(&pages));
    // The first body cannot be unpacked at all; the second is a stored block that ends after its first words.
    let packed = "200 OK\nContent-Type: text/html\nContent-Encoding: gzip\n\n";
    let start = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    let (garbage, half) = (b"garbage".as_slice(), b"\x01\xff\x00\x00\xffuneven words");
    server.set_bytes("/damaged", &[packed.as_bytes(), start, garbage].concat());
    server.set_bytes("/half", &[packed.as_bytes(), start, half].concat());
    crawl(&sandbox, "body_bytes_max = 1024\n", &[&server.url("/")]);
    let said = "failed: the server answered 500 to the last of 2 requests; given up";
    check(&sandbox, &server.url("/broken"), said);
    check(&sandbox, &server.url("/large"), "given up after 1 failure, the last: too-large: ");
    let why = check(&sandbox, &server.url("/doc"), "fetched");
    assert!(why["cuts"][0].as_str().is_some_and(|cut| cut.contains("application/pdf")), "{why:#}");
    for (path, said) in [
        ("/damaged", "its body cannot be read: nothing can be read of a body in content coding"),
        ("/half", "only the first 12 bytes of its body can be read: its content coding is cut off"),
    ] {
        let why = check(&sandbox, &server.url(path), "fetched");
        assert!(why["cuts"][0].as_str().is_some_and(|cut| cut.contains(said)), "{path}: {why:#}");
    }
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert!(sandbox.done(&["search", "--dir", "web", "uneven"]).contains("/half"));
    let list = sandbox.done(&["search", "--dir", "web", "--json", "url:damaged OR url:half"]);
    assert!(!list.contains("/damaged"), "an empty page: {list}");
}

#[test]
fn unfollowed_urls_are_reported_with_the_responsible_key() {
    let home = format!("{HTML}<title>t</title><a href=/a>archive</a><a href=/b>other</a>");
    let server = Pages::serve(&[("/", &home), ("/a", HTML), ("/b", &page(&["/c"])), ("/c", HTML)]);
    let by_filter = "not followed: `parse_filter` or `link_filter`";
    for (setting, path, verdict) in [
        ("follow = false\n", "/b", "not followed: `follow` is false"),
        ("link_filter = \"anchor = archive\"\n", "/a", "fetched"),
        ("parse_filter = \"path != /b\"\n", "/c", by_filter),
        ("link_filter = \"anchor = archive\"\n", "/b", by_filter),
    ] {
        let sandbox = Sandbox::new();
        crawl(&sandbox, setting, &[&server.url("/")]);
        check(&sandbox, &server.url(path), verdict);
        // A link in the page table gets the same verdict.
        sandbox.done(&["index", "--dir", "web", "-q"]);
        check(&sandbox, &server.url(path), verdict);
    }
}

/// The page table has the nofollow link, but not the sitemap with the same URL.
#[test]
fn a_sitemap_leads_to_urls_that_links_do_not() {
    let sitemap = "200 OK\nContent-Type: text/xml\n\n<urlset><url><loc>ROOT/a</loc></url></urlset>";
    let home = format!("{HTML}<title>t</title><a rel=nofollow href=/a>x</a>");
    let server = Pages::serve(&[
        ("/robots.txt", "200 OK\n\nSitemap: ROOT/sitemap.xml\n"),
        ("/sitemap.xml", sitemap),
        ("/", &home),
        ("/a", HTML),
    ]);
    let sandbox = Sandbox::new();
    // The first page, then the sitemap.
    crawl(&sandbox, "requests_per_host_max = 2\n", &[&server.url("/")]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    check(&sandbox, &server.url("/a"), "dropped: its host has reached its limit of 2 requests");
}

#[test]
fn hosts_of_another_agent_are_left_to_it() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    for agent in 0..2 {
        let settings = format!("agents = 2\nagent = {agent}\n");
        let sandbox = Sandbox::with_settings(format!("{SETTINGS}{settings}"));
        sandbox.run(&["crawl", "--dir", "web", "-q", &server.url("/")]);
        let why = why(&sandbox, &server.url("/"));
        let said = why["verdict"].as_str().expect("text");
        let other = format!(
            "left to agent {}, which crawls its host: see frontier/outbox-{}.urls",
            1 - agent,
            1 - agent
        );
        assert!(said == other || said == "fetched", "{why:#}");
        let outbox = sandbox.path(&format!("web/frontier/outbox-{}.urls", 1 - agent));
        let is_sent = std::fs::read_to_string(outbox).is_ok_and(|text| !text.is_empty());
        assert_eq!(is_sent, said == other, "{why:#}");
    }
}

/// A URL beyond `redirects_max` is not left to the agent of its host, and is counted once.
#[test]
fn urls_beyond_redirects_max_go_to_no_agent() {
    const TARGETS: usize = 8;
    let server = Pages::serve(&[]);
    let sources: Vec<String> = (0..TARGETS).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = sources.iter().map(String::as_str).collect();
    server.set("/", &page(&links));
    let target = |number: usize| format!("http://h{number}.test/");
    for (number, source) in sources.iter().enumerate() {
        server.set(source, &format!("302 Found\nLocation: {}\n\n", target(number)));
    }
    let mut crawled = 0;
    for agent in 0..2 {
        let settings = format!("agents = 2\nagent = {agent}\nscope = \"any\"\nredirects_max = 0\n");
        let sandbox = Sandbox::with_settings(format!("{SETTINGS}{settings}"));
        sandbox.run(&["crawl", "--dir", "web", "-q", &server.url("/")]);
        if why(&sandbox, &server.url("/"))["verdict"] != "fetched" {
            continue;
        }
        crawled += 1;
        for _ in 0..2 {
            let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
            assert_eq!(report["dropped"]["redirects"], TARGETS, "{report:#}");
        }
        for number in 0..TARGETS {
            let far = "dropped: 1 redirect led to it, one more than `redirects_max` allows";
            check(&sandbox, &target(number), far);
        }
    }
    assert_eq!(crawled, 1, "the host is of one of them");
}

/// Useless lines of an inbox are counted and reported.
#[test]
fn useless_inbox_lines_are_counted_and_reported() {
    let (sandbox, server) =
        (Sandbox::new(), Pages::serve(&[("/", HTML), ("/5", HTML), ("/6", HTML)]));
    crawl(&sandbox, "", &[&server.url("/")]);
    let lines = [("hops:5 ", "/5"), ("hops:6 ", "/6"), ("hops:-1 ", "/x"), ("hops:1\t", "/y")];
    let lines = lines.map(|(way, path)| format!("{way}{}\n", server.url(path))).concat();
    std::fs::write(sandbox.path("web/frontier/inbox-1.urls"), lines).expect("a file");
    let report = sandbox.json(&["crawl", "--dir", "web", "-q"]);
    let counts = (&report["pages"], &report["dropped"]["redirects"], &report["bad_lines"]);
    assert_eq!(counts, (&2.into(), &1.into(), &2.into()), "{report:#}");
    check(&sandbox, &server.url("/5"), "fetched");
    let far = "dropped: another agent found it after 6 redirects, and `redirects_max` is 5";
    check(&sandbox, &server.url("/6"), far);
}

/// A URL from another agent is only in an inbox until it is fetched.
#[test]
fn urls_found_by_another_agent_are_reported() {
    let server = Pages::serve(&[("/", HTML), ("/a", HTML)]);
    let sandbox = crawled(&server);
    check(&sandbox, &server.url("/a"), "never seen");
    let line = format!("{}\n", server.url("/a"));
    std::fs::write(sandbox.path("web/frontier/inbox-1.urls"), line).expect("a file");
    let why = check(&sandbox, &server.url("/a"), "waiting: the last crawl did not reach it");
    assert_eq!(why["inbox"], true, "{why:#}");
    crawl(&sandbox, "", &[]);
    check(&sandbox, &server.url("/a"), "fetched");
}

/// The only link that is followed may be the last of many.
#[test]
fn a_followed_link_is_found_after_many_nofollow_links() {
    let mut pages: Vec<(String, String)> = Vec::new();
    for number in 0..22 {
        let rel = if number < 21 { "rel=nofollow" } else { "" };
        let text = format!("{HTML}<title>{number}</title><a {rel} href=/target>x</a>");
        pages.push((format!("/{number}"), text));
    }
    let links: Vec<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    let home = page(&links);
    let mut all: Vec<(&str, &str)> = vec![("/", &home), ("/target", HTML)];
    all.extend(pages.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let (sandbox, server) = (Sandbox::new(), Pages::serve(&all));
    crawl(&sandbox, "pages_per_host_max = 23\n", &[&server.url("/")]);
    let why = check(
        &sandbox,
        &server.url("/target"),
        "dropped: its host has reached its limit of 23 pages",
    );
    assert_eq!(why["found_on"].as_array().map(Vec::len), Some(20), "{why:#}");
}

/// `why` normalises the URL as a crawl does, before and after `index`, and names the rule.
#[test]
fn a_normalised_url_is_reported_with_the_rule() {
    let home = page(&["/a;jsessionid=1", "/b?sid=2&utm_source=x", "/c?sid=3"]);
    let robots = "200 OK\n\nUser-agent: *\nDisallow: /c\n";
    let server = Pages::serve(&[("/robots.txt", robots), ("/", &home), ("/a", HTML), ("/b", HTML)]);
    let sandbox = crawled(&server);
    for _ in ["before the index", "after it"] {
        for (asked, visited, rules, verdict) in [
            ("/a;jsessionid=1", "/a", "session-ids", "fetched"),
            ("/b?sid=7&utm_source=y", "/b", "session-ids, tracking", "fetched"),
            ("/c?sid=3", "/c", "session-ids", "forbidden by robots.txt: forbidden by line 2"),
            ("/d?sid=4", "/d", "session-ids", "never seen"),
        ] {
            let visited = server.url(visited);
            let said = format!("visited as {visited} (`normalise`: {rules}): {verdict}");
            let why = check(&sandbox, &server.url(asked), &said);
            assert_eq!(
                (&why["visited_as"], &why["refused"]),
                (&visited.clone().into(), &Value::Null)
            );
            // The normalised URL has the same verdict.
            let own = check(&sandbox, &visited, verdict);
            assert_eq!((&own["captures"], &own["found_on"]), (&why["captures"], &why["found_on"]));
            if verdict != "never seen" {
                assert_eq!(own["found_on"][0]["how"], "link", "{own:#}");
            }
        }
        sandbox.done(&["index", "--dir", "web", "-q"]);
    }
}

/// `status`, `why` and a second writer name the running command.
#[test]
fn a_running_crawl_is_reported() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    let look = |command: &[&str]| sandbox.json(&[command, &["--dir", "web"]].concat());
    let url = server.url("/a");
    assert_eq!(look(&["status"])["running"], Value::Null);
    std::fs::write(sandbox.path("web/frontier/pause"), "").expect("a file");
    let running = sandbox.start(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let id = running.child.id();
    let mut looks = 0;
    while look(&["status"])["running"].is_null() {
        looks += 1;
        assert!(looks < 1_000, "it does not begin");
        thread::sleep(std::time::Duration::from_millis(10));
    }
    for command in [&["status"][..], &["why", &url]] {
        let told = look(command);
        assert_eq!(told["running"]["command"], "crawl", "{told:#}");
        assert_eq!(told["running"]["process"], id, "{told:#}");
    }
    assert_eq!(sandbox.run(&["index", "--dir", "web"]).code, 1);
    assert_eq!(running.signal("INT"), Some(130));
    assert_eq!(look(&["status"])["running"], Value::Null);
}

/// `archive get` explains why it prints nothing, and accepts a URL without a scheme.
#[test]
fn archive_get_reports_why_it_prints_nothing() {
    let server = Pages::serve(&[
        ("/", &page(&["/kept-out", "/broken", "/endless"])),
        ("/kept-out", HTML),
        ("/broken", "500 Oh\n\nsecret"),
        ("/endless", &format!("{HTML}{}", "x".repeat(5_000))),
    ]);
    let sandbox = Sandbox::new();
    let settings = "store_filter = \"path = /\"\nbody_bytes_max = 1024\n";
    crawl(&sandbox, settings, &[&server.url("/")]);
    let get = |url: &str| sandbox.run(&["archive", "get", "--dir", "web", url]);
    let bare = server.url("/");
    assert!(get(bare.trim_start_matches("http://")).stdout.contains("<title>t</title>"));
    for path in ["/kept-out", "/broken", "/endless", "/other"] {
        let ran = get(&server.url(path));
        assert!(ran.code == 3 && ran.stdout.is_empty(), "{path}: {ran:#?}");
    }
    assert_ne!(get("mailto:x@y").code, 0);
    // The archive lacks a refused answer, but the crawl remembers the visit.
    let list = sandbox.done(&["archive", "list", "--dir", "web"]);
    assert!(!list.contains("\t500\t"), "{list}");
    check(&sandbox, &server.url("/broken"), "failed: the server answered 500");
    let report = sandbox.json(&["crawl", "--dir", "web", "-q"]);
    assert_eq!(report["requests"], 0, "{report:#}");
}

/// `why` agrees with the server's log about every requested URL, and gives a reason for every URL that the crawl
/// left out.
#[test]
fn why_agrees_with_the_server_log_for_every_url() {
    let (sandbox, server) = init_web();
    sandbox.done(&["crawl", "--dir", "web", "-q", &server.web().seeds()[0]]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let mut last: BTreeMap<String, u16> = BTreeMap::new();
    for line in server.log() {
        let host = server.web().host(&line.host).expect("a host");
        last.insert(server.web().url(host, &line.path), line.status);
    }
    assert!(last.len() > 100, "{}", last.len());
    // One URL for each host and status.
    let mut times: BTreeMap<(String, u16), usize> = BTreeMap::new();
    last.retain(|url, status| {
        let host = url.split('/').nth(2).unwrap_or_default().to_owned();
        let times = times.entry((host, *status)).or_default();
        *times += 1;
        *times == 1
    });
    let mut kinds = BTreeSet::new();
    for (url, status) in &last {
        let why = why(&sandbox, url);
        let said = why["verdict"].as_str().expect("text");
        let wanted: &[&str] = match status {
            0 => &["given up after "],
            200 => &["fetched", "given up after "],
            301 | 302 | 303 | 307 | 308 => &["fetched: it redirects to ", "fetched: the server"],
            429 | 500..=599 => &["failed: the server answered "],
            _ => &["fetched: the server answered "],
        };
        assert!(wanted.iter().any(|start| said.starts_with(start)), "{status} {url}: {why:#}");
        kinds.insert(said.split([':', ';', ',']).next().unwrap_or_default().to_owned());
        let is_known = why["seed"] == true || why["found_on"] != Value::Array(Vec::new());
        assert!(is_known || url.ends_with("/robots.txt"), "{url}: {why:#}");
    }
    assert!(kinds.len() > 2, "{kinds:?}");
    let mut by_robots = 0;
    for url in truth(&server).forbidden {
        let why = why(&sandbox, &url);
        let said = why["verdict"].as_str().expect("text");
        let wanted: &[&str] = if why["found_on"] == Value::Array(Vec::new()) {
            // Only forbidden pages name it.
            assert_eq!(why["forbidden"], true, "{url}: {why:#}");
            &["never seen", "waiting, because"]
        } else if url.contains("/beyond/") {
            &["not followed: all links to it have nofollow"]
        } else {
            &["forbidden by robots.txt: ", "refused: ", "waiting, because"]
        };
        assert!(wanted.iter().any(|start| said.starts_with(start)), "{url}: {why:#}");
        by_robots += usize::from(said.starts_with("forbidden by robots.txt: "));
    }
    assert!(by_robots > 0, "none was forbidden");
}

/// A retry does not count as asked until it is answered.
#[test]
fn a_failed_recrawl_counts_only_answered_requests() {
    let pages: Vec<String> = (0..4).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = pages.iter().map(String::as_str).collect();
    let server = Pages::serve(&[("/", &page(&links))]);
    for path in &links {
        server.set(path, HTML);
    }
    let sandbox = crawled(&server);
    for path in links.iter().chain(&["/"]) {
        server.set(path, "503 Busy\n\n");
    }
    let report = sandbox.json(&["crawl", "--dir", "web", "--recrawl"]);
    assert_eq!(report["asked"], 0, "{report:#}");
    assert_eq!(report["waiting"], 5, "{report:#}");
}

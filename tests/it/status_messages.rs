//! Details in `why`, `status` and `archive list`: URLs left, the state of a page in the index, retries and their
//! times.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, NEXT_RECRAWL, Pages, SETTINGS, check, crawl, page, why};

fn verdict(sandbox: &Sandbox, url: &str) -> String {
    why(sandbox, url)["verdict"].as_str().expect("a verdict").to_owned()
}

fn settle(sandbox: &Sandbox, settings: &str) {
    let text = format!("{SETTINGS}{settings}");
    fs::write(sandbox.path("web/crivello.toml"), text).expect("a file");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).expect("memory");
    packed.finish().expect("memory")
}

/// A server that announces more bytes than it sends. Returns the address of a page.
fn serve_long() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let head = if request[..length].starts_with(b"GET /robots.txt") {
                "404 Not Found\r\nContent-Length: 0"
            } else {
                "200 OK\r\nContent-Length: 18446744073709551615"
            };
            let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
        }
    });
    url
}

/// A list crawl leaves other URLs waiting; its summary and `status` say so.
#[test]
fn what_a_list_leaves_of_earlier_runs_is_in_its_summary_and_in_the_status() {
    let links: Vec<String> = (0..5).map(|n| format!("/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let server = Pages::serve(&[("/", &page(&links)), ("/9", HTML)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "pages_max = 1\n", &[&server.url("/")]);
    settle(&sandbox, "");
    fs::write(sandbox.path("web/frontier/seeds"), format!("{0}/\n{0}/8\n", server.url("")))
        .expect("a file");
    let ran = sandbox.run(&["crawl", "--dir", "web", "--list", &server.url("/9")]);
    let left = "Left      1 URL of earlier runs; `crivello crawl --dir web` continues\n";
    assert!(ran.stderr.contains(left), "{ran:#?}");
    let status = sandbox.done(&["status", "-v", "--dir", "web"]);
    assert!(status.contains(left) && !status.contains("Left      no URL"), "{status}");
}

#[test]
fn where_a_page_stands_is_told_by_the_index() {
    let words = "One and the same text, long enough to be compared with others, word by word and line by line. ";
    let long = format!("{HTML}<title>t</title><p>{}", words.repeat(20));
    let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", &long), ("/b", &long)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    for path in ["/a", "/b"] {
        server.set(path, "500 Oh\n\n");
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    for path in ["/a", "/b"] {
        let said = verdict(&sandbox, &server.url(path));
        assert!(said.ends_with(" is kept (there is no index yet)"), "{said}");
    }
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let said = ["/a", "/b"].map(|path| verdict(&sandbox, &server.url(path)));
    assert!(said.iter().any(|said| said.ends_with(" is kept (in the index)")), "{said:#?}");
    let head = format!(" is kept ({} represents it in the index)", server.url("/a"));
    assert!(said.iter().any(|said| said.ends_with(&head)), "{said:#?}");
}

#[test]
fn sitemaps_are_told_as_what_they_are() {
    let list = |path: &str| format!("<urlset><url><loc>ROOT{path}</loc></url></urlset>");
    let xml = |path: &str| format!("200 OK\nContent-Type: text/xml\nETag: \"1\"\n\n{}", list(path));
    let server = Pages::serve(&[("/", &page(&["/feed"])), ("/a", HTML), ("/b", HTML)]);
    server.set("/map", &xml("/a"));
    server.set("/map if", "304 Not Modified\n\n");
    server.set("/feed", &xml("/b"));
    let mut cut = gzip(&list("/a").replace("ROOT", &server.url("")).repeat(40));
    cut.truncate(cut.len() - 6);
    server.set_bytes("/cut", &[b"200 OK\nContent-Type: application/gzip\n\n", &cut[..]].concat());
    let sandbox = Sandbox::new();
    let seeds = ["/", "/map", "/cut"].map(|path| server.url(path));
    let flags = [&seeds[0], "--sitemap", &seeds[1], "--sitemap", &seeds[2]];
    crawl(&sandbox, "", &flags);
    check(&sandbox, &server.url("/map"), "fetched, as a sitemap");
    let why = check(&sandbox, &server.url("/cut"), "fetched, as a sitemap");
    let cut = why["cuts"][0].as_str().expect("a sentence");
    assert!(cut.starts_with("its end is missing or cannot be unpacked"), "{why:#}");
    let status = sandbox.done(&["status", "--dir", "web"]);
    assert!(status.contains("Cut       1 sitemap where the end is missing"), "{status}");
    assert!(!status.contains("sitemap_bytes_max"), "{status}");
    check(&sandbox, &server.url("/b"), "fetched");
    let why = check(&sandbox, &server.url("/feed"), "fetched");
    let cut = why["cuts"][0].as_str().expect("a sentence");
    assert!(cut.starts_with("only 1 URL in it can be read: "), "{why:#}");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let why = check(&sandbox, &server.url("/map"), "fetched, as a sitemap");
    assert_eq!(why["captures"][1]["status"], "304", "{why:#}");
}

/// One sitemap index names a sitemap too deep; a later one names it at a lower depth.
#[test]
fn a_sitemap_that_a_shorter_way_leads_to_is_not_dropped() {
    let index = |paths: &[&str]| {
        let maps = paths.iter().map(|path| format!("<sitemap><loc>ROOT{path}</loc></sitemap>"));
        format!("200 OK\n\n<sitemapindex>{}</sitemapindex>", maps.collect::<String>())
    };
    let server = Pages::serve(&[("/1", &index(&["/2"])), ("/2", &index(&["/3"]))]);
    server.set("/3", &index(&["/map"]));
    server.set("/map", "200 OK\n\n<urlset><url><loc>ROOT/a</loc></url></urlset>");
    server.set("/a", HTML);
    server.set("/", HTML);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--sitemap", &server.url("/1")]);
    let dropped = |flags: &[&str]| {
        sandbox.json(&[&["crawl", "--dir", "web", "-q"], flags].concat())["dropped"].clone()
    };
    assert_eq!(dropped(&[])["sitemap-depth"], 1);
    server.set("/1", &index(&["/2", "/map"]));
    assert_eq!(dropped(&["--recrawl"])["sitemap-depth"], Value::Null);
    check(&sandbox, &server.url("/a"), "fetched");
    assert_eq!(dropped(&[])["sitemap-depth"], Value::Null);
}

#[test]
fn a_canonical_address_was_seen() {
    let head = "<link rel=canonical href=/b><title>t</title>";
    let server = Pages::serve(&[("/", &format!("{HTML}{head}")), ("/b", HTML)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let url = server.url("/b");
    let why = check(&sandbox, &url, "not followed: pages name it as their canonical URL");
    assert_eq!(why["found_on"][0]["how"], "canonical", "{why:#}");
    let told = sandbox.done(&["why", "--dir", "web", &url]);
    assert!(told.contains(&format!("named as the canonical URL by {}", server.url("/"))), "{told}");
    check(&sandbox, &server.url("/c"), "never seen");
}

/// A URL that another agent found after too many redirects is dropped, whichever agent crawls the host.
#[test]
fn an_address_of_an_inbox_that_is_too_far_is_dropped() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = Sandbox::new();
    for agent in [0, 1] {
        let _ = fs::remove_dir_all(sandbox.path("web"));
        fs::create_dir_all(sandbox.path("web/frontier")).expect("a folder");
        settle(&sandbox, &format!("agents = 2\nagent = {agent}\n"));
        let far = server.url("/far");
        let inbox = sandbox.path(&format!("web/frontier/inbox-{}.urls", 1 - agent));
        fs::write(inbox, format!("hops:99 {far}\n")).expect("a file");
        sandbox.run(&["crawl", "--dir", "web", "-q", &server.url("/")]);
        check(&sandbox, &far, "dropped: another agent found it after 99 redirects");
    }
}

#[test]
fn the_moment_of_a_retry_after_is_one() {
    let busy = "503 Busy\nRetry-After: 100000\n\n";
    let broken = "500 Broken\n\n";
    let server = Pages::serve(&[("/", HTML), ("/bad", broken), ("/a", busy), ("/next", HTML)]);
    let sandbox = Sandbox::new();
    let paths = ["/", "/bad", "/a", "/next"].map(|path| server.url(path));
    crawl(&sandbox, "", &paths.each_ref().map(String::as_str));
    let mut text = String::new();
    // A resumed run counts from the time of the record.
    for _ in 0..5 {
        for path in &paths[1..] {
            text += &sandbox.done(&["why", "--dir", "web", path]);
        }
        text += &sandbox.done(&["status", "--dir", "web"]);
        sandbox.run(&["crawl", "--dir", "web", "-q"]);
    }
    let text = text.replace("no crawl visits it before", "not before");
    let mut moments: Vec<&str> =
        text.split("not before ").skip(1).filter_map(|rest| rest.get(..20)).collect();
    // The verdicts of visited pages have the time twice: for the page and for the host.
    assert_eq!(moments.len(), 5 * (2 + 2 + 1 + 1), "{text}");
    moments.dedup();
    assert_eq!(moments.len(), 1, "{text}");
}

#[test]
fn what_was_dropped_for_want_of_room_may_be_asked_for() {
    let links: Vec<String> = (0..9).map(|n| format!("/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let server = Pages::serve(&[("/", &page(&links))]);
    let quick = "delay_ms = 1\nwaiting_max = 3\n";
    for own in [quick, "delay_ms = 400\nturn_s_max = 1\n"] {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.path("web")).expect("a folder");
        let settings = SETTINGS.replace("delay_ms = 1\nip", "ip");
        fs::write(sandbox.path("web/crivello.toml"), settings + own).expect("a file");
        sandbox.done(&["crawl", "--dir", "web", "-q", &server.url("/")]);
        let said = verdict(&sandbox, &server.url("/8"));
        assert!(said.starts_with("probably dropped: the last crawl dropped "), "{said}");
        assert!(said.ends_with("; the next crawl may fetch it"), "{said}");
        let told = sandbox.json(&["crawl", "--dir", "web", "-q"]);
        assert!(told["requests"].as_u64() > Some(0), "{told:#}");
    }
}

#[test]
fn who_asks_again_is_told_of_what_was_given_up_and_of_what_a_recrawl_has_left() {
    let server = Pages::serve(&[("/", &page(&["/b", "/a"])), ("/a", HTML), ("/b", "500 Oh\n\n")]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let said = verdict(&sandbox, &server.url("/b"));
    assert!(said.ends_with(&format!("; given up; {NEXT_RECRAWL}")), "{said}");
    assert_eq!(verdict(&sandbox, &server.url("/a")), "fetched");
    let slow = ["--max-time", "1", "--set", "crawl.delay_ms=60000"];
    sandbox.done(&[&["crawl", "--dir", "web", "-q", "--recrawl"], &slow[..]].concat());
    let said = "fetched; the unfinished recrawl has yet to fetch it again";
    assert_eq!(verdict(&sandbox, &server.url("/a")), said);
    sandbox.done(&["crawl", "--dir", "web", "-q"]);
    assert_eq!(verdict(&sandbox, &server.url("/a")), "fetched");
}

#[test]
fn what_can_be_read_is_not_said_to_be_damaged() {
    let long = serve_long();
    let server = Pages::serve(&[("/", &page(&["/junk"]))]);
    let mut packed = gzip("<title>t</title><p>all of it</p>");
    packed.extend(b"junk behind its end");
    let head = b"200 OK\nContent-Type: text/html\nContent-Encoding: gzip\n\n";
    server.set_bytes("/junk", &[&head[..], &packed[..]].concat());
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), &long]);
    let why = check(&sandbox, &server.url("/junk"), "fetched");
    assert_eq!(why["cuts"], Value::Array(Vec::new()), "{why:#}");
    let said = verdict(&sandbox, &long);
    assert!(said.contains("or the length that it gives for the body"), "{said}");
}

#[test]
fn visits_of_one_second_are_told_apart() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let why = why(&sandbox, &server.url("/"));
    let captures = why["captures"].as_array().expect("visits");
    let moments: Vec<_> = captures.iter().map(|it| (&it["date_s"], &it["microseconds"])).collect();
    assert!(moments.len() == 2 && moments[0] != moments[1], "{why:#}");
    let told = sandbox.done(&["why", "--dir", "web", &server.url("/")]);
    let list = sandbox.done(&["archive", "list", "--dir", "web"]);
    let lines = sandbox.done(&["archive", "list", "--dir", "web", "--json"]);
    for (date_s, us) in moments {
        let us = us.as_u64().expect("a number");
        let fraction = format!(".{us:06}Z");
        assert!(told.contains(&fraction) && list.contains(&fraction), "{told}{list}");
        let line = format!("\"date_s\":{date_s},");
        let is_it = |found: &str| {
            found.contains(&line) && found.contains(&format!("\"microseconds\":{us},"))
        };
        assert!(lines.lines().any(is_it), "{lines}");
    }
}

//! Details in `why`, `status` and `archive list`: sitemaps, canonical URLs, retries and their times.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, Pages, SETTINGS, check, crawl, crawled, page, why};

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).expect("memory");
    packed.finish().expect("memory")
}

#[test]
fn sitemaps_are_reported_as_sitemaps() {
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
    assert_eq!(why["cuts"].as_array().map(Vec::len), Some(1), "{why:#}");
    check(&sandbox, &server.url("/b"), "fetched");
    let why = check(&sandbox, &server.url("/feed"), "fetched");
    assert_eq!(why["cuts"].as_array().map(Vec::len), Some(1), "{why:#}");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let why = check(&sandbox, &server.url("/map"), "fetched, as a sitemap");
    assert_eq!(why["captures"][1]["status"], "304", "{why:#}");
}

/// One sitemap index names a sitemap too deep; a later one names it at a lower depth.
#[test]
fn a_sitemap_reachable_at_lower_depth_is_not_dropped() {
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
fn a_canonical_address_counts_as_seen() {
    let head = "<link rel=canonical href=/b><title>t</title>";
    let server = Pages::serve(&[("/", &format!("{HTML}{head}")), ("/b", HTML)]);
    let sandbox = crawled(&server);
    let url = server.url("/b");
    let why = check(&sandbox, &url, "not followed: pages name it as their canonical URL");
    assert_eq!(why["found_on"][0]["how"], "canonical", "{why:#}");
    check(&sandbox, &server.url("/c"), "never seen");
}

#[test]
fn all_commands_report_the_same_retry_after_time() {
    let busy = "503 Busy\nRetry-After: 100000\n\n";
    let server = Pages::serve(&[("/", HTML), ("/a", busy), ("/next", HTML)]);
    let sandbox = Sandbox::new();
    let paths = ["/", "/a", "/next"].map(|path| server.url(path));
    crawl(&sandbox, "", &paths.each_ref().map(String::as_str));
    let status = || sandbox.json(&["status", "--dir", "web"])["crawl"]["aside"][0].take();
    let until_s = status()["until_s"].take();
    // A resumed run counts from the time of the record.
    for _ in 0..3 {
        for path in &paths[1..] {
            assert_eq!(why(&sandbox, path)["not_before_s"], until_s);
        }
        assert_eq!(status()["until_s"], until_s);
        sandbox.run(&["crawl", "--dir", "web", "-q"]);
    }
}

#[test]
fn a_crawl_can_fetch_urls_dropped_by_queue_limits() {
    let links: Vec<String> = (0..9).map(|n| format!("/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let server = Pages::serve(&[("/", &page(&links))]);
    let quick = "delay_ms = 1\nwaiting_max = 3\n";
    for own in [quick, "delay_ms = 400\nturn_s_max = 1\n"] {
        let settings = SETTINGS.replace("delay_ms = 1\nip", "ip");
        let sandbox = Sandbox::with_settings(settings + own);
        sandbox.done(&["crawl", "--dir", "web", "-q", &server.url("/")]);
        check(&sandbox, &server.url("/8"), "probably dropped: the last crawl dropped ");
        let told = sandbox.json(&["crawl", "--dir", "web", "-q"]);
        assert!(told["requests"].as_u64() > Some(0), "{told:#}");
    }
}

#[test]
fn a_readable_body_with_trailing_junk_is_not_damaged() {
    let server = Pages::serve(&[("/", &page(&["/junk"]))]);
    let mut packed = gzip("<title>t</title><p>all of it</p>");
    packed.extend(b"junk behind its end");
    let head = b"200 OK\nContent-Type: text/html\nContent-Encoding: gzip\n\n";
    server.set_bytes("/junk", &[&head[..], &packed[..]].concat());
    let sandbox = crawled(&server);
    let why = check(&sandbox, &server.url("/junk"), "fetched");
    assert_eq!(why["cuts"], Value::Array(Vec::new()), "{why:#}");
}

#[test]
fn visits_within_one_second_are_distinguished() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let why = why(&sandbox, &server.url("/"));
    let captures = why["captures"].as_array().expect("visits");
    let moments: Vec<_> = captures.iter().map(|it| (&it["date_s"], &it["microseconds"])).collect();
    assert!(moments.len() == 2 && moments[0] != moments[1], "{why:#}");
    let list = sandbox.done(&["archive", "list", "--dir", "web"]);
    let lines = sandbox.done(&["archive", "list", "--dir", "web", "--json"]);
    for (date_s, us) in moments {
        let times = [format!("\"date_s\":{date_s},"), format!("\"microseconds\":{us},")];
        let is_it = |line: &str| times.iter().all(|time| line.contains(time));
        assert!(list.contains(&format!(".{:06}Z", us.as_u64().expect("a number"))), "{list}");
        assert!(lines.lines().any(is_it), "{lines}");
    }
}

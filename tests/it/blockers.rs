//! `crivello why` decides first whether a crawl fetches a URL at all, and only then when.

use std::fs;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, NEXT_CRAWL, Pages, check, crawl, crawled_twice, page};

const BROKEN: &str = "500 Broken\n\n";
const SITEMAP: &str =
    "200 OK\nContent-Type: text/xml\n\n<urlset><url><loc>ROOT/a</loc></url></urlset>";

/// A host where every URL `/x…` fails, with a page for each key that excludes one.
fn server() -> Pages {
    let home = format!(
        "{HTML}<title>t</title><a href=/d1>x</a><a href=/red>x</a><a href=/no>x</a><a href=/x1>x</a><a href=/x2>x</a>\
         <a href=/x3>x</a><a href=/x4>x</a><a href=/late>x</a><a rel=nofollow href=/nf>x</a>"
    );
    Pages::serve(&[
        ("/robots.txt", "200 OK\n\nUser-agent: *\nDisallow: /no\nSitemap: ROOT/s.xml\n"),
        ("/s.xml", SITEMAP),
        ("/", &home),
        ("/d1", &page(&["/d2"])),
        ("/red", "302 Found\nLocation: ROOT/there\n\n"),
        ("/x1", BROKEN),
        ("/x2", BROKEN),
        ("/x3", BROKEN),
        ("/x4", BROKEN),
    ])
}

#[test]
fn a_host_set_aside_hides_no_other_verdict() {
    let server = server();
    let too_many = "dropped: it is linked only after the first 7 links of a page";
    for (settings, path, verdict) in [
        ("", "/no", "forbidden by robots.txt: "),
        ("", "/nf", "not followed: all links to it have nofollow"),
        ("depth_max = 1\n", "/d2", "dropped: 2 links lead to it"),
        ("links_per_page_max = 7\n", "/late", too_many),
        ("sitemaps = false\n", "/s.xml", "not followed: `sitemaps` is false"),
        ("redirects_max = 0\n", "/there", "dropped: 1 redirect led to it"),
        ("", "/x4", "waiting, because its host is set aside"),
    ] {
        let sandbox = Sandbox::new();
        let settings = format!("host_failures_max = 2\n{settings}");
        crawl(&sandbox, &settings, &[&server.url("/")]);
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert!(!status["crawl"]["aside"][0].is_null(), "{settings}: {status}");
        check(&sandbox, &server.url(path), verdict);
    }
    let sandbox = Sandbox::new();
    let seeds: Vec<String> = ["/", "/x1", "/x2", "/x3"].map(|path| server.url(path)).to_vec();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    crawl(&sandbox, "host_failures_max = 2\n", &[&["--list"], &seeds[..]].concat());
    for path in ["/d1", "/s.xml"] {
        check(&sandbox, &server.url(path), "not followed: `follow` is false or the crawl used");
    }
    check(&sandbox, &server.url("/x3"), "waiting, because its host is set aside");
}

/// With `follow = false`, a crawl uses only sitemaps and redirects of its seeds.
#[test]
fn without_follow_only_given_sitemaps_are_used() {
    let server = server();
    let sandbox = Sandbox::new();
    crawl(&sandbox, "pages_max = 2\n", &[&server.url("/")]);
    let (sitemap, x1) = (server.url("/s.xml"), server.url("/x1"));
    for (flags, verdict) in [
        (&[x1.as_str()][..], "not followed: `follow` is false"),
        (&["--sitemap", sitemap.as_str()], "fetched: the server answered 404"),
    ] {
        let others = [server.url("/d1"), server.url("/x2"), server.url("/x3")];
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        crawl(&sandbox, "host_failures_max = 2\nfollow = false\n", &[flags, &others[..]].concat());
        check(&sandbox, &server.url("/a"), verdict);
    }
}

/// A failed page waits only if the present configuration lets a crawl fetch it.
#[test]
fn no_retry_is_promised_if_settings_prevent_it() {
    let busy = "503 Busy\nRetry-After: 4000\n\n";
    let links = page(&["/p", "/bad"]);
    let server = Pages::serve(&[("/", &links), ("/p", HTML), ("/bad", busy)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-time", "3"]);
    let bad = server.url("/bad");
    let failed = "failed: the server answered 503 to the last of 1 request; ";
    check(&sandbox, &bad, &format!("{failed}{NEXT_CRAWL}, not before 20"));
    for (setting, why) in [
        ("crawl.follow=false", "no crawl fetches it again: `follow` is false"),
        ("crawl.fetch_filter=path != /bad", "no crawl fetches it again: it is refused"),
        ("crawl.pages_per_host_max=2", "no crawl fetches it again: its host has reached"),
        ("crawl.scope=\"prefix\"", NEXT_CRAWL),
    ] {
        let told = sandbox.json(&["why", "--dir", "web", &bad, "--set", setting]);
        let said = told["verdict"].as_str().expect("a verdict");
        assert!(said.starts_with(&format!("{failed}{why}")), "{setting}: {said}");
    }
}

/// A host that requests a wait. The first archive file has the first page; the second has another page and the
/// 503.
fn busy_host() -> (Pages, Sandbox) {
    let links = page(&["/good", "/busy", "/next"]);
    let server = Pages::serve(&[("/", &links), ("/good", HTML), ("/next", HTML)]);
    server.set("/busy", "503 Busy\nRetry-After: 4000\n\n");
    let sandbox = crawled_twice(&server);
    (server, sandbox)
}

/// The requested wait survives the loss of the archive file with the answer.
#[test]
fn a_requested_wait_survives_a_lost_file() {
    for is_left in [true, false] {
        let (server, sandbox) = busy_host();
        let next = || check(&sandbox, &server.url("/next"), "waiting, because its host is set");
        let until_s = next()["not_before_s"].clone();
        assert!(until_s.is_i64(), "{until_s}");
        let second = sandbox.path("web/archive/crivello-00002.warc.gz");
        fs::remove_file(&second).expect("it is there");
        if !is_left {
            fs::remove_file(second.with_extension("gz.cdxj")).expect("it is there");
        }
        check(&sandbox, &server.url("/busy"), "lost: ");
        // The first crawl rebuilds the visit log, without the answer.
        for _ in 0..3 {
            assert_eq!(next()["not_before_s"], until_s);
            let report = sandbox.json(&["crawl", "--dir", "web"]);
            assert_eq!((&report["requests"], &report["waiting"]), (&0.into(), &3.into()));
            assert_eq!(report["aside"][0]["until_s"], until_s, "{report:#}");
        }
    }
}

/// A request is allowed in the named second, and never before.
#[test]
fn the_reported_retry_time_matches_the_crawl() {
    let (server, sandbox) = busy_host();
    let why = check(&sandbox, &server.url("/busy"), "failed: ");
    let asked = &why["captures"][0];
    let us = asked["microseconds"].as_i64().expect("a number");
    // The wait begins with the answer, soon after the request.
    let asked_s = asked["date_s"].as_i64().expect("a number");
    let next_s = asked_s + i64::from(us > 500_000);
    let until_s = why["not_before_s"].as_i64().expect("a number") - 4_000;
    assert!((asked_s..=next_s).contains(&until_s), "{why:#}");
    assert_eq!(why["aside"]["until_s"], why["not_before_s"], "{why:#}");
}

/// A recrawl fetches known URLs without any link to them.
#[test]
fn an_unfinished_recrawl_fetches_unlinked_known_urls() {
    let (server, sandbox) = busy_host();
    fs::remove_file(sandbox.path("web/archive/crivello-00001.warc.gz")).expect("it is there");
    let failed = "failed: the server answered 503 to the last of 1 request; ";
    let nobody = "no crawl fetches it again: nothing in the archive links to it";
    check(&sandbox, &server.url("/busy"), &format!("{failed}{nobody}"));
    let report = sandbox.json(&["crawl", "--dir", "web", "--recrawl"]);
    assert_eq!(report["requests"], 0, "{report:#}");
    let open = format!("{NEXT_CRAWL} for the unfinished recrawl, not before 20");
    check(&sandbox, &server.url("/busy"), &format!("{failed}{open}"));
}

/// URLs that a recrawl finds in a full collection wait for a crawl with a higher limit.
#[test]
fn new_urls_wait_when_the_collection_is_full() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML), ("/b", HTML), ("/c", HTML)]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "pages_max = 2\n", &[&server.url("/")]);
    server.set("/", &page(&["/a", "/b", "/c"]));
    for flags in [&["--recrawl"][..], &[]] {
        let report = sandbox.json(&[&["crawl", "--dir", "web"], flags].concat());
        assert_eq!((&report["pages"], &report["waiting"]), (&2.into(), &2.into()), "{report:#}");
        assert!(report["dropped"].as_object().is_some_and(serde_json::Map::is_empty), "{report:#}");
        let waiting = "waiting: the last crawl ended at its `pages_max` with 2 URLs in the queue";
        check(&sandbox, &server.url("/b"), waiting);
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert_eq!(status["crawl"]["waiting"], 2, "{status}");
    }
    let report = sandbox.json(&["crawl", "--dir", "web", "--max-pages", "4"]);
    assert_eq!((&report["pages"], &report["waiting"]), (&4.into(), &0.into()), "{report:#}");
}

/// The newest robots.txt counts, even if it is lost and its rules are unknown.
#[test]
fn a_lost_newer_robots_txt_overrides_an_older_one() {
    let links = page(&["/next"]);
    let server = Pages::serve(&[("/", &links), ("/next", HTML)]);
    server.set("/robots.txt", "200 OK\n\nUser-agent: *\nAllow: /\n");
    let sandbox = Sandbox::new();
    let [first, second] =
        [1, 2].map(|n| sandbox.path(&format!("web/archive/crivello-0000{n}.warc.gz")));
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    let kept = fs::read(&first).expect("it is there");
    for file in [&first, &first.with_extension("gz.cdxj")] {
        fs::remove_file(file).expect("it is there");
    }
    server.set("/robots.txt", "200 OK\n\nUser-agent: *\nDisallow: /next\n");
    crawl(&sandbox, "", &["--max-pages", "1"]);
    fs::write(&first, kept).expect("room");
    check(&sandbox, &server.url("/next"), "forbidden by robots.txt: ");
    fs::remove_file(&second).expect("it is there");
    let why = check(&sandbox, &server.url("/next"), "waiting: the robots.txt of 20");
    assert!(why["robots"].is_null() && why["forbidden"] == false, "{why:#}");
    crawl(&sandbox, "", &[]);
    check(&sandbox, &server.url("/next"), "forbidden by robots.txt: ");
}

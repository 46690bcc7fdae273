//! Pages whose headers change while the body stays the same: in the index and for `crivello why`.

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::why_servers::{NEXT_CRAWL, Pages, check, crawl, crawled, page};

/// The headers of the last answer decide, in the index and for `why`.
#[test]
fn the_last_headers_decide_how_a_page_counts() {
    const TAG: &str = "\nX-Robots-Tag: noindex";
    let zebra = |fields: &str, name: &str| {
        format!(
            "200 OK\nContent-Type: text/html{fields}\n\n<title>t</title><p>zebra{name} caf\u{e9}"
        )
    };
    let server = Pages::serve(&[
        ("/", &page(&["/closed", "/freed", "/typed", "/late"])),
        ("/closed", &zebra("", "closed")),
        ("/freed", &zebra(TAG, "freed")),
        ("/typed", &zebra("", "typed")),
        ("/late", &zebra("", "late")),
    ]);
    let sandbox = Sandbox::new();
    let found = || ["closed", "freed", "typed", "late"].map(|name| found(&sandbox, name));
    crawl(&sandbox, "", &[&server.url("/")]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(found(), [1, 0, 1, 1]);
    server.set("/closed", &zebra(TAG, "closed"));
    server.set("/freed", &zebra("", "freed"));
    server.set(
        "/typed",
        "200 OK\nContent-Type: image/png\n\n<title>t</title><p>zebratyped caf\u{e9}",
    );
    server.set("/late", "423 Locked\n\n");
    let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let counts = ["unchanged", "changed", "deleted", "failed"];
    let counts = counts.map(|name| report[name].as_u64().expect("a number"));
    assert_eq!(counts, [1, 3, 0, 1], "{report:#}");
    for flags in [["index", "-q"], ["index", "--rebuild"]] {
        sandbox.done(&[&flags[..], &["--dir", "web"]].concat());
        assert_eq!(found(), [0, 1, 0, 1], "{flags:?}");
    }
    let closed = check(&sandbox, &server.url("/closed"), "fetched");
    assert_eq!(closed["standing"], "a page with noindex", "{closed:#}");
    let freed = check(&sandbox, &server.url("/freed"), "fetched");
    assert_eq!(freed["standing"], "a page", "{freed:#}");
    check(
        &sandbox,
        &server.url("/late"),
        "fetched; after that, the server answered 423 to the last of 2",
    );
}

const NOINDEX_304: &str = "304 Not Modified\nETag: \"1\"\nX-Robots-Tag: noindex\n\n";

/// A page with an entity tag and a word of its own.
fn tagged(name: &str) -> String {
    format!("200 OK\nContent-Type: text/html\nETag: \"1\"\n\n<title>t</title><p>zebra{name}")
}

/// Returns how many pages a search for the word of a page finds.
fn found(sandbox: &Sandbox, name: &str) -> usize {
    let found = sandbox.run(&["search", "--dir", "web", "--json", &format!("zebra{name}")]);
    assert!(matches!(found.code, 0 | 3), "{found:#?}");
    let found: Value = serde_json::from_str(&found.stdout).expect("JSON");
    found["hits"].as_array().expect("hits").len()
}

/// `noindex` in a 304 counts, whatever happens to the request that follows it.
#[test]
fn a_304_with_noindex_removes_the_page() {
    let names = ["busy", "always", "plain"];
    let server = Pages::serve(&[("/", &page(&["/busy", "/always", "/plain"]))]);
    for name in names {
        server.set(&format!("/{name}"), &tagged(name));
    }
    let sandbox = crawled(&server);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(names.map(|name| found(&sandbox, name)), [1, 1, 1]);
    server.set("/busy if", NOINDEX_304);
    server.set("/busy", "503 Busy\n\n");
    server.set("/always", NOINDEX_304);
    server.set("/plain if", "304 Not Modified\n\n");
    for _ in 0..2 {
        let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
        let counts = ["pages", "asked", "unchanged", "changed", "failed"];
        let counts = counts.map(|name| report[name].as_u64().expect("a number"));
        assert_eq!(counts, [4, 4, 2, 0, 2], "{report:#}");
        for flags in [["index", "-q"], ["index", "--rebuild"]] {
            sandbox.done(&[&flags[..], &["--dir", "web"]].concat());
            assert_eq!(names.map(|name| found(&sandbox, name)), [0, 0, 1]);
        }
        for name in ["busy", "always"] {
            let why = check(&sandbox, &server.url(&format!("/{name}")), "fetched; after that, ");
            let said = why["verdict"].as_str().expect("text");
            assert!(said.ends_with(" has noindex)"), "{why:#}");
            assert_eq!(why["standing"], "a page with noindex", "{why:#}");
        }
        let kept = sandbox.done(&["archive", "get", "--dir", "web", &server.url("/always")]);
        assert!(kept.contains("zebraalways"), "the page itself stays: {kept}");
    }
    // A 304 without it, or the page itself, ends the exclusion.
    server.set("/busy if", "304 Not Modified\n\n");
    server.set("/always", &tagged("always"));
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(names.map(|name| found(&sandbox, name)), [1, 1, 1]);
    for name in names {
        let why = check(&sandbox, &server.url(&format!("/{name}")), "fetched");
        assert_eq!((&why["verdict"], &why["standing"]), (&"fetched".into(), &"a page".into()));
    }
}

/// The limit of a host leaves no room for the request after a 304; the 304 still counts.
#[test]
fn a_304_at_the_host_limit_is_counted() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &tagged("a"))]);
    let sandbox = Sandbox::new();
    let limit = "requests_per_host_max = 2\n";
    crawl(&sandbox, limit, &[&server.url("/")]);
    server.set("/a if", NOINDEX_304);
    let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let counts = ["asked", "unchanged", "failed", "pages"];
    let counts = counts.map(|name| report[name].as_u64().expect("a number"));
    assert_eq!((counts, &report["dropped"]["host-limit"]), ([2, 1, 1, 2], &1.into()), "{report:#}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(found(&sandbox, "a"), 0);
    let why = check(&sandbox, &server.url("/a"), "fetched; after that, the server answered 304");
    let last = why["captures"].as_array().and_then(|all| all.last()).expect("visits");
    assert_eq!((&last["status"], &last["inconclusive"]), (&"304".into(), &"noindex".into()));
    assert_eq!(why["standing"], "a page with noindex", "{why:#}");
    // The recrawl is finished, and the next run has nothing to do.
    let report = sandbox.json(&["crawl", "--dir", "web", "-q"]);
    assert_eq!((&report["pages"], &report["requests"]), (&2.into(), &0.into()), "{report:#}");
}

/// Recrawls may follow each other within a second, the resolution of dates in the archive. Then the order in the
/// archive counts.
#[test]
fn the_later_304_within_one_second_counts() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &tagged("a"))]);
    let sandbox = crawled(&server);
    let url = server.url("/a");
    let is_in_one_second = |why: &Value| {
        let captures = why["captures"].as_array().expect("visits");
        let dates: Vec<i64> =
            captures.iter().filter_map(|capture| capture["date_s"].as_i64()).collect();
        dates[dates.len() - 3] == dates[dates.len() - 2]
    };
    for _ in 0..20 {
        for (conditional, plain) in
            [("304 Not Modified\n\n", &*tagged("a")), (NOINDEX_304, "503 Busy\n\n")]
        {
            server.set("/a if", conditional);
            server.set("/a", plain);
            sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl", "--list", &url]);
        }
        let why = check(&sandbox, &url, "fetched; after that, the server answered 503");
        if is_in_one_second(&why) {
            sandbox.done(&["index", "--dir", "web", "-q"]);
            assert_eq!(found(&sandbox, "a"), 0);
            let why = check(&sandbox, &url, "fetched; after that");
            assert_eq!(why["standing"], "a page with noindex", "{why:#}");
            return;
        }
    }
    panic!("two short runs never ended in one second");
}

/// The limit of a host leaves no room for a retry: the page counts as failed, and `why` promises no retry.
#[test]
fn a_retry_prevented_by_a_limit_counts_as_failed() {
    let server =
        Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", &tagged("a")), ("/b", &tagged("b"))]);
    let sandbox = crawled(&server);
    server.set("/a", "503 Busy\n\n");
    server.set("/a if", "503 Busy\n\n");
    let (tries, limit) = (["--set", "crawl.retries=3"], ["--set", "crawl.requests_per_host_max=3"]);
    let report = sandbox
        .json(&[&["crawl", "--dir", "web", "-q", "--recrawl"], &tries[..], &limit[..]].concat());
    let counts = ["asked", "unchanged", "failed", "pages"];
    let counts = counts.map(|name| report[name].as_u64().expect("a number"));
    assert_eq!((counts, &report["dropped"]["host-limit"]), ([3, 2, 1, 3], &1.into()), "{report:#}");
    let report = sandbox.json(&[&["crawl", "--dir", "web", "-q"], &tries[..]].concat());
    assert_eq!(report["requests"], 0, "{report:#}");
}

/// A page without any answer waits for a crawl with a higher limit.
#[test]
fn a_new_page_waits_for_a_higher_host_limit() {
    let server = Pages::serve(&[("/", &page(&["/new"])), ("/new", "503 Busy\n\n")]);
    let sandbox = Sandbox::new();
    let (tries, key) = (["--set", "crawl.retries=3"], "crawl.requests_per_host_max");
    let (root, url) = (server.url("/"), server.url("/new"));
    crawl(&sandbox, "", &[&root, "--set", &format!("{key}=2"), tries[0], tries[1]]);
    for (requests_max, wanted) in [
        (2, "no crawl fetches it again: its host has reached its limit of 2 requests"),
        (0, NEXT_CRAWL),
    ] {
        let limit = format!("{key}={requests_max}");
        let flags = ["--dir", "web", "--set", &limit, tries[0], tries[1]];
        let why = sandbox.json(&[&["why", &url], &flags[..]].concat());
        assert!(why["verdict"].as_str().is_some_and(|said| said.contains(wanted)), "{why:#}");
        let report = sandbox.json(&[&["crawl", "-q"], &flags[..]].concat());
        assert_eq!(report["requests"].as_u64() > Some(0), requests_max == 0, "{report:#}");
    }
}

/// An unrequested 304 is an error of the server, but its `noindex` counts for the known page.
#[test]
fn noindex_in_an_unrequested_304_is_obeyed() {
    let bare =
        |name: &str| format!("200 OK\nContent-Type: text/html\n\n<title>t</title><p>zebra{name}");
    let server = Pages::serve(&[("/", &page(&["/closed", "/silent"]))]);
    for name in ["closed", "silent"] {
        server.set(&format!("/{name}"), &bare(name));
    }
    let sandbox = crawled(&server);
    server.set("/closed", "304 Not Modified\nX-Robots-Tag: noindex\n\n");
    server.set("/silent", "304 Not Modified\n\n");
    let found = || {
        sandbox.done(&["index", "--dir", "web", "-q"]);
        ["closed", "silent"].map(|name| found(&sandbox, name))
    };
    for _ in 0..2 {
        let report = sandbox.json(&["crawl", "--dir", "web", "-q", "--recrawl"]);
        assert_eq!((&report["failed"], &report["pages"]), (&2.into(), &3.into()), "{report:#}");
        assert_eq!(found(), [0, 1]);
        for (name, standing) in [("closed", "a page with noindex"), ("silent", "a page")] {
            let url = server.url(&format!("/{name}"));
            let failed = "fetched; after that, a request failed (protocol: ";
            assert_eq!(check(&sandbox, &url, failed)["standing"], standing);
        }
    }
    server.set("/closed", &bare("closed"));
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    assert_eq!(found(), [1, 1], "a later answer brings it back");
}

/// A 412 is about the condition, not about the page.
#[test]
fn a_412_is_reported_and_keeps_the_page() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &tagged("a"))]);
    let sandbox = crawled(&server);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    server.set("/a if", "412 Precondition Failed\nX-Robots-Tag: noindex\n\nno");
    let limit = ["--set", "crawl.requests_per_host_max=2"];
    let recrawl = ["crawl", "--dir", "web", "-q", "--recrawl"];
    for (flags, is_asked) in [(&limit[..], false), (&[], true)] {
        sandbox.done(&[&recrawl[..], flags].concat());
        let url = server.url("/a");
        let said =
            if is_asked { "fetched" } else { "fetched; after that, the server answered 412" };
        let why = check(&sandbox, &url, said);
        let captures = why["captures"].as_array().expect("visits").iter();
        let statuses: Vec<_> =
            captures.map(|capture| (&capture["status"], &capture["inconclusive"])).collect();
        let at = statuses.iter().rposition(|(status, _)| *status == "412").expect("it is there");
        assert_eq!(statuses[at].1, "condition", "{why:#}");
        assert_eq!(statuses.len() - 1 - at, usize::from(is_asked), "{why:#}");
        let kept = sandbox.done(&["archive", "get", "--dir", "web", &url]);
        assert!(kept.contains("zebraa"), "{kept}");
        sandbox.done(&["index", "--dir", "web", "-q"]);
        assert_eq!(found(&sandbox, "a"), 1);
    }
}

/// A seed sitemap that answered with a page, and answers as a sitemap now, is no page any more.
#[test]
fn a_page_that_has_become_a_sitemap_leaves_the_index() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &tagged("a"))]);
    server.set("/map.xml", &tagged("map"));
    let (sandbox, map) = (Sandbox::new(), server.url("/map.xml"));
    crawl(&sandbox, "", &[&server.url("/"), "--sitemap", &map]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(found(&sandbox, "map"), 1);
    let loc = server.url("/new");
    let sitemap = format!("<urlset><url><loc>{loc}</loc></url></urlset>");
    server.set("/map.xml", &format!("200 OK\nContent-Type: text/xml\n\n{sitemap}"));
    server.set("/new", &tagged("new"));
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl", "--list", "--sitemap", &map]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert_eq!(["map", "a", "new"].map(|name| found(&sandbox, name)), [0, 1, 1]);
    let why = check(&sandbox, &map, "fetched, as a sitemap");
    assert_eq!(why["standing"], "no page: a sitemap", "{why:#}");
}

/// A URL that is named as a sitemap is a page while it answers with one. The counts agree with the collection.
#[test]
fn a_named_sitemap_is_indexed_while_it_serves_pages() {
    let server =
        Pages::serve(&[("/", &page(&["/a"])), ("/a", &tagged("a")), ("/map", &tagged("map"))]);
    let (sandbox, map) = (Sandbox::new(), server.url("/map"));
    let robots = format!("200 OK\nContent-Type: text/plain\n\nSitemap: {map}\n");
    server.set("/robots.txt", &robots);
    // A link leads to the page; its bytes stay the same when it is read as a sitemap.
    let list = format!("200 OK\nContent-Type: text/plain\n\n{}\n", server.url("/a"));
    server.set("/list", &list);
    server.set("/", &page(&["/a", "/list"]));
    crawl(&sandbox, "", &[&server.url("/")]);
    let xml = format!("<urlset><url><loc>{}</loc></url></urlset>", server.url("/a"));
    let xml = format!("200 OK\nContent-Type: text/xml\n\n{xml}");
    let seed = ["--sitemap", &server.url("/list")];
    for (at, answer, pages) in
        [("/map", None, 4), ("/list", Some(&list), 3), ("/map", Some(&xml), 2)]
    {
        if let Some(answer) = answer {
            server.set(at, answer);
            let flags = if at == "/list" { &seed[..] } else { &[] };
            let report =
                sandbox.json(&[&["crawl", "--dir", "web", "-q", "--recrawl"][..], flags].concat());
            assert_eq!(report["pages"], pages, "{at}: {report:#}");
        }
        sandbox.done(&["index", "--dir", "web", "-q"]);
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert_eq!(status["pages"]["pages"], pages, "{at}: {status:#}");
        let idle = sandbox.json(&["crawl", "--dir", "web", "-q"]);
        assert_eq!(idle["pages"], pages, "{at}: {idle:#}");
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert_eq!(status["crawl"]["pages"], pages, "{at}: {status:#}");
        if at == "/map" && answer.is_none() {
            let why = check(&sandbox, &map, "fetched");
            assert_eq!(why["named_as_sitemap_by"], server.url("/robots.txt"), "{why:#}");
            let why = check(&sandbox, &server.url("/a"), "fetched");
            assert!(why["named_as_sitemap_by"].is_null(), "{why:#}");
        }
    }
    let why = check(&sandbox, &map, "fetched, as a sitemap");
    assert!(why["named_as_sitemap_by"].is_null(), "{why:#}");
    server.set("/list", &tagged("list"));
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let why = check(&sandbox, &server.url("/list"), "fetched");
    assert_eq!(why["named_as_sitemap_by"], "seeds", "{why:#}");
}

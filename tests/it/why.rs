//! `crivello why` for every fate of a URL, on a simulated web.

use serde_json::Value;
use simweb::{Kind, Server};

use super::sandbox::{Sandbox, built_web, get, init_web, small_web, truth};
use super::why_servers::{Pages, why};

/// Checks the beginning of the verdict about a URL.
fn check_verdict(sandbox: &Sandbox, url: &str, expected: &str) -> Value {
    let why = why(sandbox, url);
    let verdict = why["verdict"].as_str().expect("a verdict");
    assert!(verdict.starts_with(expected), "{url}: {why:#}");
    why
}

fn crawl(sandbox: &Sandbox, server: &Server, flags: &[&str]) {
    sandbox.init(server);
    let seeds = server.web().seeds();
    sandbox.done(&[&["crawl", "--dir", "web", seeds[0].as_str()], flags].concat());
}

fn special(server: &Server, kind: Kind, path: &str) -> String {
    let web = server.web();
    web.url(web.special(kind).expect("a web with special hosts"), path)
}

/// Returns the first URL with an answer of this status.
fn answered(server: &Server, status: u16) -> String {
    let log = server.log();
    let is_page = |path: &str| path != "/robots.txt";
    let line = log.iter().find(|line| line.status == status && is_page(&line.path));
    let line = line.expect("there is such an answer");
    server.web().url(server.web().host(&line.host).expect("a host"), &line.path)
}

fn hows(why: &Value) -> Vec<&str> {
    let found = why["found_on"].as_array().expect("a list");
    found.iter().map(|found| found["how"].as_str().expect("a word")).collect()
}

#[test]
fn every_url_fate_is_reported_with_the_page_table() {
    let (sandbox, server) = built_web();
    let (sandbox, server) = (&sandbox, &server);
    let truth = truth(server);
    let garden = truth.pages.iter().find(|page| page.url.contains("/notes/")).expect("a page");
    let page = check_verdict(sandbox, &garden.url, "fetched");
    assert!(hows(&page).contains(&"link"), "{page:#}");
    assert!(page["found_on"][0]["date_s"].as_i64() > Some(1_700_000_000), "{page:#}");
    check_verdict(sandbox, &server.web().seeds()[0], "fetched");

    check_verdict(sandbox, &answered(server, 301), "fetched: it redirects");
    check_verdict(sandbox, &answered(server, 404), "fetched: the server answered 404");
    check_verdict(
        sandbox,
        &answered(server, 500),
        "failed: the server answered 500 to the last of 3",
    );
    let forbidden = truth.forbidden.iter().find(|url| url.ends_with("/private/diary.html"));
    let forbidden = forbidden.expect("a forbidden page");
    check_verdict(sandbox, forbidden, "forbidden by robots.txt: forbidden by line 4");
    let dead = check_verdict(
        sandbox,
        &special(server, Kind::Dead, "/"),
        "waiting, because its host is set aside: it cannot be reached (connect: ",
    );
    assert!(dead["aside"]["until_s"].is_null(), "{dead:#}");
    check_verdict(
        sandbox,
        &special(server, Kind::Robots503, "/"),
        "waiting, because its host is set aside: its robots.txt cannot be had (/robots.txt answers 503)",
    );
    for nofollow in truth.forbidden.iter().filter(|url| url.contains("//meta.localhost")) {
        let why = check_verdict(sandbox, nofollow, "not followed: all links to it have nofollow");
        assert!(hows(&why).iter().all(|how| *how == "nofollow"), "{why:#}");
    }
    check_verdict(sandbox, "http://garden.localhost/never.html", "never seen");
    assert_eq!(sandbox.run(&["why", "--dir", "web", "http://nobody.localhost/"]).code, 3);
}

#[test]
fn redirect_and_sitemap_targets_are_known() {
    let (sandbox, server) = (Sandbox::new(), small_web());
    crawl(&sandbox, &server, &[]);
    let from = special(&server, Kind::Redirect, "");
    let targets = truth(&server).pages.into_iter().map(|page| page.url);
    let found: Vec<String> = targets
        .filter(|url| url.starts_with(&from) || url.contains("//sitemap.localhost"))
        .flat_map(|url| {
            hows(&why(&sandbox, &url)).into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    for how in ["redirect", "sitemap"] {
        assert!(found.iter().any(|found| found == how), "no {how} in {found:?}");
    }
}

#[test]
fn urls_dropped_by_a_limit_are_reported_with_it() {
    for (setting, expected) in [
        (
            "crawl.pages_per_host_max=1",
            "dropped: its host has reached its limit of 1 page (`pages_per_host_max`)",
        ),
        (
            "crawl.requests_per_host_max=1",
            "dropped: its host has reached its limit of 1 request (`requests_per_host_max`)",
        ),
        ("crawl.hosts_max=1", "dropped: the crawl already knew 1 host, which is `hosts_max`"),
        ("crawl.pages_max=1", "waiting: the last crawl ended at its `pages_max` with "),
    ] {
        let (sandbox, server) = (Sandbox::new(), small_web());
        crawl(&sandbox, &server, &["--set", setting]);
        let root = server.web().url(&server.web().hosts()[1], "/");
        let is_first = |url: &String| url.starts_with(&root) && url.contains("/1-");
        let first = truth(&server).pages.into_iter().map(|page| page.url).find(is_first);
        let is_of_host = setting.contains("s_per_host");
        let url = if is_of_host { first.expect("a page") } else { root };
        let ran = sandbox.run(&["why", "--dir", "web", &url, "--set", setting]);
        let verdict = ran.stdout.lines().nth(1).unwrap_or_default().trim();
        assert!(verdict.starts_with(expected), "{setting}: {ran:#?}");
    }
}

/// Crawls a few pages with one more setting. Returns the sandbox, and a function from paths to URLs.
fn crawl_pages(pages: &[(&str, &str)], setting: &str) -> (Sandbox, impl Fn(&str) -> String) {
    let server = Pages::of_texts(pages);
    let settings = format!("[crawl]\ndelay_ms = 1\nip_delay_ms = 0\n{setting}\n");
    let sandbox = Sandbox::with_settings(settings);
    sandbox.done(&["crawl", "--dir", "web", &server.url("")]);
    (sandbox, move |path: &str| server.url(path))
}

#[test]
fn urls_named_as_sitemaps_are_reported() {
    let (sandbox, at) = crawl_pages(
        &[
            ("/robots.txt", "Sitemap: /moved\nSitemap: /page\n"),
            ("/", "<p>Nothing."),
            ("/moved", "/moved/again"),
            ("/moved/again", "/0.xml"),
            ("/0.xml", "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>"),
            ("/1.xml", "<sitemapindex><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>"),
            ("/2.xml", "<sitemapindex><sitemap><loc>/3.xml.gz</loc></sitemap></sitemapindex>"),
            ("/page", "<title>A page</title>"),
        ],
        "",
    );
    let too_deep = check_verdict(
        &sandbox,
        &at("/3.xml.gz"),
        "dropped: sitemap indexes lead to it 3 levels down, and 2 are followed",
    );
    assert_eq!(hows(&too_deep), ["index"]);
    assert_eq!(hows(&check_verdict(&sandbox, &at("/page"), "fetched")), ["robots"]);
    sandbox.done(&["index", "--dir", "web"]);
    assert_eq!(why(&sandbox, &at("/page"))["standing"], "a page");
}

/// A crawl counts equal links once; the index counts each, for its words.
#[test]
fn excess_links_are_reported_separately_for_crawl_and_index() {
    let (sandbox, at) = crawl_pages(
        &[
            (
                "/",
                "<a href=/1>a</a><a href=/1>b</a><a href=/1>c</a><a href=/1>d</a><a href=/many>e</a>",
            ),
            ("/1", "<p>one"),
            ("/many", "<a href=/2>2</a><a href=/3>3</a><a href=/4>4</a><a href=/5>5</a>"),
        ],
        "links_per_page_max = 3",
    );
    let read = "only the first 3 of its links are read (`links_per_page_max`)";
    let kept = "only the first 3 of its links, duplicates included, are kept for graph and index \
                (`links_per_page_max`)";
    assert_eq!(why(&sandbox, &at("/"))["cuts"], serde_json::json!([kept]));
    assert_eq!(why(&sandbox, &at("/many"))["cuts"], serde_json::json!([read, kept]));
    assert_eq!(why(&sandbox, &at("/1"))["cuts"], serde_json::json!([]));
    check_verdict(&sandbox, &at("/many"), "fetched");
    check_verdict(&sandbox, &at("/5"), "dropped: it is linked only after the first 3 links");
}

#[test]
fn an_imported_document_is_reported_as_imported() {
    let sandbox = Sandbox::new();
    let line = r#"{"id":"7","url":"http://a.example/7","title":"Seven","text":"Seven sieves."}"#;
    std::fs::write(sandbox.path("documents.jsonl"), line).expect("a file");
    sandbox.done(&["init", "web"]);
    sandbox.done(&["import", "documents.jsonl", "--dir", "web"]);
    check_verdict(&sandbox, "http://a.example/7", "imported");
    sandbox.done(&["index", "--dir", "web"]);
    let why = check_verdict(&sandbox, "http://a.example/7", "imported");
    assert_eq!(why["standing"], "a page", "{why:#}");
}

#[test]
fn pages_excluded_by_store_filter_are_reported_and_followed() {
    let (sandbox, server) = (Sandbox::new(), small_web());
    let setting = ["--set", "crawl.store_filter=path != \"/\""];
    crawl(&sandbox, &server, &setting);
    let url = server.web().url(&server.web().hosts()[1], "/");
    let why = check_verdict(&sandbox, &url, "fetched; `store_filter` kept it out of the archive");
    assert!(hows(&why).contains(&"link"), "{why:#}");
}

/// A running crawl serves its metrics at the address that it prints.
#[test]
fn a_running_crawl_serves_its_metrics() {
    use std::io::{BufRead as _, BufReader};

    let (sandbox, server) = init_web();
    let seed = &server.web().seeds()[0];
    let flags =
        ["crawl", "--dir", "web", "--metrics", "127.0.0.1:0", "--set", "crawl.delay_ms=1000"];
    let mut running = sandbox.start(&[&flags[..], &[seed]].concat());
    let stderr = running.child.stderr.take().expect("piped");
    let mut line = String::new();
    BufReader::new(stderr).read_line(&mut line).expect("a line");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
    let (status, text) = get(address, "/metrics");
    assert_eq!(status, 200);
    assert!(text.contains("# TYPE crivello_pages_fetched_total counter"), "{text}");
    let (status, page) = get(address, "/");
    assert_eq!((status, page.contains("http-equiv=\"refresh\"")), (200, true), "{page}");
    assert!(!page.contains("<script"), "{page}");
    assert_eq!(get(address, "/other").0, 404);
    assert_eq!(running.signal("INT"), Some(130));
}

/// `why` compares URLs with robots.txt like a crawl, and ignores the case of escapes.
#[test]
fn escapes_are_compared_like_in_a_crawl() {
    let (sandbox, at) = crawl_pages(
        &[
            ("/robots.txt", "User-agent: *\nDisallow: /café/\nDisallow: /a b\n"),
            ("/", "<a href='/caf%c3%a9/1'>1</a> <a href='/a%20b'>2</a> <a href='/%c3%a9'>3</a>"),
            ("/%C3%A9", "<title>A page</title>"),
        ],
        "",
    );
    for (path, line) in [("/caf%c3%a9/1", 2), ("/caf%C3%A9/1", 2), ("/a%20b", 3)] {
        let expected = format!("forbidden by robots.txt: forbidden by line {line}");
        check_verdict(&sandbox, &at(path), &expected);
    }
    check_verdict(&sandbox, &at("/%c3%a9"), "fetched");
}

//! Requests of sites to crawlers beside the rules of robots.txt: nofollow in its three forms, and files of any
//! length.

use std::collections::BTreeMap;

use crawl::Config;

use crate::hostile::{links_to, serve};
use crate::support::{archived, crawl};

/// Returns the paths that were fetched as pages from a site that answers like this, each once.
fn check(answer: impl Fn(&str) -> (String, String) + Send + Sync + 'static) -> Vec<String> {
    let port = serve(move |request, out| {
        let (headers, body) = answer(&request.path);
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n";
        out.say(&format!("{head}{headers}\r\n{body}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 2, ip_delay_ms: 0, ..Config::default() };
    let report = crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]);
    assert_eq!(report.expect("it runs").failures, BTreeMap::new());
    let pages = archived(dir.path());
    assert!(pages.values().all(|&times| times == 1), "{pages:?}");
    let path = |url: &String| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    pages.keys().map(path).collect()
}

#[test]
fn nofollow_links_are_not_followed() {
    let pages = check(|path| {
        let plain = |links: &[&str]| (String::new(), links_to(links));
        let tagged =
            |value: &str, link: &str| (format!("X-Robots-Tag: {value}\r\n"), links_to(&[link]));
        let meta = |name: &str, value: &str, link: &str| {
            let meta = format!("<meta name='{name}' content='{value}'>");
            (String::new(), format!("{meta}{}", links_to(&[link])))
        };
        match path {
            "/robots.txt" => (String::new(), String::new()),
            "/" => plain(&["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"]),
            "/a" => tagged("nofollow", "/no-a"),
            "/b" => tagged("noindex, NOFOLLOW", "/no-b"),
            "/c" => tagged("otherbot: nofollow", "/yes-c"),
            "/d" => tagged("crivello: nofollow", "/no-d"),
            "/e" => meta("robots", "nofollow", "/no-e"),
            "/f" => meta("ROBOTS", "none", "/no-f"),
            "/g" => meta("robots", "noindex", "/yes-g"),
            "/h" => {
                let links = "<a rel='nofollow' href='/no-h'>x</a><a rel='me' href='/yes-h'>x</a>\
                             <a rel='UGC NoFollow' href='/no-i'>x</a>";
                (String::new(), links.to_owned())
            }
            _ => plain(&[]),
        }
    });
    let wanted = ["", "a", "b", "c", "d", "e", "f", "g", "h", "yes-c", "yes-g", "yes-h"];
    assert_eq!(pages, wanted);
}

#[test]
fn only_500_kib_of_a_robots_file_count() {
    let pages = check(|path| match path {
        "/robots.txt" => {
            let padding = "# padding\n".repeat(60_000);
            let (early, late) = ("user-agent: *\ndisallow: /early\n", "disallow: /late\n");
            (String::new(), format!("{early}{padding}{late}"))
        }
        _ => (String::new(), links_to(&["/early", "/late"])),
    });
    assert_eq!(pages, ["", "late"]);
}

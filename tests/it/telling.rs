//! That `crawl`, `status` and `why` tell the same, and say why: of flags that the last run had, of ports, of hosts that
//! cannot be reached, of what is known already, of a crawl that runs.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::fates::{HTML, Pages, SETTINGS, check, crawl, page, why};
use crate::sandbox::Sandbox;

/// A server without robots.txt that has these pages.
fn site(pages: &[(&str, String)]) -> Pages {
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Pages::serve(&pages)
}

/// Scope goes by host and port.
#[test]
fn another_port_of_the_host_of_a_seed_is_told_as_that() {
    let other = "http://127.0.0.1:9/x";
    let server = site(&[("/", page(&[other, "http://127.0.0.2:9/y"]))]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let port = server.url("").rsplit(':').next().expect("a port").to_owned();
    let said = format!(
        "refused: a seed has the host 127.0.0.1, but at port {port}, and this is at port 9"
    );
    check(&sandbox, other, &said);
    check(&sandbox, "http://127.0.0.2:9/y", "refused: 127.0.0.2 is not the host of a seed");
}

#[test]
fn of_many_copies_the_first_are_shown_and_the_canonical_address_is() {
    let links: Vec<String> = (0..14).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let text = "a page of many words that says the same thing whatever its address may be today";
    let copy = format!("{HTML}<title>t</title><link rel=canonical href=/main><p>{text}");
    let home = page(&[&links[..], &["/main"]].concat());
    let mut pages = vec![("/", home), ("/main", format!("{HTML}<title>t</title><p>{text}"))];
    pages.extend(links.iter().map(|path| (*path, copy.clone())));
    let server = site(&pages);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let names = |said: &str| {
        let name = format!("it names {} as its canonical address", server.url("/main"));
        said.matches(&name).count()
    };
    let before = sandbox.done(&["why", "--dir", "web", &server.url("/3")]);
    assert_eq!(names(&before), 1, "{before}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/3")]);
    assert!(names(&said) == 1 && said.contains("folded behind "), "{said}");
    let told = why(&sandbox, &server.url("/main"));
    assert_eq!(told["copies"].as_array().map(Vec::len), Some(14), "{told:#}");
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/main")]);
    assert_eq!((said.matches("represents ").count(), names(&said)), (10, 0), "{said}");
    assert!(said.contains("… and 4 more pages (`--json` has all)"), "{said}");
}

#[test]
fn what_is_behind_is_told_with_the_reason() {
    let server = site(&[("/", page(&["/a"])), ("/a", format!("{HTML}<p>one"))]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    let behind = |flags: &[&str], command: &str, why: &str| {
        let flags = [&["status", "--dir", "web"], flags].concat();
        let status = sandbox.done(&flags);
        let line = format!("\nbehind      run `crivello {command}`: {why}");
        assert!(status.contains(&line), "no {line:?} in {status}");
        let told = sandbox.json(&flags);
        assert_eq!(told["behind"], serde_json::json!([command]), "{told:#}");
        assert!(told["why_behind"].as_str().is_some_and(|told| told.starts_with(why)), "{told:#}");
    };
    behind(&[], "index", "there is no index yet");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("\nbehind "));
    behind(&["--set", "analysis.stemmer=none"], "index", "[analysis] is another");
    behind(
        &["--set", "crawl.normalise=[]"],
        "index",
        "pages are read by other settings of [crawl]",
    );
    behind(&["--set", "dedup.distance_max=0"], "index", "ranks or [dedup] are others");
    crawl(&sandbox, "", &[]);
    behind(&[], "index", "1 archive file is new or has changed");
}

//! `crivello archive` on redirects, other spellings of a URL, and damage.
//!
//! What lives here: small webs with one oddity each. What does not: reading damaged files (crate `archive`).

use std::fs;

use crate::lost_files::{change, place};
use crate::sandbox::{Ran, Sandbox};
use crate::why_servers::Pages;

/// A collection `web` of pages on loopback, crawled from `/`; their root.
fn crawled(sandbox: &Sandbox, pages: &[(&str, &str)]) -> String {
    let root = Pages::of_texts(pages).url("");
    fs::create_dir(sandbox.path("web")).expect("a folder");
    let settings = "[crawl]\ndelay_ms = 1\nip_delay_ms = 0\n";
    fs::write(sandbox.path("web/crivello.toml"), settings).expect("a file");
    sandbox.done(&["crawl", "--dir", "web", "-q", &root]);
    root
}

fn get(sandbox: &Sandbox, url: &str) -> Ran {
    sandbox.run(&["archive", "get", "--dir", "web", url])
}

#[test]
fn a_redirect_is_reported_with_its_target() {
    let sandbox = Sandbox::new();
    let pages =
        &[("/", "<a href=/old>o</a><a href=/none>n</a>"), ("/old", "/here"), ("/here", "h")];
    let root = crawled(&sandbox, pages);
    let ran = get(&sandbox, &format!("{root}/old"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.contains("the server answered 302 at 20"), "{ran:#?}");
    let ran = get(&sandbox, &format!("{root}/here"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("h", ""), "{ran:#?}");
    let of =
        |path: &str| sandbox.json(&["archive", "get", "--dir", "web", &format!("{root}{path}")]);
    assert_eq!(of("/old")["leads_to"], format!("{root}/here"));
    assert_eq!(of("/here")["leads_to"], serde_json::Value::Null);
}

/// Like `why`, `archive get` normalises the URL.
#[test]
fn a_lookup_normalises_the_url_like_a_crawl() {
    let sandbox = Sandbox::new();
    let root = crawled(&sandbox, &[("/", "<a href=/a>a</a>"), ("/a", "text of a")]);
    let ran = get(&sandbox, &format!("{root}/a?utm_source=mail"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "text of a"), "{ran:#?}");
    let ran = get(&sandbox, &format!("{root}/b?utm_source=mail"));
    assert_eq!(ran.code, 3, "{ran:#?}");
}

#[test]
fn a_damaged_page_is_reported_once() {
    let sandbox = Sandbox::new();
    let root = crawled(&sandbox, &[("/", "<a href=/a>a</a>"), ("/a", "text of a")]);
    let offset = place(&sandbox, "response", &format!("{root}/a"));
    let file = "crivello-00001.warc.gz";
    let path = format!("web/archive/{file}");
    change(&sandbox, &path, true, &|bytes| bytes[offset + 90] ^= 0x10);
    let place = format!("{file} is damaged at byte {offset}");
    let ran = get(&sandbox, &format!("{root}/a"));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:#?}");
    assert!(ran.stderr.contains(&place), "{ran:#?}");
    let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(ran.stdout.matches(&format!("at byte {offset}")).count(), 1, "{ran:#?}");

    // Without a CDXJ file and logs, the lost URLs are unknown, and the message says so.
    fs::remove_file(sandbox.path("web/archive").join(format!("{file}.cdxj"))).expect("removed");
    fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("removed");
    let ran = get(&sandbox, &format!("{root}/a"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains(&place), "{ran:#?}");

    // A recrawl fetches the missing page.
    sandbox.done(&["crawl", "--recrawl", "--dir", "web", "-q"]);
    assert_eq!(get(&sandbox, &format!("{root}/a")).stdout, "text of a");
}

/// `doctor` reports a line with a wrong key; the next lookup or crawl repairs it.
#[test]
fn a_lookup_or_crawl_repairs_wrong_cdxj_keys() {
    let sandbox = Sandbox::new();
    let root = crawled(&sandbox, &[("/", "<a href=/a>a</a>"), ("/a", "text of a")]);
    let a = format!("{root}/a");
    let cdxj = sandbox.path("web/archive/crivello-00001.warc.gz.cdxj");
    let lines = fs::read_to_string(&cdxj).expect("text");
    assert!(lines.contains(")/a "), "{lines}");
    for mending in [&["archive", "get"][..], &["why"], &["crawl", "-q"]] {
        fs::write(&cdxj, lines.replace(")/a ", ")/b ")).expect("room");
        let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        sandbox.done(&[mending, &[a.as_str(), "--dir", "web"]].concat());
        // A crawl discards the file, and a lookup makes it again.
        if mending[0] == "crawl" {
            get(&sandbox, &a);
        }
        sandbox.done(&["doctor", "archive", "--dir", "web"]);
        assert_eq!(fs::read_to_string(&cdxj).expect("text"), lines, "{mending:?}");
        assert_eq!(get(&sandbox, &a).stdout, "text of a", "{mending:?}");
    }
}

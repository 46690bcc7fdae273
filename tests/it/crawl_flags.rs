//! Seeds of `crivello crawl`: files, standard input, sitemaps, lists, and invalid addresses.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use simweb::Kind;

use crate::sandbox::{Sandbox, init_web};

#[test]
fn seeds_are_read_from_files_stdin_and_sitemaps() {
    let (sandbox, server) = init_web();
    let web = server.web();
    let urls: Vec<String> = web.hosts()[..3].iter().map(|host| web.url(host, "/")).collect();
    fs::write(sandbox.path("urls.txt"), format!("# two\n{} # one\r\n\n  {}\n", urls[0], urls[1]))
        .expect("a file");
    let report = sandbox.json(&["crawl", "--dir", "web", "--list", "--seeds", "urls.txt"]);
    assert_eq!(report["pages"], 2, "{report}");
    let mut command = sandbox.command(&["crawl", "--dir", "web", "--list", "--seeds", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(urls[2].as_bytes()).expect("it reads");
    drop(input);
    assert!(child.wait().expect("it ends").success());
    let kept = fs::read_to_string(sandbox.path("web/frontier/seeds")).expect("a file");
    let kept = kept.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(kept.collect::<BTreeSet<_>>(), urls.iter().map(String::as_str).collect());
    let ran = sandbox.run(&["crawl", "--dir", "web", "--seeds", "/dev/null"]);
    assert!(ran.code == 2 && ran.stderr.contains("has no address"), "{ran:#?}");
    let ran = sandbox.run(&["crawl", "--dir", "web", "--seeds", "missing.txt"]);
    assert!(ran.code == 1 && ran.stderr.contains("missing.txt"), "{ran:#?}");

    let host = web.special(Kind::Sitemap).expect("there are oddities");
    let robots = web.url(host, "/robots.txt");
    sandbox.done(&["crawl", "--dir", "web", "--list", &web.url(host, "/")]);
    let text = sandbox.done(&["archive", "get", &robots, "--dir", "web"]);
    let sitemap = text.lines().find_map(|line| line.strip_prefix("Sitemap:")).expect("one").trim();
    let before = sandbox.json(&["status", "--dir", "web"]);
    let report = sandbox.json(&["crawl", "--dir", "web", "--list", "--sitemap", sitemap]);
    assert!(report["pages_new"].as_u64() > Some(0), "{before} {report}");
}

/// A file, a mail address or a scheme of another kind is no host: it is refused before anything is made.
#[test]
fn an_invalid_address_is_refused_with_its_place() {
    let sandbox = Sandbox::with_collection();
    fs::write(sandbox.path("urls.txt"), "# mine\nlocalhost/a\n\nmailto:me@localhost # me\n")
        .expect("a file");
    let refused = |arguments: &[&str], place: &str| {
        let ran = sandbox.run(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(place), "{ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
    };
    let crawl = ["crawl", "--dir", "web"];
    let schemes = ["javascript:alert(1)", "data:,x", "ftp://localhost/"];
    for seed in ["/etc/passwd", "C:\\web", "http:///etc", "urls.txt"].into_iter().chain(schemes) {
        refused(&[&crawl[..], &["localhost", seed]].concat(), "address 2");
    }
    refused(&[&crawl[..], &["--seeds", "urls.txt"]].concat(), "line 4 of urls.txt");
    refused(&[&crawl[..], &["--sitemap", "/sitemap.xml"]].concat(), "--sitemap");
    assert!(!sandbox.path("web/frontier/seeds").exists());
    refused(&["up", "--dir", "new", "mailto:me@localhost"], "address 1");
    assert!(!sandbox.path("new").exists(), "nothing is made for it");
}

#[test]
fn a_list_crawl_stays_a_list_crawl() {
    let (sandbox, server) = init_web();
    let web = server.web();
    let seed = |host: usize| web.url(&web.hosts()[host], "/");
    let pages = |arguments: &[&str]| {
        let report = sandbox.json(&[&["crawl", "--dir", "web"], arguments].concat());
        report["pages"].as_u64().expect("a count")
    };
    assert_eq!(pages(&["--list", &seed(1)]), 1);
    sandbox.done(&["crawl", "--dir", "web"]);
    assert!(sandbox.done(&["status", "--dir", "web"]).contains("List      links are not followed"));
    assert_eq!(pages(&["--recrawl"]), 1);
    assert_eq!(pages(&[&seed(2)]), 2);
    assert!(pages(&["--follow"]) > 2);
    // It was not begun as one, and neither was one whose beginning failed.
    sandbox.done(&["crawl", "--dir", "web", "--list", &seed(3)]);
    assert!(!sandbox.path("web/frontier/list").exists());
    sandbox.done(&["init", "other"]);
    assert!(sandbox.run(&["crawl", "--dir", "other", "--list"]).code != 0);
    assert!(!sandbox.path("other/frontier/list").exists());
}

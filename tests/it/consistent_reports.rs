//! `crawl`, `status` and `why` agree: flags of the last run, copies, known URLs, counts, work that is left.

use std::fs;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, Pages, SETTINGS, check, crawl, crawled, page, why};

/// A server with these pages and no robots.txt.
fn site(pages: &[(&str, String)]) -> Pages {
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Pages::serve(&pages)
}

/// Only flags of the last crawl excluded the page; crivello.toml does not.
#[test]
fn urls_excluded_by_flags_are_reported_with_the_key() {
    let pages = [("/", page(&["/a"])), ("/a", page(&["/b"])), ("/b", HTML.to_owned())];
    let server = site(&pages);
    let sandbox = Sandbox::new();
    for (flags, path, said) in [
        (["--max-depth", "1"], "/b", "(`depth_max`): dropped: 2 links lead to it"),
        (["--set", "crawl.fetch_filter=path = /"], "/a", "(`fetch_filter`): refused: "),
        (["--set", "crawl.parse_filter=path != /"], "/a", "(`parse_filter`): not followed: "),
    ] {
        crawl(&sandbox, "", &[&server.url("/"), flags[0], flags[1]]);
        let verdict = format!("waiting: the last crawl left it out by its own settings {said}");
        check(&sandbox, &server.url(path), &verdict);
        // A crawl without the flag fetches it.
        crawl(&sandbox, "", &[]);
        check(&sandbox, &server.url(path), "fetched");
        fs::remove_dir_all(sandbox.path("web")).expect("a folder");
    }
    // Without settings.json, the flags are unknown.
    crawl(&sandbox, "", &[&server.url("/"), "--max-depth", "1"]);
    fs::remove_file(sandbox.path("web/frontier/settings.json")).expect("a file");
    check(&sandbox, &server.url("/b"), "waiting: the last crawl did not reach it");
}

#[test]
fn all_copies_of_a_page_are_reported() {
    let links: Vec<String> = (0..14).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let text = "a page of many words that says the same thing whatever its address may be today";
    let copy = format!("{HTML}<title>t</title><link rel=canonical href=/main><p>{text}");
    let home = page(&[&links[..], &["/main"]].concat());
    let mut pages = vec![("/", home), ("/main", format!("{HTML}<title>t</title><p>{text}"))];
    pages.extend(links.iter().map(|path| (*path, copy.clone())));
    let server = site(&pages);
    let sandbox = crawled(&server);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let told = why(&sandbox, &server.url("/main"));
    assert_eq!(told["copies"].as_array().map(Vec::len), Some(14), "{told:#}");
}

/// Known URLs are fetched again only with `--recrawl`; a run with nothing else to do says so.
#[test]
fn known_urls_given_again_are_reported() {
    let server = site(&[("/in", "401 No\n\n".to_owned()), ("/b", HTML.to_owned())]);
    let sandbox = Sandbox::with_settings(SETTINGS);
    let list = |more: &[&str]| sandbox.run(&[&["crawl", "--dir", "web", "--list"], more].concat());
    let url = server.url("/in");
    assert_eq!(list(&[&url]).code, 1);
    // The server accepts the password now.
    server.set("/in", &page(&[]));
    let ran = list(&[&url]);
    let said = "Known     1 address you gave was visited before; --recrawl --list visits it again";
    assert!(ran.code == 1 && ran.stderr.contains(said), "{ran:#?}");
    // Also without any URL.
    assert_eq!(sandbox.run(&["crawl", "--dir", "web"]).code, 1);
    assert_eq!(list(&[&url, &server.url("/b")]).code, 0);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    check(&sandbox, &url, "fetched");
}

/// `status` repeats the facts of the last crawl.
#[test]
fn status_has_the_counts_of_the_last_crawl() {
    let pdf = "200 OK\nContent-Type: application/pdf\n\n%PDF-1.4";
    let home = page(&["/broken", "/a", "/gone", "/in", "/doc", "/x.zip", "http://o.test/"]);
    let server = site(&[
        ("/", home),
        ("/a", format!("{HTML}<title>a</title><a href=/y.zip>y</a>")),
        ("/in", "401 No\n\n".to_owned()),
        ("/gone", "410 Gone\n\n".to_owned()),
        ("/doc", pdf.to_owned()),
        ("/broken", "500 Oh\n\n".to_owned()),
    ]);
    let sandbox = Sandbox::with_settings(SETTINGS);
    for (flag, refused) in [
        (server.url("/").as_str(), Some("Excluded  3 links: `scope` 1, `skip_extensions` 2")),
        // A page that has not changed is not read again.
        ("--recrawl", None),
        ("--recrawl", Some("Excluded  1 link: `skip_extensions` 1")),
    ] {
        let ran = sandbox.run(&["crawl", "--dir", "web", "-v", flag]);
        let facts = |text: &str| -> Vec<String> {
            let labels = ["Failed", "Given up", "No page", "Kept", "Excluded"];
            let is_one = |line: &&str| labels.iter().any(|label| line.starts_with(label));
            text.lines().filter(is_one).map(str::to_owned).collect()
        };
        let said = facts(&ran.stderr);
        let mut wanted = vec![
            "Failed    3 pages: access denied 1, gone 1, server error 1",
            "Given up  1 visit: http-500 1",
            "No page   2 answers: status 401 1, status 410 1",
            "Kept      1 file in the archive, such as a PDF; its text is not searchable",
        ];
        wanted.extend(refused);
        assert_eq!(said, wanted, "{flag}: {ran:#?}");
        let status = sandbox.done(&["status", "--dir", "web", "-v"]);
        assert_eq!(facts(&status), wanted, "{status}");
        let json = sandbox.json(&["status", "--dir", "web"])["crawl"].take();
        assert_eq!((&json["pages"], &json["hosts"]), (&3.into(), &1.into()), "{json:#}");
        if refused.is_none() {
            server.set("/a", &page(&["/z.zip"]));
        }
    }
}

#[test]
fn outdated_stages_are_reported_with_the_reason() {
    let server = site(&[("/", page(&["/a"])), ("/a", format!("{HTML}<p>one"))]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    let behind = |flags: &[&str], why: &str| {
        let told = sandbox.json(&[&["status", "--dir", "web"], flags].concat());
        assert_eq!(told["behind"], serde_json::json!(["index"]), "{told:#}");
        assert!(told["why_behind"].as_str().is_some_and(|told| told.starts_with(why)), "{told:#}");
    };
    behind(&[], "there is no index yet");
    // A killed `index` may leave its folder behind.
    fs::create_dir(sandbox.path("web/index")).expect("a folder");
    behind(&[], "there is no index yet");
    assert_eq!(sandbox.run(&["search", "one", "--dir", "web"]).code, 1);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let status = sandbox.json(&["status", "--dir", "web"]);
    assert_eq!(status["behind"], serde_json::json!([]), "{status:#}");
    for (setting, why) in [
        ("analysis.stemmer=none", "[analysis] is another"),
        ("crawl.normalise=[]", "pages are read by other settings of [crawl]"),
        ("dedup.distance_max=0", "ranks or [dedup] are others"),
    ] {
        behind(&["--set", setting], why);
    }
    crawl(&sandbox, "", &[]);
    behind(&[], "1 archive file is new or has changed");
}

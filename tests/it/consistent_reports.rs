//! `crawl`, `status` and `why` agree, and give reasons: flags of the last run, ports, unreachable hosts, known
//! URLs, a running crawl.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, Pages, SETTINGS, check, crawl, one_recrawl, page, why};

/// A server with these pages and no robots.txt.
fn site(pages: &[(&str, String)]) -> Pages {
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Pages::serve(&pages)
}

/// Only flags of the last crawl excluded the page; crivello.toml does not.
#[test]
fn what_a_flag_of_the_last_crawl_left_out_is_told_with_its_key() {
    let pages = [("/", page(&["/a"])), ("/a", page(&["/b"])), ("/b", HTML.to_owned())];
    let server = site(&pages);
    let sandbox = Sandbox::new();
    let not_by_it = "waiting: the last crawl left it out by its own settings ";
    for (flags, path, keys, said) in [
        (
            ["--max-depth", "1"],
            "/b",
            "(`depth_max`): dropped: 2 links lead to it from the first page",
            "and `depth_max` is 1; `crivello crawl` with the present settings fetches it",
        ),
        (
            ["--set", "crawl.fetch_filter=path = /"],
            "/a",
            "(`fetch_filter`): refused: `fetch_filter` does not hold: path = /",
            "; `crivello crawl` with the present settings fetches it",
        ),
        (
            ["--set", "crawl.parse_filter=path != /"],
            "/a",
            "(`parse_filter`): not followed: `parse_filter` or `link_filter`",
            "; `crivello crawl` with the present settings fetches it",
        ),
    ] {
        crawl(&sandbox, "", &[&server.url("/"), flags[0], flags[1]]);
        let why = check(&sandbox, &server.url(path), &format!("{not_by_it}{keys}"));
        assert!(why["verdict"].as_str().is_some_and(|verdict| verdict.contains(said)), "{why:#}");
        // A crawl without the flag fetches it.
        crawl(&sandbox, "", &[]);
        check(&sandbox, &server.url(path), "fetched");
        fs::remove_dir_all(sandbox.path("web")).expect("a folder");
    }
    // Without settings.json, the flags are unknown.
    crawl(&sandbox, "", &[&server.url("/"), "--max-depth", "1"]);
    fs::remove_file(sandbox.path("web/frontier/settings.json")).expect("a file");
    let why = check(&sandbox, &server.url("/b"), "waiting: the last crawl did not reach it");
    let said = "the last crawl may have had other flags";
    assert!(why["verdict"].as_str().is_some_and(|verdict| verdict.contains(said)), "{why:#}");
}

/// The scope compares host and port.
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

/// A port where nothing listens.
fn dead_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    listener.local_addr().expect("it is bound").port()
}

#[test]
fn a_host_that_cannot_be_reached_forbids_nothing() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("web")).expect("a folder");
    let settings = SETTINGS.replace("retry_ms = 1\n", "retry_ms = 60000\n");
    fs::write(sandbox.path("web/crivello.toml"), settings).expect("a file");
    let url = format!("http://127.0.0.1:{}/", dead_port());
    // Its time is over before the second attempt.
    let ran = sandbox.run(&["crawl", "--dir", "web", "--max-time", "1", &url]);
    let said =
        "no page could be fetched: stopped by `time_s_max`; 1 failed request: site not reachable 1";
    assert!(ran.code == 1 && ran.stderr.contains(said), "{ran:#?}");
    let unreached = "waiting: its host cannot be reached (connect: ";
    let told = check(&sandbox, &url, unreached);
    let verdict = told["verdict"].as_str().expect("a verdict");
    assert!(verdict.ends_with("); the next crawl retries it"), "{told:#}");
    let said = sandbox.done(&["why", "--dir", "web", &url]);
    assert!(!said.contains("robots.txt") && said.matches("connect: ").count() == 1, "{said}");
    // Now the host is set aside.
    let ran = sandbox.run(&["crawl", "--dir", "web", "--set", "crawl.retry_ms=1"]);
    assert!(ran.stderr.contains(": connection refused; the next crawl"), "{ran:#?}");
    check(
        &sandbox,
        &url,
        "waiting, because its host is set aside: it cannot be reached (connect: ",
    );
    let said = sandbox.done(&["why", "--dir", "web", &url]);
    assert!(!said.contains("robots.txt") && said.matches("connect: ").count() == 1, "{said}");
}

/// During a crawl, the report is that of the previous one.
#[test]
fn what_a_running_crawl_has_not_come_to_is_told_as_that() {
    let links: Vec<String> = (0..200).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let server = site(&[("/", page(&links)), ("/0", HTML.to_owned())]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    check(&sandbox, &server.url("/199"), "waiting: the last crawl ended at its `pages_max` with ");
    let flags = ["crawl", "--dir", "web", "-q", "--set", "crawl.delay_ms=1000"];
    let running = sandbox.start(&flags);
    let mut verdicts = Vec::new();
    for _ in 0..1_000 {
        let told = why(&sandbox, &server.url("/0"));
        let verdict = told["verdict"].as_str().expect("a verdict").to_owned();
        let is_fetched = verdict.starts_with("fetched");
        verdicts.push(verdict);
        if is_fetched {
            assert_eq!(told["running"]["command"], "crawl", "{told:#}");
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(verdicts.last().is_some_and(|verdict| verdict.starts_with("fetched")), "{verdicts:?}");
    let said = "waiting: by the data on disk, the running crawl has not reached it yet";
    check(&sandbox, &server.url("/199"), said);
    assert_eq!(running.signal("INT"), Some(130));
    check(&sandbox, &server.url("/199"), "waiting: the last crawl ended with ");
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
        let name = format!("its canonical URL is {}", server.url("/main"));
        said.matches(&name).count()
    };
    let before = sandbox.done(&["why", "--dir", "web", &server.url("/3")]);
    assert_eq!(names(&before), 1, "{before}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/3")]);
    assert!(
        names(&said) == 1 && said.contains("duplicate of ") && said.contains(", similarity 1.00\n"),
        "{said}"
    );
    let told = why(&sandbox, &server.url("/main"));
    assert_eq!(told["copies"].as_array().map(Vec::len), Some(14), "{told:#}");
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/main")]);
    assert_eq!((said.matches("represents ").count(), names(&said)), (10, 0), "{said}");
    assert!(said.contains("… and 4 more pages (`--json` has all)"), "{said}");
}

/// Known URLs are fetched again only with `--recrawl`; a run with nothing else to do says so.
#[test]
fn what_was_visited_before_and_is_given_again_is_told() {
    let server = site(&[("/in", "401 No\n\n".to_owned()), ("/b", HTML.to_owned())]);
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("web")).expect("a folder");
    fs::write(sandbox.path("web/crivello.toml"), SETTINGS).expect("a file");
    let list = |more: &[&str]| sandbox.run(&[&["crawl", "--dir", "web", "--list"], more].concat());
    let url = server.url("/in");
    let ran = list(&[&url]);
    assert!(ran.code == 1 && ran.stderr.contains("1 page: access denied 1"), "{ran:#?}");
    // The server accepts the password now.
    server.set("/in", &page(&[]));
    let ran = list(&[&url]);
    let said =
        "Known     1 address you gave was visited before; --recrawl --list visits it again\n";
    assert!(ran.code == 1 && ran.stderr.contains(said), "{ran:#?}");
    let reason = "no page could be fetched: 1 seed visited before, such as http";
    assert!(ran.stderr.contains(reason), "{ran:#?}");
    // Also without any URL.
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains(reason), "{ran:#?}");
    let ran = list(&[&url, &server.url("/b")]);
    assert!(
        ran.code == 0 && ran.stderr.contains("1 new page") && ran.stderr.contains(said),
        "{ran:#?}"
    );
    let ran = list(&[&url, &server.url("/b"), "-v"]);
    for said in [
        "Known     2 addresses you gave were visited before; ",
        &format!("Known     {url}: status 401 at 20"),
        "Known     status 200 1, status 401 1\n",
    ] {
        assert!(ran.code == 0 && ran.stderr.contains(said), "{said}: {ran:#?}");
    }
    let ran = sandbox.run(&["crawl", "--dir", "web", "--recrawl"]);
    assert!(ran.code == 0 && !ran.stderr.contains("visited before"), "{ran:#?}");
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
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("web")).expect("a folder");
    fs::write(sandbox.path("web/crivello.toml"), SETTINGS).expect("a file");
    let seed = server.url("/");
    for (flag, refused) in [
        (seed.as_str(), Some("Excluded  3 links: `scope` 1, `skip_extensions` 2")),
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
        assert!(status.contains("Left      no URL\n"), "{status}");
        let json = sandbox.json(&["status", "--dir", "web"])["crawl"].take();
        assert_eq!((&json["pages"], &json["hosts"]), (&3.into(), &1.into()), "{json:#}");
        if refused.is_none() {
            server.set("/a", &page(&["/z.zip"]));
        }
    }
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let status = sandbox.done(&["status", "--dir", "web"]);
    let pages = "Pages     2 pages and 0 redirects\nNo page   4 URLs: cannot read \"application/pdf\" 1, \
                 status 401 1, status 410 1, status 500 1\n";
    assert!(status.contains(pages), "{status}");
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/doc")]);
    assert_eq!(said.matches("application/pdf").count(), 1, "{said}");
    let said = sandbox.done(&["why", "--dir", "web", &server.url("/gone")]);
    assert!(!said.contains("it is no page"), "{said}");
    // It also names the limit that ended a run.
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    let status = sandbox.done(&["status", "--dir", "web"]);
    let stopped = "\nStopped   by `pages_max`; 5 URLs left for a crawl with a higher limit\n";
    assert!(status.contains(stopped), "{status}");
}

#[test]
fn what_is_behind_is_told_with_the_reason() {
    let server = site(&[("/", page(&["/a"])), ("/a", format!("{HTML}<p>one"))]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    let behind = |flags: &[&str], command: &str, why: &str| {
        let flags = [&["status", "--dir", "web"], flags].concat();
        let status = sandbox.done(&flags);
        let line = format!("\nBehind    run `crivello {command} --dir web`: {why}");
        assert!(status.contains(&line), "no {line:?} in {status}");
        let told = sandbox.json(&flags);
        assert_eq!(told["behind"], serde_json::json!([command]), "{told:#}");
        assert!(told["why_behind"].as_str().is_some_and(|told| told.starts_with(why)), "{told:#}");
    };
    behind(&[], "index", "there is no index yet");
    // A killed `index` may leave its folder behind.
    fs::create_dir(sandbox.path("web/index")).expect("a folder");
    behind(&[], "index", "there is no index yet");
    let searched = sandbox.run(&["search", "one", "--dir", "web"]);
    assert!(searched.code == 1 && searched.stderr.contains("has no index yet: "), "{searched:#?}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("\nBehind "));
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

/// A list recrawl fetches only the list.
#[test]
fn a_recrawl_of_given_addresses_leaves_the_others_alone() {
    let pages = ["/", "/a", "/b", "/c"].map(|path| (path, page(&["/a", "/b", "/c"])));
    let server = site(&pages);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let visits =
        |path: &str| why(&sandbox, &server.url(path))["captures"].as_array().expect("visits").len();
    fs::write(sandbox.path("urls.txt"), server.url("/a")).expect("a file");
    for (flags, asked, wanted) in [
        (&["--recrawl", "--list", "--seeds", "urls.txt"][..], 1, [1, 2, 1, 1]),
        (&["--recrawl=given", &server.url("/b")], 1, [1, 2, 2, 1]),
        (&["--recrawl=given", &server.url("/b"), &server.url("/c")], 2, [1, 2, 3, 2]),
        // Without URLs, all are fetched.
        (&["--recrawl", "--list"], 4, [2, 3, 4, 3]),
        (&[], 0, [2, 3, 4, 3]),
    ] {
        let report = sandbox.json(&[&["crawl", "--dir", "web", "-q"], flags].concat());
        assert_eq!(report["asked"], asked, "{flags:?}: {report:#}");
        assert_eq!(["/", "/a", "/b", "/c"].map(visits), wanted, "{flags:?}");
        assert_eq!(report["pages"], 4, "{flags:?}: {report:#}");
    }
    // An interrupted recrawl continues with its list.
    let entries = fs::read_dir(sandbox.path("web/archive")).expect("a folder");
    let names = entries.map(|entry| entry.expect("listed").file_name().into_string());
    let names = names.map(|name| name.expect("text"));
    let files: Vec<String> = names.filter(|name| name.ends_with(".warc.gz")).collect();
    let head = format!("given 7 1\nfiles {}\n", files.len());
    let text = one_recrawl(&format!("{head}{}\n{}\n", files.join("\n"), server.url("/c")));
    fs::write(sandbox.path("web/frontier/recrawl"), text).expect("a file");
    let status = sandbox.done(&["status", "--dir", "web"]);
    assert!(status.contains("Recrawl   of given pages, started 1970"), "{status}");
    let report = sandbox.json(&["crawl", "--dir", "web", "-q"]);
    assert_eq!(report["asked"], 1, "{report:#}");
    assert_eq!(["/", "/a", "/b", "/c"].map(visits), [2, 3, 4, 4]);
    assert!(!sandbox.path("web/frontier/recrawl").exists());
    let ran = sandbox.run(&["crawl", "--dir", "web", "--recrawl=given"]);
    assert!(ran.code == 2 && ran.stderr.contains("none is given"), "{ran:#?}");
}

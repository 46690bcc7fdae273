//! Lost and damaged pages are fetched again, and damaged state files of a crawl are repaired or refused.

use std::fs;

use crate::lost_files::{change, place};
use crate::sandbox::Sandbox;
use crate::why_servers::{
    HTML, NEXT_GIVEN, Pages, SETTINGS, check, crawl, crawled, crawled_twice, one_recrawl, page,
};

const FIRST: &str = "web/archive/crivello-00001.warc.gz";

/// Sets a page with a validator, and the 304 for conditional requests.
fn tagged(server: &Pages, path: &str, links: &[&str]) {
    let body = page(links).replacen("\n\n", "\nETag: \"1\"\n\n", 1);
    server.set(path, &body);
    server.set(&format!("{path} if"), "304 Not Modified\nETag: \"1\"\n\n");
}

/// A collection whose first archive file is missing. The second has only 304s.
fn lose(server: &Pages) -> Sandbox {
    let sandbox = Sandbox::new();
    tagged(server, "/", &["/a"]);
    tagged(server, "/a", &[]);
    crawl(&sandbox, "", &[&server.url("/")]);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    fs::remove_file(sandbox.path(FIRST)).expect("it is there");
    sandbox
}

/// Damages the first record of a URL.
fn damage(sandbox: &Sandbox, url: &str) {
    let at = place(sandbox, "response", url);
    change(sandbox, FIRST, true, &|bytes| bytes[at + 200] ^= 0x55);
}

#[test]
fn lost_pages_are_reported_missing_and_refetched() {
    let server = Pages::serve(&[]);
    let sandbox = lose(&server);
    for path in ["/", "/a"] {
        check(&sandbox, &server.url(path), "missing: ");
    }
    assert_eq!(sandbox.run(&["doctor", "archive", "--dir", "web"]).code, 1);

    let (first, a) = (sandbox.path(FIRST), server.url("/a"));
    for is_left in [true, false] {
        let ran = sandbox.run(&["archive", "get", "--dir", "web", &a]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        if is_left {
            fs::remove_file(first.with_extension("gz.cdxj")).expect("it is there");
            fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
        }
    }

    // One of them fails now.
    server.set("/a", "503 Busy\n\n");
    sandbox.done(&["crawl", "--dir", "web"]);
    let status = sandbox.json(&["status", "--dir", "web"])["crawl"].take();
    assert_eq!((&status["pages"], &status["missing"]), (&1.into(), &1.into()), "{status:#}");
    check(&sandbox, &server.url("/"), "fetched");
    check(&sandbox, &server.url("/a"), "missing: ");

    server.set("/a", HTML);
    let told = sandbox.json(&["crawl", "--dir", "web"]);
    assert_eq!(
        (&told["pages"], &told["missing"], &told["lost"]),
        (&2.into(), &0.into(), &1.into())
    );
    check(&sandbox, &server.url("/a"), "fetched");
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
}

/// A missing file is reported even if no revisit record refers to it.
#[test]
fn all_commands_report_a_missing_file() {
    let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", &page(&["/c"])), ("/b", HTML)]);
    server.set("/c", HTML);
    server.set("/d", HTML);
    let sandbox = crawled_twice(&server);
    crawl(&sandbox, "", &[&server.url("/d")]);
    let second = "crivello-00002.warc.gz";
    fs::remove_file(sandbox.path("web/archive").join(second)).expect("it is there");
    let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
    let said = format!("archive/{second} is gone, with 3 URLs (of its 3) in no other file: ");
    assert!(ran.code == 1 && ran.stdout.contains(&said), "{ran:#?}");
    let said = format!("1 file of the archive is gone: {second}");
    assert!(sandbox.done(&["status", "--dir", "web"]).contains(&said));
    for path in ["/a", "/c"] {
        check(&sandbox, &server.url(path), "lost: ");
    }
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.stderr.contains(&said), "{ran:#?}");
    check(&sandbox, &server.url("/c"), "fetched");
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("gone: "));
    // It is reported once.
    assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["gone"], serde_json::json!([]));
    fs::remove_file(sandbox.path(&format!("web/archive/{second}.cdxj"))).expect("it is there");
    assert!(!sandbox.done(&["doctor", "--dir", "web"]).contains("gone"));
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("gone: "));
}

/// Failed visits before or after the loss do not replace the lost answer.
#[test]
fn a_failed_fetch_leaves_a_lost_page_lost() {
    let pages = [("/", page(&["/a"])), ("/a", page(&["/c"])), ("/c", HTML.to_owned())];
    let pages = pages.each_ref().map(|(path, answer)| (*path, answer.as_str()));
    let cut = "200 OK\nContent-Length: 9\n\n";
    for (answer, is_before) in
        [("503 Busy\n\nbusy", false), ("503 Busy\n\nbusy", true), (cut, false)]
    {
        let (server, sandbox) = (Pages::serve(&pages), Sandbox::new());
        crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
        crawl(&sandbox, "", &[]);
        for path in ["/a", "/c"] {
            server.set(path, answer);
        }
        let second = sandbox.path("web/archive/crivello-00002.warc.gz");
        if is_before {
            crawl(&sandbox, "", &["--recrawl"]);
        }
        fs::remove_file(&second).expect("it is there");
        if !is_before {
            crawl(&sandbox, "", &[]);
        }
        for path in ["/a", "/c"] {
            // No page links to it since.
            if path == "/c" && !is_before {
                continue;
            }
            check(&sandbox, &server.url(path), "lost: ");
            let ran = sandbox.run(&["archive", "get", "--dir", "web", &server.url(path)]);
            assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:#?}");
        }
        server.set("/a", &page(&["/c"]));
        server.set("/c", HTML);
        sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
        for path in ["/a", "/c"] {
            check(&sandbox, &server.url(path), "fetched");
        }
    }
}

/// A wrong bit in the list of files must not invent a missing file.
#[test]
fn only_files_that_existed_are_reported_missing() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    let list = sandbox.path("web/frontier/visits/files");
    let good = fs::read(&list).expect("a list");
    let digit = good.iter().position(|byte| *byte == b'1').expect("a number");
    let mut bad = good.clone();
    bad[digit] ^= 2;
    fs::write(&list, bad).expect("room");
    let ran = sandbox.run(&["doctor", "archive", "frontier", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stdout.contains("visits/files: damaged at byte 0"), "{ran:#?}");
    assert!(!ran.stdout.contains("gone"), "{ran:#?}");
    assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["gone"], serde_json::json!([]));
    assert_eq!(fs::read(&list).expect("a list"), good);
    sandbox.done(&["doctor", "--dir", "web"]);
}

/// Lost pages that the user or a server excludes are reported, but are no fault.
#[test]
fn lost_excluded_pages_are_reported_but_no_fault() {
    let forbid = "200 OK\n\nUser-agent: *\nDisallow: /a\n";
    let none = "404 Not Found\n\n";
    for (settings, robots, why) in [
        ("fetch_filter = \"path != /a\"\n", none, "it is refused: `fetch_filter`"),
        ("pages_per_host_max = 1\n", none, "its host has reached its limit of 1 page "),
        ("", forbid, "robots.txt forbids it: forbidden by line 2 "),
    ] {
        let server = Pages::serve(&[]);
        let sandbox = lose(&server);
        server.set("/robots.txt", robots);
        let text = format!("{SETTINGS}{settings}");
        fs::write(sandbox.path("web/crivello.toml"), text).expect("room");
        for _ in 0..2 {
            sandbox.done(&["crawl", "--dir", "web"]);
            let told = sandbox.json(&["status", "--dir", "web"]);
            assert_eq!(told["crawl"]["missing_kept_out"], 1, "{told:#}");
            let told = check(&sandbox, &server.url("/a"), "missing: ");
            let verdict = told["verdict"].as_str().expect("a verdict");
            let said = format!("; no crawl fetches it again: {why}");
            assert!(verdict.contains(&said), "{settings}: {verdict}");
            sandbox.done(&["doctor", "archive", "--dir", "web"]);
        }
        // Without the exclusion, the crawl fetches it.
        server.set("/robots.txt", none);
        fs::write(sandbox.path("web/crivello.toml"), SETTINGS).expect("room");
        if settings.is_empty() {
            // A robots.txt is valid for a day.
            continue;
        }
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["missing"], 0);
        check(&sandbox, &server.url("/a"), "fetched");
    }
}

/// The visit log does not know of the damage, so a plain crawl does not fetch the page.
#[test]
fn a_page_with_a_damaged_record_is_reported() {
    let server = Pages::serve(&[]);
    let sandbox = Sandbox::new();
    tagged(&server, "/", &["/a"]);
    tagged(&server, "/a", &[]);
    crawl(&sandbox, "", &[&server.url("/")]);
    let root = server.url("/");
    damage(&sandbox, &root);
    // Neither a plain crawl nor `--recrawl=due` fetches it.
    for flags in [&[][..], &["--recrawl=due"]] {
        sandbox.done(&[&["crawl", "--dir", "web", "-q"], flags].concat());
        let why = check(&sandbox, &root, "damaged: the record of ");
        let verdict = why["verdict"].as_str().expect("a verdict");
        assert!(verdict.ends_with(NEXT_GIVEN), "{verdict}");
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl=given", &root]);
    let why = check(&sandbox, &root, "fetched");
    assert_eq!(why["captures"][0]["unreadable"], true, "{why:#}");
    assert_eq!(why["captures"][1]["status"], "200", "{why:#}");
    assert_eq!(sandbox.json(&["status", "--dir", "web"])["crawl"]["pages"], 2);
}

/// If a revisit record refers to a damaged record, all commands name the same remedy, and it works.
#[test]
fn damage_referenced_by_a_304_is_reported_with_a_remedy() {
    let server = Pages::serve(&[]);
    let sandbox = Sandbox::new();
    tagged(&server, "/", &["/a"]);
    tagged(&server, "/a", &[]);
    crawl(&sandbox, "", &[&server.url("/")]);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    damage(&sandbox, &server.url("/a"));
    for flags in [&[][..], &["--json"]] {
        let get = ["archive", "get", "--dir", "web", &server.url("/a")];
        let ran = sandbox.run(&[&get, flags].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:#?}");
    }
    for _ in 0..2 {
        assert_eq!(sandbox.run(&["doctor", "archive", "--dir", "web"]).code, 1);
        check(&sandbox, &server.url("/a"), "damaged: ");
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 0);
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl=given", &server.url("/a")]);
    check(&sandbox, &server.url("/a"), "fetched");
}

/// A failed visit hides no damage, and the unfinished recrawl fetches the page again.
#[test]
fn an_unfinished_recrawl_refetches_a_damaged_page() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    let a = server.url("/a");
    damage(&sandbox, &a);
    let get = || sandbox.run(&["archive", "get", "--dir", "web", &a]);
    let before = get();
    assert!(before.code == 1 && before.stderr.contains("cannot be read: "), "{before:#?}");
    for path in ["/", "/a"] {
        server.set(path, "503 Busy\n\nbusy");
    }
    crawl(&sandbox, "", &["--recrawl"]);
    check(&sandbox, &a, "damaged: the record of ");
    let after = get();
    assert_eq!((after.code, &after.stderr), (1, &before.stderr), "{after:#?}");
    server.set("/", &page(&["/a"]));
    server.set("/a", HTML);
    crawl(&sandbox, "", &[]);
    check(&sandbox, &a, "fetched");
    assert_eq!(get().code, 0);
}

/// `doctor` reports each damaged file, and the next crawl repairs it.
#[test]
fn damaged_frontier_files_are_reported_and_repaired() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    for note in ["rests", "settings.json", "unreported"] {
        fs::write(sandbox.path("web/frontier").join(note), "garbage").expect("room");
        let ran = sandbox.run(&["doctor", "frontier", "--dir", "web"]);
        let said = format!("frontier/{note}: damaged; the next crawl continues without it");
        assert!(ran.code == 1 && ran.stdout.contains(&said), "{ran:#?}");
        crawl(&sandbox, "", &[]);
        sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    }
}

/// Seeds that are edited by hand may have comments, as in a file for `--seeds`; a checksum is no comment.
#[test]
fn hand_written_seeds_may_have_comments() {
    let server = Pages::serve(&[("/", HTML), ("/a", HTML), ("/b", HTML)]);
    let sandbox = crawled(&server);
    let seeds = sandbox.path("web/frontier/seeds");
    let written = fs::read_to_string(&seeds).expect("a file");
    let [a, b] = [server.url("/a"), server.url("/b#c")];
    let lines = format!("# mine\n\n{a} # the first\n\t# {b}\n");
    for (text, pages) in [
        (format!("\u{feff}{written}"), 1),
        (format!("\u{feff}{lines}"), 2),
        (format!("{lines}{b}\n# the end"), 3),
    ] {
        fs::write(&seeds, &text).expect("room");
        sandbox.done(&["why", "--dir", "web", &server.url("/")]);
        sandbox.done(&["doctor", "frontier", "--dir", "web"]);
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["pages"], pages, "{text}");
    }
    let sum = written.lines().last().expect("a checksum");
    let invalid: [Vec<u8>; 6] = [
        format!("{sum}\n{a}\n").into(),
        format!("{a} {sum}\n{b}\n").into(),
        format!("{a}\n{}\n", sum.to_uppercase()).into(),
        format!("{a}\u{b}{sum}\n").into(),
        b"http//x\n".into(),
        b"http://\xFF\xFE/\n".into(),
    ];
    for text in invalid {
        fs::write(&seeds, &text).expect("room");
        let ran = sandbox.run(&["crawl", "--dir", "web"]);
        assert!(ran.code == 1 && ran.stderr.contains("frontier/seeds: line "), "{ran:#?}");
    }
    // In a file for `--seeds`, the checksum is a comment.
    let other = sandbox.path("urls.txt");
    fs::write(&other, format!("\u{feff}{written}")).expect("room");
    fs::remove_file(&seeds).expect("it is there");
    let other = other.to_str().expect("a path");
    assert_eq!(sandbox.json(&["crawl", "--dir", "web", "--seeds", other])["pages"], 3);
}

/// A wrong address would lead the crawl to another host.
#[test]
fn damaged_seeds_are_refused() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    let seeds = sandbox.path("web/frontier/seeds");
    let good = fs::read(&seeds).expect("a file");
    let mut flipped = good.clone();
    flipped[10] ^= 1;
    let url = server.url("/");
    let tell = |wanted: &str| {
        for command in [
            &["crawl", "-q"][..],
            &["crawl", "--resume"],
            &["crawl", "--list"],
            &["up", "--listen", "127.0.0.1:0"],
            &["doctor", "frontier"],
            &["why", &url],
        ] {
            let ran = sandbox.run(&[command, &["--dir", "web"]].concat());
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code == 1 && said.contains(wanted), "{command:?}: {ran:#?}");
        }
        let status = sandbox.done(&["status", "--dir", "web"]);
        assert!(status.contains("\nSeeds     ") && status.contains(wanted), "{status}");
    };
    for bad in [&good[..good.len() - 3], &flipped] {
        fs::write(&seeds, bad).expect("room");
        tell("frontier/seeds: checksum mismatch; check the addresses");
    }
    // A missing newline at the end is reported.
    let half = url.len() - 1;
    for length in [half, url.len()] {
        fs::write(&seeds, &url[..length]).expect("room");
        tell("frontier/seeds: the last line, ");
    }
    for is_there in [true, false] {
        fs::write(&seeds, "").expect("room");
        if !is_there {
            fs::remove_file(&seeds).expect("it is there");
        }
        tell("frontier/seeds: missing or empty; run `crivello crawl URL` with the addresses");
        assert!(!sandbox.path("web/frontier/list").exists(), "it is no list by that");
    }
    // The same command writes it again; the crawl does not become a list crawl.
    sandbox.done(&["crawl", "--dir", "web", "-q", "--list", &url]);
    assert_eq!(fs::read(&seeds).expect("a file"), good);
    assert!(!sandbox.path("web/frontier/list").exists(), "the crawl was not begun so");
    // A file without a checksum, from another version or a person.
    fs::write(&seeds, format!("{}\n", server.url("/"))).expect("room");
    sandbox.done(&["crawl", "--dir", "web", "-q"]);
    sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    assert_eq!(fs::read(&seeds).expect("a file"), good);
}

/// A wrong file name must not end a recrawl early.
#[test]
fn doctor_reports_a_recrawl_with_a_wrong_file_name() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl", "--max-pages", "1"]);
    let file = sandbox.path("web/frontier/recrawl");
    let whole = |name: &str| one_recrawl(&format!("all 7\nfiles 1\n{name}\n"));
    fs::write(&file, whole("crivello-00003.warc.gz")).expect("room");
    assert_eq!(sandbox.run(&["doctor", "archive", "--dir", "web"]).code, 1);
    fs::write(&file, whole("crivello-00001.warc.gz")).expect("room");
    sandbox.run(&["crawl", "--dir", "web", "-q", "--max-pages", "1"]);
    assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["missing"], 0);
    sandbox.done(&["doctor", "archive", "frontier", "--dir", "web"]);
}

#[test]
fn visit_log_damage_is_reported_and_repaired() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled(&server);
    sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    let log = sandbox.path("web/frontier/visits/crivello-00001.warc.gz.log");
    let good = fs::read(&log).expect("a file");
    for (at, offset) in [(3, 0), (9, 0), (21, 20), (30, 20), (100, 20), (good.len() - 1, 20)] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&log, &bad).expect("room");
        let ran = sandbox.run(&["doctor", "frontier", "--dir", "web"]);
        let fault = format!("crivello-00001.warc.gz.log: damaged at byte {offset}; the next crawl");
        assert!(ran.code == 1 && ran.stdout.contains(&fault), "{at}: {ran:#?}");
    }
    assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 0);
    sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    // Bytes after its end are removed as well.
    for junk in [&[0; 64][..], &[0xA5; 64], &good[20..]] {
        fs::write(&log, [&good, junk].concat()).expect("room");
        let ran = sandbox.run(&["doctor", "frontier", "--dir", "web"]);
        assert!(ran.code == 1 && ran.stdout.contains("log: damaged at byte "), "{ran:#?}");
        assert_eq!(sandbox.json(&["crawl", "--dir", "web"])["requests"], 0);
        assert_eq!(fs::read(&log).expect("a file"), good);
        sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    }
    // A kill leaves the log short, which is no damage.
    fs::write(&log, &good[..good.len() - 9]).expect("room");
    sandbox.done(&["doctor", "frontier", "--dir", "web"]);
}

/// The number of a missing file is not reused while anything refers to it.
#[test]
fn the_name_of_a_missing_file_is_not_reused() {
    let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", HTML), ("/b", HTML)]);
    for knows in ["archive", "frontier", "pages"] {
        let sandbox = crawled_twice(&server);
        sandbox.done(&["index", "--dir", "web"]);
        let second = sandbox.path("web/archive/crivello-00002.warc.gz");
        fs::remove_file(&second).expect("it is there");
        if knows != "archive" {
            fs::remove_file(second.with_extension("gz.cdxj")).expect("it is there");
        }
        if knows != "frontier" {
            fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
        }
        if knows != "pages" {
            fs::remove_dir_all(sandbox.path("web/pages")).expect("it is there");
        }
        crawl(&sandbox, "", &[]);
        let third = sandbox.path("web/archive/crivello-00003.warc.gz");
        assert!(!second.exists() && third.exists(), "by what {knows} knows");
    }
}

/// Makes the first page say which edition it is, for all requests.
fn set_edition(server: &Pages, name: &str) {
    let head = format!("200 OK\nContent-Type: text/html\nETag: \"{name}\"\n\n");
    let page = format!("{head}<title>t</title><p>edition {name}");
    server.set("/", &page);
    server.set("/ if", &page);
}

/// If the newest capture is lost and no revisit refers to it, `archive get`, `index` and `doctor` say that the
/// page is older.
#[test]
fn an_older_page_is_reported_as_older() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = Sandbox::new();
    let url = server.url("/");
    let get = || sandbox.run(&["archive", "get", "--dir", "web", &url]);
    set_edition(&server, "one");
    crawl(&sandbox, "", &[&url]);
    set_edition(&server, "two");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let second = sandbox.path("web/archive/crivello-00002.warc.gz");
    fs::remove_file(&second).expect("it is there");
    for is_left in [true, false] {
        if !is_left {
            fs::remove_file(second.with_extension("gz.cdxj")).expect("it is there");
        }
        let ran = get();
        assert!(ran.code == 0 && ran.stdout.contains("edition one"), "{ran:#?}");
        assert!(ran.stderr.contains("a newer capture of http"), "{ran:#?}");
        let ran = sandbox.run(&["index", "--dir", "web"]);
        assert!(ran.stderr.contains("\nOlder     1 page in an older version"), "{ran:#?}");
        assert_eq!(sandbox.run(&["doctor", "archive", "--dir", "web"]).code, 1);
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let ran = get();
    assert!(ran.stdout.contains("edition two") && ran.stderr.is_empty(), "{ran:#?}");
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(!ran.stderr.contains("older"), "{ran:#?}");
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("gone: "));
}

/// A lost capture does not matter if a later visit found the older page again.
#[test]
fn a_page_with_restored_content_is_not_older() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = Sandbox::new();
    let url = server.url("/");
    set_edition(&server, "one");
    crawl(&sandbox, "", &[&url]);
    set_edition(&server, "two");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    fs::remove_file(sandbox.path("web/archive/crivello-00002.warc.gz")).expect("it is there");
    set_edition(&server, "one");
    server.set("/ if", "304 Not Modified\nETag: \"one\"\n\n");
    let told = sandbox.json(&["crawl", "--dir", "web", "--recrawl"]);
    assert_eq!(told["unchanged"], 1, "{told:#}");
    let ran = sandbox.run(&["archive", "get", "--dir", "web", &url]);
    assert!(ran.stdout.contains("edition one") && ran.stderr.is_empty(), "{ran:#?}");
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(!ran.stderr.contains("older"), "{ran:#?}");
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("gone: "));
}

/// An older page must not be printed for a lost one that a revisit refers to.
#[test]
fn an_older_page_does_not_replace_a_lost_one() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = Sandbox::new();
    let url = server.url("/");
    let edition = |name: &str| set_edition(&server, name);
    let get = |args: &[&str]| {
        sandbox.run(&[&["archive", "get", "--dir", "web", url.as_str()], args].concat())
    };
    let second = sandbox.path("web/archive/crivello-00002.warc.gz");
    edition("one");
    crawl(&sandbox, "", &[&url]);
    edition("two");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    server.set("/ if", "304 Not Modified\nETag: \"two\"\n\n");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let ran = get(&[]);
    assert!(ran.code == 0 && ran.stdout.contains("edition two"), "{ran:#?}");
    let whole = fs::read(&second).expect("it is there");
    fs::remove_file(&second).expect("it is there");
    for args in [&[][..], &["--json"]] {
        let ran = get(args);
        assert!(ran.code == 1 && !ran.stdout.contains("edition"), "{ran:#?}");
    }
    sandbox.done(&["index", "--dir", "web"]);
    // Nor where it is damaged, whether the CDXJ file knows of it or not.
    fs::write(&second, &whole).expect("room");
    let at = place(&sandbox, "response", &url);
    let name = "web/archive/crivello-00002.warc.gz";
    change(&sandbox, name, true, &|bytes| bytes[at + 200] ^= 0x55);
    for is_known in [true, false] {
        if !is_known {
            fs::remove_file(second.with_extension("gz.cdxj")).expect("it is there");
        }
        for args in [&[][..], &["--json"]] {
            let ran = get(args);
            assert!(ran.code != 0 && !ran.stdout.contains("edition"), "{is_known} {ran:#?}");
        }
    }
    fs::remove_file(second.with_extension("gz.cdxj")).expect("it is there");
    // A restored file or a newer capture is printed.
    fs::write(&second, &whole).expect("room");
    assert!(get(&[]).stdout.contains("edition two"));
    fs::remove_file(&second).expect("it is there");
    edition("three");
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    let ran = get(&[]);
    assert!(ran.code == 0 && ran.stdout.contains("edition three"), "{ran:#?}");
}

/// A wrong digit would be a wrong count.
#[test]
fn a_damaged_report_is_reported_and_rewritten() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    let report = sandbox.path("web/frontier/report.json");
    let good = fs::read_to_string(&report).expect("a report");
    let read: serde_json::Value = serde_json::from_str(&good).expect("JSON");
    let sum = read["sum"].as_str().expect("a sum");
    let count = format!("\"pages\":{}", read["pages"]);
    assert!(good.contains(&count) && read["pages"] != 9, "{good}");
    let without = good.replace(&format!(",\"sum\":\"{sum}\""), "");
    for bad in [
        good.replace(&count, "\"pages\":9"),
        good.replace(sum, "01234567"),
        good[1..].into(),
        without,
    ] {
        fs::write(&report, bad).expect("room");
        let wanted =
            "frontier/report.json: damaged or of another version; the next crawl writes it";
        let status = sandbox.json(&["status", "--dir", "web"]);
        assert!(status["crawl"].is_null(), "{status}");
        let ran = sandbox.run(&["doctor", "frontier", "--dir", "web"]);
        assert!(ran.code == 1 && ran.stdout.contains(wanted), "{ran:#?}");
        sandbox.done(&["why", &server.url("/"), "--dir", "web"]);
        let mended = sandbox.json(&["crawl", "--dir", "web"]);
        assert_eq!((&mended["pages"], &mended["requests"]), (&read["pages"], &0.into()));
        sandbox.done(&["doctor", "frontier", "--dir", "web"]);
    }
}

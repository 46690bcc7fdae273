//! Truncated archive files: their losses are reported and fetched again, like those of missing files.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, Pages, SETTINGS, check, crawl, crawled, crawled_twice, page, why};

fn file(number: u32) -> String {
    format!("web/archive/crivello-{number:05}.warc.gz")
}

/// Truncates the file with this number.
fn shorten(sandbox: &Sandbox, number: u32, bytes: u64) {
    let file = fs::File::options().write(true).open(sandbox.path(&file(number)));
    file.and_then(|file| file.set_len(bytes)).expect("it is there");
}

/// Returns the offsets of its records, without the first.
fn places(sandbox: &Sandbox, number: u32) -> Vec<u64> {
    let list = sandbox.run(&["archive", "list", "--dir", "web"]).stdout;
    let name = file(number).replace("web/archive/", "");
    let lines = list.lines().filter(|line| line.contains(&name) && !line.contains("warcinfo"));
    let offset = |line: &str| line.split('\t').nth(5)?.parse().ok();
    lines.map(|line| offset(line).expect("a place")).collect()
}

/// Truncates it before the first visit.
fn empty(sandbox: &Sandbox, number: u32) {
    shorten(sandbox, number, places(sandbox, number)[0]);
}

/// Brings the CDXJ files up to date.
fn look_up(sandbox: &Sandbox) {
    sandbox.run(&["archive", "get", "--dir", "web", "http://else.test/"]);
    assert!(sandbox.path(&format!("{}.cdxj", file(2))).exists());
}

/// Returns whether `status` and `doctor` report a truncated or missing file.
fn is_told(sandbox: &Sandbox) -> [bool; 2] {
    ["status", "doctor"].map(|command| {
        let said = sandbox.run(&[command, "--dir", "web"]).stdout;
        said.contains("has become shorter") || said.contains("is gone")
    })
}

/// Crawls up to this number of pages.
fn up_to(sandbox: &Sandbox, pages: &str) {
    sandbox.done(&["crawl", "--dir", "web", "-q", "--max-pages", pages]);
}

/// The log of a remaining page may lack a link that the lost page had before.
#[test]
fn a_page_lost_with_its_linking_page_is_refetched() {
    for tear in [0, 40] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &page(&["/q"]))]);
        server.set("/q", &page(&["/p"]));
        server.set("/p", &page(&["/q"]));
        let sandbox = Sandbox::new();
        crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
        up_to(&sandbox, "3");
        crawl(&sandbox, "", &[]);
        server.set("/a", HTML);
        empty(&sandbox, 2);
        let left = fs::metadata(sandbox.path(&file(2))).expect("it is there").len();
        // With or without a part of the next record.
        shorten(&sandbox, 2, left + tear);
        let ran = sandbox.run(&["crawl", "--dir", "web"]);
        let said = "1 file of the archive has become shorter: crivello-00002.warc.gz; ";
        assert!(ran.code == 0 && ran.stderr.contains(said), "{ran:#?}");
        for path in ["/", "/a", "/q", "/p"] {
            check(&sandbox, &server.url(path), "fetched");
        }
        // It is reported once.
        let again = sandbox.json(&["crawl", "--dir", "web"]);
        assert_eq!((&again["shortened"], &again["requests"]), (&serde_json::json!([]), &0.into()));
        assert_eq!(again["pages"], 4);
    }
}

#[test]
fn pages_lost_again_after_a_repair_are_refetched() {
    let server = Pages::serve(&[("/", &page(&["/p", "/x"])), ("/p", &page(&["/q"]))]);
    server.set("/q", HTML);
    server.set("/x", HTML);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    up_to(&sandbox, "2");
    crawl(&sandbox, "", &[]);
    fs::remove_file(sandbox.path(&file(2))).expect("it is there");
    crawl(&sandbox, "", &[]);
    empty(&sandbox, 3);
    crawl(&sandbox, "", &[]);
    for path in ["/", "/p", "/x", "/q"] {
        check(&sandbox, &server.url(path), "fetched");
    }
}

/// Two files at once: that of the page with the first link, and that of the page itself.
#[test]
fn two_files_truncated_at_once_are_repaired() {
    let server = Pages::serve(&[("/", &page(&["/a", "/p"])), ("/a", &page(&["/q"]))]);
    server.set("/p", &page(&["/q"]));
    server.set("/q", HTML);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/"), "--max-pages", "1"]);
    for pages in ["2", "3", "4"] {
        up_to(&sandbox, pages);
    }
    server.set("/a", HTML);
    for number in [2, 4] {
        empty(&sandbox, number);
    }
    crawl(&sandbox, "", &[]);
    for path in ["/", "/a", "/p", "/q"] {
        check(&sandbox, &server.url(path), "fetched");
    }
}

/// If a power cut takes more than the last record, only the visit log knows the losses.
#[test]
fn losses_known_only_to_the_visit_log_are_reported() {
    let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
    let sandbox = crawled_twice(&server);
    empty(&sandbox, 2);
    fs::remove_file(sandbox.path(&format!("{}.cdxj", file(2)))).expect("it is there");
    for _ in 0..2 {
        check(&sandbox, &server.url("/a"), "lost: ");
    }
    crawl(&sandbox, "", &[]);
    check(&sandbox, &server.url("/a"), "fetched");
    assert!(!sandbox.done(&["doctor", "--dir", "web"]).contains("shorter"));
}

#[test]
fn all_commands_report_a_truncated_file() {
    let server = Pages::serve(&[("/", &page(&["/a", "/b"])), ("/a", HTML), ("/b", HTML)]);
    let sandbox = crawled_twice(&server);
    empty(&sandbox, 2);
    for is_indexed in [false, true] {
        assert_eq!(is_told(&sandbox), [true, true]);
        for path in ["/a", "/b"] {
            check(&sandbox, &server.url(path), "lost: ");
            let ran = sandbox.run(&["archive", "get", "--dir", "web", &server.url(path)]);
            assert_eq!(ran.code, 3, "{ran:#?}");
        }
        if !is_indexed {
            let ran = sandbox.run(&["index", "--dir", "web"]);
            assert!(ran.code == 0 && !ran.stderr.contains("damaged"), "{ran:#?}");
        }
    }
    crawl(&sandbox, "", &[]);
    for path in ["/a", "/b"] {
        check(&sandbox, &server.url(path), "fetched");
    }
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
    assert!(!sandbox.done(&["status", "--dir", "web"]).contains("shorter"));
    fs::remove_file(sandbox.path(&format!("{}.cdxj", file(2)))).expect("it is there");
    assert!(!sandbox.done(&["doctor", "--dir", "web"]).contains("shorter"));
}

/// With the visit log, and with the CDXJ file alone.
#[test]
fn older_captures_are_distinguished_from_lost_newer_ones() {
    for is_logged in [true, false] {
        let server = Pages::serve(&[("/", &format!("{HTML}old"))]);
        let sandbox = crawled(&server);
        server.set("/", &format!("{HTML}new"));
        crawl(&sandbox, "", &["--recrawl"]);
        let whole = fs::read(sandbox.path(&file(2))).expect("it is there");
        empty(&sandbox, 2);
        if !is_logged {
            fs::remove_dir_all(sandbox.path("web/frontier/visits")).expect("it is there");
        }
        let get = || sandbox.run(&["archive", "get", "--dir", "web", &server.url("/")]);
        let ran = get();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "old"), "{ran:#?}");
        assert!(ran.stderr.contains("is lost: it was in crivello-00002.warc.gz"), "{ran:#?}");
        let why = why(&sandbox, &server.url("/"));
        assert_eq!(why["gone"][0]["shortened"], true, "{why:#}");
        // A whole copy ends it.
        fs::write(sandbox.path(&file(2)), whole).expect("room");
        let ran = get();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("new", ""), "{ran:#?}");
        assert!(!sandbox.done(&["doctor", "archive", "--dir", "web"]).contains("shorter"));
    }
}

/// The file never had a whole record.
#[test]
fn a_file_without_whole_records_is_not_missed() {
    let server = Pages::serve(&[("/", HTML)]);
    let sandbox = crawled(&server);
    let mut bytes = fs::read(sandbox.path(&file(1))).expect("it is there");
    bytes.truncate(100);
    fs::write(sandbox.path(&file(2)), bytes).expect("room");
    look_up(&sandbox);
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains("of the archive"), "{ran:#?}");
    assert!(!sandbox.path(&file(2)).exists());
    assert_eq!(is_told(&sandbox), [false, false]);
}

/// A killed crawl rebuilt the logs without a report; the next crawl reports the loss.
#[test]
fn the_next_crawl_reports_losses_a_killed_crawl_found() {
    for is_shorter in [false, true] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
        let sandbox = crawled_twice(&server);
        if is_shorter {
            empty(&sandbox, 2);
        } else {
            fs::remove_file(sandbox.path(&file(2))).expect("it is there");
        }
        fs::remove_file(sandbox.path(&format!("{}.cdxj", file(2)))).expect("it is there");
        // Its first request is a minute after the last one, and it makes the logs before.
        let list = sandbox.path("web/frontier/visits/files");
        let before = fs::metadata(&list).and_then(|about| about.modified()).expect("it is there");
        let slow = ["crawl", "--dir", "web", "--set", "crawl.delay_ms=60000"];
        let mut running = sandbox.start(&slow);
        while fs::metadata(&list).and_then(|about| about.modified()).map_or(true, |at| at == before)
        {
            assert_eq!(running.child.try_wait().expect("it is ours"), None, "it waits");
            thread::sleep(Duration::from_millis(10));
        }
        running.signal("KILL");
        let fate = if is_shorter { "has become shorter" } else { "is gone" };
        let said = format!("1 file of the archive {fate}: crivello-00002.warc.gz");
        let status = sandbox.done(&["status", "--dir", "web"]);
        assert!(status.contains(&said), "{status}");
        let ran = sandbox.run(&["crawl", "--dir", "web"]);
        assert!(ran.code == 0 && ran.stderr.contains(&said), "{ran:#?}");
        check(&sandbox, &server.url("/a"), "fetched");
        // It is reported once.
        assert_eq!(is_told(&sandbox), [false, false]);
        let ran = sandbox.run(&["crawl", "--dir", "web"]);
        assert!(!ran.stderr.contains("of the archive"), "{ran:#?}");
    }
}

/// A restored page is not the capture that a later visit found unchanged, even if equal. A crawl fetches it again.
#[test]
fn status_reports_a_missing_page_beside_a_restored_one() {
    for is_gone in [false, true] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
        let sandbox = crawled_twice(&server);
        let aside = sandbox.path("aside");
        fs::rename(sandbox.path(&file(2)), &aside).expect("it is there");
        crawl(&sandbox, "", &[]);
        fs::rename(&aside, sandbox.path(&file(2))).expect("it is there");
        crawl(&sandbox, "", &["--recrawl"]);
        assert_eq!(is_told(&sandbox), [false, false]);
        if is_gone {
            fs::remove_file(sandbox.path(&file(3))).expect("it is there");
        } else {
            empty(&sandbox, 3);
        }
        assert_eq!(is_told(&sandbox), [true, true], "{is_gone}");
        check(&sandbox, &server.url("/a"), "missing: ");
        crawl(&sandbox, "", &[]);
        check(&sandbox, &server.url("/a"), "fetched");
        let status = sandbox.done(&["status", "--dir", "web"]);
        assert!(!status.contains("of the archive"), "{status}");
    }
}

/// Hides from a crawl that a file existed.
fn hide_logs(sandbox: &Sandbox, how: &str) {
    let visits = sandbox.path("web/frontier/visits");
    let list = visits.join("files");
    match how {
        "nothing" => {}
        "no list" => fs::remove_file(list).expect("it is there"),
        "a damaged list" => fs::write(list, "x").expect("room"),
        _ => fs::remove_dir_all(visits).expect("it is there"),
    }
}

/// Checks that a crawl reports the second file, and the next crawl does not.
fn check_told_once(sandbox: &Sandbox, fate: &str, what: &str) {
    let said = format!("1 file of the archive {fate}: crivello-00002.warc.gz");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 0 && ran.stderr.contains(&said), "{what}: {ran:#?}");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains("of the archive"), "{what}: {ran:#?}");
}

/// A crawl without visit logs reports the loss as well, like `status` and `doctor`.
#[test]
fn a_crawl_reports_losses_known_only_to_cdxj_files() {
    for (fate, how) in [
        ("is gone", "no list"),
        ("is gone", "a damaged list"),
        ("is gone", "no logs"),
        ("has become shorter", "a damaged list"),
        ("has become shorter", "no logs"),
    ] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
        let sandbox = crawled_twice(&server);
        match fate {
            "is gone" => fs::remove_file(sandbox.path(&file(2))).expect("it is there"),
            _ => empty(&sandbox, 2),
        }
        hide_logs(&sandbox, how);
        check_told_once(&sandbox, fate, how);
        check(&sandbox, &server.url("/a"), "fetched");
        let said = sandbox.done(&["doctor", "archive", "--dir", "web"]);
        assert!(said.contains(fate), "the CDXJ file knows of it: {said}");
    }
}

/// Makes the CDXJ file of the second file name a page that never existed.
fn falsify(sandbox: &Sandbox) {
    let path = sandbox.path(&format!("{}.cdxj", file(2)));
    let lines = fs::read_to_string(&path).expect("it is there");
    let others = lines.replace(")/a ", ")/z ").replace("/a\"", "/z\"");
    assert_ne!(lines, others);
    fs::write(&path, others).expect("room");
}

/// A wrong line in the CDXJ file of a missing or truncated file is detected by its checksum.
#[test]
fn a_cdxj_file_with_a_wrong_line_is_discarded() {
    for damage in ["gone", "shorter", "shorter, and looked up"] {
        for hidden in ["nothing", "no logs"] {
            let what = format!("{damage}, {hidden}");
            let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
            let sandbox = crawled_twice(&server);
            let fate = if damage == "gone" {
                fs::remove_file(sandbox.path(&file(2))).expect("it is there");
                "is gone"
            } else {
                empty(&sandbox, 2);
                "has become shorter"
            };
            if damage.ends_with("looked up") {
                look_up(&sandbox);
            }
            falsify(&sandbox);
            hide_logs(&sandbox, hidden);
            let doctor = || sandbox.run(&["doctor", "archive", "--dir", "web"]);
            for ran in [doctor(), doctor()] {
                assert!(ran.code == 1 && ran.stdout.contains(fate), "{what}: {ran:#?}");
                assert!(!ran.stdout.contains(&server.url("/z")), "{what}: {ran:#?}");
                // The visit log counts.
                let is_known = ran.stdout.contains(&server.url("/a"));
                assert_eq!(is_known, hidden == "nothing", "{what}: {ran:#?}");
            }
            check_told_once(&sandbox, fate, &what);
            check(&sandbox, &server.url("/a"), "fetched");
            assert_eq!(is_told(&sandbox), [false, false], "{what}");
            sandbox.done(&["doctor", "--dir", "web"]);
        }
    }
}

/// The file had only a robots.txt.
#[test]
fn a_missing_file_without_pages_is_not_a_loss() {
    let server = Pages::serve(&[("/robots.txt", "503 Busy\n\n")]);
    let sandbox = Sandbox::with_settings(SETTINGS);
    sandbox.run(&["crawl", "--dir", "web", "-q", &server.url("/")]);
    fs::remove_file(sandbox.path(&file(1))).expect("it is there");
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
}

/// Overwrites a file of the archive with zeros from a byte on; keeps its date unless `is_dated`.
fn overwrite(sandbox: &Sandbox, number: u32, from: u64, is_dated: bool) {
    let path = sandbox.path(&file(number));
    let mut bytes = fs::read(&path).expect("it is there");
    let date = fs::metadata(&path).and_then(|about| about.modified()).expect("a date");
    bytes[usize::try_from(from).expect("it is short")..].fill(0);
    fs::write(&path, bytes).expect("room");
    if !is_dated {
        let written = fs::File::options().write(true).open(&path);
        written.and_then(|file| file.set_modified(date)).expect("set");
    }
}

/// Zeros at the end are cut off at once, so they are reported once and not as damage.
#[test]
fn a_last_record_of_zeros_is_reported_once() {
    // The last record, and also the end of the one before it.
    for (before, is_dated) in [(0, true), (0, false), (40, true)] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", &page(&[]))]);
        let sandbox = crawled(&server);
        let last = *places(&sandbox, 1).last().expect("records");
        overwrite(&sandbox, 1, last - before, is_dated);
        let mut said = Vec::new();
        for _ in 0..3 {
            said.push(sandbox.run(&["crawl", "--dir", "web"]).stderr);
            // A lookup rebuilds CDXJ files that are behind.
            sandbox.run(&["archive", "get", "--dir", "web", &server.url("/a")]);
        }
        let cdxj = sandbox.path(&format!("{}.cdxj", file(1)));
        fs::remove_file(cdxj).expect("it is there");
        said.push(sandbox.run(&["crawl", "--dir", "web"]).stderr);
        let times = |what| said.iter().filter(|said| said.contains(what)).count();
        let told = (times("has become shorter: crivello-00001"), times("amaged"));
        assert_eq!(told, (1, 0), "{before}, {is_dated}: {said:#?}");
        check(&sandbox, &server.url("/a"), "fetched");
    }
}

/// Truncation of the file and the note about it are two steps, and a kill may come in between; `index` does only
/// the first. The traces of the loss must survive that, even with a damaged CDXJ file and no visit log.
#[test]
fn an_earlier_truncation_with_damaged_cdxj_file_is_reported() {
    for is_cut_before in [false, true] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
        let sandbox = crawled_twice(&server);
        let last = *places(&sandbox, 2).last().expect("records");
        overwrite(&sandbox, 2, last, true);
        falsify(&sandbox);
        hide_logs(&sandbox, "no logs");
        if is_cut_before {
            sandbox.done(&["index", "--dir", "web"]);
            let left = fs::metadata(sandbox.path(&file(2))).expect("it is there").len();
            assert_eq!(left, last);
        }
        check_told_once(&sandbox, "has become shorter", &format!("cut before: {is_cut_before}"));
        check(&sandbox, &server.url("/a"), "fetched");
        assert_eq!(is_told(&sandbox), [false, false]);
    }
}

//! Mistakes of users and faults of disks give a clear message and the right exit code, and lose nothing.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, built_web, files_below, init_web, small_web, truth};
use crate::why_servers::Pages;

/// The command fails with this code, and the message on standard error holds all of `words`.
fn fails(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran:#?}");
    for word in words {
        assert!(ran.stderr.contains(word), "no {word:?} in {ran:#?}");
    }
}

#[test]
fn a_non_collection_folder_is_reported_with_a_remedy() {
    let sandbox = Sandbox::new();
    for command in ["crawl", "index", "rank", "dedup", "status", "serve"] {
        fails(&sandbox.run(&[command]), 1, &["is not a collection", "crivello init"]);
    }
    fails(&sandbox.run(&["search", "x", "--dir", "nowhere"]), 1, &["nowhere is not a collection"]);
    assert!(files_below(&sandbox.path(".")).is_empty(), "nothing was written");
}

/// An argument has precedence over the environment. Two different folders are an error.
#[test]
fn init_prefers_its_argument_to_the_environment() {
    let sandbox = Sandbox::new();
    let ran = sandbox.command(&["init", "web"]).env("CRIVELLO_DIR", "other").output();
    assert!(ran.expect("the binary runs").status.success());
    assert!(sandbox.path("web/crivello.toml").exists() && !sandbox.path("other").exists());
    let ran = sandbox.command(&["init"]).env("CRIVELLO_DIR", "third").output();
    assert!(ran.expect("the binary runs").status.success());
    assert!(sandbox.path("third/crivello.toml").exists());
}

#[test]
fn wrong_usage_exits_with_code_two() {
    let sandbox = Sandbox::with_collection();
    fails(&sandbox.run(&["frobnicate"]), 2, &["unrecognized subcommand"]);
    fails(&sandbox.run(&["search", "--dir", "web"]), 2, &["QUERY"]);
    for command in [["config", "check"].as_slice(), &["status"]] {
        let ran = sandbox.run(&[command, &["--dir", "web", "--set", "x"]].concat());
        fails(&ran, 2, &["SECTION.KEY=VALUE"]);
    }
    let set = ["config", "check", "--dir", "web", "--set", "crawl.delay=1"];
    fails(&sandbox.run(&set), 2, &["unknown key `delay`", "did you mean `delay_ms`?"]);
    fails(&sandbox.run(&["init", "web"]), 2, &["exists already"]);
    fails(&sandbox.run(&["crawl", "--dir", "web"]), 2, &["no seeds"]);
    fails(&sandbox.run(&["crawl", "--dir", "web", "not a url"]), 2, &["not a url"]);
}

#[test]
fn long_values_are_accepted_or_reported_with_their_line() {
    let sandbox = Sandbox::with_collection();
    let long = format!("serve.title={}=", "x".repeat(70_000));
    sandbox.done(&["config", "check", "--dir", "web", "--set", &long]);
    let file = sandbox.path("web/crivello.toml");
    fs::write(&file, format!("[serve]\ntitle = \"{}\" x\n", "x".repeat(70_000))).expect("written");
    fails(&sandbox.run(&["config", "check", "--dir", "web"]), 2, &["in line 2, column"]);
}

#[test]
fn non_utf8_variables_and_full_streams_cause_no_crash() {
    let sandbox = Sandbox::with_collection();
    let mut command = sandbox.command(&["status", "--dir", "web"]);
    let output = command.env("ODD", OsStr::from_bytes(b"\xff")).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
    let mut command = sandbox.command(&["crawl", "--dir", "web"]);
    let status = command.stderr(full).status().expect("it runs");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_refused_seed_is_forgotten() {
    let (sandbox, server) = init_web();
    fails(&sandbox.run(&["crawl", "--dir", "web", "http://example.org/"]), 2, &["contact"]);
    let seed = server.web().seeds().remove(0);
    sandbox.done(&["crawl", "--dir", "web", "--list", &seed]);
}

#[test]
fn a_missing_page_is_reported_as_the_reason() {
    let (sandbox, server) = init_web();
    let missing = format!("{}no-such-page.html", server.web().seeds()[0]);
    let ran = sandbox.run(&["crawl", "--dir", "web", "--list", &missing]);
    fails(&ran, 1, &["no page could be fetched", "gone 1"]);
    // The report has the counts in spite of the error.
    let ran = sandbox.run(&["crawl", "--dir", "web", "--list", &missing, "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &report["pages"], &report["requests"]), (1, &0.into(), &0.into()));
    assert_eq!(report["visited"]["outcomes"]["status 404"], 1, "{report}");
}

#[test]
fn an_empty_crawl_reports_its_true_reason() {
    let check = |head: &str, flags: &[&str], reasons: &str| {
        let sandbox = Sandbox::with_collection();
        let server = Pages::serve(&[("*", &format!("{head}\nContent-Type: text/html\n\nno"))]);
        let flags = [&["--set", "crawl.retry_ms=10"], flags].concat();
        let ran = sandbox.run(&[&["crawl", "--dir", "web", &server.url("/")], &flags[..]].concat());
        fails(&ran, 1, &[&format!("crivello: no page could be fetched: {reasons}\n")]);
    };
    let slow = ["--set", "crawl.delay_ms=60000", "--max-time", "1"];
    check("200 OK", &slow, "stopped by `time_s_max`");
    let none = ["--set", "crawl.store_filter=path = /elsewhere"];
    check("200 OK", &none, "excluded 1 answer from the archive by `store_filter`");
    let away = "301 Moved\nLocation: http://127.0.0.2/";
    check(away, &[], "excluded 1 link: `scope` 1; redirects with status 301");
    let hops = ["--set", "crawl.redirects_max=0"];
    let limited = "limited 1 URL: `redirects_max` 1; redirects with status 302";
    check("302 Found\nLocation: /a", &hops, limited);
    check("404 Not Found", &[], "failed 1 page: gone 1");
}

#[test]
fn an_unanswered_recrawl_changes_no_pages() {
    let (sandbox, server) = init_web();
    let seed = server.web().seeds().remove(0);
    let first = sandbox.json(&["crawl", "--dir", "web", "--list", &seed]);
    server.stop();
    let ran = sandbox.run(&["crawl", "--dir", "web", "--recrawl"]);
    assert!(ran.code == 0 && ran.stderr.contains("no site answered"), "{ran:#?}");
    let status = sandbox.json(&["status", "--dir", "web"]);
    assert_eq!(status["crawl"]["pages"], first["pages"], "{status}");
}

#[test]
fn a_full_recrawl_extends_a_due_one() {
    let (sandbox, server) = init_web();
    let seed = server.web().seeds().remove(0);
    sandbox.done(&["crawl", "--dir", "web", "--list", &seed]);
    let crawl = |flags: &[&str]| {
        let ran = sandbox.run(&[&["crawl", "--dir", "web"], flags].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.stderr
    };
    // As many bytes as there may be, so none is begun; then one that ends before its first request.
    let said = crawl(&["--recrawl=due", "--max-bytes", "1"]);
    assert!(said.contains("Recrawl   not started, since `bytes_max` is reached"), "{said}");
    let short = ["--max-time", "1", "--set", "crawl.delay_ms=60000"];
    let due = ["--recrawl=due", "--set", "crawl.recrawl_min_s=0"];
    crawl(&[&due[..], &short[..]].concat());
    let said = crawl(&short);
    assert!(said.contains("Recrawl   started ") && said.contains("Z, continues\n"), "{said}");
    crawl(&[&["--recrawl"], &short[..]].concat());
    let said = crawl(&["--recrawl=due"]);
    assert!(said.contains("Recrawl   of all pages, started "), "{said}");
    assert!(said.contains("Recrawled 1 known URL: 1 unchanged"), "{said}");
    fs::write(sandbox.path("web/frontier/recrawl"), "x").expect("a file");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    fails(&ran, 1, &["frontier/recrawl: not a valid recrawl file; remove it"]);
    sandbox.done(&["status", "--dir", "web"]);
}

#[test]
fn a_search_uses_the_analysis_of_the_index() {
    let (sandbox, _server) = built_web();
    let behind = || sandbox.json(&["status", "--dir", "web"])["behind"].take();
    assert_eq!(behind(), serde_json::json!([]));
    let stem =
        |more: &[&str]| sandbox.json(&[&["search", "--dir", "web", "gardens"], more].concat());
    assert_eq!(stem(&[])["total"], stem(&["--set", "analysis.stemmer=none"])["total"]);
    assert!(stem(&[])["total"].as_u64().expect("a number") > 0);
    fs::write(sandbox.path("one.jsonl"), "\u{feff}{\"id\": \"1\", \"text\": \"one\"}\n")
        .expect("written");
    sandbox.done(&["import", "one.jsonl", "--dir", "web"]);
    assert_eq!(behind(), serde_json::json!(["index"]));
}

#[test]
fn an_archive_imported_again_gives_the_same_pages() {
    let (sandbox, _server) = built_web();
    sandbox.done(&["init", "copy"]);
    let archive = sandbox.path("web/archive/crivello-00001.warc.gz");
    sandbox.done(&["import", &archive.to_string_lossy(), "--dir", "copy"]);
    sandbox.done(&["rank", "--dir", "copy"]);
    let copied = sandbox.json(&["index", "--dir", "copy"]);
    let original = sandbox.json(&["index", "--dir", "web"]);
    assert_eq!(copied["documents"], original["documents"]);
}

#[test]
fn an_unreachable_seed_fails_with_its_reason() {
    let sandbox = Sandbox::with_collection();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let seed = format!("http://127.0.0.1:{port}/");
    let quick = ["--set", "crawl.retry_ms=10", "--set", "crawl.delay_ms=10"];
    let ran = sandbox.run(&[&["crawl", "--dir", "web", &seed], quick.as_slice()].concat());
    fails(&ran, 1, &["no page could be fetched", &format!("127.0.0.1:{port}"), "refused"]);
    fails(&sandbox.run(&["crawl", "--dir", "web", "http://example.org/"]), 2, &["contact"]);
}

#[test]
fn any_query_is_answered_or_refused_with_a_message() {
    let (sandbox, _server) = built_web();
    let long = "word ".repeat(5000);
    let deep = "(".repeat(500);
    for query in [
        "\"",
        "(",
        ")",
        "-",
        "a OR",
        "OR",
        "NOT",
        "title:",
        "site:",
        "\u{1}\u{7f}",
        "💥",
        "a\u{301}",
        "-the",
        "((a) b",
        "\"a b",
        "::",
        "title:title:x",
        "*",
        "\\",
        "' OR 1=1 --",
        "<script>",
        &long,
        &deep,
    ] {
        let ran = sandbox.run(&["search", "--dir", "web", "--", query]);
        assert!([0, 2, 3].contains(&ran.code), "{query:?}: {ran:#?}");
        assert!(ran.code != 2 || !ran.stderr.is_empty(), "{query:?}: {ran:#?}");
    }
    let bytes = OsStr::from_bytes(b"\xff\xfe");
    let output = sandbox.command(&["search", "--dir", "web"]).arg(bytes).output().expect("runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_port_in_use_is_reported() {
    let (sandbox, server) = built_web();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    fails(
        &sandbox.run(&["serve", "--dir", "web", "--listen", &address]),
        1,
        &[&address, "--listen"],
    );
    let port = server.port().to_string();
    fails(&sandbox.run(&["simweb", "--port", &port]), 1, &[&port]);
}

#[test]
fn two_writers_exclude_each_other() {
    let (sandbox, _server) = built_web();
    let collection = collection::Collection::open(&sandbox.path("web")).expect("a collection");
    let _lock = collection.lock("index").expect("free");
    for command in ["crawl", "index", "rank", "dedup"] {
        fails(&sandbox.run(&[command, "--dir", "web"]), 1, &["in use by another crivello process"]);
    }
    sandbox.done(&["search", "--dir", "web", "the"]);
    sandbox.done(&["status", "--dir", "web"]);
}

/// The answer to a search for everything, or the error.
fn everything(sandbox: &Sandbox) -> Ran {
    let query = "the OR di OR der OR la OR no OR garden OR \"of the\"";
    sandbox.run(&["search", "--dir", "web", "--json", "-k", "50", "--explain", query])
}

/// Flips bits all over a file, one at a time: the same answer, or an error or a note that names the file.
fn flip(file: &Path, flips: usize, expected: &str, look: &dyn Fn() -> Ran) -> usize {
    let whole = fs::read(file).expect("bytes");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let mut noticed = 0;
    for number in 0..flips.min(whole.len()) {
        let at = number * whole.len() / flips.min(whole.len());
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (number % 8);
        fs::write(file, &damaged).expect("written");
        let ran = look();
        if ran.code == 1 {
            assert!(ran.stderr.contains(&name), "byte {at} of {name}: {ran:#?}");
            noticed += 1;
        } else if ran.stdout != expected {
            let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            let notes = answer["notes"].to_string();
            assert!(notes.contains(&name), "byte {at} of {name} changes the answer: {notes}");
            noticed += 1;
        }
    }
    fs::write(file, whole).expect("put back");
    noticed
}

#[test]
fn a_flipped_byte_is_reported_or_has_no_effect() {
    let (sandbox, _server) = built_web();
    let expected = everything(&sandbox).stdout;
    assert!(expected.len() > 1000, "{expected}");
    let mut noticed = 0;
    for folder in ["index", "pages", "graph", "dups"] {
        for file in files_below(&sandbox.path("web").join(folder)) {
            noticed += flip(&file, 8, &expected, &|| everything(&sandbox));
        }
    }
    assert!(noticed > 40, "only {noticed} flips were noticed");
}

#[test]
fn doctor_and_index_find_a_flipped_archive_byte() {
    let (sandbox, server) = built_web();
    let archives = files_below(&sandbox.path("web/archive"));
    let archive = archives.iter().find(|path| path.to_string_lossy().ends_with(".warc.gz"));
    let archive = archive.expect("an archive");
    // The CDXJ file is another part: that one is behind whenever its archive file is written anew.
    let verify = || {
        let ran = sandbox.run(&["doctor", "archive", "--dir", "web", "--json"]);
        let findings: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let found = findings["parts"][0].to_string();
        Ran { code: ran.code, stderr: found.clone(), stdout: found }
    };
    let expected = verify().stdout;
    let noticed = flip(archive, 40, &expected, &verify);
    assert!(noticed > 36, "only {noticed} of 40 flips were noticed");

    // Some bytes of gzip mean nothing; take one that does.
    let whole = fs::read(archive).expect("bytes");
    let told = (whole.len() / 2..whole.len()).any(|at| {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        fs::write(archive, &damaged).expect("written");
        verify().code == 1
    });
    assert!(told, "no flip is noticed");
    // All other records are used, what to do is said, and a look into the archive changes nothing of that.
    let pages = |sandbox: &Sandbox| {
        let status = sandbox.json(&["status", "--dir", "web"]);
        status["pages"]["pages"].as_u64().expect("a number")
    };
    let all = pages(&sandbox);
    for _ in 0..2 {
        fs::remove_dir_all(sandbox.path("web/pages")).expect("removed");
        let ran = sandbox.run(&["index", "--dir", "web"]);
        fails(&ran, 0, &["Damaged  ", "crivello-00001.warc.gz", " at byte ", "1 damaged place"]);
        assert!((all - 1..=all).contains(&pages(&sandbox)), "{} of {all}", pages(&sandbox));
        sandbox.done(&["why", "--dir", "web", &server.web().seeds()[0]]);
    }
    sandbox.done(&["crawl", "--dir", "web", "-q", "--recrawl"]);
    sandbox.done(&["index", "--dir", "web"]);
    assert_eq!(pages(&sandbox), all, "a recrawl fetches what is missing");
    // A whole copy does as well.
    fs::write(archive, whole).expect("put back");
    fs::remove_dir_all(sandbox.path("web/pages")).expect("removed");
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains("damaged"), "{ran:#?}");
    assert_eq!(pages(&sandbox), all);
}

#[test]
fn a_bad_import_changes_nothing() {
    let sandbox = Sandbox::with_collection();
    let write = |name: &str, bytes: &[u8]| fs::write(sandbox.path(name), bytes).expect("a file");
    write("no.jsonl", b"{\"id\": \"1\", \"text\": \"fine\"}\n{\"id\": 2}\n");
    fails(&sandbox.run(&["import", "no.jsonl", "--dir", "web"]), 1, &["no.jsonl:2: "]);
    write("no.warc", b"this is not a WARC file at all\n");
    fails(&sandbox.run(&["import", "no.warc", "--dir", "web"]), 1, &["no.warc"]);
    write("empty.warc", b"");
    fails(&sandbox.run(&["import", "empty.warc", "--dir", "web"]), 1, &["empty.warc"]);
    fails(&sandbox.run(&["import", "absent.warc", "--dir", "web"]), 1, &["absent.warc"]);
    write("evil.jsonl", b"{\"url\": \"javascript:alert(1)\", \"text\": \"x\"}\n");
    fails(&sandbox.run(&["import", "evil.jsonl", "--dir", "web"]), 1, &["evil.jsonl:1: "]);
    fails(&sandbox.run(&["import", ".", "--dir", "web"]), 2, &["not an ordinary file"]);
    assert!(files_below(&sandbox.path("web/archive")).is_empty());
}

#[test]
fn documents_with_invalid_ids_are_skipped_and_counted() {
    let sandbox = Sandbox::with_collection();
    let lines = "{\"id\": \"1\", \"text\": \"fine\"}\n{\"id\": \"a\\nb\", \"text\": \"odd\"}\n";
    fs::write(sandbox.path("odd.jsonl"), lines).expect("a file");
    let report = sandbox.json(&["import", "odd.jsonl", "--dir", "web"]);
    assert_eq!((&report["records"], &report["left_out"]), (&1.into(), &1.into()), "{report}");
}

#[test]
fn needs_shared_foreign_archives_are_imported_or_refused() {
    let shared = std::env::var_os("CRIVELLO_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), Into::into);
    let files: Vec<_> = files_below(&shared.join("samples/warc"))
        .into_iter()
        .filter(|path| {
            let name = path.to_string_lossy().to_lowercase();
            [".warc", ".warc.gz", ".arc", ".arc.gz"].iter().any(|ending| name.ends_with(ending))
        })
        .collect();
    assert!(files.len() > 10, "{files:?}");
    let mut imported = 0;
    for file in files {
        let sandbox = Sandbox::with_collection();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let ran = sandbox.run(&["import", &file.to_string_lossy(), "--dir", "web"]);
        if ran.code == 0 {
            imported += 1;
            sandbox.done(&["index", "--dir", "web"]);
            sandbox.done(&["doctor", "--dir", "web"]);
        } else {
            fails(&ran, 1, &[&name]);
            assert!(files_below(&sandbox.path("web/archive")).is_empty(), "{name}");
        }
    }
    assert!(imported > 10, "only {imported} files were imported");
}

#[test]
fn needs_root_a_full_disk_is_reported_without_loss() {
    let server = small_web();
    let sandbox = Sandbox::new();
    let mount = sandbox.path("small");
    fs::create_dir(&mount).expect("a folder");
    let mounted = |options: &str| {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&mount)
            .status()
            .expect("mount runs");
        assert!(status.success(), "a small file system cannot be mounted");
    };
    mounted("size=128k");
    let guard = Unmount(&mount);
    sandbox.init(&server);
    fs::copy(sandbox.path("web/crivello.toml"), mount.join("crivello.toml")).expect("copied");
    let seed = server.web().seeds().remove(0);
    let steps: [&[&str]; 4] = [
        &["crawl", "--dir", "small", &seed],
        &["rank", "--dir", "small"],
        &["index", "--dir", "small"],
        &["search", "--dir", "small", "the"],
    ];
    // Every size a little larger, until all of it fits; no failure may spoil what came before.
    let (mut size_kib, mut failures) = (128, 0);
    for step in steps {
        loop {
            let ran = sandbox.run(step);
            if ran.code == 0 {
                break;
            }
            fails(&ran, 1, &["No space left on device"]);
            failures += 1;
            size_kib += 64;
            assert!(size_kib < 64 << 10, "it never fits: {ran:#?}");
            mounted(&format!("remount,size={size_kib}k"));
        }
    }
    assert!(failures >= 3, "the disk was full only {failures} times");
    let listed = sandbox.done(&["archive", "list", "--dir", "small", "--json"]);
    let mut ok: Vec<String> = listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line["status"] == 200)
        .map(|line| line["url"].as_str().expect("a URL").to_owned())
        .collect();
    ok.sort_unstable();
    for page in &truth(&server).pages {
        assert!(ok.binary_search(&page.url).is_ok(), "{} is lost", page.url);
    }
    drop(guard);
}

/// Takes a file system away again.
struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// A crawl that finds damage says so in the run that finds it, and fetches what is missing.
#[test]
fn a_crawl_reports_archive_damage_once() {
    let (sandbox, _server) = built_web();
    let archive = sandbox.path("web/archive/crivello-00001.warc.gz");
    let mut bytes = fs::read(&archive).expect("bytes");
    let middle = bytes.len() / 2;
    bytes.drain(middle..middle + 500);
    fs::write(&archive, bytes).expect("written");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(ran.stderr.matches("Damaged   archive: ").count(), 1, "{ran:#?}");
    let ran = sandbox.run(&["crawl", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains("damaged"), "{ran:#?}");
}

#[test]
fn an_older_page_table_version_is_not_damage() {
    let (sandbox, server) = built_web();
    let directory = sandbox.path("web/pages/directory");
    let mut bytes = fs::read(&directory).expect("bytes");
    bytes[7] -= 1;
    fs::write(&directory, bytes).expect("written");
    let status = sandbox.json(&["status", "--dir", "web"]);
    let said = "`pages/directory` is missing, or of another version";
    assert_eq!((&status["behind"][0], &status["why_behind"]), (&"index".into(), &said.into()));
    let why = sandbox.json(&["why", &server.web().seeds()[0], "--dir", "web"]);
    assert_eq!(why["verdict"], "fetched", "{why:#}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    let status = sandbox.json(&["status", "--dir", "web"]);
    assert_eq!(status["behind"], serde_json::json!([]), "{status:#}");
}

//! Damaged files of the stages before the index: searches go on without them, and `crivello index` builds them again. Also
//! an index that is damaged while a server has it open, and one that `crivello index` finds damaged or of another version:
//! the file is named with the byte, nothing ends for it, and the index that is built again answers as before.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::sandbox::{Running, Sandbox, files_below, get};

/// The files of a segment.
const FILES: [&str; 7] = ["docs", "positions", "lexicon", "lengths", "records", "freqs", "skips"];
/// The requests to the server.
const QUESTIONS: [&str; 3] =
    ["/api/search?q=garden+%22green+garden%22", "/search?q=garden", "/api/complete?q=gard"];

/// An index of documents with many words.
fn gardens() -> Sandbox {
    let mut lines = String::new();
    for number in 0..400_u32 {
        let words: Vec<String> =
            (0..60).map(|i| format!("w{}", number.wrapping_mul(7919) + i * 104_729)).collect();
        let text = format!("a green garden {}", words.join(" "));
        writeln!(lines, r#"{{"id": "{number}", "title": "Garden {number}", "text": "{text}"}}"#)
            .expect("memory");
    }
    Sandbox::of_documents(&lines)
}

/// A file of the only segment, or the manifest.
fn file(sandbox: &Sandbox, name: &str) -> PathBuf {
    let index = sandbox.path("web/index");
    if name == "manifest" {
        return index.join(name);
    }
    let mut entries = fs::read_dir(&index).expect("an index").map(|entry| entry.expect("an entry"));
    let is_segment = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("segment-");
    let segment = entries.find(|entry| is_segment(&entry.file_name()));
    assert!(!entries.any(|entry| is_segment(&entry.file_name())), "there is one segment");
    segment.expect("there is one segment").path().join(name)
}

/// As the messages name it: from the folder on that the command was run in.
fn said(sandbox: &Sandbox, name: &str) -> String {
    let path = file(sandbox, name);
    let path = path.strip_prefix(sandbox.path("")).expect("it is in there");
    format!("index file {} is damaged at byte ", path.display())
}

fn serve(sandbox: &Sandbox) -> (Running, String) {
    let mut server = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = server.first_line();
    assert!(address.starts_with("http://"), "{address}: {}", server.stderr());
    (server, address)
}

/// Waits for the index that has been built again, which a server looks for every second.
fn wait_for_answers(address: &str) {
    let mut looks = 0;
    while let Some(question) = QUESTIONS.iter().find(|question| get(address, question).0 != 200) {
        looks += 1;
        assert!(looks < 1000, "{question} is not answered: {}", get(address, question).1);
        thread::sleep(Duration::from_millis(10));
    }
}

/// How often the documents are named in an answer.
fn hits((_, body): &(u16, String)) -> usize {
    body.matches("Garden").count()
}

/// A bit that is wrong in a file, in what every opening looks at.
fn flip(path: &Path) -> impl Fn(&File) + use<> {
    let flipped = [fs::read(path).expect("it is there")[40] ^ 4];
    move |file| file.write_all_at(&flipped, 40).expect("room")
}

/// Damages a file of the index that a server has open; it says so, and recovers when it is built again.
fn check_server(sandbox: &Sandbox, name: &str, damage: &dyn Fn(&File)) {
    let (mut server, address) = serve(sandbox);
    let before = QUESTIONS.map(|question| get(&address, question));
    assert!(before.iter().all(|(status, _)| *status == 200), "{before:?}");
    let said = said(sandbox, name);
    damage(&File::options().write(true).open(file(sandbox, name)).expect("it is there"));
    for question in QUESTIONS.iter().cycle().take(2 * QUESTIONS.len()) {
        let (status, body) = get(&address, question);
        assert_eq!(status, 500, "{name}, {question}: {body}");
        assert!(body.contains(&said), "{name}, {question}: {body}");
        assert!(body.contains("crivello index --rebuild"), "{name}, {question}: {body}");
    }
    let (status, health) = get(&address, "/health");
    assert!(status == 200 && health.contains(r#""status":"fault""#), "{name}: {health}");
    assert!(health.contains(&said), "{name}: {health}");
    assert_eq!(get(&address, "/").0, 200);
    sandbox.done(&["index", "--rebuild", "--dir", "web"]);
    wait_for_answers(&address);
    assert_eq!(server.child.try_wait().expect("it is ours"), None, "{name}: it has ended");
    let after = QUESTIONS.map(|question| get(&address, question));
    assert_eq!(after.each_ref().map(hits), before.each_ref().map(hits), "{name}");
    let (_, health) = get(&address, "/health");
    assert!(health.contains(r#""status":"ok""#) && !health.contains("fault"), "{name}: {health}");
}

/// Waits until a server has looked at its index once more, or twice: it does so every second.
fn let_it_look() {
    thread::sleep(Duration::from_millis(1500));
}

/// Nobody has read what is damaged before a search does, and an engine that is opened anew has not either.
#[test]
fn health_reports_damage_found_by_a_search_until_repaired() {
    let sandbox = gardens();
    let (_server, address) = serve(&sandbox);
    let health = || get(&address, "/health").1;
    let lexicon = file(&sandbox, "lexicon");
    let sound = fs::read(&lexicon).expect("it is there");
    let open = File::options().write(true).open(&lexicon).expect("it is there");
    // Neither in the first chunk nor in the last, which every opening looks at.
    for at in (70_000..190_000).step_by(1000) {
        open.write_all_at(&[!sound[at]], at as u64).expect("room");
    }
    let_it_look();
    assert!(health().contains(r#""status":"ok""#), "nobody has come across it: {}", health());
    let (status, body) = get(&address, "/api/search?q=w1000");
    assert!(status == 500 && body.contains(&said(&sandbox, "lexicon")), "{status}: {body}");
    for _ in 0..2 {
        assert!(health().contains(r#""status":"fault""#), "{}", health());
        assert!(health().contains(&said(&sandbox, "lexicon")), "{}", health());
        let_it_look();
    }
    open.write_all_at(&sound, 0).expect("room");
    let_it_look();
    assert!(health().contains(r#""status":"ok""#), "{}", health());
    assert_eq!(get(&address, "/api/search?q=w1000").0, 200);
}

/// A folder, say, in the place of a file.
#[test]
fn a_non_file_is_reported_with_a_remedy() {
    let sandbox = gardens();
    let expected = sandbox.done(&["search", "green garden", "--dir", "web"]);
    for name in ["docs", "manifest"] {
        let (path, said) = (file(&sandbox, name), said(&sandbox, name));
        fs::remove_file(&path).expect("it is there");
        fs::create_dir(&path).expect("room");
        let ran = sandbox.run(&["search", "green garden", "--dir", "web"]);
        assert!(ran.code == 1 && ran.stderr.contains(&said), "{ran:#?}");
        assert!(ran.stderr.contains("it is no file: remove what is in its place"), "{ran:#?}");
        fs::remove_dir(&path).expect("it is empty");
        sandbox.done(&["index", "--dir", "web"]);
        assert_eq!(sandbox.done(&["search", "green garden", "--dir", "web"]), expected);
    }
}

#[test]
fn a_server_reports_a_truncated_index_until_the_rebuild() {
    let sandbox = gardens();
    for name in FILES {
        let bytes = fs::metadata(file(&sandbox, name)).expect("it is there").len();
        for length in [0, bytes / 2] {
            check_server(&sandbox, name, &|file| file.set_len(length).expect("cut"));
        }
    }
}

#[test]
fn a_server_reports_an_overwritten_index_until_the_rebuild() {
    let sandbox = gardens();
    for name in ["docs", "positions", "lexicon"] {
        let flip = flip(&file(&sandbox, name));
        check_server(&sandbox, name, &flip);
        let date = fs::metadata(file(&sandbox, name)).and_then(|about| about.modified());
        check_server(&sandbox, name, &|file| {
            flip(file);
            file.set_modified(*date.as_ref().expect("it is there")).expect("set");
        });
    }
}

/// Nobody asks between the damage and the end of the file: whatever is answered then is right or a fault.
#[test]
fn a_damaged_served_index_gives_no_wrong_answer() {
    let sandbox = gardens();
    for names in [&["docs"][..], &["lexicon"], &["positions", "pages"]] {
        let (_server, address) = serve(&sandbox);
        let before = QUESTIONS.map(|question| get(&address, question));
        for name in names.iter().filter(|name| **name != "pages") {
            let path = file(&sandbox, name);
            let file = File::options().write(true).open(&path).expect("it is there");
            let bytes = file.metadata().expect("it is there").len();
            let bytes = usize::try_from(bytes).expect("it is small");
            file.write_all_at(&vec![0x55; bytes - 16], 16).expect("room");
        }
        sandbox.done(&["index", "--rebuild", "--dir", "web"]);
        if names.contains(&"pages") {
            // No engine can be opened any more.
            fs::write(sandbox.path("web/pages/directory"), "damaged").expect("room");
        }
        for (question, before) in QUESTIONS.iter().zip(&before).cycle().take(60) {
            let answer = get(&address, question);
            let is_right = answer.0 == 500 || answer.0 == 200 && hits(&answer) == hits(before);
            assert!(is_right, "{names:?}, {question}: {answer:?}");
        }
        if names.contains(&"pages") {
            fs::remove_dir_all(sandbox.path("web/pages")).expect("it is there");
            sandbox.done(&["index", "--dir", "web"]);
        }
        wait_for_answers(&address);
    }
}

/// Dates change, bytes do not.
#[test]
fn a_server_continues_if_index_dates_change() {
    let sandbox = gardens();
    let (_server, address) = serve(&sandbox);
    let before = QUESTIONS.map(|question| get(&address, question));
    for name in FILES {
        let file = File::options().write(true).open(file(&sandbox, name)).expect("it is there");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
        assert_eq!(QUESTIONS.map(|question| get(&address, question)), before, "{name}");
    }
}

/// An index that the system does not let anybody open may be whole.
#[test]
fn an_unopenable_but_undamaged_index_is_not_replaced() {
    let sandbox = gardens();
    let (path, away) = (file(&sandbox, "docs"), sandbox.path("away"));
    fs::rename(&path, &away).expect("moved");
    std::os::unix::fs::symlink(&path, &path).expect("a link to itself");
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains("cannot access index file"), "{ran:#?}");
    fs::rename(&away, &path).expect("moved");
    assert_eq!(sandbox.json(&["index", "--dir", "web"])["up_to_date"], true);
}

/// After the old files are put back, the running server answers again.
#[test]
fn a_server_continues_after_the_index_is_restored() {
    let sandbox = gardens();
    let (_server, address) = serve(&sandbox);
    let path = file(&sandbox, "docs");
    let sound = fs::read(&path).expect("it is there");
    let before = get(&address, QUESTIONS[0]);
    fs::write(&path, &sound[..100]).expect("room");
    assert_eq!(get(&address, QUESTIONS[0]).0, 500);
    fs::write(&path, sound).expect("room");
    wait_for_answers(&address);
    assert_eq!(get(&address, QUESTIONS[0]), before);
}

/// The version is in bytes 12 to 15; sums follow from the rest.
fn with_version(file: &[u8], version: u32) -> Vec<u8> {
    let mut body = file[..file.len() - 16].to_vec();
    body[12..16].copy_from_slice(&version.to_le_bytes());
    let mut footer = crc32fast::hash(&body).to_le_bytes().to_vec();
    footer.extend((body.len() as u64).to_le_bytes());
    let sum = crc32fast::hash(&footer).to_le_bytes();
    [body, footer, sum.to_vec()].concat()
}

/// Runs `crivello index`, which must build the index again and say why.
fn check_built_again(sandbox: &Sandbox, why: &str, expected: &str) {
    let generation = || sandbox.json(&["status", "--dir", "web"])["index"]["generation"].clone();
    let ran = sandbox.run(&["index", "--dir", "web", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let told = ran.stderr.lines().find(|line| line.contains(why)).unwrap_or_default();
    assert!(told.ends_with("; all pages are indexed again"), "no {why:?} in {ran:#?}");
    assert!(ran.stderr.find(told) < ran.stderr.find("\nIndexed  "), "told first: {ran:#?}");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let fault = report["fault"].as_str().expect("a fault");
    assert!(told.contains(fault) && fault.starts_with(why), "{told}: {report}");
    assert_eq!((&report["added"], &report["generation"]), (&report["documents"], &generation()));
    assert_eq!(sandbox.done(&["search", "green garden", "--dir", "web"]), expected);
    let again = sandbox.json(&["index", "--dir", "web"]);
    assert!(again["up_to_date"] == true && again.get("fault").is_none(), "{again}");
}

#[test]
fn damage_is_reported_before_the_index_is_rebuilt() {
    let sandbox = gardens();
    let expected = sandbox.done(&["search", "green garden", "--dir", "web"]);
    for name in FILES.into_iter().chain(["manifest"]) {
        let path = file(&sandbox, name);
        let sound = fs::read(&path).expect("it is there");
        let middle = 40;
        // A bit, the end, all of it.
        let mut flipped = sound.clone();
        flipped[middle] ^= 1;
        for damaged in [flipped, sound[..sound.len() - 1].to_vec(), Vec::new()] {
            let why = said(&sandbox, name);
            fs::write(file(&sandbox, name), damaged).expect("room");
            check_built_again(&sandbox, &why, &expected);
        }
        let why = said(&sandbox, name);
        if name != "manifest" {
            fs::remove_file(file(&sandbox, name)).expect("it is there");
            check_built_again(&sandbox, &why, &expected);
        }
    }
}

#[test]
fn another_version_is_reported_before_the_index_is_rebuilt() {
    let sandbox = gardens();
    let expected = sandbox.done(&["search", "green garden", "--dir", "web"]);
    let path = file(&sandbox, "manifest");
    let sound = fs::read(&path).expect("it is there");
    fs::write(&path, with_version(&sound, 9)).expect("room");
    let why = "index file web/index/manifest has format version 9, this program reads version 10";
    check_built_again(&sandbox, why, &expected);
}

/// Each file that the stages make is damaged once.
#[test]
fn search_works_without_stage_files_and_index_rebuilds_them() {
    let sandbox = gardens();
    let search = || sandbox.json(&["search", "green", "--dir", "web"]);
    let before = search();
    assert_eq!(before["notes"].as_array().map(Vec::len), Some(0), "{before:#}");
    let folders = ["web/pages", "web/dups", "web/graph"].map(|folder| sandbox.path(folder));
    let mut names = Vec::new();
    for path in folders.iter().flat_map(|folder| files_below(folder)) {
        // A part that is read again has another number.
        let Ok(mut bytes) = fs::read(&path) else { continue };
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // The rows of a part that the search reads.
        let at = (bytes.len() / 2).min(100);
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("room");
        let bare = search();
        let hits = bare["hits"].as_array().expect("a list").len();
        assert_eq!(hits, before["hits"].as_array().expect("a list").len(), "{name}: {bare:#}");
        if !path.starts_with(sandbox.path("web/graph"))
            || name.contains(".pagerank.") && name.starts_with("documents-")
        {
            assert!(bare["notes"].to_string().contains(&name), "{name}: {bare:#}");
        }
        let ran = sandbox.run(&["index", "--dir", "web"]);
        let said = format!("{name} is damaged at byte ");
        assert!(ran.code == 0 && ran.stderr.contains(&said), "{name}: {ran:#?}");
        assert!(ran.stderr.contains("; it is built again"), "{name}: {ran:#?}");
        sandbox.done(&["doctor", "--dir", "web"]);
        assert_eq!(search(), before, "{name}");
        names.push(name);
    }
    assert!(names.len() >= 9, "{names:?}");
}

/// A server starts without the directory of pages, and has snippets when that is built again.
#[test]
fn a_server_starts_without_the_page_table() {
    let sandbox = gardens();
    let directory = sandbox.path("web/pages/directory");
    flip(&directory)(&File::options().write(true).open(&directory).expect("it is there"));
    let (_server, address) = serve(&sandbox);
    let (status, body) = get(&address, "/api/search?q=garden");
    assert!(status == 200 && body.contains("pages/directory is damaged"), "{body}");
    assert!(body.contains("crivello index") && body.contains("\"snippet\":[]"), "{body}");
    sandbox.done(&["index", "--dir", "web"]);
    let is_right = || get(&address, "/api/search?q=garden").1.contains("\"notes\":[]");
    assert!((0..100).any(|_| {
        thread::sleep(Duration::from_millis(100));
        is_right()
    }));
}

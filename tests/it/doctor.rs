//! `crivello doctor` finds and names damage in every part.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::sandbox::{Sandbox, built_web, files_below};
use crate::why_servers::{HTML, Pages, crawl, crawled_twice, page};

const PARTS: [&str; 8] =
    ["configuration", "archive", "cdx", "frontier", "pages", "graph", "duplicates", "index"];

/// The result for each part.
fn states(findings: &Value) -> Vec<(String, String)> {
    let parts = findings["parts"].as_array().expect("parts").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    parts.map(|part| (text(&part["part"]), text(&part["state"]))).collect()
}

/// Flips a bit in the middle of a file, runs the doctor, and restores the file.
fn with_damage(sandbox: &Sandbox, file: &Path) -> Value {
    let whole = fs::read(file).expect("bytes");
    let about = fs::metadata(file).and_then(|about| about.modified()).expect("a date");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(file, damaged).expect("written");
    let open = || fs::File::options().write(true).open(file).expect("opens");
    open().set_modified(about).expect("as old as it was");
    let ran = sandbox.run(&["doctor", "--dir", "web", "--json"]);
    fs::write(file, whole).expect("put back");
    open().set_modified(about).expect("as old as it was");
    assert!(ran.code == 1 && ran.stderr.contains("damaged: "), "{}: {ran:#?}", file.display());
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn damage_is_reported_for_the_affected_part() {
    let (sandbox, server) = built_web();
    sandbox.done(&["archive", "get", &server.web().seeds()[0], "--dir", "web"]);
    let findings = sandbox.json(&["doctor", "--dir", "web"]);
    assert_eq!(findings["whole"], true, "{findings}");
    let expected: Vec<_> = PARTS.map(|part| (part.to_owned(), "whole".to_owned())).into();
    assert_eq!(states(&findings), expected);
    let before = files_below(&sandbox.path("web"));
    for (ending, part) in [
        (".warc.gz", "archive"),
        (".cdxj", "cdx"),
        ("pages/directory", "pages"),
        ("part-00000.pages", "pages"),
        ("links-1.graph", "graph"),
        ("pagerank.ranks", "graph"),
        ("graph/pagerank.source", "graph"),
        ("graph/in-degree.source", "graph"),
        ("crivello-00001.warc.gz.log", "frontier"),
        ("dups/clusters", "duplicates"),
        ("index/manifest", "index"),
        ("/lexicon", "index"),
        ("/positions", "index"),
    ] {
        let file = before.iter().find(|path| path.to_string_lossy().ends_with(ending));
        let file = file.unwrap_or_else(|| panic!("no {ending} in {before:#?}"));
        let findings = with_damage(&sandbox, file);
        let damaged: Vec<_> =
            states(&findings).into_iter().filter(|(_, state)| state == "damaged").collect();
        assert_eq!(damaged, [(part.to_owned(), "damaged".to_owned())], "{ending}: {findings}");
        let parts = findings["parts"].as_array().expect("parts");
        let found = parts.iter().find(|found| found["part"] == part).expect("the part");
        let fault = found["faults"][0].as_str().expect("a fault");
        let name = file.file_name().expect("a name").to_string_lossy();
        assert!(fault.contains(&*name) && fault.contains("byte "), "{ending}: {fault}");
        assert_eq!(parts.len(), PARTS.len(), "{ending}: {findings}");
    }
    // A readable line that does not match its record.
    let cdxj = sandbox.path("web/archive/crivello-00001.warc.gz.cdxj");
    let lines = fs::read_to_string(&cdxj).expect("text");
    fs::write(&cdxj, lines.replacen("\"status\":\"200\"", "\"status\":\"201\"", 1))
        .expect("written");
    let ran = sandbox.run(&["doctor", "archive", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stdout.contains("its lines are not those"), "{ran:#?}");
    fs::write(&cdxj, lines).expect("put back");
    assert_eq!(files_below(&sandbox.path("web")), before, "something was changed");
    assert_eq!(sandbox.json(&["doctor", "--dir", "web"])["whole"], true);
}

#[test]
fn outdated_stages_are_reported_with_a_command() {
    let sandbox = Sandbox::with_collection();
    sandbox.done(&["doctor", "--dir", "web"]);
    fs::write(sandbox.path("d.jsonl"), "{\"id\": 1, \"text\": \"zebras\"}\n").expect("a file");
    sandbox.done(&["import", "d.jsonl", "--dir", "web"]);
    let said = sandbox.done(&["doctor", "index", "pages", "--dir", "web"]);
    assert!(said.contains("behind   index          not made yet"), "{said}");
    assert!(said.contains("→ run `crivello index`") && !said.contains("archive"), "{said}");
    sandbox.done(&["index", "--dir", "web"]);
    sandbox.done(&["doctor", "--dir", "web"]);
    sandbox.done(&["import", "d.jsonl", "--dir", "web"]);
    let findings = sandbox.json(&["doctor", "pages", "--dir", "web"]);
    assert_eq!(findings["parts"][0]["state"], "behind", "{findings}");

    // Invalid settings are damage as well; the other parts are still checked.
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text").replace("delay_ms = ", "dealy_ms = ");
    fs::write(&file, text).expect("written");
    let ran = sandbox.run(&["doctor", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stdout.contains("dealy_ms"), "{ran:#?}");
    assert!(ran.stdout.contains("archive"), "{ran:#?}");
}

/// A missing part of the page table is reported, and rebuilt by `index`.
#[test]
fn a_missing_page_table_part_is_reported_and_rebuilt() {
    let sandbox = Sandbox::of_documents("{\"id\": 1, \"text\": \"zebras eat grass\"}\n");
    let found = sandbox.json(&["search", "zebras", "--dir", "web"]);
    fs::remove_file(sandbox.path("web/pages/part-00000.pages")).expect("it is there");
    let ran = sandbox.run(&["doctor", "pages", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stdout.contains("part-00000.pages is missing"), "{ran:#?}");
    assert_eq!(sandbox.json(&["status", "--dir", "web"])["behind"][0], "index");
    let bare = sandbox.json(&["search", "zebras", "--dir", "web"]);
    assert_eq!(bare["notes"].as_array().map(Vec::len), Some(1), "{bare:#}");
    sandbox.done(&["index", "--dir", "web", "-q"]);
    sandbox.done(&["doctor", "--dir", "web"]);
    assert_eq!(sandbox.json(&["search", "zebras", "--dir", "web"]), found);
}

/// A collection of one document, which is also a topic.
fn with_topic() -> Sandbox {
    let sandbox =
        Sandbox::of_documents("{\"url\": \"http://z.test/\", \"text\": \"zebras eat grass\"}\n");
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text");
    let topic = "\n[rank.topics.zebras]\npages = [\"http://z.test/\"]\n";
    fs::write(&file, text.replace("\ntopics = {}\n", "\n") + topic).expect("room");
    let said = sandbox.done(&["doctor", "graph", "--dir", "web"]);
    assert!(said.starts_with("behind   graph "), "{said}");
    sandbox.done(&["rank", "--dir", "web", "-q"]);
    let said = sandbox.done(&["doctor", "graph", "--dir", "web"]);
    assert!(said.starts_with("whole    graph "), "{said}");
    sandbox
}

/// Damaged ranks of a topic are reported; the named commands rebuild them.
#[test]
fn damaged_topic_ranks_are_reported_and_rebuilt() {
    let sandbox = with_topic();
    let whole = files_below(&sandbox.path("web/graph"));
    let is_of_topic = |path: &&PathBuf| path.to_string_lossy().contains("topic.zebras");
    let topic: Vec<_> = whole.iter().filter(is_of_topic).collect();
    assert_eq!(topic.len(), 3, "{whole:#?}");
    for file in topic {
        let good = fs::read(file).expect("bytes");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(file, bad).expect("room");
            let ran = sandbox.run(&["doctor", "graph", "--dir", "web"]);
            let name = file.file_name().expect("a name").to_string_lossy();
            let is_told = ran.stdout.starts_with("damaged  graph ") && ran.stdout.contains(&*name);
            // Ranks of another version are behind.
            let is_behind = ran.stdout.starts_with("behind   graph ");
            assert!(is_told || is_behind && at == 7, "{name} {at}: {ran:#?}");
        }
        // The remedy works.
        fs::remove_dir_all(sandbox.path("web/graph")).expect("it is there");
        sandbox.done(&["rank", "--dir", "web", "-q"]);
        sandbox.done(&["index", "--dir", "web", "-q"]);
        let said = sandbox.done(&["doctor", "graph", "--dir", "web"]);
        assert!(said.starts_with("whole    graph "), "{}: {said}", file.display());
    }
}

/// Missing ranks are behind; the named command makes them.
#[test]
fn missing_ranks_are_reported_and_rebuilt() {
    let sandbox = with_topic();
    let whole = files_below(&sandbox.path("web/graph"));
    let is_of_ranks = |path: &&PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_of_links = path.file_name().is_some_and(|name| name == "links.source");
        matches!(ending, Some("ranks" | "source")) && !is_of_links
    };
    let ranks: Vec<_> = whole.iter().filter(is_of_ranks).collect();
    assert!(ranks.len() >= 9, "{whole:#?}");
    for file in ranks {
        fs::remove_file(file).expect("it is there");
        let said = sandbox.done(&["doctor", "graph", "--dir", "web"]);
        assert!(said.starts_with("behind   graph "), "{}: {said}", file.display());
        assert!(said.contains("→ run `crivello rank`"), "{said}");
        sandbox.done(&["rank", "--dir", "web", "-q"]);
        let said = sandbox.done(&["doctor", "graph", "--dir", "web"]);
        assert!(said.starts_with("whole    graph "), "{}: {said}", file.display());
        assert_eq!(files_below(&sandbox.path("web/graph")), whole);
    }
}

/// `doctor` accepts every part that it prints.
#[test]
fn doctor_accepts_every_part_it_prints() {
    let (sandbox, _server) = built_web();
    for part in PARTS {
        let findings = sandbox.json(&["doctor", part, "--dir", "web"]);
        let told: Vec<_> = states(&findings).into_iter().map(|(part, _)| part).collect();
        let expected = if part == "archive" { vec![part, "cdx"] } else { vec![part] };
        assert_eq!(told, expected);
    }
    let findings = sandbox.json(&["doctor", "cdx", "archive", "--dir", "web"]);
    assert_eq!(states(&findings).len(), 2, "{findings}");
}

/// No crawl truncates a file of another program.
#[test]
fn a_torn_imported_file_is_reported_with_a_remedy() {
    let (sandbox, _server) = built_web();
    let [own, other] =
        ["crivello-00001.warc.gz", "other.warc.gz"].map(|name| format!("web/archive/{name}"));
    let bytes = fs::read(sandbox.path(&own)).expect("bytes");
    fs::write(sandbox.path(&other), &bytes[..bytes.len() / 2 + 5]).expect("written");
    let doctor = || {
        let ran = sandbox.run(&["doctor", "archive", "--dir", "web", "--json"]);
        let findings: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        (ran.code, findings["parts"][0].clone())
    };
    let (code, archive) = doctor();
    let remedy = archive["remedy"].as_str().expect("a remedy");
    assert!(code == 1 && remedy.contains("crawls do not change imported files"), "{archive}");
    fs::remove_file(sandbox.path(&other)).expect("removed");
    fs::File::options()
        .write(true)
        .open(sandbox.path(&own))
        .and_then(|file| file.set_len(bytes.len() as u64 - 5))
        .expect("cut");
    let (code, archive) = doctor();
    let remedy = archive["remedy"].as_str().expect("a remedy");
    assert!(code == 1 && remedy.starts_with("the next crawl removes"), "{archive}");
}

/// Every file below a folder, with its bytes and its date.
fn state_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let about = |path: PathBuf| {
        let date = fs::metadata(&path).and_then(|about| about.modified()).expect("a date");
        (path.clone(), fs::read(path).expect("a file"), date)
    };
    files_below(dir).into_iter().map(about).collect()
}

/// Crawls and lookups rebuild files; `doctor` changes nothing.
#[test]
fn doctor_changes_nothing_whatever_is_damaged() {
    for wrong in ["shorter", "without a CDXJ file", "with a damaged one", "all", "later"] {
        let server = Pages::serve(&[("/", &page(&["/a"])), ("/a", HTML)]);
        let sandbox = crawled_twice(&server);
        crawl(&sandbox, "", &["--recrawl"]);
        let names = [1, 2, 3].map(|number| format!("web/archive/crivello-0000{number}.warc.gz"));
        let [first, second, third] = names.map(|name| sandbox.path(&name));
        let cdxj = |path: &Path| path.with_extension("gz.cdxj");
        if matches!(wrong, "shorter" | "all") {
            let bytes = fs::read(&second).expect("it is there");
            fs::write(&second, &bytes[..bytes.len() - 40]).expect("room");
        }
        if matches!(wrong, "without a CDXJ file" | "all") {
            fs::remove_file(cdxj(&first)).expect("it is there");
        }
        if matches!(wrong, "with a damaged one" | "all") {
            let lines = fs::read_to_string(cdxj(&third)).expect("it is there");
            fs::write(cdxj(&third), lines.replace(")/a ", ")/z ")).expect("room");
        }
        if wrong == "later" {
            fs::write(&second, fs::read(&second).expect("it is there")).expect("room");
        }
        let before = state_of(&sandbox.path("web"));
        sandbox.run(&["doctor", "--dir", "web"]);
        let said = [(); 2].map(|()| sandbox.run(&["doctor", "archive", "--dir", "web"]).stdout);
        assert!(state_of(&sandbox.path("web")) == before, "{wrong}: {said:#?}");
        assert_eq!(said[0], said[1], "{wrong}");
        let is_shorter = said[0].contains("crivello-00002.warc.gz has become shorter");
        assert_eq!(is_shorter, matches!(wrong, "shorter" | "all"), "{wrong}: {said:#?}");
        let is_wrong = said[0].contains("the next lookup or crawl makes it again");
        assert_eq!(is_wrong, matches!(wrong, "with a damaged one" | "all"), "{wrong}: {said:#?}");
        // A lookup rebuilds the CDXJ files; the result for the archive stays the same.
        sandbox.run(&["archive", "get", "--dir", "web", "http://else.test/"]);
        assert!(state_of(&sandbox.path("web")) != before, "{wrong}");
        let made = sandbox.run(&["doctor", "archive", "--dir", "web"]).stdout;
        let archive = |said: &str| {
            let lines = said.lines().take_while(|line| !line.contains(" cdx  "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(archive(&made), archive(&said[0]), "{wrong}");
    }
}

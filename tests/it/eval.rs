//! `crivello eval`: runs are written, read, judged and compared; the judged collections.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

const DOCUMENTS: &str = r#"{"id": "d1", "title": "Solar panels", "text": "Panels on the roof give power."}
{"id": "d2", "title": "Wind farms", "text": "Wind gives power at sea."}
{"id": "d3", "title": "Gardens", "text": "Roses and tulips, and a solar lamp."}
{"id": "d4", "title": "Gardens", "text": "Roses and tulips, and a solar lamp."}
"#;

/// A collection `web` of these documents, indexed, and files beside it.
fn collection(documents: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::with_collection();
    fs::write(sandbox.path("docs.jsonl"), documents).expect("a file");
    for (name, text) in files {
        fs::write(sandbox.path(name), text).expect("a file");
    }
    sandbox.done(&["import", "--dir", "web", "docs.jsonl", "-q"]);
    sandbox.done(&["index", "--dir", "web", "-q"]);
    sandbox
}

#[test]
fn a_written_run_gets_the_same_scores_when_read() {
    let topics = "1\tplease give details of solar power\n2\troses\n3\t\"unbalanced ( -\n";
    let qrels = "1 0 d1 1\n2 0 d4 1\n3 0 d2 1\n";
    let sandbox = collection(DOCUMENTS, &[("topics.tsv", topics), ("qrels.txt", qrels)]);
    let judge = ["eval", "--qrels", "qrels.txt", "--measures", "MAP,P@1,MRR,nDCG@10"];
    let searched = [&judge[..], &["--dir", "web", "--topics", "topics.tsv", "--run", "ours.run"]];
    let said = sandbox.done(&searched.concat());
    let run = fs::read_to_string(sandbox.path("ours.run")).expect("it was written");
    let names = |topic: &str| -> Vec<String> {
        let lines = run.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.filter(|line| line[0] == topic).map(|line| line[2].to_owned()).collect()
    };
    // Words of the topic do not count; a page is represented by its document.
    assert_eq!(names("1")[0], "d1", "{run}");
    assert_eq!(names("2"), ["d3", "d4"], "{run}");
    assert!(names("3").is_empty(), "{run}");
    assert!(said.contains("MAP\tall\t0.5000\tcrivello"), "{said}");
    assert!(said.contains("P@1\tall\t0.3333\tcrivello"), "{said}");
    let read = sandbox.done(&[&judge[..], &["ours.run"]].concat());
    assert_eq!(read.replace("ours.run", "crivello"), said);

    fs::write(sandbox.path("worse.run"), "1 Q0 d2 1 2 x\n1 Q0 d1 2 1 x\n").expect("a file");
    let both = sandbox.json(&[&judge[..], &["ours.run", "worse.run", "--each"]].concat());
    assert_eq!(both["runs"][1]["each"]["MRR"]["1"], 0.5, "{both:#}");
    assert_eq!(both["compared"]["MRR"]["better"], 2, "{both:#}");
    assert!(both["compared"]["MAP"]["p_student"].as_f64().is_some_and(|p| p > 0.1 && p < 1.0));
}

#[test]
fn invalid_eval_input_is_reported_with_its_line() {
    let sandbox =
        collection(DOCUMENTS, &[("bad.txt", "1 0 d1 1\nrelevant\n"), ("ok.txt", "9 0 d1 1\n")]);
    fs::write(sandbox.path("empty"), "").expect("a file");
    fs::write(sandbox.path("one.run"), "1 Q0 d1 1 1 x\n").expect("a file");
    for (args, said) in [
        (&["--qrels", "bad.txt", "one.run"][..], "bad.txt:2: "),
        (&["--qrels", "ok.txt", "bad.txt"], "bad.txt:1: "),
        (&["--qrels", "ok.txt"], "`--topics`"),
        (&["--qrels", "empty", "one.run"], "no judgements"),
        (&["--qrels", "ok.txt", "one.run", "--measures", "F1"], "unknown measure"),
    ] {
        let ran = sandbox.run(&[&["eval"], args].concat());
        assert!(ran.code == 2 && ran.stderr.contains(said), "{args:?}: {ran:#?}");
    }
    let ran = sandbox.run(&["eval", "--qrels", "none.txt", "one.run"]);
    assert!(ran.code == 1 && ran.stderr.contains("none.txt"), "{ran:#?}");
    let ran = sandbox.run(&["eval", "--qrels", "ok.txt", "one.run"]);
    assert!(ran.code == 0 && ran.stderr.contains("none of the judged topics"), "{ran:#?}");
}

/// The least that each collection must reach with one configuration, and that nearly every topic finds something. For
/// Cranfield and `SciFact` the least is the best of Anserini, PISA, bm25s and tantivy. Vaswani's topics, which are in capitals,
/// have many words about the question (`please supply information on`), so those reach more with a list of such words.
#[test]
fn needs_shared_judged_collections_reach_the_best_known_scores() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/collections");
    if !shared.is_dir() {
        eprintln!("skipped: no ../shared/collections");
        return;
    }
    for (name, measure, least) in
        [("vaswani", "MAP", 0.295), ("cranfield", "MAP", 0.3123), ("scifact", "nDCG@10", 0.6882)]
    {
        let folder: PathBuf = shared.join(name);
        let path = |file: &str| folder.join(file).display().to_string();
        let sandbox = Sandbox::with_collection();
        sandbox.done(&["import", "--dir", "web", "-q", &path("docs.jsonl.gz")]);
        sandbox.done(&["index", "--dir", "web", "-q"]);
        let (topics, qrels) = (path("topics.tsv"), path("qrels.txt"));
        let judge = ["eval", "--dir", "web", "--topics", &topics, "--qrels", &qrels];
        let told = sandbox.json(&[&judge[..], &["--measures", measure]].concat());
        let asked = fs::read_to_string(path("topics.tsv")).expect("topics").lines().count();
        let answered = told["runs"][0]["topics"].as_u64().expect("a number");
        assert!(100 * answered > 99 * asked as u64, "{name}: {answered} of {asked} find something");
        let found = told["runs"][0]["figures"][measure].as_f64().expect("a figure");
        assert!(found >= least, "{name}: {measure} is {found}, and should be {least}");
    }
}

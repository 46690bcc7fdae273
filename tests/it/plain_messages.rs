//! Messages use words for people, not terms of the programming language.
//!
//! What lives here: wrong values on the command line and in queries. What does not: those of
//! `crivello.toml` (`configuration.rs`).

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn a_wrong_flag_value_is_reported_with_allowed_values() {
    let sandbox = Sandbox::new();
    let whole = "it must be a whole number";
    for (arguments, wanted) in [
        ("search x --offset y", whole),
        ("search x -k 0", "it must be from 1 to 1000"),
        ("search x -k 99999999999999999999999999", "the number is too great"),
        ("crawl --metrics x", "it must be an address and a port"),
        ("simweb --error-rate x", "it must be a number"),
    ] {
        let ran = sandbox.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments}: {ran:#?}");
        assert!(ran.stderr.contains(wanted), "{arguments}: {ran:#?}");
    }
    // Valid input still works.
    assert!(sandbox.done(&["--version"]).starts_with("crivello "));
    assert_eq!(sandbox.run(&["sarch"]).code, 2);
}

#[test]
fn a_suspicious_query_gets_a_suggestion() {
    let sandbox = Sandbox::with_collection();
    let document =
        "{\"url\": \"http://127.0.0.1:8000/\", \"title\": \"Roses\", \"text\": \"rdf:type\"}\n";
    fs::write(sandbox.path("d.jsonl"), document).expect("written");
    sandbox.done(&["import", "--dir", "web", "d.jsonl"]);
    sandbox.done(&["index", "--dir", "web"]);
    let search = |query: &str| sandbox.run(&["search", "--dir", "web", query]);
    let said = search("titel:roses").stderr;
    assert!(said.contains("did you mean `title:`?"), "{said}");
    assert_eq!(search("rdf:type").stderr, "1 result\n");
    assert_eq!(search("title:roses").stderr, "1 result\n");
    let ran = search("site:127.0.0.1:8000");
    assert!(ran.code == 2 && ran.stderr.contains("; write site:127.0.0.1\n"), "{ran:#?}");
    assert_eq!(search("site:127.0.0.1").code, 0);
}

#[test]
fn an_error_names_the_folder_the_formats_or_the_key() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "crivello-data"]);
    for (name, text) in
        [("c.csv", "id,title\n"), ("crivello-data/crivello.toml", "[crawl]\ndelay_ms = \"1s\"\n")]
    {
        fs::write(sandbox.path(name), text).expect("a file");
    }
    for (arguments, code, wanted) in [
        ("status", 1, "no collection here; did you mean --dir crivello-data?"),
        ("import c.csv --dir crivello-data", 1, "the format of c.csv is not known; import reads"),
        ("config check --dir crivello-data", 2, "the key `delay_ms` of [crawl] cannot be used: it"),
        ("init c.csv", 2, "c.csv is not a folder"),
    ] {
        let ran = sandbox.run(&arguments.split(' ').collect::<Vec<_>>());
        assert!(ran.code == code && ran.stderr.contains(wanted), "{arguments}: {ran:#?}");
    }
}

//! Messages use words for people, not terms of the programming language.
//!
//! What lives here: wrong values on the command line, in documents and in queries. What does not: those of
//! `crivello.toml` (`configuration.rs`).

use std::fs;

use crate::sandbox::Sandbox;

/// Words of programmers.
const FOREIGN: [&str; 14] = [
    "digit found in string",
    "struct ",
    "target type",
    "socket address syntax",
    "float literal",
    "EOF ",
    "expected ident",
    "invalid type",
    "sequence",
    "usize",
    "u64",
    "..=",
    "trailing characters",
    "relative URL without a base",
];

fn check(said: &str, wanted: &str) {
    let foreign: Vec<_> = FOREIGN.iter().filter(|word| said.contains(**word)).collect();
    assert!(foreign.is_empty(), "{foreign:?}: {said}");
    assert!(said.contains(wanted), "not {wanted:?}: {said}");
}

#[test]
fn a_wrong_value_of_a_flag_is_told_with_what_may_be_there() {
    let sandbox = Sandbox::new();
    let (whole, address) = ("it must be a whole number", "it must be an address and a port");
    for (arguments, wanted) in [
        ("search x --offset y", whole),
        ("search x -k 0", "it must be from 1 to 1000"),
        ("search x -k 99999999999999999999999999", "the number is too great"),
        ("search x --offset 99999999999999999999999999", "the number is too great"),
        ("crawl --max-pages x", whole),
        ("crawl --max-time 1.5", whole),
        ("crawl --metrics x", address),
        ("serve --listen 5", address),
        ("up --listen x", address),
        ("simweb --port x", whole),
        ("simweb --error-rate x", "it must be a number"),
        ("codes rans x", whole),
        ("codes prefix x", whole),
        ("codes encode --code zeta -k x 1", ""),
    ] {
        let ran = sandbox.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments}: {ran:#?}");
        check(&ran.stderr, wanted);
        assert!(ran.stderr.contains("For more information"), "{arguments}: {ran:#?}");
    }
    // Valid input still works.
    assert!(sandbox.done(&["--version"]).starts_with("crivello "));
    assert!(sandbox.done(&["search", "--help"]).contains("Usage:"));
    assert_eq!(sandbox.run(&["sarch"]).code, 2);
}

#[test]
fn a_line_that_is_no_document_is_told_with_the_field() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "web"]);
    for (line, wanted) in [
        ("5", "the line is a number, and must be an object"),
        ("[1]", "the line is a list, and must be an object"),
        ("\"x\"", "the line is a string, and must be an object"),
        ("null", "the line is null, and must be an object"),
        ("{", "the line ends before its object does"),
        ("{\"id\": \"1\", \"text\": 5}", "\"text\" is a number, and must be a string"),
        ("{\"id\": \"1\", \"text\": true}", "\"text\" is true or false, and must be a string"),
        ("{\"id\": [], \"text\": \"x\"}", "\"id\" is a list, and must be a string or a number"),
        (
            "{\"id\": \"1\", \"title\": {}, \"text\": \"x\"}",
            "\"title\" is an object, and must be a string",
        ),
        (
            "{\"id\": \"1\", \"url\": 7, \"text\": \"x\"}",
            "\"url\" is a number, and must be a string",
        ),
        ("{\"id\": \"1\", \"id\": \"2\", \"text\": \"x\"}", "\"id\" is there twice"),
        ("{\"id\": \"1\", \"text\": \"x\"} 5", "something follows the object, at byte 26"),
        ("{\"id\": \"1\", \"text\": nix}", "not JSON, at byte"),
        (
            "{\"url\": \"x\", \"text\": \"x\"}",
            "\"x\" is not a web address such as https://example.org/",
        ),
    ] {
        fs::write(sandbox.path("d.jsonl"), format!("{line}\n")).expect("written");
        let ran = sandbox.run(&["import", "--dir", "web", "d.jsonl"]);
        assert_eq!(ran.code, 1, "{line}: {ran:#?}");
        check(&ran.stderr, wanted);
        assert!(ran.stderr.contains("d.jsonl:1: "), "{line}: {ran:#?}");
    }
    fs::write(sandbox.path("d.jsonl"), "{\"id\": 1, \"title\": null, \"text\": \"one\"}\n")
        .expect("written");
    let ran = sandbox.run(&["import", "--dir", "web", "d.jsonl"]);
    assert_eq!(ran.stderr, "Imported  1 record; `crivello index --dir web` makes it searchable\n");
}

#[test]
fn a_query_that_may_be_meant_otherwise_is_told() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "web"]);
    let document =
        "{\"url\": \"http://127.0.0.1:8000/\", \"title\": \"Roses\", \"text\": \"rdf:type\"}\n";
    fs::write(sandbox.path("d.jsonl"), document).expect("written");
    sandbox.done(&["import", "--dir", "web", "d.jsonl"]);
    sandbox.done(&["index", "--dir", "web"]);
    let search = |query: &str| sandbox.run(&["search", "--dir", "web", query]);
    assert!(search("titel:roses").stderr.contains("`titel:` is not a field"));
    assert!(search("titel:roses").stderr.contains("did you mean `title:`?"));
    assert!(search("author:ada").stderr.contains("fields are `title:`, `headings:`"));
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
        ("search x --limit 3", 2, "unexpected argument '--limit'"),
        ("status -v -q", 2, "cannot be used with"),
    ] {
        let ran = sandbox.run(&arguments.split(' ').collect::<Vec<_>>());
        assert!(ran.code == code && ran.stderr.contains(wanted), "{arguments}: {ran:#?}");
        assert!(!ran.stderr.contains("as a value"), "{arguments}: {ran:#?}");
    }
}

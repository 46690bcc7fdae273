//! Suggestions and completions of queries on the command line.

use crate::sandbox::Sandbox;

const DOCUMENTS: &str = r#"{"id": "1", "title": "Gardening for Beginners", "text": "zebras like an orchard of pears"}
{"id": "2", "title": "Winter", "text": "of gardening in ice and snow there is little to say"}
{"id": "3", "title": "Rome", "text": "gardens everywhere, a beginning of spring without end"}
"#;

#[test]
fn a_search_without_results_suggests_a_query() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    let ran = sandbox.run(&["search", "--dir", "web", "gardning"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:#?}");
    assert!(ran.stderr.contains("did you mean: gardening (3 results)\n"), "{ran:#?}");
    let quiet = sandbox.run(&["search", "--dir", "web", "--quiet", "gardning"]);
    assert_eq!(quiet.stderr, "", "{quiet:#?}");
    let json = sandbox.run(&["search", "--dir", "web", "--json", "gardning"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["suggestion"], serde_json::json!({ "query": "gardening", "total": 3 }));
    assert_eq!(json["total"], 0);
    let ran = sandbox.run(&["search", "--dir", "web", "gardening"]);
    assert!(ran.code == 0 && !ran.stderr.contains("did you mean"), "{ran:#?}");
}

#[test]
fn an_unfinished_word_is_completed() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    let complete = |text: &str| sandbox.done(&["search", "--dir", "web", "--complete", text]);
    assert_eq!(complete("zebras beginn"), "zebras beginners\nzebras beginning\n");
    assert_eq!(complete("orch"), "orchard\n");
    let json = sandbox.json(&["search", "--dir", "web", "--complete", "roses -title:gar"]);
    let expected = serde_json::json!({ "query": "roses -title:gar", "completions": ["roses -title:gardening"] });
    assert_eq!(json, expected);
    assert_eq!(sandbox.run(&["search", "--dir", "web", "--complete", "zzz"]).code, 3);
    let ran = sandbox.run(&["search", "--dir", "web", "--complete", "--explain", "zzz"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
}

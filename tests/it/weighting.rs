//! The weighting of words by the configuration and the command line: the model, and words near each other.

use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// The first two documents have the same words. Only in the second are two of them next to each other.
const DOCUMENTS: &str = r#"{"id": "far", "text": "the city has long streets and many trees, at their ends there is a hall"}
{"id": "near", "text": "there is a city hall at the ends of many long streets, and it has trees"}
{"id": "often", "text": "trees, trees, trees, trees, nothing but trees, trees and a city"}
"#;

/// Returns the names of the results in order, and the explanation of the first.
fn search(sandbox: &Sandbox, query: &str, flags: &[&str]) -> (Vec<String>, String) {
    let asked = ["search", "--dir", "web", query, "--explain"];
    let answer = sandbox.json(&[&asked, flags].concat());
    let hits = answer["hits"].as_array().expect("hits");
    for hit in hits {
        assert_eq!(hit["explanation"]["value"], hit["score"], "{hit:#}");
    }
    let name = |hit: &Value| {
        let url = hit["url"].as_str().expect("a URL");
        url.rsplit(['/', ':']).next().expect("a name").to_owned()
    };
    (hits.iter().map(name).collect(), hits[0]["explanation"].to_string())
}

#[test]
fn proximity_counts_only_if_configured() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    let (names, told) = search(&sandbox, "city hall", &[]);
    assert!(names[..2] == ["far", "near"] && !told.contains("near each other"), "{names:?} {told}");
    let (names, told) = search(&sandbox, "city hall", &["--set=search.proximity_weight=0.5"]);
    assert_eq!(names[..2], ["near", "far"]);
    assert!(told.contains("weight 0.5 × (citi near hall: idf"), "{told}");
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("the settings");
    let text = text.replace("proximity_weight = 0.0", "proximity_weight = 0.5");
    fs::write(&file, text).expect("a file");
    assert_eq!(search(&sandbox, "city hall", &[]).0[..2], ["near", "far"]);
}

#[test]
fn the_model_can_be_configured() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    let (_, told) = search(&sandbox, "hall", &["--set", "search.model=tf-idf"]);
    assert!(told.contains("of max f 1 in body (weight 1); idf = log2(N 3 / n 2)"), "{told}");
    let (_, told) = search(&sandbox, "hall", &[]);
    assert!(!told.contains("max f"), "{told}");
    let ran = sandbox.run(&["search", "--dir", "web", "hall", "--set", "search.model=bm25"]);
    assert!(ran.code == 2 && ran.stderr.contains("tf-idf"), "{ran:#?}");
    let schema = sandbox.json(&["config", "schema"]);
    let model = &schema["properties"]["search"]["properties"]["model"];
    assert_eq!(model["enum"], serde_json::json!(["bm25f", "tf-idf"]), "{model:#}");
}

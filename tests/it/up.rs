//! `up`: one command from nothing to a search page.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Sandbox, get};

/// The promise is a minute after the build, in the release profile.
const FIRST_RESULTS: Duration = Duration::from_mins(1);

#[test]
#[expect(clippy::disallowed_methods, reason = "the promise is about real time")]
fn the_sample_web_is_served_within_a_minute() {
    let sandbox = Sandbox::new();
    let arguments = ["up", "--listen", "127.0.0.1:0", "--sample-port", "0"];
    let start = Instant::now();
    let mut running = sandbox.start(&arguments);
    let address = running.first_line();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}: {}", running.stderr());
    assert!(start.elapsed() < FIRST_RESULTS, "took {:?}", start.elapsed());
    // The configuration may get passwords, so only its owner can read it.
    let file = sandbox.path("crivello-data/crivello.toml");
    assert_eq!(crate::secrets::mode(&file), 0o600);
    let (status, page) = get(&address, "/search?q=garden");
    assert_eq!(status, 200);
    assert!(page.contains("<mark>"), "{page}");
    let (_, health) = get(&address, "/health");
    let health: Value = serde_json::from_str(&health).expect("JSON");
    assert!(health["documents"].as_u64().expect("a number") > 400, "{health}");
    assert_eq!(running.signal("INT"), Some(0));
    let status = sandbox.json(&["status", "--dir", "crivello-data"]);
    assert!(status["duplicates"]["folded"].as_u64().expect("a number") > 20, "{status}");
    assert_eq!(status["behind"], serde_json::json!([]), "{status}");
}

#[test]
fn a_port_in_use_is_reported_before_any_work() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let ran = sandbox.run(&["up", "--listen", &address]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stderr.contains(&address) && ran.stderr.contains("--listen"), "{ran:#?}");
    let files = crate::sandbox::files_below(&sandbox.path("crivello-data"));
    assert!(files.is_empty(), "a failed start leaves {files:?}");
    // Without a contact no site of others is visited.
    let ran = sandbox.run(&["up", "http://192.0.2.1/", "--dir", "web", "--listen", "127.0.0.1:0"]);
    assert!(ran.code == 2 && ran.stderr.contains("contact"), "{ran:#?}");
    let files = crate::sandbox::files_below(&sandbox.path("web"));
    assert!(files.is_empty(), "a failed start leaves {files:?}");
}

#[test]
fn an_imported_collection_is_served_without_a_crawl() {
    let sandbox = Sandbox::with_collection();
    let document = r#"{"id": "1", "title": "One", "text": "a single document"}"#;
    std::fs::write(sandbox.path("one.jsonl"), document).expect("a file");
    sandbox.done(&["import", "one.jsonl", "--dir", "web"]);
    assert_eq!(sandbox.json(&["status", "--dir", "web"])["behind"], serde_json::json!(["index"]));
    let mut running = sandbox.start(&["up", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = running.first_line();
    let (_, health) = get(&address, "/health");
    let health: Value = serde_json::from_str(&health).expect("JSON");
    assert_eq!(health["documents"], 1, "the sample web was not asked for: {health}");
}

#[test]
fn a_folder_with_other_files_is_not_changed() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("mine")).expect("a folder");
    std::fs::write(sandbox.path("mine/letter.txt"), "dear").expect("a file");
    let ran = sandbox.run(&["up", "--dir", "mine"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stderr.contains("is not a collection"), "{ran:#?}");
    assert_eq!(crate::sandbox::files_below(&sandbox.path("mine")).len(), 1);
}

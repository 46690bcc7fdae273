//! From a URL to an explained result: crawl, rank, fold, index and search, compared with the truth of a simulated
//! web.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{DELAY_MS, built_web, files_below, truth};

/// URLs of the results of a query.
fn urls(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter().map(|hit| hit["url"].as_str().expect("a URL")).collect()
}

#[test]
fn a_crawl_fetches_exactly_the_expected_pages() {
    let (sandbox, server) = built_web();
    let truth = truth(&server);
    let verdict = simweb::judge(&truth, &server.log(), DELAY_MS);
    assert!(verdict.is_clean(), "{verdict}");
    assert_eq!(server.log_dropped(), 0);

    let listed = sandbox.done(&["archive", "list", "--dir", "web", "--json"]);
    let captured: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let pages: Vec<&str> = captured
        .iter()
        .filter(|line| line["status"] == 200)
        .map(|line| line["url"].as_str().expect("a URL"))
        .filter(|url| {
            !url.ends_with("/robots.txt") && !truth.others.iter().any(|other| other == url)
        })
        .collect();
    let distinct: BTreeSet<&str> = pages.iter().copied().collect();
    assert_eq!(distinct.len(), pages.len(), "a page was archived twice");
    for page in &truth.pages {
        assert!(distinct.contains(page.url.as_str()), "{} is not archived", page.url);
    }
    for url in &truth.forbidden {
        assert!(!distinct.contains(url.as_str()), "{url} is archived");
    }
}

#[test]
fn every_page_is_found_by_its_unique_word() {
    let (sandbox, server) = built_web();
    let truth = truth(&server);
    assert!(truth.pages.len() > 60, "{} pages", truth.pages.len());
    let mut seen_copies = 0;
    // Every seventh, since each is a process of its own; all kinds of hosts come up.
    for page in truth.pages.iter().step_by(7) {
        let ran = sandbox.run(&["search", "--dir", "web", "--json", &page.needle]);
        if page.noindex {
            assert_eq!(ran.code, 3, "{} asks not to be found: {ran:#?}", page.url);
            continue;
        }
        assert_eq!(ran.code, 0, "{} by {}: {ran:#?}", page.url, page.needle);
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let found = urls(&answer);
        assert_eq!(found.len(), 1, "{} by {}: {found:?}", page.url, page.needle);
        seen_copies += answer["hits"][0]["copies"].as_u64().expect("a number");
        let marked = answer["hits"][0]["snippet"].as_array().expect("pieces").iter();
        assert!(
            marked.clone().any(|piece| piece["highlighted"] == true),
            "nothing is highlighted on {}: {:?}",
            page.url,
            marked.collect::<Vec<_>>()
        );
    }
    assert!(seen_copies > 0, "no mirror was folded");
}

#[test]
fn a_score_is_explained_as_a_sum() {
    let (sandbox, server) = built_web();
    let page = &truth(&server).pages[0];
    let answer = sandbox.json(&["search", "--dir", "web", "--explain", &page.needle]);
    let hit = &answer["hits"][0];
    let score = hit["score"].as_f64().expect("a score");
    let parts = hit["explanation"]["parts"].as_array().expect("parts").iter();
    let sum: f64 = parts.map(|part| part["value"].as_f64().expect("a value")).sum();
    assert!((score - sum).abs() < 1e-9 * score.abs().max(1.0), "{score} is not {sum}");
}

#[test]
fn a_stage_with_nothing_new_does_nothing() {
    let (sandbox, server) = built_web();
    let before: Vec<_> = files_below(&sandbox.path("web/index"));
    let report = sandbox.json(&["index", "--dir", "web"]);
    assert_eq!(report["up_to_date"], true, "{report}");
    assert_eq!(files_below(&sandbox.path("web/index")), before);
    let status = sandbox.json(&["status", "--dir", "web"]);
    assert_eq!(status["behind"], serde_json::json!([]), "{status}");
    let requests = server.log().len();
    let seeds = server.web().seeds();
    sandbox.done(&["crawl", "--dir", "web", &seeds[0]]);
    let again: Vec<_> = server.log().split_off(requests);
    let pages: Vec<_> = again.iter().filter(|line| line.status == 200).collect();
    assert!(pages.iter().all(|line| line.path == "/robots.txt"), "fetched again: {pages:#?}");
}

#[test]
fn why_reports_the_fate_of_a_url() {
    let (sandbox, server) = built_web();
    let truth = truth(&server);
    // The second one's robots.txt is two redirects away.
    for host in ["robots.localhost", "robotsmoved.localhost"] {
        let forbidden = truth.forbidden.iter().find(|url| url.contains(host));
        let ran = sandbox.run(&["why", "--dir", "web", forbidden.expect("a forbidden page")]);
        assert!(ran.stdout.contains("forbidden by line"), "{ran:#?}");
    }
    let page = &truth.pages[0].url;
    let why = sandbox.json(&["why", "--dir", "web", page]);
    assert_eq!(why["captures"].as_array().expect("captures").len(), 1, "{why}");
    let ran = sandbox.run(&["why", "--dir", "web", "http://nobody.localhost/"]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stdout.contains("never seen"), "{ran:#?}");
}

#[test]
fn needs_warcio_crawl_and_import_archives_pass_its_check() {
    let (sandbox, _server) = built_web();
    let document = r#"{"id": "1", "title": "One", "text": "a single document"}"#;
    std::fs::write(sandbox.path("one.jsonl"), format!("{document}\n")).expect("a file");
    sandbox.done(&["import", "one.jsonl", "--dir", "web"]);
    let archives: Vec<_> = files_below(&sandbox.path("web/archive"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".warc.gz"))
        .collect();
    assert!(archives.len() >= 2, "{archives:?}");
    let checked =
        Command::new("warcio").arg("check").args(&archives).output().expect("warcio runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let ran = sandbox.run(&["search", "--dir", "web", "single"]);
    assert_eq!(ran.code, 3, "not yet indexed: {ran:#?}");
    let behind = sandbox.json(&["status", "--dir", "web"])["behind"].take();
    assert_eq!(behind, serde_json::json!(["index"]));
    sandbox.done(&["index", "--dir", "web"]);
    sandbox.done(&["search", "--dir", "web", "single document"]);
}

//! Heavy queries: the time limit, and the number that run at once.

use crate::site::{Site, numbered};

/// Opens the lists of thousands of words.
const HEAVY: &str = "(z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*+z*)~10000";

fn pages() -> Vec<(String, String)> {
    (0..60).map(numbered).collect()
}

fn with_limit(time_ms_max: u64) -> Site {
    Site::serve_with(&pages(), query::Config { time_ms_max, ..query::Config::default() })
}

#[test]
fn a_search_over_its_time_limit_is_reported_partial() {
    let site = with_limit(1);
    let answer = site.get(&format!("/api/search?q={HEAVY}"));
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("\"partial\":true"), "{}", answer.body);
    let page = site.get(&format!("/search?q={HEAVY}"));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Stopped after 1 ms"), "{}", page.body);
}

#[test]
fn a_search_without_a_time_limit_is_complete() {
    let answer = with_limit(0).get(&format!("/api/search?q={HEAVY}"));
    assert!(answer.body.contains("\"partial\":false"), "{}", answer.body);
    assert!(answer.body.contains("\"total\":60"), "{}", answer.body);
}

#[test]
fn only_searches_beyond_the_queue_limit_are_refused() {
    let site = with_limit(60_000);
    let request = format!(
        "GET /api/search?q={HEAVY} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    );
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get().max(2));
    let clients: Vec<_> =
        (0..(40 * threads).min(200)).map(|_| site.begin(request.as_bytes())).collect();
    let page = site.begin(request.replace("/api", "").as_bytes());
    let mut answers: Vec<_> = clients.into_iter().map(Site::answer).collect();
    answers.push(Site::answer(page));
    let (done, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert!(!done.is_empty() && !refused.is_empty(), "{} of {}", refused.len(), done.len());
    for answer in refused {
        assert_eq!(answer.status, 503);
        assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
    }
    assert_eq!(site.get("/api/search?q=shared").status, 200);
}

/// Clients fill all places and leave. If their searches continued, no other search could begin.
#[test]
fn disconnected_clients_free_their_slots() {
    let site = with_limit(0);
    let request = format!("GET /api/search?q={HEAVY} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for _ in 0..10 {
        let clients: Vec<_> = (0..50).map(|_| site.begin(request.as_bytes())).collect();
        drop(clients);
    }
    site.wait_for("/api/search?q=shared", |body| body.contains("\"total\":60"));
}

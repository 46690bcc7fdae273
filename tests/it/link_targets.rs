//! A page that is linked under a name with a session id alone: the crawl visits it without, and its links
//! find it in the graph and in the index.

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::why_servers::Pages;

fn found(sandbox: &Sandbox, query: &str) -> Vec<String> {
    let answer: Value = sandbox.json(&["search", "--dir", "web", query]);
    let hits = answer["hits"].as_array().expect("hits").iter();
    let mut urls: Vec<String> =
        hits.map(|hit| hit["url"].as_str().expect("a URL").to_owned()).collect();
    urls.sort();
    urls
}

#[test]
fn a_link_with_a_session_id_reaches_its_page() {
    let server = Pages::of_texts(&[
        (
            "/",
            "<a href='/shop?sid=17'>zebras</a> <a href='/insists?utm_source=x'>yaks</a> \
             <a href='/moved'>xerus</a>",
        ),
        ("/shop", "<title>Shop</title><p>Nothing but animals."),
        // A server that does not do without, and one that sends visitors on with a session.
        ("/insists", "/insists?sid=1"),
        ("/insists?sid=1", "<title>Insists</title><p>On its session."),
        ("/moved", "/moved/here?sid=2"),
        ("/moved/here", "<title>Moved</title><p>And still here."),
    ]);
    let settings = "[crawl]\ndelay_ms = 1\nip_delay_ms = 0\n";
    let sandbox = Sandbox::with_settings(settings);
    sandbox.done(&["crawl", "--dir", "web", &server.url("")]);
    let ranked = sandbox.json(&["rank", "--dir", "web"]);
    assert_eq!(ranked["graph"]["arcs"], 3, "{ranked:#}");
    assert_eq!(ranked["graph"]["outside"], 0, "{ranked:#}");
    sandbox.done(&["index", "--dir", "web"]);
    let page = |path: &str| server.url(path);
    assert_eq!(found(&sandbox, "zebras"), [page("/"), page("/shop")]);
    assert_eq!(found(&sandbox, "yaks"), [page("/"), page("/insists?sid=1")]);
    assert_eq!(found(&sandbox, "xerus"), [page("/"), page("/moved/here")]);
    let why = sandbox.json(&["why", "--dir", "web", &page("/shop")]);
    assert_eq!(why["found_on"][0]["url"], page("/"), "{why:#}");

    // Pages that were read by other rules are read again.
    let raw = sandbox.json(&["rank", "--dir", "web", "--set", "crawl.normalise=[]"]);
    assert_eq!(raw["graph"]["arcs"], 0, "{raw:#}");
}

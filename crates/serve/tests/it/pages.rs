//! HTML pages and JSON answers.

use crate::site::{Site, archive, index, numbered, word};

fn twenty_five() -> Site {
    Site::serve(&(0..25).map(numbered).collect::<Vec<_>>())
}

#[test]
fn results_are_highlighted_and_paged_without_overlaps_or_gaps() {
    let site = twenty_five();
    let mut urls = Vec::new();
    for page in 1..=3 {
        let answer = site.get(&format!("/search?q=shared&page={page}"));
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains("<mark>shared</mark>"), "{}", answer.body);
        assert_eq!(answer.body.contains("Next"), page < 3);
        assert_eq!(answer.body.contains("Previous"), page > 1);
        let found = answer.body.split("<p class=\"url\"><bdi>").skip(1);
        urls.extend(found.map(|rest| rest.split('<').next().expect("a URL").to_owned()));
    }
    assert_eq!(urls.len(), 25);
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), 25);
}

#[test]
fn no_page_has_a_script_and_every_page_forbids_them() {
    let site = twenty_five();
    for path in ["/", "/search?q=shared", "/search?q=nothing", "/cached?url=http://numbers.test/3"]
    {
        let answer = site.get(path);
        assert!(!answer.body.contains("<script"), "{path}");
        assert!(answer.head.contains("content-security-policy: default-src 'none'"), "{path}");
        assert!(!answer.body.contains("onclick"), "{path}");
    }
}

#[test]
fn crawled_text_never_becomes_markup() {
    let evil = "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>\
        <p>&lt;img src=x onerror=alert(2)&gt; zebra &quot;&gt;&lt;b&gt; words here"
        .to_owned();
    let site = Site::serve(&[("http://evil.test/\"><script>".to_owned(), evil)]);
    for path in ["/search?q=zebra", "/search?q=zebra&explain=1", "/search?q=%3Cscript%3E"] {
        let answer = site.get(path);
        assert!(
            !answer.body.contains("<script") && !answer.body.contains("<img"),
            "{}",
            answer.body
        );
    }
}

#[test]
fn a_cached_copy_is_shown_in_a_sandboxed_frame() {
    let page = "<title>Old</title><p>text <script>alert(1)</script>".to_owned();
    let site = Site::serve(&[("http://a.test/".to_owned(), page)]);
    let shown = site.get("/cached?url=http://a.test/");
    assert!(
        shown.body.contains("<iframe sandbox=\"\" src=\"/cached/raw?url=http%3A%2F%2Fa.test%2F\"")
    );
    let raw = site.get("/cached/raw?url=http://a.test/");
    assert_eq!(raw.status, 200);
    assert!(raw.body.contains("<p>text"));
    assert!(raw.head.contains("content-security-policy: sandbox;"), "{}", raw.head);
    assert_eq!(site.get("/cached?url=http://b.test/").status, 404);
}

/// Crawled text cannot change the direction of surrounding text or move the cursor of a terminal.
#[test]
fn crawled_text_has_no_bidi_controls_and_no_control_characters() {
    let page = "<title>zebra \u{202e}gpj.exe\u{9b}1m</title><p>a zebra \u{2066}in\u{200f} the \u{61c}zoo \u{85}\u{7f}";
    let site = Site::serve(&[("http://a.test/".to_owned(), page.to_owned())]);
    for path in [
        "/search?q=zebra",
        "/api/search?q=zebra&explain=1",
        "/api/complete?q=gp",
        "/search?q=zebra%E2%80%AE%1B",
        "/api/search?q=zebra%E2%80%AE%C2%9B",
    ] {
        let body = site.get(path).body.replace('\n', "");
        assert!(body.contains("zebra") || path.contains("complete"), "{body}");
        assert!(body.chars().all(page::is_harmless), "{path}: {body:?}");
    }
}

#[test]
fn a_query_error_shows_its_position() {
    let site = twenty_five();
    let answer = site.get("/search?q=solar+%22city");
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("solar &quot;city\n      ^"), "{}", answer.body);
    let answer = site.get("/api/search?q=solar+%22city");
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("\"column\":7"), "{}", answer.body);
}

#[test]
fn the_json_interface_returns_the_same_results() {
    let site = twenty_five();
    let answer = site.get(&format!("/api/search?q={}&explain=1", word(7)));
    let json: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(json["total"], 1);
    assert_eq!(json["hits"][0]["url"], "http://numbers.test/7");
    assert!(json["hits"][0]["explanation"]["parts"].is_array());
    let health = site.get("/health");
    assert!(health.body.contains("\"documents\":25"), "{}", health.body);
}

#[test]
fn odd_requests_get_an_answer() {
    let site = twenty_five();
    for (path, status) in [
        ("/search", 200),
        ("/search?q=", 200),
        ("/search?q=shared&page=0", 200),
        ("/search?q=shared&page=18446744073709551615", 200),
        ("/search?q=shared&page=x", 400),
        ("/search?q=%ff%fe%00", 400),
        ("/cached", 400),
        ("/nothing", 404),
        ("/api/search?q=shared&k=0", 400),
        ("/api/search?q=shared&k=1000000&offset=9999", 200),
        ("/api/search?q=shared&k=1000000&offset=99999999", 400),
    ] {
        assert_eq!(site.get(path).status, status, "{path}");
    }
    // Only the results up to the ranking depth.
    let last = site.get("/api/search?q=shared&k=100&offset=9999");
    assert!(last.body.contains("\"offset\":9999,"), "{}", last.body);
    let page = site.get("/search?q=shared&page=x");
    assert!(page.body.contains("<main"), "{}", page.body);
    let json = site.get("/api/search?q=shared&k=x");
    assert!(json.body.starts_with("{\"error\":"), "{}", json.body);
    assert_eq!(site.get("/cached?url=HTTP://NUMBERS.test:80/3").status, 200);
    let long = format!("/search?q={}", "a+".repeat(8000));
    assert!((400..500).contains(&site.get(&long).status));
    assert_eq!(
        site.send(b"POST /search HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status,
        405
    );
}

#[test]
fn a_new_index_is_detected() {
    let site = twenty_five();
    assert!(site.get("/search?q=latecomer").body.contains("Nothing found"));
    let page = "<title>Late</title><p>a latecomer arrives".to_owned();
    archive(&site.collection, &[("http://late.test/".to_owned(), page)]);
    index(&site.collection);
    site.wait_for("/search?q=latecomer", |body| body.contains("http://late.test/"));
}

#[test]
fn new_ranks_of_the_same_index_are_detected() {
    let site = twenty_five();
    let index = index::Index::open(&site.collection.index_dir()).expect("an index");
    let ranks = site.collection.document_ranks_file(&index, &collection::Vector::pagerank());
    std::fs::remove_file(&ranks).expect("removed");
    let unranked = "this collection has no such rank; it has in-degree.";
    site.wait_for("/search?q=shared&explain=1", |body| body.contains(unranked));
    jobs::rank(&site.collection, &jobs::RankConfig::default(), &|_, _, _| {}).expect("ranked");
    site.wait_for("/search?q=shared&explain=1", |body| !body.contains(unranked));
}

#[test]
fn new_topics_are_detected_and_can_be_chosen() {
    let site = twenty_five();
    let path = "/api/search?q=shared&k=1&topic=seven";
    let answer = site.get(path);
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(answer.body.contains("there is no topic `seven`"), "{}", answer.body);
    let topic =
        |number: usize| jobs::Topic { pages: vec![numbered(number).0], ..jobs::Topic::default() };
    for number in [7, 8] {
        let topics = [("seven".to_owned(), topic(number))].into();
        let config = jobs::RankConfig { topics, ..jobs::RankConfig::default() };
        jobs::rank(&site.collection, &config, &|_, _, _| {}).expect("ranked");
        let url = format!("\"url\":\"http://numbers.test/{number}\"");
        site.wait_for(path, |body| body.contains(&url));
    }
    assert!(site.get("/").body.contains("<option value=\"seven\">"));
    let page = site.get("/search?q=sharde&topic=seven").body;
    assert!(page.contains("/search?q=shared&amp;page=1&amp;topic=seven"), "{page}");
}

#[test]
fn a_page_without_a_row_is_still_found() {
    let site = twenty_five();
    std::fs::remove_dir_all(site.collection.pages_dir()).expect("removed");
    let answer = site.get(&format!("/search?q={}", word(7)));
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("http://numbers.test/7"), "{}", answer.body);
    assert_eq!(site.get("/cached?url=http://numbers.test/7").status, 404);
}

/// The error message names the parameter and contains no internal type names.
#[test]
fn an_unreadable_parameter_is_reported() {
    let site = twenty_five();
    for (address, said) in [
        ("/api/search?q=a&k=x", "`k` must be a whole number, 0 or more"),
        ("/api/search?q=a&offset=-1", "`offset` must be a whole number, 0 or more"),
        ("/api/search?q=a&offset=10000", "offset is 10000, and must be from 0 to 9999"),
        ("/api/search?q=a&k=", "`k` must be a whole number, 0 or more"),
        ("/api/search?q=a&k=99999999999999999999999", "`k` is too great"),
        ("/api/search?q=a&q=b", "`q` is there twice"),
        ("/search?q=a&page=1.5", "`page` must be a whole number, 0 or more"),
        ("/cached", "`url` is missing"),
    ] {
        let answer = site.get(address);
        assert_eq!(answer.status, 400, "{address}: {}", answer.body);
        assert!(answer.body.contains(said), "{address}: {}", answer.body);
    }
}

/// A misspelt field name matches no document. The page and the API suggest the intended field.
#[test]
fn a_misspelt_field_is_reported() {
    let site = twenty_five();
    let page = site.get("/search?q=titel%3Ashared");
    assert!(page.body.contains("did you mean `title:`?"), "{}", page.body);
    let answer = site.get("/api/search?q=titel%3Ashared");
    assert!(answer.body.contains("\"hint\":\"`titel:` is not a field"), "{}", answer.body);
    let answer = site.get("/api/search?q=shared");
    assert!(answer.body.contains("\"hint\":null,\"notes\":[]"), "{}", answer.body);
}

/// The page and the API report parts of the query that were not applied.
#[test]
fn ignored_query_parts_are_reported() {
    let site = twenty_five();
    let page = site.get("/search?q=shared+-link%3Aexample.org");
    assert!(page.body.contains("`link:` matches nothing"), "{}", page.body);
    let answer = site.get("/api/search?q=shared+-link%3Aexample.org");
    assert!(answer.body.contains("\"notes\":[\"`link:` matches nothing"), "{}", answer.body);
}

/// Pages that share one word and differ too much to be folded.
fn gardens() -> Site {
    let page = |number: usize| {
        let (url, html) = numbered(number);
        (
            url,
            html.replace("<p>", "<p>Gardening with <em>rosemary</em>. ").replace("Page", "Gardens"),
        )
    };
    Site::serve(&(0..5).map(page).collect::<Vec<_>>())
}

/// A misspelt query gets a link to the suggested query. Its own results do not change.
#[test]
fn a_misspelt_word_gets_a_suggestion() {
    let site = gardens();
    let page = site.get("/search?q=rosemray&explain=1");
    let link = "Did you mean <a href=\"/search?q=rosemary&amp;page=1&amp;explain=1\">rosemary</a>?";
    assert!(page.body.contains(link), "{}", page.body);
    assert!(page.body.contains("Nothing found"), "{}", page.body);
    let answer = site.get("/api/search?q=shared+rosemray");
    let suggested = "\"suggestion\":{\"query\":\"shared rosemary\",\"total\":5}";
    assert!(answer.body.contains(suggested), "{}", answer.body);
    for query in ["rosemary", "xyzzyplugh"] {
        let answer = site.get(&format!("/api/search?q={query}"));
        assert!(answer.body.contains("\"suggestion\":null"), "{}", answer.body);
        let page = site.get(&format!("/search?q={query}"));
        assert!(!page.body.contains("Did you mean"), "{}", page.body);
    }
    let page = site.get("/search?q=rosemray+%3Cb%3E");
    assert!(!page.body.contains("<b>"), "{}", page.body);
}

/// Completions from titles come before completions from texts. Any query gets a list.
#[test]
fn an_unfinished_word_is_completed() {
    let site = gardens();
    let list = |query: &str| {
        let answer = site.get(&format!("/api/complete?q={query}"));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let json: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        json["completions"].clone()
    };
    assert_eq!(list("shared+gar"), serde_json::json!(["shared gardens"]));
    assert_eq!(list("rosem"), serde_json::json!(["rosemary"]));
    for nothing in ["", "gar+", "xyzzy", "%22%22", "site%3Anum"] {
        assert_eq!(list(nothing), serde_json::json!([]), "{nothing}");
    }
    assert_eq!(site.get("/api/complete").body, "{\"query\":\"\",\"completions\":[]}");
    assert_eq!(site.get("/api/complete?q=a&q=b").status, 400);
}

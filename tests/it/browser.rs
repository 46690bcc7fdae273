//! The search page as people meet it: in Chromium, with JavaScript and without.

use crate::sandbox::{Sandbox, small_web};
use crate::webdriver::{Browser, Element};

/// Types a query, looks at the results, pages on, opens a cached copy.
fn visit(javascript: bool) {
    let (sandbox, server) = (Sandbox::new(), small_web());
    sandbox.build(&server);
    let mut running = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = running.first_line();
    let browser = Browser::start(javascript);

    browser.go(&address);
    assert!(browser.title().contains("Crivello"), "{}", browser.title());
    assert!(browser.find("main").text().contains("Search"));
    browser.find("input[name=q]").write("the\u{E007}");

    browser.arrive("/search?q=the");
    let first: Vec<String> = browser.find_all(".result .url").iter().map(Element::text).collect();
    assert_eq!(first.len(), 10);
    let marks = browser.find_all(".result mark");
    assert!(!marks.is_empty(), "nothing is highlighted");
    assert!(marks.iter().all(|mark| mark.text().to_lowercase().contains("the")));

    browser.find("a[rel=next]").click();
    browser.arrive("page=2");
    let second: Vec<String> = browser.find_all(".result .url").iter().map(Element::text).collect();
    assert!(
        !second.is_empty() && second.iter().all(|url| !first.contains(url)),
        "{first:?} {second:?}"
    );
    browser.find("a[rel=prev]").click();
    browser.arrive("page=1");
    assert_eq!(browser.find(".result .url").text(), first[0]);

    browser.find(".result .more a").click();
    browser.arrive("/cached?url=");
    assert!(browser.find("main").text().contains(&first[0]));
    let frame = browser.find("iframe");
    browser.enter(Some(&frame));
    assert!(browser.find("body").text().to_lowercase().contains("the"));
    browser.enter(None);

    browser.find("input[name=q]").write("\"unclosed\u{E007}");
    browser.arrive("unclosed");
    assert!(
        browser.find("[role=alert]").text().contains("quot"),
        "{}",
        browser.find("main").text()
    );
    browser.find("input[name=q]").clear();
    browser.find("input[name=q]").write("zzzzqqqq\u{E007}");
    browser.arrive("zzzzqqqq");
    assert!(browser.find("[role=status]").text().contains("Nothing found"));

    // A query that cannot be read is answered with 400, which the browser notes; nothing else may be.
    let complaints = browser.complaints();
    let others =
        complaints.iter().filter(|text| !text.contains("status of 400")).collect::<Vec<_>>();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn needs_browser_a_person_searches_pages_on_and_opens_a_copy() {
    visit(true);
}

#[test]
fn needs_browser_all_of_it_works_without_javascript() {
    visit(false);
}

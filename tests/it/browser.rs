//! The search page as people meet it: in Chromium, with JavaScript and without.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

use archive::{Draft, Kind, WarcWriter, WriterOptions};

use crate::sandbox::{Sandbox, built_web};
use crate::webdriver::{Browser, Element};

/// Types a query, looks at the results, pages on, opens a cached copy.
fn visit(javascript: bool) {
    let (sandbox, _server) = built_web();
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
fn needs_browser_search_paging_and_copies_work() {
    visit(true);
}

#[test]
fn needs_browser_all_pages_work_without_javascript() {
    visit(false);
}

/// An archive in `web` of one page.
fn archive(sandbox: &Sandbox, url: &str, page: &str) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
    let block = format!("{head}{page}");
    let options = WriterOptions::default();
    let mut writer = WarcWriter::create(&sandbox.path("web/archive"), options).expect("a writer");
    let draft = Draft {
        kind: Kind::Response,
        date_s: 1_750_000_000,
        date_us: 0,
        target: Some(url),
        content_type: "application/http; msgtype=response",
        extra: &[],
        payload_offset: head.len(),
        block: block.as_bytes(),
    };
    writer.write(&draft).expect("written");
    writer.finish().expect("finished");
}

/// Whether somebody connects within a second or so.
fn is_met(canary: &TcpListener) -> bool {
    canary.set_nonblocking(true).expect("a listener");
    (0..15).any(|_| {
        sleep(Duration::from_millis(100));
        match canary.accept() {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        }
    })
}

#[test]
fn needs_browser_a_copy_makes_no_outside_connections() {
    let canary = TcpListener::bind("127.0.0.1:0").expect("a port");
    let third = format!("http://{}", canary.local_addr().expect("an address"));
    let page = format!(
        "<title>Hints</title><base href='{third}/'><link rel=preconnect href='{third}/'>\
         <link rel=stylesheet href='{third}/x.css'><link rel=icon href='{third}/x.ico'>\
         <link rel=dns-prefetch href='{third}/'><link rel=prefetch href='{third}/x'>\
         <meta http-equiv=refresh content='0;url={third}/'><style>@import '{third}/y.css';\
         @font-face {{ font-family: x; src: url({third}/x.woff) }} p {{ font-family: x; background: url({third}/z) }}\
         </style><p style='background: url({third}/w)'>A harmless text.<iframe src='{third}/'></iframe>\
         <object data='{third}/o'><embed src='{third}/e'></object><img src='{third}/i' srcset='{third}/j 2x'>\
         <video src='{third}/v' poster='{third}/p' autoplay></video><script src='{third}/s'></script>\
         <svg><style><p><link rel=preconnect href='{third}/'></style><image href='{third}/h'/></svg>\
         <select><style></select><link rel=preconnect href='{third}/'></style>\
         <form action='{third}/'><input type=image src='{third}/f'></form><a href='{third}/'>onward</a>"
    );
    let sandbox = Sandbox::with_collection();
    archive(&sandbox, "http://hints.test/", &page);
    sandbox.done(&["index", "--dir", "web"]);
    let mut running = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = running.first_line();
    let browser = Browser::start(true);
    browser.go(&format!("{address}cached?url=http://hints.test/"));
    let frame = browser.find("iframe");
    browser.enter(Some(&frame));
    assert!(browser.find("body").text().contains("harmless"));
    assert!(!is_met(&canary), "the copy in its frame");
    browser.enter(None);
    browser.go(&format!("{address}cached/raw?url=http://hints.test/"));
    assert!(browser.find("body").text().contains("harmless"));
    assert!(!is_met(&canary), "the copy alone");
}

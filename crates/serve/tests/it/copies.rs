//! Cached copies: removed content and use of server resources.

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use crate::site::Site;

const RAW: &[u8] = b"GET /cached/raw?url=http://a.test/ HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn a_copy_has_no_connecting_elements() {
    let page = "<title>Old</title><link rel=preconnect href=//b.test><p>text <script>alert(1)</script>\
        <iframe src=//b.test></iframe><img src=//b.test/x alt=picture>";
    let site = Site::serve(&[("http://a.test/".to_owned(), page.to_owned())]);
    let copy = site.get("/cached/raw?url=http://a.test/");
    assert!(copy.head.contains("text/html; charset=utf-8"), "{}", copy.head);
    assert!(copy.head.contains("content-security-policy: sandbox;"), "{}", copy.head);
    let expected = "<!DOCTYPE html><title>Old</title><p>text <img alt=\"picture\">";
    assert!(copy.body.contains(expected), "{}", copy.body);
}

/// The number of copies to clients that do not read is limited. Each copy ends with its connection.
#[test]
fn concurrent_copies_are_limited() {
    let page = format!("<title>Long</title><p>{}", "so many words ".repeat(1 << 20));
    let bytes = page.len();
    let small = ("http://b.test/".to_owned(), "<title>Small</title><p>few words".to_owned());
    let site = Site::serve(&[("http://a.test/".to_owned(), page), small]);
    let begin = |_| {
        let mut client = site.connect();
        client.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        client.write_all(RAW).expect("sent");
        let mut status = [0; 15];
        client.read_exact(&mut status).expect("an answer");
        assert_eq!(&status, b"HTTP/1.1 200 OK");
        client
    };
    let clients: Vec<TcpStream> = (0..16).map(begin).collect();
    let refused = site.get("/cached/raw?url=http://a.test/");
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
    assert_eq!(site.get("/cached?url=http://a.test/").status, 200);
    assert_eq!(site.get("/cached/raw?url=http://b.test/").status, 200);
    drop(clients);
    site.wait_for("/cached/raw?url=http://a.test/", |body| body.len() > bytes);
}

//! Headers, basic authentication and cookies: they reach their host, no other, and no archive.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use archive::{Archive, Kind};
use crawl::{Config, HostAuth, Scope};

use crate::hostile::{self, Request};
use crate::support::crawl;

#[test]
fn secrets_reach_only_their_own_host() {
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&heads);
    let other = hostile::serve(move |request: &Request, out| {
        seen.lock().expect("no panic").push(format!("other {}", request.head));
        out.say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n");
    });
    let seen = Arc::clone(&heads);
    let own = hostile::serve(move |request: &Request, out| {
        seen.lock().expect("no panic").push(format!("own {}", request.head));
        if request.path == "/robots.txt" {
            return out.say("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        }
        out.say(&format!(
            "HTTP/1.1 302 Go\r\nLocation: http://localhost:{other}/\r\nContent-Length: 0\r\n\r\n"
        ));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let cookies_file = dir.path().join("cookies.txt");
    let cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tcookie-secret\n\
        127.0.0.1\tFALSE\t/\tFALSE\t1000000000\told\tof-2001-secret\n";
    fs::write(&cookies_file, cookies).expect("room for a file");
    let config = Config {
        delay_ms: 5,
        ip_delay_ms: 0,
        scope: Scope::Any,
        headers: BTreeMap::from([("X-Everybody".to_owned(), "header-secret".to_owned())]),
        auth: vec![HostAuth {
            host: format!("http://127.0.0.1:{own}"),
            user: "me".to_owned(),
            password: "word".to_owned(),
            headers: BTreeMap::from([("X-Key".to_owned(), "key-secret".to_owned())]),
        }],
        cookies_file,
        resolve: BTreeMap::from([("localhost".to_owned(), IpAddr::from([127, 0, 0, 1]))]),
        ..Config::default()
    };
    let report =
        crawl(dir.path(), &config, &[format!("http://127.0.0.1:{own}/")]).expect("it runs");
    assert_eq!((report.pages, report.requests), (1, 4));
    let secrets =
        ["authorization: Basic bWU6d29yZA==", "x-key: key-secret", "cookie: session=cookie-secret"];
    for head in heads.lock().expect("no panic").iter() {
        assert!(head.contains("x-everybody: header-secret"), "{head}");
        assert!(!head.contains("of-2001"), "{head}");
        let is_own = head.starts_with("own ");
        assert!(secrets.iter().all(|secret| head.contains(secret) == is_own), "{head}");
    }
    let mut requests = 0;
    for record in Archive::open(&dir.path().join("archive")).expect("it is there").records() {
        let record = record.expect("it is whole");
        let text = String::from_utf8_lossy(&record.block).into_owned();
        assert!(!text.contains("secret") && !text.contains("bWU6"), "{text}");
        if record.kind == Kind::Request {
            requests += 1;
            assert!(text.contains("\r\nx-everybody: …\r\n"), "{text}");
            let host = format!("127.0.0.1:{own}");
            let is_own = text.contains(&host);
            assert_eq!(text.contains("\r\nauthorization: …\r\n"), is_own, "{text}");
            assert_eq!(text.contains("\r\ncookie: …\r\n"), is_own, "{text}");
        }
    }
    assert_eq!(requests, 4);
}

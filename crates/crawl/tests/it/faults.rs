//! Servers that do not answer, answer too much or too slowly, and crawls that must not begin.

use std::io::Read as _;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::support::crawl;
use crawl::{Config, CrawlError, Report};

/// A quick crawl of whatever is on loopback.
fn config() -> Config {
    Config {
        delay_ms: 5,
        ip_delay_ms: 0,
        retry_ms: 10,
        timeout_ms: 300,
        body_timeout_ms: 300,
        body_bytes_max: 100_000,
        ..Config::default()
    }
}

fn check(config: &Config, seeds: &[&str]) -> Result<Report, CrawlError> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds: Vec<String> = seeds.iter().map(|&seed| seed.to_owned()).collect();
    crawl(dir.path(), config, &seeds)
}

/// A server that says to each request what `answer` writes; its port.
fn serve(answer: impl Fn(&str, &mut dyn std::io::Write) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = std::sync::Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = std::sync::Arc::clone(&answer);
            thread::spawn(move || {
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default();
                answer(path, &mut stream);
            });
        }
    });
    port
}

fn write(out: &mut dyn std::io::Write, text: &str) {
    // The crawler may have hung up, which is what some tests are about.
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// `robots` for robots.txt, `page` for everything else.
fn serve_page(page: impl Fn(&mut dyn std::io::Write) + Send + Sync + 'static) -> u16 {
    serve(move |path, out| match path {
        "/robots.txt" => write(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        _ => page(out),
    })
}

#[test]
fn an_unreachable_seed_is_reported() {
    let report = check(&config(), &["http://127.0.0.1:1/"]).expect("the run ends well");
    assert_eq!((report.pages, report.requests, report.waiting), (0, 3, 1));
    assert_eq!(report.failures.get("connect"), Some(&1), "{:?}", report.failures);
    assert_eq!(report.aside.len(), 1);
    assert_eq!(report.aside[0].host, "http://127.0.0.1:1");
    assert!(report.aside[0].why.contains("robots.txt"), "{:?}", report.aside);
}

#[test]
fn bodies_without_end_are_given_up() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
        while out.write_all(&[b'x'; 8192]).is_ok() {}
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!(report.pages, 0);
    assert_eq!(report.failures.get("too-large"), Some(&1), "{:?}", report.failures);
}

#[test]
fn slow_servers_are_given_up() {
    let silent = serve_page(|_| thread::sleep(Duration::from_secs(2)));
    let dripping = serve_page(|out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        for _ in 0..20 {
            write(out, "x");
            thread::sleep(Duration::from_millis(100));
        }
    });
    let seeds = [silent, dripping].map(|port| format!("http://127.0.0.1:{port}/"));
    let config = Config { retries: 1, ..config() };
    let report = check(&config, &[&seeds[0], &seeds[1]]).expect("it runs");
    assert_eq!((report.pages, report.requests), (0, 6));
    assert_eq!(report.failures.get("timeout"), Some(&2), "{:?}", report.failures);
}

#[test]
fn heads_without_end_are_given_up() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 200 OK\r\n");
        for number in 0..100_000 {
            if write!(out, "X-{number}: {}\r\n", "x".repeat(100)).is_err() {
                return;
            }
        }
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!(report.failures.get("protocol"), Some(&1), "{:?}", report.failures);
}

#[test]
fn a_wait_that_is_too_long_sets_the_host_aside() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 429 Slow\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n");
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!((report.pages, report.requests, report.waiting), (0, 2, 1));
    assert!(report.aside[0].why.contains("wait"), "{:?}", report.aside);
}

#[test]
fn a_redirect_out_of_scope_is_refused() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n");
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!((report.requests, report.redirects), (2, 1));
    assert_eq!(report.refused.get("scope"), Some(&1), "{:?}", report.refused);
}

#[test]
fn private_addresses_need_to_be_named() {
    let port = serve_page(|out| {
        let links = "<a href='http://10.0.0.1/'>a</a><a href='http://192.168.0.1/'>b</a>";
        write(out, &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{links}"));
    });
    let contact = "crawler@example.org".to_owned();
    let config = Config { scope: crawl::Scope::Any, contact, ..config() };
    let report = check(&config, &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!((report.pages, report.requests), (1, 2));
    assert_eq!(report.failures.get("address"), Some(&2), "{:?}", report.failures);
}

#[test]
fn crawls_that_must_not_begin() {
    let refused = |config: &Config, seeds: &[&str]| check(config, seeds).expect_err("refused");
    let contact = refused(&config(), &["http://example.org/"]);
    assert!(
        matches!(&contact, CrawlError::NoContact { host } if host == "example.org"),
        "{contact}"
    );
    assert!(matches!(refused(&config(), &[]), CrawlError::NoSeeds));
    assert!(matches!(refused(&config(), &["ftp://localhost/"]), CrawlError::Seed { .. }));
    let config = Config { agent: 2, agents: 2, ..config() };
    assert!(matches!(
        refused(&config, &["http://localhost/"]),
        CrawlError::Config { key: "agent", .. }
    ));
}

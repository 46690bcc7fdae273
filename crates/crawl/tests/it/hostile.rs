//! Hostile or broken servers, page by page: each page has its outcome, and the rest of the host is still visited.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use crawl::{Config, Report};

use crate::support::{archived, crawl};

/// A request.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) head: String,
}

/// The connection for the answer.
pub(crate) struct Out(TcpStream);

impl Out {
    pub(crate) fn say(&mut self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Returns whether the client still accepts bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok() && self.0.flush().is_ok()
    }
}

/// Starts a server that gives one answer per connection; returns its port.
pub(crate) fn serve(answer: impl Fn(&Request, &mut Out) + Send + Sync + 'static) -> u16 {
    serve_at("127.0.0.1", answer)
}

/// Does [`serve`] at another address of this machine.
pub(crate) fn serve_at(
    address: &str,
    answer: impl Fn(&Request, &mut Out) + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind((address, 0)).expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut bytes = vec![0; 8192];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let head = String::from_utf8_lossy(&bytes[..read]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                answer(&Request { path, head }, &mut Out(stream));
            });
        }
    });
    port
}

fn config() -> Config {
    Config {
        delay_ms: 2,
        ip_delay_ms: 0,
        retry_ms: 5,
        retries: 1,
        timeout_ms: 250,
        body_timeout_ms: 250,
        body_bytes_max: 200_000,
        decoded_bytes_max: 1 << 20,
        ..Config::default()
    }
}

/// 16 MB of spaces compress as well as a gigabyte. They are compressed once, since that takes longer than an
/// answer may.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..1024 {
        encoder.write_all(&[b' '; 16 << 10]).expect("memory");
    }
    encoder.finish().expect("memory")
});

fn drip(out: &mut Out) {
    for _ in 0..40 {
        if !out.send(b"x") {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n";

/// Answers the request for each page.
fn answer(path: &str, out: &mut Out) {
    match path {
        "/robots.txt" => out.say("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
        "/endless" => {
            out.say(&format!("{OK}\r\n"));
            while out.send(&[b'x'; 8192]) {}
        }
        "/drip" => {
            out.say(&format!("{OK}Content-Length: 3600\r\n\r\n"));
            drip(out);
        }
        "/drip-head" => {
            out.say("HTTP/1.1 200 OK\r\nX-Slow: ");
            drip(out);
        }
        "/hang" => thread::sleep(Duration::from_secs(2)),
        "/empty" => {}
        "/nonsense" => out.say("\x01\x02\x03 nothing like HTTP\r\n\r\n"),
        "/big-head" => {
            let line = format!("X-Padding: {}\r\n", "x".repeat(1_000));
            out.say(&format!("{OK}{}\r\n", line.repeat(200)));
        }
        "/many-headers" => {
            let lines = (0..150).map(|number| format!("X-{number}: y")).collect::<Vec<_>>();
            let lines = lines.join("\r\n");
            out.say(&format!("{OK}{lines}\r\n\r\n"));
        }
        "/too-short" => out.say(&format!("{OK}Content-Length: 5000\r\n\r\nonly this")),
        "/too-long" => out.say(&format!("{OK}Content-Length: 5\r\n\r\nwhole and much more")),
        "/huge-length" => out.say(&format!("{OK}Content-Length: 99999999999999\r\n\r\nno")),
        "/bad-length" => out.say(&format!("{OK}Content-Length: -5\r\n\r\nno")),
        "/two-lengths" => {
            out.say(&format!("{OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"));
        }
        "/bad-chunk" => {
            out.say(&format!("{OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"));
        }
        "/bomb" => {
            out.say(&format!("{OK}Content-Encoding: gzip\r\n\r\n"));
            out.send(&BOMB);
        }
        "/no-gzip" => out.say(&format!("{OK}Content-Encoding: gzip\r\n\r\n<p>plain")),
        "/loop" => out.say("HTTP/1.1 302 Go\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"),
        "/loop-a" => out.say("HTTP/1.1 302 Go\r\nLocation: /loop-b\r\nContent-Length: 0\r\n\r\n"),
        "/loop-b" => out.say("HTTP/1.1 302 Go\r\nLocation: /loop-a\r\nContent-Length: 0\r\n\r\n"),
        "/broken" => out.say("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
        _ => out.say(&format!("{OK}\r\n<p>good")),
    }
}

/// Returns a page with these links.
pub(crate) fn links_to(urls: &[&str]) -> String {
    let links: Vec<String> = urls.iter().map(|url| format!("<a href='{url}'>x</a>")).collect();
    links.concat()
}

/// Crawls a page that links to all of `paths`; returns the report and the outcomes.
fn check(paths: &[&str]) -> (Report, BTreeMap<String, usize>) {
    let links = links_to(paths);
    let port = serve(move |request, out| match request.path.as_str() {
        "/" => out.say(&format!("{OK}\r\n{links}")),
        path => answer(path, out),
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seed = format!("http://127.0.0.1:{port}/");
    let report = crawl(dir.path(), &config(), &[seed]).expect("the crawl goes on");
    let pages = archived(dir.path());
    let path = |url: &str| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    (report, pages.into_iter().map(|(url, times)| (path(&url), times)).collect())
}

#[test]
fn traps_are_reported_and_other_pages_visited() {
    LazyLock::force(&BOMB);
    let traps = [
        "/endless",
        "/drip",
        "/drip-head",
        "/hang",
        "/empty",
        "/good1",
        "/nonsense",
        "/big-head",
        "/many-headers",
        "/too-short",
        "/too-long",
        "/good2",
        "/huge-length",
        "/bad-length",
        "/two-lengths",
        "/bad-chunk",
        "/bomb",
        "/no-gzip",
        "/loop",
        "/loop-a",
        "/broken",
        "/good3",
    ];
    let (report, pages) = check(&traps);
    let names: Vec<&str> = pages.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["", "bomb", "good1", "good2", "good3", "many-headers", "no-gzip", "too-long"]
    );
    assert!(pages.values().all(|&times| times == 1), "{pages:?}");
    let failures: Vec<(&str, u64)> =
        report.failures.iter().map(|(name, &times)| (name.as_str(), times)).collect();
    assert_eq!(failures, [("http-500", 1), ("protocol", 8), ("timeout", 3), ("too-large", 1)]);
    assert_eq!((report.aside.len(), report.waiting), (0, 0), "{:?}", report.aside);
    // Seven attempts that hang for a quarter of a second each.
    assert!(report.elapsed_ms < 8_000, "{} ms", report.elapsed_ms);
}

/// Crawls a site whose robots.txt is compressed, of which only `part` is sent.
fn check_coded_robots(part: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static) -> Report {
    let port = serve(move |request, out| {
        let mut head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n".to_owned();
        let mut body = b"<p>hello".to_vec();
        if request.path == "/robots.txt" {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            let text = "# hello\n".repeat(2000) + "User-agent: *\nDisallow: /secret\n";
            encoder.write_all(text.as_bytes()).expect("memory");
            body = part(encoder.finish().expect("memory"));
            head += "Content-Encoding: gzip\r\n";
        }
        out.say(&format!("{head}Content-Length: {}\r\n\r\n", body.len()));
        out.send(&body);
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = ["/", "/secret"].map(|path| format!("http://127.0.0.1:{port}{path}"));
    let report = crawl(dir.path(), &config(), &seeds).expect("it runs");
    // The log of visits and the archive agree.
    for log in [true, false] {
        if !log {
            std::fs::remove_dir_all(dir.path().join("frontier/visits")).expect("there is one");
        }
        let again = crawl(dir.path(), &config(), &[]).expect("it runs");
        assert_eq!(again.pages, report.pages, "log {log}");
    }
    report
}

#[test]
fn a_damaged_robots_txt_allows_nothing() {
    let whole = check_coded_robots(|packed| packed);
    assert_eq!((whole.pages, whole.forbidden_by_robots), (1, 1));
    let cut = check_coded_robots(|packed| packed[..packed.len() - 12].to_vec());
    assert_eq!((cut.pages, cut.waiting, cut.aside.len()), (0, 2, 1), "{cut:?}");
    let damaged = check_coded_robots(|mut packed| {
        let at = packed.len() / 2;
        packed[at] ^= 0x55;
        packed
    });
    assert_eq!((damaged.pages, damaged.waiting, damaged.aside.len()), (0, 2, 1));
}

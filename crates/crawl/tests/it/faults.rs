//! Servers that do not answer, answer too much or too slowly, and crawls that must not begin.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::{archived, crawl, dirs};
use crawl::{Clock, Config, CrawlError, Report, Snapshot, SystemClock, read_seeds, run};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A quick crawl of servers on loopback.
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

/// Starts a server that answers each request with the output of `answer`; returns its port.
pub(crate) fn serve(answer: impl Fn(&str, &mut dyn std::io::Write) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = Arc::clone(&answer);
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

pub(crate) fn write(out: &mut dyn std::io::Write, text: &str) {
    // The crawler may have closed the connection, which some tests are about.
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Starts a server without a robots.txt; all other paths are `page`.
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
    assert!(
        report.aside[0].why.starts_with("it cannot be reached (connect: "),
        "{:?}",
        report.aside
    );
}

#[test]
fn sitemap_index_nesting_is_limited() {
    let port = serve(|path, out| {
        let body = match path {
            "/robots.txt" => "Sitemap: /0.xml\n".to_owned(),
            "/" => "<p>a page".to_owned(),
            index => {
                let level = index.len();
                let name = |n: usize| {
                    format!("<sitemap><loc>/{}{n}.xml</loc></sitemap>", "x".repeat(level))
                };
                format!("<sitemapindex>{}{}</sitemapindex>", name(1), name(2))
            }
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length:";
        write(out, &format!("{head} {}\r\n\r\n{body}", body.len()));
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it ends");
    // The robots.txt, the page, and indexes three deep: 1 + 2 + 2, since each level has other names.
    assert_eq!((report.pages, report.requests), (1, 7));
}

#[test]
fn endless_bodies_are_abandoned() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
        while out.write_all(&[b'x'; 8192]).is_ok() {}
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!(report.pages, 0);
    assert_eq!(report.failures.get("too-large"), Some(&1), "{:?}", report.failures);
}

#[test]
fn slow_servers_are_abandoned() {
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

/// Starts a server that keeps connections, but closes a kept one when a page is requested on it, or always.
/// Returns its address and the requests.
fn serve_closing(is_always: bool) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let address = listener.local_addr().expect("it is bound");
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            for place in 0.. {
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let Some(path) = request.split(' ').nth(1) else { break };
                log.lock().expect("nobody panics").push(path.to_owned());
                let is_robots = path == "/robots.txt";
                if !is_robots && (place > 0 || is_always) {
                    break;
                }
                let status = if is_robots { "404 No" } else { "200 OK" };
                let kind = "Content-Type: text/html\r\nContent-Length: 5";
                write(&mut stream, &format!("HTTP/1.1 {status}\r\n{kind}\r\n\r\n<p>ok"));
            }
        }
    });
    (format!("http://{address}/"), asked)
}

/// The server has not processed such a request. So it is not an attempt, and is repeated after the pause.
#[test]
fn a_request_on_a_closing_connection_is_retried() {
    let config = Config { retries: 0, ..config() };
    let (seed, asked) = serve_closing(false);
    let report = check(&config, &[&seed]).expect("it runs");
    assert_eq!((report.pages, report.failures.len()), (1, 0), "{report:?}");
    assert_eq!(*asked.lock().expect("nobody panics"), ["/robots.txt", "/", "/"]);
    // On a new connection it is an ordinary failure.
    let (seed, asked) = serve_closing(true);
    let report = check(&config, &[&seed]).expect("it runs");
    assert_eq!((report.pages, report.failures.get("protocol")), (0, Some(&1)), "{report:?}");
    assert_eq!(*asked.lock().expect("nobody panics"), ["/robots.txt", "/", "/"]);
}

/// This includes links whose attribute is truncated, each once, and targets of redirects and sitemaps.
#[test]
fn overlong_links_are_counted() {
    let port = serve(|path, out| {
        let [long, longer] = [3_000, 100_000].map(|bytes| "l".repeat(bytes));
        let head = format!("HTTP/1.1 302 Found\r\nLocation: /{long}\r\nContent-Length: 0\r\n\r\n");
        let body = match path {
            "/robots.txt" => format!("Sitemap: /map.xml\nSitemap: /{long}\n"),
            "/map.xml" => format!("<urlset><url><loc>/s{long}</loc></url></urlset>"),
            "/" => format!(
                "<a href=/{long}>1</a><a href=/{long}>1</a><a href=/{longer}>2</a><a href=/{longer}>2</a>\
                 <a href=/{longer} rel=nofollow>n</a><a href=javascript:{longer}>j</a><a href=/moved>m</a>"
            ),
            _ => return write(out, &head),
        };
        let kind = "Content-Type: text/html\r\nConnection: close";
        let length = body.len();
        write(out, &format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"));
    });
    let config = Config { body_bytes_max: 1 << 20, ..config() };
    let report = check(&config, &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!(report.refused.get("length"), Some(&5), "{:?}", report.refused);
}

/// Starts a server whose answers never end until the flag is set.
fn serve_endless(is_quick: &Arc<AtomicBool>) -> u16 {
    let is_quick = Arc::clone(is_quick);
    serve_page(move |out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n");
        while !is_quick.load(Ordering::Relaxed) && out.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    })
}

#[test]
fn a_time_limit_does_not_wait_for_slow_answers() {
    let is_quick = Arc::new(AtomicBool::new(false));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = [(); 2].map(|()| format!("http://127.0.0.1:{}/", serve_endless(&is_quick)));
    let config = Config { timeout_ms: 60_000, body_timeout_ms: 60_000, ..config() };
    let timed = Config { time_s_max: 1, ..config.clone() };
    let cut = crawl(dir.path(), &timed, &seeds).expect("it ends");
    assert_eq!(cut.limit.as_deref(), Some("time_s_max"));
    assert!(cut.elapsed_ms < 6_000 && !cut.interrupted, "{} ms", cut.elapsed_ms);
    assert_eq!((cut.pages, cut.waiting), (0, 2), "{cut:?}");
    is_quick.store(true, Ordering::Relaxed);
    let rest = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((rest.pages, rest.waiting), (2, 0), "{rest:?}");
}

#[test]
fn a_time_limit_holds_while_the_crawl_is_paused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(dirs(dir.path()).frontier).expect("a folder");
    std::fs::write(dirs(dir.path()).frontier.join("pause"), "").expect("a file");
    let config = Config { time_s_max: 1, ..config() };
    let seeds = ["http://127.0.0.1:1/".to_owned()];
    let report = crawl(dir.path(), &config, &seeds).expect("it ends");
    assert_eq!((report.limit.as_deref(), report.waiting), (Some("time_s_max"), 1));
    assert!(report.elapsed_ms < 3_000 && report.paused_ms > 500, "{report:?}");
}

#[test]
fn unfinished_requests_of_a_stopped_crawl_stay_waiting() {
    let is_quick = Arc::new(AtomicBool::new(false));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = [(); 3].map(|()| format!("http://127.0.0.1:{}/", serve_endless(&is_quick)));
    let config = Config { timeout_ms: 60_000, body_timeout_ms: 60_000, ..config() };
    let stop = AtomicBool::new(false);
    let watch = |now: &Snapshot| {
        // Each host has sent its robots.txt, and one request to each is under way.
        stop.fetch_or(now.report.requests == 6 && now.under_way == 3, Ordering::Relaxed);
    };
    let clock = Arc::new(SystemClock::new());
    let report = run(&dirs(dir.path()), &config, &seeds, clock, &stop, &watch).expect("it ends");
    assert!(report.interrupted);
    assert_eq!((report.pages, report.requests, report.waiting), (0, 6, 3), "{report:?}");
}

#[test]
fn endless_heads_are_abandoned() {
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
fn an_overlong_retry_after_sets_the_host_aside() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 429 Slow\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n");
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    assert_eq!((report.pages, report.requests, report.waiting), (0, 2, 1));
    assert!(report.aside[0].why.contains("wait"), "{:?}", report.aside);
}

/// More seconds than fit into a number, than milliseconds do, and than any wait: the host is set aside for 30
/// days, by this run and the next.
#[test]
fn a_huge_retry_after_is_limited_to_thirty_days() {
    const DAYS_30_S: i64 = 30 * 24 * 3600;
    let config = Config { timeout_ms: 10_000, ..config() };
    for wait in [
        "99999999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709552",
        "9223372036854775807",
        "2592001",
    ] {
        let port = serve(move |path, out| match path {
            "/robots.txt" => write(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            "/" => write(
                out,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<a href=/busy>b",
            ),
            _ => write(
                out,
                &format!("HTTP/1.1 429 Slow\r\nRetry-After: {wait}\r\nContent-Length: 0\r\n\r\n"),
            ),
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let first = crawl(dir.path(), &config, &[format!("http://127.0.0.1:{port}/")]);
        let second = crawl(dir.path(), &config, &[]);
        for (report, requests) in [(first, 3), (second, 0)] {
            let report = report.expect("it runs");
            assert_eq!((report.requests, report.waiting), (requests, 1), "{wait}: {report:?}");
            let until_s = report.aside[0].until_s.expect("a moment");
            let left_s = until_s - report.finished_s;
            // The end is rounded up to a second.
            assert!((DAYS_30_S - 60..=DAYS_30_S + 1).contains(&left_s), "{wait}: {left_s}");
        }
    }
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
fn links_to_private_addresses_are_refused() {
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
fn invalid_crawls_are_refused() {
    let refused = |config: &Config, seeds: &[&str]| check(config, seeds).expect_err("refused");
    let contact = refused(&config(), &["http://example.org/"]);
    assert!(
        matches!(&contact, CrawlError::NoContact { host } if host == "example.org"),
        "{contact}"
    );
    assert!(matches!(refused(&config(), &[]), CrawlError::NoSeeds));
    assert!(matches!(refused(&config(), &["ftp://localhost/"]), CrawlError::Address { .. }));
    let config = Config { agent: 2, agents: 2, ..config() };
    assert!(matches!(
        refused(&config, &["http://localhost/"]),
        CrawlError::Config { key: "agent", .. }
    ));
}

#[test]
fn a_refused_crawl_keeps_no_seed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let refused = crawl(dir.path(), &config(), &["http://example.org/".to_owned()]);
    assert!(matches!(refused, Err(CrawlError::NoContact { .. })), "{refused:?}");
    let kept = read_seeds(&dir.path().join("frontier")).expect("the folder is there");
    assert_eq!(kept, []);
}

/// A clock that panics in the parsers, as a bug would.
struct Broken(SystemClock);

impl Clock for Broken {
    fn now_ms(&self) -> u64 {
        assert_ne!(thread::current().name(), Some("parser"), "the clock is broken");
        self.0.now_ms()
    }

    fn unix_s(&self) -> i64 {
        self.0.unix_s()
    }
}

#[test]
fn a_panicking_thread_ends_the_run_with_an_error() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    // Long enough for the parser to read its clock.
    let port = serve(|_, _| thread::sleep(Duration::from_secs(5)));
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let (clock, stop) = (Arc::new(Broken(SystemClock::new())), AtomicBool::new(false));
    let config = Config { timeout_ms: 10_000, ..config() };
    let result = run(&dirs(dir.path()), &config, &seeds, clock, &stop, &|_| {});
    assert!(matches!(result, Err(CrawlError::Lost { stage: "parser" })), "{result:?}");
}

/// A site that redirects requests for its robots.txt to the home page, as many do.
#[test]
fn a_home_page_read_as_robots_remains_a_page() {
    let port = serve(|path, out| match path {
        "/robots.txt" => {
            write(out, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
        }
        _ => write(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"),
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    crawl(dir.path(), &config(), &[url("/other")]).expect("it runs");
    crawl(dir.path(), &config(), &[url("/")]).expect("it runs");
    assert_eq!(archived(dir.path()), BTreeMap::from([(url("/"), 1), (url("/other"), 1)]));
}

#[test]
fn a_robots_file_in_an_unknown_coding_allows_nothing() {
    let port = serve(|_, out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n\x03");
    });
    let report = check(&config(), &[&format!("http://127.0.0.1:{port}/")]).expect("it runs");
    // It counts as unavailable.
    assert_eq!((report.pages, report.requests, report.forbidden_by_robots), (0, 3, 0));
    assert_eq!((report.aside.len(), report.waiting), (1, 1), "{report:?}");
}

#[test]
fn seeds_without_a_scheme_are_not_duplicated() {
    let port = serve_page(|out| {
        write(out, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n");
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = format!("http://127.0.0.1:{port}/?to=http://b/");
    let seeds = [whole.clone(), format!("127.0.0.1:{port}/?to=http://b/")];
    crawl(dir.path(), &config(), &seeds).expect("it runs");
    assert_eq!(archived(dir.path()), BTreeMap::from([(whole, 1)]));
}

/// Creates a key and a self-signed certificate.
fn self_signed(dir: &Path) -> rustls::ServerConfig {
    let (key, certificate) = (dir.join("key.pem"), dir.join("certificate.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args([OsStr::new("-keyout"), key.as_ref(), OsStr::new("-out"), certificate.as_ref()])
        .output()
        .expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let certificate = CertificateDer::from_pem_file(certificate).expect("openssl wrote it");
    let key = PrivateKeyDer::from_pem_file(key).expect("openssl wrote it");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together")
}

#[test]
fn needs_openssl_an_untrusted_certificate_yields_no_page() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Arc::new(self_signed(dir.path()));
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    let handshakes = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the crawler comes");
        let mut tls = rustls::ServerConnection::new(server).expect("its configuration is whole");
        // Completes the handshake to receive the crawler's verdict on the certificate.
        while tls.is_handshaking() {
            tls.complete_io(&mut stream).map_err(|error| error.to_string())?;
        }
        Ok::<(), String>(())
    });
    let seed = format!("https://localhost:{port}/");
    let report = crawl(dir.path(), &config(), &[seed]).expect("the run ends well");
    assert_eq!((report.pages, report.requests, report.waiting), (0, 1, 1));
    assert_eq!(report.failures.get("tls"), Some(&1), "{:?}", report.failures);
    assert!(report.aside[0].why.contains("unknown issuer"), "{:?}", report.aside);
    assert!(archived(dir.path()).is_empty());
    let alert = handshakes.join().expect("no panic").expect_err("the crawler hangs up");
    assert!(alert.contains("UnknownCA"), "{alert}");
}

#[test]
fn limits_above_those_of_the_archive_are_refused() {
    for (key, change) in [
        ("url_bytes_max", (|config| config.url_bytes_max = 20_000) as fn(&mut Config)),
        ("head_bytes_max", |config| config.head_bytes_max = 1 << 18),
        ("body_bytes_max", |config| config.body_bytes_max = 1 << 28),
    ] {
        let mut config = config();
        change(&mut config);
        let refused = check(&config, &["http://localhost/"]).expect_err("refused");
        assert!(matches!(refused, CrawlError::Config { key: found, .. } if found == key));
    }
}

//! HTTP/2 servers that break off, refuse, go away, require HTTP/1.1, or never end.
//!
//! They write their frames by hand, since libraries do not send invalid ones.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crawl::{Clock as _, Config, Report, SystemClock};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::crawl;
use crate::tls::server_config;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const NO_ERROR: u32 = 0;
const REFUSED: u32 = 7;
const HTTP_1_1_REQUIRED: u32 = 13;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).expect("a short one").to_be_bytes();
    let mut bytes = vec![len[1], len[2], len[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Returns the head of an answer: a status of HPACK's static table, and fields whose names are in the table.
fn head(stream: u32, status: u8, length: Option<&str>, flags: u8) -> Vec<u8> {
    let mut block = vec![0x80 | status];
    for (name, value) in [(31, Some("text/html")), (28, length)] {
        if let Some(value) = value {
            block.extend([0x40 | name, u8::try_from(value.len()).expect("short")]);
            block.extend(value.as_bytes());
        }
    }
    frame(HEADERS, END_HEADERS | flags, stream, &block)
}

const OK: u8 = 8;
const NOT_FOUND: u8 = 13;

fn page(stream: u32, text: &str) -> Vec<u8> {
    [head(stream, OK, None, 0), frame(DATA, END_STREAM, stream, text.as_bytes())].concat()
}

fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

/// The record of a server.
#[derive(Default)]
struct Seen {
    requests: AtomicUsize,
    /// The times of the requests.
    moments: Mutex<Vec<u64>>,
    clock: SystemClock,
    connections: AtomicUsize,
    open: AtomicUsize,
    open_max: AtomicUsize,
}

impl Seen {
    /// Records a request; returns the number of earlier ones.
    fn count(&self) -> usize {
        self.moments.lock().expect("nobody panics with it").push(self.clock.now_ms());
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the shortest time between two requests.
    fn pause_ms(&self) -> u64 {
        let moments = self.moments.lock().expect("nobody panics with it");
        moments.windows(2).map(|pair| pair[1] - pair[0]).min().expect("there were two")
    }
}

/// Returns the frames for the request with this number, on this stream; robots.txt is number 0. If empty, the
/// server sends pings forever and reads nothing more.
type Answer = dyn Fn(usize, u32) -> Vec<u8> + Send + Sync;

type Stream = StreamOwned<ServerConnection, TcpStream>;

fn serve(mut config: ServerConfig, answer: Arc<Answer>) -> (u16, Arc<Seen>) {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    let seen: Arc<Seen> = Arc::default();
    let own = Arc::clone(&seen);
    thread::spawn(move || {
        for tcp in listener.incoming().map_while(Result::ok) {
            let tls = ServerConnection::new(Arc::clone(&config)).expect("it is whole");
            let (seen, answer) = (Arc::clone(&own), Arc::clone(&answer));
            thread::spawn(move || {
                seen.connections.fetch_add(1, Ordering::Relaxed);
                let open = seen.open.fetch_add(1, Ordering::Relaxed) + 1;
                seen.open_max.fetch_max(open, Ordering::Relaxed);
                // A crawler that closes the connection does not fail the test.
                let _ = talk(&mut StreamOwned::new(tls, tcp), &seen, &*answer);
                seen.open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    (port, seen)
}

fn talk(stream: &mut Stream, seen: &Seen, answer: &Answer) -> std::io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface[..4])?;
    if &preface[..4] == b"GET " {
        let mut request = [0; 4096];
        while !request.windows(4).any(|window| window == b"\r\n\r\n") {
            let _ = stream.read(&mut request)?;
        }
        seen.count();
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>1";
        stream.write_all(text.as_bytes())?;
        return stream.read_exact(&mut [0]);
    }
    stream.read_exact(&mut preface[4..])?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        stream.read_exact(&mut vec![0; usize::try_from(len).expect("a short one")])?;
        match head[3] {
            SETTINGS if head[4] == 0 => stream.write_all(&frame(SETTINGS, 1, 0, &[]))?,
            HEADERS => {
                let number = seen.count();
                let answer = answer(number, id);
                stream.write_all(&answer)?;
                while answer.is_empty() {
                    stream.write_all(&frame(PING, 0, 0, &[0; 8]).repeat(1000))?;
                }
            }
            _ => {}
        }
        stream.flush()?;
    }
}

/// The pause between two requests.
const DELAY_MS: u64 = 60;

fn check(
    dir: &Path,
    retries: u8,
    answer: impl Fn(usize, u32) -> Vec<u8> + Send + Sync + 'static,
) -> (Report, Arc<Seen>) {
    let (port, seen) = serve(server_config(dir, "localhost", 2049), Arc::new(answer));
    let config = Config {
        tls_roots: dir.join("ca.pem"),
        delay_ms: DELAY_MS,
        retry_ms: 1,
        ip_delay_ms: 0,
        retries,
        body_timeout_ms: 200,
        timeout_ms: 400,
        ..Config::default()
    };
    let report = crawl(dir, &config, &[format!("https://localhost:{port}/")]).expect("it runs");
    (report, seen)
}

/// The robots.txt is missing; all other requests get `answer`.
fn check_page(
    answer: impl Fn(usize, u32) -> Vec<u8> + Send + Sync + 'static,
) -> (Report, Arc<Seen>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    check(dir.path(), 0, move |number, stream| match number {
        0 => head(stream, NOT_FOUND, None, END_STREAM),
        _ => answer(number, stream),
    })
}

#[test]
fn needs_openssl_a_truncated_body_yields_no_page() {
    let (report, _) = check_page(|_, stream| {
        let data = frame(DATA, 0, stream, &[b'x'; 57]);
        [head(stream, OK, Some("5000"), 0), data, reset(stream, NO_ERROR)].concat()
    });
    assert_eq!(report.pages, 0);
    assert_eq!(report.failures.get("protocol"), Some(&1), "{:?}", report.failures);
    let (report, _) = check_page(|_, stream| {
        let data = frame(DATA, 0, stream, &[b'x'; 57]);
        [head(stream, OK, None, 0), data, reset(stream, NO_ERROR)].concat()
    });
    assert_eq!(report.pages, 0, "its length was not promised, but neither was it ended");
    let (report, _) = check_page(|_, stream| {
        let data = frame(DATA, END_STREAM, stream, b"<p>5");
        [head(stream, OK, Some("4"), 0), data, reset(stream, NO_ERROR)].concat()
    });
    assert_eq!(report.pages, 1, "{:?}", report.failures);
}

#[test]
fn needs_openssl_a_request_refused_unprocessed_is_retried_once() {
    let go_away = |code: u32| frame(GOAWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat());
    // Refused on each stream, or on the whole connection.
    let (report, seen) = check_page(|number, stream| match number {
        1 => reset(stream, REFUSED),
        _ => page(stream, "<p>1"),
    });
    assert_eq!(report.pages, 1, "{:?}", report.failures);
    assert_eq!(seen.requests.load(Ordering::Relaxed), 3);
    let (report, _) = check_page(move |number, stream| match number {
        1 => go_away(NO_ERROR),
        _ => page(stream, "<p>1"),
    });
    assert_eq!(report.pages, 1, "{:?}", report.failures);
    // Retries are limited, and not made where the server may have processed the request.
    let (report, seen) = check_page(|_, stream| reset(stream, REFUSED));
    assert_eq!((report.pages, seen.requests.load(Ordering::Relaxed)), (0, 3));
    assert_eq!(report.failures.get("refused"), Some(&1), "{:?}", report.failures);
    let (report, seen) = check_page(|_, stream| reset(stream, 2));
    assert_eq!((report.pages, seen.requests.load(Ordering::Relaxed)), (0, 2));
}

/// A refused request is a request all the same: the next one keeps the pause, and retries are limited.
#[test]
fn needs_openssl_a_refused_request_is_retried_after_the_pause() {
    for code in [REFUSED, HTTP_1_1_REQUIRED] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (report, seen) = check(dir.path(), 2, move |_, stream| reset(stream, code));
        // The robots.txt: the first request, one repetition after the refusal, and two retries; or HTTP/1.1, and
        // the page as well.
        let wanted = if code == REFUSED { 4 } else { 3 };
        assert_eq!(seen.requests.load(Ordering::Relaxed), wanted, "{:?}", report.failures);
        assert!(seen.pause_ms() >= DELAY_MS, "{code}: {} ms", seen.pause_ms());
    }
}

#[test]
fn needs_openssl_a_server_requiring_http1_gets_http1() {
    let (report, seen) = check_page(|_, stream| reset(stream, HTTP_1_1_REQUIRED));
    assert_eq!(report.pages, 1, "{:?}", report.failures);
    assert_eq!(seen.requests.load(Ordering::Relaxed), 3);
}

/// A server that never closes: each connection still ends with its visit.
#[test]
fn needs_openssl_a_connection_is_closed_after_its_visit() {
    let (report, seen) = check_page(|number, stream| match number {
        1 => page(stream, &crate::hostile::links_to(&["/1", "/2", "/3", "/4", "/5"])),
        _ => Vec::new(),
    });
    assert_eq!(report.pages, 1, "{:?}", report.failures);
    let connections = seen.connections.load(Ordering::Relaxed);
    let open = seen.open_max.load(Ordering::Relaxed);
    assert!(connections >= 5 && open <= 2, "{open} of {connections} connections at once");
}

//! Progress of a running crawl: its counts for Prometheus, and as a page.
//!
//! What lives here: the [`Board`] that holds the newest [`Snapshot`], and [`serve_metrics`], which answers
//! `/metrics` in the text format of Prometheus and `/` with a plain page that reloads itself. What does not:
//! counting (`frontier/`), the live view of the terminal (the binary's).
//!
//! **Invariant.** Both answers are made from one list of families, so they never disagree. The names follow
//! <https://prometheus.io/docs/practices/naming/>: counters end in `_total`, units are base units. A slow client
//! cannot slow down the crawl, which only writes to the board.
//!
//! Reference: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::{Display, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::report::Snapshot;

/// Maximum number of clients at once; others wait.
const CLIENTS_MAX: usize = 16;
/// How long one connection may last.
const CONNECTION_S_MAX: u64 = 30;
/// How long accepting pauses when the system has no more descriptors.
const ACCEPT_PAUSE_MS: u64 = 50;

/// Holds the newest counts.
#[derive(Debug, Default)]
pub struct Board {
    latest: Mutex<Snapshot>,
}

impl Board {
    /// Replaces the counts.
    pub fn post(&self, snapshot: &Snapshot) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot.clone();
    }

    /// Returns the counts in the text format of Prometheus.
    pub fn to_prometheus(&self) -> String {
        let mut out = String::new();
        for family in families(&self.latest()) {
            let Family { name, kind, help, samples } = family;
            let kind = kind.name();
            let _ = write!(out, "# HELP crivello_{name} {help}.\n# TYPE crivello_{name} {kind}\n");
            for Sample { label, value } in samples {
                let _ = match label {
                    // Labels are words of this program, which need no escape.
                    Some((key, text)) => {
                        writeln!(out, "crivello_{name}{{{key}=\"{text}\"}} {value}")
                    }
                    None => writeln!(out, "crivello_{name} {value}"),
                };
            }
        }
        out
    }

    /// Returns the counts as a page.
    pub fn to_html(&self) -> String {
        let mut out = String::from(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"refresh\" content=\"2\">\n<title>Crawl</title>\n\
             <style>td,th{text-align:left;padding:0 1em 0 0}td.n{text-align:right}</style>\n\
             </head>\n<body>\n<h1>Crawl</h1>\n<table>\n",
        );
        for Family { help, samples, .. } in families(&self.latest()) {
            for Sample { label, value } in samples {
                let label = label.map(|(_, text)| text).unwrap_or_default();
                let _ = writeln!(
                    out,
                    "<tr><th>{help}</th><td>{label}</td><td class=\"n\">{value}</td></tr>"
                );
            }
        }
        out.push_str(
            "</table>\n<p><a href=\"/metrics\">For Prometheus</a></p>\n</body>\n</html>\n",
        );
        out
    }

    fn latest(&self) -> Snapshot {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves a board until it is dropped.
pub async fn serve_metrics(listener: TcpListener, board: Arc<Board>) {
    let places = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(ACCEPT_PAUSE_MS)).await;
            continue;
        };
        let board = Arc::clone(&board);
        tokio::spawn(async move {
            // A client that is too slow or gone gets no answer.
            let _ = timeout(Duration::from_secs(CONNECTION_S_MAX), answer(stream, &board)).await;
            drop(place);
        });
    }
}

async fn answer(stream: TcpStream, board: &Board) -> Result<(), hyper::Error> {
    let reply = |request: Request<hyper::body::Incoming>| {
        let reply = reply(request.method(), request.uri().path(), board);
        async move { Ok::<_, Infallible>(reply) }
    };
    let mut server = hyper::server::conn::http1::Builder::new();
    server.keep_alive(false).serve_connection(TokioIo::new(stream), service_fn(reply)).await
}

fn reply(method: &Method, path: &str, board: &Board) -> Response<Full<Bytes>> {
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    let (status, kind, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/metrics") => {
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            (StatusCode::OK, kind, board.to_prometheus())
        }
        (&Method::GET | &Method::HEAD, "/") => {
            let kind = HeaderValue::from_static("text/html; charset=utf-8");
            (StatusCode::OK, kind, board.to_html())
        }
        (&Method::GET | &Method::HEAD, _) => {
            (StatusCode::NOT_FOUND, plain, "there are / and /metrics\n".to_owned())
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, plain, "this can only be read\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// Numbers under one name.
struct Family {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        }
    }
}

struct Sample {
    label: Option<(&'static str, String)>,
    value: String,
}

fn families(now: &Snapshot) -> Vec<Family> {
    let mut all = pages(now);
    all.extend(troubles(now));
    all.extend(queues(now));
    all.extend(sieve(now));
    all
}

fn pages(now: &Snapshot) -> Vec<Family> {
    vec![
        one(
            "pages",
            Kind::Gauge,
            "Pages archived, those of earlier runs included",
            now.report.pages,
        ),
        one(
            "pages_fetched_total",
            Kind::Counter,
            "New pages archived by this run",
            now.report.pages_new,
        ),
        many("known_pages_total", "Known URLs asked for again", "found", &now.report.again()),
        one("pages_per_second", Kind::Gauge, "Pages a second lately", round(now.pages_per_s)),
        one(
            "pages_per_second_mean",
            Kind::Gauge,
            "Pages a second since the run began",
            round(now.report.mean_pages_per_s()),
        ),
        one("requests_total", Kind::Counter, "Requests made by this run", now.report.requests),
        one("received_bytes_total", Kind::Counter, "Bytes of bodies received", now.report.bytes),
        one("redirects_total", Kind::Counter, "Redirects met", now.report.redirects),
        many("responses_total", "Answers by status", "status", &now.report.statuses),
        one("run_seconds", Kind::Gauge, "Time since the run began", seconds(now.report.elapsed_ms)),
        one("paused", Kind::Gauge, "Whether frontier/pause holds the run", u8::from(now.paused)),
    ]
}

fn troubles(now: &Snapshot) -> Vec<Family> {
    vec![
        many(
            "failures_total",
            "Visits given up, or that set their hosts aside, by class",
            "class",
            &now.report.failures,
        ),
        many("refused_links_total", "Links refused by rule", "rule", &now.report.refused),
        many("dropped_urls_total", "URLs dropped by limit", "limit", &now.report.dropped),
        one(
            "robots_forbidden_urls_total",
            Kind::Counter,
            "URLs that a robots.txt forbids",
            now.report.forbidden_by_robots,
        ),
    ]
}

fn queues(now: &Snapshot) -> Vec<Family> {
    let census = &now.census;
    let states = BTreeMap::from([
        ("ready", census.ready),
        ("resting", census.resting),
        ("back_off", census.back_off),
        ("visiting", census.visiting),
        ("asking", census.asking),
        ("aside", census.aside),
        ("idle", census.idle),
    ]);
    vec![
        one("waiting_urls", Kind::Gauge, "URLs that wait for their visit", now.report.waiting),
        one("requests_under_way", Kind::Gauge, "Requests under way", now.under_way),
        one("hosts_known", Kind::Gauge, "Hosts known", now.report.hosts),
        Family {
            kind: Kind::Gauge,
            ..many("hosts", "Hosts by what they are doing", "state", &states)
        },
    ]
}

fn sieve(now: &Snapshot) -> Vec<Family> {
    let sieve = &now.report.sieve;
    vec![
        one("sieve_offered_total", Kind::Counter, "URLs offered to the sieve", sieve.offered),
        one("sieve_emitted_total", Kind::Counter, "URLs that were new", sieve.emitted),
        one("sieve_seen", Kind::Gauge, "Signatures of URLs known to the sieve", sieve.seen),
        one(
            "sieve_memory_bytes",
            Kind::Gauge,
            "Memory of the sieve that grows",
            sieve.memory_bytes,
        ),
        one("sieve_disk_bytes", Kind::Gauge, "Files of the sieve", sieve.disk_bytes),
        one(
            "sieve_expected_collisions",
            Kind::Gauge,
            "URLs that may be lost to equal signatures",
            format!("{:e}", sieve.expected_collisions),
        ),
    ]
}

fn one(name: &'static str, kind: Kind, help: &'static str, value: impl Display) -> Family {
    Family { name, kind, help, samples: vec![Sample { label: None, value: value.to_string() }] }
}

fn many<K: Display>(
    name: &'static str,
    help: &'static str,
    label: &'static str,
    counts: &BTreeMap<K, u64>,
) -> Family {
    let sample = |(key, count): (&K, &u64)| Sample {
        label: Some((label, key.to_string())),
        value: count.to_string(),
    };
    Family { name, kind: Kind::Counter, help, samples: counts.iter().map(sample).collect() }
}

fn round(rate: f64) -> String {
    format!("{rate:.2}")
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

//! Sitemaps that are longer than a page: few are in memory at a time, and all are read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crawl::{Config, Scope};

use crate::hostile::{self, Out};
use crate::support::crawl;

const HOSTS: usize = 10;
/// The maximum number of long sitemaps at a time.
const LONG_MAX: usize = 4;
/// More than the buffers of a connection hold while the client does not read.
const BYTES: usize = 20 << 20;
const PIECE_BYTES: usize = 64 << 10;

/// The shared state of the hosts.
#[derive(Default)]
struct Sent {
    /// How many hosts have sent all but the end, and how many of them still wait.
    now: Mutex<(usize, usize)>,
    changed: Condvar,
    most: AtomicUsize,
}

impl Sent {
    /// Waits until no other host arrives: either all have, or the others are held back.
    fn wait(&self) {
        let mut now = self.now.lock().expect("nobody panics");
        now.0 += 1;
        now.1 += 1;
        self.most.fetch_max(now.1, Ordering::Relaxed);
        self.changed.notify_all();
        while now.0 < HOSTS {
            let before = now.0;
            let (later, timeout) =
                self.changed.wait_timeout(now, Duration::from_secs(1)).expect("nobody panics");
            now = later;
            if timeout.timed_out() && now.0 == before {
                break;
            }
        }
        now.1 -= 1;
    }
}

fn send_sitemap(out: &mut Out, sent: &Sent, host: usize) {
    let start = format!("<urlset><url><loc>/first-{host}</loc></url>");
    let end = format!("<url><loc>/last-{host}</loc></url></urlset>");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        start.len() + BYTES + end.len()
    );
    out.say(&(head + &start));
    let blanks = vec![b' '; PIECE_BYTES];
    for _ in 0..BYTES / PIECE_BYTES {
        if !out.send(&blanks) {
            return;
        }
    }
    sent.wait();
    out.say(&end);
}

/// All of them at once would take several times the memory.
#[test]
fn only_few_long_sitemaps_are_read_at_once() {
    let sent = Arc::new(Sent::default());
    let serve = |host: usize| {
        let sent = Arc::clone(&sent);
        let address = format!("127.0.0.{host}");
        let port = hostile::serve_at(&address, move |request, out| match request.path.as_str() {
            "/sitemap" => send_sitemap(out, &sent, host),
            "/robots.txt" => out.say("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
            _ => out.say(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\
                 Connection: close\r\n\r\nx",
            ),
        });
        format!("sitemap:http://{address}:{port}/sitemap")
    };
    let seeds: Vec<String> = (1..=HOSTS).map(serve).collect();
    let config = Config {
        delay_ms: 1,
        ip_delay_ms: 0,
        body_bytes_max: 1 << 20,
        sitemap_bytes_max: 32 << 20,
        scope: Scope::Host,
        store: false,
        retries: 0,
        ..Config::default()
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!(report.pages, 2 * HOSTS as u64, "the first and the last of each: {report:?}");
    let most = sent.most.load(Ordering::Relaxed);
    assert!(most <= LONG_MAX, "{most} at a time");
}

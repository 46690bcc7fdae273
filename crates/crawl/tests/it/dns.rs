//! Names by a name server on loopback: lookups, TTLs, names without an address, and names of private addresses.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

use crawl::{Config, Report, Scope};

use crate::hostile;
use crate::support::crawl;

const A: u16 = 1;
const DAY_S: [u8; 4] = 86_400_u32.to_be_bytes();
const AAAA: u16 = 28;

const ALIVE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// An address that does not connect.
const DEAD: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));

/// A name server that knows all names below `test` except `none.test`. The TTL is a second, or a day for
/// `long.test` and for unknown names.
#[derive(Default)]
pub(crate) struct NameServer {
    /// The number of lookups of each name.
    questions: Mutex<BTreeMap<String, usize>>,
}

impl NameServer {
    pub(crate) fn start() -> (Arc<NameServer>, SocketAddr) {
        let server: Arc<NameServer> = Arc::default();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a port");
        let address = socket.local_addr().expect("it is bound");
        let own = Arc::clone(&server);
        thread::spawn(move || {
            let mut bytes = [0; 1500];
            while let Ok((len, from)) = socket.recv_from(&mut bytes) {
                if let Some(answer) = own.answer(&bytes[..len]) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        (server, address)
    }

    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (mut at, mut name) = (12, String::new());
        loop {
            let len = usize::from(*question.get(at)?);
            at += 1;
            if len == 0 {
                break;
            }
            name.push_str(str::from_utf8(question.get(at..at + len)?).ok()?);
            name.push('.');
            at += len;
        }
        let name = name.to_ascii_lowercase();
        let kind = u16::from_be_bytes([*question.get(at)?, *question.get(at + 1)?]);
        let exists = name.ends_with(".test.") && name != "none.test.";
        let is_long = name == "long.test.";
        let addresses: &[IpAddr] = match (name.as_str(), kind) {
            _ if !exists => &[],
            ("two.test.", A) => &[DEAD, ALIVE],
            ("six.test.", A) => &[DEAD],
            ("six.test.", AAAA) => &[IpAddr::V6(Ipv6Addr::LOCALHOST)],
            (_, A) => &[ALIVE],
            _ => &[],
        };
        if kind == A {
            *self.questions.lock().ok()?.entry(name).or_default() += 1;
        }
        let mut answer = question.get(..2)?.to_vec();
        answer.extend([
            0x81,
            if exists { 0x80 } else { 0x83 },
            0,
            1,
            0,
            u8::try_from(addresses.len()).ok()?,
        ]);
        answer.extend([0, u8::from(!exists), 0, 0]);
        answer.extend(question.get(12..at + 4)?);
        for address in addresses {
            let octets = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            answer.extend([0xC0, 12, 0, question[at + 1], 0, 1]);
            answer.extend(if is_long { DAY_S } else { 1_u32.to_be_bytes() });
            answer.push(0);
            answer.push(u8::try_from(octets.len()).ok()?);
            answer.extend(octets);
        }
        if !exists {
            // The SOA record of the root, with the negative TTL.
            answer.extend([0, 0, 6, 0, 1]);
            answer.extend(DAY_S);
            answer.extend([0, 22, 0, 0]);
            answer.extend([[0; 4], DAY_S, DAY_S, DAY_S, DAY_S].concat());
        }
        Some(answer)
    }

    pub(crate) fn times(&self, name: &str) -> usize {
        self.questions.lock().expect("no panic").get(name).copied().unwrap_or(0)
    }
}

fn config(server: SocketAddr, delay_ms: u64) -> Config {
    Config {
        contact: "me@a.example".to_owned(),
        delay_ms,
        ip_delay_ms: 0,
        retry_ms: 5,
        scope: Scope::Any,
        dns_servers: vec![server],
        dns_ttl_s_min: 1,
        ..Config::default()
    }
}

fn check(server: SocketAddr, delay_ms: u64, seed: &str) -> Report {
    run(&config(server, delay_ms), seed)
}

fn run(config: &Config, seed: &str) -> Report {
    let dir = tempfile::tempdir().expect("a temporary folder");
    crawl(dir.path(), config, &[seed.to_owned()]).expect("it runs")
}

/// The smallest and the largest valid value.
#[test]
fn lookups_succeed_at_both_ends_of_every_bound() {
    let (_, server) = NameServer::start();
    let seed = format!("http://a.test:{}/", serve(&[]));
    let ranges = config(server, 5).ranges();
    for range in ranges.iter().filter(|range| range.key.starts_with("dns_")) {
        for value in [range.least, range.most] {
            let value = u64::try_from(value).expect("none is negative");
            let mut config = config(server, 5);
            match range.key {
                "dns_ttl_s_min" => (config.dns_ttl_s_min, config.dns_ttl_s_max) = (value, value),
                "dns_ttl_s_max" => config.dns_ttl_s_max = value,
                "dns_negative_ttl_s_max" => config.dns_negative_ttl_s_max = value,
                "dns_names_max" => config.dns_names_max = value,
                other => panic!("{other} is not tried"),
            }
            assert_eq!(run(&config, &seed).pages, 1, "{} = {value}", range.key);
            let report = run(&config, "http://none.test/");
            assert_eq!(report.failures.get("dns"), Some(&1), "{} = {value}", range.key);
        }
    }
}

/// Starts a server that answers all paths with a page of these links.
pub(crate) fn serve(links: &[&str]) -> u16 {
    let links = hostile::links_to(links);
    hostile::serve(move |request, out| {
        let head = "Connection: close\r\nContent-Type: text/html\r\n";
        match request.path.as_str() {
            "/robots.txt" => out.say(&format!("HTTP/1.1 404 No\r\n{head}\r\n")),
            _ => out.say(&format!("HTTP/1.1 200 OK\r\n{head}\r\n{links}")),
        }
    })
}

#[test]
fn an_address_is_used_only_for_its_ttl() {
    let (names, server) = NameServer::start();
    let port = serve(&["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]);
    let report = check(server, 250, &format!("http://a.test:{port}/"));
    assert_eq!((report.pages, report.requests), (9, 10));
    let times = names.times("a.test.");
    assert!((2..=4).contains(&times), "{times} questions in two and a half seconds");
}

/// Whatever the name server says, the TTL stays within the configured bounds.
#[test]
fn a_ttl_is_kept_within_its_bounds() {
    let (names, server) = NameServer::start();
    let port = serve(&["/1", "/2", "/3", "/4", "/5"]);
    let bounds = |dns_ttl_s_min, dns_ttl_s_max| Config {
        dns_ttl_s_min,
        dns_ttl_s_max,
        ..config(server, 300)
    };
    for (name, config, wanted) in [
        ("long", bounds(1, 86_400), 1..=1),
        ("long", bounds(1, 1), 2..=4),
        ("short", bounds(60, 86_400), 1..=1),
    ] {
        let key = format!("{name}.test.");
        let before = names.times(&key);
        let report = run(&config, &format!("http://{name}.test:{port}/"));
        assert_eq!(report.pages, 6, "{report:?}");
        let times = names.times(&key) - before;
        assert!(wanted.contains(&times), "{name}: {times} questions, not {wanted:?}");
    }
}

/// Two sites of one host share a lookup, and a failed lookup is remembered for a while.
#[test]
fn dns_answers_and_failures_are_cached() {
    let (names, server) = NameServer::start();
    let seeds = [serve(&[]), serve(&[])].map(|port| format!("http://long.test:{port}/"));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report = crawl(dir.path(), &config(server, 5), &seeds).expect("it runs");
    assert_eq!((report.pages, names.times("long.test.")), (2, 1), "{report:?}");
    for (dns_negative_ttl_s_max, wanted) in [(60, 1), (1, 2)] {
        let before = names.times("none.test.");
        let config =
            Config { dns_negative_ttl_s_max, retry_ms: 1_200, retries: 1, ..config(server, 5) };
        let report = run(&config, "http://none.test/");
        assert_eq!(report.failures.get("dns"), Some(&1), "{report:?}");
        assert_eq!(names.times("none.test.") - before, wanted, "{dns_negative_ttl_s_max} s");
    }
}

#[test]
fn a_silent_name_server_obeys_the_connection_timeout() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("loopback has a port");
    let server = silent.local_addr().expect("it is bound");
    let config = Config { connect_timeout_ms: 300, retries: 0, ..config(server, 5) };
    let report = run(&config, "http://a.test/");
    assert_eq!(report.failures.get("dns"), Some(&1), "{report:?}");
    assert!(report.elapsed_ms < 4_000, "{} ms", report.elapsed_ms);
}

#[test]
fn a_name_without_an_address_is_reported() {
    let (names, server) = NameServer::start();
    let report = check(server, 5, "http://none.test/");
    assert_eq!((report.pages, report.requests), (0, 0));
    assert_eq!(report.failures.get("dns"), Some(&1), "{:?}", report.failures);
    assert_eq!(report.aside[0].host, "http://none.test");
    assert_eq!(report.aside[0].why, "dns: there is no such name");
    assert!(names.times("none.test.") > 0);
}

/// The name is a stranger's, the address is ours.
#[test]
fn an_unlisted_name_cannot_reach_a_local_address() {
    let (names, server) = NameServer::start();
    let port = serve(&[]);
    let seed = serve(&[&format!("http://evil.test:{port}/secret")]);
    let report = check(server, 5, &format!("http://127.0.0.1:{seed}/"));
    assert_eq!((report.pages, report.requests), (1, 2));
    assert_eq!(report.failures.get("address"), Some(&1), "{:?}", report.failures);
    assert_eq!(names.times("evil.test."), 1);
}

/// Otherwise a run that is killed before it tries the next address would have used up the attempts.
#[test]
fn a_dead_address_uses_up_no_attempt() {
    let (_, server) = NameServer::start();
    let port = serve(&[]);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { retries: 0, ..config(server, 5) };
    let seeds = [format!("http://two.test:{port}/")];
    let report = crawl(dir.path(), &config, &seeds).expect("it runs");
    assert_eq!((report.pages, report.requests), (1, 3), "{report:?}");
    let archive = archive::Archive::open(&dir.path().join("archive")).expect("it was made");
    let records = archive.records().map(|record| record.expect("whole"));
    let failures: Vec<_> = records.filter_map(|record| crawl::read_failure(&record)).collect();
    assert!(failures.is_empty(), "{failures:?}");
}

/// Starts a server on `::1` with one page; returns its port.
fn serve_six() -> u16 {
    let listener = TcpListener::bind("[::1]:0").expect("loopback has IPv6");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let status = if request.starts_with(b"GET /robots") { "404 No" } else { "200 OK" };
            let head = "Connection: close\r\nContent-Type: text/html";
            let _ = stream.write_all(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n<p>6").as_bytes());
        }
    });
    port
}

#[test]
fn a_dead_address_leads_to_the_next() {
    let (_, server) = NameServer::start();
    let port = serve(&["/1", "/2"]);
    let report = check(server, 5, &format!("http://two.test:{port}/"));
    assert_eq!((report.pages, report.failures.len()), (3, 0), "{:?}", report.failures);
    assert!(report.requests <= 5, "{} requests: the dead one is asked once", report.requests);
    let port = serve_six();
    let report = check(server, 5, &format!("http://six.test:{port}/"));
    assert_eq!((report.pages, report.failures.len()), (1, 0), "{:?}", report.failures);
    let report = check(server, 5, &format!("http://localhost:{port}/"));
    assert_eq!((report.pages, report.failures.len()), (1, 0), "{:?}", report.failures);
    // All of them are dead: that is a failure of the host, retried as often as any other.
    let free = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let report = check(server, 5, &format!("http://two.test:{port}/"));
    assert_eq!((report.pages, report.requests), (0, 6));
    assert_eq!(report.failures.get("connect"), Some(&1), "{:?}", report.failures);
}

/// A seed on this machine does not open other ports of it: not to links, redirects, or redirects of a robots.txt.
#[test]
fn a_local_seed_opens_no_other_port() {
    let (_, server) = NameServer::start();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let secret = hostile::serve(move |request, out| {
        seen.lock().expect("no panic").push(request.path.clone());
        out.say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>secret");
    });
    let seed = hostile::serve(move |request, out| {
        let head = "Connection: close\r\nContent-Type: text/html\r\n";
        let there = format!("http://127.0.0.1:{secret}");
        match request.path.as_str() {
            "/robots.txt" => out.say(&format!("HTTP/1.1 404 No\r\n{head}\r\n")),
            "/away" => out.say(&format!("HTTP/1.1 302 Go\r\nLocation: {there}/2\r\n{head}\r\n")),
            _ => {
                let local = format!("http://localhost:{secret}/3");
                let links = hostile::links_to(&["/away", &format!("{there}/1"), &local]);
                out.say(&format!("HTTP/1.1 200 OK\r\n{head}\r\n{links}"));
            }
        }
    });
    let report = check(server, 5, &format!("http://127.0.0.1:{seed}/"));
    assert_eq!(report.pages, 1);
    assert_eq!(report.failures.get("address"), Some(&2), "{:?}", report.failures);
    let robots = hostile::serve(move |_, out| {
        out.say(&format!(
            "HTTP/1.1 301 Go\r\nLocation: http://127.0.0.1:{secret}/robots.txt\r\n\
             Connection: close\r\n\r\n"
        ));
    });
    let report = check(server, 5, &format!("http://127.0.0.1:{robots}/"));
    assert_eq!((report.pages, report.failures.get("address")), (0, Some(&1)));
    assert_eq!(*asked.lock().expect("no panic"), [""; 0]);
}

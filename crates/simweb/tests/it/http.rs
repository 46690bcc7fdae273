//! The server over real sockets, against the web that it answers for.

use crate::client::{Answer, Client};
use flate2::read::GzDecoder;
use simweb::{Host, Kind, Options, Request, Server, SimwebError};
use std::{
    io::Read as _,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
};

fn start(options: Options) -> Server {
    Server::start(options).expect("loopback has a free port")
}

fn special(server: &Server, kind: Kind) -> (Host, Client) {
    let host = server.web().special(kind).expect("a special host").clone();
    let client = Client::connect(host.address, server.port()).expect("it listens");
    (host, client)
}

fn check_equal(server: &Server, host: &str, path: &str, answer: &Answer) {
    let reply = server.web().respond(&Request::get(host, path));
    assert_eq!(answer.status, reply.status, "{host}{path}");
    assert_eq!(answer.body, reply.body, "{host}{path}");
    for (name, value) in &reply.headers {
        assert_eq!(answer.header(name), Some(value.as_str()), "{host}{path}");
    }
}

#[test]
fn requests_share_a_connection() {
    let server = start(Options::default());
    let host = server.web().hosts()[1].clone();
    let mut client = Client::connect(host.address, server.port()).expect("it listens");
    let mut paths = vec!["/robots.txt".to_owned(), "/nothing".to_owned()];
    let pages = server.web().truth(50).pages;
    let prefix = server.web().url(&host, "");
    paths.extend(pages.iter().filter_map(|page| page.url.strip_prefix(&prefix).map(str::to_owned)));
    assert_eq!(paths.len(), 42);
    for path in &paths {
        let answer = client.get(&host.name, path, "User-Agent: tester/1\r\n");
        check_equal(&server, &host.name, path, &answer);
    }
    let log = server.log();
    let logged: Vec<_> = log.iter().map(|line| line.path.clone()).collect();
    assert_eq!(logged, paths);
    assert!(log.iter().all(|line| line.agent == "tester/1" && line.host == host.name));
    assert!(log.iter().all(|line| line.at_ms <= line.answered_ms));
}

#[test]
fn pipelined_requests_are_answered_in_turn() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Gzip);
    let name = &host.name;
    client.send(&format!(
        "GET /one.html HTTP/1.1\r\nHost: {name}\r\n\r\nHEAD / HTTP/1.1\r\nHost: {name}\r\n\r\n\
         GET http://{name}/two.html HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    ));
    check_equal(&server, name, "/one.html", &client.answer(true));
    let head = client.answer(false);
    let whole = server.web().respond(&Request::get(name, "/"));
    assert_eq!(head.header("Content-Length"), Some(whole.body.len().to_string().as_str()));
    let last = client.answer(true);
    check_equal(&server, name, "/two.html", &last);
    assert_eq!(last.header("Connection"), Some("close"));
    assert_eq!(client.rest(10), b"");
}

#[test]
fn gzip_is_sent_when_asked_for() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Gzip);
    let plain = client.get(&host.name, "/one.html", "");
    assert_eq!(plain.header("Content-Encoding"), None);
    let packed = client.get(&host.name, "/one.html", "Accept-Encoding: gzip\r\n");
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
    assert!(packed.body.len() < plain.body.len());
    let mut body = Vec::new();
    GzDecoder::new(packed.body.as_slice()).read_to_end(&mut body).expect("gzip");
    assert_eq!(body, plain.body);
}

#[test]
fn an_unchanged_page_is_not_sent_again() {
    let server = start(Options::default());
    let host = server.web().hosts()[2].clone();
    let mut client = Client::connect(host.address, server.port()).expect("it listens");
    let page = client.get(&host.name, "/", "");
    let etag = page.header("ETag").expect("an ETag");
    let modified = page.header("Last-Modified").expect("a date");
    for (headers, status) in [
        (format!("If-None-Match: {etag}\r\n"), 304),
        (format!("If-Modified-Since: {modified}\r\n"), 304),
        (format!("If-None-Match: \"no\"\r\nIf-Modified-Since: {modified}\r\n"), 200),
    ] {
        let answer = client.get(&host.name, "/", &headers);
        assert_eq!(answer.status, status, "{headers}");
        assert_eq!(answer.body.is_empty(), status == 304, "{headers}");
    }
    check_equal(&server, &host.name, "/", &client.get(&host.name, "/", ""));
}

#[test]
fn a_truncated_response_ends_early() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Broken);
    client.send(&format!("GET /truncated.html HTTP/1.1\r\nHost: {}\r\n\r\n", host.name));
    assert_eq!(client.head().header("Content-Length"), Some("100000"));
    let body = client.rest(1 << 20);
    assert!((4000..5000).contains(&body.len()), "{} bytes", body.len());
}

#[test]
fn an_endless_response_ends_when_the_client_disconnects() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Broken);
    client.send(&format!("GET /endless.html HTTP/1.1\r\nHost: {}\r\n\r\n", host.name));
    let head = client.head();
    assert_eq!((head.status, head.header("Transfer-Encoding")), (200, Some("chunked")));
    assert_eq!(client.rest(5 << 20).len(), 5 << 20);
    drop(client);
    let mut client = Client::connect(host.address, server.port()).expect("it listens");
    check_equal(&server, &host.name, "/whole.html", &client.get(&host.name, "/whole.html", ""));
    // One more that nobody reads: stopping does not wait for it.
    client.send(&format!("GET /endless.html HTTP/1.1\r\nHost: {}\r\n\r\n", host.name));
    server.stop();
}

#[test]
fn some_requests_get_no_response() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Broken);
    assert_eq!(client.get(&host.name, "/no-answer.html", "").status, 0);
    assert_eq!(server.log().last().map(|line| line.status), Some(0));
}

#[test]
fn a_flaky_page_succeeds_at_the_second_attempt() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Flaky);
    let first = client.get(&host.name, "/at-first/one.html", "");
    assert_eq!((first.status, first.header("Retry-After")), (503, Some("1")));
    assert_eq!(client.get(&host.name, "/at-first/one.html", "").status, 200);
    assert_eq!(client.get(&host.name, "/at-first/two.html", "").status, 503);
    assert_eq!(client.get(&host.name, "/always-500.html", "").status, 500);
    assert_eq!(client.get(&host.name, "/always-500.html", "").status, 500);
}

#[test]
fn random_errors_end_by_the_third_attempt() {
    let server = start(Options { error_rate: 1.0, ..Options::default() });
    let host = server.web().hosts()[1].clone();
    let mut client = Client::connect(host.address, server.port()).expect("it listens");
    let statuses = [(); 4].map(|()| client.get(&host.name, "/", "").status);
    assert_eq!(statuses, [503, 503, 200, 200]);
}

#[test]
fn the_slow_host_delays_its_responses() {
    let server = start(Options::default());
    let (host, mut client) = special(&server, Kind::Slow);
    assert_eq!(client.get(&host.name, "/", "").status, 200);
    let line = server.log().pop().expect("a line");
    assert!(line.answered_ms - line.at_ms >= 300, "{line:?}");
}

#[test]
fn an_invalid_request_is_refused() {
    let server = start(Options::default());
    let connect = || special(&server, Kind::Gzip).1;
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n", "x".repeat(40_000));
    let cases = [
        (long, 431),
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("POST / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 405),
    ];
    for (text, status) in cases {
        let mut client = connect();
        client.send(&text);
        assert_eq!(client.answer(true).status, status);
        assert_eq!(client.rest(10), b"");
    }
    assert!(server.log().is_empty(), "a log of requests only");
}

#[test]
fn a_host_responds_by_address_and_by_name() {
    let server = start(Options::default());
    let (one, two) = (server.web().hosts()[1].clone(), server.web().hosts()[2].clone());
    let mut own = Client::connect(one.address, server.port()).expect("it listens");
    let authority = format!("{}:{}", one.name.to_uppercase(), server.port());
    check_equal(&server, &one.name, "/", &own.get(&authority, "/", ""));
    assert_eq!(own.get(&two.name, "/", "").status, 421);
    let mut shared = Client::connect(Ipv4Addr::LOCALHOST, server.port()).expect("it listens");
    for host in [&one, &two] {
        check_equal(&server, &host.name, "/", &shared.get(&host.name, "/", ""));
    }
    assert_eq!(shared.get("nobody.localhost", "/", "").status, 421);
    let dead = server.web().special(Kind::Dead).expect("a special host");
    assert_eq!(dead.address, Ipv4Addr::new(127, 0, 0, 2));
    assert!(TcpStream::connect(SocketAddr::from((dead.address, server.port()))).is_err());
}

#[test]
fn a_port_in_use_is_reported() {
    let blocked = Ipv4Addr::new(127, 0, 1, 3);
    let blocker = TcpListener::bind((blocked, 0)).expect("loopback");
    let taken = blocker.local_addr().expect("bound");
    let options = Options { port: taken.port(), ..Options::default() };
    let error = Server::start(options.clone()).expect_err("somebody else listens there");
    match &error {
        SimwebError::Listen { address, .. } => assert_eq!(*address, taken),
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
    drop(blocker);
    // Nothing of the failed start is left, nor of a server that was stopped.
    let server = start(options.clone());
    assert_eq!(server.port(), taken.port());
    assert!(Server::start(options.clone()).is_err());
    let mut client = Client::connect(blocked, server.port()).expect("it listens");
    assert_eq!(client.get(&server.web().hosts()[2].name, "/", "").status, 200);
    server.stop();
    assert!(TcpStream::connect((blocked, taken.port())).is_err());
    assert_eq!(start(options).port(), taken.port());
}

#[test]
fn a_server_may_be_dropped_inside_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let server = start(Options::default());
        assert!(server.port() > 0);
        assert!(Server::start(Options { port: server.port(), ..Options::default() }).is_err());
    });
}

#[test]
fn the_server_listens_on_hundreds_of_addresses() {
    let options = Options { hosts: 700, addresses: 700, pages_per_host: 2, ..Options::default() };
    let server = start(options);
    assert_eq!(server.web().addresses().len(), 700 + 1);
    for host in server.web().hosts().iter().filter(|host| host.kind != Kind::Dead) {
        let mut client = Client::connect(host.address, server.port()).expect("it listens");
        assert!(client.get(&host.name, "/", "").status == 200, "{}", host.name);
    }
}

#[test]
fn the_log_has_a_limit() {
    let server = start(Options { log_lines_max: 2, ..Options::default() });
    let (host, mut client) = special(&server, Kind::Gzip);
    for _ in 0..5 {
        client.get(&host.name, "/", "");
    }
    assert_eq!((server.log().len(), server.log_dropped()), (2, 3));
}

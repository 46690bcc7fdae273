//! Connections left open by other clients, and requests for other hosts.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::site::{Site, numbered};

fn small() -> Site {
    Site::serve(&[numbered(1)])
}

/// Returns whether the server closes the connection while its client waits.
fn is_closed(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let read = client.read(&mut [0; 1]);
    read.map_or_else(
        |error| error.kind() == std::io::ErrorKind::ConnectionReset,
        |bytes| bytes == 0,
    )
}

#[test]
fn a_new_connection_is_served_despite_idle_ones() {
    let site = small();
    let mut idle: Vec<TcpStream> = (0..300).map(|_| site.connect()).collect();
    assert_eq!(site.get("/style.css").status, 200);
    assert!(idle[..40].iter_mut().all(is_closed), "the oldest give way");
    let newest = idle.last_mut().expect("a connection");
    newest.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut status = [0; 15];
    newest.read_exact(&mut status).expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 200 OK");
}

#[test]
fn connections_are_closed_when_slots_run_out() {
    let site = small();
    let request = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let idle: Vec<TcpStream> = (0..200).map(|_| site.connect()).collect();
    // The answer is read to the end of the connection.
    let answer = site.send(&request.repeat(50));
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("connection: close"), "{}", answer.head);
    assert_eq!(answer.body.matches("HTTP/1.1").count(), 0, "only one request is answered");
    drop(idle);
}

#[test]
fn a_request_for_another_host_is_refused() {
    let site = small();
    let answer = |host: &str, path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        site.send(request.as_bytes())
    };
    for path in
        ["/search?q=shared", "/opensearch.xml", "/cached?url=http://numbers.test/1", "/health"]
    {
        let refused = answer("Host: attacker.example\r\n", path);
        assert_eq!(refused.status, 421, "{path}");
        assert!(refused.body.contains("`hosts` under [serve]"), "{path}: {}", refused.body);
        assert!(refused.head.contains("content-security-policy"), "{}", refused.head);
        assert_eq!(answer("", path).status, 400, "{path}");
    }
    let refused = answer(
        "Host: attacker.example\r\nOrigin: http://attacker.example\r\n",
        "/api/search?q=shared",
    );
    assert_eq!(refused.status, 421);
    assert!(refused.body.starts_with("{\"error\":"), "{}", refused.body);
    let described = answer("Host: LocalHost:7700\r\n", "/opensearch.xml");
    assert!(described.body.contains("http://LocalHost:7700/search"), "{}", described.body);
    let old = site.send(b"GET /opensearch.xml HTTP/1.0\r\n\r\n");
    assert!(old.body.contains("template=\"http://127.0.0.1:"), "{}", old.body);
}

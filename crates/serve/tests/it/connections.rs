//! Connections that other clients leave open.

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
fn a_new_connection_is_served_whatever_idle_ones_there_are() {
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
fn connections_are_not_kept_open_when_places_run_out() {
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

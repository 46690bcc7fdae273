//! One connection: HTTP/1.1 as far as a crawler needs it.
//!
//! What lives here: reading request heads one after another, with limits, and writing answers.
//! Pipelined requests are answered in turn. What does not: request bodies. The answer to a request
//! with a body is 400, and the connection closes.
//!
//! **Invariant.** A connection holds at most [`HEAD_BYTES_MAX`] bytes of requests and one answer,
//! and every wait for the client has an end.
//!
//! RFC 9112, "HTTP/1.1", 2022.

use crate::{Conduct, LogLine, Reply, Request, server::Shared};
use std::{
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

/// Longest head of a request, and most bytes read ahead.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// The longest time that a connection may be idle, or that a head may take.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time that a client may read nothing of an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// An endless body ends after this length, which no real client reads.
const ENDLESS_BYTES_MAX: usize = 1 << 30;

/// Answers the requests of a connection until it closes.
pub(crate) async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let IpAddr::V4(local) = stream.local_addr()?.ip() else { return Ok(()) };
    let mut input = Vec::with_capacity(1024);
    let mut output = Vec::new();
    loop {
        let end = match timeout(READ_TIMEOUT, read_head(&mut stream, &mut input)).await?? {
            HeadRead::Whole(end) => end,
            HeadRead::TooLong => return refuse(&mut stream, 431).await,
            HeadRead::Closed => return Ok(()),
        };
        let at_ms = shared.now_ms();
        let head = match Head::parse(&input[..end]) {
            Ok(head) => head,
            Err(status) => return refuse(&mut stream, status).await,
        };
        let close = head.close;
        let reply = respond(shared, local, &head);
        if reply.delay_ms > 0 {
            sleep(Duration::from_millis(reply.delay_ms)).await;
        }
        shared.log.push(|| LogLine {
            at_ms,
            answered_ms: shared.now_ms(),
            host: name_of(head.host).to_ascii_lowercase(),
            path: head.path.to_owned(),
            status: reply.status,
            agent: head.agent.to_owned(),
        });
        let open = write_reply(&mut stream, &reply, head.wants_body, close, &mut output).await?;
        if !open {
            return Ok(());
        }
        input.drain(..end);
    }
}

/// The answer of the web, if this address is one of the host's.
fn respond(shared: &Shared, local: Ipv4Addr, head: &Head<'_>) -> Reply {
    let here = shared.web.host(head.host).is_some_and(|host| host.address == local);
    if !here && local != Ipv4Addr::LOCALHOST {
        return Reply::status(421);
    }
    let host = name_of(head.host);
    let request = Request {
        host,
        path: head.path,
        gzip: head.gzip,
        if_none_match: head.if_none_match,
        if_modified_since: head.if_modified_since,
        attempt: shared.attempt(host, head.path),
    };
    let reply = shared.web.respond(&request);
    if reply.status == 0 || reply.status >= 500 {
        shared.add_failure(host, head.path);
    }
    reply
}

fn name_of(authority: &str) -> &str {
    authority.split(':').next().unwrap_or_default()
}

enum HeadRead {
    /// A head ends at this byte of the input.
    Whole(usize),
    TooLong,
    Closed,
}

/// Reads until a whole head is there; it may be there already.
async fn read_head(stream: &mut TcpStream, input: &mut Vec<u8>) -> io::Result<HeadRead> {
    let mut searched = 0;
    loop {
        if let Some(end) = head_end(input, searched) {
            return Ok(HeadRead::Whole(end));
        }
        if input.len() >= HEAD_BYTES_MAX {
            return Ok(HeadRead::TooLong);
        }
        searched = input.len().saturating_sub(3);
        let room = HEAD_BYTES_MAX - input.len();
        if (&mut *stream).take(u64::try_from(room).expect("a few")).read_buf(input).await? == 0 {
            return Ok(HeadRead::Closed);
        }
    }
}

/// The end of the first head that ends after `from`.
fn head_end(input: &[u8], from: usize) -> Option<usize> {
    let place = input[from..].windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    Some(from + place + 4)
}

/// Writes an answer; says whether the connection stays open.
async fn write_reply(
    stream: &mut TcpStream,
    reply: &Reply,
    body: bool,
    close: bool,
    output: &mut Vec<u8>,
) -> io::Result<bool> {
    output.clear();
    match reply.conduct {
        Conduct::Whole => {
            reply.encode(output, body, close);
            write_timed(stream, output).await?;
            Ok(!close)
        }
        Conduct::Truncated { .. } => {
            reply.encode(output, body, close);
            write_timed(stream, output).await?;
            stream.shutdown().await?;
            Ok(false)
        }
        Conduct::Endless => {
            reply.encode(output, body, close);
            write_timed(stream, output).await?;
            if !body {
                return Ok(!close);
            }
            output.clear();
            write!(output, "{:x}\r\n", reply.body.len())?;
            output.extend_from_slice(&reply.body);
            output.extend_from_slice(b"\r\n");
            for _ in 0..ENDLESS_BYTES_MAX / output.len() {
                write_timed(stream, output).await?;
            }
            Ok(false)
        }
        Conduct::Silent => Ok(false),
    }
}

async fn write_timed(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = timeout(WRITE_TIMEOUT, stream.write(bytes)).await??;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Answers an invalid request, and closes the connection.
async fn refuse(stream: &mut TcpStream, status: u16) -> io::Result<()> {
    let mut output = Vec::new();
    Reply::status(status).encode(&mut output, true, true);
    write_timed(stream, &output).await?;
    stream.shutdown().await?;
    // Reads the rest of the request for a while, since a reset could destroy the answer.
    let mut rest = [0; 4096];
    for _ in 0..64 {
        match timeout(Duration::from_secs(1), stream.read(&mut rest)).await {
            Ok(Ok(1..)) => {}
            _ => break,
        }
    }
    Ok(())
}

/// The head of a request, as far as it is looked at.
#[derive(Debug, PartialEq, Eq)]
struct Head<'a> {
    wants_body: bool,
    host: &'a str,
    path: &'a str,
    close: bool,
    gzip: bool,
    if_none_match: Option<&'a str>,
    if_modified_since: Option<&'a str>,
    agent: &'a str,
}

impl<'a> Head<'a> {
    /// The head, or the status that refuses it.
    fn parse(bytes: &'a [u8]) -> Result<Self, u16> {
        let text = std::str::from_utf8(bytes).map_err(|_| 400_u16)?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(400);
        };
        let (authority, path) = split_target(target).ok_or(400_u16)?;
        let mut head = Head {
            wants_body: method != "HEAD",
            host: "",
            path,
            close: match version {
                "HTTP/1.1" => false,
                "HTTP/1.0" => true,
                _ => return Err(400),
            },
            gzip: false,
            if_none_match: None,
            if_modified_since: None,
            agent: "",
        };
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(400_u16)?;
            head.take(name, value.trim_matches([' ', '\t']))?;
        }
        if !matches!(method, "GET" | "HEAD") {
            return Err(405);
        }
        head.host = authority.unwrap_or(head.host);
        if head.host.is_empty() { Err(400) } else { Ok(head) }
    }

    fn take(&mut self, name: &str, value: &'a str) -> Result<(), u16> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("Host") {
            if !self.host.is_empty() {
                return Err(400);
            }
            self.host = value;
        } else if is("Connection") {
            let mut words = value.split(',').map(str::trim);
            self.close |= words.any(|word| word.eq_ignore_ascii_case("close"));
        } else if is("Accept-Encoding") {
            self.gzip |= takes_gzip(value);
        } else if is("If-None-Match") {
            self.if_none_match = Some(value);
        } else if is("If-Modified-Since") {
            self.if_modified_since = Some(value);
        } else if is("User-Agent") {
            self.agent = value;
        } else if is("Transfer-Encoding") || is("Content-Length") && value != "0" {
            return Err(400);
        }
        Ok(())
    }
}

/// Authority, if given, and path of a request target.
fn split_target(target: &str) -> Option<(Option<&str>, &str)> {
    if target.starts_with('/') {
        return Some((None, target));
    }
    let rest = target.strip_prefix("http://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let path = if end == rest.len() { "/" } else { &rest[end..] };
    Some((Some(&rest[..end]), path))
}

/// Returns whether an Accept-Encoding has gzip with a weight above zero.
fn takes_gzip(value: &str) -> bool {
    value.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let mut weights = parts.filter_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        name.eq_ignore_ascii_case("gzip") && weights.all(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Head<'_>, u16> {
        Head::parse(text.as_bytes())
    }

    #[test]
    fn a_request_head_is_parsed() {
        let head = parse(
            "GET /a?b HTTP/1.1\r\nhost: X.localhost:80\r\nACCEPT-ENCODING: br, gzip;q=0.5\r\n\
             If-None-Match: \"e\"\r\nConnection: Close\r\nUser-Agent:  one two \r\n\r\n",
        );
        let expected = Head {
            wants_body: true,
            host: "X.localhost:80",
            path: "/a?b",
            close: true,
            gzip: true,
            if_none_match: Some("\"e\""),
            if_modified_since: None,
            agent: "one two",
        };
        assert_eq!(head, Ok(expected));
    }

    #[test]
    fn the_target_may_be_a_url() {
        let head = parse("HEAD http://a.localhost:1/x HTTP/1.0\r\nHost: b\r\n\r\n").expect("fine");
        assert_eq!((head.host, head.path), ("a.localhost:1", "/x"));
        assert!(!head.wants_body && head.close);
    }

    #[test]
    fn an_invalid_request_is_refused() {
        let cases = [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/2\r\nHost: a\r\n\r\n", 400),
            ("GET /\r\nHost: a\r\n\r\n", 400),
            ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 400),
            ("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ];
        for (text, status) in cases {
            assert_eq!(parse(text), Err(status), "{text:?}");
        }
        assert_eq!(Head::parse(b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n"), Err(400));
    }

    #[test]
    fn gzip_with_weight_zero_is_not_accepted() {
        for (value, takes) in
            [("gzip", true), ("br;q=1, GZIP", true), ("gzip;q=0", false), ("", false)]
        {
            assert_eq!(takes_gzip(value), takes, "{value:?}");
        }
    }

    #[test]
    fn a_head_ends_at_the_empty_line() {
        assert_eq!(head_end(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", 0), Some(27));
        assert_eq!(head_end(b"GET / HTTP/1.1\r\nHost: a\r\n", 0), None);
    }
}

//! A client that does one thing at a time: connect, send, read an answer by its Content-Length.
//!
//! **Invariant.** It takes nothing from the crate but addresses, so that both cannot be wrong alike.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

/// An answer as it came.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A connection.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: Ipv4Addr, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(SocketAddr::from((address, port)))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.reader.get_mut().write_all(text.as_bytes()).expect("the server reads");
    }

    /// Sends a GET with further header lines, each ended by CRLF.
    pub(crate) fn get(&mut self, host: &str, path: &str, headers: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"));
        self.answer(true)
    }

    /// Reads an answer; status 0 if the connection closes instead.
    pub(crate) fn answer(&mut self, body: bool) -> Answer {
        let mut answer = self.head();
        if body && answer.status != 304 && answer.status != 0 {
            let length = answer.header("Content-Length").expect("a length");
            let length = length.parse().expect("a number");
            self.reader.by_ref().take(length).read_to_end(&mut answer.body).expect("a body");
        }
        answer
    }

    pub(crate) fn head(&mut self) -> Answer {
        let mut answer = Answer::default();
        let Some(status_line) = self.line() else { return answer };
        let status = status_line.split(' ').nth(1).expect("a status line");
        answer.status = status.parse().expect("a status");
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").expect("a header");
            answer.headers.push((name.to_owned(), value.to_owned()));
        }
        answer
    }

    /// The bytes until the server closes, at most `bytes_max`.
    pub(crate) fn rest(&mut self, bytes_max: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A reset is an end too.
        let _ = self.reader.by_ref().take(bytes_max).read_to_end(&mut bytes);
        bytes
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(1..) => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }
}

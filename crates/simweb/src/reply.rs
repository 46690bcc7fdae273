//! A request as far as this web looks at it, and a reply before it is bytes.
//!
//! **Invariant.** A reply depends on the request and on the web, and on nothing else.

use std::io::Write as _;

/// A request, reduced to what an answer can depend on.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Name of the host, with or without a port.
    pub host: &'a str,
    /// Path and query, as sent.
    pub path: &'a str,
    /// Whether the client takes gzip.
    pub gzip: bool,
    /// The value of If-None-Match.
    pub if_none_match: Option<&'a str>,
    /// The value of If-Modified-Since.
    pub if_modified_since: Option<&'a str>,
    /// How many requests for this URL have failed before.
    pub attempt: u32,
}

impl<'a> Request<'a> {
    /// A plain first request.
    pub fn get(host: &'a str, path: &'a str) -> Self {
        Self { host, path, gzip: false, if_none_match: None, if_modified_since: None, attempt: 0 }
    }
}

/// How an answer goes over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conduct {
    /// Head and body, as it should be.
    Whole,
    /// A body shorter than its declared length, then the connection closes.
    Truncated {
        /// The value of Content-Length.
        declared_bytes: usize,
    },
    /// The body again and again as chunks, until the client hangs up.
    Endless,
    /// The connection closes without a byte.
    Silent,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status code; 0 if nothing is answered.
    pub status: u16,
    /// Headers, but for those of the framing.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How long the answer takes.
    pub delay_ms: u64,
    /// How it goes over the wire.
    pub conduct: Conduct,
}

impl Reply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Bytes of all headers together.
    pub(crate) fn header_bytes(&self) -> usize {
        self.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum()
    }

    pub(crate) fn ok(content_type: &str, body: Vec<u8>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Self { status: 200, headers, body, delay_ms: 0, conduct: Conduct::Whole }
    }

    /// A status with a line of text.
    pub(crate) fn status(status: u16) -> Self {
        let body = format!("{status} {}\n", reason(status)).into_bytes();
        Self { status, ..Self::ok("text/plain; charset=utf-8", body) }
    }

    /// No answer at all.
    pub(crate) fn silence() -> Self {
        Self {
            status: 0,
            headers: Vec::new(),
            body: Vec::new(),
            delay_ms: 0,
            conduct: Conduct::Silent,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds the validators, and drops the body if the client has it already.
    pub(crate) fn validated(self, request: &Request<'_>, etag: &str, modified: &str) -> Self {
        let unchanged = match request.if_none_match {
            Some(known) => known.split(',').any(|tag| {
                let tag = tag.trim();
                tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
            }),
            None => request.if_modified_since.is_some_and(|date| date.trim() == modified),
        };
        let mut reply = self.with("ETag", etag).with("Last-Modified", modified);
        if unchanged && reply.status == 200 {
            reply.status = 304;
            reply.body.clear();
        }
        reply
    }

    /// Appends status line, headers and body to `out`. `body` is false for HEAD.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, body: bool, close: bool) {
        out.reserve(self.body.len() + 256);
        let _ = write!(out, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            let _ = write!(out, "{name}: {value}\r\n");
        }
        let _ = match self.conduct {
            Conduct::Endless => write!(out, "Transfer-Encoding: chunked\r\n"),
            Conduct::Truncated { declared_bytes } => {
                write!(out, "Content-Length: {declared_bytes}\r\n")
            }
            Conduct::Whole | Conduct::Silent if self.status == 304 => Ok(()),
            Conduct::Whole | Conduct::Silent => {
                write!(out, "Content-Length: {}\r\n", self.body.len())
            }
        };
        out.extend_from_slice(if close { b"Connection: close\r\n\r\n" } else { b"\r\n" });
        if body && self.conduct != Conduct::Endless {
            out.extend_from_slice(&self.body);
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_modified_has_no_body_and_keeps_its_validators() {
        let page = Reply::ok("text/html", b"page".to_vec());
        for (tag, status) in [("\"a\"", 200), ("\"b\"", 304), ("\"a\", W/\"b\"", 304), ("*", 304)] {
            let request = Request { if_none_match: Some(tag), ..Request::get("a", "/") };
            let reply = page.clone().validated(&request, "\"b\"", "then");
            assert_eq!(reply.status, status, "If-None-Match: {tag}");
            assert_eq!(reply.body.is_empty(), status == 304);
            assert_eq!(reply.header("etag"), Some("\"b\""));
        }
    }
}

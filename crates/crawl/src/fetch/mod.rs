//! Fetching: one request, one answer or one failure.
//!
//! What lives here: [`Fetcher`], the HTTP client with its timeouts and limits.
//!
//! - `dns.rs` resolves names, `connect.rs` opens connections, `trust.rs` has the trusted certificates.
//! - `body.rs` reads bodies, `first_byte.rs` counts received bytes, `pool.rs` keeps idle connections.
//! - `credentials.rs` and `cookies.rs` add secrets to a request, `config_files.rs` reads the files that the configuration
//!   names.
//!
//! What does not: when, where and why to fetch, and what becomes of an answer.
//!
//! **Invariant.** A visit ends within the sum of its timeouts, except for waits for descriptors. It holds at most
//! `head_bytes_max` of head and `body_bytes_max` of body in memory, or `sitemap_bytes_max` of a sitemap with a
//! permit for a long one. A visit is one request; a second one is sent only if the first never left this machine.
//! A request on a kept connection that was being closed counts as refused unprocessed. A body that breaks off is
//! an error. A connection goes only to the address that the visit names.

mod body;
mod config_files;
mod connect;
mod cookies;
mod credentials;
mod dns;
mod first_byte;
mod pool;
mod trust;

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveError, HttpResponse};
use bytes::Bytes;
use h2::Reason;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::http::response::Parts;
use hyper::{Request, Response, StatusCode, Uri, Version};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::answer::Purpose;
use crate::clock::{Clock, Moment};
use crate::config::Config;
use crate::descriptors::Patience;
use crate::error::CrawlError;
use crate::outcome::{Failure, FailureKind, Task, Visit};
use crate::recrawl::Earlier;
use crate::robots;
use crate::site::Site;
use crate::sitemap::{self, Sitemap};

use body::{Body, Room};
use connect::{Connector, Sender};
pub(crate) use credentials::Credentials;
pub use credentials::unsent_credentials;
use dns::DnsResolver;
use pool::Pool;

/// The accepted types: pages before anything else.
pub(crate) const ACCEPTED: &str = "text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.1";

/// The only content coding that is decoded here.
pub(crate) const CODING: &str = "gzip";

/// The answer of a server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status_line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the body was longer than the limit.
    pub(crate) is_truncated: bool,
    /// Whether it came over HTTP/2.
    pub(crate) is_http2: bool,
    /// Time from the date of its record to the answer.
    pub(crate) took_ms: u32,
    /// Headers of the request with secret values.
    pub(crate) secrets: Vec<HeaderName>,
    #[expect(dead_code, reason = "it is given back when the answer is dropped")]
    room: Option<OwnedSemaphorePermit>,
}

impl Answer {
    /// Returns the header fields as received.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// Returns the answer as it will be read from the archive.
    pub(crate) fn http(&self) -> Result<HttpResponse<'_>, ArchiveError> {
        archive::http_response(&self.status_line, self.fields(), &self.body)
    }

    /// Returns the status; 0 if the line has none.
    pub(crate) fn status(&self) -> u16 {
        let status = self.status_line.split(' ').nth(1);
        status.and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    fn truncate(&mut self, bytes_max: usize) {
        self.is_truncated |= self.body.len() > bytes_max;
        self.body.truncate(bytes_max);
    }
}

/// The result of a visit.
#[derive(Debug)]
pub(crate) enum FetchResult {
    Addresses {
        addresses: Vec<IpAddr>,
        until_ms: u64,
    },
    /// An answer to a conditional request that leaves open what the page is now.
    Inconclusive(Answer),
    /// A 304 to an unconditional request.
    Uncalled(Answer),
    Answer(Answer),
}

impl FetchResult {
    fn having_taken(mut self, ms: u64) -> FetchResult {
        match &mut self {
            FetchResult::Addresses { .. } => {}
            FetchResult::Inconclusive(answer)
            | FetchResult::Uncalled(answer)
            | FetchResult::Answer(answer) => {
                answer.took_ms = u32::try_from(ms).unwrap_or(u32::MAX);
            }
        }
        self
    }
}

/// A visit that is over.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) visit: Visit,
    pub(crate) finished_ms: u64,
    pub(crate) date: Moment,
    /// The capture that an answer is compared with.
    pub(crate) earlier: Option<Earlier>,
    pub(crate) result: Result<FetchResult, Failure>,
}

/// Why a visit has no answer.
#[derive(Debug)]
enum NoAnswer {
    /// The visit failed.
    Failure(Failure),
    /// This machine has no free descriptor; nothing was sent.
    NoDescriptor(io::Error),
}

/// The part of a failed request that the server has processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Perhaps,
    /// Nothing: the connection was closed before.
    Not,
    /// Nothing: the server says so.
    Refused(Reason),
}

impl Seen {
    /// Classifies a failure. By RFC 9113, §8.7, a stream with the error `REFUSED_STREAM` is unprocessed, and so
    /// are streams after the last one named by GOAWAY. §9.3.1 is about servers that require HTTP/1.1.
    fn tell(is_unsent: bool, error: &hyper::Error) -> Seen {
        let cause = error.source().and_then(|cause| cause.downcast_ref::<h2::Error>());
        match cause.filter(|cause| cause.is_remote()).and_then(h2::Error::reason) {
            Some(reason @ (Reason::REFUSED_STREAM | Reason::HTTP_1_1_REQUIRED)) => {
                Seen::Refused(reason)
            }
            Some(reason @ Reason::NO_ERROR) if cause.is_some_and(h2::Error::is_go_away) => {
                Seen::Refused(reason)
            }
            _ if is_unsent => Seen::Not,
            _ => Seen::Perhaps,
        }
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> NoAnswer {
        NoAnswer::Failure(failure)
    }
}

pub(crate) struct Fetcher {
    clock: Arc<dyn Clock>,
    user_agent: HeaderValue,
    names: DnsResolver,
    connector: Connector,
    credentials: Credentials,
    pool: Pool,
    room: Room,
    connect_timeout: Duration,
    head_timeout: Duration,
    body_timeout: Duration,
    body_bytes_max: usize,
    sitemap_bytes_max: usize,
}

impl Fetcher {
    /// Creates a client that keeps at most `idle_max` idle connections.
    pub(crate) fn new(
        config: &Config,
        idle_max: usize,
        clock: Arc<dyn Clock>,
    ) -> Result<Fetcher, CrawlError> {
        let user_agent = HeaderValue::from_str(&config.user_agent_header())
            .map_err(|error| CrawlError::Config { key: "user_agent", why: error.to_string() })?;
        Ok(Fetcher {
            clock,
            user_agent,
            names: DnsResolver::new(config),
            connector: Connector::new(config)?,
            credentials: Credentials::new(config)?,
            pool: Pool::new(idle_max),
            room: Room::new(),
            connect_timeout: Duration::from_millis(config.connect_timeout_ms),
            head_timeout: Duration::from_millis(config.timeout_ms),
            body_timeout: Duration::from_millis(config.body_timeout_ms),
            body_bytes_max: config.body_bytes_max,
            sitemap_bytes_max: config.sitemap_bytes_max,
        })
    }

    /// Makes a visit. Waits if this machine has no free descriptor; returns an error if waiting does not help.
    pub(crate) async fn visit(
        &self,
        visit: Visit,
        earlier: Option<Earlier>,
    ) -> Result<Fetched, CrawlError> {
        let mut patience = Patience::default();
        loop {
            let (date, begun_ms) = (self.clock.date(), self.clock.now_ms());
            let caught = match (&visit.task, visit.address) {
                (Task::Resolve, _) | (_, None) => self.resolve(&visit.site).await,
                (_, Some(address)) => self.get(&visit, address, earlier.as_ref()).await,
            };
            let finished_ms = self.clock.over_ms();
            let took_ms = finished_ms.saturating_sub(begun_ms);
            let result = match caught {
                Ok(catch) => Ok(catch.having_taken(took_ms)),
                Err(NoAnswer::Failure(failure)) => Err(failure),
                Err(NoAnswer::NoDescriptor(source)) => {
                    self.pool.clear();
                    patience.wait(source).await?;
                    continue;
                }
            };
            return Ok(Fetched { visit, finished_ms, date, earlier, result });
        }
    }

    async fn resolve(&self, site: &Site) -> Result<FetchResult, NoAnswer> {
        let (addresses, ttl) = self.names.resolve(site.host()).await?;
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        Ok(FetchResult::Addresses {
            addresses,
            until_ms: self.clock.now_ms().saturating_add(ttl_ms),
        })
    }

    async fn get(
        &self,
        visit: &Visit,
        address: IpAddr,
        earlier: Option<&Earlier>,
    ) -> Result<FetchResult, NoAnswer> {
        let pooled = self.pool.take(visit.site.key(), address, self.clock.now_ms());
        let mut is_fresh = pooled.is_none();
        let mut sender = match pooled {
            Some(sender) => sender,
            None => self.open(&visit.site, address).await?,
        };
        loop {
            let (request, secrets) = self.request(visit, sender.is_http2(), earlier)?;
            let heard = sender.heard();
            match self.send(&mut sender, request).await {
                Ok(response) => {
                    let answer = self.receive(visit, sender, response, secrets).await?;
                    return Ok(called_for(answer, visit, earlier));
                }
                // The connection was closed before it took the request.
                Err((Seen::Not, _)) if !is_fresh => {}
                // The frontier decides when to retry.
                Err((Seen::Refused(reason), failure)) => {
                    if reason == Reason::HTTP_1_1_REQUIRED {
                        self.connector.without_http2(&visit.site);
                    }
                    return Err(Failure { kind: FailureKind::Refused, ..failure }.into());
                }
                Err((_, failure)) => {
                    let is_closed = failure.kind == FailureKind::Protocol;
                    let is_unheard = heard.is_some() && sender.heard() == heard;
                    let is_unseen = is_closed && is_unheard && !is_fresh;
                    let kind = if is_unseen { FailureKind::Refused } else { failure.kind };
                    return Err(Failure { kind, ..failure }.into());
                }
            }
            drop(sender);
            sender = self.open(&visit.site, address).await?;
            is_fresh = true;
        }
    }

    async fn open(&self, site: &Site, address: IpAddr) -> Result<Sender, NoAnswer> {
        timeout(self.connect_timeout, self.connector.connect(site, address))
            .await
            .map_err(|_| Failure::new(FailureKind::Connect, "no connection in time"))?
    }

    /// Creates the request; also returns the names of its secret headers.
    fn request(
        &self,
        visit: &Visit,
        is_http2: bool,
        earlier: Option<&Earlier>,
    ) -> Result<(Request<Empty<Bytes>>, Vec<HeaderName>), Failure> {
        let unusable = |error: &dyn Error| Failure::new(FailureKind::Protocol, error);
        // An HTTP/2 request has scheme and authority beside the path, and no `Connection` header.
        let uri: Result<Uri, _> =
            if is_http2 { visit.url().parse() } else { visit.page.path.parse() };
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = uri.map_err(|error| unusable(&error))?;
        let headers = request.headers_mut();
        if let Some((name, value)) = earlier.and_then(Earlier::condition) {
            headers.insert(name, value.clone());
        }
        if !is_http2 {
            let host = HeaderValue::from_str(visit.site.authority());
            headers.insert(HOST, host.map_err(|error| unusable(&error))?);
        }
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(CODING));
        if !visit.keep_alive && !is_http2 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let (path, now_s) = (&visit.page.path, self.clock.unix_s());
        let secrets = self.credentials.add(&visit.site, path, now_s, headers);
        Ok((request, secrets))
    }

    /// Sends a request; a failure says what the server has processed of it.
    async fn send(
        &self,
        sender: &mut Sender,
        request: Request<Empty<Bytes>>,
    ) -> Result<Response<Incoming>, (Seen, Failure)> {
        match timeout(self.head_timeout, sender.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(mut error)) => {
                let is_unsent = error.take_message().is_some();
                let error = error.into_error();
                Err((Seen::tell(is_unsent, &error), protocol(&error)))
            }
            Err(_) => Err((Seen::Perhaps, Failure::new(FailureKind::Timeout, "no answer in time"))),
        }
    }

    async fn receive(
        &self,
        visit: &Visit,
        sender: Sender,
        response: Response<Incoming>,
        secrets: Vec<HeaderName>,
    ) -> Result<Answer, Failure> {
        let status_line = status_line(&response);
        let is_http2 = sender.is_http2();
        let (head, incoming) = response.into_parts();
        let is_bodiless = matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let mut body = Body::new(incoming, is_bodiless, is_http2);
        let is_robots = visit.purpose() == Purpose::Robots;
        let bytes_max = if is_robots { robots::BYTES_MAX } else { self.body_bytes_max };
        let mut until = Instant::now() + self.body_timeout;
        let mut is_truncated = read(&mut body, bytes_max, until).await?;
        // A site may name any URL as a sitemap.
        let is_sitemap =
            visit.purpose() == Purpose::Sitemap && is_sitemap(&head, &status_line, body.so_far());
        let mut room = None;
        if is_truncated && is_sitemap && self.sitemap_bytes_max > bytes_max {
            let waiting = Instant::now();
            room = Some(self.room.take(self.body_timeout).await?);
            until += waiting.elapsed();
            is_truncated = read(&mut body, self.sitemap_bytes_max, until).await?;
        }
        if is_truncated && !is_sitemap && !is_robots {
            let detail = format!("the body is longer than {bytes_max} bytes");
            return Err(Failure::new(FailureKind::TooLarge, detail));
        }
        let (headers, body) = (head.headers, body.into_bytes());
        let mut answer = Answer {
            status_line,
            headers,
            body,
            is_truncated,
            is_http2,
            took_ms: 0,
            secrets,
            room,
        };
        if is_sitemap {
            answer.truncate(self.sitemap_bytes_max);
        }
        // Status 421 (misdirected) means that the connection does not fit the request.
        let is_kept =
            visit.keep_alive && !is_truncated && head.status != StatusCode::MISDIRECTED_REQUEST;
        if let Some(address) = visit.address.filter(|_| is_kept) {
            self.pool.give(visit.site.key(), address, sender, self.clock.now_ms());
        }
        Ok(answer)
    }
}

/// Reads a body up to a limit; returns whether there is more.
async fn read(body: &mut Body, bytes_max: usize, until: Instant) -> Result<bool, Failure> {
    let late = |_| Failure::new(FailureKind::Timeout, "the body does not end in time");
    timeout_at(until, body.read(bytes_max)).await.map_err(late)?
}

/// Returns whether an answer is a sitemap, which has its own limit.
fn is_sitemap(head: &Parts, status_line: &str, body: &[u8]) -> bool {
    let fields = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let http = archive::http_response(status_line, fields, body);
    let start = http.and_then(|http| http.decoded_body(sitemap::HEAD_BYTES));
    head.status == StatusCode::OK && start.is_ok_and(|start| Sitemap::is_in(&start))
}

/// Classifies an answer. A 304 to an unconditional request brings no page, and does not say whether an earlier one
/// is still valid (RFC 9110, section 15.4.5). For a robots.txt it means, like other statuses below 500, that there
/// are no rules.
fn called_for(answer: Answer, visit: &Visit, earlier: Option<&Earlier>) -> FetchResult {
    let is_asked = earlier.and_then(Earlier::condition).is_some();
    let is_robots = matches!(visit.task, Task::Robots { .. });
    if answer.status() == 304 && !is_asked && !is_robots {
        return FetchResult::Uncalled(answer);
    }
    if earlier.is_some_and(|earlier| earlier.is_in_doubt(&answer)) {
        return FetchResult::Inconclusive(answer);
    }
    FetchResult::Answer(answer)
}

fn status_line(response: &Response<Incoming>) -> String {
    let version = if response.version() == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" };
    let status = response.status();
    let own = response.extensions().get::<hyper::ext::ReasonPhrase>();
    let own = own.and_then(|reason| str::from_utf8(reason.as_bytes()).ok());
    let reason = own.or(status.canonical_reason()).unwrap_or_default();
    format!("{version} {} {reason}", status.as_u16())
}

fn protocol(error: &hyper::Error) -> Failure {
    let source = error.source().map(|source| format!(": {}", trust::of_connection(source)));
    let kind = if error.is_timeout() { FailureKind::Timeout } else { FailureKind::Protocol };
    if error.is_parse_too_large() {
        return Failure::new(kind, format!("{error}, or the length that it gives for the body"));
    }
    Failure::new(kind, format!("{error}{}", source.unwrap_or_default()))
}

//! Fetching: one request, one answer or one failure.
//!
//! What lives here: [`Fetcher`], the HTTP/1.1 client with its timeouts and limits; `pool.rs` keeps
//! connections between the visits of a site. What does not: when, where and why to fetch, and what
//! becomes of an answer.
//!
//! **Invariant.** A visit ends within the sum of its timeouts, with at most `body_bytes_max` bytes
//! of body and `head_bytes_max` of head in memory. A request that a server may have seen is never
//! sent twice. A connection goes to the address that the visit names, and nowhere else.

mod pool;

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderValue, USER_AGENT,
};
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::clock::Clock;
use crate::config::Config;
use crate::error::CrawlError;
use crate::outcome::{Failure, FailureKind, Task, Visit};
use crate::recrawl::Earlier;
use crate::robots;
use crate::site::{Site, is_public};

use pool::Pool;

/// Header lines of an answer.
const HEADERS_MAX: usize = 256;

/// What is asked for: pages before anything else.
pub(crate) const ACCEPTED: &str = "text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.1";

/// The one coding that is undone here.
pub(crate) const CODING: &str = "gzip";

/// What a server sent.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status_line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether there was more of the body.
    pub(crate) is_truncated: bool,
}

impl Answer {
    /// The status; 0 if the line has none.
    pub(crate) fn status(&self) -> u16 {
        let status = self.status_line.split(' ').nth(1);
        status.and_then(|status| status.parse().ok()).unwrap_or(0)
    }
}

/// What a visit brought.
#[derive(Debug)]
pub(crate) enum Catch {
    Address(IpAddr),
    Answer(Answer),
}

/// A visit that is over.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) visit: Visit,
    pub(crate) finished_ms: u64,
    pub(crate) date_s: i64,
    /// The capture that an answer is to be compared with.
    pub(crate) earlier: Option<Earlier>,
    pub(crate) result: Result<Catch, Failure>,
}

type Sender = SendRequest<Empty<Bytes>>;

/// The client.
pub(crate) struct Fetcher {
    clock: Arc<dyn Clock>,
    user_agent: HeaderValue,
    tls: TlsConnector,
    pool: Pool,
    connect_timeout: Duration,
    head_timeout: Duration,
    body_timeout: Duration,
    head_bytes_max: usize,
    body_bytes_max: usize,
}

impl Fetcher {
    pub(crate) fn new(config: &Config, clock: Arc<dyn Clock>) -> Result<Fetcher, CrawlError> {
        let user_agent = HeaderValue::from_str(&config.user_agent_header())
            .map_err(|error| CrawlError::Config { key: "user_agent", why: error.to_string() })?;
        Ok(Fetcher {
            clock,
            user_agent,
            tls: TlsConnector::from(Arc::new(tls_config())),
            pool: Pool::new(config.idle_connections_max),
            connect_timeout: Duration::from_millis(config.connect_timeout_ms),
            head_timeout: Duration::from_millis(config.timeout_ms),
            body_timeout: Duration::from_millis(config.body_timeout_ms),
            head_bytes_max: config.head_bytes_max,
            body_bytes_max: config.body_bytes_max,
        })
    }

    /// Does what a visit is for.
    pub(crate) async fn visit(&self, visit: Visit, earlier: Option<Earlier>) -> Fetched {
        let date_s = self.clock.unix_s();
        let result = match (&visit.task, visit.address) {
            (Task::Resolve, _) | (_, None) => self.resolve(&visit.site).await.map(Catch::Address),
            (_, Some(address)) => {
                self.get(&visit, address, earlier.as_ref()).await.map(Catch::Answer)
            }
        };
        Fetched { visit, finished_ms: self.clock.now_ms(), date_s, earlier, result }
    }

    async fn resolve(&self, site: &Site) -> Result<IpAddr, Failure> {
        let failed = |detail: String| Failure::new(FailureKind::Dns, detail);
        let lookup = tokio::net::lookup_host((site.host(), site.port()));
        let addresses = timeout(self.connect_timeout, lookup)
            .await
            .map_err(|_| failed("the name server does not answer".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        let addresses: Vec<IpAddr> = addresses.map(|address| address.ip()).collect();
        // IPv4 first: not every machine has a way to IPv6.
        let rank = |address: &&IpAddr| (!is_public(**address), address.is_ipv6());
        let best = addresses.iter().min_by_key(rank);
        best.copied().ok_or_else(|| failed("the name has no address".to_owned()))
    }

    async fn get(
        &self,
        visit: &Visit,
        address: IpAddr,
        earlier: Option<&Earlier>,
    ) -> Result<Answer, Failure> {
        let mut request = self.request(visit, earlier)?;
        if let Some(mut sender) = self.pool.take(visit.site.key(), self.clock.now_ms()) {
            match self.send(&mut sender, request).await {
                Ok(response) => return self.receive(visit, sender, response).await,
                // It was closed before it took the request.
                Err((Some(unsent), _)) => request = unsent,
                Err((None, failure)) => return Err(failure),
            }
        }
        let mut sender =
            timeout(self.connect_timeout, self.connect(&visit.site, address))
                .await
                .map_err(|_| Failure::new(FailureKind::Connect, "no connection in time"))??;
        let response = self.send(&mut sender, request).await.map_err(|(_, failure)| failure)?;
        self.receive(visit, sender, response).await
    }

    fn request(
        &self,
        visit: &Visit,
        earlier: Option<&Earlier>,
    ) -> Result<Request<Empty<Bytes>>, Failure> {
        let mut request = Request::builder()
            .uri(&*visit.page.path)
            .header(HOST, visit.site.authority())
            .header(USER_AGENT, &self.user_agent)
            .header(ACCEPT, ACCEPTED)
            .header(ACCEPT_ENCODING, CODING);
        if let Some((name, value)) = earlier.and_then(Earlier::condition) {
            request = request.header(name, value);
        }
        if !visit.keep_alive {
            request = request.header(CONNECTION, "close");
        }
        let unusable = |error| Failure::new(FailureKind::Protocol, error);
        request.body(Empty::new()).map_err(unusable)
    }

    async fn connect(&self, site: &Site, address: IpAddr) -> Result<Sender, Failure> {
        let no_connection = |error| Failure::new(FailureKind::Connect, error);
        let address = SocketAddr::new(address, site.port());
        let stream = TcpStream::connect(address).await.map_err(no_connection)?;
        // Without it a request may wait for an acknowledgement; if it cannot be set, it waits.
        let _ = stream.set_nodelay(true);
        if !site.is_tls() {
            return self.handshake(stream).await;
        }
        let insecure = |detail: String| Failure::new(FailureKind::Tls, detail);
        let name = ServerName::try_from(site.host().to_owned())
            .map_err(|error| insecure(error.to_string()))?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| {
            // A certificate will not change, a broken connection may.
            let is_tls =
                error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>);
            if is_tls { insecure(error.to_string()) } else { no_connection(error) }
        })?;
        self.handshake(stream).await
    }

    async fn handshake<S>(&self, stream: S) -> Result<Sender, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(self.head_bytes_max)
            .max_headers(HEADERS_MAX)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| protocol(&error))?;
        tokio::spawn(async {
            // The request tells what went wrong.
            let _ = connection.await;
        });
        Ok(sender)
    }

    /// Sends a request; gives it back if the server cannot have seen it.
    async fn send(
        &self,
        sender: &mut Sender,
        request: Request<Empty<Bytes>>,
    ) -> Result<Response<Incoming>, (Option<Request<Empty<Bytes>>>, Failure)> {
        match timeout(self.head_timeout, sender.try_send_request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(mut error)) => Err((error.take_message(), protocol(&error.into_error()))),
            Err(_) => Err((None, Failure::new(FailureKind::Timeout, "no answer in time"))),
        }
    }

    async fn receive(
        &self,
        visit: &Visit,
        sender: Sender,
        response: Response<Incoming>,
    ) -> Result<Answer, Failure> {
        let status_line = status_line(&response);
        let (head, body) = response.into_parts();
        let is_robots = matches!(visit.task, Task::Robots { .. });
        let bytes_max = if is_robots { robots::BYTES_MAX } else { self.body_bytes_max };
        let (body, is_truncated) =
            timeout(self.body_timeout, read_body(body, bytes_max)).await.map_err(|_| {
                Failure::new(FailureKind::Timeout, "the body does not end in time")
            })??;
        if is_truncated && !is_robots {
            let detail = format!("the body is longer than {bytes_max} bytes");
            return Err(Failure::new(FailureKind::TooLarge, detail));
        }
        if visit.keep_alive && !is_truncated {
            self.pool.give(visit.site.key(), sender, self.clock.now_ms());
        }
        Ok(Answer { status_line, headers: head.headers, body, is_truncated })
    }
}

/// The body up to a limit, and whether there is more.
async fn read_body(mut body: Incoming, bytes_max: usize) -> Result<(Vec<u8>, bool), Failure> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| protocol(&error))?.into_data() else { continue };
        let room = bytes_max - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
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
    let source = error.source().map(|source| format!(": {source}"));
    let kind = if error.is_timeout() { FailureKind::Timeout } else { FailureKind::Protocol };
    Failure::new(kind, format!("{error}{}", source.unwrap_or_default()))
}

fn tls_config() -> ClientConfig {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

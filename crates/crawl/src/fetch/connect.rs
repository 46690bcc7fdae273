//! Connections: TCP, TLS and the choice between HTTP/1.1 and HTTP/2.
//!
//! What lives here: [`Connector`], which opens a connection to an address, and [`Sender`], its end that takes
//! requests. HTTP/2 is used where the server chooses it in the TLS handshake (ALPN), never without TLS. What does
//! not: timeouts, requests and answers (`mod.rs`), and trusted certificates (`trust.rs`).
//!
//! **Invariant.** A connection goes to the address it is opened with. Over TLS, the server must have a certificate
//! for the name, signed by an authority of the browsers or of `tls_roots`. A connection ends with its [`Sender`],
//! whatever the server does.
//!
//! Reference: M. Thomson, C. Benfield, RFC 9113, 2022; S. Friedl et al., RFC 7301, 2014.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use archive::is_exhausted;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::rt::Executor;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use super::first_byte::CountedStream;
use super::{NoAnswer, protocol, trust};
use crate::config::Config;
use crate::error::CrawlError;
use crate::outcome::{Failure, FailureKind};
use crate::site::Site;

/// The names of the protocols in ALPN.
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// Maximum number of header lines of an answer.
const HEADERS_MAX: usize = 256;

/// How many bytes of a body an HTTP/2 server may send before they are read.
const WINDOW_BYTES: u32 = 1 << 20;

type Ask = Request<Empty<Bytes>>;

/// Maximum number of sites that are remembered as HTTP/1.1 only.
const HTTP1_SITES_MAX: usize = 10_000;

/// The end of a connection that takes requests.
pub(super) enum Sender {
    Http1 { sender: http1::SendRequest<Empty<Bytes>>, heard: Arc<AtomicU64> },
    Http2 { sender: http2::SendRequest<Empty<Bytes>>, _tied: Tied },
}

/// The tasks of an HTTP/2 connection.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<AbortHandle>>>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, future: F) {
        let task = tokio::spawn(future).abort_handle();
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }
}

/// Aborts the tasks when dropped; otherwise the server would decide when they end.
pub(super) struct Tied(Tasks);

impl Drop for Tied {
    fn drop(&mut self) {
        for task in self.0.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }
}

impl Sender {
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Sender::Http1 { sender, .. } => sender.is_closed(),
            Sender::Http2 { sender, .. } => sender.is_closed(),
        }
    }

    /// Returns the number of bytes received so far; `None` over HTTP/2, where the server reports what it has
    /// processed.
    pub(super) fn heard(&self) -> Option<u64> {
        match self {
            Sender::Http1 { heard, .. } => Some(heard.load(Ordering::Relaxed)),
            Sender::Http2 { .. } => None,
        }
    }

    pub(super) fn is_http2(&self) -> bool {
        matches!(self, Sender::Http2 { .. })
    }

    pub(super) async fn send(
        &mut self,
        request: Ask,
    ) -> Result<Response<Incoming>, TrySendError<Ask>> {
        match self {
            Sender::Http1 { sender, .. } => sender.try_send_request(request).await,
            Sender::Http2 { sender, .. } => sender.try_send_request(request).await,
        }
    }
}

pub(super) struct Connector {
    tls: TlsConnector,
    /// The same configuration without HTTP/2.
    http1_tls: TlsConnector,
    http1_sites: Mutex<BTreeSet<Box<str>>>,
    head_bytes_max: usize,
}

impl Connector {
    pub(super) fn new(config: &Config) -> Result<Connector, CrawlError> {
        let tls = tls_config(config)?;
        let mut http1_tls = tls.clone();
        http1_tls.alpn_protocols = vec![HTTP1.to_vec()];
        Ok(Connector {
            tls: Arc::new(tls).into(),
            http1_tls: Arc::new(http1_tls).into(),
            http1_sites: Mutex::default(),
            head_bytes_max: config.head_bytes_max,
        })
    }

    /// Remembers that a site requires HTTP/1.1, although it offers HTTP/2.
    pub(super) fn without_http2(&self, site: &Site) {
        let mut sites = self.http1_sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= HTTP1_SITES_MAX {
            sites.clear();
        }
        sites.insert(site.key().into());
    }

    fn tls_for(&self, site: &Site) -> &TlsConnector {
        let sites = self.http1_sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.contains(site.key()) { &self.http1_tls } else { &self.tls }
    }

    pub(super) async fn connect(&self, site: &Site, address: IpAddr) -> Result<Sender, NoAnswer> {
        let no_connection = |error| Failure::new(FailureKind::Connect, error);
        let address = SocketAddr::new(address, site.port());
        let stream = match TcpStream::connect(address).await {
            Err(error) if is_exhausted(&error) => return Err(NoAnswer::NoDescriptor(error)),
            stream => stream.map_err(no_connection)?,
        };
        // Without it a request may wait for an acknowledgement. A failure to set it is harmless.
        let _ = stream.set_nodelay(true);
        if !site.is_tls() {
            return Ok(self.http1(stream).await?);
        }
        let insecure = |detail: String| Failure::new(FailureKind::Tls, detail);
        let name = ServerName::try_from(site.host().to_owned())
            .map_err(|error| insecure(error.to_string()))?;
        let stream = self.tls_for(site).connect(name, stream).await.map_err(|error| {
            // An invalid certificate is permanent, a broken connection is not.
            let of_tls = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
            of_tls.map(trust::in_words).map_or_else(|| no_connection(error), insecure)
        })?;
        if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
            return Ok(self.http2(stream).await?);
        }
        Ok(self.http1(stream).await?)
    }

    async fn http1<S>(&self, stream: S) -> Result<Sender, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = CountedStream::new(stream);
        let heard = stream.bytes();
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(self.head_bytes_max)
            .max_headers(HEADERS_MAX)
            // A request is one short piece.
            .writev(false)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| protocol(&error))?;
        tokio::spawn(async {
            // The request reports the error.
            let _ = connection.await;
        });
        Ok(Sender::Http1 { sender, heard })
    }

    async fn http2<S>(&self, stream: S) -> Result<Sender, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let head_bytes_max = u32::try_from(self.head_bytes_max).unwrap_or(u32::MAX);
        let tasks = Tasks::default();
        let tied = Tied(tasks.clone());
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(head_bytes_max)
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| protocol(&error))?;
        tasks.execute(async {
            let _ = connection.await;
        });
        Ok(Sender::Http2 { sender, _tied: tied })
    }
}

fn tls_config(config: &Config) -> Result<ClientConfig, CrawlError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of TLS 1.2 and 1.3")
        .with_root_certificates(trust::roots(config)?)
        .with_no_client_auth();
    tls.alpn_protocols = vec![HTTP1.to_vec()];
    if config.http2 {
        tls.alpn_protocols.insert(0, HTTP2.to_vec());
    }
    Ok(tls)
}

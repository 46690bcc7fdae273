//! The accept loop: time limits of a connection, and an orderly end.
//!
//! What lives here: accepting and closing. What does not: which connection gives way to another
//! (`places.rs`), stalled writes (`progress.rs`), requests and answers (`http.rs`).
//!
//! **Invariant.** The loop never waits for a connection to end. A connection is closed if it sends no
//! complete head within [`HEAD_MS_MAX`]. After `shutdown` no connection is accepted, and the loop ends within
//! [`GRACE_MS`] whatever clients do.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::places::Places;
use crate::progress::Progress;

/// How long a client may take for the head of a request, idle time on an open connection included.
const HEAD_MS_MAX: u64 = 15_000;
/// Bytes of a request head, and of answers that wait to be sent.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// How long open connections are waited for in the end.
const GRACE_MS: u64 = 3_000;
/// The pause after the system had no socket left.
const EXHAUSTED_MS: u64 = 10;
/// The answer to a client for which there is no place.
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 28\r\n\r\nall connections are in use.\n";

/// Serves `router` to the clients of `listener` until `shutdown` is over.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEAD_MS_MAX))
        .max_buf_size(BUFFER_BYTES_MAX);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Places::default());
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => match error.kind() {
                // The client has left.
                ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => continue,
                // Too many files are open.
                _ => {
                    places.close_one();
                    sleep(Duration::from_millis(EXHAUSTED_MS)).await;
                    continue;
                }
            },
        };
        let Some(seat) = Places::take(&places, peer.ip()) else {
            refuse(&stream);
            continue;
        };
        let (seat, routes) = (Arc::new(seat), TowerToHyperService::new(router.clone()));
        let seated = Arc::clone(&seat);
        let service = service_fn(move |request: Request<Incoming>| {
            let (seat, answer) = (Arc::clone(&seated), routes.call(request));
            async move {
                let mut answer = seat.while_busy(answer).await?;
                if seat.is_crowded() {
                    let close = HeaderValue::from_static("close");
                    answer.headers_mut().insert(header::CONNECTION, close);
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let io = TokioIo::new(Progress::new(stream, Arc::clone(&seat)));
        let served = graceful.watch(server.serve_connection(io, service));
        tokio::spawn(async move {
            tokio::select! {
                // An error of the connection concerns the client alone.
                served = served => drop(served),
                () = seat.closed() => {}
            }
        });
    }
    drop(listener);
    // Connections that are open after that are cut off.
    drop(timeout(Duration::from_millis(GRACE_MS), graceful.shutdown()).await);
}

/// Says that the client should come back later, if it can be said without waiting.
fn refuse(stream: &TcpStream) {
    drop(stream.try_write(REFUSAL));
}

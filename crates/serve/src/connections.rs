//! The accept loop: time limits of connections, and orderly shutdown.
//!
//! `connection_slots.rs` chooses the connection to close when all places are taken. `write_timeout.rs` detects stalled writes.
//! `http.rs` answers requests.
//!
//! **Invariant.** The loop never waits for a connection to end. A connection is closed unless it sends a
//! complete head within [`HEAD_MS_MAX`]. After `shutdown` the loop accepts no connection and ends within
//! [`GRACE_MS`].

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

use crate::connection_slots::ConnectionSlots;
use crate::write_timeout::WriteTimeout;

/// The time limit for the head of a request, including idle time on an open connection.
const HEAD_MS_MAX: u64 = 15_000;
/// The maximum size of a request head, and of the buffer for unsent answers.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// The time that shutdown waits for open connections.
const GRACE_MS: u64 = 3_000;
/// The pause after the system ran out of sockets.
const EXHAUSTED_MS: u64 = 10;
/// The answer to a client when all places are taken.
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 28\r\n\r\nall connections are in use.\n";

/// Serves `router` to the clients of `listener` until `shutdown` completes.
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
    let places = Arc::new(ConnectionSlots::default());
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
        let Some(seat) = ConnectionSlots::take(&places, peer.ip()) else {
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
        let io = TokioIo::new(WriteTimeout::new(stream, Arc::clone(&seat)));
        let served = graceful.watch(server.serve_connection(io, service));
        tokio::spawn(async move {
            tokio::select! {
                // An error of the connection affects only its client.
                served = served => drop(served),
                () = seat.closed() => {}
            }
        });
    }
    drop(listener);
    // Connections still open after the grace period are cut off.
    drop(timeout(Duration::from_millis(GRACE_MS), graceful.shutdown()).await);
}

/// Sends [`REFUSAL`] if that is possible without blocking.
fn refuse(stream: &TcpStream) {
    drop(stream.try_write(REFUSAL));
}

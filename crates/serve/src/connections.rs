//! Connections: who may come in, how long a request may take to arrive, and how all of it ends.
//!
//! What lives here: the loop that accepts. What does not: what is asked and answered (`http.rs`).
//!
//! **Invariant.** At most [`CONNECTIONS_MAX`] are open. One that does not send a whole head within
//! [`HEAD_MS_MAX`], the first or a later one, is closed. After `shutdown` no new one comes in, and the
//! loop ends within [`GRACE_MS`] whatever clients do.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at a time; others wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;
/// How long a client may take for the head of a request, idle time on an open connection included.
const HEAD_MS_MAX: u64 = 15_000;
/// How long answers under way are waited for in the end.
const GRACE_MS: u64 = 3_000;
/// The pause after the system had no socket to give.
const EXHAUSTED_MS: u64 = 50;

/// Answers whoever connects to `listener`, until `shutdown` is over.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(HEAD_MS_MAX));
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let place = Arc::clone(&room).acquire_owned();
        let next = async { (place.await, listener.accept().await) };
        let (place, accepted) = tokio::select! {
            next = next => next,
            () = &mut shutdown => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => match error.kind() {
                // The client is gone already.
                ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => continue,
                // Too many files are open: some connection will end.
                _ => {
                    sleep(Duration::from_millis(EXHAUSTED_MS)).await;
                    continue;
                }
            },
        };
        let service = TowerToHyperService::new(router.clone());
        let served = graceful.watch(server.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A connection that breaks is the client's affair.
            drop(served.await);
            drop(place);
        });
    }
    drop(listener);
    // Who has not finished by then is cut off.
    drop(timeout(Duration::from_millis(GRACE_MS), graceful.shutdown()).await);
}

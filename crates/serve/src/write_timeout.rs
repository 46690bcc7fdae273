//! A connection that fails when its client stops reading.
//!
//! **Invariant.** A write fails after [`STALLED_MS`] without a byte accepted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::connection_slots::Slot;

/// The time a write may wait for the client to read.
const STALLED_MS: u64 = 15_000;

/// A stream whose reads and writes are reported to its seat.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    seat: Arc<Slot>,
    /// The timer of a waiting write.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, seat: Arc<Slot>) -> Self {
        Self { stream, seat, stalled: None }
    }

    /// Returns the outcome of a write, or an error if writes have waited too long.
    fn within_time(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            self.seat.progress();
            return written;
        }
        let limit = || Box::pin(sleep(Duration::from_millis(STALLED_MS)));
        let stalled = self.stalled.get_or_insert_with(limit);
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.seat.progress();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;
    use crate::connection_slots::ConnectionSlots;

    fn seat() -> Arc<Slot> {
        let places = Arc::new(ConnectionSlots::default());
        Arc::new(ConnectionSlots::take(&places, IpAddr::from([127, 0, 0, 1])).expect("a place"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_ends_the_write() {
        let (server, client) = duplex(64);
        let mut server = WriteTimeout::new(server, seat());
        let start = Instant::now();
        let error = server.write_all(&[7; 1000]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed().as_millis(), u128::from(STALLED_MS));
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_slow_gets_all() {
        let (server, mut client) = duplex(64);
        let mut server = WriteTimeout::new(server, seat());
        let reader = tokio::spawn(async move {
            let mut part = [0; 64];
            for _ in 0..10 {
                sleep(Duration::from_millis(STALLED_MS - 1)).await;
                client.read_exact(&mut part).await.expect("bytes");
            }
        });
        server.write_all(&[7; 640]).await.expect("read in time");
        reader.await.expect("all came");
    }
}

//! A counter of the bytes that a server has sent.
//!
//! What lives here: [`CountedStream`], a stream that counts the bytes read. A server may close a kept connection while a
//! request is on its way. If no byte of an answer has come, the server has not processed the request. What does
//! not: retrying it (`mod.rs`).
//!
//! Reference: R. Fielding, M. Nottingham, J. Reschke, RFC 9112, 2022, section 9.3.1.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream, and the number of bytes read from it.
pub(super) struct CountedStream<S> {
    stream: S,
    bytes: Arc<AtomicU64>,
}

impl<S> CountedStream<S> {
    pub(super) fn new(stream: S) -> CountedStream<S> {
        CountedStream { stream, bytes: Arc::default() }
    }

    /// Returns the shared counter of bytes read.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = buffer.filled().len().saturating_sub(before);
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

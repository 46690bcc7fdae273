//! A cached copy, made while it is sent.
//!
//! **Invariant.** At most [`LARGE_MAX`] copies with a large record are sent at a time. A copy fails if its client takes
//! longer than [`COPY_S_MAX`].

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body, Bytes, Frame};
use search::PageCopy;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The time limit for sending a copy.
const COPY_S_MAX: u64 = 120;
/// The content security policy of cached copies.
const POLICY: &str = "sandbox; default-src 'none'; img-src data:; base-uri 'none'";

/// The maximum number of records read at a time.
const READ_MAX: usize = 4;
/// The maximum number of copies with a large record sent at a time.
const LARGE_MAX: usize = 16;
/// Records above this size count as large.
const SMALL_BYTES_MAX: usize = 256 << 10;

/// The limits of all copies together.
pub(crate) struct Copies {
    reading: Semaphore,
    large: Arc<Semaphore>,
}

impl Default for Copies {
    fn default() -> Self {
        Self { reading: Semaphore::new(READ_MAX), large: Arc::new(Semaphore::new(LARGE_MAX)) }
    }
}

impl Copies {
    /// Waits until fewer than [`READ_MAX`] records are being read, then runs `read`.
    pub(crate) async fn read<T>(&self, read: impl Future<Output = T>) -> T {
        // Acquiring fails only if the semaphore is closed.
        let _permit = self.reading.acquire().await;
        read.await
    }

    /// The response that sends `copy`. `None` if `copy` is large and [`LARGE_MAX`] large copies are being sent.
    pub(crate) fn answer(&self, copy: PageCopy) -> Option<Response> {
        let permit = if copy.record_bytes > SMALL_BYTES_MAX {
            Some(Arc::clone(&self.large).try_acquire_owned().ok()?)
        } else {
            None
        };
        let kind = HeaderValue::from_str(&copy.content_type);
        let kind = kind.unwrap_or(HeaderValue::from_static("text/plain"));
        let policy = HeaderValue::from_static(POLICY);
        let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, policy)];
        let deadline = Instant::now() + Duration::from_secs(COPY_S_MAX);
        let pieces = Pieces { copy, is_over: false, has_yielded: false, deadline, _permit: permit };
        Some((headers, axum::body::Body::new(pieces)).into_response())
    }
}

/// The response body of a copy.
struct Pieces {
    copy: PageCopy,
    is_over: bool,
    has_yielded: bool,
    deadline: Instant,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if Instant::now() > self.deadline {
            return Poll::Ready(Some(Err(ErrorKind::TimedOut.into())));
        }
        // Yield before each piece. Cleaning many long pages must not delay other connections and signals.
        self.has_yielded = !self.has_yielded;
        if self.has_yielded {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Self { copy, is_over, .. } = &mut *self;
        let piece = copy.piece(is_over)?;
        if piece.is_empty() && !self.is_over {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }
}

//! A cached copy, made while it is sent.
//!
//! This module decodes and cleans a page piece by piece. `engine.rs` locates the page in the archive.
//! `page::Cleaner` defines the elements that remain.
//!
//! **Invariant.** A copy of any length uses the memory of its archive record and a few pieces of
//! [`PIECE_BYTES`]. At most [`LARGE_MAX`] copies with a large record are sent at a time. A copy ends after
//! [`COPY_BYTES_MAX`] bytes of the page. It fails if its client takes longer than [`COPY_S_MAX`].

use std::io::{self, Cursor, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::page::Cleaner;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body, Bytes, Frame};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::ServeError;

/// The maximum number of bytes of a page in its copy.
const COPY_BYTES_MAX: u64 = 16 << 20;
/// Bytes of the page that become one piece of the copy.
const PIECE_BYTES: usize = 32 << 10;
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
        let pieces = Pieces { copy, is_over: false, deadline, _permit: permit };
        Some((headers, axum::body::Body::new(pieces)).into_response())
    }
}

/// The copy of a page.
pub(crate) struct PageCopy {
    content_type: String,
    /// The memory used by the record.
    record_bytes: usize,
    page: Box<dyn Read + Send>,
    /// Set for markup; other content is sent as text.
    cleaner: Option<Cleaner>,
}

impl PageCopy {
    /// A copy made from the extracted text, for a page without a captured response.
    pub(crate) fn of_text(text: String) -> Self {
        Self {
            content_type: "text/plain; charset=utf-8".to_owned(),
            record_bytes: text.len(),
            page: Box::new(Cursor::new(text.into_bytes())),
            cleaner: None,
        }
    }

    /// A copy of the response body in `block`. Markup is cleaned; all other content is shown as text.
    pub(crate) fn of_response(
        content_type: &str,
        charset: &str,
        mut block: Vec<u8>,
    ) -> Result<Self, ServeError> {
        block.shrink_to_fit();
        let record_bytes = block.len();
        let page = Box::new(archive::body_reader(block)?.take(COPY_BYTES_MAX));
        let content_type = content_type.to_ascii_lowercase();
        let is_markup = content_type.is_empty() || content_type.contains("html");
        let is_xml = content_type.contains("xhtml");
        let (content_type, cleaner) = if is_markup {
            ("text/html; charset=utf-8".to_owned(), Some(Cleaner::new(charset, is_xml)))
        } else {
            (format!("text/plain; charset={charset}"), None)
        };
        Ok(Self { content_type, record_bytes, page, cleaner })
    }

    /// The next piece, which may be empty. Sets `is_over` at the end of the page.
    fn piece(&mut self, is_over: &mut bool) -> io::Result<Bytes> {
        let mut bytes = vec![0; PIECE_BYTES];
        let read = self.page.read(&mut bytes)?;
        bytes.truncate(read);
        *is_over = read == 0;
        let Some(cleaner) = &mut self.cleaner else { return Ok(bytes.into()) };
        let mut clean = String::new();
        cleaner.push(&bytes, *is_over, &mut clean);
        Ok(clean.into())
    }
}

/// The response body of a copy.
struct Pieces {
    copy: PageCopy,
    is_over: bool,
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
        let Self { copy, is_over, .. } = &mut *self;
        let piece = copy.piece(is_over)?;
        if piece.is_empty() && !self.is_over {
            // Yield to other connections: cleaning may remove long parts of a page.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

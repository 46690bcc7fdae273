//! The body of an answer as it arrives, and permits for long bodies.
//!
//! What lives here: [`Body`], which reads up to a limit and can continue later, and [`Room`], whose permit is
//! needed to continue. What does not: the limits (`fetch/mod.rs`).
//!
//! **Invariant.** A body holds at most the requested bytes and one more frame. At most [`LONG_MAX`] answers have a
//! permit, from the time they are read until they have been archived and parsed. A body that breaks off is an
//! error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::outcome::{Failure, FailureKind};

use super::protocol;

/// Maximum number of answers longer than a page at a time.
pub(super) const LONG_MAX: usize = 4;

/// Permits for answers that are longer than a page.
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn new() -> Room {
        Room(Arc::new(Semaphore::new(LONG_MAX)))
    }

    /// Waits for a permit, at most `patience`, since its holder may be slow. Dropping the permit releases it.
    pub(super) async fn take(&self, patience: Duration) -> Result<OwnedSemaphorePermit, Failure> {
        let taken = timeout(patience, Arc::clone(&self.0).acquire_owned()).await;
        let taken = taken.ok().and_then(Result::ok);
        taken.ok_or_else(|| {
            Failure::new(FailureKind::Room, "too many other long sitemaps are being read")
        })
    }
}

/// A body, as far as it has arrived.
pub(super) struct Body {
    incoming: Incoming,
    /// The length by its head.
    promised: Option<usize>,
    is_http2: bool,
    /// The first piece: a body of one piece is not copied.
    first: Bytes,
    /// All pieces, if there are several.
    bytes: Vec<u8>,
    /// Received bytes beyond the limit so far.
    beyond: Bytes,
}

impl Body {
    pub(super) fn new(incoming: Incoming, is_bodiless: bool, is_http2: bool) -> Body {
        // An answer without a body may still have a length in its head.
        let promised = incoming.size_hint().exact().filter(|_| !is_bodiless);
        let promised = promised.and_then(|bytes| usize::try_from(bytes).ok());
        let (first, bytes, beyond) = (Bytes::new(), Vec::new(), Bytes::new());
        Body { incoming, promised, is_http2, first, bytes, beyond }
    }

    /// Reads on until there are `bytes_max` bytes in all; returns whether there are more.
    pub(super) async fn read(&mut self, bytes_max: usize) -> Result<bool, Failure> {
        loop {
            let room = bytes_max.saturating_sub(self.so_far().len());
            let data = self.beyond.split_to(room.min(self.beyond.len()));
            self.push(data);
            if !self.beyond.is_empty() {
                return Ok(true);
            }
            let Some(frame) = self.incoming.frame().await else { break };
            // Otherwise it is a frame of trailers.
            if let Ok(data) = frame.map_err(|error| protocol(&error))?.into_data() {
                self.beyond = data;
            }
        }
        // A server may end an HTTP/2 stream without an error before the whole body has come.
        let len = self.so_far().len();
        let is_short = self.promised.is_some_and(|promised| len < promised);
        if is_short || self.is_http2 && !self.incoming.is_end_stream() {
            let of = self.promised.map(|promised| format!(" of {promised}")).unwrap_or_default();
            let detail = format!("the body breaks off after {len}{of} bytes");
            return Err(Failure::new(FailureKind::Protocol, detail));
        }
        Ok(false)
    }

    fn push(&mut self, data: Bytes) {
        if self.first.is_empty() {
            self.first = data;
        } else if !data.is_empty() {
            if self.bytes.is_empty() {
                let len = self.first.len() + data.len();
                // The announced length is trusted up to twice what has arrived.
                self.bytes.reserve(self.promised.unwrap_or(len).clamp(len, 2 * len));
                self.bytes.extend_from_slice(&self.first);
            }
            self.bytes.extend_from_slice(&data);
        }
    }

    /// The bytes read so far.
    pub(super) fn so_far(&self) -> &[u8] {
        if self.bytes.is_empty() { &self.first } else { &self.bytes }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        if self.bytes.is_empty() { self.first } else { self.bytes.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_limited_and_released_for_reuse() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let (room, soon) = (Room::new(), Duration::from_millis(5));
            let mut taken = Vec::new();
            for _ in 0..LONG_MAX {
                taken.push(room.take(soon).await.expect("there is room"));
            }
            let refused = room.take(soon).await.expect_err("there is none");
            assert_eq!(refused.kind, FailureKind::Room, "{refused}");
            drop(taken.pop());
            drop(room.take(soon).await.expect("there is room again"));
        });
    }
}

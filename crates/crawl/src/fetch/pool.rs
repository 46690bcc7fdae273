//! Idle connections between the visits of a site.
//!
//! What lives here: keeping them. What does not: opening them, and whether one is worth keeping.
//!
//! **Invariant.** At most one idle connection per site, at most `idle_max` in all, none idle for longer than
//! [`IDLE_MS_MAX`]. The last answer of each was read to its end, and each is used only for the address that it was
//! opened to.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::Sender;

/// Servers close idle connections after 5 to 75 seconds; a connection that is about to be closed is worth less
/// than a new one.
const IDLE_MS_MAX: u64 = 15_000;

pub(super) struct Pool {
    idle_max: usize,
    inner: Mutex<Inner>,
}

struct Idle {
    since_ms: u64,
    address: IpAddr,
    sender: Sender,
}

#[derive(Default)]
struct Inner {
    idle: BTreeMap<String, Idle>,
    /// The sites by age.
    ages: BTreeSet<(u64, String)>,
}

impl Pool {
    pub(super) fn new(idle_max: usize) -> Pool {
        Pool { idle_max, inner: Mutex::default() }
    }

    /// Takes the open connection to a site, if it goes to this address.
    pub(super) fn take(&self, site: &str, to: IpAddr, now_ms: u64) -> Option<Sender> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Idle { since_ms, address, sender } = inner.remove(site)?;
        let is_fresh = now_ms.saturating_sub(since_ms) <= IDLE_MS_MAX;
        (is_fresh && address == to && !sender.is_closed()).then_some(sender)
    }

    pub(super) fn clear(&self) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = Inner::default();
    }

    /// Keeps a connection for the next visit of its site.
    pub(super) fn give(&self, site: &str, address: IpAddr, sender: Sender, now_ms: u64) {
        if self.idle_max == 0 || sender.is_closed() {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.remove(site);
        while let Some((since_ms, oldest)) = inner.ages.first() {
            if inner.idle.len() < self.idle_max && now_ms.saturating_sub(*since_ms) <= IDLE_MS_MAX {
                break;
            }
            let oldest = oldest.clone();
            inner.remove(&oldest);
        }
        inner.ages.insert((now_ms, site.to_owned()));
        inner.idle.insert(site.to_owned(), Idle { since_ms: now_ms, address, sender });
    }
}

impl Inner {
    fn remove(&mut self, site: &str) -> Option<Idle> {
        let (key, idle) = self.idle.remove_entry(site)?;
        self.ages.remove(&(idle.since_ms, key));
        Some(idle)
    }
}

//! The workbench: which host may be visited next, and when.
//!
//! What lives here: hosts in the order of the moment they may be visited, grouped under the IP addresses they
//! share. What does not: why a host must wait (`politeness.rs`), and its tasks (`frontier/`).
//!
//! The life of a host: [`Workbench::insert`] puts it under its address with the moment it is ready;
//! [`Workbench::take`] takes out the first that is ready and holds its address; [`Workbench::release`] releases
//! the address when the request is over. A host without an address waits under `None`, which is never held.
//!
//! **Invariant.** A host is in the workbench at most once, and not while it is being visited. An address is ready
//! at the later of its own moment and that of its first host. With a delay between requests to an address, one
//! request to it is under way at a time. Every step costs O(log n).

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::site::HostId;

/// Hosts that wait for their moment.
#[derive(Debug)]
pub struct Workbench {
    ip_delay_ms: u64,
    /// The addresses that have hosts and are not held, each by the moment it is ready.
    order: BTreeSet<(u64, Option<IpAddr>)>,
    entries: BTreeMap<Option<IpAddr>, Entry>,
    len: usize,
}

/// One address.
#[derive(Debug, Default)]
struct Entry {
    /// No request goes to the address before this moment.
    ready_ms: u64,
    /// Whether a request to it is under way.
    held: bool,
    hosts: BTreeSet<(u64, HostId)>,
}

impl Entry {
    /// Returns when the address may be visited; `None` if it is held or has no host.
    fn moment(&self) -> Option<u64> {
        let &(host_ms, _) = self.hosts.first()?;
        (!self.held).then(|| host_ms.max(self.ready_ms))
    }
}

impl Workbench {
    /// Creates an empty workbench that keeps `ip_delay_ms` between the end of a request to an address and the next
    /// one; 0 for no such delay.
    pub fn new(ip_delay_ms: u64) -> Workbench {
        let (order, entries) = (BTreeSet::new(), BTreeMap::new());
        Workbench { ip_delay_ms, order, entries, len: 0 }
    }

    /// Inserts a host, to be visited not before `ready_ms`.
    pub fn insert(&mut self, host: HostId, address: Option<IpAddr>, ready_ms: u64) {
        let inserted = self.change(address, |entry| entry.hosts.insert((ready_ms, host)));
        self.len += usize::from(inserted);
    }

    /// Moves a host that was inserted for `from_ms` to the earlier moment `to_ms`.
    pub fn advance(&mut self, host: HostId, address: Option<IpAddr>, from_ms: u64, to_ms: u64) {
        self.change(address, |entry| {
            if entry.hosts.remove(&(from_ms, host)) {
                entry.hosts.insert((to_ms, host));
            }
        });
    }

    /// Takes out the first host that is ready at `now_ms`; its address is held until it is released.
    pub fn take(&mut self, now_ms: u64) -> Option<HostId> {
        let &(ready_ms, address) = self.order.first()?;
        if ready_ms > now_ms {
            return None;
        }
        let holds = self.ip_delay_ms > 0 && address.is_some();
        let (_, host) = self.change(address, |entry| {
            entry.held = holds;
            entry.hosts.pop_first()
        })?;
        self.len -= 1;
        Some(host)
    }

    /// Releases the address of a host; `finished_ms` is the end of the request to it, or `None` if there was no
    /// request.
    pub fn release(&mut self, address: Option<IpAddr>, finished_ms: Option<u64>) {
        let delay_ms = self.ip_delay_ms;
        self.change(address, |entry| {
            entry.held = false;
            if let Some(finished_ms) = finished_ms.filter(|_| address.is_some() && delay_ms > 0) {
                entry.ready_ms = entry.ready_ms.max(finished_ms.saturating_add(delay_ms));
            }
        });
    }

    /// Returns the moment before which [`Workbench::take`] returns nothing; `None` until something is inserted or
    /// released.
    pub fn next_ms(&self) -> Option<u64> {
        self.order.first().map(|&(ready_ms, _)| ready_ms)
    }

    /// Returns the number of waiting hosts.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no host waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Changes an entry and updates the order.
    fn change<R>(&mut self, address: Option<IpAddr>, act: impl FnOnce(&mut Entry) -> R) -> R {
        let entry = self.entries.entry(address).or_default();
        let before = entry.moment();
        let result = act(entry);
        let after = entry.moment();
        if before != after {
            if let Some(moment) = before {
                self.order.remove(&(moment, address));
            }
            if let Some(moment) = after {
                self.order.insert((moment, address));
            }
        }
        result
    }
}

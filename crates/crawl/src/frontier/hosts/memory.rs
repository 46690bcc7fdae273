//! The memory limit of queues and rules.
//!
//! What lives here: the sum over the hosts, and the choice of what moves to disk. What does not: writing it
//! (`host.rs`, `spill.rs`).
//!
//! **Invariant.** `memory_bytes` is the sum of the memory of all hosts, and at most `waiting_memory_bytes` after a
//! URL was added.

use super::super::host::Host;
use super::super::spill::Spill;
use super::{Hosts, index};
use crate::error::CrawlError;
use crate::site::HostId;

impl Hosts {
    /// Changes a host and updates the sum of memory.
    pub(super) fn change<T>(
        &mut self,
        id: HostId,
        act: impl FnOnce(&mut Host, &mut Spill) -> T,
    ) -> T {
        let host = &mut self.table[index(id)];
        let before = host.memory_bytes();
        let result = act(host, &mut self.spill);
        self.memory_bytes = self.memory_bytes - before + host.memory_bytes();
        result
    }

    /// Returns the bytes of memory of queues and rules.
    #[cfg(test)]
    pub(in crate::frontier) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Moves queues and rules to disk if they exceed the limit.
    pub(super) fn keep_to_memory(&mut self) {
        if self.memory_bytes > self.config.waiting_memory_bytes {
            let spilled = self.spill();
            self.note(spilled);
        }
    }

    /// Moves queues and rules to disk, one host after the other, until half of the memory is free.
    fn spill(&mut self) -> Result<(), CrawlError> {
        for _ in 0..self.table.len() {
            if self.memory_bytes <= self.config.waiting_memory_bytes / 2 {
                break;
            }
            self.hand = (self.hand + 1) % self.table.len();
            let id = HostId(u32::try_from(self.hand).expect("hosts have numbers of 32 bits"));
            self.change(id, Host::spill)?;
        }
        if self.spill.is_wasteful() {
            for host in &mut self.table {
                host.rewrite(&mut self.spill)?;
            }
        }
        Ok(())
    }
}

//! Which agent crawls which host.
//!
//! What lives here: the [`Assignment`] of hosts to live agents, as [`Modulo`] and as [`Rendezvous`]. What does
//! not: which agents are live, and how URLs travel.
//!
//! **Invariant.** The result depends only on the host and the *set* of live agents: every agent computes the same
//! one on its own. Both kinds give every host a live owner and balance the load. Only `Rendezvous` moves the
//! minimum of hosts when the set changes, since the scores of the agents for a host are independent. `Modulo` is
//! here for comparison.
//!
//! Reference: D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates", 1998.

use sieve::signature;

/// One crawling process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u16);

/// A function from hosts to live agents.
pub trait Assignment: Send {
    /// The agent that crawls `host`, or `None` when no agent is alive.
    fn owner(&self, host: &str) -> Option<AgentId>;
}

/// The hash of the host modulo the number of agents.
#[derive(Debug, Clone)]
pub struct Modulo {
    live: Vec<AgentId>,
}

impl Modulo {
    /// Creates the assignment to these agents; order and repetitions do not matter.
    pub fn new(live: impl IntoIterator<Item = AgentId>) -> Modulo {
        Modulo { live: sorted(live) }
    }
}

impl Assignment for Modulo {
    fn owner(&self, host: &str) -> Option<AgentId> {
        let agents = u64::try_from(self.live.len()).ok().filter(|&agents| agents > 0)?;
        let slot = usize::try_from(signature(host.as_bytes()).0 % agents).ok()?;
        self.live.get(slot).copied()
    }
}

/// The agent whose hash together with the host is the greatest.
#[derive(Debug, Clone)]
pub struct Rendezvous {
    live: Vec<AgentId>,
}

impl Rendezvous {
    /// Creates the assignment to these agents; order and repetitions do not matter.
    pub fn new(live: impl IntoIterator<Item = AgentId>) -> Rendezvous {
        Rendezvous { live: sorted(live) }
    }
}

impl Assignment for Rendezvous {
    fn owner(&self, host: &str) -> Option<AgentId> {
        let mut key = Vec::with_capacity(host.len() + 2);
        let score = |agent: AgentId| {
            key.clear();
            key.extend_from_slice(&agent.0.to_le_bytes());
            key.extend_from_slice(host.as_bytes());
            (signature(&key).0, agent)
        };
        self.live.iter().copied().map(score).max().map(|(_, agent)| agent)
    }
}

fn sorted(live: impl IntoIterator<Item = AgentId>) -> Vec<AgentId> {
    let mut live: Vec<AgentId> = live.into_iter().collect();
    live.sort_unstable();
    live.dedup();
    live
}

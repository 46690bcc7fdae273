//! Which number a site has, and whose it is.
//!
//! What lives here: the numbers, by the signature of the site, and the sites that belong to other agents. What does not:
//! which agent that is (`agents.rs` of the crate).
//!
//! **Invariant.** A site has one number, which is its place in the table; two sites of one signature have two.

use sieve::signature;

use super::super::host::Host;
use super::super::mark::Mark;
use super::{Hosts, index};
use crate::seeds::Start;
use crate::site::{HostId, Site};

impl Hosts {
    /// The number of the site of a URL; `None`, and the URL is dealt with, if it is not ours.
    pub(super) fn own_id(&mut self, site: &str, url: &str, mark: Mark) -> Option<HostId> {
        let known = self.known_id(site).ok();
        let other = match known {
            Some(id) => self.table[index(id)].other,
            None => self.agents.other(Site::parse(site)?.host()),
        };
        if let Some(agent) = other {
            self.report.sent += 1;
            let Mark { hops, sitemap: is_sitemap, depth, .. } = mark;
            let found = Start { url: url.to_owned(), is_sitemap, hops, depth };
            let sent = self.agents.send(agent, &found);
            self.note(sent);
            return None;
        }
        let id = known.or_else(|| self.id(site));
        if id.is_none() {
            self.drop_urls("hosts", 1);
        }
        id
    }

    /// The number of a site, whosever it is; `None` if there is no room for one more.
    pub(super) fn id(&mut self, site: &str) -> Option<HostId> {
        match self.known_id(site) {
            Ok(id) => Some(id),
            Err(slot) => self.add(Site::parse(site)?, slot),
        }
    }

    /// The number of a site that is known, or where it is to be noted.
    pub(super) fn known_id(&self, site: &str) -> Result<HostId, u64> {
        let mut slot = signature(site.as_bytes()).0;
        loop {
            match self.ids.get(&slot) {
                None => return Err(slot),
                Some(&id) if self.table[index(id)].site.key() == site => return Ok(id),
                Some(_) => slot = slot.wrapping_add(1),
            }
        }
    }

    fn add(&mut self, site: Site, slot: u64) -> Option<HostId> {
        let id = u32::try_from(self.table.len()).ok().map(HostId)?;
        if self.table.len() >= self.config.hosts_max {
            return None;
        }
        self.ids.insert(slot, id);
        let other = self.agents.other(site.host());
        let mut host = Host::new(site, other);
        host.ready_ms = self.silent_until_ms;
        self.table.push(host);
        Some(id)
    }
}

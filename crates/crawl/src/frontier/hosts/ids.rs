//! The numbers of sites.
//!
//! What lives here: the numbers, by the signature of the site, and passing URLs of other agents' sites to the
//! outboxes. What does not: the assignment of sites to agents (`agents.rs` of the crate).
//!
//! **Invariant.** A site has one number, its index in the table; two sites with the same signature have two.

use sieve::signature;

use super::super::host::Host;
use super::super::url_meta::UrlMeta;
use super::{Hosts, index};
use crate::seeds::Start;
use crate::site::{HostId, Site};

impl Hosts {
    /// Returns the number of the site of a URL; `None` if the site belongs to another agent, to which the URL is
    /// sent.
    pub(super) fn own_id(&mut self, site: &str, url: &str, mark: UrlMeta) -> Option<HostId> {
        let known = self.known_id(site).ok();
        let other = match known {
            Some(id) => self.table[index(id)].other,
            None => self.agents.other(Site::parse(site)?.host()),
        };
        if let Some(agent) = other {
            self.report.sent += 1;
            let UrlMeta { hops, sitemap: is_sitemap, depth, .. } = mark;
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

    /// Returns the number of a site of any agent; `None` if `hosts_max` is reached.
    pub(super) fn id(&mut self, site: &str) -> Option<HostId> {
        match self.known_id(site) {
            Ok(id) => Some(id),
            Err(slot) => self.add(Site::parse(site)?, slot),
        }
    }

    /// Returns the number of a known site, or the slot for a new one.
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

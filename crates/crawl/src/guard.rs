//! Which addresses may be connected to (W6, P6).
//!
//! What lives here: what is known of a host's address without asking a name server, and whether an
//! address may be used. What does not: asking (`fetch/`).
//!
//! **Invariant.** An address that is not public is used only for a host that the user named, in a
//! seed or in `resolve`; loopback also for `localhost` and address literals when a seed is on
//! this machine. A link-local address, where clouds keep their secrets, is used only if `resolve` says
//! so. Without a contact only loopback is used.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use page::Url;

use crate::config::Config;
use crate::error::CrawlError;
use crate::outcome::{Failure, FailureKind};
use crate::site::{is_public, literal_address};

pub(crate) struct Guard {
    resolve: BTreeMap<String, IpAddr>,
    /// The hosts of the seeds.
    named: BTreeSet<String>,
    /// Whether a seed is on this machine.
    is_local: bool,
    has_contact: bool,
}

impl Guard {
    pub(crate) fn new(config: &Config, seeds: &[Url]) -> Guard {
        let resolve = config.resolve.clone();
        let named: BTreeSet<String> = seeds.iter().map(host_of).collect();
        let known = |host: &String| known(&resolve, host);
        let is_local = named.iter().filter_map(known).any(|address| address.is_loopback());
        Guard { resolve, named, is_local, has_contact: !config.contact.is_empty() }
    }

    /// Whether the crawl may begin: a host elsewhere needs a contact.
    pub(crate) fn check_contact(&self) -> Result<(), CrawlError> {
        let elsewhere = |host: &&String| {
            known(&self.resolve, host).is_none_or(|address| !address.is_loopback())
        };
        match self.named.iter().find(elsewhere) {
            Some(host) if !self.has_contact => Err(CrawlError::NoContact { host: host.clone() }),
            _ => Ok(()),
        }
    }

    /// The address of a host that needs no name server.
    pub(crate) fn known(&self, host: &str) -> Option<IpAddr> {
        known(&self.resolve, host)
    }

    /// Whether `host` may be visited at `address`.
    pub(crate) fn check(&self, host: &str, address: IpAddr) -> Result<(), Failure> {
        if !address.is_loopback() && !self.has_contact {
            let detail = format!("{address} is not on this machine, and `contact` is not set");
            return Err(Failure::new(FailureKind::Contact, detail));
        }
        let resolved = self.resolve.contains_key(host);
        if is_link_local(address) && !resolved {
            let detail =
                format!("{address} is a link-local address; name {host} in `resolve` if meant");
            return Err(Failure::new(FailureKind::Address, detail));
        }
        let named = self.named.contains(host) || resolved;
        let local = self.is_local && address.is_loopback() && literal_address(host).is_some();
        if named || local || is_public(address) {
            return Ok(());
        }
        let detail = format!("{address} is not a public address, and {host} is no seed");
        Err(Failure::new(FailureKind::Address, detail))
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => mapped.is_link_local(),
            None => address.is_unicast_link_local(),
        },
    }
}

fn known(resolve: &BTreeMap<String, IpAddr>, host: &str) -> Option<IpAddr> {
    resolve.get(host).copied().or_else(|| literal_address(host))
}

/// The host as [`crate::site::Site::host`] gives it.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of `host` at `address`, in a crawl of one seed.
    #[track_caller]
    fn check(seed: &str, contact: &str, host: &str, address: &str, failure: Option<FailureKind>) {
        let config = Config { contact: contact.to_owned(), ..Config::default() };
        let guard = Guard::new(&config, &[seed.parse().expect("a URL")]);
        let verdict = guard.check(host, address.parse().expect("an address"));
        assert_eq!(verdict.err().map(|failure| failure.kind), failure, "{host} at {address}");
    }

    #[test]
    fn addresses_by_who_named_them() {
        use FailureKind::{Address, Contact};
        let (far, near, me) = ("http://shop.example/", "http://[::1]:8080/", "me@a.example");
        check(far, me, "other.example", "9.9.9.9", None);
        check(far, me, "other.example", "10.0.0.1", Some(Address));
        check(far, me, "other.example", "127.0.0.1", Some(Address));
        check(far, me, "shop.example", "10.0.0.1", None);
        check(far, me, "shop.example", "169.254.169.254", Some(Address));
        check(far, me, "shop.example", "::ffff:169.254.169.254", Some(Address));
        check("http://169.254.169.254/", me, "169.254.169.254", "169.254.169.254", Some(Address));
        check(far, me, "localhost", "127.0.0.1", Some(Address));
        check(near, "", "::1", "::1", None);
        check(near, "", "127.0.0.1", "127.0.0.1", None);
        check(near, "", "rebound.example", "127.0.0.1", Some(Address));
        check(near, "", "other.example", "9.9.9.9", Some(Contact));
        check(near, me, "10.0.0.1", "10.0.0.1", Some(Address));
    }
}

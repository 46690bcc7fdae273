//! Which addresses may be connected to.
//!
//! What lives here: addresses of hosts that are known without DNS, and whether an address may be used. What does
//! not: DNS lookups (`fetch/`).
//!
//! **Invariant.** An address that is not public is used only for what the user named: a host in `resolve`, or a
//! host and port in a seed. A seed without a port names both usual ones. A seed on this machine opens no other
//! port of it, wherever a page, a redirect or a robots.txt leads. A link-local address, where clouds keep their
//! secrets, is used only if `resolve` names it. Without a contact only loopback is used.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use page::Url;

use crate::address::spelt_host;
use crate::config::Config;
use crate::error::CrawlError;
use crate::outcome::{Failure, FailureKind};
use crate::site::{Site, host_of, is_public, literal_addresses};

/// The default ports of http and https.
const USUAL_PORTS: [u16; 2] = [80, 443];

pub(crate) struct Guard {
    resolve: BTreeMap<String, IpAddr>,
    /// The hosts of the seeds, with their ports.
    named: BTreeSet<(String, u16)>,
    has_contact: bool,
}

impl Guard {
    pub(crate) fn new(config: &Config, seeds: &[Url]) -> Result<Guard, CrawlError> {
        let mut named = BTreeSet::new();
        for seed in seeds {
            let (host, port) =
                (host_of(seed).to_owned(), seed.port_or_known_default().unwrap_or_default());
            if USUAL_PORTS.contains(&port) {
                named.extend(USUAL_PORTS.map(|port| (host.clone(), port)));
            } else {
                named.insert((host, port));
            }
        }
        Ok(Guard { resolve: resolved(config)?, named, has_contact: !config.contact.is_empty() })
    }

    /// Checks that the crawl may begin: a host on another machine needs a contact.
    pub(crate) fn check_contact(&self) -> Result<(), CrawlError> {
        let elsewhere = |host: &&String| {
            let known = self.known(host);
            known.is_empty() || known.iter().any(|address| !address.is_loopback())
        };
        match self.named.iter().map(|(host, _)| host).find(elsewhere) {
            Some(host) if !self.has_contact => Err(CrawlError::NoContact { host: host.clone() }),
            _ => Ok(()),
        }
    }

    /// Returns the addresses of a host that are known without DNS, the best first; may be empty.
    pub(crate) fn known(&self, host: &str) -> Vec<IpAddr> {
        match self.resolve.get(host) {
            Some(&address) => vec![address],
            None => literal_addresses(host),
        }
    }

    /// Checks that `site` may be visited at `address`.
    pub(crate) fn check(&self, site: &Site, address: IpAddr) -> Result<(), Failure> {
        let host = site.host();
        if !address.is_loopback() && !self.has_contact {
            let detail = format!(
                "{host} at {address} belongs to others; set `contact` to an address where they reach you"
            );
            return Err(Failure::new(FailureKind::Contact, detail));
        }
        let resolved = self.resolve.contains_key(host);
        if is_link_local(address) && !resolved {
            let detail =
                format!("{address} is a link-local address; name {host} in `resolve` if meant");
            return Err(Failure::new(FailureKind::Address, detail));
        }
        let is_named = || self.named.contains(&(host.to_owned(), site.port()));
        if resolved || is_public(address) || is_named() {
            return Ok(());
        }
        let detail = format!(
            "{address} is not a public address, and {site} is no seed; name {host} in `resolve` if meant"
        );
        Err(Failure::new(FailureKind::Address, detail))
    }
}

/// Returns the table `resolve`, with hosts in the spelling of URLs.
pub(crate) fn resolved(config: &Config) -> Result<BTreeMap<String, IpAddr>, CrawlError> {
    let wrong = |why| CrawlError::Config { key: "resolve", why };
    let mut resolved = BTreeMap::new();
    for (written, &address) in &config.resolve {
        let host = spelt_host(written)
            .ok_or_else(|| wrong(format!("{written:?} is no host, such as \"shop.test\"")))?;
        if resolved.insert(host, address).is_some_and(|before| before != address) {
            return Err(wrong(format!("{written:?} is there twice, with different addresses")));
        }
    }
    Ok(resolved)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a site at `address`, in a crawl of one seed.
    #[track_caller]
    fn check(seed: &str, contact: &str, site: &str, address: &str, failure: Option<FailureKind>) {
        let resolve = BTreeMap::from([("Named.Test".to_owned(), IpAddr::from([127, 0, 0, 1]))]);
        let config = Config { contact: contact.to_owned(), resolve, ..Config::default() };
        let guard = Guard::new(&config, &[seed.parse().expect("a URL")]).expect("it is sound");
        let site = Site::parse(site).expect("a site");
        let verdict = guard.check(&site, address.parse().expect("an address"));
        assert_eq!(verdict.err().map(|failure| failure.kind), failure, "{site} at {address}");
    }

    #[test]
    fn private_addresses_are_allowed_only_for_seeds() {
        use FailureKind::{Address, Contact};
        let (far, near, me) = ("http://shop.example/", "http://[::1]:8080/", "me@a.example");
        check(far, me, "http://other.example", "9.9.9.9", None);
        check(far, me, "http://other.example", "10.0.0.1", Some(Address));
        check(far, me, "http://other.example", "127.0.0.1", Some(Address));
        check(far, me, "http://shop.example", "10.0.0.1", None);
        check(far, me, "https://shop.example", "10.0.0.1", None);
        check(far, me, "http://shop.example:81", "10.0.0.1", Some(Address));
        check(far, me, "http://shop.example:81", "9.9.9.9", None);
        check(far, me, "http://shop.example", "169.254.169.254", Some(Address));
        check(far, me, "http://shop.example", "::ffff:169.254.169.254", Some(Address));
        check(far, me, "http://localhost", "127.0.0.1", Some(Address));
        let cloud = "http://169.254.169.254";
        check(&format!("{cloud}/"), me, cloud, "169.254.169.254", Some(Address));
        check(near, "", "http://[::1]:8080", "::1", None);
        check(near, "", "https://[::1]:8080", "::1", None);
        check(near, "", "http://[::1]:8081", "::1", Some(Address));
        check(near, "", "http://[::1]", "::1", Some(Address));
        check(near, "", "http://127.0.0.1:8080", "127.0.0.1", Some(Address));
        check(near, "", "http://named.test:99", "127.0.0.1", None);
        check(near, "", "http://rebound.example:8080", "127.0.0.1", Some(Address));
        check(near, "", "http://other.example", "9.9.9.9", Some(Contact));
        check(near, me, "http://10.0.0.1", "10.0.0.1", Some(Address));
    }

    #[test]
    fn invalid_names_in_resolve_are_refused() {
        let check = |names: &[&str]| {
            let addresses = (1..).map(|last| IpAddr::from([127, 0, 0, last]));
            let names = names.iter().map(|&name| name.to_owned());
            resolved(&Config { resolve: names.zip(addresses).collect(), ..Config::default() })
        };
        assert!(check(&["BÜCHER.test", "a.test"]).is_ok_and(|table| {
            table.contains_key("xn--bcher-kva.test") && table.contains_key("a.test")
        }));
        for names in [&["a.test:80"][..], &["http://a.test"], &["*.a.test"], &["A.test", "a.test"]]
        {
            assert!(check(names).is_err(), "{names:?}");
        }
    }
}

//! A site: scheme and authority, the unit of politeness and of robots.txt.
//!
//! What lives here: cutting a normalised URL into site and path without parsing it again. What
//! does not: the state of a site in a crawl, which is in `frontier/`.
//!
//! **Invariant.** `site.url(path)` gives back the URL that was cut.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A number for a site, given in order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// Where requests go: `http://example.com:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// `http://example.com:8080`, without the slash.
    key: Box<str>,
    /// Where the authority begins in it.
    authority: usize,
    /// Where the host ends.
    host_end: usize,
    port: u16,
}

impl Site {
    /// Cuts a normalised URL into its site and its path.
    pub(crate) fn split(url: &str) -> Option<(&str, &str)> {
        let authority = url.find("://")? + 3;
        let path = authority + url.get(authority..)?.find(['/', '?'])?;
        Some((&url[..path], &url[path..]))
    }

    /// Reads what [`Site::split`] cut off.
    pub(crate) fn parse(key: &str) -> Option<Site> {
        let authority = key.find("://")? + 3;
        let usual = match &key[..authority] {
            "http://" => 80,
            "https://" => 443,
            _ => return None,
        };
        // The colons inside the brackets of an IPv6 address are not the port's.
        let bracket = key.find(']').unwrap_or(authority);
        let (host_end, port) = match key[bracket..].find(':') {
            Some(at) => (bracket + at, key[bracket + at + 1..].parse().ok()?),
            None => (key.len(), usual),
        };
        (host_end > authority).then(|| Site { key: key.into(), authority, host_end, port })
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.key)
    }

    /// Host and port, as in the header `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.key[self.authority..]
    }

    /// The host alone; an IPv6 address without its brackets.
    pub(crate) fn host(&self) -> &str {
        let host = &self.key[self.authority..self.host_end];
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.key.starts_with("https")
    }
}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.key)
    }
}

/// Whether an address is of the public internet: not private, loopback, link-local, multicast,
/// documentation, reserved, nor any of these in IPv6 clothes (W6).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            !(matches!(a, 0 | 10 | 127 | 224..)
                || a == 100 && b & 0xC0 == 64 // shared by carriers
                || a == 169 && b == 254
                || a == 172 && b & 0xF0 == 16
                || a == 192 && b == 168
                || (a, b, c) == (192, 0, 0)
                || (a, b, c) == (192, 88, 99)
                || a == 198 && b & 0xFE == 18 // benchmarks
                || address.is_documentation())
        }
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public(IpAddr::from([a, b, c, d]))
    };
    match address.segments() {
        // Mapped, translated (RFC 6052) and tunnelled (6to4) IPv4.
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, benchmarks, documentation.
        [0x2001, 0 | 2 | 0x0DB8, ..] | [0x3FFF, 0..=0x0FFF, ..] => false,
        // Global unicast is 2000::/3; nothing else is handed out.
        [first, ..] => first & 0xE000 == 0x2000,
    }
}

/// The address that a name means without asking anybody: an address literal, or `localhost` and
/// all below it (RFC 6761).
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let local = host == "localhost" || host.ends_with(".localhost");
    local.then_some(IpAddr::from([127, 0, 0, 1]))
}

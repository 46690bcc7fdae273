//! A site: scheme and authority, the unit of politeness and of robots.txt.
//!
//! What lives here: splitting a normalised URL into site and path without parsing it again. What does not: the
//! state of a site in a crawl, which is in `frontier/`.
//!
//! **Invariant.** `site.url(path)` returns the URL that was split.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use page::Url;

/// A number for a site, given in order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// The target of requests: `http://example.com:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// `http://example.com:8080`, without the slash.
    key: Box<str>,
    /// Where the authority begins in the key.
    authority: usize,
    /// Where the host ends in the key.
    host_end: usize,
    port: u16,
}

impl Site {
    /// Splits a normalised URL into its site and its path.
    pub(crate) fn split(url: &str) -> Option<(&str, &str)> {
        let authority = url.find("://")? + 3;
        let path = authority + url.get(authority..)?.find(['/', '?'])?;
        Some((&url[..path], &url[path..]))
    }

    /// Parses the site part of [`Site::split`].
    pub(crate) fn parse(key: &str) -> Option<Site> {
        let authority = key.find("://")? + 3;
        let usual = match &key[..authority] {
            "http://" => 80,
            "https://" => 443,
            _ => return None,
        };
        // The colons inside the brackets of an IPv6 address are not that of the port.
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

    /// Returns host and port, as in the header `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.key[self.authority..]
    }

    /// Returns the host; an IPv6 address without its brackets.
    pub(crate) fn host(&self) -> &str {
        bare(&self.key[self.authority..self.host_end])
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

/// Returns the host of a URL; an IPv6 address without its brackets.
pub fn host_of(url: &Url) -> &str {
    bare(url.host_str().unwrap_or_default())
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Returns whether an address is public: not private, loopback, link-local, multicast, documentation or reserved,
/// and no such IPv4 address embedded in IPv6.
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
        // Global unicast is 2000::/3; nothing else is assigned.
        [first, ..] => first & 0xE000 == 0x2000,
    }
}

/// Returns the addresses of a name that needs no DNS: an address literal, or `localhost` and its subdomains (RFC
/// 6761).
pub(crate) fn literal_addresses(host: &str) -> Vec<IpAddr> {
    if let Ok(address) = host.parse() {
        return vec![address];
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    if host == "localhost" || host.ends_with(".localhost") {
        return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, authority: &str, host: &str, port: u16, path: &str) {
        let (key, found) = Site::split(url).expect("it has a path");
        let site = Site::parse(key).expect("a site");
        assert_eq!((site.authority(), site.host(), site.port()), (authority, host, port), "{url}");
        assert_eq!((found, site.url(found)), (path, url.to_owned()));
        assert_eq!(site.is_tls(), url.starts_with("https:"));
    }

    #[test]
    fn urls_split_into_host_port_and_path() {
        check("http://a.example/", "a.example", "a.example", 80, "/");
        check("https://a.example/b:9/", "a.example", "a.example", 443, "/b:9/");
        check(
            "http://a.example:8080/?x=http://y:1/",
            "a.example:8080",
            "a.example",
            8080,
            "/?x=http://y:1/",
        );
        check("https://[::1]/x", "[::1]", "::1", 443, "/x");
        check("http://[2001:db8::1]:81/]:5", "[2001:db8::1]:81", "2001:db8::1", 81, "/]:5");
    }

    #[test]
    fn invalid_sites_are_refused() {
        assert_eq!(Site::split("dns:a.example"), None);
        assert_eq!(Site::split("http://a.example"), None);
        for key in ["ftp://a", "http://", "http://:80", "http://a:65536", "http://a:b"] {
            assert_eq!(Site::parse(key), None, "{key}");
        }
    }

    #[test]
    fn literal_and_localhost_names_need_no_lookup() {
        for (name, wanted) in [
            ("127.0.0.9", &["127.0.0.9"][..]),
            ("::1", &["::1"]),
            ("localhost", &["127.0.0.1", "::1"]),
            ("a.localhost.", &["127.0.0.1", "::1"]),
            ("notlocalhost", &[]),
            ("localhost.example", &[]),
        ] {
            let wanted: Vec<IpAddr> =
                wanted.iter().map(|text| text.parse().expect("an address")).collect();
            assert_eq!(literal_addresses(name), wanted, "{name}");
        }
    }

    /// The special-purpose registries of IANA (RFC 6890 and its successors).
    #[test]
    fn public_and_special_addresses_are_distinguished() {
        let public = [
            "9.9.9.9",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.0.1",
            "223.255.255.1",
            "2001:4860::1",
            "2606::1",
            "::ffff:9.9.9.9",
            "64:ff9b::909:909",
            "2002:909:909::1",
        ];
        let private = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::1",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
        ];
        let is_public = |text: &&str| is_public(text.parse().expect("an address"));
        assert_eq!(public.iter().find(|text| !is_public(text)), None);
        assert_eq!(private.iter().find(|text| is_public(text)), None);
    }
}

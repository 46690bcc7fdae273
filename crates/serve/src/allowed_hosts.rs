//! Host names and addresses accepted in requests.
//!
//! An attacker's site can point its own name at this machine (DNS rebinding). Its pages could then read answers
//! of this server through a local browser. Their requests have the attacker's name in `Host`, so the server
//! refuses unknown names.
//!
//! **Invariant.** A name is served only if it is `localhost` or configured. An address is served only if it
//! is a loopback address, configured, or the listening address. A server on the unspecified address serves
//! all addresses.
//!
//! Reference: RFC 9110, sections 7.2 and 15.5.20; RFC 9112, section 3.2.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, StatusCode, Uri, Version, header};

/// The hosts that the server accepts.
pub(crate) struct AllowedHosts {
    listen: SocketAddr,
    /// Additional hosts from the configuration, in lower case.
    configured: Vec<String>,
}

/// The reason for refusing a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) why: String,
}

impl AllowedHosts {
    pub(crate) fn new(listen: SocketAddr, configured: &[String]) -> Self {
        Self { listen, configured: configured.iter().map(|host| host.to_lowercase()).collect() }
    }

    /// The host named in a request, with its port if present.
    pub(crate) fn host(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        version: Version,
    ) -> Result<String, Refused> {
        let bad = |why: &str| Refused { status: StatusCode::BAD_REQUEST, why: why.to_owned() };
        let mut fields = headers.get_all(header::HOST).iter();
        let field = match (fields.next(), fields.next()) {
            (Some(_), Some(_)) => return Err(bad("the request has two Host headers; send one")),
            (Some(field), None) => Some(field.to_str().map_err(|_| bad("invalid Host header"))?),
            (None, _) if version >= Version::HTTP_11 => {
                return Err(bad("the request has no Host header; send one"));
            }
            (None, _) => None,
        };
        // The authority of an absolute URI takes precedence over the header.
        let named = uri.authority().map(axum::http::uri::Authority::as_str).or(field);
        let Some(named) = named else { return Ok(self.listen.to_string()) };
        let name = without_port(named).ok_or_else(|| bad("invalid Host header"))?;
        let name = name.strip_suffix('.').unwrap_or(name).to_lowercase();
        if self.serves(&name) {
            return Ok(named.to_owned());
        }
        let why = format!(
            "this server does not answer for the host {name:?}; add it to `hosts` under [serve] in crivello.toml"
        );
        Err(Refused { status: StatusCode::MISDIRECTED_REQUEST, why })
    }

    fn serves(&self, name: &str) -> bool {
        if name == "localhost" || self.configured.iter().any(|host| host == name) {
            return true;
        }
        let listen = self.listen.ip().to_canonical();
        address(name).is_some_and(|address| {
            address.is_loopback() || address == listen || listen.is_unspecified()
        })
    }
}

/// Returns whether `host` is a name or an address without a port.
pub(crate) fn is_host(host: &str) -> bool {
    without_port(host) == Some(host)
}

/// The host of `host:port`. `None` if the host is invalid.
fn without_port(named: &str) -> Option<&str> {
    let host = if named.starts_with('[') {
        &named[..=named.find(']')?]
    } else {
        named.split(':').next().unwrap_or_default()
    };
    let port = &named[host.len()..];
    let is_port = |port: &str| {
        port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_host = address(host).is_some() || !host.is_empty() && host.bytes().all(is_name);
    (is_host && (port.is_empty() || is_port(port))).then_some(host)
}

/// Parses a host as an address.
fn address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical()),
        None => host.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// The status of a request with these `Host` headers; 200 if it is served.
    fn status(hosts: &AllowedHosts, uri: &str, fields: &[&str], version: Version) -> u16 {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(header::HOST, HeaderValue::from_str(field).expect("a value"));
        }
        let uri = uri.parse().expect("an address");
        hosts.host(&uri, &headers, version).map_or_else(|no| no.status.as_u16(), |_| 200)
    }

    fn check(listen: &str, configured: &[&str], expected: &[(&str, u16)]) {
        let configured: Vec<String> = configured.iter().map(|&host| host.to_owned()).collect();
        let hosts = AllowedHosts::new(listen.parse().expect("an address"), &configured);
        for (host, code) in expected {
            assert_eq!(status(&hosts, "/", &[host], Version::HTTP_11), *code, "{listen} {host}");
        }
    }

    #[test]
    fn a_loopback_server_accepts_only_local_hosts() {
        let expected = [
            ("localhost", 200),
            ("LOCALHOST:7700", 200),
            ("127.0.0.1:7700", 200),
            ("127.8.9.10", 200),
            ("[::1]:7700", 200),
            ("[::ffff:127.0.0.1]", 200),
            ("attacker.example", 421),
            ("attacker.example:7700", 421),
            ("localhost.attacker.example", 421),
            ("localhost.", 200),
            ("192.168.1.5", 421),
            ("0.0.0.0", 421),
            ("[2001:db8::1]", 421),
            ("127.0.0.1.nip.io", 421),
            ("", 400),
            ("a b", 400),
            ("localhost:77x", 400),
            ("attacker@localhost", 400),
            ("[::1", 400),
            ("::1", 400),
        ];
        check("127.0.0.1:7700", &[], &expected);
    }

    #[test]
    fn only_configured_names_and_listening_addresses_are_accepted() {
        let configured = ["Search.example.org", "203.0.113.5"];
        let everywhere = [
            ("search.example.org", 200),
            ("SEARCH.example.org:80", 200),
            ("search.example.org.", 200),
            ("192.168.1.5:7700", 200),
            ("[2001:db8::1]:7700", 200),
            ("other.example.org", 421),
        ];
        check("0.0.0.0:7700", &configured, &everywhere);
        check("[::]:7700", &configured, &everywhere);
        let here = [
            ("192.168.1.5:7700", 200),
            ("192.168.1.6:7700", 421),
            ("203.0.113.5", 200),
            ("127.0.0.1", 200),
        ];
        check("192.168.1.5:7700", &configured, &here);
    }

    #[test]
    fn a_request_must_name_exactly_one_host() {
        let hosts = AllowedHosts::new("127.0.0.1:7700".parse().expect("an address"), &[]);
        let status = |uri, fields: &[&str], version| status(&hosts, uri, fields, version);
        assert_eq!(status("/", &[], Version::HTTP_11), 400);
        assert_eq!(status("/", &[], Version::HTTP_10), 200);
        assert_eq!(status("/", &["localhost", "localhost"], Version::HTTP_11), 400);
        assert_eq!(status("http://a.example/", &["localhost"], Version::HTTP_11), 421);
        assert_eq!(status("http://localhost/", &["localhost"], Version::HTTP_11), 200);
    }

    #[test]
    fn a_configured_host_has_no_port_and_no_scheme() {
        for host in ["search.example.org", "192.168.1.5", "[2001:db8::1]"] {
            assert!(is_host(host), "{host}");
        }
        for host in ["", "a:80", "http://a", "a/b", "*", "2001:db8::1"] {
            assert!(!is_host(host), "{host}");
        }
    }
}

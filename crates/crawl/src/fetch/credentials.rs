//! What hosts are told besides the request: headers, basic authentication, cookies.
//!
//! What lives here: [`Credentials`], read once from the configuration and the cookies file, and
//! which of them belong to a request. What does not: cookies that servers set; a crawl keeps none.
//!
//! **Invariant.** What is meant for a host goes to no other, whatever redirects there; a cookie
//! marked secure goes over TLS only. The values are not written to the archive.
//!
//! Reference: A. Barth, RFC 6265 §5.1.3, §5.1.4 and §5.4, 2011; J. Reschke, RFC 7617, 2015.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use data_encoding::BASE64;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};

use crate::config::Config;
use crate::error::CrawlError;
use crate::site::Site;

/// Headers that the crawler itself answers for.
const OWN_HEADERS: [&str; 10] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "if-modified-since",
    "if-none-match",
    "range",
    "te",
    "transfer-encoding",
    "user-agent",
];

type Header = (HeaderName, HeaderValue);

/// All that may be told to some host.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    rules: Vec<Rule>,
    /// Those with longer paths first, as they are sent.
    cookies: Vec<Cookie>,
}

/// Headers for some hosts.
#[derive(Debug)]
struct Rule {
    hosts: Hosts,
    headers: Vec<Header>,
}

#[derive(Debug)]
enum Hosts {
    All,
    /// A host, on one port or on all.
    One(String, Option<u16>),
    /// All hosts that end so, with the dot.
    Below(String),
}

#[derive(Debug)]
struct Cookie {
    domain: String,
    subdomains: bool,
    path: String,
    secure: bool,
    /// 0 for never.
    expires_s: i64,
    pair: String,
}

impl Credentials {
    /// What the configuration says; the cookies file is read.
    pub(crate) fn new(config: &Config) -> Result<Credentials, CrawlError> {
        let mut credentials = Credentials { rules: rules(config)?, cookies: Vec::new() };
        let path = &config.cookies_file;
        if !path.as_os_str().is_empty() {
            credentials.cookies = read_cookies(path)?;
        }
        Ok(credentials)
    }

    /// Whether the configuration can be obeyed; no file is read.
    pub(crate) fn check(config: &Config) -> Result<(), CrawlError> {
        rules(config).map(|_| ())
    }

    /// Adds what belongs to a request; the names of what was added.
    pub(crate) fn add(
        &self,
        site: &Site,
        path: &str,
        now_s: i64,
        headers: &mut HeaderMap,
    ) -> Vec<HeaderName> {
        let mut added = Vec::new();
        let rules = self.rules.iter().filter(|rule| rule.hosts.matches(site));
        for (name, value) in rules.flat_map(|rule| &rule.headers) {
            if !added.contains(name) {
                added.push(name.clone());
            }
            headers.insert(name, value.clone());
        }
        let sent = |cookie: &&Cookie| cookie.matches(site, path, now_s);
        let pairs: Vec<&str> =
            self.cookies.iter().filter(sent).map(|cookie| cookie.pair.as_str()).collect();
        if let Some(value) = secret(&pairs.join("; ")).filter(|_| !pairs.is_empty()) {
            headers.insert(COOKIE, value);
            added.push(COOKIE);
        }
        added
    }
}

impl Hosts {
    fn parse(pattern: &str) -> Option<Hosts> {
        let pattern = pattern.to_ascii_lowercase();
        if pattern == "*" {
            return Some(Hosts::All);
        }
        if let Some(suffix) = pattern.strip_prefix('*') {
            let name = suffix.strip_prefix('.')?;
            let is_name = !name.is_empty() && !name.contains(['*', '/', ':']);
            return is_name.then(|| Hosts::Below(suffix.to_owned()));
        }
        let site = Site::parse(&format!("http://{pattern}"))?;
        let has_port =
            site.authority() != format!("[{}]", site.host()) && site.authority() != site.host();
        let is_name = !pattern.contains(['*', '/', '@', ' ']);
        let port = has_port.then_some(site.port());
        is_name.then(|| Hosts::One(site.host().to_owned(), port))
    }

    fn matches(&self, site: &Site) -> bool {
        match self {
            Hosts::All => true,
            Hosts::One(host, port) => {
                host == site.host() && port.is_none_or(|port| port == site.port())
            }
            Hosts::Below(suffix) => site.host().ends_with(suffix.as_str()),
        }
    }
}

impl Cookie {
    fn matches(&self, site: &Site, path: &str, now_s: i64) -> bool {
        let host = site.host();
        let above = host.strip_suffix(self.domain.as_str());
        let is_host = match above {
            Some("") => true,
            Some(above) => {
                self.subdomains && above.ends_with('.') && host.parse::<std::net::IpAddr>().is_err()
            }
            None => false,
        };
        let path = path.split('?').next().unwrap_or_default();
        let is_path = path.strip_prefix(self.path.as_str()).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/')
        });
        let is_alive = self.expires_s == 0 || now_s < self.expires_s;
        is_host && is_path && is_alive && (site.is_tls() || !self.secure)
    }

    /// Reads a line of Netscape's format: domain, whether its subdomains too, path, whether secure,
    /// when it expires, name and value, with tabs between them.
    fn parse(line: &str) -> Option<Cookie> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[domain, subdomains, path, secure, expires, name, value] = fields.as_slice() else {
            return None;
        };
        let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
        let flag = |text: &str| match text.to_ascii_uppercase().as_str() {
            "TRUE" => Some(true),
            "FALSE" => Some(false),
            _ => None,
        };
        // A cookie for all of `com` would go to strangers.
        let subdomains = flag(subdomains)? && domain.contains('.');
        let pair = format!("{name}={value}");
        let is_whole = !domain.is_empty() && path.starts_with('/') && secret(&pair).is_some();
        is_whole.then_some(Cookie {
            domain,
            subdomains,
            path: path.to_owned(),
            secure: flag(secure)?,
            expires_s: expires.parse().ok()?,
            pair,
        })
    }
}

fn rules(config: &Config) -> Result<Vec<Rule>, CrawlError> {
    let wrong = |key, why: String| CrawlError::Config { key, why };
    let mut rules = Vec::new();
    if !config.headers.is_empty() {
        let headers = headers(&config.headers).map_err(|why| wrong("headers", why))?;
        rules.push(Rule { hosts: Hosts::All, headers });
    }
    for auth in &config.auth {
        let bad_host = || wrong("auth", format!("{:?} is no host, nor `*.` and a host", auth.host));
        let hosts = Hosts::parse(&auth.host).ok_or_else(bad_host)?;
        let mut headers = headers(&auth.headers).map_err(|why| wrong("auth", why))?;
        if !auth.user.is_empty() {
            if auth.user.contains(':') {
                let why = format!("the user {:?} must not hold a colon", auth.user);
                return Err(wrong("auth", why));
            }
            let pair = format!("{}:{}", auth.user, auth.password);
            let value = secret(&format!("Basic {}", BASE64.encode(pair.as_bytes())));
            headers.push((AUTHORIZATION, value.expect("base 64 is printable")));
        }
        rules.push(Rule { hosts, headers });
    }
    Ok(rules)
}

fn headers(table: &BTreeMap<String, String>) -> Result<Vec<Header>, String> {
    let mut headers = Vec::with_capacity(table.len());
    for (name, value) in table {
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| format!("{name:?} is no name of a header"))?;
        if OWN_HEADERS.contains(&parsed.as_str()) {
            return Err(format!("the header {name} is the crawler's own"));
        }
        let value = secret(value).ok_or_else(|| format!("the value of {name} cannot be sent"))?;
        headers.push((parsed, value));
    }
    Ok(headers)
}

/// A value that no table of an HTTP/2 connection keeps.
fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn read_cookies(path: &Path) -> Result<Vec<Cookie>, CrawlError> {
    let text = fs::read_to_string(path).map_err(|error| CrawlError::Config {
        key: "cookies_file",
        why: format!("{}: {error}", path.display()),
    })?;
    let mut cookies = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let cookie = Cookie::parse(line).ok_or_else(|| CrawlError::Config {
            key: "cookies_file",
            why: format!("line {} of {} is no cookie", number + 1, path.display()),
        })?;
        cookies.push(cookie);
    }
    cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
    Ok(cookies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::HostAuth;

    /// What is sent with a request: names and values.
    fn sent(credentials: &Credentials, url: &str) -> Vec<String> {
        let (site, path) = Site::split(url).expect("a URL");
        let mut headers = HeaderMap::new();
        let site = Site::parse(site).expect("a site");
        let names = credentials.add(&site, path, 1_000, &mut headers);
        assert_eq!(names.len(), headers.len());
        let text = |name: &HeaderName| headers[name].to_str().expect("text").to_owned();
        names.iter().map(|name| format!("{name}: {}", text(name))).collect()
    }

    fn table(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn each_host_hears_its_own() {
        let auth = |host: &str, user: &str, headers: &[(&str, &str)]| HostAuth {
            host: host.to_owned(),
            user: user.to_owned(),
            password: "b:c".to_owned(),
            headers: table(headers),
        };
        let config = Config {
            headers: table(&[("X-All", "1")]),
            auth: vec![
                auth("a.test", "me", &[]),
                auth("*.b.test", "", &[("X-Key", "2")]),
                auth("c.test:81", "", &[("X-All", "3")]),
                auth("[::1]", "", &[("X-Six", "4")]),
            ],
            ..Config::default()
        };
        let all = Credentials::new(&config).expect("it is whole");
        for (url, wanted) in [
            ("http://a.test/", &["x-all: 1", "authorization: Basic bWU6Yjpj"][..]),
            ("https://a.test:8443/", &["x-all: 1", "authorization: Basic bWU6Yjpj"]),
            ("http://xa.test/", &["x-all: 1"]),
            ("http://a.test.evil/", &["x-all: 1"]),
            ("http://x.y.b.test/", &["x-all: 1", "x-key: 2"]),
            ("http://b.test/", &["x-all: 1"]),
            ("http://evilb.test/", &["x-all: 1"]),
            ("http://c.test:81/", &["x-all: 3"]),
            ("http://c.test/", &["x-all: 1"]),
            ("http://[::1]:7/", &["x-all: 1", "x-six: 4"]),
        ] {
            assert_eq!(sent(&all, url), wanted, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let check = |headers: &[(&str, &str)], host: &str, user: &str| {
            let auth = HostAuth { host: host.into(), user: user.into(), ..HostAuth::default() };
            let config = Config { headers: table(headers), auth: vec![auth], ..Config::default() };
            match Credentials::check(&config) {
                Err(CrawlError::Config { key, .. }) => Some(key),
                Err(error) => panic!("{error}"),
                Ok(()) => None,
            }
        };
        assert_eq!(check(&[("X-A", "b")], "a.test", "me"), None);
        assert_eq!(check(&[("Host", "b")], "a.test", "me"), Some("headers"));
        assert_eq!(check(&[("X A", "b")], "a.test", "me"), Some("headers"));
        assert_eq!(check(&[("X-A", "b\r\nX-B: c")], "a.test", "me"), Some("headers"));
        for host in ["", "*.", "*a.test", "a.*", "http://a.test", "a.test/b", "a.test:x"] {
            assert_eq!(check(&[], host, "me"), Some("auth"), "{host:?}");
        }
        assert_eq!(check(&[], "a.test", "m:e"), Some("auth"));
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("cookies.txt");
        let lines = "# Netscape HTTP Cookie File\n\n\
            a.test\tFALSE\t/\tFALSE\t0\tone\t1\n\
            .a.test\tTRUE\t/shop\tFALSE\t0\ttwo\t2\n\
            #HttpOnly_a.test\tFALSE\t/\tTRUE\t0\tsafe\t3\n\
            a.test\tFALSE\t/\tFALSE\t999\told\t4\n\
            a.test\tFALSE\t/\tFALSE\t1001\tnew\t5\n\
            .test\tTRUE\t/\tFALSE\t0\twide\t6\n";
        fs::write(&path, lines).expect("room for a file");
        let config = Config { cookies_file: path.clone(), ..Config::default() };
        let all = Credentials::new(&config).expect("it is whole");
        for (url, wanted) in [
            ("http://a.test/", "cookie: one=1; new=5"),
            ("https://a.test/", "cookie: one=1; safe=3; new=5"),
            ("http://a.test/shop?x=/", "cookie: two=2; one=1; new=5"),
            ("http://a.test/shop/x", "cookie: two=2; one=1; new=5"),
            ("http://a.test/shopping", "cookie: one=1; new=5"),
            ("http://b.a.test/shop", "cookie: two=2"),
            ("http://ba.test/shop", ""),
            ("http://a.test.evil/", ""),
            ("http://test/", "cookie: wide=6"),
        ] {
            assert_eq!(sent(&all, url).join(" "), wanted, "{url}");
        }
        fs::write(&path, "a.test\tFALSE\t/\n").expect("room for a file");
        let error = Credentials::new(&config).expect_err("half a line");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}

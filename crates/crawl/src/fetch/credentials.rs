//! Credentials: headers, basic authentication and cookies for some hosts.
//!
//! What lives here: [`Credentials`], read once from the configuration and the cookies file, the choice for a
//! request, and a warning about those that are never sent. What does not: the cookies themselves (`cookies.rs`).
//!
//! **Invariant.** Credentials for a host go to no other host, also after a redirect, and to no other scheme or
//! port of it. They are sent in the clear only if the rule says `http://`. Their values are neither in the archive
//! nor in a message.
//!
//! Reference: J. Reschke, RFC 7617, 2015.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use data_encoding::BASE64;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use page::Limits;

use super::cookies::{Cookie, is_shared, read_cookies};
use crate::address::{read_address, spelt_host};
use crate::config::{Config, HostAuth};
use crate::error::CrawlError;
use crate::seeds::{SITEMAP_PREFIX, read_seeds};
use crate::site::Site;

/// Headers that the crawler sets itself.
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

/// All configured credentials.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    rules: Vec<Rule>,
    cookies: Vec<Cookie>,
}

/// Headers for some hosts.
#[derive(Debug)]
struct Rule {
    hosts: Hosts,
    headers: Vec<Header>,
}

/// The sites of a rule.
#[derive(Debug, PartialEq, Eq)]
enum Hosts {
    /// All sites, for the key `headers`.
    Every,
    /// Sites with this scheme and port, and a matching name.
    Some { is_tls: bool, port: u16, names: Names },
}

#[derive(Debug, PartialEq, Eq)]
enum Names {
    One(String),
    /// All hosts with this suffix, which begins with a dot.
    Below(String),
}

impl Credentials {
    /// Reads the configuration and the cookies file.
    pub(crate) fn new(config: &Config) -> Result<Credentials, CrawlError> {
        let mut credentials = Credentials { rules: rules(config)?, cookies: Vec::new() };
        let path = &config.cookies_file;
        if !path.as_os_str().is_empty() {
            credentials.cookies = read_cookies(path)?;
        }
        Ok(credentials)
    }

    /// Checks the configuration; reads no files.
    pub(crate) fn check(config: &Config) -> Result<(), CrawlError> {
        rules(config).map(|_| ())
    }

    /// Adds the credentials of a request; returns the names of the added headers.
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
        let pairs: Vec<&str> = self.cookies.iter().filter(sent).map(Cookie::pair).collect();
        if pairs.is_empty() {
            return added;
        }
        // A rule may have cookies of its own; they come first in the one header that is allowed.
        let own = headers.get(COOKIE).and_then(|own| own.to_str().ok()).map(str::to_owned);
        let all: Vec<&str> = own.as_deref().into_iter().chain(pairs).collect();
        if let Some(value) = secret(&all.join("; ")) {
            headers.insert(COOKIE, value);
            if own.is_none() {
                added.push(COOKIE);
            }
        }
        added
    }
}

impl Credentials {
    /// Returns a warning about an `Authorization` for every host that some hosts do not get, since they have their
    /// own.
    fn beaten(&self) -> Option<String> {
        let has = |rule: &&Rule| rule.headers.iter().any(|(name, _)| name == AUTHORIZATION);
        let (every, some): (Vec<&Rule>, Vec<&Rule>) =
            self.rules.iter().filter(has).partition(|rule| rule.hosts == Hosts::Every);
        (!every.is_empty() && !some.is_empty()).then(|| {
            let which = if some.len() == 1 { "the one host" } else { "the hosts" };
            format!(
                "the header Authorization under `headers` goes to every host but {which} for which [[crawl.auth]] has \
                 another one"
            )
        })
    }
}

impl Hosts {
    /// Parses a host of `auth`: a name, or `*.` and a domain of one owner, with an optional scheme and port.
    /// Without a scheme it means https. A dot at the end of a name is ignored.
    fn parse(pattern: &str) -> Option<Hosts> {
        let (scheme, rest) = pattern.split_once("://").unwrap_or(("https", pattern));
        let scheme = scheme.to_ascii_lowercase();
        let is_tls = match scheme.as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let is_below = rest.starts_with("*.");
        let name = rest.strip_prefix("*.").unwrap_or(rest);
        if name.contains(['/', '\\', '@', '?', '#', ' ']) {
            return None;
        }
        let (name, port) = match name.rsplit_once(':').filter(|(host, _)| !is_half(host)) {
            Some((name, port)) => (name, port.parse().ok().filter(|&port| port > 0)?),
            None => (name, if is_tls { 443 } else { 80 }),
        };
        let name = spelt_host(name.strip_suffix('.').unwrap_or(name))?;
        let names = match is_below {
            true if is_shared(&name) => return None,
            true => Names::Below(format!(".{name}")),
            false => Names::One(name),
        };
        Some(Hosts::Some { is_tls, port, names })
    }

    /// Returns whether it names the host, but another scheme or port.
    fn misses(&self, site: &Site) -> bool {
        let is_named = match self {
            Hosts::Every => false,
            Hosts::Some { names, .. } => names.match_host(site.host()),
        };
        is_named && !self.matches(site)
    }

    fn matches(&self, site: &Site) -> bool {
        match self {
            Hosts::Every => true,
            Hosts::Some { is_tls, port, names } => {
                *is_tls == site.is_tls() && *port == site.port() && names.match_host(site.host())
            }
        }
    }
}

/// Formats the scheme and the port.
impl fmt::Display for Hosts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hosts::Every => out.write_str("every host"),
            Hosts::Some { is_tls, port, .. } => {
                write!(out, "{} on port {port}", if *is_tls { "https" } else { "http" })
            }
        }
    }
}

/// Returns whether the text before a colon is the beginning of an IPv6 address.
fn is_half(host: &str) -> bool {
    host.starts_with('[') && !host.ends_with(']')
}

impl Names {
    fn match_host(&self, host: &str) -> bool {
        match self {
            Names::One(name) => name == host,
            Names::Below(suffix) => host.ends_with(suffix.as_str()),
        }
    }
}

fn rules(config: &Config) -> Result<Vec<Rule>, CrawlError> {
    let wrong = |key, why: String| CrawlError::Config { key, why };
    let mut rules = Vec::new();
    if !config.headers.is_empty() {
        let headers = headers(&config.headers).map_err(|why| wrong("headers", why))?;
        rules.push(Rule { hosts: Hosts::Every, headers });
    }
    for (at, auth) in config.auth.iter().enumerate() {
        let wrong = |why| CrawlError::Auth { number: at + 1, why };
        let rule = rule(auth).map_err(wrong)?;
        check_twice(&rule, &rules).map_err(wrong)?;
        rules.push(rule);
    }
    Ok(rules)
}

/// Refuses a header that another entry of `auth` has for the same hosts: only one can be sent.
fn check_twice(rule: &Rule, others: &[Rule]) -> Result<(), String> {
    let same = others.iter().filter(|other| other.hosts == rule.hosts);
    let mut names = same.flat_map(|other| &other.headers).map(|(name, _)| name);
    match names.find(|name| rule.headers.iter().any(|(own, _)| own == *name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "an entry before it has the same host, and the header {name} as well; only one can be sent"
        )),
    }
}

/// Parses an entry of `auth`; an error never has its secrets.
fn rule(auth: &HostAuth) -> Result<Rule, String> {
    // The text before an `@` may be a password.
    let host = auth.host.rsplit('@').next().unwrap_or_default();
    let hosts = Hosts::parse(&auth.host).ok_or_else(|| {
        let and = if host == auth.host { "" } else { " with a user before it" };
        format!(
            "{host:?}{and} is no host, with or without a port from 1 to 65535, nor `*.` and a domain in which all \
             hosts are yours (not `*`, `*.com` or `*.co.uk`); https is meant unless it begins with `http://`"
        )
    })?;
    let mut headers = headers(&auth.headers)?;
    if auth.user.is_empty() {
        if !auth.password.is_empty() {
            return Err(format!(
                "the password for {host:?} has no `user`, so it would not be sent"
            ));
        }
        if headers.is_empty() {
            return Err(format!("{host:?} has neither a `user` nor `headers` that could be sent"));
        }
        return Ok(Rule { hosts, headers });
    }
    if auth.user.contains(':') {
        return Err(format!("the user for {host:?} must not contain a colon"));
    }
    if headers.iter().any(|(name, _)| name == AUTHORIZATION) {
        return Err(format!(
            "{host:?} has a `user` and the header Authorization; only one can be sent"
        ));
    }
    let pair = format!("{}:{}", auth.user, auth.password);
    let value = secret(&format!("Basic {}", BASE64.encode(pair.as_bytes())));
    headers.push((AUTHORIZATION, value.expect("base 64 is printable")));
    Ok(Rule { hosts, headers })
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

/// Returns a header value that HTTP/2 does not put into its compression tables.
pub(super) fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns warnings about passwords and cookies that are never sent. They follow from the configuration, the given
/// seeds, and the seeds of earlier runs in `frontier`. Each warning appears once.
pub fn unsent_credentials(
    config: &Config,
    frontier: &Path,
    seeds: &[String],
) -> Result<Vec<String>, CrawlError> {
    let credentials = Credentials::new(config)?;
    let mut unsent: Vec<String> = credentials.cookies.iter().filter_map(Cookie::remark).collect();
    let mut urls = Vec::new();
    let mut with_password = BTreeSet::new();
    for seed in seeds {
        let seed = seed.strip_prefix(SITEMAP_PREFIX).unwrap_or(seed);
        // An invalid address is reported when the crawl begins.
        let Ok(url) = read_address(seed, &Limits::default()) else { continue };
        let after = seed.split_once("://").map_or("", |(_, after)| after);
        if after.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
            with_password.insert(url.host_str().unwrap_or_default().to_owned());
        }
        urls.push(url);
    }
    unsent.extend(with_password.iter().map(|host| {
        format!(
            "user and password in the address of a seed, {host}, are not sent: they belong under [[crawl.auth]] in \
             crivello.toml"
        )
    }));
    urls.extend(read_seeds(frontier)?);
    let sites: BTreeSet<&str> =
        urls.iter().filter_map(|url| Some(Site::split(url.as_str())?.0)).collect();
    let sites: Vec<Site> = sites.into_iter().filter_map(Site::parse).collect();
    unsent.extend(missed(config, &sites));
    unsent.extend(credentials.beaten());
    let mut told = BTreeSet::new();
    unsent.retain(|remark| told.insert(remark.clone()));
    Ok(unsent)
}

/// Returns a warning for each rule that matches the name of a site, but not its scheme or port, if no other rule
/// matches the site.
fn missed(config: &Config, sites: &[Site]) -> Vec<String> {
    let rules = config.auth.iter().filter_map(|auth| Some((auth, Hosts::parse(&auth.host)?)));
    let rules: Vec<_> = rules.collect();
    let mut missed: Vec<Vec<&Site>> = vec![Vec::new(); rules.len()];
    for site in sites.iter().filter(|site| !rules.iter().any(|(_, hosts)| hosts.matches(site))) {
        if let Some(at) = rules.iter().position(|(_, hosts)| hosts.misses(site)) {
            missed[at].push(site);
        }
    }
    let remark = |(sites, (auth, hosts)): (Vec<&Site>, &(&HostAuth, Hosts))| {
        let first = sites.first()?;
        let others = match sites.len() - 1 {
            0 => String::new(),
            others => format!(" (nor to {others} more of the seeds' hosts)"),
        };
        let clear = if first.is_tls() { "" } else { ", where everybody on the way can read it" };
        Some(format!(
            "what [[crawl.auth]] has for {:?} goes to {hosts} only, and so not to {first}{others}; write \
             host = {:?} to send it there{clear}",
            auth.host,
            first.key()
        ))
    };
    missed.into_iter().zip(&rules).filter_map(remark).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the names and values that are sent with a request.
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
    fn each_host_receives_only_its_own_headers() {
        let auth = |host: &str, user: &str, headers: &[(&str, &str)]| HostAuth {
            host: host.to_owned(),
            user: user.to_owned(),
            password: if user.is_empty() { String::new() } else { "b:c".to_owned() },
            headers: table(headers),
        };
        let config = Config {
            headers: table(&[("X-All", "1")]),
            auth: vec![
                auth("A.test", "me", &[]),
                auth("*.b.test", "", &[("X-Key", "2")]),
                auth("c.test:81", "", &[("X-All", "3")]),
                auth("http://[0::1]:7", "", &[("X-Six", "4")]),
                auth("http://intranet", "", &[("X-In", "5")]),
                auth("bücher.test", "", &[("X-Book", "6")]),
                auth("*.b.test.:444", "", &[("X-Port", "7")]),
                auth("dot.test.", "", &[("X-Dot", "8")]),
            ],
            ..Config::default()
        };
        let all = Credentials::new(&config).expect("it is whole");
        for (url, wanted) in [
            ("https://a.test/", &["x-all: 1", "authorization: Basic bWU6Yjpj"][..]),
            ("http://a.test/", &["x-all: 1"]),
            ("http://a.test:443/", &["x-all: 1"]),
            ("https://a.test:8443/", &["x-all: 1"]),
            ("https://xa.test/", &["x-all: 1"]),
            ("https://a.test.evil/", &["x-all: 1"]),
            ("https://x.y.b.test/", &["x-all: 1", "x-key: 2"]),
            ("http://x.y.b.test/", &["x-all: 1"]),
            ("https://x.b.test:444/", &["x-all: 1", "x-port: 7"]),
            ("https://dot.test/", &["x-all: 1", "x-dot: 8"]),
            ("https://b.test/", &["x-all: 1"]),
            ("https://evilb.test/", &["x-all: 1"]),
            ("https://c.test:81/", &["x-all: 3"]),
            ("http://c.test:81/", &["x-all: 1"]),
            ("https://c.test/", &["x-all: 1"]),
            ("http://[::1]:7/", &["x-all: 1", "x-six: 4"]),
            ("https://[::1]:7/", &["x-all: 1"]),
            ("http://intranet/", &["x-all: 1", "x-in: 5"]),
            ("https://intranet/", &["x-all: 1"]),
            ("https://xn--bcher-kva.test/", &["x-all: 1", "x-book: 6"]),
        ] {
            assert_eq!(sent(&all, url), wanted, "{url}");
        }
        let dir = tempfile::tempdir().expect("a temporary folder");
        let remarks = |seed: &str| {
            unsent_credentials(&config, dir.path(), &[seed.to_owned()]).expect("it is whole")
        };
        assert_eq!(remarks("https://a.test/"), [""; 0]);
        assert_eq!(remarks("http://other.test/"), [""; 0]);
        let said = remarks("sitemap:a.test:81/");
        assert!(said.len() == 1 && said[0].contains("host = \"http://a.test:81\""), "{said:?}");
        let said = remarks("http://a.test/x");
        assert!(said.len() == 1 && said[0].contains("host = \"http://a.test\""), "{said:?}");
        let said = remarks("https://me:word@other.test/");
        assert!(said.len() == 1 && said[0].contains("[[crawl.auth]]"), "{said:?}");
        assert!(!said[0].contains("word@") && !said[0].contains(":word"), "{said:?}");
        // Seeds of earlier runs count, too, and every site once.
        let kept = "http://a.test/x\nhttps://a.test/\nsitemap:http://a.test/y\n";
        fs::write(dir.path().join("seeds"), kept).expect("room for a file");
        for seeds in [&[][..], &["http://a.test/".to_owned()]] {
            let said = unsent_credentials(&config, dir.path(), seeds).expect("it is whole");
            assert!(said.len() == 1 && said[0].contains("host = \"http://a.test\""), "{said:?}");
        }
    }

    #[test]
    fn unsent_credentials_are_reported_once_for_several_urls() {
        let (host, user) = ("*.b.test".to_owned(), "me".to_owned());
        let auth = HostAuth { host, user, ..HostAuth::default() };
        let config = Config { auth: vec![auth], ..Config::default() };
        let dir = tempfile::tempdir().expect("a temporary folder");
        let seeds =
            ["https://me:word@other.test/", "https://me:word@other.test/2"].map(str::to_owned);
        let said = unsent_credentials(&config, dir.path(), &seeds).expect("it is whole");
        assert_eq!(said.len(), 1, "{said:?}");
        let seeds =
            ["http://x.b.test/", "http://y.b.test/", "https://z.b.test/"].map(str::to_owned);
        let said = unsent_credentials(&config, dir.path(), &seeds).expect("it is whole");
        let words =
            ["\"*.b.test\" goes to https on port 443", "http://x.b.test (nor to 1 more", "read it"];
        assert!(said.len() == 1 && words.iter().all(|word| said[0].contains(word)), "{said:?}");
    }

    #[test]
    fn an_overridden_authorization_is_reported_once() {
        let auth = |host: &str| HostAuth {
            host: host.to_owned(),
            user: "me".to_owned(),
            ..HostAuth::default()
        };
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (header, hosts, times) in [
            ("Authorization", &["a.test", "b.test"][..], 1),
            ("Authorization", &[], 0),
            ("X-Key", &["a.test"], 0),
        ] {
            let headers = table(&[(header, "Bearer word")]);
            let auth = hosts.iter().map(|host| auth(host)).collect();
            let config = Config { headers, auth, ..Config::default() };
            let said = unsent_credentials(&config, dir.path(), &[]).expect("it is whole");
            assert!(said.len() == times && !said.concat().contains("word"), "{said:?}");
        }
    }

    #[test]
    fn invalid_headers_are_refused() {
        let check = |headers: &[(&str, &str)], host: &str, user: &str| {
            let auth = HostAuth { host: host.into(), user: user.into(), ..HostAuth::default() };
            let config = Config { headers: table(headers), auth: vec![auth], ..Config::default() };
            match Credentials::check(&config) {
                Err(CrawlError::Config { key, .. }) => Some(key),
                Err(CrawlError::Auth { number: 1, .. }) => Some("auth"),
                Err(error) => panic!("{error}"),
                Ok(()) => None,
            }
        };
        assert_eq!(check(&[("X-A", "b")], "a.test", "me"), None);
        assert_eq!(check(&[("Host", "b")], "a.test", "me"), Some("headers"));
        assert_eq!(check(&[("X A", "b")], "a.test", "me"), Some("headers"));
        assert_eq!(check(&[("X-A", "b\r\nX-B: c")], "a.test", "me"), Some("headers"));
        for host in [
            "",
            "*.",
            "*a.test",
            "a.*",
            "ftp://a.test",
            "http://",
            "a.test/b",
            "a.test:x",
            "a.test:0",
            "a.test:65536",
            "a.test:",
            "a:1:2",
            "http://me@a.test",
            "[::1",
            "*.*",
            "*",
            "*:444",
            "*.com",
            "*.co.uk",
            "*.intranet",
            "http://*.test:81",
        ] {
            assert_eq!(check(&[], host, "me"), Some("auth"), "{host:?}");
        }
        assert_eq!(check(&[], "a.test", "m:e"), Some("auth"));
        let auth = |user: &str, password: &str, headers: &[(&str, &str)]| HostAuth {
            host: "a.test".to_owned(),
            user: user.to_owned(),
            password: password.to_owned(),
            headers: table(headers),
        };
        let dotted = |auth| HostAuth { host: "A.test.:443".to_owned(), ..auth };
        for (bad, words) in [
            (auth("", "word", &[]), "has no `user`"),
            (auth("", "", &[]), "neither a `user` nor `headers`"),
            (auth("me", "word", &[("authorization", "Bearer word")]), "only one can be sent"),
            (
                auth("", "", &[("x-key", "word")]),
                "before it has the same host, and the header x-key",
            ),
            (dotted(auth("you", "word", &[])), "the same host, and the header authorization"),
        ] {
            let good = [auth("me", "", &[]), auth("", "", &[("X-Key", "Bearer word")])];
            let auth = good.into_iter().chain([bad]).collect();
            let config = Config { auth, ..Config::default() };
            let error = Credentials::check(&config).expect_err("it is not sent").to_string();
            assert!(error.contains("entry 3: ") && error.contains(words), "{error}");
            assert!(!error.contains("word\"") && !error.contains("Bearer"), "{error}");
        }
        for (host, user) in [("a.test", "me:word"), ("http://me:word@a.test", "me")] {
            let auth = HostAuth { host: host.into(), user: user.into(), ..HostAuth::default() };
            let config = Config { auth: vec![auth], ..Config::default() };
            let error = Credentials::check(&config).expect_err("it cannot be sent").to_string();
            assert!(error.contains("a.test") && !error.contains("word"), "{error}");
        }
    }

    #[test]
    fn rule_cookies_and_file_cookies_share_a_header() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let cookies_file = dir.path().join("cookies.txt");
        let lines = "a.test\tFALSE\t/\tFALSE\t0\tone\t1\n.co.uk\tTRUE\t/\tFALSE\t0\twide\t7\n\
            .co.uk\tTRUE\t/\tFALSE\t0\twider\t8\n";
        fs::write(&cookies_file, lines).expect("room for a file");
        let headers = table(&[("Cookie", "own=9")]);
        let config = Config { headers, cookies_file, ..Config::default() };
        let all = Credentials::new(&config).expect("it is whole");
        assert_eq!(sent(&all, "http://a.test/"), ["cookie: own=9; one=1"]);
        assert_eq!(sent(&all, "http://b.test/"), ["cookie: own=9"]);
        let said = unsent_credentials(&config, dir.path(), &[]).expect("it is whole");
        assert!(said.len() == 1 && said[0].contains("all of co.uk"), "{said:?}");
        fs::remove_file(&config.cookies_file).expect("it is there");
        let error = Credentials::new(&config).expect_err("there is no file");
        assert!(error.to_string().contains("`cookies_file`"), "{error}");
    }
}

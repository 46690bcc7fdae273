//! How URLs are spelt, and their sort-friendly form.
//!
//! What lives here: `http://www.example.com:8080/a?b` → `com,example,www:8080)/a?b`. Hosts are written
//! from the right, so that pages of one host, and hosts of one domain, sort together. What does not:
//! canonicalisation. The Internet Archive's tools also fold case, drop `www.` and sort the query. Here two URLs keep
//! two keys if a server may distinguish them.
//!
//! **Invariant.** A key holds no white space and no control character, so that it is one field of a
//! CDXJ line.
//!
//! Reference: Internet Archive, "Sort-friendly URI Reordering Transform" (Heritrix), in the form
//! without scheme that CDX files use.

use std::fmt::Write as _;

use url::{Host, Url};

/// Converts the hex digits of a web address's escapes to upper case. Addresses that differ in nothing else become
/// equal (RFC 3986, 6.2.2.1). Other names are left unchanged.
pub(crate) fn upper_case_escapes(url: &str) -> String {
    let mut spelt = url.to_owned();
    let is_web = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if is_web("http://") || is_web("https://") {
        for (at, _) in url.match_indices('%') {
            let digits = url.as_bytes().get(at + 1..at + 3);
            if digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                spelt[at + 1..at + 3].make_ascii_uppercase();
            }
        }
    }
    spelt
}

/// The key of `url` in CDXJ files, and the order of documents. The scheme does not matter for http and https,
/// nor do the fragment and the user; what is no http URL is its own key.
pub fn surt(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) if url.scheme() == "http" || url.scheme() == "https" => of_http(&url),
        _ => {
            let mut key = String::with_capacity(url.len());
            for c in url.trim().chars() {
                if c.is_whitespace() || c.is_control() {
                    let mut utf8 = [0; 4];
                    for byte in c.encode_utf8(&mut utf8).bytes() {
                        write!(key, "%{byte:02X}").expect("to a string");
                    }
                } else {
                    key.push(c);
                }
            }
            if key.is_empty() { "-".to_owned() } else { key }
        }
    }
}

fn of_http(url: &Url) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    match url.host() {
        Some(Host::Domain(name)) => {
            for (at, label) in name.trim_end_matches('.').rsplit('.').enumerate() {
                if at > 0 {
                    key.push(',');
                }
                key.push_str(label);
            }
        }
        Some(address) => key.push_str(&address.to_string()),
        None => {}
    }
    if let Some(port) = url.port() {
        write!(key, ":{port}").expect("to a string");
    }
    key.push(')');
    key.push_str(url.path());
    if let Some(query) = url.query() {
        key.push('?');
        key.push_str(query);
    }
    key
}

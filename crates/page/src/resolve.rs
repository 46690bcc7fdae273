//! Resolves the references of one page to URLs, with a fast path for plain ones.
//!
//! [`Resolver`] gives the same result as [`normalise`]. Nearly every reference is plain: a path or a whole URL whose
//! characters need no encoding. It has no dot segments, except `../` at its start. The resolver checks a plain
//! reference byte by byte and appends it to the directory or the host of the base. [`normalise`] handles all other
//! references. `assemble.rs` builds the URL.
//!
//! **Invariant.** The result equals that of [`normalise`] for every reference and every base.
//!
//! Reference: <https://url.spec.whatwg.org/#concept-basic-url-parser>. A plain reference passes its "path start",
//! "path" and "query" states unchanged.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use ::url::{Host, Position, Url};
use memchr::memchr;

use crate::assemble::{Authority, assemble};
use crate::content::Known;
use crate::url::{has_lower_case_digits, normalise, upper_case_escapes};
use crate::{Limits, PageError};

/// Resolves references against one base.
pub(crate) struct Resolver<'a> {
    base: &'a Url,
    limits: &'a Limits,
    /// The parts of the base to which plain references are appended. `None` if the base itself is not plain.
    site: Option<Site<'a>>,
}

struct Site<'a> {
    authority: Authority<'a>,
    /// The path up to its last slash, with that slash.
    directory: &'a str,
}

/// The parts of the URL of a plain reference.
struct Plain<'a> {
    authority: Authority<'a>,
    directory: &'a str,
    /// The rest of the path, and the query.
    rest: &'a str,
    /// The byte of `rest` where the `?` of the query is.
    query: Option<usize>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(base: &'a Url, limits: &'a Limits) -> Self {
        Self { base, limits, site: Site::of(base) }
    }

    /// The URL of the reference `raw`. `None` if it is invalid, too long, or neither http nor https.
    pub(crate) fn resolve(&self, raw: &str) -> Option<Url> {
        self.resolve_unknown(raw, &|_| false, &mut String::new()).ok()?
    }

    /// The URL of the reference `raw`, or an error. `None` if the URL is `known`. `spelling` is a buffer for reuse.
    pub(crate) fn resolve_unknown(
        &self,
        raw: &str,
        known: Known<'_>,
        spelling: &mut String,
    ) -> Result<Option<Url>, PageError> {
        if let Some(plain) = self.plain(raw) {
            let Plain { authority, directory, rest, query } = plain;
            let bytes = authority.prefix.len() + directory.len() + rest.len();
            if bytes.max(raw.len()) <= self.limits.url_bytes_max {
                spelling.clear();
                for part in [authority.prefix, directory, rest] {
                    spelling.push_str(part);
                }
                if known(spelling) {
                    return Ok(None);
                }
                let query = query.map(|at| authority.prefix.len() + directory.len() + at);
                if let Some(url) = assemble(&authority, spelling, query) {
                    return Ok(Some(url));
                }
            }
        }
        let url = normalise(raw, Some(self.base), self.limits)?;
        Ok(Some(url).filter(|url| !known(url.as_str())))
    }

    fn plain<'b>(&'b self, raw: &'b str) -> Option<Plain<'b>> {
        let raw = without_fragment(raw);
        let Site { authority, directory } = self.site.as_ref()?;
        if raw.starts_with('/') {
            let query = query_of_plain(raw).filter(|_| !raw.starts_with("//"))?;
            return Some(Plain { authority: *authority, directory: "", rest: raw, query });
        }
        if let Some((authority, rest)) = Authority::split(raw) {
            let query = query_of_plain(rest)?;
            return Some(Plain { authority, directory: "", rest, query });
        }
        let (mut directory, mut rest) = (*directory, raw);
        while let Some(above) = rest.strip_prefix("../") {
            let without_slash = &directory[..directory.len() - 1];
            let parent = without_slash.rfind('/').map_or(0, |slash| slash);
            directory = &directory[..=parent];
            rest = above;
        }
        // A colon in the first segment ends a scheme.
        let first = rest.split(['/', '?']).next().unwrap_or_default();
        if rest.is_empty() || rest.starts_with('?') || first.contains(':') {
            return None;
        }
        let query = query_of_plain(rest)?;
        Some(Plain { authority: *authority, directory, rest, query })
    }
}

impl<'a> Site<'a> {
    fn of(base: &'a Url) -> Option<Self> {
        let is_web = matches!(base.scheme(), "http" | "https");
        if !is_web || !base.username().is_empty() || base.password().is_some() {
            return None;
        }
        let address = match base.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address),
            Host::Ipv6(_) => return None,
        };
        let authority = Authority {
            prefix: &base[..Position::BeforePath],
            scheme_bytes: base.scheme().len(),
            address,
            host_bytes: base.host_str()?.len(),
            port: base.port(),
        };
        let path = base.path();
        let directory = &path[..=path.rfind('/')?];
        matches!(upper_case_escapes(directory), Cow::Borrowed(_))
            .then_some(Self { authority, directory })
    }
}

impl<'a> Authority<'a> {
    /// The scheme, host and port of a whole URL in normal form, and the rest. `None` if they are not in normal form.
    fn split(raw: &'a str) -> Option<(Self, &'a str)> {
        let (scheme_bytes, own_port) = if raw.starts_with("https://") {
            (5, 443)
        } else if raw.starts_with("http://") {
            (4, 80)
        } else {
            return None;
        };
        let host_start = scheme_bytes + 3;
        let is_host = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
        };
        let host_bytes = raw[host_start..].bytes().position(|byte| !is_host(byte))?;
        let (name, rest) = raw[host_start..].split_at(host_bytes);
        let address = plain_host(name)?;
        let (port, rest) = match rest.strip_prefix(':') {
            Some(rest) => {
                let (digits, rest) = rest.split_at(rest.find('/')?);
                let port = digits.parse().ok().filter(|port| *port != own_port)?;
                let is_plain = digits == "0" || digits.starts_with(|c| matches!(c, '1'..='9'));
                (Some(port).filter(|_| is_plain), rest)
            }
            None => (None, rest),
        };
        let prefix = &raw[..raw.len() - rest.len()];
        let is_plain = rest.starts_with('/') && (port.is_some() || prefix.ends_with(name));
        let authority = Self { prefix, scheme_bytes, address, host_bytes, port };
        is_plain.then_some((authority, rest))
    }
}

/// The IPv4 address of a host, or `Some(None)` for a name. The outer `None` means that normalisation may change it.
#[expect(clippy::option_option, reason = "it may not be plain, or be a name")]
fn plain_host(name: &str) -> Option<Option<Ipv4Addr>> {
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.starts_with(|c: char| c.is_ascii_digit()) {
        // The address parser rejects the other spellings of IPv4 addresses.
        return name.parse().ok().map(Some);
    }
    // A name in Punycode must be validated, so it takes the slow path.
    let is_plain = last.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.starts_with(['.', '-'])
        && !name.contains("..")
        && !name.contains("--");
    is_plain.then_some(None)
}

/// Parses a URL as [`Url::parse`] does. It is faster for URLs in the spelling of [`normalise`].
pub fn parse_normal(text: &str) -> Option<Url> {
    let quick = || {
        let (authority, rest) = Authority::split(text)?;
        let query = query_of_plain(rest)?.map(|at| authority.prefix.len() + at);
        assemble(&authority, text, query)
    };
    quick().or_else(|| Url::parse(text).ok())
}

/// The reference without its fragment. The `#` is kept after blanks, because they are then part of the URL.
pub(crate) fn without_fragment(raw: &str) -> &str {
    match memchr(b'#', raw.as_bytes()) {
        Some(at) if raw[..at].ends_with(|c: char| c <= ' ') => &raw[..=at],
        Some(at) => &raw[..at],
        None => raw,
    }
}

/// The byte where the query begins, or `Some(None)` without a query. The outer `None` means that normalisation may
/// change the path or the query.
#[expect(clippy::option_option, reason = "it may not be plain, or have no query")]
fn query_of_plain(rest: &str) -> Option<Option<usize>> {
    let bytes = rest.as_bytes();
    if is_plain_path(bytes) {
        return Some(None);
    }
    let mut is_segment_start = true;
    for (at, &byte) in bytes.iter().enumerate() {
        match CLASSES[usize::from(byte)] {
            Class::Slash => is_segment_start = true,
            // A segment that begins with a dot may be a dot segment.
            Class::Dot if is_segment_start => return None,
            Class::Dot => {}
            // A segment with an escaped dot may also be one. Lower-case hex digits change to upper case.
            Class::Percent if is_dot(&bytes[at + 1..]) => return None,
            Class::Percent if has_lower_case_digits(&bytes[at + 1..]) => return None,
            Class::Plain | Class::Percent => is_segment_start = false,
            Class::Question => {
                let is_plain = |at: usize| match bytes[at] {
                    b'\'' => false,
                    b'%' => !has_lower_case_digits(&bytes[at + 1..]),
                    byte => CLASSES[usize::from(byte)] != Class::Other,
                };
                return (at + 1..bytes.len()).all(is_plain).then_some(Some(at));
            }
            Class::Other => return None,
        }
    }
    Some(None)
}

/// Returns whether a path without a query certainly stays unchanged. Most paths do. The loop body has no branch.
#[expect(clippy::needless_bitwise_bool, reason = "a branch a byte costs more than the byte")]
fn is_plain_path(bytes: &[u8]) -> bool {
    let (mut before, mut is_special) = (b'/', false);
    for &byte in bytes {
        let class = CLASSES[usize::from(byte)];
        is_special |= (class as u8 > Class::Dot as u8) | ((before == b'/') & (byte == b'.'));
        before = byte;
    }
    !is_special
}

fn is_dot(after_percent: &[u8]) -> bool {
    matches!(after_percent, [b'2', b'e' | b'E', ..])
}

/// The class of a byte in a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Slash,
    Dot,
    Percent,
    Question,
    /// A byte that normalisation may encode, remove or replace.
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!$&'()*+,;=:@";
    let mut at = 0;
    while at < plain.len() {
        classes[plain[at] as usize] = Class::Plain;
        at += 1;
    }
    classes[b'/' as usize] = Class::Slash;
    classes[b'.' as usize] = Class::Dot;
    classes[b'%' as usize] = Class::Percent;
    classes[b'?' as usize] = Class::Question;
    classes
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of references, most of them plain.
    fn reference() -> impl Strategy<Value = String> {
        let pieces = vec![
            "/",
            "/",
            "a",
            "b.html",
            "c",
            "..",
            "../",
            "../",
            "./",
            ".",
            "%2e",
            "%2E",
            "%41",
            "%c3",
            "%aF",
            "%",
            "?",
            "q=1",
            "&",
            "'",
            "#",
            "#top",
            " ",
            "\t",
            ":",
            "http://",
            "https://",
            "HTTP://",
            "example.com",
            "a.example",
            "www.a-b.example",
            "Example.com",
            "xn--bcher-kva",
            "1",
            "127.0.0.1",
            ".",
            "-",
            "--",
            ":80",
            ":80/",
            ":443/",
            ":08/",
            ":0/",
            ":8080/",
            ":65536/",
            "@",
            "\\",
            "é",
            "|",
            "^",
            "`",
            "{",
            "~",
            "_",
            "+",
            ",",
            ";",
            "=",
            "!",
            "$",
            "(",
            "*",
            "\"",
            "<",
            "[",
            "]",
            "\0",
        ];
        prop::collection::vec(prop::sample::select(pieces), 0..9).prop_map(|pieces| pieces.concat())
    }

    fn base() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "http://example.com/",
            "http://example.com/dir/page.html?a=b",
            "http://example.com/%c3/page.html",
            "https://example.com:8443/a//b/",
            "http://127.0.0.1:8000/a/b/c/d.html#e",
            "http://[::1]/a",
            "http://user:secret@example.com/a/",
            "mailto:a@b",
            "file:///C:/a/b",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn resolved_references_are_normalised(
            raw in reference(), base in base(), any in any::<String>(), bytes_max in 20..80_usize,
        ) {
            let base = Url::parse(base).expect("a URL");
            for url_bytes_max in [2048, bytes_max] {
                let limits = Limits { url_bytes_max, ..Limits::default() };
                let resolver = Resolver::new(&base, &limits);
                for raw in [&raw, &any] {
                    let expected = normalise(raw, Some(&base), &limits).ok();
                    let found = resolver.resolve(raw);
                    prop_assert_eq!(&found, &expected);
                    let Some((found, expected)) = found.zip(expected) else { continue };
                    // The internal offsets must also be equal, which `==` does not compare.
                    prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                    let again = parse_normal(expected.as_str());
                    prop_assert_eq!(format!("{again:?}"), format!("{:?}", Some(&expected)));
                    let key = without_fragment(raw);
                    prop_assert_eq!(resolver.resolve(key), Some(expected), "{:?} of {:?}", key, raw);
                }
            }
        }
    }

    /// Plain references take the fast path.
    #[test]
    fn plain_references_take_the_fast_path() {
        let base = Url::parse("http://127.0.0.1:8000/a/b/c.html").expect("a URL");
        let limits = Limits::default();
        let resolver = Resolver::new(&base, &limits);
        for raw in [
            "d.html",
            "d/e.html#f",
            "../d",
            "../../../d?e=f",
            "/d/",
            "/",
            "https://example.com/d?e",
            "http://a-b.example/",
            "http://127.0.0.1:8000/",
            "https://a:80/",
            "d%20e",
            "%C3%A9?%2F",
            "../d//e",
        ] {
            assert!(resolver.plain(raw).is_some(), "{raw}");
        }
        for raw in [
            "",
            "#",
            "?a",
            ".",
            "./a",
            "a/../b",
            "a/%2e",
            "a b",
            "%c3%A9",
            "d?%2f",
            "//a/",
            "http://a",
            "http://1/",
            "http://A/",
            "http://a:80/",
            "http://a@b/",
            "é",
            "a:b",
            "a\tb",
            "a\\b",
            "http://xn--a/",
        ] {
            assert!(resolver.plain(raw).is_none(), "{raw}");
        }
    }
}

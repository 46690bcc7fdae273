//! Normalisation of URLs.
//!
//! [`normalise`] follows the WHATWG URL standard, as browsers do. Hex digits of escapes become upper case
//! (RFC 3986, 6.2.2.1). [`registered_domain`] uses the public suffix list. This module leaves out rules that may
//! change the response of the server, such as those for session ids, `index.html` or `www`.
//!
//! **Invariant.** [`normalise`] is idempotent: it returns its own results unchanged.
//!
//! Reference: <https://url.spec.whatwg.org/>, <https://publicsuffix.org/list/>.

use std::borrow::Cow;

use ::url::{Host, ParseError, Url};

use crate::{Limits, PageError};

/// Bytes of an invalid reference that an error message repeats.
const ERROR_RAW_BYTES: usize = 200;

/// The absolute URL of the reference `raw` on a page at `base`, http and https only. User information is removed,
/// because a crawler does not log in. The fragment is removed, because no server receives it.
///
/// The length is also checked before parsing, so that a reference of a megabyte costs little.
pub fn normalise(raw: &str, base: Option<&Url>, limits: &Limits) -> Result<Url, PageError> {
    // In every state of the URL parser the first '#' begins the fragment. The '#' itself is kept, because blanks before
    // it are part of the URL, while blanks at the end are removed.
    let fragment_start = raw.find('#');
    check_length(fragment_start.unwrap_or(raw.len()), limits)?;
    let whole = fragment_start.map_or(raw, |at| &raw[..=at]);
    let mut url =
        parse(whole, base).map_err(|source| PageError::Url { raw: excerpt(raw), source })?;
    if !is_web(&url) {
        let scheme = url.scheme().to_owned();
        return Err(PageError::Scheme { raw: excerpt(raw), scheme });
    }
    url.set_fragment(None);
    // Both calls fail only for a URL without a host, and an http URL always has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    check_length(url.as_str().len(), limits)?;
    match upper_case_escapes(url.as_str()) {
        Cow::Borrowed(_) => Ok(url),
        Cow::Owned(text) => {
            Url::parse(&text).map_err(|source| PageError::Url { raw: excerpt(raw), source })
        }
    }
}

/// The text with the hex digits of its escapes in upper case: `%2f` becomes `%2F`.
pub fn upper_case_escapes(text: &str) -> Cow<'_, str> {
    let mut spelt = Cow::Borrowed(text);
    for (at, _) in text.match_indices('%') {
        if has_lower_case_digits(&text.as_bytes()[at + 1..]) {
            spelt.to_mut()[at + 1..at + 3].make_ascii_uppercase();
        }
    }
    spelt
}

/// Returns whether an escape whose `%` has been read has a lower case digit.
pub(crate) fn has_lower_case_digits(after_percent: &[u8]) -> bool {
    after_percent.first_chunk().is_some_and(|digits: &[u8; 2]| {
        digits.iter().all(u8::is_ascii_hexdigit) && digits.iter().any(u8::is_ascii_lowercase)
    })
}

/// The registered domain of the host: `example.co.uk` for `www.example.co.uk`. `None` for IP addresses and for public
/// suffixes, such as `localhost` or `co.uk`.
pub fn registered_domain(url: &Url) -> Option<String> {
    let Some(Host::Domain(name)) = url.host() else { return None };
    psl::domain_str(name.trim_end_matches('.')).map(str::to_owned)
}

/// Parses a URL, with a workaround for version 2.5.8 of the `url` crate. With an http base, the standard reads any
/// number of slashes as two ("special authority ignore slashes state"). The crate reports an empty host instead.
fn parse(raw: &str, base: Option<&Url>) -> Result<Url, ParseError> {
    let options = Url::options().base_url(base);
    let parsed = options.parse(raw);
    if !matches!((&parsed, base), (Err(ParseError::EmptyHost), Some(base)) if is_web(base)) {
        return parsed;
    }
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let rest = raw.trim_start_matches(|c: char| c <= ' ' || is_slash(c));
    let slashes = raw[..raw.len() - rest.len()].chars().filter(|c| is_slash(*c)).count();
    if slashes > 2 { options.parse(&format!("//{rest}")) } else { parsed }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn check_length(bytes: usize, limits: &Limits) -> Result<(), PageError> {
    if bytes <= limits.url_bytes_max {
        return Ok(());
    }
    Err(PageError::UrlTooLong { bytes, bytes_max: limits.url_bytes_max })
}

fn excerpt(raw: &str) -> String {
    raw[..raw.floor_char_boundary(ERROR_RAW_BYTES)].to_owned()
}

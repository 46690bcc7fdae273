//! Parsing of web addresses that a person writes.
//!
//! What lives here: [`read_address`], for seeds and for questions about a URL; [`spelt_host`], for hosts in the
//! configuration. `example.org/page` means `http://example.org/page`, as in the address bar of a browser. A file,
//! an e-mail address or a scheme other than http is an error, and not taken for the name of a host. What does not:
//! links of pages, which are parsed as browsers do (`page::normalise`).
//!
//! **Invariant.** A parsed address has the scheme http or https and a host name that DNS allows, and is normalised
//! by [`page::normalise`].
//!
//! Reference: RFC 1123, section 2.1 (names of hosts).

use std::net::Ipv6Addr;

use page::{Limits, Url, normalise};

use crate::error::CrawlError;

/// Schemes followed by digits, as a host is by a port.
const DIALLED: [&str; 2] = ["tel", "sms"];
/// Maximum bytes of a name, and of a label of it.
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// Returns the URL that `text` means.
pub fn read_address(text: &str, limits: &Limits) -> Result<Url, CrawlError> {
    let text = text.trim();
    let wrong = |why: String| CrawlError::Address { text: text.to_owned(), why };
    let whole = whole(text).map_err(wrong)?;
    let url = normalise(&whole, None, limits).map_err(|error| {
        wrong(match error {
            page::PageError::Url { source, .. } => source.to_string(),
            other => other.to_string(),
        })
    })?;
    check_host(&url).map_err(wrong)?;
    Ok(url)
}

/// Adds a missing scheme to the text, or says why it is not an address.
fn whole(text: &str) -> Result<String, String> {
    let write = |meant: &str| format!("write http://{meant}");
    if text.is_empty() {
        return Err("it is empty; write for example http://example.org/".to_owned());
    }
    if text.contains(char::is_whitespace) {
        return Err("there is a blank in it; write one address a line, and %20 for a blank".into());
    }
    if let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err(format!("{scheme} is not crawled; write an address with http or https"));
        }
        // Browsers treat any number of slashes as two, and a folder as a host.
        return if rest.starts_with(['/', '\\']) {
            let meant = rest.trim_start_matches(['/', '\\']);
            Err(format!("it has no host; if {meant:?} is meant, {}", write(meant)))
        } else {
            Ok(text.to_owned())
        };
    }
    if let Some(meant) = text.strip_prefix("//").filter(|meant| !meant.starts_with('/')) {
        return Err(format!("it has no scheme; {}", write(meant)));
    }
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('\\') || is_drive(text) || matches!(authority, "" | "." | ".." | "~") {
        return Err(
            "it looks like a file; write http:// and a host before the path of a page, and \
                    give a file that lists addresses with --seeds"
                .to_owned(),
        );
    }
    if let Some((scheme, _)) = authority.split_once(':').filter(is_foreign) {
        return Err(if matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
            let rest = text[scheme.len() + 1..].trim_start_matches('/');
            format!("two slashes are missing; write {scheme}://{rest}")
        } else {
            format!(
                "the scheme {scheme}: is not crawled; write an address with http:// or https://"
            )
        });
    }
    if authority.contains('@') {
        return Err(
            "it looks like an e-mail address; write http:// and the host of a page, and give \
                    a user and a password with `auth`"
                .to_owned(),
        );
    }
    Ok(format!("http://{text}"))
}

fn is_scheme(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(letter)
}

/// Returns whether the text begins like `C:\` or `C:/`.
fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether the first colon ends a scheme, rather than separating a host from its port.
fn is_foreign(&(before, after): &(&str, &str)) -> bool {
    let is_port = !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
    let is_dialled = DIALLED.iter().any(|scheme| before.eq_ignore_ascii_case(scheme));
    is_scheme(before) && (!is_port || is_dialled)
}

/// Checks that the host of a URL can exist.
fn check_host(url: &Url) -> Result<(), String> {
    if url.port() == Some(0) {
        return Err("nothing listens on port 0; write the port of the server, or none".to_owned());
    }
    let host = url.host_str().unwrap_or_default();
    if host.starts_with('[') {
        return Ok(()); // an IPv6 address
    }
    if is_host_name(host) {
        return Ok(());
    }
    Err(format!("{host:?} cannot be the name of a host; write for example http://example.org/"))
}

/// Returns whether a text, spelt as in URLs, can be a host name.
fn is_host_name(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let is_label =
        |label: &str| (1..=LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(letter);
    name.len() <= NAME_BYTES_MAX && name.split('.').all(is_label)
}

/// Returns a host that a person wrote in the spelling of [`crate::site::Site::host`]: lower case, the ASCII form
/// of an international name, no brackets. `None` if it is not a single host.
pub(crate) fn spelt_host(written: &str) -> Option<String> {
    let bare = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(written).parse::<Ipv6Addr>() {
        return Some(address.to_string());
    }
    if written.contains([':', '/', '\\', '@', '?', '#', '*', ' ', '[']) {
        return None;
    }
    let url = Url::parse(&format!("http://{written}/")).ok()?;
    url.host_str().filter(|host| is_host_name(host)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, meant: &str) {
        let url = read_address(text, &Limits::default()).expect(text);
        assert_eq!(url.as_str(), meant, "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, hint: &str) {
        let error = match read_address(text, &Limits::default()) {
            Ok(url) => panic!("{text} is taken for {url}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(&format!("{:?}", text.trim())), "{error} does not name {text}");
        assert!(error.contains(hint), "{error} does not say {hint}");
    }

    #[test]
    fn seeds_parse_as_in_a_browser() {
        check("example.org", "http://example.org/");
        check(" example.org/path?q#part", "http://example.org/path?q");
        check("example.org?q", "http://example.org/?q");
        check("example.org:8080/a:b", "http://example.org:8080/a:b");
        check("localhost", "http://localhost/");
        check("localhost:7700", "http://localhost:7700/");
        check("127.0.0.1:80/x", "http://127.0.0.1/x");
        check("[::1]:8080/", "http://[::1]:8080/");
        check("my_host.example.org.", "http://my_host.example.org./");
        check("bücher.example", "http://xn--bcher-kva.example/");
        check("HTTPS://Example.org/A", "https://example.org/A");
        check("http://me:secret@example.org/", "http://example.org/");
        check("example.org/a@b", "http://example.org/a@b");
    }

    #[test]
    fn non_web_addresses_are_refused() {
        for path in ["/etc/passwd", "./seeds.txt", "../x", "~/x", ".", "\\\\server\\share"] {
            check_refused(path, "looks like a file");
        }
        for path in ["C:\\Users\\x", "c:/Users/x", "seeds\\list.txt", "///etc/passwd"] {
            check_refused(path, "looks like a file");
        }
        for scheme in ["mailto:x@y", "javascript:alert(1)", "data:text/html,x", "about:blank"] {
            check_refused(scheme, "is not crawled");
        }
        for scheme in ["ftp://example.org/x", "file:///etc/passwd", "tel:112", "urn:isbn:1"] {
            check_refused(scheme, "is not crawled");
        }
        check_refused("http:example.org", "write http://example.org");
        check_refused("https:/example.org/", "write https://example.org/");
        check_refused("//example.org/", "write http://example.org/");
        check_refused("http:///etc/passwd", "has no host");
        check_refused("http://", "empty host");
        check_refused("http://:80/", "empty host");
        check_refused("?q", "looks like a file");
        check_refused("me@example.org", "e-mail");
        check_refused("", "it is empty");
        check_refused("a.example b.example", "one address a line");
        check_refused("example.org:0", "port 0");
        check_refused("example.org:99999", "port");
        for host in ["a..example", "*.example.org", "http://a'b/", ".example.org", "..."] {
            check_refused(host, "cannot be the name of a host");
        }
        check_refused(&format!("{}.example", "a".repeat(64)), "cannot be the name of a host");
    }

    #[test]
    fn hosts_are_normalised_as_in_urls() {
        for (written, wanted) in [
            ("Good.Test", Some("good.test")),
            ("bücher.test", Some("xn--bcher-kva.test")),
            ("127.1", Some("127.0.0.1")),
            ("[::1]", Some("::1")),
            ("0:0::1", Some("::1")),
            ("", None),
            ("[::1", None),
            ("a.test:80", None),
            ("http://a.test", None),
            ("*.a.test", None),
            ("me@a.test", None),
            ("a b", None),
            ("a..test", None),
        ] {
            assert_eq!(spelt_host(written).as_deref(), wanted, "{written}");
        }
    }
}

//! Tests `normalise` with the cases of the WHATWG, with a table of the additions, and for idempotence.

use page::{Limits, PageError, Url, normalise, registered_domain, upper_case_escapes};
use proptest::prelude::*;
use serde::Deserialize;

use crate::shared::{self, url};

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Case(Case),
    Comment(#[expect(dead_code, reason = "comments between the cases")] String),
}

#[derive(Deserialize)]
struct Case {
    input: String,
    base: Option<String>,
    #[serde(default)]
    failure: bool,
    href: Option<String>,
}

/// The expected URL: http or https, without user information and fragment, and with upper-case digits in
/// escapes.
fn expected(case: &Case) -> Option<String> {
    let href = case.href.as_ref().filter(|_| !case.failure)?;
    let (scheme, rest) = href.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    Some(upper_case_escapes(&format!("{scheme}://{host}{path}")).into_owned())
}

/// Runs all cases. The authors of the parser list only cases of other schemes as failing.
#[test]
fn needs_shared_whatwg_cases() {
    let limits = Limits { url_bytes_max: 1 << 20, ..Limits::default() };
    let bytes = shared::read("url/rust-url/url/tests/urltestdata.json");
    let entries: Vec<Entry> = serde_json::from_slice(&bytes).expect("the published form");
    let (mut checked, mut refused) = (0, 0);
    for entry in entries {
        let Entry::Case(case) = entry else { continue };
        let base = case.base.as_deref().filter(|base| *base != "about:blank");
        let base = base.and_then(|base| Url::parse(base).ok());
        let found = normalise(&case.input, base.as_ref(), &limits).ok();
        let expected = expected(&case);
        let found = found.map(String::from);
        assert_eq!(found, expected, "{:?} at {:?}", case.input, case.base);
        checked += 1;
        refused += usize::from(expected.is_none());
    }
    assert!(checked > 800 && checked - refused > 200, "{checked} cases, {refused} refused");
}

#[test]
fn spelling() {
    let table = [
        ("http://example.com", "http://example.com/"),
        ("HTTP://EXAMPLE.com:80/", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
        ("http://example.com\\a\\b", "http://example.com/a/b"),
        ("  http://exa\nmple.com/ \t", "http://example.com/"),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("http://@example.com/", "http://example.com/"),
        ("http://example.com/#top", "http://example.com/"),
        ("http://example.com/?q=a#b?c#d", "http://example.com/?q=a"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/a b?c d", "http://example.com/a%20b?c%20d"),
        ("http://example.com/%7euser", "http://example.com/%7Euser"),
        ("http://example.com/caf%c3%a9?%2f%zz%2", "http://example.com/caf%C3%A9?%2F%zz%2"),
        ("http://bücher.example/ü?ü", "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("http:example.com/a", "http://example.com/a"),
        ("http:///example.com/a", "http://example.com/a"),
        ("http://example.com./", "http://example.com./"),
    ];
    for (raw, expected) in table {
        let found = normalise(raw, None, &Limits::default()).expect(raw);
        assert_eq!(found.as_str(), expected, "{raw:?}");
    }
}

#[test]
fn references() {
    let base = url("https://example.com/dir/page?q#f");
    let table = [
        ("", "https://example.com/dir/page?q"),
        ("#", "https://example.com/dir/page?q"),
        ("?", "https://example.com/dir/page?"),
        ("?r", "https://example.com/dir/page?r"),
        ("a", "https://example.com/dir/a"),
        ("./", "https://example.com/dir/"),
        ("../a", "https://example.com/a"),
        ("/a", "https://example.com/a"),
        ("//other.example/a", "https://other.example/a"),
        ("https:a", "https://example.com/dir/a"),
        ("http:a", "http://a/"),
        ("///other.example/a", "https://other.example/a"),
        (" \\/\t\\//other.example/a", "https://other.example/a"),
        (";p", "https://example.com/dir/;p"),
    ];
    for (raw, expected) in table {
        let found = normalise(raw, Some(&base), &Limits::default()).expect(raw);
        assert_eq!(found.as_str(), expected, "{raw:?}");
    }
}

#[test]
fn references_off_the_web_are_refused() {
    let base = url("https://example.com/");
    for raw in ["mailto:a@b", "javascript:void(0)", "ftp://example.com/", "data:,a", "file:///a"] {
        let error = normalise(raw, Some(&base), &Limits::default()).expect_err(raw);
        assert!(matches!(error, PageError::Scheme { .. }), "{raw}: {error}");
    }
    for raw in ["http://", "http://a b/", "http://[1", "http://a:99999/", "http://a^b/", "a"] {
        let error = normalise(raw, None, &Limits::default()).expect_err(raw);
        assert!(matches!(error, PageError::Url { .. }), "{raw}: {error}");
    }
}

#[test]
fn the_length_limit_applies_before_and_after_normalising() {
    let limits = Limits { url_bytes_max: 30, ..Limits::default() };
    let of = |raw: &str| normalise(raw, None, &limits);
    let exactly = "http://example.com/12345678901";
    assert_eq!(exactly.len(), 30);
    assert!(of(exactly).is_ok());
    assert!(of(&format!("{exactly}#a fragment is not sent")).is_ok());
    assert!(matches!(of(&format!("{exactly}2")), Err(PageError::UrlTooLong { bytes: 31, .. })));
    let grows = "http://example.com/üüü";
    assert!(grows.len() < 30);
    assert!(matches!(of(grows), Err(PageError::UrlTooLong { bytes: 37, .. })));
    let base = Url::parse("http://example.com/a/long/path/").expect("a URL");
    assert!(matches!(
        normalise("b", Some(&base), &limits),
        Err(PageError::UrlTooLong { bytes: 32, .. })
    ));
}

#[test]
fn errors_quote_only_a_part_of_the_reference() {
    let raw = format!("mailto:{}", "é".repeat(600));
    let message = normalise(&raw, None, &Limits::default()).expect_err("no web").to_string();
    assert!(message.len() < 300, "{} bytes", message.len());
}

#[test]
fn registered_domains() {
    let table = [
        ("http://www.example.com/", Some("example.com")),
        ("http://example.com./", Some("example.com")),
        ("http://a.b.example.co.uk/", Some("example.co.uk")),
        ("http://co.uk/", None),
        ("http://localhost/", None),
        ("http://127.0.0.1/", None),
        ("http://[::1]/", None),
    ];
    for (raw, expected) in table {
        assert_eq!(registered_domain(&url(raw)).as_deref(), expected, "{raw}");
    }
}

/// Pieces of URLs, so that unusual URLs are frequent.
fn reference() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("http://"),
        Just("https:"),
        Just("//"),
        Just("/"),
        Just("\\"),
        Just("?"),
        Just("#"),
        Just("@"),
        Just(":"),
        Just("80"),
        Just("."),
        Just(".."),
        Just("%2e"),
        Just("%c3"),
        Just("%"),
        Just("%zz"),
        Just("a"),
        Just("example.com"),
        Just("ü"),
        Just("\u{ad}"),
        Just("\t"),
        Just(" "),
        Just("\0"),
        Just("["),
        Just("::1"),
        Just("]"),
        Just("1.2.3.4"),
        Just("xn--"),
        Just("日本"),
        Just("|"),
        Just("C:"),
        Just("'"),
        Just("\u{fffd}"),
        Just("\u{feff}"),
        Just(";"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// `normalise` returns its own results unchanged, with and without a base.
    #[test]
    fn normalise_is_idempotent(first in reference(), second in reference(), any in any::<String>()) {
        let limits = Limits::default();
        let base = normalise(&first, None, &limits).ok();
        for raw in [&first, &second, &any] {
            let Ok(once) = normalise(raw, base.as_ref(), &limits) else { continue };
            prop_assert!(once.fragment().is_none() && once.username().is_empty());
            prop_assert!(once.password().is_none() && once.as_str().len() <= limits.url_bytes_max);
            let again = normalise(once.as_str(), None, &limits);
            prop_assert_eq!(again.as_ref().ok(), Some(&once));
            let elsewhere = normalise(once.as_str(), Some(&url("https://a.example/b")), &limits);
            prop_assert_eq!(elsewhere.as_ref().ok(), Some(&once));
        }
    }
}

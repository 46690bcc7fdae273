//! The value of `<meta http-equiv=refresh>`.
//!
//! The delay is ignored, because a crawler does not wait for it.
//!
//! **Invariant.** The result is a part of the value and is not empty.
//!
//! Reference: "shared declarative refresh steps",
//! <https://html.spec.whatwg.org/multipage/semantics.html#attr-meta-http-equiv-refresh>.

/// The URL in a value such as `5; url='/there'`. `None` if the page only reloads itself.
pub(super) fn target(content: &str) -> Option<&str> {
    let rest = content.trim_ascii_start();
    let after_digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_digits.len() == rest.len() && !rest.starts_with('.') {
        return None;
    }
    let after_time = after_digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !after_time.starts_with([';', ',', ' ', '\t', '\n', '\x0c', '\r']) {
        return None;
    }
    let rest = after_time.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let url = without_key(rest).unwrap_or(rest);
    let url = match url.chars().next()? {
        quote @ ('"' | '\'') => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some(url.trim_ascii()).filter(|url| !url.is_empty())
}

/// The text after `url=`.
fn without_key(rest: &str) -> Option<&str> {
    let key = rest.get(..3)?;
    if !key.eq_ignore_ascii_case("url") {
        return None;
    }
    rest[3..].trim_ascii_start().strip_prefix('=').map(str::trim_ascii_start)
}

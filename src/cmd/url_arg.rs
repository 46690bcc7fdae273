//! Reads the URL argument of `why` and `archive get`.
//!
//! **Invariant.** A URL that is too long for a crawl can still be looked up in the archive.

use anyhow::Result;
use page::Url;

/// The longest URL to look up: longer than any `url_bytes_max`.
pub(super) const URL_BYTES_MAX: usize = 1 << 16;

/// Reads a web address, with or without a scheme, or the name of an imported document without an address.
pub(super) fn read_url(text: &str) -> Result<Url> {
    if text.starts_with("urn:crivello:") {
        return Ok(Url::parse(text)?);
    }
    let limits = page::Limits { url_bytes_max: URL_BYTES_MAX, ..page::Limits::default() };
    Ok(crawl::read_address(text, &limits)?)
}

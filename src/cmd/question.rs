//! The URL that a question is about, as people write it.
//!
//! What lives here: [`read_url`], for `why` and `archive get`. What does not: what an address of the web is
//! (`crawl::read_address`).
//!
//! **Invariant.** What is read here can be asked of the archive, however long a URL a crawl would take.

use anyhow::Result;
use page::Url;

/// Bytes of a URL that can be asked for: more than `url_bytes_max` can be, so that it can be told.
pub(super) const URL_BYTES_MAX: usize = 1 << 16;

/// A web address, whose scheme may be left out, or the name of an imported document that has none.
pub(super) fn read_url(text: &str) -> Result<Url> {
    if text.starts_with("urn:crivello:") {
        return Ok(Url::parse(text)?);
    }
    let limits = page::Limits { url_bytes_max: URL_BYTES_MAX, ..page::Limits::default() };
    Ok(crawl::read_address(text, &limits)?)
}

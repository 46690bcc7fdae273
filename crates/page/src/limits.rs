//! The limits that every function of this crate observes.
//!
//! The crawl configures its own limits on pages, hosts and bytes.
//!
//! **Invariant.** These numbers bound the memory and the index space of one page.

/// Limits on the content of one page. Content beyond a limit is dropped without an error.
/// A URL beyond its limit is an error, because a shortened URL is another URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body that are read. The rest is ignored.
    pub body_bytes_max: usize,
    /// Bytes of a URL, before and after normalisation.
    pub url_bytes_max: usize,
    /// Links kept of a page. The first ones are kept.
    pub links_max: usize,
    /// Bytes of the text of one link.
    pub link_text_bytes_max: usize,
    /// Bytes of a title.
    pub title_bytes_max: usize,
    /// Bytes of a description.
    pub description_bytes_max: usize,
    /// Headings kept of a page. The first ones are kept.
    pub headings_max: usize,
    /// Bytes of one heading.
    pub heading_bytes_max: usize,
    /// Bytes of body text.
    pub text_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 16 << 20,
            url_bytes_max: 2048,
            links_max: 2000,
            link_text_bytes_max: 512,
            title_bytes_max: 1024,
            description_bytes_max: 2048,
            headings_max: 1000,
            heading_bytes_max: 512,
            text_bytes_max: 1 << 20,
        }
    }
}

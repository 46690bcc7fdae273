//! The limits that every function of this crate keeps to.
//!
//! What does not live here: how many pages, hosts or bytes a crawl takes.
//!
//! **Invariant.** What one page can take, in memory and in an index, is bounded by these numbers.

/// How much is taken from one page. What exceeds a limit is left out, never an error, except for
/// a URL: a URL cut short would be another URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body that are looked at; what follows is not read.
    pub body_bytes_max: usize,
    /// Bytes of a URL, before and after normalisation.
    pub url_bytes_max: usize,
    /// Links kept of a page, the earlier ones preferred.
    pub links_max: usize,
    /// Bytes of the text of one link.
    pub link_text_bytes_max: usize,
    /// Bytes of a title.
    pub title_bytes_max: usize,
    /// Bytes of a description.
    pub description_bytes_max: usize,
    /// Headings kept of a page, the earlier ones preferred.
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

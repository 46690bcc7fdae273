//! Under which URL a link finds its page: the one that the crawl visited it under.
//!
//! What lives here: the seam, and the spelling that changes nothing. What does not: the rules by which a
//! crawl makes one URL of several (`crawl.normalise`); they are the crawl's, and are handed in.
//!
//! **Invariant.** Spelt twice is spelt once. The `Debug` text of a spelling tells it from every other, so
//! that pages which were read with another one are read again.

use std::fmt;

use page::Url;

/// Spells URLs as the crawl does.
pub trait Spelling: fmt::Debug + Send + Sync {
    /// The URL under which the crawl knows the page that a link to `url` leads to.
    fn link(&self, url: Url) -> Url;

    /// The same of a redirect from `from` to `target`.
    fn redirect(&self, from: &Url, target: Url) -> Url;
}

/// Every URL as it was found.
#[derive(Debug, Clone, Copy)]
pub struct AsFound;

impl Spelling for AsFound {
    fn link(&self, url: Url) -> Url {
        url
    }

    fn redirect(&self, _: &Url, target: Url) -> Url {
        target
    }
}

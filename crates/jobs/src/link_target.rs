//! The URL under which a link finds its page: the URL that the crawl visited.
//!
//! What lives here: the trait, and the spelling that changes nothing. What does not: the normalisation rules of the
//! crawl (`crawl.normalise`). The caller passes them in.
//!
//! **Invariant.** Spelling is idempotent. Different spellings have different `Debug` texts, so a change of spelling
//! makes the stage read all pages again.

use std::fmt;

use page::Url;

/// Spells URLs as the crawl does.
pub trait LinkTarget: fmt::Debug + Send + Sync {
    /// The URL under which the crawl knows the page that a link to `url` leads to.
    fn link(&self, url: Url) -> Url;

    /// The URL under which the crawl knows the target of a redirect from `from` to `target`.
    fn redirect(&self, from: &Url, target: Url) -> Url;
}

/// Keeps every URL as it was found.
#[derive(Debug, Clone, Copy)]
pub struct Unchanged;

impl LinkTarget for Unchanged {
    fn link(&self, url: Url) -> Url {
        url
    }

    fn redirect(&self, _: &Url, target: Url) -> Url {
        target
    }
}

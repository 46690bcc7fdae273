//! What a crawl that follows no link may visit: what was given, and what that leads to without a link.
//!
//! What lives here: [`Given`], which a frontier has where `follow` is off, and by which a recrawl knows what a list names. Given are the seeds, where a given
//! URL redirects to, and what a given sitemap names. What does not: reading links, which such a crawl does not
//! (`answer.rs`); and that what is held back waits, for the archive keeps what every visit led to.
//!
//! **Invariant.** What [`Given::keep`] leaves of a harvest is given. About sixteen bytes are kept for a URL.

use std::collections::HashSet;

use sieve::signature;

use crate::answer::Purpose;
use crate::outcome::Harvest;
use crate::seeds::seed_line;

/// The URLs that were given, each as a page or as a sitemap.
#[derive(Debug, Default)]
pub(crate) struct Given {
    urls: HashSet<u64>,
}

impl Given {
    /// Takes note of a URL as it stands among the seeds.
    pub(crate) fn add(&mut self, seed: &str) {
        self.urls.insert(signature(seed.as_bytes()).0);
    }

    pub(crate) fn has(&self, purpose: Purpose, url: &str) -> bool {
        let seed = seed_line(url, purpose == Purpose::Sitemap);
        self.urls.contains(&signature(seed.as_bytes()).0)
    }

    pub(crate) fn len(&self) -> usize {
        self.urls.len()
    }

    /// Takes away what an answer from `url` leads to and was not given; what is left is given from now on.
    pub(crate) fn keep(
        &mut self,
        purpose: Purpose,
        url: &str,
        harvest: &mut Harvest,
    ) -> Vec<String> {
        // One that is given as a page leads on where it redirects to, and nothing that it names is given.
        let is_sitemap = purpose == Purpose::Sitemap && self.has(purpose, url);
        let is_given = is_sitemap || self.has(Purpose::Page, url);
        let mut held = Vec::new();
        if !is_sitemap {
            held.append(&mut harvest.links);
            held.append(&mut harvest.sitemaps);
        }
        if purpose == Purpose::Robots {
            return held; // Where it has moved is the host's business.
        }
        if !is_given {
            held.extend(harvest.redirect.take());
        }
        let Harvest { redirect, links, sitemaps, .. } = harvest;
        for url in redirect.iter() {
            self.add(&seed_line(url, is_sitemap));
        }
        for url in links.iter() {
            self.add(&seed_line(url, false));
        }
        for url in sitemaps.iter() {
            self.add(&seed_line(url, true));
        }
        held
    }
}

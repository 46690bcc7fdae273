//! What an answer leads to, and how that is put in: links, sitemaps, redirects.
//!
//! What lives here: how far away what was found is, which class it has, and what nests too deep. What does not: reading
//! an answer (`answer.rs`), and whether a URL was put in before, which the sieve says.
//!
//! **Invariant.** What is not put in is counted in its own run, by the limit that keeps it out; each URL that is too far
//! once.

use sieve::signature;

use super::depths::Depths;
use super::mark::Mark;
use super::{Frontier, SITEMAP_DEPTH_MAX};
use crate::answer::Purpose;
use crate::error::CrawlError;
use crate::outcome::Harvest;
use crate::site::Site;

/// Where URLs were found.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) site: &'a str,
    pub(super) purpose: Purpose,
    pub(super) hops: u8,
    pub(super) depth: u16,
}

impl Source<'_> {
    /// How far pages are that it links to on its own site. Those of a sitemap are as far as if the first page
    /// linked to them.
    fn depth_of_links(self) -> u16 {
        if self.purpose == Purpose::Sitemap { 1 } else { self.depth.saturating_add(1) }
    }
}

/// The limit on indexes of sitemaps, as it is counted.
pub(super) const SITEMAP_DEPTH: &str = "sitemap-depth";

impl Frontier {
    pub(super) fn harvest(
        &mut self,
        source: Source<'_>,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        self.lead(source, harvest)?;
        self.hosts.refuse(&harvest.refused);
        Ok(())
    }

    /// Puts in what an answer leads to.
    pub(super) fn lead(
        &mut self,
        source: Source<'_>,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        let Source { purpose, hops, .. } = source;
        for url in std::mem::take(&mut harvest.links) {
            self.offer_link(source, &url, harvest)?;
        }
        // An index of sitemaps names sitemaps; one that names indexes that name indexes is a trap.
        let depth = if purpose == Purpose::Sitemap { source.depth.saturating_add(1) } else { 0 };
        if depth > SITEMAP_DEPTH_MAX {
            for url in std::mem::take(&mut harvest.sitemaps) {
                if !self.near.contains(&signature(url.as_bytes())) {
                    self.drop_far(SITEMAP_DEPTH, &url);
                }
            }
        }
        for url in std::mem::take(&mut harvest.sitemaps) {
            self.offer_marked(&url, Mark { sitemap: true, depth, ..Mark::default() })?;
        }
        if let Some(url) = harvest.redirect.take_if(|_| purpose != Purpose::Robots) {
            if hops < self.hosts.redirects_max() {
                let sitemap = purpose == Purpose::Sitemap;
                let is_next = Site::split(&url).is_some_and(|(site, _)| site == source.site);
                let depth = if is_next || sitemap { source.depth } else { 0 };
                let mark = Mark { hops: hops + 1, sitemap, depth, is_next, ..Mark::default() };
                if sitemap {
                    self.offer_marked(&url, mark)?;
                } else {
                    self.offer_page(&url, mark)?;
                }
            } else {
                self.drop_far("redirects", &url);
            }
        }
        Ok(())
    }

    /// Counts a URL that is too far, once, however often it is found.
    fn drop_far(&mut self, limit: &str, url: &str) {
        if self.far.insert(signature(url.as_bytes())) {
            self.hosts.drop_urls(limit, 1);
        }
    }

    /// Puts in a link with its distance and its class, unless it is too far from the first page.
    fn offer_link(
        &mut self,
        source: Source<'_>,
        url: &str,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        let (site, path) = Site::split(url).unwrap_or(("", "/"));
        let is_same_site = site == source.site;
        let depth = if is_same_site { source.depth_of_links() } else { 0 };
        if self.depth_max > 0 && depth > self.depth_max {
            let is_near = |depths: &Depths| depths.has(signature(url.as_bytes()));
            if !self.depths.as_ref().is_some_and(is_near) {
                *harvest.refused.entry("depth".into()).or_default() += 1;
            }
            return Ok(());
        }
        let class = self.order.class(url, path, !is_same_site, harvest.similarity);
        self.offer_page(url, Mark { depth, class, ..Mark::default() })
    }
}

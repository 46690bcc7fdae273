//! Offering the URLs that an answer leads to: links, sitemaps, redirects.
//!
//! What lives here: the depth and class of these URLs, and the limits on depth, redirects and nesting. What does
//! not: parsing an answer (`answer.rs`), and duplicates, which the sieve removes.
//!
//! **Invariant.** Every URL that is not offered is counted by the limit that excludes it, and each URL beyond a
//! limit only once a run.

use sieve::signature;

use super::depths::Depths;
use super::url_meta::UrlMeta;
use super::{Frontier, SITEMAP_DEPTH_MAX};
use crate::answer::Purpose;
use crate::error::CrawlError;
use crate::outcome::Harvest;
use crate::site::Site;

/// The answer in which URLs were found.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) site: &'a str,
    pub(super) purpose: Purpose,
    pub(super) hops: u8,
    pub(super) depth: u16,
}

impl Source<'_> {
    /// Returns the depth of its links to its own site. Links of a sitemap count as if the first page had them.
    fn depth_of_links(self) -> u16 {
        if self.purpose == Purpose::Sitemap { 1 } else { self.depth.saturating_add(1) }
    }
}

/// The counter of the limit on sitemap indexes.
pub(super) const SITEMAP_DEPTH: &str = "sitemap-depth";

impl Frontier {
    pub(super) fn harvest(
        &mut self,
        source: Source<'_>,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        self.discover(source, harvest)?;
        self.hosts.refuse(&harvest.refused);
        Ok(())
    }

    /// Offers the URLs that an answer leads to.
    pub(super) fn discover(
        &mut self,
        source: Source<'_>,
        harvest: &mut Harvest,
    ) -> Result<(), CrawlError> {
        let Source { purpose, hops, .. } = source;
        for url in std::mem::take(&mut harvest.links) {
            self.offer_link(source, &url, harvest)?;
        }
        // An index names sitemaps; deeper nesting of indexes is a trap.
        let depth = if purpose == Purpose::Sitemap { source.depth.saturating_add(1) } else { 0 };
        if depth > SITEMAP_DEPTH_MAX {
            for url in std::mem::take(&mut harvest.sitemaps) {
                if !self.near.contains(&signature(url.as_bytes())) {
                    self.drop_far(SITEMAP_DEPTH, &url);
                }
            }
        }
        for url in std::mem::take(&mut harvest.sitemaps) {
            self.offer_marked(&url, UrlMeta { sitemap: true, depth, ..UrlMeta::default() })?;
        }
        if let Some(url) = harvest.redirect.take_if(|_| purpose != Purpose::Robots) {
            if hops < self.hosts.redirects_max() {
                let sitemap = purpose == Purpose::Sitemap;
                let is_next = Site::split(&url).is_some_and(|(site, _)| site == source.site);
                let depth = if is_next || sitemap { source.depth } else { 0 };
                let mark =
                    UrlMeta { hops: hops + 1, sitemap, depth, is_next, ..UrlMeta::default() };
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

    /// Counts a URL beyond a limit once, however often it is found.
    fn drop_far(&mut self, limit: &str, url: &str) {
        if self.far.insert(signature(url.as_bytes())) {
            self.hosts.drop_urls(limit, 1);
        }
    }

    /// Offers a link with its depth and its class, unless it is beyond `depth_max`.
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
        self.offer_page(url, UrlMeta { depth, class, ..UrlMeta::default() })
    }
}

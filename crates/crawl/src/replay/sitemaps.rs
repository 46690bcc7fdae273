//! What a recrawl asks for as a sitemap.
//!
//! What lives here: [`Sitemaps`], which are given or named as such by the visits of the archive. What does not: whether
//! the answer is one (`parser.rs`), and when it is asked for (`recrawl/`).
//!
//! **Invariant.** What a seed, a robots.txt or an index of sitemaps names as a sitemap is asked for as one, whatever it
//! answered before; of a robots.txt and an index the last answer that tells counts. So is what was one when it answered
//! last. About forty bytes are kept for a sitemap.

use std::collections::HashMap;

use archive::Archive;
use sieve::signature;

use super::Replay;
use crate::answer::{Purpose, keeps_previous};
use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::frontier::SITEMAP_DEPTH_MAX;

/// The URLs that are asked for as sitemaps.
#[derive(Debug, Default)]
pub(super) struct Sitemaps {
    /// How many indexes lead to each, by the signature of the URL.
    depths: HashMap<u64, u16>,
}

/// What one URL says of sitemaps by its last answer.
struct Last {
    date: Moment,
    /// Whether it is one itself.
    is_sitemap: bool,
    /// How many indexes led to it, and to those that it names.
    depth: u16,
    depth_of_named: u16,
    named: Vec<u64>,
}

impl Last {
    fn of(settled: &Settled, named: &[String]) -> Last {
        let (entry, date) = (&settled.entry, settled.date());
        let is_sitemap = entry.purpose == Purpose::Sitemap;
        let depth_of_named = if is_sitemap { entry.depth.saturating_add(1) } else { 0 };
        let is_near = depth_of_named <= SITEMAP_DEPTH_MAX;
        let named = named.iter().filter(|_| is_near).map(|url| key(url)).collect();
        Last { date, is_sitemap, depth: entry.depth, depth_of_named, named }
    }
}

impl Replay<'_> {
    /// The sitemaps that are given, and that the archive names.
    pub(super) fn sitemaps(&self, archive: &Archive) -> Result<Sitemaps, CrawlError> {
        let mut lasts: HashMap<u64, Last> = HashMap::new();
        self.logs.each(archive, &self.halt, &mut |_, settled| {
            let (purpose, place) = (settled.entry.purpose, key(&settled.url));
            let Some(answered) = settled.answered.as_ref().filter(|answered| {
                let is_telling = !keeps_previous(purpose, answered.status);
                // What is as it was has nothing in its record.
                is_telling && !answered.unchanged && !settled.entry.is_inconclusive
            }) else {
                return Ok(());
            };
            let named = &answered.harvest.sitemaps;
            let known = lasts.get(&place);
            let is_of_use = purpose != Purpose::Page || !named.is_empty() || known.is_some();
            if is_of_use && known.is_none_or(|last| last.date <= settled.date()) {
                lasts.insert(place, Last::of(&settled, named));
            }
            Ok(())
        })?;
        let mut sitemaps = Sitemaps::default();
        for seed in self.seeds.iter().filter(|seed| seed.is_sitemap) {
            sitemaps.add(key(seed.url.as_str()), 0);
        }
        for (place, last) in lasts {
            last.named.iter().for_each(|&named| sitemaps.add(named, last.depth_of_named));
            if last.is_sitemap {
                sitemaps.add(place, last.depth);
            }
        }
        Ok(sitemaps)
    }
}

impl Sitemaps {
    fn add(&mut self, place: u64, depth: u16) {
        let known = self.depths.entry(place).or_insert(depth);
        *known = depth.min(*known);
    }

    /// Has what is one asked for as one, also if it turned out to be a page.
    pub(super) fn claim(&self, settled: &mut Settled) {
        if settled.entry.purpose == Purpose::Page
            && let Some(&depth) = self.depths.get(&key(&settled.url))
        {
            (settled.entry.purpose, settled.entry.depth) = (Purpose::Sitemap, depth);
        }
    }
}

fn key(url: &str) -> u64 {
    signature(url.as_bytes()).0
}

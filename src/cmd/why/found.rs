//! Where a URL was found.
//!
//! What lives here: lookups in the page table, which is fast, and in the archive, which is complete. What does not: how an
//! answer names a URL (`crawl::ReferenceFinder`).
//!
//! **Invariant.** Only the archive can show that no link to a URL is followed: the table has no redirects, sitemaps or
//! filters.

use anyhow::Result;
use archive::{Archive, ArchiveError};
use collection::{Collection, PageTable};
use crawl::{Reference, ReferenceFinder, URLS_BYTES_MAX};
use page::Url;
use serde::Serialize;

use super::blockers::Blocker;
use crate::config::Config;
use crate::console;
use crate::pipeline::extract_options;

/// The most places that are listed.
pub(super) const FOUND_MAX: usize = 20;

/// A place where a URL was found.
#[derive(Serialize)]
pub(super) struct Found {
    pub(super) url: String,
    pub(super) date_s: i64,
    /// Microseconds of that second; `None` from the page table, which has none.
    #[serde(rename = "microseconds", skip_serializing_if = "Option::is_none")]
    pub(super) date_us: Option<u32>,
    pub(super) how: Reference,
}

/// Returns where a URL was found: from the page table if it is current and has a link that is followed, otherwise from
/// the archive.
pub(super) fn found_on(url: &Url, collection: &Collection, config: &Config) -> Result<Vec<Found>> {
    let crawl = &config.crawl;
    let has_filters = !crawl.parse_filter.is_empty() || !crawl.link_filter.is_empty();
    if !has_filters
        && has_table(collection)
        && jobs::extract_staleness(collection, &extract_options(crawl))?.is_none()
    {
        let found = in_table(url, collection)?;
        if found.iter().any(|found| found.how.is_followed(crawl)) {
            return Ok(found);
        }
    }
    in_archive(url, collection, config)
}

pub(super) fn has_table(collection: &Collection) -> bool {
    collection.pages_dir().join("directory").is_file()
}

fn in_table(url: &Url, collection: &Collection) -> Result<Vec<Found>> {
    let table = PageTable::open(&collection.pages_dir())?;
    let entries = table.directory().entries();
    let mut found = Vec::new();
    table.each_live(&mut |place, page| {
        let mut links = page.links.iter().filter(|link| link.url == url.as_str()).peekable();
        if links.peek().is_some() && found.len() < FOUND_MAX {
            let nofollow = links.all(|link| link.nofollow);
            found.push(Found {
                url: entries[place].url.clone(),
                date_s: entries[place].date_s,
                date_us: None,
                how: if nofollow { Reference::Nofollow } else { Reference::Link },
            });
        }
        Ok(())
    })?;
    Ok(found)
}

fn in_archive(url: &Url, collection: &Collection, config: &Config) -> Result<Vec<Found>> {
    let archive = Archive::open(&collection.archive_dir())?;
    let mentions = ReferenceFinder::new(&config.crawl)?;
    let mut found: Vec<Found> = Vec::new();
    let is_followed = |found: &Found| found.how.is_followed(&config.crawl);
    for record in archive.records() {
        let record = match record {
            Ok(record) => record,
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            // An unreadable record has no links.
            Err(_) => continue,
        };
        if let Some(how) = mentions.find(&record, url.as_str()) {
            // A link that is followed decides the verdict, so the search goes on until there is one.
            found.truncate(FOUND_MAX - 1);
            let from = record.target.unwrap_or_default();
            let date_us = Some(record.date_us);
            found.push(Found { url: from, date_s: record.date_s, date_us, how });
        }
        if found.len() == FOUND_MAX && found.iter().any(is_followed) {
            break;
        }
    }
    Ok(found)
}

/// Returns why no link to a URL is followed.
pub(super) fn unfollowed(found_on: &[Found], config: &crawl::Config) -> Blocker {
    let (unfollowed, dropped) =
        (|why: &str| Blocker::Unfollowed(why.to_owned()), |why: String| Blocker::Dropped(why));
    if found_on.is_empty() {
        return unfollowed("nothing in the archive links to it");
    }
    let is = |how: Reference| found_on.iter().any(|found| found.how == how);
    let others = [Reference::Robots, Reference::Index, Reference::Sitemap, Reference::Redirect];
    if is(Reference::Link) || others.into_iter().any(is) && !config.follow {
        return unfollowed(
            "`follow` is false or the crawl used `--list`, so only the seeds are fetched",
        );
    }
    if is(Reference::Robots) {
        return unfollowed("`sitemaps` is false, so sitemaps in robots.txt are not fetched");
    }
    if is(Reference::Beyond) {
        return dropped(format!(
            "it is linked only after the first {} of a page (`links_per_page_max`)",
            console::count(config.links_per_page_max as u64, "link")
        ));
    }
    if is(Reference::BeyondBytes) {
        return dropped(format!(
            "it is named only after the first {URLS_BYTES_MAX} bytes of URLs, the limit for one answer"
        ));
    }
    if is(Reference::Filtered) {
        return unfollowed("`parse_filter` or `link_filter` excludes the links to it");
    }
    if !is(Reference::Nofollow) {
        return unfollowed("pages name it as their canonical URL, and nothing links to it");
    }
    unfollowed("all links to it have nofollow")
}

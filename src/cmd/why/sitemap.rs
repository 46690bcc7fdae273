//! Which source names a page as a sitemap.
//!
//! What lives here: the search in robots.txt files and sitemap indexes. What does not: how an answer names a URL
//! (`crawl::ReferenceFinder`), and the URLs of a recrawl (`crawl`).
//!
//! **Invariant.** As in a recrawl, the last conclusive answer of a robots.txt or sitemap index counts.

use anyhow::Result;
use archive::{Archive, ArchiveError};
use crawl::{Config, Purpose, ReferenceFinder, VisitRecord};
use page::Url;

use super::captures;
use super::found::Found;

/// Returns the robots.txt or sitemap index that names `url` as a sitemap: that of its own host, or one of `found_on`.
pub(super) fn named_by(
    url: &Url,
    found_on: &[Found],
    archive: &Archive,
    config: &Config,
) -> Result<Option<String>> {
    let mentions = ReferenceFinder::new(config)?;
    let own = url.join("/robots.txt").ok();
    let others = found_on.iter().filter(|found| found.how.is_of_sitemap());
    let others = others.filter_map(|found| Url::parse(&found.url).ok());
    let mut namers: Vec<Url> = own.into_iter().chain(others).collect();
    namers.dedup();
    for namer in namers {
        if names(&namer, url, &mentions, archive, config)? {
            return Ok(Some(namer.into()));
        }
    }
    Ok(None)
}

/// Returns whether the last conclusive answer from `namer` names `url` as a sitemap.
fn names(
    namer: &Url,
    url: &Url,
    mentions: &ReferenceFinder,
    archive: &Archive,
    config: &Config,
) -> Result<bool> {
    for line in captures::lines(archive, namer)?.iter().rev() {
        let record = match archive.read(&line.location) {
            Ok(record) => record,
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            Err(_) => continue,
        };
        let tells = |told: &VisitRecord| {
            let stands = |status| crawl::keeps_previous(told.purpose, status);
            !told.unchanged && !told.is_inconclusive && !told.status.is_none_or(stands)
        };
        if VisitRecord::read(&record).as_ref().is_some_and(tells) {
            let how = mentions.find(&record, url.as_str());
            return Ok(how.is_some_and(|how| how.is_of_sitemap() && how.is_followed(config)));
        }
    }
    Ok(false)
}

/// Returns whether the last valid answer is a page, not a sitemap.
pub(super) fn is_page(captures: &[captures::Capture]) -> bool {
    let last = captures.iter().rfind(|capture| !capture.is_vain());
    last.is_some_and(|last| last.purpose == Some(Purpose::Page) && last.is_page())
}

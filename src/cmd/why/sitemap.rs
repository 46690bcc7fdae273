//! Who says of a page that it is a sitemap, so that a recrawl asks for it as one.
//!
//! What lives here: looking at the last answers of those that may. What does not: how an answer names a URL
//! (`crawl::Mentions`), and what a recrawl asks for (`crawl`).
//!
//! **Invariant.** As in a recrawl, the last answer of a robots.txt or an index that tells is what counts.

use anyhow::Result;
use archive::{Archive, ArchiveError};
use crawl::{Config, Mentions, Purpose, Told};
use page::Url;

use super::captures;
use super::found::Found;

/// The robots.txt or the index that names `url` as a sitemap, among those where it was found and that of its own host.
pub(super) fn named_by(
    url: &Url,
    found_on: &[Found],
    archive: &Archive,
    config: &Config,
) -> Result<Option<String>> {
    let mentions = Mentions::new(config)?;
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

/// Whether the last answer from `namer` that tells names `url` as a sitemap.
fn names(
    namer: &Url,
    url: &Url,
    mentions: &Mentions,
    archive: &Archive,
    config: &Config,
) -> Result<bool> {
    for line in captures::lines(archive, namer)?.iter().rev() {
        let record = match archive.read(&line.location) {
            Ok(record) => record,
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            Err(_) => continue,
        };
        let tells = |told: &Told| {
            let stands = |status| crawl::leaves_standing(told.purpose, status);
            !told.unchanged && !told.is_inconclusive && !told.status.is_none_or(stands)
        };
        if Told::read(&record).as_ref().is_some_and(tells) {
            let how = mentions.find(&record, url.as_str());
            return Ok(how.is_some_and(|how| how.is_of_sitemap() && how.is_followed(config)));
        }
    }
    Ok(false)
}

/// Whether the last answer that stands is a page, and no sitemap.
pub(super) fn is_page(captures: &[captures::Capture]) -> bool {
    let last = captures.iter().rfind(|capture| !capture.is_vain());
    last.is_some_and(|last| last.purpose == Some(Purpose::Page) && last.is_page())
}

//! Whether a recrawl that is not over is yet to ask for a URL, and whether the seeds name one.
//!
//! What lives here: [`is_recrawl_pending`] and [`is_named_by_seeds`], by the archive and the files of the frontier. What does not: going
//! on with a recrawl (`replay.rs`), and what a limit or a rule has to say to it.
//!
//! **Invariant.** What is said of a URL is what the next run finds when it replays the archive: a recrawl that does not
//! cover the URL, or has had its answer, asks for nothing.

use std::collections::BTreeSet;
use std::path::Path;

use archive::{Archive, ArchiveError, Location};

use crate::answer::{Answers, Purpose};
use crate::checkpoint::{Settled, each_logged};
use crate::config::Config;
use crate::error::CrawlError;
use crate::frontier::Given;
use crate::gone::unreadable_captures;
use crate::recrawl::{Epochs, Extent};
use crate::replay::Again;
use crate::rules::Rules;
use crate::seeds::{Seed, all_seeds, cut, read_seeds};
use crate::share::each_visit;

/// Whether one of the recrawls that are not over asks for `url` again, or for once more if it has asked in vain.
pub fn is_recrawl_pending(
    archive: &Archive,
    frontier: &Path,
    config: &Config,
    url: &str,
) -> Result<bool, CrawlError> {
    let epochs = Epochs::read(frontier)?;
    let visits = visits(archive, frontier, url)?;
    let asks = |again: Option<Again>| {
        let Some(mut again) = again else { return false };
        for (file, settled) in &visits {
            again.note(*file, settled);
        }
        let (mut is_due, mut is_had) = (false, false);
        for (file, settled) in &visits {
            let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
            let is_old = again.is_old(*file, settled);
            is_due |= is_old;
            is_had |= !is_old && settled.entry.is_final(status, config.retries);
        }
        is_due && !is_had
    };
    if asks(Again::new(&epochs, archive.files())) {
        return Ok(true);
    }
    let lists = epochs.into_lists(None);
    if lists.is_empty() {
        return Ok(false);
    }
    let rules = Rules::new(config, &read_seeds(frontier)?)?;
    let answers = Answers::new(config, rules, None);
    for list in lists {
        let Extent::List { lines, .. } = &list.extent else { continue };
        if asks(Some(Again::of_list(&list, archive.files())))
            && names(lines.iter(), archive, &answers, url)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The visits of `url`, each with the place of its file, as a crawl knows them that goes on: by the logs where the archive
/// cannot be read any more.
fn visits(
    archive: &Archive,
    frontier: &Path,
    url: &str,
) -> Result<Vec<(usize, Settled)>, CrawlError> {
    let (mut visits, mut captures) = (Vec::new(), archive.captures(url)?);
    captures.retain(|capture| capture.url == url);
    each_visit(archive, &captures, &mut |file, settled| visits.push((file, settled)))?;
    let unreadable = unreadable_captures(frontier, archive, url)?;
    for Location { file, offset, .. } in
        unreadable.into_iter().filter(|it| it.url == url).map(|it| it.location)
    {
        let Some(place) = archive.files().iter().position(|name| *name == file) else { continue };
        each_logged(frontier, &file, &mut |settled| {
            if settled.url == url && settled.offset == offset {
                visits.push((place, settled));
            }
        })?;
    }
    Ok(visits)
}

/// Whether `url` is among what a crawl may visit that follows no link: a seed, or what sitemaps and redirects that were
/// given lead to, by what was archived of them so far.
pub fn is_named_by_seeds(
    archive: &Archive,
    frontier: &Path,
    config: &Config,
    url: &str,
) -> Result<bool, CrawlError> {
    let seeds = match all_seeds(frontier, &[]) {
        Err(CrawlError::NoSeeds | CrawlError::SeedsGone { .. }) => return Ok(false),
        seeds => seeds?,
    };
    let rules = Rules::new(config, &read_seeds(frontier)?)?;
    let lines: Vec<String> = seeds.iter().map(Seed::line).collect();
    names(lines.iter(), archive, &Answers::new(config, rules, None), url)
}

/// Whether these lines name `url` by what was archived of them so far.
fn names<'a>(
    lines: impl Iterator<Item = &'a String>,
    archive: &Archive,
    answers: &Answers,
    url: &str,
) -> Result<bool, CrawlError> {
    let mut given = Given::default();
    let mut seen = BTreeSet::new();
    let mut queue: Vec<(String, bool)> = Vec::new();
    for line in lines {
        let (address, is_sitemap) = cut(line);
        given.add(line);
        queue.push((address.to_owned(), is_sitemap));
    }
    while let Some((from, is_sitemap)) = queue.pop() {
        if !seen.insert((from.clone(), is_sitemap)) {
            continue;
        }
        for capture in archive.captures(&from)? {
            // Of a page only that it has moved counts.
            let is_led_on = |status: u16| is_sitemap || (300..400).contains(&status);
            if capture.url != from || !capture.status.is_none_or(is_led_on) {
                continue;
            }
            let record = match archive.read(&capture.location) {
                Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
                // What cannot be read names nothing to a crawl, either.
                Err(_) => continue,
                Ok(record) => record,
            };
            let Some(settled) = Settled::of_record(&record, answers) else { continue };
            let Some(mut answered) = settled.answered else { continue };
            given.keep(settled.entry.purpose, &from, &mut answered.harvest);
            let redirect = answered.harvest.redirect.into_iter();
            queue.extend(redirect.map(|target| (target, is_sitemap)));
            queue.extend(answered.harvest.sitemaps.into_iter().map(|sitemap| (sitemap, true)));
        }
    }
    Ok(given.has(Purpose::Page, url) || given.has(Purpose::Sitemap, url))
}

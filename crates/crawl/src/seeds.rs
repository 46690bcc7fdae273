//! The seeds of a crawl (V1), and the file `frontier/seeds` that keeps them, one URL a line; a sitemap to
//! be read for its list has `sitemap:` before it.
//!
//! What lives here: reading and adding to that file. What does not: what an address is (`address.rs`),
//! whether a seed may be visited (`guard.rs`), and how it is queued (`frontier/`).
//!
//! **Invariant.** The file is replaced at once or not at all, and a seed once in it stays.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use page::{Limits, PageError, Url, normalise};

use crate::address::read_address;
use crate::config::Config;
use crate::error::CrawlError;
use crate::normalisation::Normalisation;

const NAME: &str = "seeds";

/// What stands before the redirects that led to an address, and before its distance.
const HOPS: &str = "hops:";
const DEPTH: &str = "depth:";

/// What stands before a seed that is a sitemap.
pub(crate) const SITEMAP_PREFIX: &str = "sitemap:";

/// An address to begin with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seed {
    pub(crate) url: Url,
    pub(crate) is_sitemap: bool,
}

impl Seed {
    /// As it stands in the file.
    pub(crate) fn line(&self) -> String {
        seed_line(self.url.as_str(), self.is_sitemap)
    }
}

/// An address that a run begins with: a seed, or what another agent has found for it, with the way that led there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) url: String,
    pub(crate) is_sitemap: bool,
    /// Redirects that followed each other up to it.
    pub(crate) hops: u8,
    /// Links from the first page of its site; for a sitemap, the indexes that led to it.
    pub(crate) depth: u16,
}

impl Start {
    /// As it stands in a file of agents: `hops:2 depth:1 sitemap:URL`, without what is nothing.
    pub(crate) fn line(&self) -> String {
        let way = [(HOPS, self.hops.into()), (DEPTH, self.depth)];
        let way = way.iter().filter(|(_, number)| *number > 0);
        let mut words: Vec<String> = way.map(|(name, number)| format!("{name}{number}")).collect();
        words.push(seed_line(&self.url, self.is_sitemap));
        words.join(" ")
    }

    /// Reads such a line; one of a seed is one.
    pub(crate) fn read(line: &str) -> Start {
        let (mut start, mut rest) = (Start::default(), line.trim());
        while let Some((word, after)) = rest.split_once(' ') {
            if let Some(Ok(hops)) = word.strip_prefix(HOPS).map(str::parse) {
                start.hops = hops;
            } else if let Some(Ok(depth)) = word.strip_prefix(DEPTH).map(str::parse) {
                start.depth = depth;
            } else {
                break;
            }
            rest = after;
        }
        let (url, is_sitemap) = cut(rest);
        Start { url: url.to_owned(), is_sitemap, ..start }
    }
}

impl From<&Seed> for Start {
    fn from(seed: &Seed) -> Start {
        Start { url: seed.url.to_string(), is_sitemap: seed.is_sitemap, ..Start::default() }
    }
}

/// The seeds of a crawl, sitemaps included, as normalised; none if it never began.
pub fn read_seeds(frontier: &Path) -> Result<Vec<Url>, CrawlError> {
    Ok(read(frontier)?.into_iter().map(|seed| seed.url).collect())
}

fn read(frontier: &Path) -> Result<Vec<Seed>, CrawlError> {
    let path = frontier.join(NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(CrawlError::Io { path, source }),
    };
    let seeds = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let limits = Limits { url_bytes_max: 1 << 15, ..Limits::default() };
    // They were judged when they were given.
    let read = |line: &str| {
        let (url, is_sitemap) = cut(line);
        let wrong = |error: PageError| CrawlError::Address {
            text: line.to_owned(),
            why: error.to_string(),
        };
        Ok(Seed { url: normalise(url, None, &limits).map_err(wrong)?, is_sitemap })
    };
    seeds.map(read).collect()
}

/// The addresses that a run is given, as it visits them.
pub(crate) fn given_seeds(seeds: &[String], config: &Config) -> Result<Vec<Seed>, CrawlError> {
    let limits = Limits { url_bytes_max: config.url_bytes_max, ..Limits::default() };
    let read = |seed: &String| {
        let Seed { url, is_sitemap } = parse(seed, &limits)?;
        Ok(Seed { url: Normalisation::apply(&config.normalise, url), is_sitemap })
    };
    seeds.iter().map(read).collect()
}

/// The seeds of earlier runs, and those given to this one, each once.
pub(crate) fn all_seeds(frontier: &Path, given: &[Seed]) -> Result<Vec<Seed>, CrawlError> {
    let mut all = read(frontier)?;
    let mut seen: BTreeSet<Seed> = all.iter().cloned().collect();
    for seed in given {
        if seen.insert(seed.clone()) {
            all.push(seed.clone());
        }
    }
    if all.is_empty() {
        return Err(CrawlError::NoSeeds);
    }
    Ok(all)
}

/// Keeps the seeds for later runs.
pub(crate) fn write_seeds(frontier: &Path, seeds: &[Seed]) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let fresh = frontier.join("seeds.tmp");
    let lines: Vec<String> = seeds.iter().map(Seed::line).collect();
    let text = lines.join("\n") + "\n";
    let result = File::create(&fresh)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&fresh, &path))
        .and_then(|()| File::open(frontier)?.sync_all());
    result.map_err(|source| CrawlError::Io { path, source })
}

/// Whether a seed is an address of the web, or a sitemap at one.
pub fn check_seed(seed: &str) -> Result<(), CrawlError> {
    parse(seed, &Limits { url_bytes_max: usize::MAX, ..Limits::default() }).map(|_| ())
}

fn parse(seed: &str, limits: &Limits) -> Result<Seed, CrawlError> {
    let (address, is_sitemap) = cut(seed);
    Ok(Seed { url: read_address(address, limits)?, is_sitemap })
}

/// A seed as it stands in a file.
pub(crate) fn seed_line(url: &str, is_sitemap: bool) -> String {
    let prefix = if is_sitemap { SITEMAP_PREFIX } else { "" };
    format!("{prefix}{url}")
}

/// The address of such a line, and whether it is a sitemap.
pub(crate) fn cut(seed: &str) -> (&str, bool) {
    match seed.trim().strip_prefix(SITEMAP_PREFIX) {
        Some(sitemap) => (sitemap, true),
        None => (seed, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_an_address_stands_before_it() {
        let start = |url: &str, is_sitemap, hops, depth| {
            let url = url.to_owned();
            Start { url, is_sitemap, hops, depth }
        };
        for (line, wanted) in [
            ("http://a/", start("http://a/", false, 0, 0)),
            ("sitemap:http://a/", start("http://a/", true, 0, 0)),
            ("hops:3 http://a/", start("http://a/", false, 3, 0)),
            ("hops:3 depth:2 sitemap:http://a/", start("http://a/", true, 3, 2)),
        ] {
            assert_eq!(Start::read(line), wanted);
            assert_eq!(wanted.line(), line);
        }
        for line in ["hops:300 http://a/", "hops: http://a/", "x http://a/", "hops:1"] {
            assert_eq!(Start::read(line), start(line, false, 0, 0), "it is none, and no address");
        }
    }
}

//! The seeds of a crawl, and the file `frontier/seeds` that keeps them, one URL a line.
//!
//! What lives here: reading and adding to that file. What does not: whether a seed may be visited
//! (`guard.rs`), and how it is queued (`frontier/`).
//!
//! **Invariant.** The file is replaced at once or not at all, and a seed once in it stays.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use page::{Limits, Url, normalise};

use crate::config::Config;
use crate::error::CrawlError;

const NAME: &str = "seeds";

/// The seeds of a crawl, as normalised; none if it never began.
pub fn read_seeds(frontier: &Path) -> Result<Vec<Url>, CrawlError> {
    let path = frontier.join(NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(CrawlError::Io { path, source }),
    };
    let seeds = text.lines().map(str::trim).filter(|line| !line.is_empty());
    seeds.map(|seed| parse(seed, &Limits { url_bytes_max: 1 << 16, ..Limits::default() })).collect()
}

/// The seeds of earlier runs, and `seeds`, each once.
pub(crate) fn all_seeds(
    frontier: &Path,
    seeds: &[String],
    config: &Config,
) -> Result<Vec<Url>, CrawlError> {
    let limits = Limits { url_bytes_max: config.url_bytes_max, ..Limits::default() };
    let mut all = read_seeds(frontier)?;
    let mut seen: BTreeSet<Url> = all.iter().cloned().collect();
    for seed in seeds {
        let url = parse(seed, &limits)?;
        if seen.insert(url.clone()) {
            all.push(url);
        }
    }
    if all.is_empty() {
        return Err(CrawlError::NoSeeds);
    }
    Ok(all)
}

/// Keeps the seeds for later runs.
pub(crate) fn write_seeds(frontier: &Path, seeds: &[Url]) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let fresh = frontier.join("seeds.tmp");
    let lines: Vec<&str> = seeds.iter().map(Url::as_str).collect();
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

/// `example.com` means `http://example.com/`, as in the address bar of a browser.
fn parse(seed: &str, limits: &Limits) -> Result<Url, CrawlError> {
    let seed = seed.trim();
    let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_whole = seed.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme));
    let whole = if is_whole { seed.to_owned() } else { format!("http://{seed}") };
    normalise(&whole, None, limits)
        .map_err(|error| CrawlError::Seed { seed: seed.to_owned(), why: error.to_string() })
}

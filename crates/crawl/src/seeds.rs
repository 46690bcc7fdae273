//! The seeds of a crawl, and the file `frontier/seeds` that keeps them, one URL a line. A sitemap has the prefix
//! `sitemap:`. The last line is a checksum (`durable::seal`); delete it when you edit the file.
//!
//! What lives here: reading and extending that file. What does not: the syntax of an address (`address.rs`),
//! whether a seed may be visited (`guard.rs`), and how it is queued (`frontier/`).
//!
//! **Invariant.** The file is replaced atomically, and a seed in it stays in it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use durable::{Seal, is_sum, replace, seal, unseal};
use page::{Limits, PageError, Url, normalise};

use crate::address::read_address;
use crate::config::Config;
use crate::error::CrawlError;
use crate::normalisation::Normalisation;
use crate::recrawl::Epochs;
use crate::{report, settings};

const NAME: &str = "seeds";

/// The longest prefix of an invalid line that is reported, in bytes.
const TOLD_BYTES_MAX: usize = 80;

/// The prefixes of the number of redirects that led to an address, and of its depth.
const HOPS: &str = "hops:";
const DEPTH: &str = "depth:";

/// Some editors put this before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The prefix of a seed that is a sitemap.
pub(crate) const SITEMAP_PREFIX: &str = "sitemap:";

/// An address that a crawl starts from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seed {
    pub(crate) url: Url,
    pub(crate) is_sitemap: bool,
}

impl Seed {
    pub(crate) fn line(&self) -> String {
        seed_line(self.url.as_str(), self.is_sitemap)
    }
}

/// An address that a run starts from: a seed, or a URL that another agent found, with its distance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) url: String,
    pub(crate) is_sitemap: bool,
    /// Number of consecutive redirects that led to it.
    pub(crate) hops: u8,
    /// Number of links from the first page of its site; for a sitemap, the number of indexes.
    pub(crate) depth: u16,
}

impl Start {
    /// Formats it as a line of an agents' file: `hops:2 depth:1 sitemap:URL`, without the parts that are zero.
    pub(crate) fn line(&self) -> String {
        let way = [(HOPS, self.hops.into()), (DEPTH, self.depth)];
        let way = way.iter().filter(|(_, number)| *number > 0);
        let mut words: Vec<String> = way.map(|(name, number)| format!("{name}{number}")).collect();
        words.push(seed_line(&self.url, self.is_sitemap));
        words.join(" ")
    }

    /// Parses a line of an agents' file or of the seeds file. An error says why the line is invalid. Numbers
    /// saturate.
    pub(crate) fn read(line: &str) -> Result<Start, &'static str> {
        let (mut start, mut rest) = (Start::default(), line.trim());
        loop {
            if let Some(word) = rest.strip_prefix(HOPS) {
                let (number, after) = number(word)?;
                (start.hops, rest) = (u8::try_from(number).unwrap_or(u8::MAX), after);
            } else if let Some(word) = rest.strip_prefix(DEPTH) {
                let (number, after) = number(word)?;
                (start.depth, rest) = (u16::try_from(number).unwrap_or(u16::MAX), after);
            } else {
                break;
            }
        }
        let (url, is_sitemap) = cut(rest);
        Ok(Start { url: url.to_owned(), is_sitemap, ..start })
    }
}

/// Splits off the number at the beginning of a text and the space after it.
fn number(text: &str) -> Result<(u64, &str), &'static str> {
    let (number, after) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    match after.strip_prefix(' ') {
        // A number that does not fit is too large in any case.
        Some(after) if !number.is_empty() => Ok((number.parse().unwrap_or(u64::MAX), after)),
        _ => Err("`hops:` and `depth:` have a number behind them, and a space"),
    }
}

impl From<&Seed> for Start {
    fn from(seed: &Seed) -> Start {
        Start { url: seed.url.to_string(), is_sitemap: seed.is_sitemap, ..Start::default() }
    }
}

/// Returns the normalised seeds of a crawl, sitemaps included; none if it never began.
pub fn read_seeds(frontier: &Path) -> Result<Vec<Url>, CrawlError> {
    Ok(read(frontier)?.into_iter().map(|seed| seed.url).collect())
}

/// Checks that the seeds file can be read, and that it has seeds if a crawl has begun.
pub fn check_seeds(frontier: &Path) -> Result<(), CrawlError> {
    let is_gone = read(frontier)?.is_empty() && has_begun(frontier);
    if is_gone { Err(CrawlError::SeedsGone { path: frontier.join(NAME) }) } else { Ok(()) }
}

/// Returns whether a crawl has begun in a folder: it has a file that is written only after the seeds.
fn has_begun(frontier: &Path) -> bool {
    [settings::NAME, report::NAME].iter().any(|name| frontier.join(name).exists())
}

/// Returns whether no crawl has begun in a folder, or one was killed before it saved its seeds.
pub fn has_not_begun(frontier: &Path) -> Result<bool, CrawlError> {
    let has_seeds = !read(frontier)?.is_empty();
    Ok(!has_seeds && !has_begun(frontier) && Epochs::read(frontier)?.lines().next().is_none())
}

/// Returns the seeds that were given as sitemaps.
pub fn read_sitemap_seeds(frontier: &Path) -> Result<Vec<Url>, CrawlError> {
    let sitemaps = read(frontier)?.into_iter().filter(|seed| seed.is_sitemap);
    Ok(sitemaps.map(|seed| seed.url).collect())
}

fn read(frontier: &Path) -> Result<Vec<Seed>, CrawlError> {
    let path = frontier.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(CrawlError::Io { path, source }),
    };
    // Bytes that are not UTF-8 are reported as an invalid address.
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let body = match unseal(text) {
        Seal::Good(body) => body,
        Seal::Broken => return Err(CrawlError::SeedsSum { path }),
        Seal::None => text,
    };
    let lines = body.lines().map(address).enumerate().filter(|(_, line)| !line.is_empty());
    let seeds = lines.map(|(at, line)| {
        read_line(line).map_err(|error| match error {
            CrawlError::Address { text, why } => {
                CrawlError::Seeds { path: path.clone(), line: at + 1, text: told(&text), why }
            }
            error => error,
        })
    });
    let seeds = seeds.collect::<Result<Vec<Seed>, CrawlError>>()?;
    // An address that is cut off may be a different one.
    let last = body.lines().last().filter(|last| !address(last).is_empty());
    match last.filter(|_| !body.ends_with('\n')) {
        Some(last) => Err(CrawlError::SeedsCut { path, text: told(last) }),
        None => Ok(seeds),
    }
}

/// Returns the lines of a text of addresses without comments; many may be empty.
pub fn seed_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.trim_start_matches(BYTE_ORDER_MARK).lines();
    lines.map(|line| line[..comment_start(line).unwrap_or(line.len())].trim())
}

/// Returns where the comment of a line begins: at its start or after a space. Elsewhere `#` begins a fragment.
fn comment_start(line: &str) -> Option<usize> {
    let is_start = |at: &usize| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    line.match_indices('#').map(|(at, _)| at).find(is_start)
}

/// Returns the address in a line of the seeds file, or an empty text. A misplaced checksum line is not a comment.
fn address(line: &str) -> &str {
    let start = comment_start(line).filter(|&at| !is_sum(&line[at..]));
    line[..start.unwrap_or(line.len())].trim()
}

/// Returns the part of a line that is reported.
fn told(line: &str) -> String {
    line[..line.floor_char_boundary(TOLD_BYTES_MAX)].to_owned()
}

/// Parses a seed of the file; it was checked when it was given.
fn read_line(line: &str) -> Result<Seed, CrawlError> {
    let limits = Limits { url_bytes_max: 1 << 15, ..Limits::default() };
    let (url, is_sitemap) = cut(line);
    let is_text = |url: &str| !url.contains(char::REPLACEMENT_CHARACTER);
    let address = |why: String| CrawlError::Address { text: line.to_owned(), why };
    if !is_text(url) {
        return Err(address("it is no text".to_owned()));
    }
    if url.contains(' ') {
        return Err(address("there is a space in it".to_owned()));
    }
    let wrong = |error: PageError| address(error.to_string());
    Ok(Seed { url: normalise(url, None, &limits).map_err(wrong)?, is_sitemap })
}

/// Parses and normalises the addresses that a run is given.
pub(crate) fn given_seeds(seeds: &[String], config: &Config) -> Result<Vec<Seed>, CrawlError> {
    let limits = Limits { url_bytes_max: config.url_bytes_max, ..Limits::default() };
    let read = |seed: &String| {
        let Seed { url, is_sitemap } = parse(seed, &limits)?;
        Ok(Seed { url: Normalisation::apply(&config.normalise, url), is_sitemap })
    };
    seeds.iter().map(read).collect()
}

/// Returns all seeds, each once: those of earlier runs, those of a run that was killed before it saved them, and
/// those given to this run.
pub(crate) fn all_seeds(frontier: &Path, given: &[Seed]) -> Result<Vec<Seed>, CrawlError> {
    let mut all = read(frontier)?;
    let mut seen: BTreeSet<Seed> = all.iter().cloned().collect();
    let listed = Epochs::read(frontier)?;
    let listed = listed.lines().map(|line| read_line(line)).collect::<Result<Vec<Seed>, _>>()?;
    for seed in listed.iter().chain(given) {
        if seen.insert(seed.clone()) {
            all.push(seed.clone());
        }
    }
    if all.is_empty() {
        check_seeds(frontier)?;
        return Err(CrawlError::NoSeeds);
    }
    Ok(all)
}

/// Returns the lines of the seeds that the file does not have yet.
pub(crate) fn unkept_lines(frontier: &Path, seeds: &[Seed]) -> Result<Vec<String>, CrawlError> {
    let kept: BTreeSet<Seed> = read(frontier)?.into_iter().collect();
    Ok(seeds.iter().filter(|seed| !kept.contains(seed)).map(Seed::line).collect())
}

pub(crate) fn write_seeds(frontier: &Path, seeds: &[Seed]) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let lines: Vec<String> = seeds.iter().map(Seed::line).collect();
    let text = seal(&(lines.join("\n") + "\n"));
    replace(&path, text).map_err(CrawlError::io(&path))
}

/// Checks that a seed is a web address, or `sitemap:` and one.
pub fn check_seed(seed: &str) -> Result<(), CrawlError> {
    parse(seed, &Limits { url_bytes_max: usize::MAX, ..Limits::default() }).map(|_| ())
}

fn parse(seed: &str, limits: &Limits) -> Result<Seed, CrawlError> {
    let (address, is_sitemap) = cut(seed);
    Ok(Seed { url: read_address(address, limits)?, is_sitemap })
}

/// Formats a seed as a line of a file.
pub(crate) fn seed_line(url: &str, is_sitemap: bool) -> String {
    let prefix = if is_sitemap { SITEMAP_PREFIX } else { "" };
    format!("{prefix}{url}")
}

/// Splits such a line into the address and whether it is a sitemap.
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
    fn the_prefixes_of_a_seed_line_are_parsed() {
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
            assert_eq!(Start::read(line), Ok(wanted.clone()));
            assert_eq!(wanted.line(), line);
        }
        assert_eq!(Start::read("hops:300 http://a/"), Ok(start("http://a/", false, u8::MAX, 0)));
        assert_eq!(Start::read("x http://a/"), Ok(start("x http://a/", false, 0, 0)), "no address");
        for line in ["hops: http://a/", "hops:-1 http://a/", "hops:1\thttp://a/", "depth:1"] {
            assert!(Start::read(line).is_err(), "{line}");
        }
    }
}

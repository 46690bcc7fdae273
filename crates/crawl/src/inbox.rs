//! URLs that other agents found for this one, line by line.
//!
//! What lives here: [`Inbox`], the contents of all inboxes of a run, and the count of its unusable lines. What
//! does not: the files (`agents.rs`), and the format of a line (`seeds.rs`).
//!
//! **Invariant.** No line is lost silently. Each line is a start address, refused by the rules, dropped by a limit
//! that counts across agents, or invalid. The first invalid line is reported with its file and line number.

use std::collections::BTreeMap;
use std::path::Path;

use page::{Limits, Url, normalise};

use crate::agents::{Line, read_inboxes};
use crate::config::Config;
use crate::error::CrawlError;
use crate::frontier::SITEMAP_DEPTH_MAX;
use crate::normalisation::Normalisation;
use crate::rules::Rules;
use crate::seeds::Start;

/// The longest prefix of an invalid line that is reported, in bytes.
const TOLD_BYTES_MAX: usize = 80;

/// The contents of all inboxes.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) starts: Vec<Start>,
    /// Number of URLs that exceed a limit, by the name of the limit.
    pub(crate) dropped: BTreeMap<&'static str, usize>,
    /// Number of invalid lines.
    pub(crate) bad_lines: u64,
    /// The error of the first invalid line, with file and line number.
    pub(crate) bad_line: Option<String>,
}

impl Inbox {
    /// Reads all inboxes in a folder. A run with `alone` set reads none.
    pub(crate) fn read(dir: &Path, rules: &Rules, config: &Config) -> Result<Inbox, CrawlError> {
        let mut inbox = Inbox::default();
        if config.alone {
            return Ok(inbox);
        }
        read_inboxes(dir, &mut |line| {
            if let Err(why) = inbox.take(&line, rules, config) {
                inbox.bad_lines += 1;
                inbox.bad_line.get_or_insert_with(|| told(&line, &why));
            }
        })?;
        Ok(inbox)
    }

    /// Adds a line; an error says why the line is invalid.
    fn take(&mut self, line: &Line<'_>, rules: &Rules, config: &Config) -> Result<(), String> {
        let text = line.text?.trim();
        if text.is_empty() {
            return Ok(());
        }
        let (start, url) = read(text, config)?;
        let check =
            |url: &Url| if start.is_sitemap { rules.check_sitemap(url) } else { rules.check(url) };
        if let Some(limit) = too_far(&start, config) {
            *self.dropped.entry(limit).or_default() += 1;
        } else if check(&url).is_ok() {
            self.starts.push(Start { url: url.into(), ..start });
        }
        Ok(())
    }
}

/// Parses a line, and normalises its URL as a crawl does; an error says why the line is invalid.
fn read(text: &str, config: &Config) -> Result<(Start, Url), String> {
    let start = Start::read(text)?;
    let limits = Limits { url_bytes_max: config.url_bytes_max, ..Limits::default() };
    let url = normalise(&start.url, None, &limits).map_err(|error| error.to_string())?;
    Ok((start, Normalisation::apply(&config.normalise, url)))
}

/// Returns the limit that the path to an address exceeds, if any.
fn too_far(start: &Start, config: &Config) -> Option<&'static str> {
    if start.hops > config.redirects_max {
        Some("redirects")
    } else {
        (start.is_sitemap && start.depth > SITEMAP_DEPTH_MAX).then_some("sitemap-depth")
    }
}

/// Formats an invalid line for a message.
fn told(line: &Line<'_>, why: &str) -> String {
    let file = line.path.file_name().unwrap_or_default().to_string_lossy();
    let text = line.text.unwrap_or_default().trim();
    let text = &text[..text.floor_char_boundary(TOLD_BYTES_MAX)];
    format!("line {} of {file}, {text:?}: {why}", line.number)
}

/// Returns the smallest number of redirects that led to `url` according to the inboxes in a folder; `None` if no
/// inbox has it. URLs are compared after the normalisation of this configuration.
pub fn inbox_hops(dir: &Path, url: &str, config: &Config) -> Result<Option<u8>, CrawlError> {
    let mut fewest: Option<u8> = None;
    if dir.is_dir() {
        read_inboxes(dir, &mut |line| {
            let found = line.text.ok().and_then(|text| read(text, config).ok());
            if let Some((Start { hops, .. }, _)) = found.filter(|(_, found)| found.as_str() == url)
            {
                fewest = Some(fewest.map_or(hops, |fewest| fewest.min(hops)));
            }
        })?;
    }
    Ok(fewest)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_line_is_used_or_counted() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut text = b"http://a.test/1\n\nhops:5 http://a.test/2\nhops:6 http://a.test/3\n\
            hops:99999999999999999999 http://a.test/4\ndepth:2 sitemap:http://a.test/5\n\
            depth:70000 sitemap:http://a.test/6\nhttp://b.test/\n"
            .to_vec();
        let broken: [&[u8]; 7] = [
            b"hops:-1 http://a.test/",
            b"hops: http://a.test/",
            b"hops:+1 http://a.test/",
            b"hops:1\thttp://a.test/",
            b"hops:1",
            b"mailto:x@a.test",
            b"http://a.test/\xFF",
        ];
        for line in broken {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        fs::write(dir.path().join("inbox-3.urls"), text).expect("room");
        let config = Config::default();
        let seeds = ["http://a.test/".parse().expect("a URL")];
        let rules = Rules::new(&config, &seeds).expect("rules");
        let inbox = Inbox::read(dir.path(), &rules, &config).expect("it can be read");
        let urls: Vec<String> = inbox.starts.iter().map(Start::line).collect();
        let wanted =
            ["http://a.test/1", "hops:5 http://a.test/2", "depth:2 sitemap:http://a.test/5"];
        assert_eq!(urls, wanted);
        assert_eq!(inbox.dropped, BTreeMap::from([("redirects", 2), ("sitemap-depth", 1)]));
        assert_eq!(inbox.bad_lines, broken.len() as u64);
        let told = inbox.bad_line.expect("the first");
        assert!(told.starts_with("line 9 of inbox-3.urls, \"hops:-1 http://a.test/\": "), "{told}");
        let hops = |url: &str| inbox_hops(dir.path(), url, &config).expect("it can be read");
        assert_eq!(
            ["http://a.test/1", "http://a.test/3", "http://a.test/4", "http://a.test/"].map(hops),
            [Some(0), Some(6), Some(u8::MAX), None]
        );
        // A URL is found in any spelling that normalises to it.
        let line = "  hops:6 HTTP://A.test:80/x/../9?utm_source=a#b  \r\n";
        fs::write(dir.path().join("inbox-4.urls"), line).expect("room");
        let normalise = vec![Normalisation::Tracking];
        let config = Config { normalise, ..config };
        let hops = |url: &str| inbox_hops(dir.path(), url, &config).expect("it can be read");
        assert_eq!(hops("http://a.test/9"), Some(6));
    }
}

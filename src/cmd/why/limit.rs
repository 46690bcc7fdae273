//! Which limit kept a URL that was found from being visited, as far as that can be known.
//!
//! What lives here: the limits of a crawl, held against what the archive and the last report tell. Nobody
//! writes down the URLs that are dropped, for they may be as many as a trap makes up; but how far a page was
//! is archived, a host that has had its share has it in the archive, and the rest is counted by limit. What
//! does not: rules that depend on the URL alone (`crawl::Rules`); what a host has had (`crawl::host_limit`).
//!
//! **Invariant.** "dropped:" and a limit is said only of what no run with these limits and this archive would
//! visit. Where only the counts of the last run are left, the verdict names the limits that may have been it.

use std::path::Path;

use anyhow::Result;
use archive::{Archive, ArchiveError};
use crawl::{Config, Mention, Purpose, Report, SITEMAP_DEPTH_MAX, Told};
use page::Url;

use super::captures;
use super::found::{FOUND_MAX, Found};
use crate::talk::count;

/// What limits are held against.
pub(super) struct Limits<'a> {
    pub(super) archive: &'a Archive,
    pub(super) frontier: &'a Path,
    pub(super) report: &'a Report,
    pub(super) config: &'a Config,
}

impl Limits<'_> {
    /// Which limit keeps `url` out, which was found there, may be visited, and was not; in words, as far as it
    /// is known. One that was given has no way to it that could be too long.
    pub(super) fn dropped_by(
        &self,
        url: &Url,
        given: bool,
        found_on: &[Found],
    ) -> Result<Option<String>> {
        if !given && let Some(far) = self.too_far(url, found_on)? {
            return Ok(Some(far));
        }
        self.share_had(url)
    }

    /// That the host of `url` has had its share, in words; `None` if it has not.
    pub(super) fn share_had(&self, url: &Url) -> Result<Option<String>> {
        let share = crawl::host_limit(self.archive, self.frontier, self.config, url.as_str())?;
        Ok(share.map(|key| self.share(key)))
    }

    /// What became of `url`, which nothing of that keeps out, by the counts of the last run that ended.
    pub(super) fn left_by_last(&self, url: &Url) -> Result<String> {
        // A host without a capture may yet be one that the crawl never came to know.
        let is_new = self.archive.captures_of_host(url.as_str())?.iter().all(|capture| {
            Url::parse(&capture.url).is_ok_and(|captured| captured.origin() != url.origin())
        });
        // A host that is known may not have had its turn yet, unless nothing was left to do.
        let is_over = !self.report.interrupted && self.report.limit.is_none();
        let hosts_max = self.config.hosts_max;
        let is_full = self.report.hosts >= hosts_max as u64 && self.drops("hosts") > 0;
        if is_new && is_over && is_full {
            return Ok(format!(
                "dropped: the crawl knew {} before its own, which is `hosts_max`",
                count(hosts_max as u64, "host")
            ));
        }
        Ok(self.counted(is_new))
    }

    /// What is said of a host that has had its share, by the key of the limit.
    fn share(&self, key: &str) -> String {
        let (limit, noun) = match key {
            "pages_per_host_max" => (self.config.pages_per_host_max, "page"),
            _ => (self.config.requests_per_host_max, "request"),
        };
        format!("its host has had its {} (`{key}`)", count(limit, noun))
    }

    /// Why every way to it is too long, if every one is.
    pub(super) fn too_far(&self, url: &Url, found_on: &[Found]) -> Result<Option<String>> {
        if found_on.len() >= FOUND_MAX {
            return Ok(None); // there may be a shorter one
        }
        let mut far = None;
        for found in found_on.iter().filter(|found| found.how.is_followed(self.config)) {
            let Ok(from) = Url::parse(&found.url) else { return Ok(None) };
            let captures = captures::lines(self.archive, &from)?;
            let answer = captures.iter().rfind(|capture| {
                let is_same = |us| us == capture.date_us;
                capture.date_s == found.date_s && found.date_us.is_none_or(is_same)
            });
            let record = match answer.map(|capture| self.archive.read(&capture.location)) {
                Some(Err(error @ ArchiveError::Io { .. })) => return Err(error.into()),
                // What cannot be read may be near.
                read => read.and_then(Result::ok),
            };
            let Some(told) = record.as_ref().and_then(Told::read) else { return Ok(None) };
            let (hops, depth) = (told.hops, u32::from(told.depth) + 1);
            let (hops_max, depth_max) = (self.config.redirects_max, self.config.depth_max);
            let is_same_site = from.origin() == url.origin();
            far = match found.how {
                Mention::Redirect if hops >= hops_max => Some(format!(
                    "{} led to it, one more than `redirects_max` allows",
                    count(u64::from(hops) + 1, "redirect")
                )),
                Mention::Link if depth_max > 0 && is_same_site && depth > depth_max.into() => {
                    Some(far_from_first(depth, depth_max))
                }
                Mention::Index
                    if told.purpose == Purpose::Sitemap && depth > SITEMAP_DEPTH_MAX.into() =>
                {
                    Some(format!(
                        "indexes of sitemaps lead to it {depth} levels down, and {SITEMAP_DEPTH_MAX} are \
                         followed"
                    ))
                }
                _ => return Ok(None),
            };
        }
        Ok(far)
    }

    /// What the counts of the last run leave open.
    fn counted(&self, is_new: bool) -> String {
        let Report { waiting, limit, pruned, interrupted, .. } = self.report;
        let mut ways: Vec<String> = Vec::new();
        for (limit, key) in [
            ("waiting-per-host", "waiting_per_host_max"),
            ("waiting", "waiting_max"),
            ("hosts", "hosts_max"),
        ] {
            let times = self.drops(limit);
            if times > 0 && (limit != "hosts" || is_new) {
                ways.push(format!("{times} by `{key}`"));
            }
        }
        if *pruned > 0 {
            ways.push(format!("{pruned} by `turn_s_max`"));
        }
        // What had to go for want of room is found again, and may have more of it.
        let rooms = ["waiting-per-host", "waiting"];
        let has_room = *pruned > 0 || rooms.into_iter().any(|limit| self.drops(limit) > 0);
        let next = if has_room { "; the next crawl may ask for it" } else { "" };
        let (ways, urls) = (ways.join(", "), count(*waiting, "URL"));
        // A crawl that came to its end by itself left nothing in the queue of a host that is not set aside.
        let may_wait = *interrupted || limit.is_some();
        match (ways.is_empty(), limit) {
            (false, _) if !may_wait => format!("dropped, as these were: {ways}{next}"),
            (false, _) => {
                format!("waiting, one of {urls}, or dropped, as these were: {ways}{next}")
            }
            (true, Some(limit)) => {
                format!("waiting: the last crawl ended at its `{limit}` with {urls} in the queue")
            }
            (true, None) if *waiting == 0 => {
                "waiting: the last crawl did not come to it, and `crivello crawl` would".to_owned()
            }
            (true, None) => format!(
                "waiting: the last crawl ended with {urls} in the queue, and `crivello crawl` goes on there"
            ),
        }
    }

    /// URLs that the last run dropped because of a limit.
    fn drops(&self, limit: &str) -> u64 {
        self.report.dropped.get(limit).copied().unwrap_or(0)
    }
}

/// What is said of a page that so many links lead to.
pub(super) fn far_from_first(depth: u32, depth_max: u16) -> String {
    let links = count(depth.into(), "link");
    format!("{links} lead to it from the first page of its site, and `depth_max` is {depth_max}")
}

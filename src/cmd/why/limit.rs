//! Which limit dropped a URL.
//!
//! What lives here: the limits of a crawl, compared with the archive and the last report. Dropped URLs are not recorded,
//! since a trap makes any number of them. The archive shows the depth of a page and the requests of a host; for other
//! limits there are only counts. What does not: rules on the URL alone (`crawl::Rules`), and the count of a host
//! (`crawl::host_limit`).
//!
//! **Invariant.** The verdict "dropped:" with one limit means that no run with this limit and this archive fetches the URL.
//! From counts alone, the verdict lists the possible limits.

use std::path::Path;

use anyhow::Result;
use archive::{Archive, ArchiveError};
use crawl::{Config, Purpose, Reference, Report, SITEMAP_DEPTH_MAX, VisitRecord};
use page::Url;

use super::captures;
use super::found::{FOUND_MAX, Found};
use crate::console::count;

/// The data that limits depend on.
pub(super) struct Limits<'a> {
    pub(super) archive: &'a Archive,
    pub(super) frontier: &'a Path,
    pub(super) report: &'a Report,
    pub(super) config: &'a Config,
}

impl Limits<'_> {
    /// Returns the limit that drops `url`, as a sentence; `None` if no limit is known to. `redirects_max` and `depth_max`
    /// do not apply to seeds (`given`).
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

    /// Returns the limit that the host of `url` has reached, as a sentence.
    pub(super) fn share_had(&self, url: &Url) -> Result<Option<String>> {
        let share = crawl::host_limit(self.archive, self.frontier, self.config, url.as_str())?;
        Ok(share.map(|key| self.share(key)))
    }

    /// Returns the verdict about `url` by the counts of the last run.
    pub(super) fn left_by_last(&self, url: &Url) -> Result<String> {
        // A host without a capture may be unknown to the crawl.
        let is_new = self.archive.captures_of_host(url.as_str())?.iter().all(|capture| {
            Url::parse(&capture.url).is_ok_and(|captured| captured.origin() != url.origin())
        });
        // A known host may still wait for its turn, unless the run finished.
        let is_over = !self.report.interrupted && self.report.limit.is_none();
        let hosts_max = self.config.hosts_max;
        let is_full = self.report.hosts >= hosts_max as u64 && self.drops("hosts") > 0;
        if is_new && is_over && is_full {
            return Ok(format!(
                "dropped: the crawl already knew {}, which is `hosts_max`",
                count(hosts_max as u64, "host")
            ));
        }
        Ok(self.counted(is_new))
    }

    /// Formats the limit with this key, which a host has reached.
    fn share(&self, key: &str) -> String {
        let (limit, noun) = match key {
            "pages_per_host_max" => (self.config.pages_per_host_max, "page"),
            _ => (self.config.requests_per_host_max, "request"),
        };
        format!("its host has reached its limit of {} (`{key}`)", count(limit, noun))
    }

    /// Returns why all links and redirects to it are too long; `None` if one is not.
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
                // An unreadable page may be near.
                read => read.and_then(Result::ok),
            };
            let Some(told) = record.as_ref().and_then(VisitRecord::read) else { return Ok(None) };
            let (hops, depth) = (told.hops, u32::from(told.depth) + 1);
            let (hops_max, depth_max) = (self.config.redirects_max, self.config.depth_max);
            let is_same_site = from.origin() == url.origin();
            far = match found.how {
                Reference::Redirect if hops >= hops_max => Some(format!(
                    "{} led to it, one more than `redirects_max` allows",
                    count(u64::from(hops) + 1, "redirect")
                )),
                Reference::Link if depth_max > 0 && is_same_site && depth > depth_max.into() => {
                    Some(far_from_first(depth, depth_max))
                }
                Reference::Index
                    if told.purpose == Purpose::Sitemap && depth > SITEMAP_DEPTH_MAX.into() =>
                {
                    Some(format!(
                        "sitemap indexes lead to it {depth} levels down, and {SITEMAP_DEPTH_MAX} are \
                         followed"
                    ))
                }
                _ => return Ok(None),
            };
        }
        Ok(far)
    }

    /// Returns the verdict that lists the possible limits, by the counts of the last run.
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
                ways.push(format!("{} by `{key}`", count(times, "URL")));
            }
        }
        if *pruned > 0 {
            ways.push(format!("{} by `turn_s_max`", count(*pruned, "URL")));
        }
        // The next crawl finds these URLs again, and may have room for them.
        let rooms = ["waiting-per-host", "waiting"];
        let has_room = *pruned > 0 || rooms.into_iter().any(|limit| self.drops(limit) > 0);
        let next = if has_room { "; the next crawl may fetch it" } else { "" };
        let (ways, urls) = (ways.join(", "), count(*waiting, "URL"));
        // A crawl that finished left URLs only in queues of hosts that are set aside.
        let may_wait = *interrupted || limit.is_some();
        match (ways.is_empty(), limit) {
            (false, _) if !may_wait => {
                format!("probably dropped: the last crawl dropped {ways}{next}")
            }
            (false, _) => {
                format!("waiting (one of {urls}) or dropped: the last crawl dropped {ways}{next}")
            }
            (true, Some(limit)) => {
                format!("waiting: the last crawl ended at its `{limit}` with {urls} in the queue")
            }
            (true, None) if *waiting == 0 => {
                "waiting: the last crawl did not reach it, and `crivello crawl` does".to_owned()
            }
            (true, None) => format!(
                "waiting: the last crawl ended with {urls} in the queue, and `crivello crawl` continues"
            ),
        }
    }

    /// Returns how many URLs the last run dropped by a limit.
    fn drops(&self, limit: &str) -> u64 {
        self.report.dropped.get(limit).copied().unwrap_or(0)
    }
}

/// Formats the depth of a page beyond `depth_max`.
pub(super) fn far_from_first(depth: u32, depth_max: u16) -> String {
    let links = count(depth.into(), "link");
    format!("{links} lead to it from the first page of its site, and `depth_max` is {depth_max}")
}

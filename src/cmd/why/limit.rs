//! Which limit kept a URL that was found from being visited, as far as that can be known.
//!
//! What lives here: the limits of a crawl, held against what the archive and the last report tell. Nobody
//! writes down the URLs that are dropped, for they may be as many as a trap makes up; but how far a page was
//! is archived, a host that has had its share has it in the archive, and the rest is counted by limit. What
//! does not: rules that depend on the URL alone (`crawl::Rules`).
//!
//! **Invariant.** "dropped" is said only of what no run with these limits and this archive would visit.

use anyhow::Result;
use archive::Archive;
use crawl::{Config, Mention, Report, SITEMAP_DEPTH_MAX};
use page::Url;

use super::{FOUND_MAX, Found};
use crate::talk::count;

/// What limits are held against.
pub(super) struct Limits<'a> {
    pub(super) archive: &'a Archive,
    pub(super) report: &'a Report,
    pub(super) config: &'a Config,
}

impl Limits<'_> {
    /// What became of `url`, which was found there, may be visited, and was not; in a sentence.
    pub(super) fn verdict(&self, url: &Url, seed: bool, found_on: &[Found]) -> Result<String> {
        if !seed && let Some(far) = self.too_far(url, found_on)? {
            return Ok(format!("dropped: {far}"));
        }
        let had = Had::of(self.archive, url)?;
        if let Some(full) = self.full(&had) {
            return Ok(format!("dropped: {full}"));
        }
        Ok(self.counted(&had))
    }

    /// Why every way to it is too long, if every one is.
    fn too_far(&self, url: &Url, found_on: &[Found]) -> Result<Option<String>> {
        if found_on.len() >= FOUND_MAX {
            return Ok(None); // there may be a shorter one
        }
        let mut far = None;
        for found in found_on.iter().filter(|found| found.how.is_followed()) {
            let captures = self.archive.captures(&found.url)?;
            let answer = captures.iter().rfind(|capture| capture.date_s == found.date_s);
            let record = answer.map(|capture| self.archive.read(&capture.location)).transpose()?;
            let Some(distance) = record.as_ref().and_then(crawl::read_distance) else {
                return Ok(None);
            };
            let (hops, depth) = (distance.hops, u32::from(distance.depth) + 1);
            let (hops_max, depth_max) = (self.config.redirects_max, self.config.depth_max);
            let is_same_site =
                Url::parse(&found.url).is_ok_and(|from| from.origin() == url.origin());
            far = match found.how {
                Mention::Redirect if hops >= hops_max => Some(format!(
                    "{} led to it, one more than `redirects_max` allows",
                    count(u64::from(hops) + 1, "redirect")
                )),
                Mention::Link if depth_max > 0 && is_same_site && depth > depth_max.into() => {
                    Some(format!(
                        "{} lead to it from the first page of its site, and `depth_max` is {depth_max}",
                        count(depth.into(), "link")
                    ))
                }
                Mention::Index if distance.is_sitemap && depth > SITEMAP_DEPTH_MAX.into() => {
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

    /// Why its host gets no more visits, if it does not.
    fn full(&self, had: &Had) -> Option<String> {
        let Config { pages_per_host_max, requests_per_host_max, hosts_max, .. } = *self.config;
        let is_reached = |count, limit| limit > 0 && count >= limit;
        if self.dropped("host-limit") > 0 && is_reached(had.pages, pages_per_host_max) {
            return Some(format!(
                "its host has had its {} (`pages_per_host_max`)",
                count(pages_per_host_max, "page")
            ));
        }
        if self.dropped("host-limit") > 0 && is_reached(had.requests, requests_per_host_max) {
            return Some(format!(
                "its host has had its {} (`requests_per_host_max`)",
                count(requests_per_host_max, "request")
            ));
        }
        // A host that is known may not have had its turn yet, unless nothing was left to do.
        let is_over = !self.report.interrupted && self.report.limit.is_none();
        let is_new = had.requests == 0 && self.report.hosts >= hosts_max as u64;
        (is_over && is_new && self.dropped("hosts") > 0)
            .then(|| format!("{hosts_max} hosts were known before its own, which is `hosts_max`"))
    }

    /// What the counts of the last run leave open.
    fn counted(&self, had: &Had) -> String {
        let Report { waiting, limit, pruned, interrupted, .. } = self.report;
        let mut ways: Vec<String> = Vec::new();
        for (limit, key) in [
            ("waiting-per-host", "waiting_per_host_max"),
            ("waiting", "waiting_max"),
            ("hosts", "hosts_max"),
        ] {
            let times = self.dropped(limit);
            if times > 0 && (limit != "hosts" || had.requests == 0) {
                ways.push(format!("{times} by `{key}`"));
            }
        }
        if *pruned > 0 {
            ways.push(format!("{pruned} by `turn_s_max`"));
        }
        let ways = ways.join(", ");
        // A crawl that came to its end by itself left nothing in the queue of a host that is not set aside.
        let may_wait = *interrupted || limit.is_some();
        match (ways.is_empty(), limit) {
            (false, _) if !may_wait => format!("dropped, as these were: {ways}"),
            (false, _) => {
                format!("waiting, as {waiting} URLs do, or dropped, as these were: {ways}")
            }
            (true, Some(limit)) => format!(
                "waiting: the last crawl ended at its `{limit}` with {waiting} URLs in the queue"
            ),
            (true, None) => format!(
                "waiting: {waiting} URLs were in the queue when the last crawl ended, and `crivello \
                 crawl` goes on with them"
            ),
        }
    }

    /// URLs that the last run dropped because of a limit.
    fn dropped(&self, limit: &str) -> u64 {
        self.report.dropped.get(limit).copied().unwrap_or(0)
    }
}

/// What a host was asked so far, its robots.txt left out.
struct Had {
    pages: u64,
    requests: u64,
}

impl Had {
    fn of(archive: &Archive, url: &Url) -> Result<Had> {
        let origin = url.origin();
        let mut captures = archive.captures_of_host(url.as_str())?;
        captures.retain(|capture| {
            let at = Url::parse(&capture.url);
            at.is_ok_and(|at| at.origin() == origin && at.path() != "/robots.txt")
        });
        let requests = captures.len() as u64;
        captures.retain(|capture| capture.status == Some(200));
        captures.sort_by(|a, b| a.url.cmp(&b.url));
        captures.dedup_by(|a, b| a.url == b.url);
        Ok(Had { pages: captures.len() as u64, requests })
    }
}

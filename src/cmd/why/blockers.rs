//! Reasons why no crawl fetches a URL, by the present configuration, archive and robots.txt.
//!
//! What lives here: [`Blocker`], a reason. A new URL needs a link that is followed ([`Blockers`]). A URL that was visited before
//! needs none ([`KnownBlockers`]). What does not: when a crawl fetches a URL without a bar (`why.rs`, `waiting.rs`).
//!
//! **Invariant.** A host that is set aside is no bar: it delays a crawl only.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use archive::Archive;
use collection::Collection;
use crawl::{AgentId, AsideHost, LostRobots, Reference, Report, Rules};
use page::Url;

use super::found;
use super::limit::{Limits, far_from_first};
use super::robots;
use super::waiting;
use super::{Why, captures};
use crate::cmd::crawl::aside_fate;
use crate::config::Config;

/// A reason why no crawl fetches a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocker {
    /// By the rules, or because of the address of its host.
    Refused(String),
    /// Its host belongs to this other agent.
    Agent(u16),
    Forbidden(String),
    /// No link to it is followed; the reason as a sentence.
    Unfollowed(String),
    /// By a limit.
    Dropped(String),
}

impl Blocker {
    /// Formats it as a verdict.
    pub(crate) fn verdict(&self) -> String {
        match self {
            Blocker::Refused(why) => format!("refused: {why}"),
            Blocker::Agent(agent) => {
                format!(
                    "left to agent {agent}, which crawls its host: see frontier/outbox-{agent}.urls"
                )
            }
            Blocker::Forbidden(why) => format!("forbidden by robots.txt: {why}"),
            Blocker::Unfollowed(why) => format!("not followed: {why}"),
            Blocker::Dropped(why) => format!("dropped: {why}"),
        }
    }

    /// Formats it as a reason after a colon.
    pub(crate) fn reason(&self) -> String {
        match self {
            Blocker::Refused(why) => format!("it is refused: {why}"),
            Blocker::Agent(agent) => format!("agent {agent} crawls its host"),
            Blocker::Forbidden(why) => format!("robots.txt forbids it: {why}"),
            Blocker::Unfollowed(why) | Blocker::Dropped(why) => why.clone(),
        }
    }
}

/// The data that bars of a new URL depend on.
pub(super) struct Blockers<'a> {
    pub(super) why: &'a Why,
    pub(super) url: &'a Url,
    pub(super) collection: &'a Collection,
    pub(super) archive: &'a Archive,
    pub(super) report: &'a Report,
    pub(super) config: &'a Config,
}

impl Blockers<'_> {
    /// Returns the bar of a URL that a crawl finds by seeds and links.
    pub(super) fn found(&self) -> Result<Option<Blocker>> {
        let why = self.why;
        // The rules do not apply to seeds.
        if let Some(refused) = why.refused.as_ref().filter(|_| !why.seed) {
            return Ok(Some(Blocker::Refused(refused.clone())));
        }
        if let Some(far) = why.far.as_ref().filter(|_| !why.seed) {
            return Ok(Some(Blocker::Dropped(far.clone())));
        }
        if let Some(bar) = self.host() {
            return Ok(Some(bar));
        }
        if !self.is_led_to()? {
            return Ok(Some(found::unfollowed(&why.found_on, &self.config.crawl)));
        }
        if let Some(far) = waiting::too_far(why, self.config) {
            return Ok(Some(Blocker::Dropped(far)));
        }
        let given = waiting::is_given(why, self.config);
        let dropped = self.limits(&self.collection.frontier_dir()).dropped_by(
            self.url,
            given,
            &why.found_on,
        )?;
        Ok(dropped.map(Blocker::Dropped))
    }

    /// Returns the bar of a URL that was visited before, which needs no link. The limits of its host apply only in a run
    /// that `is_begun`.
    pub(super) fn known(&self, is_begun: bool) -> Result<Option<Blocker>> {
        if self.found()?.is_none() {
            return Ok(None);
        }
        let why = self.why;
        let is_sitemap = why.is_sitemap() || why.named_as_sitemap_by.is_some();
        let depth = captures::depth(&why.captures);
        let mut known =
            KnownBlockers::new(self.collection, self.archive, self.report, self.config)?;
        known.bar(self.url, is_sitemap, depth, is_begun)
    }

    fn limits<'a>(&'a self, frontier: &'a std::path::Path) -> Limits<'a> {
        let (archive, report, config) = (self.archive, self.report, &self.config.crawl);
        Limits { archive, frontier, report, config }
    }

    /// Returns the bar of its host.
    fn host(&self) -> Option<Blocker> {
        let why = self.why;
        if let Some(agent) = why.agent {
            return Some(Blocker::Agent(agent));
        }
        if let Some(aside) = why.aside.as_ref().filter(|aside| aside.refused) {
            return Some(refused_host(aside));
        }
        why.robots.clone().filter(|_| why.forbidden).map(Blocker::Forbidden)
    }

    /// Returns whether it is a seed, or a link to it is followed. With `follow = false`, only seeds and their redirects
    /// and sitemaps lead to other URLs.
    fn is_led_to(&self) -> Result<bool> {
        let (why, crawl) = (self.why, &self.config.crawl);
        let mut hows = why.found_on.iter().map(|found| found.how);
        let is_way = |how: Reference| how.is_followed(crawl);
        if why.seed || why.inbox {
            return Ok(true);
        }
        let frontier = self.collection.frontier_dir();
        Ok(hows.any(is_way)
            && (crawl.follow
                || crawl::is_named_by_seeds(self.archive, &frontier, crawl, self.url.as_str())?))
    }
}

/// Finds the bars of URLs that were visited before.
pub(crate) struct KnownBlockers<'a> {
    archive: &'a Archive,
    report: &'a Report,
    config: &'a Config,
    frontier: PathBuf,
    lost: LostRobots,
    seeds: Vec<Url>,
    rules: Rules,
    /// For each site, the limit that it has reached.
    shares: HashMap<String, Option<String>>,
}

impl<'a> KnownBlockers<'a> {
    pub(crate) fn new(
        collection: &Collection,
        archive: &'a Archive,
        report: &'a Report,
        config: &'a Config,
    ) -> Result<KnownBlockers<'a>> {
        let frontier = collection.frontier_dir();
        let seeds = crawl::read_seeds(&frontier)?;
        let rules = Rules::new(&config.crawl, &seeds)?;
        let shares = HashMap::new();
        let lost = LostRobots::read(&frontier, archive)?;
        Ok(KnownBlockers { archive, report, config, frontier, lost, seeds, rules, shares })
    }

    /// Returns the bar of `url`, `depth` links from the first page of its site. The limits of its host apply if
    /// `is_counted`.
    pub(crate) fn bar(
        &mut self,
        url: &Url,
        is_sitemap: bool,
        depth: Option<u16>,
        is_counted: bool,
    ) -> Result<Option<Blocker>> {
        if !url.has_host() {
            return Ok(None);
        }
        let crawl = &self.config.crawl;
        if !self.seeds.contains(url) {
            let check =
                if is_sitemap { self.rules.check_sitemap(url) } else { self.rules.check(url) };
            if let Err(refused) = check {
                return Ok(Some(Blocker::Refused(refused.to_string())));
            }
            let depth_max = crawl.depth_max;
            let is_far = |&depth: &u16| depth_max > 0 && !is_sitemap && depth > depth_max;
            if let Some(depth) = depth.filter(is_far) {
                return Ok(Some(Blocker::Dropped(far_from_first(depth.into(), depth_max))));
            }
        }
        if let Some(agent) = other_agent(url, crawl) {
            return Ok(Some(Blocker::Agent(agent)));
        }
        let host = url.origin().ascii_serialization();
        let mut asides = self.report.aside.iter();
        if let Some(aside) = asides.find(|aside| aside.refused && aside.host == host) {
            return Ok(Some(refused_host(aside)));
        }
        let saying =
            robots::saying(self.archive, &self.frontier, &self.lost, url, &crawl.user_agent)?;
        if let Some(saying) = saying.filter(|saying| saying.is_had && !saying.allowed) {
            return Ok(Some(Blocker::Forbidden(saying.why)));
        }
        Ok(self.share(host, url)?.filter(|_| is_counted).map(Blocker::Dropped))
    }

    /// Returns the limit that the host of `url` has reached, as a sentence.
    fn share(&mut self, host: String, url: &Url) -> Result<Option<String>> {
        if let Some(share) = self.shares.get(&host) {
            return Ok(share.clone());
        }
        let (archive, report, config) = (self.archive, self.report, &self.config.crawl);
        let limits = Limits { archive, frontier: &self.frontier, report, config };
        let share = limits.share_had(url)?;
        self.shares.insert(host, share.clone());
        Ok(share)
    }
}

fn refused_host(aside: &AsideHost) -> Blocker {
    Blocker::Refused(format!("{}; {}", aside.why, aside_fate(aside)))
}

/// Returns the agent that crawls the host of a URL, if it is not this one.
pub(super) fn other_agent(url: &Url, config: &crawl::Config) -> Option<u16> {
    let owner = crawl::assignment(config).and_then(|agents| agents.owner(crawl::host_of(url)));
    owner.map(|AgentId(agent)| agent).filter(|&agent| agent != config.agent)
}

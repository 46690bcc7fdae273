//! What keeps every crawl from asking for a URL, as the configuration, the archive and robots.txt are now.
//!
//! What lives here: [`Bar`], and what bars a URL. A URL that links lead to needs a way that is followed ([`Bars`]); one that
//! the archive knows, and that a recrawl asks for or that is lost, needs none ([`KnownBars`]). What does not: when a crawl asks for what
//! nothing bars (`why.rs`, `last.rs`).
//!
//! **Invariant.** Whether a crawl asks at all is judged before when: that a host is set aside bars nothing of it.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use archive::Archive;
use collection::Collection;
use crawl::{AgentId, AsideHost, LostRobots, Mention, Report, Rules};
use page::Url;

use super::found;
use super::last;
use super::limit::{Limits, far_from_first};
use super::robots;
use super::{Why, captures};
use crate::cmd::crawl::aside_fate;
use crate::config::Config;

/// Why no crawl asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bar {
    /// By the rules, or the address of its host.
    Refused(String),
    /// Another agent does.
    Agent(u16),
    Forbidden(String),
    /// In a sentence.
    Unfollowed(String),
    /// By a limit.
    Dropped(String),
}

impl Bar {
    /// As a verdict.
    pub(crate) fn verdict(&self) -> String {
        match self {
            Bar::Refused(why) => format!("refused: {why}"),
            Bar::Agent(agent) => {
                format!("left to agent {agent}, whose host it is: see frontier/outbox-{agent}.urls")
            }
            Bar::Forbidden(why) => format!("forbidden by robots.txt: {why}"),
            Bar::Unfollowed(why) => format!("not followed: {why}"),
            Bar::Dropped(why) => format!("dropped: {why}"),
        }
    }

    /// As a reason.
    pub(crate) fn reason(&self) -> String {
        match self {
            Bar::Refused(why) => format!("it is refused: {why}"),
            Bar::Agent(agent) => format!("its host is crawled by agent {agent}"),
            Bar::Forbidden(why) => format!("robots.txt forbids it: {why}"),
            Bar::Unfollowed(why) | Bar::Dropped(why) => why.clone(),
        }
    }
}

/// What the answer is held against.
pub(super) struct Bars<'a> {
    pub(super) why: &'a Why,
    pub(super) url: &'a Url,
    pub(super) collection: &'a Collection,
    pub(super) archive: &'a Archive,
    pub(super) report: &'a Report,
    pub(super) config: &'a Config,
}

impl Bars<'_> {
    /// What bars a URL that seeds and links lead to.
    pub(super) fn found(&self) -> Result<Option<Bar>> {
        let why = self.why;
        // Whoever named a seed wants it.
        if let Some(refused) = why.refused.as_ref().filter(|_| !why.seed) {
            return Ok(Some(Bar::Refused(refused.clone())));
        }
        if let Some(far) = why.far.as_ref().filter(|_| !why.seed) {
            return Ok(Some(Bar::Dropped(far.clone())));
        }
        if let Some(bar) = self.host() {
            return Ok(Some(bar));
        }
        if !self.is_led_to()? {
            return Ok(Some(found::unfollowed(&why.found_on, &self.config.crawl)));
        }
        if let Some(far) = last::too_far(why, self.config) {
            return Ok(Some(Bar::Dropped(far)));
        }
        let given = last::is_given(why, self.config);
        let dropped = self.limits(&self.collection.frontier_dir()).dropped_by(
            self.url,
            given,
            &why.found_on,
        )?;
        Ok(dropped.map(Bar::Dropped))
    }

    /// What bars one that the archive knows from those that ask for it again whatever leads to it. In a recrawl that is
    /// still to begin nothing counts against its host yet.
    pub(super) fn known(&self, is_begun: bool) -> Result<Option<Bar>> {
        if self.found()?.is_none() {
            return Ok(None);
        }
        let why = self.why;
        let is_sitemap = why.is_sitemap() || why.named_as_sitemap_by.is_some();
        let depth = captures::depth(&why.captures);
        let mut known = KnownBars::new(self.collection, self.archive, self.report, self.config)?;
        known.bar(self.url, is_sitemap, depth, is_begun)
    }

    fn limits<'a>(&'a self, frontier: &'a std::path::Path) -> Limits<'a> {
        let (archive, report, config) = (self.archive, self.report, &self.config.crawl);
        Limits { archive, frontier, report, config }
    }

    /// What its host bars.
    fn host(&self) -> Option<Bar> {
        let why = self.why;
        if let Some(agent) = why.agent {
            return Some(Bar::Agent(agent));
        }
        if let Some(aside) = why.aside.as_ref().filter(|aside| aside.refused) {
            return Some(refused_host(aside));
        }
        why.robots.clone().filter(|_| why.forbidden).map(Bar::Forbidden)
    }

    /// Whether it is given, or a way leads to it that is followed. Where no link is followed, a sitemap and a redirect
    /// are ways only if they were given, or what was given has led to them.
    fn is_led_to(&self) -> Result<bool> {
        let (why, crawl) = (self.why, &self.config.crawl);
        let mut hows = why.found_on.iter().map(|found| found.how);
        let is_way = |how: Mention| how.is_followed(crawl);
        if why.seed || why.inbox {
            return Ok(true);
        }
        let frontier = self.collection.frontier_dir();
        Ok(hows.any(is_way)
            && (crawl.follow
                || crawl::seeds_name(self.archive, &frontier, crawl, self.url.as_str())?))
    }
}

/// What bars URLs that the archive knows, whatever leads to them.
pub(crate) struct KnownBars<'a> {
    archive: &'a Archive,
    report: &'a Report,
    config: &'a Config,
    frontier: PathBuf,
    lost: LostRobots,
    seeds: Vec<Url>,
    rules: Rules,
    /// Of each site the share that it has had.
    shares: HashMap<String, Option<String>>,
}

impl<'a> KnownBars<'a> {
    pub(crate) fn new(
        collection: &Collection,
        archive: &'a Archive,
        report: &'a Report,
        config: &'a Config,
    ) -> Result<KnownBars<'a>> {
        let frontier = collection.frontier_dir();
        let seeds = crawl::read_seeds(&frontier)?;
        let rules = Rules::new(&config.crawl, &seeds)?;
        let shares = HashMap::new();
        let lost = LostRobots::read(&frontier, archive)?;
        Ok(KnownBars { archive, report, config, frontier, lost, seeds, rules, shares })
    }

    /// What bars one, which so many links led to; with what its host has had, if that counts.
    pub(crate) fn bar(
        &mut self,
        url: &Url,
        is_sitemap: bool,
        depth: Option<u16>,
        is_counted: bool,
    ) -> Result<Option<Bar>> {
        if !url.has_host() {
            return Ok(None);
        }
        let crawl = &self.config.crawl;
        if !self.seeds.contains(url) {
            let check =
                if is_sitemap { self.rules.check_sitemap(url) } else { self.rules.check(url) };
            if let Err(refused) = check {
                return Ok(Some(Bar::Refused(refused.to_string())));
            }
            let depth_max = crawl.depth_max;
            let is_far = |&depth: &u16| depth_max > 0 && !is_sitemap && depth > depth_max;
            if let Some(depth) = depth.filter(is_far) {
                return Ok(Some(Bar::Dropped(far_from_first(depth.into(), depth_max))));
            }
        }
        if let Some(agent) = other_agent(url, crawl) {
            return Ok(Some(Bar::Agent(agent)));
        }
        let host = url.origin().ascii_serialization();
        let mut asides = self.report.aside.iter();
        if let Some(aside) = asides.find(|aside| aside.refused && aside.host == host) {
            return Ok(Some(refused_host(aside)));
        }
        let saying =
            robots::saying(self.archive, &self.frontier, &self.lost, url, &crawl.user_agent)?;
        if let Some(saying) = saying.filter(|saying| saying.is_had && !saying.allowed) {
            return Ok(Some(Bar::Forbidden(saying.why)));
        }
        Ok(self.share(host, url)?.filter(|_| is_counted).map(Bar::Dropped))
    }

    /// What is said of the host of a URL if it has had its share.
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

fn refused_host(aside: &AsideHost) -> Bar {
    Bar::Refused(format!("{}; {}", aside.why, aside_fate(aside)))
}

/// The agent that crawls the host of a URL, if another.
pub(super) fn other_agent(url: &Url, config: &crawl::Config) -> Option<u16> {
    let owner = crawl::assignment(config).and_then(|agents| agents.owner(crawl::host_of(url)));
    owner.map(|AgentId(agent)| agent).filter(|&agent| agent != config.agent)
}

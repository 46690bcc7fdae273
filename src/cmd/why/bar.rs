//! What keeps every crawl from asking for a URL, as the configuration, the archive and robots.txt are now.
//!
//! What lives here: [`Bar`], and what bars a URL. A URL that links lead to needs a way that is followed; one that the
//! archive knows, and that a recrawl asks for or that is lost, needs none. What does not: when a crawl asks for what
//! nothing bars (`why.rs`, `last.rs`).
//!
//! **Invariant.** Whether a crawl asks at all is judged before when: that a host is set aside bars nothing of it.

use anyhow::Result;
use archive::Archive;
use crawl::{Mention, Report, Rules};
use jobs::Collection;
use page::Url;

use super::found;
use super::last;
use super::limit::{Limits, far_from_first};
use super::{Why, captures};
use crate::cmd::crawl::aside_fate;
use crate::config::Config;

/// Why no crawl asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bar {
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
    pub(super) fn verdict(&self) -> String {
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
    pub(super) fn reason(&self) -> String {
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
        let frontier = self.collection.frontier_dir();
        if !why.seed && self.url.has_host() {
            let rules = Rules::new(&self.config.crawl, &crawl::read_seeds(&frontier)?)?;
            let is_sitemap = why.is_sitemap() || why.named_as_sitemap_by.is_some();
            let refused =
                if is_sitemap { rules.check_sitemap(self.url) } else { rules.check(self.url) };
            if let Err(refused) = refused {
                return Ok(Some(Bar::Refused(refused.to_string())));
            }
            let depth_max = self.config.crawl.depth_max;
            let depth = captures::depth(&why.captures).filter(|_| !is_sitemap);
            if let Some(depth) = depth.filter(|&depth| depth_max > 0 && depth > depth_max) {
                return Ok(Some(Bar::Dropped(far_from_first(depth.into(), depth_max))));
            }
        }
        if let Some(bar) = self.host() {
            return Ok(Some(bar));
        }
        if !is_begun {
            return Ok(None);
        }
        Ok(self.limits(&frontier).share_had(self.url)?.map(Bar::Dropped))
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
            return Some(Bar::Refused(format!("{}; {}", aside.why, aside_fate(aside))));
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

//! A host in a crawl: its queue, its robots.txt, its failures.
//!
//! The life of a host. It is created when the first of its URLs comes out of the sieve, and enters the workbench.
//! Its first turn resolves its address, its second fetches robots.txt, every later one fetches a page that
//! robots.txt allows. When no page waits it is `Idle` until another URL comes. When its robots.txt redirects to
//! another host, it waits (`Asking`) until that host has fetched the file in a turn of its own; meanwhile it may
//! itself fetch files for others. A host that cannot be reached, or whose robots.txt cannot be fetched, is set
//! `Aside` with its pages. Failures that count against the host cost its pages no attempts. After the third time
//! in a row the host stays aside for the rest of the run. A host that requests a longer wait than a run has is set
//! aside for that long, in later runs as well.
//!
//! **Invariant.** Only a `Listed` host is in the workbench. Only a `Visiting` host has a visit under way, and only
//! one.

mod robots;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use super::queue::Queue;
use super::robots_budget::RobotsBudget;
use super::spill::Spill;
use crate::assignment::AgentId;
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::health::Health;
use crate::order::{FetchMode, Waiting};
use crate::politeness::Pace;
use crate::site::{HostId, Site};

pub(super) use robots::{RobotsRules, RobotsState};

pub(super) struct Host {
    pub(super) site: Arc<Site>,
    /// The agent of the host, if it is not ours: then it only fetches robots.txt files for other hosts.
    pub(super) other: Option<AgentId>,
    pub(super) state: State,
    pub(super) address: Option<IpAddr>,
    /// Number of its addresses that may be used.
    addresses: u8,
    /// When the address must be resolved again.
    pub(super) address_until_ms: u64,
    pub(super) robots: RobotsState,
    /// The Crawl-delay of its last robots.txt; it holds while the next one is fetched.
    pub(super) crawl_delay_ms: Option<u64>,
    /// Pages never tried.
    pub(super) queue: Queue,
    /// State that few hosts have at a time.
    rare: Option<Box<Rare>>,
    /// Pages archived, and requests made for pages.
    pub(super) pages: u64,
    pub(super) requests: u64,
    /// The failures since its last good answer.
    pub(super) health: Health,
    /// The requests since its last long pause.
    pub(super) pace: Pace,
    /// Number of times it was set aside since its last page.
    pub(super) asides: u32,
    /// When it comes back, if it is aside only because a single page failed: another page may show more.
    pub(super) unheard_until_ms: Option<u64>,
    /// No request is made before this moment.
    pub(super) ready_ms: u64,
}

/// The state of a host that comes before its queue.
#[derive(Default)]
struct Rare {
    /// Pages to be retried, each from its moment on, before the others.
    again: BTreeMap<(u64, Box<str>), Waiting>,
    /// robots.txt files to be fetched here, first its own.
    errands: VecDeque<HostTask>,
    /// Its addresses that do not connect.
    dead: Vec<IpAddr>,
}

impl Rare {
    fn is_empty(&self) -> bool {
        self.again.is_empty() && self.errands.is_empty() && self.dead.is_empty()
    }
}

/// The state of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No page waits.
    Idle,
    /// In the workbench.
    Listed,
    /// At a fetcher or a parser.
    Visiting,
    /// Waiting for another host to fetch its robots.txt.
    Asking,
    /// Set aside for a while.
    Aside,
}

/// A robots.txt to be fetched for `asker`.
#[derive(Debug)]
pub(super) struct HostTask {
    pub(super) asker: HostId,
    pub(super) page: Waiting,
}

/// A request of an earlier run: its date, which is its end if that is known, and the wait that the answer
/// requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Replayed {
    pub(super) date: Moment,
    pub(super) retry_after_ms: Option<u64>,
}

/// Maximum age of a robots.txt: 24 hours, by RFC 9309.
const ROBOTS_S_MAX: i64 = 24 * 3600;

impl Host {
    pub(super) fn new(site: Site, other: Option<AgentId>) -> Host {
        Host {
            site: Arc::new(site),
            other,
            state: State::Idle,
            address: None,
            addresses: 0,
            address_until_ms: 0,
            robots: RobotsState::Unknown,
            crawl_delay_ms: None,
            queue: Queue::default(),
            rare: None,
            pages: 0,
            requests: 0,
            health: Health::default(),
            pace: Pace::default(),
            asides: 0,
            unheard_until_ms: None,
            ready_ms: 0,
        }
    }

    /// Takes the first address that is not known to be dead, valid until a moment.
    pub(super) fn take_address(&mut self, addresses: &[IpAddr], until_ms: u64) {
        self.addresses = u8::try_from(addresses.len()).unwrap_or(u8::MAX);
        let mut alive = addresses.first();
        if let Some(rare) = &mut self.rare {
            alive = addresses.iter().find(|address| !rare.dead.contains(address)).or(alive);
        }
        self.rare.take_if(|rare| rare.is_empty());
        (self.address, self.address_until_ms) = (alive.copied(), until_ms);
    }

    /// Returns whether there is another address to try. The number of tries is the number of addresses of the
    /// name. Earlier addresses count, or a name with ever new addresses would be tried forever.
    pub(super) fn has_other_address(&self) -> bool {
        let dead = self.rare.as_ref().map_or(0, |rare| rare.dead.len());
        self.address.is_some() && dead + 1 < self.addresses.into()
    }

    /// Replaces its dead address; returns `false` if there is no other one. Then all of them may be tried again.
    pub(super) fn leave_address(&mut self) -> bool {
        let is_other_left = self.has_other_address();
        if is_other_left {
            self.rare.get_or_insert_default().dead.extend(self.address.take());
        } else if let Some(rare) = &mut self.rare {
            rare.dead.clear();
        }
        self.rare.take_if(|rare| rare.is_empty());
        is_other_left
    }

    /// Lets all other ready hosts have their turn first.
    pub(super) fn stand_back(&mut self, now_ms: u64) {
        self.ready_ms = self.ready_ms.max(now_ms.saturating_add(1));
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.rare.as_ref().map_or(0, |rare| rare.again.len())
    }

    pub(super) fn has_known(&self) -> bool {
        let mut again = self.rare.iter().flat_map(|rare| rare.again.values());
        self.queue.has_known() || again.any(|page| page.known)
    }

    /// Returns the state of the host when it is not being visited.
    pub(super) fn place(&self) -> State {
        if self.has_errands() {
            State::Listed
        } else if self.waiting() == 0 {
            State::Idle
        } else if matches!(self.robots, RobotsState::Asked) {
            State::Asking
        } else {
            State::Listed
        }
    }

    /// Returns the bytes of memory of its pages and its robots.txt rules.
    pub(super) fn memory_bytes(&self) -> usize {
        self.queue.memory_bytes() + self.robots.memory_bytes()
    }

    /// Moves its pages and its robots.txt rules to disk.
    pub(super) fn spill(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        self.queue.spill(spill)?;
        self.robots.spill(spill)
    }

    /// Writes its part on disk again, to free space.
    pub(super) fn rewrite(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        self.queue.rewrite(spill)?;
        self.robots.rewrite(spill)
    }

    /// Returns the next page that its robots.txt allows, if that is known; adds the number of forbidden ones to
    /// `forbidden`. When the effort is spent there may be more pages.
    pub(super) fn pop_allowed(
        &mut self,
        now_ms: u64,
        spill: &mut Spill,
        robots_budget: &mut RobotsBudget,
        forbidden: &mut usize,
    ) -> Result<Option<Waiting>, CrawlError> {
        if !matches!(self.robots, RobotsState::Known { .. }) {
            return Ok(None);
        }
        while !robots_budget.is_spent()
            && let Some(page) = self.pop(now_ms, spill)?
        {
            let is_allowed = self.robots.allows(&page.path, spill)?;
            robots_budget.spend(self.robots.line_count(), &page.path);
            if is_allowed {
                return Ok(Some(page));
            }
            *forbidden += 1;
        }
        Ok(None)
    }

    /// Removes waiting pages that its robots.txt forbids, within the effort; returns their number. The remaining
    /// pages lose their order.
    pub(super) fn forget_forbidden(
        &mut self,
        spill: &mut Spill,
        robots_budget: &mut RobotsBudget,
    ) -> Result<usize, CrawlError> {
        let mut forbidden = 0;
        if !self.robots.forbids_some() {
            return Ok(0);
        }
        for _ in 0..self.queue.len() {
            if robots_budget.is_spent() {
                break;
            }
            let Some(page) = self.queue.pop(spill)? else { break };
            let is_allowed = self.robots.allows(&page.path, spill)?;
            robots_budget.spend(self.robots.line_count(), &page.path);
            if is_allowed {
                self.queue.push(u8::MAX, &page);
            } else {
                forbidden += 1;
            }
        }
        Ok(forbidden)
    }

    /// Returns the next page that may be visited at `now_ms`. While the last visit failed, new pages come before
    /// retries, so that a page that hangs does not hold up the others.
    fn pop(&mut self, now_ms: u64, spill: &mut Spill) -> Result<Option<Waiting>, CrawlError> {
        let is_turn = !self.health.is_failing() || self.queue.is_empty();
        let first = self.rare.as_mut().and_then(|rare| rare.again.first_entry());
        let Some(entry) = first.filter(|entry| is_turn && entry.key().0 <= now_ms) else {
            return self.queue.pop(spill);
        };
        let page = entry.remove();
        self.rare.take_if(|rare| rare.is_empty());
        Ok(Some(page))
    }

    /// Adds a page that is to be retried from `due_ms` on.
    pub(super) fn put_again(&mut self, due_ms: u64, page: Waiting) {
        let rare = self.rare.get_or_insert_default();
        let replaced = rare.again.insert((due_ms, page.path.clone()), page);
        debug_assert!(replaced.is_none(), "a page waits once");
    }

    /// Restores the attempts of the current spell of failures: the host is to blame, not its pages.
    pub(super) fn forgive(&mut self) {
        let spell = self.health.spell();
        let again = self.rare.iter_mut().flat_map(|rare| rare.again.values_mut());
        for page in again.filter(|page| page.spell == spell) {
            (page.attempts, page.spell) = (page.attempts_before, 0);
        }
    }

    /// Returns whether this is the last attempt of a page whose failure may be the fault of the host: it has given
    /// no good answer since before the first one.
    pub(super) fn may_be_to_blame(&self, page: &Waiting, retries: u8) -> bool {
        page.attempts >= retries && self.health.is_unclear(page)
    }

    /// Returns whether this run has tried all waiting pages, so that none can show whose fault a failure is.
    pub(super) fn has_tried_all(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn push_errand(&mut self, errand: HostTask) {
        self.rare.get_or_insert_default().errands.push_back(errand);
    }

    pub(super) fn put_back_errand(&mut self, errand: HostTask) {
        self.rare.get_or_insert_default().errands.push_front(errand);
    }

    fn has_errands(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.errands.is_empty())
    }

    pub(super) fn pop_errand(&mut self) -> Option<HostTask> {
        let errand = self.rare.as_mut()?.errands.pop_front();
        self.rare.take_if(|rare| rare.is_empty());
        errand
    }

    pub(super) fn take_errands(&mut self) -> VecDeque<HostTask> {
        let errands = self.rare.as_mut().map(|rare| std::mem::take(&mut rare.errands));
        self.rare.take_if(|rare| rare.is_empty());
        errands.unwrap_or_default()
    }

    /// Returns when the host may be visited.
    pub(super) fn moment(&self) -> u64 {
        let is_waiting = !self.has_errands() && self.queue.is_empty();
        let first = self.rare.as_ref().and_then(|rare| rare.again.first_key_value());
        let again_ms = first.map_or(0, |(&(ms, _), _)| ms);
        if is_waiting { self.ready_ms.max(again_ms) } else { self.ready_ms }
    }

    /// Returns the number of waiting known pages that were requested without a conclusive answer.
    pub(super) fn unsettled(&self) -> usize {
        let again = self.rare.iter().flat_map(|rare| rare.again.values());
        let is_asked =
            |page: &Waiting| page.attempts > 0 || page.fetch_mode == FetchMode::Unconditional;
        again.filter(|page| page.known && !page.sitemap && is_asked(page)).count()
    }

    /// Removes all waiting pages; returns their number.
    pub(super) fn clear(&mut self, spill: &mut Spill) -> Result<usize, CrawlError> {
        let again = self.rare.as_mut().map(|rare| std::mem::take(&mut rare.again).len());
        self.rare.take_if(|rare| rare.is_empty());
        Ok(again.unwrap_or(0) + self.queue.clear(spill)?)
    }

    /// Adds an errand for a robots.txt if it is missing or too old.
    pub(super) fn ask_robots(
        &mut self,
        id: HostId,
        now_s: i64,
        spill: &mut Spill,
    ) -> Result<(), CrawlError> {
        let ask = match self.robots {
            RobotsState::Unknown | RobotsState::Lost { .. } => true,
            RobotsState::Asked => false,
            RobotsState::Known { fetched_s, .. } => now_s - fetched_s > ROBOTS_S_MAX,
        };
        if ask && self.waiting() > 0 {
            self.push_errand(HostTask { asker: id, page: Waiting::new("/robots.txt") });
            self.robots.replace(RobotsState::Asked, spill)?;
        }
        Ok(())
    }
}

//! Visits and how they end: what the stages of a crawl say to each other.
//!
//! What lives here: [`Visit`], which the frontier hands to a fetcher; [`Done`], which comes back
//! to it from a parser; [`Failure`], which is also what the archive keeps of a visit without an
//! answer. What does not: what follows from either (`frontier/`).
//!
//! **Invariant.** For every `Visit` handed out one `Done` comes back, unless the crawl is being
//! stopped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::answer::Purpose;
use crate::clock::Moment;
use crate::order::Waiting;
use crate::robots::Robots;
use crate::site::{HostId, Site};

/// What is to be done at a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Find its address.
    Resolve,
    /// Fetch a robots.txt for `asker`: the same host, or one whose robots.txt redirects here.
    Robots { asker: HostId, asker_site: Arc<Site> },
    /// Fetch a page.
    Page,
}

/// One thing to do at one host.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) host: HostId,
    pub(crate) site: Arc<Site>,
    pub(crate) task: Task,
    pub(crate) page: Waiting,
    /// Where to connect; `None` only while the task is to find out.
    pub(crate) address: Option<IpAddr>,
    /// Whether the host has another one to go to if nothing answers there.
    pub(crate) has_other_address: bool,
    /// Whether the connection is worth keeping for the next visit.
    pub(crate) keep_alive: bool,
    /// Whether the host is to blame if it is in vain, by silence, 429 or 5xx, and is set aside: it is the last try of a page,
    /// the host has given no good answer since before the first one, and nothing else waits that could tell whose fault
    /// it is.
    pub(crate) blames_host: bool,
}

impl Visit {
    pub(crate) fn url(&self) -> String {
        self.site.url(&self.page.path)
    }

    /// Whether it is yet to be made again, as if it had not been, after it failed like this: where the host
    /// has another address, and once where the server has refused it unseen.
    pub(crate) fn goes_on_after(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::Connect => self.has_other_address,
            FailureKind::Refused => !self.page.refused,
            _ => false,
        }
    }

    pub(crate) fn purpose(&self) -> Purpose {
        match self.task {
            Task::Robots { .. } => Purpose::Robots,
            _ if self.page.sitemap => Purpose::Sitemap,
            _ => Purpose::Page,
        }
    }
}

/// How a visit ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) visit: Visit,
    /// When its last byte had come, on the clock's scale.
    pub(crate) finished_ms: u64,
    /// When it began, in the archive's terms.
    pub(crate) date: Moment,
    /// The status of the capture that an answer is compared with; 0 if there is none.
    pub(crate) before: u16,
    /// Whether that is a page, and not a sitemap.
    pub(crate) was_page: bool,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The host has these addresses, the best first, until that moment on the clock's scale.
    Resolved { addresses: Vec<IpAddr>, until_ms: u64 },
    /// The server answered with this status, and a body of so many bytes, to the condition of the request, and not what
    /// the page is now.
    Inconclusive { status: u16, bytes: u64 },
    /// The server answered.
    Answered(Answered),
    /// No answer, or none that can be used.
    Failed(Failure),
}

/// What the frontier needs to know of an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// Bytes of the body as sent.
    pub(crate) bytes: u64,
    /// What Retry-After asks for.
    pub(crate) retry_after_ms: Option<u64>,
    /// How long after the request began that wait begins: when the answer had come, if it is a number of seconds; 0 where
    /// that is not known.
    pub(crate) took_ms: u32,
    /// The status of the capture that this one was compared with; 0 if there was none.
    pub(crate) before: u16,
    /// Whether it is as that one was.
    pub(crate) unchanged: bool,
    pub(crate) harvest: Harvest,
    /// Whether the filter of what is archived refuses it.
    pub(crate) is_unstored: bool,
}

impl Answered {
    /// Whether the archive has a page: it came with the answer, or is the one known before.
    pub(crate) fn is_page(&self) -> bool {
        !self.is_unstored && (self.status == 200 || self.unchanged && self.before == 200)
    }
}

/// What an answer leads to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Harvest {
    /// The rules of a robots.txt.
    pub(crate) robots: Option<Robots>,
    /// Where a redirect leads.
    pub(crate) redirect: Option<String>,
    /// URLs to be visited, in the order of the page.
    pub(crate) links: Vec<String>,
    /// Sitemaps to be read.
    pub(crate) sitemaps: Vec<String>,
    /// How many were not for this crawl, by the name of the refusal.
    pub(crate) refused: BTreeMap<Cow<'static, str>, u64>,
    /// How near its text is to the keywords, from 0 to 1; 0 if nobody asks.
    pub(crate) similarity: f32,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its class.
    pub kind: FailureKind,
    /// What exactly happened, for people.
    pub detail: String,
}

impl Failure {
    /// A failure of a class, with its story.
    pub fn new(kind: FailureKind, detail: impl fmt::Display) -> Failure {
        Failure { kind, detail: detail.to_string() }
    }

    /// An answer that is none: that nothing has changed, to somebody who did not ask for changes.
    pub(crate) fn uncalled_304() -> Failure {
        let detail = "the server answered 304, that nothing has changed, to a request that did not ask for \
                      changes";
        Failure::new(FailureKind::Protocol, detail)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.kind.name(), self.detail)
    }
}

/// Classes of failures, under which they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureKind {
    /// The name has no address.
    Dns,
    /// The address is not public, and nobody named the host.
    Address,
    /// The host is not on this machine, and the crawl has no contact.
    Contact,
    /// No connection.
    Connect,
    /// No secure connection.
    Tls,
    /// Too slow.
    Timeout,
    /// Not an HTTP answer, or one that broke off.
    Protocol,
    /// By its own word, or by closing a connection that it had kept, the server has done nothing with the request.
    Refused,
    /// A body longer than is kept.
    TooLarge,
    /// Too many other long answers were being read here: nobody's fault but ours.
    Room,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [FailureKind; 10] = [
        FailureKind::Dns,
        FailureKind::Address,
        FailureKind::Contact,
        FailureKind::Connect,
        FailureKind::Tls,
        FailureKind::Timeout,
        FailureKind::Protocol,
        FailureKind::Refused,
        FailureKind::TooLarge,
        FailureKind::Room,
    ];

    /// The word for it in archives and counts.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Dns => "dns",
            FailureKind::Address => "address",
            FailureKind::Contact => "contact",
            FailureKind::Connect => "connect",
            FailureKind::Tls => "tls",
            FailureKind::Timeout => "timeout",
            FailureKind::Protocol => "protocol",
            FailureKind::Refused => "refused",
            FailureKind::TooLarge => "too-large",
            FailureKind::Room => "room",
        }
    }

    /// The class with this name.
    pub fn from_name(name: &str) -> Option<FailureKind> {
        FailureKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether another try may end better.
    pub fn is_passing(self) -> bool {
        use FailureKind::{Connect, Dns, Protocol, Refused, Room, Timeout};
        matches!(self, Dns | Connect | Timeout | Protocol | Refused | Room)
    }

    /// Whether it says that the host cannot be reached, whatever the page.
    pub fn is_of_host(self) -> bool {
        use FailureKind::{Address, Connect, Contact, Dns, Tls};
        matches!(self, Dns | Address | Contact | Connect | Tls)
    }
}

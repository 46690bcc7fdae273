//! Visits and how they end: the messages between the stages of a crawl.
//!
//! What lives here: [`Visit`], which the frontier hands to a fetcher; [`Done`], which a parser returns to it;
//! [`Failure`], which the archive also records. What does not: how the frontier reacts (`frontier/`).
//!
//! **Invariant.** For every `Visit` handed out one `Done` comes back, unless the crawl is being stopped.

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

/// The task of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Resolve the address of the host.
    Resolve,
    /// Fetch a robots.txt for `asker`: the same host, or one whose robots.txt redirects here.
    Robots { asker: HostId, asker_site: Arc<Site> },
    /// Fetch a page.
    Page,
}

/// One request to one host.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) host: HostId,
    pub(crate) site: Arc<Site>,
    pub(crate) task: Task,
    pub(crate) page: Waiting,
    /// The address to connect to; `None` only while the task is to resolve it.
    pub(crate) address: Option<IpAddr>,
    /// Whether the host has another address to try if this one does not connect.
    pub(crate) has_other_address: bool,
    /// Whether to keep the connection for the next visit.
    pub(crate) keep_alive: bool,
    /// Whether a failure (silence, 429 or 5xx) counts against the host and sets it aside. That is so on the last
    /// attempt of a page if the host has given no good answer since before the first one. It also requires that no
    /// other page waits that could show whose fault it is.
    pub(crate) blames_host: bool,
}

impl Visit {
    pub(crate) fn url(&self) -> String {
        self.site.url(&self.page.path)
    }

    /// Returns whether the visit is repeated at once after this failure: on another address of the host, or once
    /// after the server refused the request unprocessed.
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
    /// When the last byte arrived, in milliseconds of the clock.
    pub(crate) finished_ms: u64,
    /// When it began, as recorded in the archive.
    pub(crate) date: Moment,
    /// The status of the capture that the answer is compared with; 0 if none.
    pub(crate) before: u16,
    /// Whether that capture is a page, and not a sitemap.
    pub(crate) was_page: bool,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The addresses of the host, the best first, valid until that moment of the clock.
    Resolved { addresses: Vec<IpAddr>, until_ms: u64 },
    /// An answer to the condition of the request that leaves open what the page is now, with a body of `bytes`
    /// bytes.
    Inconclusive { status: u16, bytes: u64 },
    /// The server answered.
    Answered(Answered),
    /// There is no usable answer.
    Failed(Failure),
}

/// The part of an answer that the frontier needs.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// Bytes of the body as sent.
    pub(crate) bytes: u64,
    /// The wait that Retry-After requests.
    pub(crate) retry_after_ms: Option<u64>,
    /// Time from the request to the start of that wait: the arrival of the answer, if it is a number of seconds; 0
    /// if unknown.
    pub(crate) took_ms: u32,
    /// The status of the capture that the answer was compared with; 0 if there was none.
    pub(crate) before: u16,
    /// Whether it equals that capture.
    pub(crate) unchanged: bool,
    pub(crate) harvest: Harvest,
    /// Whether `store_filter` refuses it.
    pub(crate) is_unstored: bool,
}

impl Answered {
    /// Returns whether the archive has a page: this answer, or the unchanged earlier one.
    pub(crate) fn is_page(&self) -> bool {
        !self.is_unstored && (self.status == 200 || self.unchanged && self.before == 200)
    }
}

/// The results of parsing an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Harvest {
    /// The rules of a robots.txt.
    pub(crate) robots: Option<Robots>,
    /// The target of a redirect.
    pub(crate) redirect: Option<String>,
    /// URLs to visit, in the order of the page.
    pub(crate) links: Vec<String>,
    /// Sitemaps to read.
    pub(crate) sitemaps: Vec<String>,
    /// Number of refused URLs, by the name of the refusal.
    pub(crate) refused: BTreeMap<Cow<'static, str>, u64>,
    /// Similarity of the text to the keywords, from 0 to 1; 0 if it is not needed.
    pub(crate) similarity: f32,
}

/// Why a visit has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its class.
    pub kind: FailureKind,
    /// A description for people.
    pub detail: String,
}

impl Failure {
    /// Creates a failure of a class with a description.
    pub fn new(kind: FailureKind, detail: impl fmt::Display) -> Failure {
        Failure { kind, detail: detail.to_string() }
    }

    /// A 304 to an unconditional request.
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
    /// The address is not public, and the configuration does not name the host.
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
    /// The server has not processed the request: it says so, or it closed a kept connection.
    Refused,
    /// The body is longer than the limit.
    TooLarge,
    /// Too many other long answers were being read: our own limit, not the fault of a server.
    Room,
}

impl FailureKind {
    /// All classes.
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

    /// The name in archives and counts.
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

    /// Returns the class with this name.
    pub fn from_name(name: &str) -> Option<FailureKind> {
        FailureKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether another attempt may succeed.
    pub fn is_temporary(self) -> bool {
        use FailureKind::{Connect, Dns, Protocol, Refused, Room, Timeout};
        matches!(self, Dns | Connect | Timeout | Protocol | Refused | Room)
    }

    /// Returns whether the host cannot be reached, whatever the page.
    pub fn is_of_host(self) -> bool {
        use FailureKind::{Address, Connect, Contact, Dns, Tls};
        matches!(self, Dns | Address | Contact | Connect | Tls)
    }
}

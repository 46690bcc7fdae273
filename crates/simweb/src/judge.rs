//! Comparison of a log with the truth: pages missed, and requests that were repeated, forbidden,
//! too early, or too soon after the last one.
//!
//! What lives here: [`judge`] for one crawl from an empty start, and [`address_gaps`] for crawlers
//! that also limit requests to an address. What does not: the contents of answers. A search for the
//! needle of a page shows whether a crawler understood the page.
//!
//! **Invariant.** A crawler is blamed only for certain faults. The silence between two requests
//! begins when the server begins the answer to the first, which is never after the end of that
//! answer.

use crate::{LogLine, Truth};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::Ipv4Addr,
};

/// How much a silence may fall short of the delay, since both clocks show whole milliseconds.
pub const GAP_TOLERANCE_MS: u64 = 3;
/// How many examples of a fault are written out.
const EXAMPLES: usize = 10;
/// Paths that crawlers may try on any host, even without a link.
const CUSTOMARY: [&str; 3] = ["/robots.txt", "/sitemap.xml", "/favicon.ico"];

/// A request that came too soon after the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The host, or the address, that both went to.
    pub target: String,
    /// The path of the request that came too soon.
    pub path: String,
    /// The time when that request arrived.
    pub at_ms: u64,
    /// The silence before it; 0 if the earlier answer had not begun.
    pub silence_ms: u64,
    /// The silence that was due.
    pub due_ms: u64,
}

/// A number of requests or pages that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miscount {
    /// The URL or the host that is counted.
    pub name: String,
    /// How many there were.
    pub found: u64,
    /// The fewest that are right.
    pub min: u64,
    /// The most that are right.
    pub max: u64,
}

/// The counts and faults of a crawl, taken from its log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The number of requests.
    pub requests: u64,
    /// The number of pages that the truth requires.
    pub pages: u64,
    /// Pages of the truth that were never answered with 200 or 304.
    pub misses: Vec<String>,
    /// URLs that were requested again after an answer had come. Answers of 429 and 5xx, missing
    /// answers, and answers that break off do not count.
    pub twice: Vec<Miscount>,
    /// URLs that were requested although they are forbidden.
    pub forbidden: Vec<String>,
    /// URLs that were requested and not found although no link leads to them.
    pub strays: Vec<String>,
    /// Hosts whose first request was not for robots.txt.
    pub early: Vec<String>,
    /// Capped hosts with too many or too few pages.
    pub caps: Vec<Miscount>,
    /// Requests to a host that came too soon.
    pub gaps: Vec<Gap>,
}

impl Verdict {
    /// Returns whether the crawl has no fault.
    pub fn is_clean(&self) -> bool {
        self.misses.is_empty()
            && self.twice.is_empty()
            && self.forbidden.is_empty()
            && self.strays.is_empty()
            && self.early.is_empty()
            && self.caps.is_empty()
            && self.gaps.is_empty()
    }
}

/// Judges the whole log of one crawl of a web, begun with nothing known.
///
/// `delay_ms` is the silence that the crawler promises between requests to one host. A longer delay
/// in robots.txt takes precedence.
pub fn judge(truth: &Truth, log: &[LogLine], delay_ms: u64) -> Verdict {
    let port = Port::of(truth);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for line in log {
        let tally = tallies.entry(port.url(&line.host, &line.path)).or_default();
        tally.requests += 1;
        tally.good += u64::from(matches!(line.status, 200 | 304));
        tally.final_answers += u64::from(!passing(line.status));
        tally.missing += u64::from(matches!(line.status, 400..=428 | 430..=499));
    }
    let listed = |urls: &[String], url: &String| urls.binary_search(url).is_ok();
    let mut verdict = Verdict {
        requests: count(log.len()),
        pages: count(truth.pages.len()),
        early: early(log),
        caps: caps(truth, log, &port),
        gaps: host_gaps(truth, log, delay_ms),
        ..Verdict::default()
    };
    let missed =
        truth.pages.iter().filter(|page| tallies.get(&page.url).is_none_or(|t| t.good == 0));
    verdict.misses = missed.map(|page| page.url.clone()).collect();
    for (url, tally) in tallies {
        if listed(&truth.forbidden, &url) {
            verdict.forbidden.push(url);
            continue;
        }
        let known = listed(&truth.others, &url);
        let customary = CUSTOMARY.iter().any(|path| url.ends_with(path));
        if tally.missing > 0 && !known && !customary {
            verdict.strays.push(url.clone());
        }
        if tally.final_answers > 1 && !listed(&truth.faulty, &url) {
            let max = 1 + tally.requests - tally.final_answers;
            verdict.twice.push(Miscount { name: url, found: tally.requests, min: 0, max });
        }
    }
    verdict
}

/// Finds requests to one address that came less than `delay_ms` after the answer to the one before.
/// The hosts of an address count together.
pub fn address_gaps(truth: &Truth, log: &[LogLine], delay_ms: u64) -> Vec<Gap> {
    gaps(log, |line| {
        let address = truth.addresses.get(&line.host).copied().unwrap_or(Ipv4Addr::LOCALHOST);
        (address.to_string(), delay_ms)
    })
}

/// The requests for one URL.
#[derive(Default)]
struct Tally {
    requests: u64,
    /// Answers with the page.
    good: u64,
    /// Answers that a repetition will not change.
    final_answers: u64,
    /// Answers that the URL does not exist.
    missing: u64,
}

/// Returns whether a crawler may try again after this status.
fn passing(status: u16) -> bool {
    matches!(status, 0 | 429 | 500..)
}

/// The port as written in the web's URLs: `:8080`, or nothing.
struct Port(String);

impl Port {
    fn of(truth: &Truth) -> Self {
        let url = truth.others.first().map(String::as_str).unwrap_or_default();
        let authority = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
        let port = authority.and_then(|authority| authority.split_once(':'));
        Self(port.map(|(_, port)| format!(":{port}")).unwrap_or_default())
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}{}{path}", self.0)
    }
}

fn in_order(log: &[LogLine]) -> Vec<&LogLine> {
    let mut lines: Vec<_> = log.iter().collect();
    lines.sort_by_key(|line| line.at_ms);
    lines
}

fn early(log: &[LogLine]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let first = in_order(log).into_iter().filter(|line| seen.insert(line.host.as_str()));
    let mut early: Vec<_> =
        first.filter(|line| line.path != "/robots.txt").map(|line| line.host.clone()).collect();
    early.sort_unstable();
    early
}

fn caps(truth: &Truth, log: &[LogLine], port: &Port) -> Vec<Miscount> {
    let mut fetched: BTreeMap<&str, BTreeSet<&str>> =
        truth.capped.iter().map(|capped| (capped.host.as_str(), BTreeSet::new())).collect();
    for line in log.iter().filter(|line| matches!(line.status, 200 | 304)) {
        let Some(paths) = fetched.get_mut(line.host.as_str()) else { continue };
        if truth.others.binary_search(&port.url(&line.host, &line.path)).is_err() {
            paths.insert(&line.path);
        }
    }
    let counts = truth.capped.iter().map(|capped| Miscount {
        name: capped.host.clone(),
        found: count(fetched.get(capped.host.as_str()).map_or(0, BTreeSet::len)),
        min: capped.pages_min,
        max: capped.pages_max,
    });
    counts.filter(|count| !(count.min..=count.max).contains(&count.found)).collect()
}

fn host_gaps(truth: &Truth, log: &[LogLine], delay_ms: u64) -> Vec<Gap> {
    gaps(log, |line| {
        let asked_ms = truth.crawl_delays_ms.get(&line.host).copied().unwrap_or(0);
        (line.host.clone(), delay_ms.max(asked_ms))
    })
}

/// The gaps of a log whose lines go to a target that is due a silence.
fn gaps(log: &[LogLine], target: impl Fn(&LogLine) -> (String, u64)) -> Vec<Gap> {
    let mut answered: BTreeMap<String, u64> = BTreeMap::new();
    let mut gaps = Vec::new();
    for line in in_order(log) {
        let (target, due_ms) = target(line);
        let Some(last_ms) = answered.get_mut(&target) else {
            answered.insert(target, line.answered_ms);
            continue;
        };
        let silence_ms = line.at_ms.saturating_sub(*last_ms);
        let overlaps = line.at_ms < *last_ms;
        *last_ms = line.answered_ms.max(*last_ms);
        if due_ms > 0 && (overlaps || silence_ms + GAP_TOLERANCE_MS < due_ms) {
            let path = line.path.clone();
            gaps.push(Gap { target, path, at_ms: line.at_ms, silence_ms, due_ms });
        }
    }
    gaps
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("a length in memory")
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.pages.saturating_sub(count(self.misses.len()));
        write!(out, "{} requests, {found} of {} pages", self.requests, self.pages)?;
        if self.is_clean() {
            return write!(
                out,
                ": nothing missed, nothing twice, nothing forbidden, never too soon"
            );
        }
        section(out, "missed", &self.misses)?;
        section(out, "asked for again", &self.twice)?;
        section(out, "asked for though forbidden", &self.forbidden)?;
        section(out, "asked for though no link leads there", &self.strays)?;
        section(out, "asked for something before robots.txt", &self.early)?;
        section(out, "more or fewer pages of a host than it should be", &self.caps)?;
        section(out, "too soon after the last request", &self.gaps)
    }
}

impl fmt::Display for Miscount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} times, ", self.name, self.found)?;
        match (self.min, self.max) {
            (0, max) => write!(out, "at most {max} would be right"),
            (min, max) if min == max => write!(out, "{min} would be right"),
            (min, max) => write!(out, "from {min} to {max} would be right"),
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, path, at_ms, silence_ms, due_ms } = self;
        write!(
            out,
            "{target}{path} at {at_ms} ms: {silence_ms} ms of silence instead of {due_ms} ms"
        )
    }
}

fn section<T: fmt::Display>(out: &mut fmt::Formatter<'_>, name: &str, items: &[T]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    write!(out, "\n{name} ({}):", items.len())?;
    for item in items.iter().take(EXAMPLES) {
        write!(out, "\n  {item}")?;
    }
    match items.len().saturating_sub(EXAMPLES) {
        0 => Ok(()),
        more => write!(out, "\n  and {more} more"),
    }
}

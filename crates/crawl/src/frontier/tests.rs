//! The frontier on simulated time: hours of crawling in milliseconds, against a web that is a table.
//!
//! A walk answers every visit after a while. On the way it checks that no host and no address is requested sooner
//! than allowed, nor twice at once.

mod failures;
mod order;
mod politeness;
mod robots;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use page::Url;
use tempfile::TempDir;

use super::Frontier;
use crate::clock::Moment;
use crate::config::Config;
use crate::outcome::{Answered, Done, Failure, FailureKind, Harvest, Outcome, Task, Visit};
use crate::robots::Robots;

/// How long every answer takes.
const ANSWER_MS: u64 = 30;

/// The replies of each URL, in the order of the requests; the last one repeats.
type Web = BTreeMap<&'static str, Vec<Reply>>;

#[derive(Debug, Clone)]
enum Reply {
    Links(Vec<&'static str>),
    Robots(&'static str),
    Moved(&'static str),
    Status(u16),
    Later(u64),
    Refused,
    Fails(FailureKind),
}

struct Walk {
    frontier: Frontier,
    _dir: TempDir,
    web: Web,
    now_ms: u64,
    /// Moment and URL of every request.
    requests: Vec<(u64, String)>,
    under_way: Vec<(u64, Visit)>,
    /// When each host and each address gave its last answer.
    hosts: BTreeMap<String, u64>,
    addresses: BTreeMap<IpAddr, u64>,
    config: Arc<Config>,
    /// How long answers take, if it is not `ANSWER_MS`.
    lengths_ms: BTreeMap<&'static str, u64>,
    /// The answers of the name server, in the order of the lookups, each with its TTL; the last one repeats.
    names: BTreeMap<&'static str, Vec<(IpAddr, u64)>>,
    /// Further addresses of a name, after that one.
    others: BTreeMap<&'static str, Vec<IpAddr>>,
    /// Addresses that do not connect.
    dead: Vec<IpAddr>,
    /// The maximum number of forbidden pages found in one call.
    forbidden_max: u64,
}

impl Walk {
    fn new(config: Config, web: &[(&'static str, &[Reply])], seeds: &[&str]) -> Walk {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Arc::new(Config { contact: "a@b.example".to_owned(), ..config });
        let urls: Vec<Url> = seeds.iter().map(|seed| seed.parse().expect("a URL")).collect();
        let mut frontier = Frontier::create(&config, &urls, dir.path()).expect("it is empty");
        for seed in seeds {
            frontier.offer(seed).expect("it takes URLs");
        }
        let web = web.iter().map(|&(url, replies)| (url, replies.to_vec())).collect();
        let (hosts, addresses) = (BTreeMap::new(), BTreeMap::new());
        let (requests, under_way) = (Vec::new(), Vec::new());
        let (lengths_ms, names) = (BTreeMap::new(), BTreeMap::new());
        Walk {
            frontier,
            _dir: dir,
            web,
            now_ms: 0,
            requests,
            under_way,
            hosts,
            addresses,
            config,
            lengths_ms,
            names,
            others: BTreeMap::new(),
            dead: Vec::new(),
            forbidden_max: 0,
        }
    }

    /// Runs until no work is left, or until the moment has come.
    fn run(&mut self, until_ms: u64) {
        while self.now_ms < until_ms {
            let now_s = i64::try_from(self.now_ms / 1000).expect("a short crawl");
            while let Some(visit) = self.next(now_s) {
                self.begin(visit);
            }
            if self.under_way.is_empty() && self.frontier.is_done() {
                return;
            }
            let answer_ms = self.under_way.iter().map(|(ms, _)| *ms).min();
            let next_ms = answer_ms.into_iter().chain(self.frontier.next_ms()).min();
            self.now_ms = next_ms.expect("something is to come").max(self.now_ms);
            let due = |(ms, _): &mut (u64, Visit)| *ms <= self.now_ms;
            let over: Vec<_> = self.under_way.extract_if(.., due).collect();
            for (finished_ms, visit) in over {
                self.end(visit, finished_ms);
            }
        }
    }

    fn next(&mut self, now_s: i64) -> Option<Visit> {
        let forbidden = self.frontier.report().forbidden_by_robots;
        let visit = self.frontier.next(self.now_ms, now_s).expect("no files");
        let forbidden = self.frontier.report().forbidden_by_robots - forbidden;
        self.forbidden_max = self.forbidden_max.max(forbidden);
        visit
    }

    fn begin(&mut self, visit: Visit) {
        let now_ms = self.now_ms;
        if visit.task != Task::Resolve {
            let site = visit.site.key().to_owned();
            let last_ms = self.hosts.insert(site, u64::MAX);
            let due_ms = last_ms.map(|ms| ms.saturating_add(self.config.delay_ms));
            assert!(due_ms.is_none_or(|due_ms| now_ms >= due_ms), "{} too soon", visit.url());
            let address = visit.address.expect("it was found first");
            let delay_ms = self.config.ip_delay_ms;
            if delay_ms > 0 {
                let last_ms = self.addresses.insert(address, u64::MAX);
                let due_ms = last_ms.map(|ms| ms.saturating_add(delay_ms));
                assert!(due_ms.is_none_or(|due_ms| now_ms >= due_ms), "{address} too soon");
            }
            self.requests.push((now_ms, visit.url()));
        }
        let length_ms = self.lengths_ms.get(visit.url().as_str()).copied().unwrap_or(ANSWER_MS);
        self.under_way.push((now_ms + length_ms, visit));
    }

    fn end(&mut self, visit: Visit, finished_ms: u64) {
        let outcome = if visit.task == Task::Resolve {
            // All names with the same first letter share an address.
            let letter = visit.site.host().as_bytes()[0];
            let usual = (IpAddr::from([9, 9, 9, letter]), u64::MAX);
            let (address, ttl_ms) = match self.names.get_mut(visit.site.host()) {
                Some(told) if told.len() > 1 => told.remove(0),
                Some(told) => told[0],
                None => usual,
            };
            let others = self.others.get(visit.site.host()).into_iter().flatten();
            let addresses = [address].iter().chain(others).copied().collect();
            Outcome::Resolved { addresses, until_ms: finished_ms.saturating_add(ttl_ms) }
        } else {
            self.hosts.insert(visit.site.key().to_owned(), finished_ms);
            let address = visit.address.expect("it was asked");
            self.addresses.insert(address, finished_ms);
            if self.dead.contains(&address) {
                Outcome::Failed(Failure::new(FailureKind::Connect, "refused"))
            } else {
                self.reply(&visit.url())
            }
        };
        let s = i64::try_from(finished_ms / 1000).expect("a short crawl");
        let was_page = false;
        let done =
            Done { visit, finished_ms, date: Moment { s, us: 0 }, before: 0, was_page, outcome };
        self.frontier.settle(done).expect("no files");
    }

    fn reply(&mut self, url: &str) -> Outcome {
        let mut answered = Answered { status: 200, ..Answered::default() };
        let reply = match self.web.get_mut(url) {
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies[0].clone(),
            None => Reply::Status(404),
        };
        match reply {
            Reply::Links(links) => {
                let links = links.into_iter().map(str::to_owned).collect();
                answered.harvest = Harvest { links, ..Harvest::default() };
            }
            Reply::Robots(text) => {
                answered.harvest.robots = Some(Robots::parse(text.as_bytes(), "crivello"));
            }
            Reply::Moved(target) => {
                answered.status = 301;
                answered.harvest.redirect = Some(target.to_owned());
            }
            Reply::Status(status) => answered.status = status,
            Reply::Later(wait_ms) => {
                answered.status = 503;
                answered.retry_after_ms = Some(wait_ms);
            }
            Reply::Fails(kind) => return Outcome::Failed(Failure::new(kind, "as planned")),
            Reply::Refused => {
                return Outcome::Failed(Failure::new(FailureKind::Connect, "refused"));
            }
        }
        Outcome::Answered(answered)
    }

    fn urls(&self) -> Vec<&str> {
        self.requests.iter().map(|(_, url)| url.as_str()).collect()
    }

    fn times(&self, url: &str) -> Vec<u64> {
        self.requests.iter().filter(|(_, asked)| asked == url).map(|(ms, _)| *ms).collect()
    }
}

fn page(links: &[&'static str]) -> Vec<Reply> {
    vec![Reply::Links(links.to_vec())]
}

/// A web of constant URLs, made of text.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn aside(walk: &Walk) -> Vec<String> {
    walk.frontier.report().aside.into_iter().map(|aside| aside.host).collect()
}

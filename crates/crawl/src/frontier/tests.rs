//! The frontier on simulated time: hours of crawling in milliseconds, against a web that is a table.
//!
//! A walk hands every visit its answer after a while, and checks on the way that no host and no
//! address is asked sooner than it may be, nor twice at once.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use page::Url;

use super::Frontier;
use crate::config::Config;
use crate::outcome::{Answered, Done, Failure, FailureKind, Harvest, Outcome, Task, Visit};
use crate::robots::Robots;

/// How long every answer takes.
const ANSWER_MS: u64 = 30;

/// What a URL answers, in the order of the requests; the last one again and again.
type Web = BTreeMap<&'static str, Vec<Reply>>;

#[derive(Debug, Clone)]
enum Reply {
    Links(Vec<&'static str>),
    Robots(&'static str),
    Moved(&'static str),
    Status(u16),
    Later(u64),
    Refused,
}

struct Walk {
    frontier: Frontier,
    web: Web,
    now_ms: u64,
    /// URL and moment of every request.
    requests: Vec<(u64, String)>,
    under_way: Vec<(u64, Visit)>,
    /// When each host and each address had its last answer.
    hosts: BTreeMap<String, u64>,
    addresses: BTreeMap<IpAddr, u64>,
    config: Arc<Config>,
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
        Walk { frontier, web, now_ms: 0, requests, under_way, hosts, addresses, config }
    }

    /// Goes on until nothing is left, or the moment has come.
    fn run(&mut self, until_ms: u64) {
        while self.now_ms < until_ms {
            let now_s = i64::try_from(self.now_ms / 1000).expect("a short crawl");
            while let Some(visit) = self.frontier.next(self.now_ms, now_s).expect("no files") {
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
        self.under_way.push((now_ms + ANSWER_MS, visit));
    }

    fn end(&mut self, visit: Visit, finished_ms: u64) {
        let outcome = if visit.task == Task::Resolve {
            // All names of one first letter share an address.
            let letter = visit.site.host().as_bytes()[0];
            Outcome::Resolved(IpAddr::from([9, 9, 9, letter]))
        } else {
            self.hosts.insert(visit.site.key().to_owned(), finished_ms);
            self.addresses.insert(visit.address.expect("it was asked"), finished_ms);
            self.reply(&visit.url())
        };
        let date_s = i64::try_from(finished_ms / 1000).expect("a short crawl");
        self.frontier.settle(Done { visit, finished_ms, date_s, outcome }).expect("no files");
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

#[test]
fn robots_first_then_pages_each_once_and_in_their_time() {
    let links = ["http://a/1", "http://a/2", "http://b/", "http://a2/", "http://a/no"];
    let mut walk = Walk::new(
        Config { delay_ms: 1000, ip_delay_ms: 100, ..Config::default() },
        &[
            ("http://a/robots.txt", &[Reply::Robots("user-agent: *\ndisallow: /no")]),
            ("http://a/", &page(&links)),
            ("http://a/1", &page(&links)),
            ("http://b/", &page(&links)),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let mut urls = walk.urls();
    assert_eq!(urls[..2], ["http://a/robots.txt", "http://a/"]);
    urls.sort_unstable();
    let wanted = [
        "http://a/",
        "http://a/1",
        "http://a/2",
        "http://a/robots.txt",
        "http://a2/",
        "http://a2/robots.txt",
        "http://b/",
        "http://b/robots.txt",
    ];
    assert_eq!(urls, wanted);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.forbidden_by_robots, report.waiting), (3, 1, 0));
}

#[test]
fn a_crawl_delay_counts_from_the_first_page_on() {
    let mut walk = Walk::new(
        Config { delay_ms: 10, ..Config::default() },
        &[
            ("http://a/robots.txt", &[Reply::Robots("user-agent: *\ncrawl-delay: 7")]),
            ("http://a/", &page(&["http://a/1"])),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let times: Vec<u64> = walk.requests.iter().map(|(ms, _)| *ms).collect();
    assert_eq!((times[1] - times[0], times[2] - times[1]), (7_000 + ANSWER_MS, 7_000 + ANSWER_MS));
}

#[test]
fn robots_files_that_point_at_each_other_do_not_lock() {
    let mut walk = Walk::new(
        Config { delay_ms: 10, ip_delay_ms: 0, ..Config::default() },
        &[
            ("http://a/robots.txt", &[Reply::Moved("http://b/rules")]),
            ("http://b/robots.txt", &[Reply::Moved("http://a/rules")]),
            ("http://a/rules", &[Reply::Robots("user-agent: *\ndisallow: /x")]),
            ("http://b/rules", &[Reply::Robots("user-agent: *\ndisallow: /y")]),
            ("http://c/robots.txt", &[Reply::Moved("http://c/robots.txt")]),
        ],
        &["http://a/x", "http://a/y", "http://b/x", "http://b/y", "http://c/"],
    );
    walk.run(u64::MAX);
    let asked = |url: &str| walk.urls().contains(&url);
    assert!(asked("http://a/x") && !asked("http://a/y"), "a obeys what stands at b");
    assert!(asked("http://b/y") && !asked("http://b/x"), "b obeys what stands at a");
    assert_eq!(walk.times("http://c/robots.txt").len(), 6, "the first, and five redirects");
    assert!(asked("http://c/"));
}

#[test]
fn robots_are_asked_for_again_after_a_day() {
    let mut walk = Walk::new(
        Config { delay_ms: 10 * 3_600_000, ..Config::default() },
        &[
            (
                "http://a/robots.txt",
                &[Reply::Robots(""), Reply::Robots("user-agent:*\ndisallow:/")],
            ),
            ("http://a/", &page(&["http://a/1", "http://a/2", "http://a/3", "http://a/4"])),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let wanted = ["http://a/robots.txt", "http://a/", "http://a/1", "http://a/robots.txt"];
    assert_eq!(walk.urls(), wanted);
    assert_eq!(walk.frontier.report().forbidden_by_robots, 3);
}

#[test]
fn waits_double_and_a_dead_host_is_set_aside_and_comes_back() {
    let config = Config {
        delay_ms: 10_000,
        retry_ms: 20_000,
        retries: 2,
        set_aside_s: 600,
        ..Config::default()
    };
    let busy: Vec<&'static str> =
        (0..100).map(|number| &*Box::leak(format!("http://b/{number}").into_boxed_str())).collect();
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/robots.txt", &[vec![Reply::Refused; 3], page(&[])].concat()),
            ("http://b/", &page(&busy)),
        ],
        &["http://a/", "http://b/"],
    );
    walk.run(300_000);
    let times = walk.times("http://a/robots.txt");
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A host that cannot be reached may have moved: its address is asked for again.
    assert_eq!(gaps, [20_000 + 2 * ANSWER_MS, 40_000 + 2 * ANSWER_MS]);
    assert_eq!(walk.frontier.snapshot().hosts_aside, 1);
    walk.run(u64::MAX);
    assert_eq!(walk.times("http://a/robots.txt").len(), 4, "it came back");
    assert_eq!(walk.times("http://a/").len(), 1);
    assert!(walk.frontier.report().aside.is_empty());
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept() {
    let config = Config { delay_ms: 10, retry_ms: 10, retries: 2, ..Config::default() };
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/", &[vec![Reply::Later(120_000)], page(&["http://a/1"])].concat()),
            ("http://a/1", &[Reply::Status(500)]),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let times = walk.times("http://a/");
    assert_eq!(times[1] - times[0], 120_000 + ANSWER_MS);
    assert_eq!(walk.times("http://a/1").len(), 3);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.failures.get("http-500")), (1, Some(&1)));
    assert!(report.aside.is_empty());
}

#[test]
fn chains_of_redirects_end() {
    let urls: Vec<&'static str> =
        (0..10).map(|number| &*Box::leak(format!("http://a/{number}").into_boxed_str())).collect();
    let moved: Vec<[Reply; 1]> = urls[1..].iter().map(|url| [Reply::Moved(url)]).collect();
    let web: Vec<(&'static str, &[Reply])> =
        urls.iter().copied().zip(moved.iter().map(<[Reply; 1]>::as_slice)).collect();
    let config = Config { delay_ms: 10, redirects_max: 4, ..Config::default() };
    let mut walk = Walk::new(config, &web, &["http://a/0"]);
    walk.run(u64::MAX);
    assert_eq!(walk.urls()[1..], urls[..5]);
    assert_eq!(walk.frontier.report().dropped.get("redirects"), Some(&1));
}

#[test]
fn limits_drop_and_count() {
    let links: Vec<&'static str> =
        (0..20).map(|number| &*Box::leak(format!("http://a/{number}").into_boxed_str())).collect();
    let config = Config {
        delay_ms: 10,
        pages_per_host_max: 5,
        waiting_per_host_max: 8,
        hosts_max: 2,
        ..Config::default()
    };
    let links = [links, vec!["http://b/", "http://c/"]].concat();
    let reply = page(&links);
    let web: Vec<(&'static str, &[Reply])> =
        links.iter().map(|&url| (url, reply.as_slice())).chain([("http://a/", &*reply)]).collect();
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    walk.run(u64::MAX);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.waiting, report.hosts), (6, 0, 2));
    assert_eq!(report.dropped.get("waiting-per-host"), Some(&12));
    assert_eq!(report.dropped.get("host-limit"), Some(&4));
    assert_eq!(report.dropped.get("hosts"), Some(&1));
}

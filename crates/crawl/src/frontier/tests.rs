//! The frontier on simulated time: hours of crawling in milliseconds, against a web that is a table.
//!
//! A walk hands every visit its answer after a while, and checks on the way that no host and no
//! address is asked sooner than it may be, nor twice at once.

mod politeness;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use page::Url;
use tempfile::TempDir;

use super::{Frontier, Tally};
use crate::answer::Purpose;
use crate::assignment::{AgentId, Assignment as _, Rendezvous};
use crate::config::{Config, Order, Weights};
use crate::journal::Entry;
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
    Fails(FailureKind),
}

struct Walk {
    frontier: Frontier,
    _dir: TempDir,
    web: Web,
    now_ms: u64,
    /// URL and moment of every request.
    requests: Vec<(u64, String)>,
    under_way: Vec<(u64, Visit)>,
    /// When each host and each address had its last answer.
    hosts: BTreeMap<String, u64>,
    addresses: BTreeMap<IpAddr, u64>,
    config: Arc<Config>,
    /// How long answers take, where it is not `ANSWER_MS`.
    lengths_ms: BTreeMap<&'static str, u64>,
    /// What the name server says, in the order of the questions, each for so long; the last one
    /// again and again.
    names: BTreeMap<&'static str, Vec<(IpAddr, u64)>>,
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
        }
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
        let length_ms = self.lengths_ms.get(visit.url().as_str()).copied().unwrap_or(ANSWER_MS);
        self.under_way.push((now_ms + length_ms, visit));
    }

    fn end(&mut self, visit: Visit, finished_ms: u64) {
        let outcome = if visit.task == Task::Resolve {
            // All names of one first letter share an address.
            let letter = visit.site.host().as_bytes()[0];
            let usual = (IpAddr::from([9, 9, 9, letter]), u64::MAX);
            let (address, ttl_ms) = match self.names.get_mut(visit.site.host()) {
                Some(told) if told.len() > 1 => told.remove(0),
                Some(told) => told[0],
                None => usual,
            };
            Outcome::Resolved { address, until_ms: finished_ms.saturating_add(ttl_ms) }
        } else {
            self.hosts.insert(visit.site.key().to_owned(), finished_ms);
            self.addresses.insert(visit.address.expect("it was asked"), finished_ms);
            self.reply(&visit.url())
        };
        let date_s = i64::try_from(finished_ms / 1000).expect("a short crawl");
        let done = Done { visit, finished_ms, date_s, before: 0, outcome };
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
        (0..100).map(|number| leak(format!("http://b/{number}"))).collect();
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
        (0..10).map(|number| leak(format!("http://a/{number}"))).collect();
    let moved: Vec<[Reply; 1]> = urls[1..].iter().map(|url| [Reply::Moved(url)]).collect();
    let web: Vec<(&'static str, &[Reply])> =
        urls.iter().copied().zip(moved.iter().map(<[Reply; 1]>::as_slice)).collect();
    let config = Config { delay_ms: 10, redirects_max: 4, ..Config::default() };
    let mut walk = Walk::new(config, &web, &["http://a/0"]);
    walk.run(u64::MAX);
    assert_eq!(walk.urls()[1..], urls[..5]);
    assert_eq!(walk.frontier.report().dropped.get("redirects"), Some(&1));
}

/// However many pages wait, and more than may wait: a calendar without end starves no redirect.
#[test]
fn a_redirect_on_the_same_host_continues_its_visit() {
    let days: Vec<&'static str> =
        (0..50).map(|day| leak(format!("http://a/calendar/{day}"))).collect();
    let links = [&["http://a/chain/2", "http://a/moved"], &days[..]].concat();
    for order in [Order::BreadthFirst, Order::ShallowFirst] {
        let config = Config {
            delay_ms: 10,
            order,
            waiting_per_host_max: links.len() - 1,
            turn_s_max: 1,
            ..Config::default()
        };
        let mut walk = Walk::new(
            config,
            &[
                ("http://a/", &page(&links)),
                ("http://a/chain/2", &[Reply::Moved("http://a/chain/1/b/c")]),
                ("http://a/chain/1/b/c", &[Reply::Moved("http://a/chain/0")]),
                ("http://a/moved", &[Reply::Moved("http://b/")]),
            ],
            &["http://a/"],
        );
        walk.run(u64::MAX);
        let urls = walk.urls();
        let begin = urls.iter().position(|url| *url == "http://a/chain/2").expect("it was asked");
        let chain = ["http://a/chain/2", "http://a/chain/1/b/c", "http://a/chain/0"];
        let asked = urls[begin..].iter().copied().filter(|url| url.starts_with("http://a/"));
        assert_eq!(asked.take(3).collect::<Vec<_>>(), chain, "{order:?}");
        assert!(urls.contains(&"http://b/"));
    }
}

#[test]
fn limits_drop_and_count() {
    let links: Vec<&'static str> =
        (0..20).map(|number| leak(format!("http://a/{number}"))).collect();
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

/// A web of constant URLs, made of text.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn aside(walk: &Walk) -> Vec<String> {
    walk.frontier.report().aside.into_iter().map(|aside| aside.host).collect()
}

#[test]
fn dead_hosts_do_not_keep_each_other_alive() {
    let config = Config {
        delay_ms: 2_000,
        retry_ms: 1_000,
        retries: 2,
        set_aside_s: 1,
        ..Config::default()
    };
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/robots.txt", &[Reply::Refused]),
            ("http://b/robots.txt", &[Reply::Refused]),
            ("http://c/", &page(&["http://b/"])),
        ],
        &["http://a/", "http://c/"],
    );
    walk.run(3_600_000);
    assert!(walk.now_ms < 3_600_000, "it has an end");
    assert_eq!(walk.times("http://a/robots.txt").len(), 9, "set aside, and twice come back");
    assert_eq!(aside(&walk), ["http://a", "http://b"]);
}

#[test]
fn a_robots_file_beyond_the_limit_of_hosts_allows_nothing() {
    let mut walk = Walk::new(
        Config { delay_ms: 10, hosts_max: 1, ..Config::default() },
        &[("http://a/robots.txt", &[Reply::Moved("http://b/rules")])],
        &["http://a/"],
    );
    walk.run(60_000);
    assert_eq!(walk.urls(), ["http://a/robots.txt"]);
    assert_eq!(aside(&walk), ["http://a"]);
}

#[test]
fn a_host_on_an_errand_hears_that_its_own_has_failed() {
    let config = Config {
        delay_ms: 10,
        retry_ms: 1_000,
        retries: 2,
        host_failures_max: 5,
        ..Config::default()
    };
    let later = vec![Reply::Later(60_000), Reply::Robots("")];
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/robots.txt", &[Reply::Moved("http://b/rules")]),
            ("http://b/rules", &[Reply::Refused]),
            ("http://c/robots.txt", &[Reply::Moved("http://a/rules")]),
            ("http://a/rules", &later),
        ],
        &["http://a/", "http://c/"],
    );
    walk.run(3_000_000);
    assert_eq!(walk.times("http://c/").len(), 1, "the errand was run");
    assert_eq!(aside(&walk), ["http://a", "http://b"]);
    assert_eq!(walk.frontier.report().waiting, 1);
}

#[test]
fn a_crawl_delay_holds_until_the_next_robots_file_is_there() {
    const DELAY_MS: u64 = 40_000_000;
    let rules = "user-agent: *\ncrawl-delay: 40000";
    let mut walk = Walk::new(
        Config { delay_ms: 10, crawl_delay_ms_max: DELAY_MS, ..Config::default() },
        &[
            ("http://a/robots.txt", &[Reply::Robots(rules), Reply::Moved("http://a/rules")]),
            ("http://a/rules", &[Reply::Robots(rules)]),
            ("http://a/", &page(&["http://a/1", "http://a/2", "http://a/3"])),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    assert_eq!(walk.times("http://a/rules").len(), 1);
    let times: Vec<u64> = walk.requests.iter().map(|(ms, _)| *ms).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= DELAY_MS), "{times:?}");
}

#[test]
fn an_errand_to_a_host_of_another_agent_does_not_make_it_ours() {
    let owner = |host: &str| Rendezvous::new([0, 1].map(AgentId)).owner(host);
    let host = |agent| {
        let mut names = (0..).map(|number| format!("host{number}"));
        names.find(|name| owner(name) == Some(AgentId(agent))).expect("half of them are")
    };
    let (ours, theirs) = (host(0), host(1));
    let [robots, start, rules, other] =
        [("/robots.txt", &ours), ("/", &ours), ("/rules", &theirs), ("/page", &theirs)]
            .map(|(path, host)| leak(format!("http://{host}{path}")));
    let mut walk = Walk::new(
        Config { delay_ms: 10, agent: 0, agents: 2, ..Config::default() },
        &[
            (robots, &[Reply::Moved(rules)]),
            (rules, &[Reply::Robots("")]),
            (start, &page(&[other])),
        ],
        &[start],
    );
    walk.run(u64::MAX);
    assert_eq!(walk.urls(), [robots, rules, start]);
    assert_eq!(walk.frontier.report().sent, 1);
}

/// A host whose last request, at `date_s`, was answered with `status`, is asked again at `wanted_ms`.
#[track_caller]
fn check_rest(date_s: i64, status: u16, retry_after_ms: Option<u64>, wanted_ms: u64) {
    let config = Config { delay_ms: 10_000, retry_after_s_max: 300, ..Config::default() };
    let mut walk = Walk::new(config, &[], &["http://a/"]);
    let entry = Entry {
        purpose: Purpose::Page,
        attempts: 0,
        hops: 0,
        depth: 0,
        robots_for: None,
        failure: (status == 0).then_some(FailureKind::Timeout),
    };
    let answered = Answered { status, retry_after_ms, ..Answered::default() };
    let answered = (status > 0).then_some(answered);
    walk.frontier.replay("http://a/x", &entry, date_s, answered, Tally::Again).expect("no files");
    walk.frontier.end_replay(0, 0).expect("no files");
    walk.run(u64::MAX);
    // Its address is asked for as soon as it may be visited.
    assert_eq!(walk.requests[0], (wanted_ms + ANSWER_MS, "http://a/robots.txt".to_owned()));
}

#[test]
fn the_silence_of_an_earlier_run_goes_on() {
    // Another request may have been under way when that run ended.
    check_rest(-3600, 200, None, 10_000);
    check_rest(-4, 0, None, 10_000);
    check_rest(0, 404, None, 10_000);
    check_rest(3600, 200, None, 10_000);
    check_rest(-21, 503, Some(120_000), 100_000);
    check_rest(-121, 503, Some(120_000), 10_000);
    check_rest(-4, 200, Some(120_000), 10_000);
    check_rest(-4, 429, Some(400_000), 10_000);
}

#[test]
fn a_host_that_no_record_tells_of_may_have_been_asked_too() {
    let config = Config { delay_ms: 10_000, ip_delay_ms: 0, ..Config::default() };
    let mut walk = Walk::new(config, &[], &["http://b/"]);
    let (purpose, attempts, hops, depth) = (Purpose::Page, 0, 0, 0);
    let entry = Entry { purpose, attempts, hops, depth, robots_for: None, failure: None };
    let answered = Answered { status: 200, ..Answered::default() };
    let replayed = walk.frontier.replay("http://a/", &entry, -9, Some(answered), Tally::Again);
    replayed.expect("no files");
    walk.frontier.end_replay(0, 0).expect("no files");
    walk.run(u64::MAX);
    assert_eq!(walk.requests[0], (10_000 + ANSWER_MS, "http://b/robots.txt".to_owned()));
}

#[test]
fn the_best_pages_of_a_host_come_first() {
    let weights = Weights { short_url: 1, off_site: 4, url_keywords: 8, page_keywords: 0 };
    let config = Config {
        delay_ms: 10,
        order: Order::Priority,
        weights,
        keywords: vec!["sieve".to_owned()],
        ..Config::default()
    };
    let links = ["http://a/x/y/z", "http://a/x", "http://b/", "http://a/q/w/SIEVE"];
    let mut walk = Walk::new(
        config,
        &[("http://a/", &page(&links)), ("http://b/", &page(&["http://a/f/g/h/i"]))],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let order: Vec<&str> =
        walk.urls().into_iter().filter(|url| url.starts_with("http://a/")).collect();
    let wanted = [
        "http://a/robots.txt",
        "http://a/",
        "http://a/q/w/SIEVE",
        "http://a/f/g/h/i",
        "http://a/x",
    ];
    assert_eq!(order[..5], wanted);
}

#[test]
fn pages_too_far_from_the_first_of_their_site_are_left_out() {
    let config = Config { delay_ms: 10, depth_max: 2, ..Config::default() };
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/", &page(&["http://a/1"])),
            ("http://a/1", &[Reply::Moved("http://a/1b")]),
            ("http://a/1b", &page(&["http://a/2"])),
            ("http://a/2", &page(&["http://a/3", "http://b/deep/start"])),
            ("http://b/deep/start", &page(&["http://b/1", "http://a/3"])),
            ("http://b/1", &page(&["http://b/2"])),
            ("http://b/2", &page(&["http://b/3"])),
        ],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    let asked = |url: &str| walk.urls().contains(&url);
    assert!(asked("http://a/2") && asked("http://b/2") && !asked("http://b/3"));
    assert!(asked("http://a/3"), "another site leads there, so it is where one begins");
    assert_eq!(walk.frontier.report().refused.get("depth"), Some(&2));
}

/// Whatever their number and their length, rules of robots.txt files take the memory that they may.
#[test]
fn many_long_robots_files_are_obeyed_in_little_memory() {
    const HOSTS: usize = 100;
    let lines: String = (0..1_000).fold(String::new(), |text, line| {
        text + &format!("disallow: /{line}/not/for/crawlers/nor/for/anybody/else\n")
    });
    let pages: Vec<[&'static str; 3]> = (0..HOSTS)
        .map(|host| {
            ["", "own", "999/not/for/crawlers/nor/for/anybody/else/x"]
                .map(|path| leak(format!("http://h{host}/{path}{host}")))
        })
        .collect();
    let replies: Vec<(&'static str, [Reply; 1])> = (0..HOSTS)
        .map(|host| {
            let text = format!("user-agent: *\n{lines}disallow: /own{host}");
            (leak(format!("http://h{host}/robots.txt")), [Reply::Robots(leak(text))])
        })
        .collect();
    let web: Vec<(&'static str, &[Reply])> =
        replies.iter().map(|(url, reply)| (*url, reply.as_slice())).collect();
    let config = Config {
        delay_ms: 1_000,
        ip_delay_ms: 0,
        waiting_memory_bytes: 1 << 20,
        ..Config::default()
    };
    // What its neighbour forbids, a host does not.
    let others: Vec<&'static str> =
        (0..HOSTS).map(|host| leak(format!("http://h{host}/own{}", (host + 1) % HOSTS))).collect();
    let seeds: Vec<&str> = pages.iter().flatten().chain(&others).copied().collect();
    let mut walk = Walk::new(config, &web, &seeds);
    let mut spilled = 0;
    for until_ms in (0..60_000).step_by(100) {
        walk.run(until_ms);
        assert!(walk.frontier.hosts.memory_bytes() <= 1 << 20);
        spilled = spilled.max(walk.frontier.report().spilled_bytes);
    }
    assert!(spilled > 1 << 20, "{spilled} bytes on disk");
    let report = walk.frontier.report();
    assert_eq!((report.waiting, report.hosts), (0, HOSTS as u64));
    let asked = walk.urls();
    for [first, own, long] in pages {
        assert!(asked.contains(&first) && !asked.contains(&own) && !asked.contains(&long));
    }
    assert_eq!(others.iter().find(|url| !asked.contains(url)), None);
}

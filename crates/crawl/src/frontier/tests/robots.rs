//! robots.txt on simulated time: it comes first, is obeyed, expires, redirects, and has a size limit.

use super::{ANSWER_MS, Reply, Walk, aside, leak, page};
use crate::assignment::{AgentId, Assignment as _, Rendezvous};
use crate::config::Config;

#[test]
fn robots_are_fetched_first_then_each_page_once() {
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
fn a_crawl_delay_holds_until_the_next_robots_file() {
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
fn robots_are_fetched_again_after_a_day() {
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

/// A file of 20,000 lines does not hold up others either.
#[test]
fn long_robots_files_do_not_delay_other_hosts() {
    let lines: Vec<String> = (0..20_000).map(|number| format!("disallow: /*{number}x")).collect();
    let robots = leak(format!("user-agent: *\ndisallow: /no\n{}", lines.join("\n")));
    let forbidden: Vec<&'static str> =
        (0..200).map(|number| leak(format!("http://a/no/{number}"))).collect();
    let mut walk = Walk::new(
        Config { delay_ms: 1_000, ip_delay_ms: 0, ..Config::default() },
        &[("http://a/robots.txt", &[Reply::Robots(robots)]), ("http://a/", &page(&forbidden))],
        &["http://a/"],
    );
    walk.run(u64::MAX);
    assert_eq!(walk.frontier.report().forbidden_by_robots, 200);
    assert!(walk.forbidden_max <= 10, "{} in one call", walk.forbidden_max);
}

/// However many forbidden pages wait: no call takes long, no pause is kept for them, and other hosts have their
/// turn.
#[test]
fn forbidden_pages_do_not_delay_other_hosts() {
    let forbidden: Vec<&'static str> =
        (0..20_000).map(|number| leak(format!("http://a/no/{number}"))).collect();
    let links = [&forbidden[..], &["http://a/yes"]].concat();
    let mut walk = Walk::new(
        Config { delay_ms: 1_000, ip_delay_ms: 0, ..Config::default() },
        &[
            ("http://a/robots.txt", &[Reply::Robots("user-agent: *\ndisallow: /no")]),
            ("http://a/", &page(&links)),
            ("http://b/", &page(&["http://b/1"])),
        ],
        &["http://a/", "http://b/"],
    );
    walk.run(u64::MAX);
    let report = walk.frontier.report();
    assert_eq!((report.forbidden_by_robots, report.waiting), (20_000, 0));
    assert!(walk.forbidden_max <= 1_000, "{} in one call", walk.forbidden_max);
    assert_eq!(walk.urls()[4..], ["http://b/1", "http://a/yes"]);
    let pause_ms = walk.times("http://a/yes")[0] - walk.times("http://a/")[0];
    assert!((1_030..1_100).contains(&pause_ms), "{pause_ms} ms");
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
fn a_robots_file_beyond_the_host_limit_allows_nothing() {
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
fn a_host_serving_foreign_robots_notices_its_own_failure() {
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
fn fetching_robots_from_a_foreign_host_keeps_its_owner() {
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

/// Any number of robots.txt rules of any length stays within the memory limit.
#[test]
fn many_long_robots_files_need_little_memory() {
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
    // The rules of one host do not apply to its neighbour.
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

/// Pages that wait when a limit ends the run are left for the next one, except for those that robots.txt forbids.
#[test]
fn forbidden_pages_are_not_counted_as_waiting() {
    let links = ["http://a/1", "http://a/no/1", "http://a/2", "http://a/no/2"];
    for waiting_memory_bytes in [1 << 20, 0] {
        let mut walk = Walk::new(
            Config { pages_max: 1, waiting_memory_bytes, ..Config::default() },
            &[
                ("http://a/robots.txt", &[Reply::Robots("user-agent: *\ndisallow: /no")]),
                ("http://a/", &page(&links)),
            ],
            &["http://a/"],
        );
        walk.run(u64::MAX);
        walk.frontier.end_run(walk.now_ms).expect("no files");
        let report = walk.frontier.report();
        assert_eq!((report.pages, report.waiting, report.forbidden_by_robots), (1, 2, 2));
    }
}

/// The coordinator serves all hosts: while the rules of one host keep it busy, another has its turn.
#[test]
fn many_forbidden_pages_do_not_delay_the_next_host() {
    let forbidden: Vec<&'static str> =
        (0..20_000).map(|number| leak(format!("http://a/no/{number}"))).collect();
    let robots = [Reply::Robots("user-agent: *\ndisallow: /no/")];
    let web = [("http://a/robots.txt", robots.as_slice()), ("http://b/robots.txt", &robots)];
    let config = Config { delay_ms: 1_000, ip_delay_ms: 0, ..Config::default() };
    let mut walk = Walk::new(config, &web, &[&forbidden[..], &["http://b/"]].concat());
    walk.run(100);
    assert_eq!(walk.urls(), ["http://a/robots.txt", "http://b/robots.txt"]);
    // Both are ready; a call does a part of the work for the first, and a few calls later the second has its turn.
    walk.now_ms = 5_000;
    let calls = (0..5).find(|_| walk.next(5).is_some_and(|visit| visit.url() == "http://b/"));
    assert!(calls.is_some_and(|calls| calls < 3), "{calls:?}");
    let left = walk.frontier.report().waiting;
    assert!((15_000..20_000).contains(&left), "{left} wait");
}

//! The pages that are visited, and their order: redirects, limits, classes, distances.

use super::{Reply, Walk, leak, page};
use crate::config::{Config, Order, Weights};

#[test]
fn redirect_chains_are_limited() {
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

/// A redirect comes before all waiting pages, also when the queue is full: an endless calendar does not starve it.
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
fn urls_beyond_the_limits_are_dropped_and_counted() {
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
fn pages_beyond_the_depth_limit_are_skipped() {
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

/// The page is found at the end of a chain, and then, while it waits, by a link of another site.
#[test]
fn a_waiting_page_takes_its_shortest_depth() {
    let config = Config { delay_ms: 10_000, ip_delay_ms: 0, depth_max: 3, ..Config::default() };
    let web = [
        ("http://a/", &page(&["http://a/1"])[..]),
        ("http://a/1", &page(&["http://a/2"])),
        ("http://a/2", &page(&["http://a/x"])),
        ("http://b/slow", &page(&["http://a/x"])),
    ];
    for (b_takes_ms, wanted) in [(25_000, 0), (90_000, 3)] {
        let mut walk = Walk::new(config.clone(), &web, &["http://a/", "http://b/slow"]);
        walk.lengths_ms.insert("http://b/slow", b_takes_ms);
        walk.run(38_000);
        walk.now_ms = 60_000;
        let visit = walk.next(60).expect("a page waits");
        assert_eq!((visit.url().as_str(), visit.page.depth), ("http://a/x", wanted));
    }
}

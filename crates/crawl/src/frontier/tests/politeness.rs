//! Politeness on simulated time: pauses, failures of pages and of hosts, the states of robots.txt, changing
//! addresses.

use super::{ANSWER_MS, Reply, Walk, aside, leak, page};
use crate::config::{Config, PolitenessKind};
use crate::outcome::FailureKind;

fn paths(numbers: std::ops::Range<u32>) -> Vec<&'static str> {
    numbers.map(|number| leak(format!("http://a/{number}"))).collect()
}

fn gaps(walk: &Walk) -> Vec<u64> {
    walk.requests.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

#[test]
fn a_slow_server_is_requested_less_often() {
    let config = Config {
        politeness: PolitenessKind::Relative,
        delay_ms: 0,
        ip_delay_ms: 0,
        slice_ms: 100,
        relative_factor: 3,
        relative_ms_min: 1_000,
        relative_ms_max: 60_000,
        ..Config::default()
    };
    let links = paths(0..6);
    let mut walk = Walk::new(config, &[("http://a/", &page(&links))], &["http://a/"]);
    walk.lengths_ms.insert("http://a/", 10_000);
    walk.run(u64::MAX);
    // robots.txt and the slow page are one slice; then four quick ones, a pause, and two more.
    let quick = ANSWER_MS;
    let wanted = [quick, 10_000 + 3 * (10_000 + quick), quick, quick, quick, quick + 1_000, quick];
    assert_eq!(gaps(&walk), wanted);
}

#[test]
fn a_burst_is_followed_by_a_pause() {
    let config = Config {
        delay_ms: 10,
        ip_delay_ms: 0,
        burst_requests: 3,
        burst_pause_ms: 5_000,
        ..Config::default()
    };
    let links = paths(0..5);
    let mut walk = Walk::new(config, &[("http://a/", &page(&links))], &["http://a/"]);
    walk.run(u64::MAX);
    let (short, long) = (ANSWER_MS + 10, ANSWER_MS + 5_000);
    assert_eq!(gaps(&walk), [short, short, long, short, short, long]);
}

/// Pages that hang do not keep the others from being visited.
#[test]
fn hanging_pages_do_not_block_other_pages() {
    const TIMEOUT_MS: u64 = 20_000;
    let hang = [Reply::Fails(FailureKind::Timeout)];
    let links = paths(0..12);
    let config = Config {
        delay_ms: 10,
        ip_delay_ms: 0,
        retry_ms: 5_000,
        retries: 2,
        host_failures_max: 10,
        ..Config::default()
    };
    let mut web: Vec<(&'static str, &[Reply])> =
        links[..4].iter().map(|&url| (url, hang.as_slice())).collect();
    let (home, plain) = (page(&links), page(&[]));
    web.push(("http://a/", &home));
    web.extend(links[4..].iter().map(|&url| (url, plain.as_slice())));
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    for url in &links[..4] {
        walk.lengths_ms.insert(url, TIMEOUT_MS);
    }
    walk.run(u64::MAX);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.failures.get("timeout")), (9, Some(&4)));
    assert_eq!(aside(&walk), [""; 0]);
    for url in &links[..4] {
        assert_eq!(walk.times(url).len(), 3, "{url}");
    }
    let last_ms = links[4..].iter().map(|url| walk.times(url)[0]).max();
    // At most one page hangs between two that answer.
    assert!(last_ms <= Some(11 * (TIMEOUT_MS + 10) + 10 * (ANSWER_MS + 10)), "{last_ms:?}");
}

#[test]
fn one_failing_page_does_not_set_its_host_aside() {
    for reply in [
        Reply::Fails(FailureKind::Timeout),
        Reply::Fails(FailureKind::Protocol),
        Reply::Fails(FailureKind::TooLarge),
        Reply::Fails(FailureKind::Room),
        Reply::Status(500),
        Reply::Status(503),
    ] {
        let config = Config { delay_ms: 10, retries: 9, host_failures_max: 2, ..Config::default() };
        let other = page(&[]);
        let web = [("http://a/", &[reply.clone()][..]), ("http://a/1", other.as_slice())];
        let mut walk = Walk::new(config, &web, &["http://a/", "http://a/1"]);
        walk.run(u64::MAX);
        assert_eq!(aside(&walk), [""; 0], "{reply:?}");
        assert_eq!(walk.frontier.report().failures.values().sum::<u64>(), 1, "{reply:?}");
    }
}

/// Configures one retry after a second, and `host_failures_max`.
fn soon_given_up(host_failures_max: u32) -> Config {
    Config {
        delay_ms: 10,
        ip_delay_ms: 0,
        retry_ms: 1_000,
        retries: 1,
        host_failures_max,
        ..Config::default()
    }
}

#[test]
fn failures_of_different_pages_set_the_host_aside() {
    let links = paths(0..30);
    let config = soon_given_up(4);
    let broken = [Reply::Status(500)];
    let mut web: Vec<(&'static str, &[Reply])> =
        links.iter().map(|&url| (url, broken.as_slice())).collect();
    let home = page(&links);
    web.push(("http://a/", &home));
    let mut walk = Walk::new(config.clone(), &web, &["http://a/"]);
    walk.run(600_000);
    assert_eq!(aside(&walk), ["http://a"]);
    assert_eq!(walk.urls().len(), 2 + 4);
    let gaps = gaps(&walk);
    // Beyond half of the limit the waits double.
    assert_eq!(gaps[2..], [ANSWER_MS + 10, ANSWER_MS + 10, ANSWER_MS + 1_000]);
    // If a page answers among them, the host is not set aside.
    let plain = page(&[]);
    web.extend(links.iter().skip(1).step_by(4).map(|&url| (url, plain.as_slice())));
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    walk.run(u64::MAX);
    assert_eq!(aside(&walk), [""; 0]);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.waiting, report.failures.get("http-500")), (9, 0, Some(&22)));
}

/// A lack of room in the crawl for long answers, page after page, does not count against the host.
#[test]
fn lack_of_room_does_not_count_against_a_host() {
    let links = paths(0..30);
    let config = soon_given_up(2);
    let crowded = [Reply::Fails(FailureKind::Room), page(&[])[0].clone()];
    let mut web: Vec<(&'static str, &[Reply])> =
        links.iter().map(|&url| (url, crowded.as_slice())).collect();
    let home = page(&links);
    web.push(("http://a/", &home));
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    walk.run(u64::MAX);
    assert_eq!(aside(&walk), [""; 0]);
    let report = walk.frontier.report();
    assert_eq!((report.pages, report.failures.len()), (31, 0), "{report:?}");
    // The page waits for its retry; the host continues with others.
    assert!(gaps(&walk)[2..30].iter().all(|&gap| gap == ANSWER_MS + 10), "{:?}", gaps(&walk));
}

#[test]
fn every_refused_connection_counts_against_the_host() {
    let config = Config {
        delay_ms: 10,
        retry_ms: 1_000,
        retries: 9,
        host_failures_max: 3,
        ..Config::default()
    };
    let web = [("http://a/", &[Reply::Refused][..])];
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    walk.run(600_000);
    assert_eq!((walk.times("http://a/").len(), aside(&walk)), (3, vec!["http://a".to_owned()]));
}

/// Checks the effects of a robots.txt that answers with `replies`, by RFC 9309 §2.3.1: the number of its requests,
/// the pages fetched, and whether the host is set aside. The rules are `Disallow: /x`.
#[track_caller]
fn check_robots(replies: &[Reply], robots: usize, pages: &[&str], is_aside: bool) {
    let config = Config {
        delay_ms: 10,
        retry_ms: 1_000,
        retries: 2,
        set_aside_s: 3_600,
        ..Config::default()
    };
    let web = [
        ("http://a/robots.txt", replies),
        ("http://b/rules", &[Reply::Robots("user-agent: *\ndisallow: /x")][..]),
        ("http://c/rules", &[Reply::Moved("http://b/rules")][..]),
        ("http://d/gone", &[Reply::Status(404)][..]),
        ("http://e/broken", &[Reply::Status(500)][..]),
    ];
    let mut walk = Walk::new(config, &web, &["http://a/x", "http://a/y"]);
    walk.run(1_800_000);
    assert_eq!(walk.times("http://a/robots.txt").len(), robots, "{replies:?}");
    let asked: Vec<&str> =
        walk.urls().into_iter().filter(|url| ["http://a/x", "http://a/y"].contains(url)).collect();
    assert_eq!(asked, pages, "{replies:?}");
    let is_a = |host: &String| host == "http://a";
    assert_eq!(aside(&walk).iter().any(is_a), is_aside, "{replies:?}");
}

#[test]
fn robots_files_are_handled_by_outcome_as_specified() {
    use FailureKind::{Connect, Dns, Protocol, Timeout, Tls};
    let rules = Reply::Robots("user-agent: *\ndisallow: /x");
    let (x, y) = ("http://a/x", "http://a/y");
    check_robots(std::slice::from_ref(&rules), 1, &[y], false);
    check_robots(&[Reply::Robots("user-agent: *\ndisallow: /")], 1, &[], false);
    // §2.3.1.3, unavailable: all is allowed.
    for status in [400, 401, 403, 404, 410, 451, 499] {
        check_robots(&[Reply::Status(status)], 1, &[x, y], false);
    }
    // §2.3.1.4, unreachable: nothing is allowed, and the file is fetched again.
    for status in [500, 502, 503, 504, 599] {
        check_robots(&[Reply::Status(status)], 3, &[], true);
        check_robots(&[Reply::Status(status), rules.clone()], 2, &[y], false);
    }
    for kind in [Connect, Timeout, Protocol] {
        check_robots(&[Reply::Fails(kind)], 3, &[], true);
        check_robots(&[Reply::Fails(kind), rules.clone()], 2, &[y], false);
    }
    check_robots(&[Reply::Fails(Tls)], 1, &[], true);
    check_robots(&[Reply::Fails(Dns), rules.clone()], 2, &[y], false);
    // An answer that asks to slow down is not a robots.txt.
    check_robots(&[Reply::Status(429)], 3, &[], true);
    check_robots(&[Reply::Later(60_000), rules.clone()], 2, &[y], false);
    // §2.3.1.2, redirects, also to other hosts; without a valid target it is unavailable.
    check_robots(&[Reply::Moved("http://b/rules")], 1, &[y], false);
    check_robots(&[Reply::Moved("http://c/rules")], 1, &[y], false);
    check_robots(&[Reply::Moved("http://d/gone")], 1, &[x, y], false);
    check_robots(&[Reply::Moved("http://e/broken")], 1, &[], true);
    check_robots(&[Reply::Moved("http://a/robots.txt")], 6, &[x, y], false);
    check_robots(&[Reply::Status(301)], 1, &[x, y], false);
}

#[test]
fn an_unreachable_robots_file_allows_nothing_until_it_answers() {
    let config =
        Config { delay_ms: 10, retry_ms: 1_000, retries: 1, set_aside_s: 600, ..Config::default() };
    let replies = [vec![Reply::Status(503); 4], vec![Reply::Robots("")]].concat();
    let busy: Vec<&'static str> =
        (0..200).map(|number| leak(format!("http://b/{number}"))).collect();
    let web = [("http://a/robots.txt", replies.as_slice()), ("http://b/", &page(&busy))];
    let config = Config { delay_ms: 10_000, ..config };
    let mut walk = Walk::new(config, &web, &["http://a/", "http://b/"]);
    walk.run(u64::MAX);
    assert_eq!(walk.times("http://a/robots.txt").len(), 5, "two tries, twice set aside");
    assert_eq!(walk.times("http://a/").len(), 1);
    assert!(walk.times("http://a/")[0] > 2 * 600_000);
}

#[test]
fn an_expired_address_is_looked_up_again() {
    let links = paths(0..6);
    let config = Config { delay_ms: 1_000, ..Config::default() };
    let mut walk = Walk::new(config, &[("http://a/", &page(&links))], &["http://a/"]);
    let [first, second] = [[9, 9, 9, 1], [9, 9, 9, 2]].map(std::net::IpAddr::from);
    walk.names.insert("a", vec![(first, 3_500), (second, u64::MAX)]);
    walk.run(u64::MAX);
    assert_eq!(walk.frontier.report().requests, 8);
    let last_ms = |address| walk.addresses.get(&address).copied().unwrap_or_default();
    assert!((2_000..=4_000).contains(&last_ms(first)), "{:?}", walk.addresses);
    assert!(last_ms(second) > 6_000, "{:?}", walk.addresses);
}

/// A name that is public at the first lookup, and private afterwards.
#[test]
fn a_name_rebound_to_a_private_address_is_refused() {
    for private in [[127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 169, 254]] {
        let config = Config { delay_ms: 1_000, ..Config::default() };
        let links = ["http://evil/1", "http://evil/2", "http://evil/3"];
        let web = [("http://a/", &page(&["http://evil/"])[..]), ("http://evil/", &page(&links))];
        let mut walk = Walk::new(config, &web, &["http://a/"]);
        let [public, private] = [[9, 9, 9, 9], private].map(std::net::IpAddr::from);
        walk.names.insert("evil", vec![(public, 2_500), (private, 60_000)]);
        walk.run(u64::MAX);
        assert_eq!(walk.times("http://evil/1").len(), 1);
        assert_eq!(walk.times("http://evil/2").len(), 0);
        assert!(!walk.addresses.contains_key(&private), "{private} was asked");
        assert_eq!(walk.frontier.report().failures.get("address"), Some(&1));
        assert_eq!(aside(&walk), ["http://evil"]);
    }
}

#[test]
fn a_redirect_to_a_link_local_address_is_refused() {
    let config = Config { delay_ms: 10, ..Config::default() };
    let web = [("http://a/", &[Reply::Moved("http://169.254.169.254/latest")][..])];
    let mut walk = Walk::new(config, &web, &["http://a/"]);
    walk.run(u64::MAX);
    assert_eq!(walk.urls(), ["http://a/robots.txt", "http://a/"]);
    assert_eq!(walk.frontier.report().failures.get("address"), Some(&1));
}

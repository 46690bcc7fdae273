//! Pages and hosts that fail, on simulated time: backoff, hosts set aside, and the pause due after an earlier run.

use std::net::IpAddr;

use super::super::Tally;
use super::{ANSWER_MS, Reply, Walk, aside, leak, page};
use crate::answer::Purpose;
use crate::asked::Asked;
use crate::clock::Moment;
use crate::config::Config;
use crate::journal::Entry;
use crate::order::Blame;
use crate::outcome::{Answered, FailureKind};

#[test]
fn retry_delays_double_and_a_dead_host_returns() {
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
    // An unreachable host may have moved: its address is resolved again.
    assert_eq!(gaps, [20_000 + 2 * ANSWER_MS, 40_000 + 2 * ANSWER_MS]);
    assert_eq!(walk.frontier.snapshot().hosts_aside, 1);
    walk.run(u64::MAX);
    assert_eq!(walk.times("http://a/robots.txt").len(), 4, "it came back");
    assert_eq!(walk.times("http://a/").len(), 1);
    assert!(walk.frontier.report().aside.is_empty());
}

/// The host comes back in the same run, and its pages still have all attempts.
#[test]
fn a_host_set_aside_keeps_all_its_pages() {
    let config = Config {
        delay_ms: 1_000,
        retries: 1,
        host_failures_max: 3,
        set_aside_s: 600,
        ..Config::default()
    };
    let links: Vec<&'static str> =
        (0..4).map(|number| leak(format!("http://a/{number}"))).collect();
    let busy: Vec<&'static str> =
        (0..2_000).map(|number| leak(format!("http://b/{number}"))).collect();
    let broken = [vec![Reply::Status(500); 2], page(&[])].concat();
    let (home, other) = (page(&links), page(&busy));
    let mut web: Vec<(&'static str, &[Reply])> =
        links.iter().map(|&url| (url, broken.as_slice())).collect();
    web.extend([("http://a/", home.as_slice()), ("http://b/", other.as_slice())]);
    let mut walk = Walk::new(config, &web, &["http://a/", "http://b/"]);
    walk.run(u64::MAX);
    let report = walk.frontier.report();
    assert_eq!(report.failures, report.put_aside, "none is given up");
    assert_eq!(report.failures.get("http-500"), Some(&2), "set aside twice");
    for url in links {
        assert_eq!(walk.times(url).len(), 3, "{url}");
    }
}

#[test]
fn the_report_marks_idle_hosts_set_aside() {
    // With a single page, the failure may be that of the host. The same holds if one failure sets the host aside.
    for seeds in [&["http://a/1"][..], &["http://a/1", "http://a/2"]] {
        let config = Config { retries: 0, host_failures_max: 1, ..Config::default() };
        let web = [("http://a/1", &[Reply::Status(500)][..])];
        let mut walk = Walk::new(config, &web, seeds);
        walk.run(600_000);
        let report = walk.frontier.report();
        assert_eq!((report.failures.len(), report.put_aside.len()), (1, 1), "{seeds:?}");
        let idle: Vec<bool> = report.aside.iter().map(|aside| aside.idle).collect();
        assert_eq!((idle, report.waiting), (vec![false], seeds.len() as u64), "{seeds:?}");
    }
}

/// The walk itself checks that the second address, which another host shares, is not requested too soon.
#[test]
fn a_host_is_visited_at_its_next_address() {
    let config = Config { delay_ms: 1_000, ip_delay_ms: 400, retries: 0, ..Config::default() };
    let busy = (0..20).map(|number| leak(format!("http://b/{number}"))).collect::<Vec<_>>();
    let mut walk = Walk::new(
        config,
        &[("http://a/", &page(&["http://a/1", "http://a/2"])), ("http://b/", &page(&busy))],
        &["http://a/", "http://b/"],
    );
    let (dead, shared) = (IpAddr::from([9, 9, 9, b'a']), IpAddr::from([9, 9, 9, b'b']));
    walk.dead = vec![dead];
    walk.others.insert("a", vec![shared]);
    walk.run(u64::MAX);
    let report = walk.frontier.report();
    assert!(report.failures.is_empty() && report.aside.is_empty(), "{report:?}");
    assert_eq!(walk.times("http://a/robots.txt").len(), 2, "the dead one is asked once");
    assert_eq!(walk.times("http://a/2").len(), 1);
    assert!(walk.times("http://a/robots.txt")[1] < 3_000, "{:?}", walk.requests);
}

/// As in some clouds: every lookup returns other addresses, and none of them connects.
#[test]
fn a_name_with_ever_new_dead_addresses_is_set_aside() {
    let config = Config { delay_ms: 1_000, retries: 1, set_aside_s: 60, ..Config::default() };
    let mut walk = Walk::new(config, &[], &["http://a/"]);
    let [first, second] = [10, 11].map(|net| IpAddr::from([9, net, 0, 0]));
    let fresh = (0..40_000_u16).map(|number| {
        let [high, low] = number.to_be_bytes();
        IpAddr::from([9, 10, high, low])
    });
    walk.dead = fresh.chain([first, second]).collect();
    walk.names.insert("a", walk.dead.iter().map(|&address| (address, 1_500)).collect());
    walk.others.insert("a", vec![second]);
    walk.run(7_200_000);
    assert!(walk.now_ms < 7_200_000, "it has an end");
    assert_eq!(aside(&walk), ["http://a"]);
}

#[test]
fn a_requested_retry_delay_is_kept() {
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
    assert_eq!(aside(&walk), ["http://a"], "nothing else tells whose fault it is");
}

/// This includes pages found while nothing else waits, and a robots.txt that another host keeps there.
#[test]
fn new_pages_do_not_wait_for_a_failed_page() {
    let config = Config { delay_ms: 10, retry_ms: 600_000, ..Config::default() };
    let mut walk = Walk::new(
        config,
        &[
            ("http://a/", &page(&["http://a/bad", "http://a/1"])),
            ("http://a/bad", &[Reply::Status(500)]),
            ("http://a/1", &page(&["http://a/2"])),
            ("http://a/2", &page(&["http://c/"])),
            ("http://c/robots.txt", &[Reply::Moved("http://a/rules")]),
        ],
        &["http://a/"],
    );
    walk.run(60_000);
    for url in ["http://a/2", "http://a/rules", "http://c/"] {
        assert_eq!(walk.times(url).len(), 1, "{url}: {:?}", walk.requests);
    }
    walk.run(u64::MAX);
    assert_eq!(walk.times("http://a/bad").len(), 3);
}

/// Pages that failed in earlier runs come after the others, and their attempts count.
#[test]
fn a_page_that_failed_in_an_earlier_run_comes_last() {
    let config = Config { delay_ms: 10, retries: 1, ..Config::default() };
    let web = [("http://a/bad", &[Reply::Status(500)][..])];
    let seeds = ["http://a/bad", "http://a/1", "http://a/2"];
    let mut walk = Walk::new(config, &web, &seeds);
    walk.frontier.hosts.note_tries(sieve::signature(b"http://a/bad"), 1, Blame::Own);
    walk.run(u64::MAX);
    let wanted = ["http://a/robots.txt", "http://a/1", "http://a/2", "http://a/bad"];
    assert_eq!(walk.urls(), wanted);
    assert_eq!(walk.frontier.report().failures.get("http-500"), Some(&1));
}

/// The host is set aside for that long. Then its other pages come first, so that a page that always requests a
/// wait holds up none of them.
#[test]
fn an_overlong_retry_after_does_not_starve_the_host() {
    let config = Config { delay_ms: 10, retry_ms: 10, retries: 1, ..Config::default() };
    let busy: Vec<&'static str> =
        (0..5_000).map(|number| leak(format!("http://b/{number}"))).collect();
    let links = ["http://a/busy", "http://a/1", "http://a/2", "http://a/3"];
    let mut walk = Walk::new(
        Config { set_aside_s: 60, delay_ms: 1_000, pages_per_host_max: 0, ..config },
        &[
            ("http://a/", &page(&links)),
            ("http://a/busy", &[Reply::Later(3_600_000)]),
            ("http://b/", &page(&busy)),
        ],
        &["http://a/", "http://b/"],
    );
    walk.run(3_000_000);
    assert_eq!(aside(&walk), ["http://a"]);
    assert_eq!(walk.times("http://a/busy").len(), 1);
    walk.run(u64::MAX);
    let times = walk.times("http://a/busy");
    let others: Vec<u64> = links[1..].iter().map(|url| walk.times(url)[0]).collect();
    assert_eq!(times.len(), 2, "and is given up");
    assert!(others.iter().all(|&ms| ms >= times[0] + 3_600_000), "{others:?} {times:?}");
    assert!(others.iter().all(|&ms| ms < times[1]), "{others:?} {times:?}");
    assert_eq!(walk.frontier.report().failures.get("http-503"), Some(&1));
    let asked = walk.frontier.report().aside.into_iter().map(|aside| (aside.host, aside.until_ms));
    let until_ms = Some(times[1] + ANSWER_MS + 3_600_000);
    assert_eq!(asked.collect::<Vec<_>>(), [("http://a".to_owned(), until_ms)]);
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

/// Checks that a host is requested again at `wanted_ms`. Its last request at `date_s` was answered with `status`,
/// and the end of that run is unknown.
#[track_caller]
fn check_rest(date_s: i64, status: u16, retry_after_ms: Option<u64>, wanted_ms: u64) {
    check_rest_of("http://a/", None, date_s, status, retry_after_ms, wanted_ms);
}

/// Checks when the host of `seed` is requested again, given the record of the last requests.
#[track_caller]
fn check_rest_of(
    seed: &'static str,
    asked: Option<Asked>,
    date_s: i64,
    status: u16,
    retry_after_ms: Option<u64>,
    wanted_ms: u64,
) {
    let config = Config { delay_ms: 10_000, retry_after_s_max: 300, ..Config::default() };
    let mut walk = Walk::new(config, &[], &[seed]);
    let entry = Entry {
        purpose: Purpose::Page,
        attempts: 0,
        hops: 0,
        depth: 0,
        robots_for: None,
        failure: (status == 0).then_some(FailureKind::Timeout),
        is_inconclusive: false,
        blames_host: false,
    };
    let answered = Answered { status, retry_after_ms, ..Answered::default() };
    let answered = (status > 0).then_some(answered);
    walk.frontier
        .replay("http://a/x", &entry, Moment { s: date_s, us: 0 }, answered, (Tally::Again, None))
        .expect("no files");
    walk.frontier.end_replay(0, Moment::default(), asked).expect("no files");
    walk.run(u64::MAX);
    if let [aside] = walk.frontier.report().aside.as_slice() {
        // The host requests more time than a run has.
        let until_s = retry_after_ms.and_then(|ms| i64::try_from(ms.min(ASKED_MS) / 1000).ok());
        assert_eq!(aside.until_s, until_s.map(|s| date_s + s), "what the record tells");
        return assert_eq!((aside.until_ms, walk.requests), (Some(wanted_ms), Vec::new()));
    }
    // Its address is resolved as soon as it may be visited.
    assert_eq!(walk.requests[0], (wanted_ms + ANSWER_MS, format!("{seed}robots.txt")));
}

/// 30 days.
const ASKED_MS: u64 = 30 * 24 * 3600 * 1000;

/// The moment does not depend on the start of the run that reads the record, and no run makes a request before it.
#[test]
fn a_retry_after_counts_from_its_record_date() {
    let date = Moment { s: -9, us: 600_001 };
    let asides = |now: Moment| {
        let config = Config { retry_after_s_max: 300, ..Config::default() };
        let mut walk = Walk::new(config, &[], &["http://a/"]);
        let answered =
            Answered { status: 503, retry_after_ms: Some(4_000_000), ..Answered::default() };
        let entry = Entry {
            purpose: Purpose::Page,
            attempts: 0,
            hops: 0,
            depth: 0,
            robots_for: None,
            failure: None,
            is_inconclusive: false,
            blames_host: false,
        };
        walk.frontier
            .replay("http://a/x", &entry, date, Some(answered), (Tally::Again, None))
            .expect("no files");
        walk.frontier.end_replay(0, now, None).expect("no files");
        walk.frontier.report().aside.iter().map(|aside| aside.until_s).collect::<Vec<_>>()
    };
    for (s, us) in [(-8, 0), (-8, 600_000), (0, 999_999), (3990, 1), (3991, 599_999)] {
        assert_eq!(asides(Moment { s, us }), [Some(3991)], "at {s}.{us:06}");
    }
    for (s, us) in [(3991, 601_000), (3992, 0), (9999, 0)] {
        assert_eq!(asides(Moment { s, us }), [], "at {s}.{us:06}");
    }
}

/// A run waits for the rest of the pause, counted from the end of the last request.
#[test]
fn an_elapsed_pause_is_not_repeated() {
    let asked = |s: i64, is_open: bool| Some(Asked::new(Moment { s, us: 0 }, is_open));
    let check =
        |seed, asked, date_s, wanted_ms| check_rest_of(seed, asked, date_s, 200, None, wanted_ms);
    let [a, b] = ["http://a/", "http://b/"];
    check(a, asked(-4, false), -6, 6_000);
    check(a, asked(-60, false), -61, 0);
    // A request may take longer than a pause; its maximum duration is known.
    check(a, asked(-4, false), -60, 6_000);
    check(a, asked(-4, false), -3600, 0);
    // No other host was requested, but this one may share the address.
    check(b, asked(-4, false), -6, 0);
    check(b, asked(0, false), 0, 100);
    // A killed run may have made one more request, to any host.
    for seed in [a, b] {
        check(seed, asked(-4, true), -3600, 6_250);
        check(seed, asked(-60, true), -3600, 0);
    }
    // The clock was set back.
    check(a, asked(3600, false), 3600, 10_000);
    let wait_ms = Some(120_000);
    check_rest_of(a, asked(-4, false), -21, 503, wait_ms, 100_000);
}

#[test]
fn the_pause_of_an_earlier_run_continues() {
    const DAYS_30_MS: u64 = 30 * 24 * 3_600_000;
    // Another request may have been under way when that run ended.
    check_rest(-3600, 200, None, 10_000);
    check_rest(-4, 0, None, 10_000);
    check_rest(0, 404, None, 10_000);
    check_rest(3600, 200, None, 10_000);
    check_rest(-21, 503, Some(120_000), 100_000);
    check_rest(-121, 503, Some(120_000), 10_000);
    check_rest(-4, 200, Some(120_000), 10_000);
    check_rest(-101, 429, Some(400_000), 300_000);
    check_rest(-401, 429, Some(400_000), 10_000);
    check_rest(-1, 429, Some(u64::MAX), DAYS_30_MS);
    check_rest(-101, 503, Some(u64::MAX - 1), DAYS_30_MS - 100_000);
    check_rest(i64::MIN, 503, Some(u64::MAX), 10_000);
}

#[test]
fn a_host_without_a_record_is_paused_too() {
    let config = Config { delay_ms: 10_000, ip_delay_ms: 0, ..Config::default() };
    let mut walk = Walk::new(config, &[], &["http://b/"]);
    let (purpose, attempts, hops, depth) = (Purpose::Page, 0, 0, 0);
    let (robots_for, failure, is_inconclusive, blames_host) = (None, None, false, false);
    let entry =
        Entry { purpose, attempts, hops, depth, robots_for, failure, is_inconclusive, blames_host };
    let answered = Answered { status: 200, ..Answered::default() };
    let replayed = walk.frontier.replay(
        "http://a/",
        &entry,
        Moment { s: -9, us: 0 },
        Some(answered),
        (Tally::Again, None),
    );
    replayed.expect("no files");
    walk.frontier.end_replay(0, Moment::default(), None).expect("no files");
    walk.run(u64::MAX);
    assert_eq!(walk.requests[0], (10_000 + ANSWER_MS, "http://b/robots.txt".to_owned()));
}

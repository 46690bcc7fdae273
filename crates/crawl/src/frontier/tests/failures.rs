//! Pages and hosts that fail, on simulated time: waits that double, hosts set aside, and the rest after a run
//! that ended.

use super::super::Tally;
use super::{ANSWER_MS, Reply, Walk, aside, leak, page};
use crate::answer::Purpose;
use crate::config::Config;
use crate::journal::Entry;
use crate::outcome::{Answered, FailureKind};

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

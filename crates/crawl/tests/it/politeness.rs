//! The pauses between requests, against the specification.

use std::net::IpAddr;

use crawl::{Config, HostId, Pace, Politeness, PolitenessKind, Workbench};
use proptest::prelude::*;

fn politeness() -> Politeness {
    Politeness::new(&Config {
        delay_ms: 1_000,
        crawl_delay_ms_max: 60_000,
        retry_ms: 5_000,
        retry_after_s_max: 300,
        ..Config::default()
    })
}

#[test]
fn the_longer_of_delay_and_crawl_delay_counts() {
    let politeness = politeness();
    assert_eq!(politeness.pause_ms(None), 1_000);
    assert_eq!(politeness.pause_ms(Some(10)), 1_000);
    assert_eq!(politeness.pause_ms(Some(7_000)), 7_000);
    assert_eq!(politeness.pause_ms(Some(u64::MAX)), 60_000);
}

#[test]
fn back_off_doubles_and_obeys_retry_after() {
    let politeness = politeness();
    let back_off = |failures| politeness.back_off_ms(failures, None, None);
    assert_eq!([1, 2, 3].map(back_off), [Some(5_000), Some(10_000), Some(20_000)]);
    assert_eq!(back_off(u32::MAX), Some(3_600_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(90_000)), Some(90_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(300_000)), Some(300_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(300_001)), None);
    assert_eq!(politeness.back_off_ms(1, Some(50_000), None), Some(50_000));
}

proptest! {
    #[test]
    fn back_off_is_never_shorter_than_requested(
        failures in 0..100_u32,
        delay in prop::option::of(any::<u64>()),
        after in prop::option::of(0..600_000_u64),
    ) {
        let politeness = politeness();
        match politeness.back_off_ms(failures, delay, after) {
            Some(wait_ms) => {
                prop_assert!(wait_ms >= politeness.pause_ms(delay));
                prop_assert!(wait_ms >= after.unwrap_or(0));
            }
            None => prop_assert!(after > Some(300_000)),
        }
    }
}

#[test]
fn ten_seconds_at_factor_three_give_thirty_of_pause() {
    let politeness = Politeness::new(&Config {
        politeness: PolitenessKind::Relative,
        slice_ms: 2_000,
        relative_factor: 3,
        relative_ms_min: 500,
        relative_ms_max: 60_000,
        ..Config::default()
    });
    let mut pace = Pace::default();
    politeness.begin(&mut pace, 1_000);
    assert_eq!(politeness.end(&mut pace, 11_000, None), 30_000);
    politeness.begin(&mut pace, 41_000);
    assert_eq!(politeness.end(&mut pace, 41_100, None), 0, "inside the slice");
    politeness.begin(&mut pace, 41_100);
    assert_eq!(politeness.end(&mut pace, 43_000, Some(7_000)), 7_000, "3 × 2 s is less");
    politeness.begin(&mut pace, 50_000);
    assert_eq!(politeness.end(&mut pace, 80_000, None), 60_000, "no more than the upper bound");
}

#[test]
fn a_burst_is_followed_by_a_pause() {
    let politeness = Politeness::new(&Config {
        delay_ms: 10,
        burst_requests: 3,
        burst_pause_ms: 5_000,
        ..Config::default()
    });
    let mut pace = Pace::default();
    let mut now_ms = 0;
    let mut pauses = Vec::new();
    for _ in 0..7 {
        politeness.begin(&mut pace, now_ms);
        now_ms += 1;
        pauses.push(politeness.end(&mut pace, now_ms, None));
        now_ms += pauses[pauses.len() - 1];
    }
    assert_eq!(pauses, [10, 10, 5_000, 10, 10, 5_000, 10]);
    politeness.begin(&mut pace, now_ms + 5_000);
    let pause_ms = politeness.end(&mut pace, now_ms + 5_001, None);
    assert_eq!(pause_ms, 10, "whoever was silent for so long may begin a burst");
}

#[test]
fn an_unknown_request_counts_as_ending_a_burst() {
    let first_ms = |burst_requests| {
        let config =
            Config { delay_ms: 10, burst_requests, burst_pause_ms: 5_000, ..Config::default() };
        Politeness::new(&config).first_pause_ms(None, None)
    };
    assert_eq!((first_ms(0), first_ms(3)), (10, 5_000));
}

/// One request: which host, from when to when.
#[derive(Debug, Clone, Copy)]
struct Request {
    host: usize,
    begun_ms: u64,
    finished_ms: u64,
}

/// The definition: returns when a host may be requested again, from all of its past requests.
fn host_ready_ms(config: &Config, crawl_delay_ms: Option<u64>, past: &[Request]) -> u64 {
    let Some(last) = past.last() else { return 0 };
    let asked_ms = crawl_delay_ms.unwrap_or(0);
    let is_relative = config.politeness == PolitenessKind::Relative;
    // Finds the start of the last burst or slice: after the last gap as long as the pause.
    let silence_ms = |group: &[Request]| {
        let busy_ms: u64 = group.iter().map(|one| one.finished_ms - one.begun_ms).sum();
        if is_relative {
            let ms = busy_ms * u64::from(config.relative_factor);
            ms.max(config.relative_ms_min).min(config.relative_ms_max)
        } else {
            config.burst_pause_ms.max(config.delay_ms)
        }
    };
    let is_over = |group: &[Request]| {
        let (first, last) = (group[0], group[group.len() - 1]);
        if is_relative {
            last.finished_ms - first.begun_ms >= config.slice_ms
        } else {
            let requests = u32::try_from(group.len()).expect("a short test");
            config.burst_requests > 0 && requests >= config.burst_requests
        }
    };
    let mut start = 0;
    for next in 1..past.len() {
        let group = &past[start..next];
        let gap_ms = past[next].begun_ms - past[next - 1].finished_ms;
        if is_over(group) || gap_ms >= silence_ms(group) {
            start = next;
        }
    }
    let group = &past[start..];
    let delay_ms = if is_relative { 0 } else { config.delay_ms };
    let pause_ms = if is_over(group) { silence_ms(group) } else { 0 };
    last.finished_ms + pause_ms.max(delay_ms).max(asked_ms)
}

/// Requests hosts at addresses repeatedly. Each request must begin exactly at the time that the definition gives.
fn check_walk(config: &Config, addresses: &[u8], delays: &[Option<u64>], lengths: &[u64]) {
    let politeness = Politeness::new(config);
    let address = |host: usize| Some(IpAddr::from([10, 0, 0, addresses[host]]));
    let id = |host: usize| HostId(u32::try_from(host).expect("few hosts"));
    let mut workbench = Workbench::new(config.ip_delay_ms);
    let mut paces = vec![Pace::default(); addresses.len()];
    for host in 0..addresses.len() {
        workbench.insert(id(host), address(host), 0);
    }
    let (mut now_ms, mut log, mut under_way) = (0, Vec::new(), Vec::new());
    let mut lengths = lengths.iter();
    loop {
        while let Some(HostId(number)) = workbench.take(now_ms) {
            let host = usize::try_from(number).expect("few hosts");
            let Some(length_ms) = lengths.next() else { return };
            politeness.begin(&mut paces[host], now_ms);
            let past: Vec<Request> =
                log.iter().filter(|one: &&Request| one.host == host).copied().collect();
            let beside = log.iter().filter(|one| addresses[one.host] == addresses[host]);
            let ip_ms = beside.map(|one| one.finished_ms + config.ip_delay_ms).max();
            let ip_ms = ip_ms.filter(|_| config.ip_delay_ms > 0).unwrap_or(0);
            let due_ms = host_ready_ms(config, delays[host], &past).max(ip_ms);
            assert_eq!(now_ms, due_ms, "host {host} after {past:?}");
            under_way.push(Request { host, begun_ms: now_ms, finished_ms: now_ms + length_ms });
        }
        let first_ms = under_way.iter().map(|one| one.finished_ms).min();
        now_ms = first_ms.into_iter().chain(workbench.next_ms()).min().expect("all go on");
        for one in under_way.extract_if(.., |one| one.finished_ms <= now_ms) {
            workbench.release(address(one.host), Some(one.finished_ms));
            let pause_ms = politeness.end(&mut paces[one.host], one.finished_ms, delays[one.host]);
            workbench.insert(id(one.host), address(one.host), one.finished_ms + pause_ms);
            log.push(one);
        }
    }
}

proptest! {
    #[test]
    fn any_schedule_matches_the_definition(
        is_relative in any::<bool>(),
        delay_ms in 0..50_u64,
        ip_delay_ms in prop_oneof![Just(0), 1..30_u64],
        (burst_requests, burst_pause_ms) in (0..4_u32, 0..200_u64),
        (slice_ms, relative_factor) in (0..100_u64, 0..5_u32),
        (relative_ms_min, more_ms) in (0..20_u64, 0..300_u64),
        hosts in prop::collection::vec((0..3_u8, prop::option::of(0..60_u64)), 1..6),
        lengths in prop::collection::vec(0..60_u64, 0..60),
    ) {
        let kinds = [PolitenessKind::Absolute, PolitenessKind::Relative];
        let config = Config {
            politeness: kinds[usize::from(is_relative)],
            delay_ms,
            ip_delay_ms,
            burst_requests,
            burst_pause_ms,
            slice_ms,
            relative_factor,
            relative_ms_min,
            relative_ms_max: relative_ms_min + more_ms,
            ..Config::default()
        };
        let (addresses, delays): (Vec<u8>, Vec<Option<u64>>) = hosts.into_iter().unzip();
        check_walk(&config, &addresses, &delays, &lengths);
    }
}

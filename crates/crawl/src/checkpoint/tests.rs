//! Rows and logs by themselves; whole crawls are resumed in `tests/it/resume.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::{Archive, Kind, Location, Record};
use proptest::prelude::*;

use super::row::{Rows, decode};
use super::*;
use crate::answer::Purpose;
use crate::clock::SystemClock;
use crate::config::{HostAuth, Order, Weights};
use crate::engine::{Dirs, run};
use crate::halt::Halt;
use crate::journal::Entry;
use crate::outcome::{Answered, FailureKind, Harvest};
use crate::rules::Rules;

/// All visits that the logs tell of.
fn rows(logs: &VisitLogs, archive: &Archive) -> Vec<(usize, Settled)> {
    let mut rows = Vec::new();
    let never = AtomicBool::new(false);
    let damaged = logs.each(archive, &Halt::at(&never), &mut |file, settled| {
        rows.push((file, settled));
        Ok(())
    });
    assert_eq!(damaged.expect("it never fails"), 0);
    rows
}

/// A crawl that is over.
struct Crawled {
    _dir: tempfile::TempDir,
    dirs: Dirs,
    config: Config,
    archive: Archive,
    logs: VisitLogs,
}

fn crawl(config: Config) -> Crawled {
    let options = simweb::Options { hosts: 3, pages_per_host: 10, ..simweb::Options::default() };
    let server = simweb::Server::start(options).expect("loopback has room for a server");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (archive, frontier) = (dir.path().join("archive"), dir.path().join("frontier"));
    let dirs = Dirs { archive, frontier, named: Vec::new() };
    let config = Config {
        delay_ms: 10,
        ip_delay_ms: 0,
        retry_ms: 10,
        scope: Scope::Any,
        pages_per_host_max: 12,
        body_bytes_max: 1 << 20,
        archive_file_bytes_max: 30_000,
        resolve: server.web().resolve(),
        ..config
    };
    let never = AtomicBool::new(false);
    let clock = Arc::new(SystemClock::new());
    run(&dirs, &config, &server.web().seeds(), clock, &never, &|_| {}).expect("it runs");

    let archive = Archive::open(&dirs.archive).expect("the crawl made it");
    assert!(archive.files().len() > 3, "{:?}", archive.files());
    let logs = VisitLogs::new(&dirs.frontier, &dirs.archive, &config, &[]);
    Crawled { _dir: dir, dirs, config, archive, logs }
}

/// Makes the logs anew from the archive, and compares them with what the run logged as it went: the same
/// if `is_same`, and the same URLs in all in any case.
fn check(config: Config, is_same: bool) -> Vec<Settled> {
    let Crawled { _dir, dirs, config, archive, logs } = crawl(config);
    let never = AtomicBool::new(false);
    let written = rows(&logs, &archive);
    assert!(written.len() > 100, "{}", written.len());
    let records = archive.records().map(|record| record.expect("the crawl wrote it"));
    let answers = Answers::new(&config, Rules::new(&config, &[]).expect("rules"), None);
    let visits = records.filter_map(|record| Settled::of_record(&record, &answers)).count();
    assert_eq!(written.len(), visits, "all of them, without a look into the archive");

    fs::remove_dir_all(dirs.frontier.join("visits")).expect("there are logs");
    logs.complete(&archive, &answers, &Halt::at(&never)).expect("a good archive");
    let read = rows(&logs, &archive);
    if is_same {
        assert_eq!(read, written);
    }
    let urls = |rows: &[(usize, Settled)]| {
        let mut urls: BTreeSet<String> = rows.iter().map(|(_, row)| row.url.clone()).collect();
        for answered in rows.iter().filter_map(|(_, row)| row.answered.as_ref()) {
            let Harvest { redirect, links, sitemaps, .. } = &answered.harvest;
            urls.extend(redirect.iter().chain(links).chain(sitemaps).cloned());
        }
        urls
    };
    assert_eq!(urls(&read), urls(&written));
    written.into_iter().map(|(_, settled)| settled).collect()
}

#[test]
fn a_log_says_what_its_archive_says() {
    let rows = check(Config { sieve_cache_keys: 0, ..Config::default() }, true);
    assert!(rows.iter().all(|row| row.answered.as_ref().is_none_or(|a| !a.is_unstored)));
}

#[test]
fn a_log_says_what_its_archive_says_of_what_was_not_stored() {
    let config = Config {
        store_filter: "not (noindex or duplicate) and depth < 3".to_owned(),
        depth_max: 9,
        order: Order::Priority,
        weights: Weights { page_keywords: 1, ..Weights::default() },
        keywords: vec!["the".to_owned(), "page".to_owned()],
        sieve_cache_keys: 0,
        ..Config::default()
    };
    let rows = check(config, true);
    let answers = || rows.iter().filter_map(|row| row.answered.as_ref());
    let unstored = || answers().filter(|answered| answered.is_unstored);
    assert!(unstored().any(|answered| !answered.harvest.links.is_empty()), "some lead on");
    assert!(unstored().all(|answered| answered.harvest.refused.contains_key("store-filter")));
    assert!(answers().any(|answered| !answered.is_unstored && answered.is_page()));
    assert!(answers().any(|answered| answered.harvest.similarity > 0.0));
    assert!(rows.iter().any(|row| row.entry.depth > 1));
}

#[test]
fn logs_leave_out_links_that_came_before_and_lose_none() {
    let count = |rows: &[Settled]| -> usize {
        let answers = rows.iter().filter_map(|row| row.answered.as_ref());
        answers.map(|answered| answered.harvest.links.len()).sum()
    };
    let whole = check(Config { sieve_cache_keys: 0, ..Config::default() }, true);
    let rows = check(Config::default(), false);
    assert!(count(&rows) < count(&whole) / 2, "{} of {}", count(&rows), count(&whole));
}

#[test]
fn without_a_file_the_logs_of_the_others_are_made_anew() {
    let Crawled { _dir, dirs, config, archive, logs } = crawl(Config::default());
    let answers = Answers::new(&config, Rules::new(&config, &[]).expect("rules"), None);
    // Even if its log is gone with it.
    let last = archive.files().last().expect("there are some");
    fs::remove_file(dirs.archive.join(last)).expect("it is there");
    fs::remove_file(logs.path(last)).expect("it is there");
    let archive = Archive::open(&dirs.archive).expect("the others are there");
    let never = AtomicBool::new(false);
    logs.complete(&archive, &answers, &Halt::at(&never)).expect("a good archive");
    let anew = VisitLogs::new(&dirs.frontier.join("anew"), &dirs.archive, &config, &[]);
    anew.complete(&archive, &answers, &Halt::at(&never)).expect("a good archive");
    assert_eq!(rows(&logs, &archive), rows(&anew, &archive));
}

#[test]
fn credentials_and_the_spelling_of_a_path_make_no_other_logs() {
    let config = Config::default();
    let told = Config {
        headers: BTreeMap::from([("X-Key".to_owned(), "1".to_owned())]),
        auth: vec![HostAuth { host: "a.test".to_owned(), ..HostAuth::default() }],
        cookies_file: "my-web/cookies.txt".into(),
        tls_roots: "/my-web/roots.pem".into(),
        ..config.clone()
    };
    assert_eq!(identity(&config, &[]), identity(&told, &[]));
    let other = Config { user_agent: "other".to_owned(), ..config.clone() };
    assert_ne!(identity(&config, &[]), identity(&other, &[]));
}

/// Whatever happens to a log, the visits are those of the archive; what is good of it is used.
#[test]
fn a_damaged_log_is_completed_to_what_the_archive_says() {
    let Crawled { _dir, dirs, config, archive, logs } = crawl(Config::default());
    let answers = Answers::new(&config, Rules::new(&config, &[]).expect("rules"), None);
    let never = AtomicBool::new(false);
    fs::remove_dir_all(dirs.frontier.join("visits")).expect("there are logs");
    logs.complete(&archive, &answers, &Halt::at(&never)).expect("a good archive");
    let wanted = rows(&logs, &archive);
    let files = &archive.files()[..4];
    let good: Vec<Vec<u8>> =
        files.iter().map(|name| fs::read(logs.path(name)).expect("a log")).collect();
    let mut seed = 3_u64;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).expect("small") % bound.max(1)
    };
    for round in 0..56 {
        let place = below(files.len());
        let mut log = good[place].clone();
        let at = below(log.len());
        let end = (at + below(80)).min(log.len());
        match round % 7 {
            0 => log[at] ^= 1 << below(8),
            1 => log.truncate(at),
            2 => drop(log.drain(at..end)),
            3 => drop(log.splice(at..at, [0xFF; 16])),
            4 => log.extend_from_within(at..),
            5 => log[at..end].fill(0),
            _ => log.clone_from(&good[(place + 1) % files.len()]),
        }
        fs::write(logs.path(&files[place]), &log).expect("room");
        logs.complete(&archive, &answers, &Halt::at(&never)).expect("a good archive");
        assert_eq!(rows(&logs, &archive), wanted, "round {round}, {at}..{end}");
        fs::write(logs.path(&files[place]), &good[place]).expect("room");
    }
}

/// Records of the journal that anybody may have written.
fn record() -> impl Strategy<Value = Record> {
    let kinds = vec![Kind::Response, Kind::Revisit, Kind::Metadata, Kind::Request, Kind::Warcinfo];
    let names = prop::sample::select(vec![
        "Crivello-Purpose",
        "Crivello-Attempt",
        "Crivello-Hops",
        "Crivello-Depth",
        "Crivello-Robots-For",
        "Crivello-Before",
        "Crivello-Length",
        "Crivello-Inconclusive",
        "Crivello-Took",
        "outcome",
        "status",
        "length",
        "retry-after",
        "similarity",
        "redirect",
        "outlink",
        "sitemap",
        "refused",
        "detail",
    ]);
    let values = prop_oneof![
        prop::sample::select(vec![
            "page",
            "robots",
            "sitemap",
            "address",
            "not-stored",
            "timeout",
            "dns",
            "200",
            "304",
            "0",
            "-1",
            "256",
            "65536",
            "18446744073709551615",
            "99999999999999999999",
            "NaN",
            "inf",
            "name 3",
            "name x",
            "http://a/",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ];
    let fields = prop::collection::vec((names, values), 0..8);
    let line = prop::option::of("HTTP/1.[01] [0-9]{1,4}( OK)?");
    let target = prop::option::of("(http://[ab])?/?(robots.txt|[a-c]{0,3})");
    let parts = (prop::sample::select(kinds), fields, line, target, any::<i64>());
    parts.prop_map(|(kind, fields, line, target, date_s)| {
        let lines: Vec<_> =
            fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = lines.concat();
        let block = line.map_or(text.clone(), |line| format!("{line}\r\n{text}\r\n{text}"));
        let headers = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Record {
            kind,
            id: String::new(),
            date_s,
            date_us: 0,
            target,
            content_type: None,
            block: block.into_bytes(),
            location: Location { file: "a".to_owned(), offset: 0, length: 1 },
            headers,
        }
    })
}

fn url() -> impl Strategy<Value = String> {
    "http://[ab]/[a-c]{0,3}"
}

prop_compose! {
    fn answered()(
        (status, bytes, before, unchanged) in (0..600_u16, any::<u64>(), 0..600_u16, any::<bool>()),
        (is_unstored, similarity) in (any::<bool>(), 0.0..1.0_f32),
        (retry_after_ms, took_ms) in (any::<Option<u64>>(), any::<u32>()),
        redirect in prop::option::of(url()),
        links in prop::collection::vec(url(), 0..5),
        sitemaps in prop::collection::vec(url(), 0..3),
        refused in prop::collection::btree_map("[a-c]{1,2}", any::<u64>(), 0..3),
    ) -> Answered {
        let refused: BTreeMap<_, _> =
            refused.into_iter().map(|(name, times)| (name.into(), times)).collect();
        let harvest = Harvest { robots: None, redirect, links, sitemaps, refused, similarity };
        let took_ms = retry_after_ms.map_or(0, |_| took_ms);
        Answered {
            status,
            bytes,
            retry_after_ms,
            took_ms,
            before,
            unchanged,
            harvest,
            is_unstored,
        }
    }
}

prop_compose! {
    fn settled()(
        url in url(),
        purpose in prop::sample::select(vec![Purpose::Page, Purpose::Robots, Purpose::Sitemap]),
        (attempts, hops, depth, is_inconclusive, blames_host) in any::<(u8, u8, u16, bool, bool)>(),
        robots_for in prop::option::of(url()),
        failure in prop::option::of(prop::sample::select(FailureKind::ALL.to_vec())),
        (date_s, date_us, offset, length, payload) in any::<(i64, u32, u64, u64, u64)>(),
        answered in prop::option::of(answered()),
    ) -> Settled {
        let entry = Entry { purpose, attempts, hops, depth, robots_for, failure, is_inconclusive, blames_host };
        let mut plain = Settled::plain(url, entry, date_s, (offset, length), payload, answered);
        plain.date_us = date_us;
        plain
    }
}

proptest! {
    #[test]
    fn rows_are_read_back(settled in prop::collection::vec(settled(), 0..8)) {
        let mut rows = Rows::default();
        for row in &settled {
            rows.push(row);
        }
        prop_assert_eq!(decode(&rows.bytes, rows.count), Some(settled));
        prop_assert_eq!(decode(&rows.bytes, rows.count + 1), None);
    }

    /// A visit or none, and the log keeps it as it is.
    #[test]
    fn any_record_is_a_visit_or_none(records in prop::collection::vec(record(), 1..4)) {
        let config = Config::default();
        let answers = Answers::new(&config, Rules::new(&config, &[]).expect("rules"), None);
        for record in &records {
            Settled::outline(record);
            let Some(mut settled) = Settled::of_record(record, &answers) else { continue };
            let is_number = |answered: &Answered| !answered.harvest.similarity.is_nan();
            prop_assume!(settled.answered.as_ref().is_none_or(is_number));
            let mut rows = Rows::default();
            rows.push(&settled);
            let mut back = decode(&rows.bytes, rows.count).expect("it was encoded");
            back[0].read_robots(&answers);
            settled.read_robots(&answers);
            prop_assert_eq!(&back[0], &settled);
        }
    }

    #[test]
    fn any_bytes_are_rows_or_none(
        bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..9_u32,
    ) {
        let _ = decode(&bytes, count);
    }
}

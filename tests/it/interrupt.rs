//! Ctrl-C and `kill -9` at any moment of a crawl and of indexing: the next run goes on, and the end is
//! that of an undisturbed run.
//!
//! The moments come from a fixed sequence; where in the work they fall is up to the machine.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use simweb::{LogLine, Options, Server};

use crate::sandbox::{PAGES_PER_HOST_MAX, Running, Sandbox, built_web, init_web};

/// How often each loop kills.
const KILLS: u64 = 50;

/// A sequence of pauses up to a limit, the same in every run.
struct Pauses(u64);

impl Pauses {
    fn next(&mut self, limit_ms: u64) -> Duration {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis((self.0 >> 33) % limit_ms)
    }
}

/// Starts the binary without anybody listening to it.
fn start(sandbox: &Sandbox, arguments: &[&str]) -> Running {
    let mut command = sandbox.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Running { child: command.spawn().expect("the binary starts") }
}

/// Starts, waits, kills; whether it was still at work then.
fn kill_after(sandbox: &Sandbox, arguments: &[&str], pause: Duration) -> bool {
    let mut running = start(sandbox, arguments);
    sleep(pause);
    let at_work = running.child.try_wait().expect("a process").is_none();
    running.child.kill().expect("killed");
    let status = running.child.wait().expect("it ends");
    assert!(at_work || status.success(), "{arguments:?} ended by itself with {status}");
    at_work
}

/// URL and status of every response in the archive, with how often.
fn captures(sandbox: &Sandbox) -> BTreeMap<(String, String), u32> {
    let mut captures = BTreeMap::new();
    for line in sandbox.done(&["archive", "list", "--dir", "web", "--json"]).lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        if line["kind"] != "response" {
            continue;
        }
        let key = (line["url"].as_str().unwrap_or_default().to_owned(), line["status"].to_string());
        *captures.entry(key).or_default() += 1;
    }
    captures
}

/// The results of some queries, as far as they do not depend on the time of the crawl.
fn answers(sandbox: &Sandbox) -> Vec<String> {
    let queries =
        ["the", "garden OR water OR house", "lang:it", "site:portal.localhost", "\"of the\""];
    let answer = |query: &&str| {
        let ran = sandbox.run(&["search", "--dir", "web", "-k", "1000", "--json", query]);
        assert!(ran.code == 0 || ran.code == 3, "{ran:#?}");
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let hits = answer["hits"].as_array().expect("hits").iter();
        let lines = hits
            .map(|hit| format!("{} {:.9}", hit["url"], hit["score"].as_f64().expect("a score")));
        format!("{query}: {}", lines.collect::<Vec<_>>().join("\n"))
    };
    queries.iter().map(answer).collect()
}

fn ok(captures: &BTreeMap<(String, String), u32>) -> Vec<&str> {
    let pages =
        captures.keys().filter(|(url, status)| status == "200" && !url.ends_with("robots.txt"));
    pages.map(|(url, _)| url.as_str()).collect()
}

/// A web without faults that come and go, so that two crawls see the same.
fn steady_web() -> Server {
    let options = Options { hosts: 6, pages_per_host: 30, oddities: false, ..Options::default() };
    Server::start(options).expect("loopback addresses")
}

#[test]
fn a_crawl_killed_fifty_times_gives_the_same_pages() {
    let server = steady_web();
    let seed = server.web().seeds().remove(0);
    let arguments = ["crawl", "--dir", "web", &seed];
    let undisturbed = Sandbox::new();
    undisturbed.init(&server);
    undisturbed.done(&arguments);
    let requests = server.log().len();

    let disturbed = Sandbox::new();
    disturbed.init(&server);
    let (mut pauses, mut kills) = (Pauses(1), 0);
    for _ in 0..KILLS {
        kills += u64::from(kill_after(&disturbed, &arguments, pauses.next(120)));
    }
    assert!(kills > KILLS / 2, "only {kills} kills came before the end: the crawl is too short");
    disturbed.done(&arguments);

    let (expected, found) = (captures(&undisturbed), captures(&disturbed));
    assert!(ok(&expected).len() > 100, "{} pages", ok(&expected).len());
    assert_eq!(ok(&expected), ok(&found));
    let twice: Vec<_> = found
        .iter()
        .filter(|((url, _), times)| **times > 1 && !url.ends_with("robots.txt"))
        .collect();
    assert!(twice.is_empty(), "archived twice: {twice:#?}");

    // Asked for twice is only what was under way at a kill: each of the hosts has one request at most.
    let again = asked_again(server.log().split_off(requests));
    let hosts = server.web().hosts().len() as u64;
    assert!(again <= kills * hosts, "{again} requests came twice after {kills} kills");
    disturbed.done(&["doctor", "archive", "--dir", "web"]);
}

/// Requests for what was asked for before, robots.txt files left out.
fn asked_again(log: Vec<LogLine>) -> u64 {
    let mut asked: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in log.into_iter().filter(|line| line.path != "/robots.txt") {
        *asked.entry((line.host, line.path)).or_default() += 1;
    }
    asked.values().map(|times| times - 1).sum()
}

#[test]
fn a_repeatedly_killed_recrawl_refetches_no_answered_url() {
    let server = steady_web();
    let seed = server.web().seeds().remove(0);
    let sandbox = Sandbox::new();
    sandbox.init(&server);
    sandbox.done(&["crawl", "--dir", "web", &seed]);
    let expected = captures(&sandbox);
    let mut options = server.web().options().clone();
    (options.port, options.edition) = (server.port(), 1);
    server.stop();
    let server = Server::start(options).expect("the port is free again");

    let (mut pauses, mut kills) = (Pauses(3), 0);
    let at_work =
        kill_after(&sandbox, &["crawl", "--dir", "web", "--recrawl"], Duration::from_millis(250));
    assert!(at_work, "the recrawl is too short");
    let status = sandbox.json(&["status", "--dir", "web"]);
    assert!(status["standing"]["recrawl_since_s"].is_i64(), "{status}");
    for _ in 0..10 {
        kills += u64::from(kill_after(&sandbox, &["crawl", "--dir", "web"], pauses.next(150)));
    }
    sandbox.done(&["crawl", "--dir", "web"]);

    let again = asked_again(server.log());
    let hosts = server.web().hosts().len() as u64;
    assert!(again <= (kills + 1) * hosts, "{again} requests came twice after {kills} kills");
    // Changed pages have a new response, and no others.
    let changes = server.web().changes(0);
    let found = captures(&sandbox);
    let mut wanted: Vec<_> = [&changes.changed[..], &changes.added, &changes.deleted].concat();
    wanted.sort_unstable();
    let is_new = |(key, times): &(&(String, String), &u32)| {
        expected.get(*key) != Some(*times) && !key.0.ends_with("robots.txt")
    };
    let new: Vec<_> = found.iter().filter(is_new).map(|((url, _), _)| url.clone()).collect();
    assert_eq!(new, wanted);
    sandbox.done(&["doctor", "archive", "--dir", "web"]);
}

#[test]
fn indexing_killed_fifty_times_gives_the_same_answers() {
    let server = steady_web();
    let sandbox = Sandbox::new();
    sandbox.build(&server);
    let expected = answers(&sandbox);
    assert!(expected.iter().any(|answer| answer.len() > 100), "{expected:#?}");
    let (mut pauses, mut kills) = (Pauses(2), 0);
    for round in 0..KILLS {
        // By turns everything is made anew, only the index, or what the last kill left.
        let gone: &[&str] = match round % 3 {
            0 => &["pages", "dups", "index"],
            1 => &["index"],
            _ => &[],
        };
        for folder in gone {
            let _ = std::fs::remove_dir_all(sandbox.path("web").join(folder));
        }
        kills += u64::from(kill_after(&sandbox, &["index", "--dir", "web"], pauses.next(120)));
        let ran = sandbox.run(&["search", "--dir", "web", "the"]);
        let old_or_none = ran.code == 0 || ran.stderr.contains("`crivello index`");
        assert!(old_or_none, "after a kill: {ran:#?}");
    }
    assert!(kills > KILLS / 4, "only {kills} kills came before the end");
    sandbox.done(&["index", "--dir", "web"]);
    assert_eq!(answers(&sandbox), expected);
}

#[test]
fn an_interrupted_crawl_can_be_resumed_to_completion() {
    let (sandbox, server) = init_web();
    let seed = server.web().seeds().remove(0);
    let running = start(&sandbox, &["crawl", "--dir", "web", &seed]);
    sleep(Duration::from_millis(400));
    assert_eq!(running.signal("INT"), Some(130));
    let before = captures(&sandbox);
    let report = sandbox.json(&["crawl", "--dir", "web", "--resume"]);
    assert_eq!(report["resumed"], true, "{report}");
    let after = captures(&sandbox);
    assert!(ok(&after).len() > ok(&before).len());
    let truth = server.web().truth(PAGES_PER_HOST_MAX);
    let all = ok(&after);
    let missing: Vec<_> =
        truth.pages.iter().filter(|page| !all.contains(&page.url.as_str())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the limit is in real time")]
fn a_signal_ends_up_during_its_stages() {
    let sandbox = Sandbox::new();
    let words = "gardens and other words of a long document ".repeat(20);
    let document = |n: u32| format!("{{\"id\":\"{n}\",\"text\":\"{words} {n}\"}}\n");
    std::fs::write(sandbox.path("d.jsonl"), (0..5000).map(document).collect::<String>())
        .expect("a file");
    sandbox.done(&["init", "web"]);
    sandbox.done(&["import", "d.jsonl", "--dir", "web"]);
    for signal in ["INT", "TERM"] {
        let running = sandbox.start(&["up", "--dir", "web", "--listen", "127.0.0.1:0"]);
        while !sandbox.path("web/pages").exists() {
            sleep(Duration::from_millis(5));
        }
        let start = std::time::Instant::now();
        assert_eq!(running.signal(signal), Some(130));
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(!sandbox.path("web/index").exists(), "the stages ended before the signal");
        std::fs::remove_dir_all(sandbox.path("web/pages")).expect("removed");
    }
    sandbox.done(&["index", "--dir", "web"]);
    assert_eq!(sandbox.json(&["search", "--dir", "web", "gardens"])["total"], 5000);
}

/// A copy whose archive file is a pipe is read for ever, like a search that takes too long.
#[test]
#[expect(clippy::disallowed_methods, reason = "the promise is about real time")]
fn a_busy_server_stops_within_seconds_of_a_signal() {
    let (sandbox, _server) = built_web();
    let captured = captures(&sandbox);
    let page = ok(&captured)[0].to_owned();
    let archive = sandbox.path("web/archive");
    let files = crate::sandbox::files_below(&archive);
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "gz")) {
        std::fs::remove_file(file).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(file).status();
        assert!(made.expect("mkfifo runs").success());
    }
    for (signals, code, most) in [(1, 0, 5), (2, 130, 2)] {
        let mut running = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
        let authority = running.first_line().replace("http://", "").replace('/', "");
        let mut client = std::net::TcpStream::connect(&authority).expect("a connection");
        let request = format!("GET /cached/raw?url={page} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        client.write_all(request.as_bytes()).expect("sent");
        let silence = Some(Duration::from_millis(500));
        client.set_read_timeout(silence).expect("a timeout");
        let read = std::io::Read::read(&mut client, &mut [0; 1]);
        assert!(read.is_err(), "the copy is not read: {read:?}");
        let start = std::time::Instant::now();
        if signals == 2 {
            running.send("INT");
            // The first one must have been seen.
            sleep(Duration::from_millis(300));
        }
        assert_eq!(running.signal("TERM"), Some(code));
        assert!(start.elapsed() < Duration::from_secs(most), "{:?}", start.elapsed());
    }
}

#[test]
fn a_server_shuts_down_cleanly() {
    let (sandbox, _server) = built_web();
    let mut running = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = running.first_line();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    // A client that has sent half a request does not keep it up.
    let authority = address.trim_start_matches("http://").trim_end_matches('/');
    let mut idle = std::net::TcpStream::connect(authority).expect("a connection");
    idle.write_all(b"GET / HT").expect("half a request");
    assert_eq!(running.signal("TERM"), Some(0));
}

//! The trap hosts of docweb, an external test web, in one crawl. `traps/rows.rs` crawls each row alone.
//!
//! The program of docweb serves the hosts from a folder that has only its list of hosts.

mod rows;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crawl::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Delay between requests in milliseconds.
const DELAY_MS: u32 = 5;
/// The most memory for a crawl of a few pages.
const RESIDENT_KIB_MAX: u64 = 400 << 10;

fn docweb() -> PathBuf {
    let shared = std::env::var_os("CRIVELLO_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    shared.join("docweb/docweb")
}

/// The trap hosts, up as long as this value lives.
struct Traps {
    port: u16,
    server: Child,
    folder: PathBuf,
}

impl Traps {
    fn start(sandbox: &Sandbox) -> Self {
        let free = TcpListener::bind("127.0.1.22:0").expect("loopback");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let folder = sandbox.path("docweb");
        fs::create_dir_all(folder.join("a")).expect("a folder");
        let host = |(name, address): (&str, &str)| json!({ "name": name, "behave": name, "addr": address, "root": folder.join("none/") });
        let hosts: Vec<Value> = HOSTS.into_iter().map(host).collect();
        let site = json!({ "set": "a", "port": port, "hosts": hosts });
        fs::write(folder.join("a/site.json"), site.to_string()).expect("a file");
        let server = Command::new("python3")
            .arg(docweb())
            .args(["serve", "a", "--python", "--dir"])
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 runs");
        let up = (0..200).any(|_| {
            sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.1.22", port)).is_ok()
        });
        assert!(up, "docweb does not answer");
        Self { port, server, folder }
    }

    /// Returns the paths that were requested of the trap host, each with its times in seconds.
    fn asked(&self) -> Vec<(f64, String)> {
        // The log is written every other second.
        sleep(Duration::from_millis(2500));
        let text = fs::read_to_string(self.folder.join("a/access-py.log")).expect("a log");
        let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let traps = lines.filter(|parts| parts[1].starts_with("traps"));
        let mut asked: Vec<(f64, String)> =
            traps.map(|parts| (parts[0].parse().expect("a moment"), parts[2].to_owned())).collect();
        asked.sort_by(|a, b| a.0.total_cmp(&b.0));
        asked
    }
}

impl Drop for Traps {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const HOSTS: [(&str, &str); 4] = [
    ("traps", "127.0.1.22"),
    ("robots503", "127.0.1.23"),
    ("robotsredir", "127.0.1.24"),
    ("portal", "127.0.1.25"),
];

/// Where the hosts are.
fn addresses() -> String {
    let mut text = "[crawl.resolve]\n".to_owned();
    for (name, address) in HOSTS {
        writeln!(text, "\"{name}.docweb.test\" = \"{address}\"").expect("memory");
    }
    text
}

fn settings() -> String {
    format!(
        "[crawl]\nscope = \"any\"\ndelay_ms = {DELAY_MS}\nip_delay_ms = 0\nretry_ms = 50\nretries = 1\n\
         pages_per_host_max = 300\nrequests_per_host_max = 3000\ntimeout_ms = 1500\n\
         body_timeout_ms = 3000\n{}",
        addresses()
    )
}

/// Resources that a run of the binary used.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Peak memory.
    resident_kib: u64,
    /// Processor time.
    cpu: Duration,
    /// Wall time.
    time: Duration,
    code: i32,
}

/// Runs the binary to its end; a signal is a failure.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Cost {
    let clock = SystemClock::new();
    let mut running = sandbox.start(arguments);
    let proc = PathBuf::from(format!("/proc/{}", running.child.id()));
    let (mut resident_kib, mut cpu) = (0, Duration::ZERO);
    // A minute and a half: the hanging pages cost their timeouts, everything else is quick.
    while clock.now_ms() < 90_000 {
        cpu = cpu.max(cpu_of(&proc).unwrap_or_default());
        let text = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        resident_kib = resident_kib.max(kib.unwrap_or(0));
        if let Some(status) = running.child.try_wait().expect("a process") {
            let code = status.code();
            let code = code.unwrap_or_else(|| panic!("{arguments:?}: {}", running.stderr()));
            return Cost { resident_kib, cpu, time: Duration::from_millis(clock.now_ms()), code };
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{arguments:?} does not end");
}

/// Returns the processor time of a process so far, from `/proc/…/stat`, in hundredths of a second.
fn cpu_of(proc: &Path) -> Option<Duration> {
    let text = fs::read_to_string(proc.join("stat")).ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Some(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>().ok()?))
}

/// The URLs that a query finds.
fn found(sandbox: &Sandbox, query: &str) -> Vec<String> {
    let ran = sandbox.run(&["search", "--dir", "web", "--json", query]);
    assert!(ran.code == 0 || ran.code == 3, "{ran:#?}");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let hits = answer["hits"].as_array().expect("hits").iter();
    hits.map(|hit| hit["url"].as_str().expect("a URL").to_owned()).collect()
}

/// Each word finds its page or nothing.
fn check_words(sandbox: &Sandbox, url: &dyn Fn(&str) -> String) {
    // These words are found only if the page is read correctly.
    for (word, path) in [
        ("chainend", "/chain/0"),
        ("gzipgood", "/gz/good"),
        ("foundword", "/meta/found"),
        ("nofollowword", "/meta/nofollow"),
        ("canonword", "/canon/1"),
        ("refreshword", "/refresh/target"),
        ("baseword", "/elsewhere/one.html"),
        ("normword", "/norm/t"),
        ("nestedword", "/nesting"),
        ("chunkedword", "/chunked"),
        ("http10word", "/http10"),
        ("naïve", "/utf8bom"),
        ("beforeafter OR before", "/nul"),
    ] {
        assert_eq!(found(sandbox, word), [url(path)], "{word}");
    }
    // Not found: excluded by the page or a header, or not a page.
    for word in ["noindexword", "xrobotsword", "secret1word", "secret2word", "secret3word", "IHDR"]
    {
        assert!(found(sandbox, word).is_empty(), "{word}");
    }
}

#[test]
fn needs_shared_one_crawl_survives_all_docweb_traps() {
    let sandbox = Sandbox::new();
    let traps = Traps::start(&sandbox);
    fs::create_dir(sandbox.path("web")).expect("a folder");
    fs::write(sandbox.path("web/crivello.toml"), settings()).expect("a file");
    let seed = format!("http://portal.docweb.test:{}/", traps.port);
    let cost = run(&sandbox, &["crawl", "--dir", "web", "--quiet", &seed]);
    assert!(cost.code == 0 && cost.resident_kib < RESIDENT_KIB_MAX, "{cost:?}");
    sandbox.done(&["rank", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    let url = |path: &str| format!("http://traps.docweb.test:{}{path}", traps.port);

    check_words(&sandbox, &url);
    let asked = traps.asked();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, path) in &asked {
        *times.entry(path).or_default() += 1;
    }
    // Never requested.
    for path in
        ["/private/no.html", "/meta/secret1", "/meta/secret2", "/meta/secret3", "/js/hidden"]
    {
        assert!(!times.contains_key(path), "{path} was asked for");
    }
    assert!(
        !times.contains_key("/js/comment") && !times.keys().any(|path| path.contains("secret="))
    );
    // Requested once: one page with eleven spellings, and final answers.
    for path in ["/norm/t", "/self", "/loop/a", "/loop/b", "/status/404", "/status/410", "/offsite"]
    {
        assert_eq!(times.get(path), Some(&1), "{path}");
    }
    // Given up after at most one retry, with a recorded reason.
    for (path, reason) in [
        ("/large", "too-large"),
        ("/trunc", "protocol"),
        ("/drip", "timeout"),
        ("/hang", "timeout"),
        ("/empty", "protocol"),
        ("/bighead", "protocol"),
    ] {
        // docweb does not log answers that never end.
        let asked = times.get(path).copied().unwrap_or(0);
        // A server that closes a kept connection may not have seen the request.
        let asked_max = if path == "/empty" { 3 } else { 2 };
        assert!(asked <= asked_max, "{path}: {asked} times");
        let why = sandbox.run(&["why", "--dir", "web", &url(path)]).stdout;
        assert!(why.contains(reason), "{path}: {why}");
    }
    // Endless answers stay within the limits.
    assert!(asked.len() <= 3001, "{} requests", asked.len());
    // No request came before the delay was over.
    for pair in asked.windows(2) {
        let gap_ms = (pair[1].0 - pair[0].0) * 1000.0;
        assert!(
            gap_ms > f64::from(DELAY_MS) - 3.0,
            "{} came {gap_ms} ms after {}",
            pair[1].1,
            pair[0].1
        );
    }
}

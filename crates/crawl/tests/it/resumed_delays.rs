//! The pause before the first request of a resumed crawl: the rest of the pause of the earlier run, and no more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crawl::{Clock as _, Config, PolitenessKind, Snapshot, SystemClock, run};

use crate::faults::{serve, write};
use crate::support::{crawl, dirs};

const DELAY_MS: u64 = 1_500;

/// Starts a server that records the time of each request, and hangs on `/slow`; returns its address.
fn serve_noted(clock: &Arc<SystemClock>, asked: &Arc<Mutex<Vec<u64>>>) -> String {
    let (clock, asked) = (Arc::clone(clock), Arc::clone(asked));
    let port = serve(move |path, out| {
        asked.lock().expect("nobody panics").push(clock.now_ms());
        if path == "/slow" {
            thread::sleep(Duration::from_secs(20));
        }
        let status = if path == "/robots.txt" { "404 No" } else { "200 OK" };
        let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 5";
        write(out, &format!("HTTP/1.1 {status}\r\n{kind}\r\n\r\n<p>ok"));
    });
    format!("http://127.0.0.1:{port}")
}

/// Returns the time from the start of a run to its first request.
fn first_ms(clock: &SystemClock, asked: &Mutex<Vec<u64>>, dir: &Path, seed: String) -> u64 {
    asked.lock().expect("nobody panics").clear();
    let begun_ms = clock.now_ms();
    let config = Config { delay_ms: DELAY_MS, ip_delay_ms: 0, ..Config::default() };
    crawl(dir, &config, &[seed]).expect("it runs");
    asked.lock().expect("nobody panics")[0] - begun_ms
}

#[test]
fn the_rest_of_the_pause_is_kept_per_host() {
    let (clock, asked) = (Arc::new(SystemClock::new()), Arc::<Mutex<Vec<u64>>>::default());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let [one, other] = [(); 2].map(|()| serve_noted(&clock, &asked));
    first_ms(&clock, &asked, dir.path(), format!("{one}/1"));
    let at_once_ms = first_ms(&clock, &asked, dir.path(), format!("{other}/1"));
    assert!(at_once_ms < 1_000, "{at_once_ms} ms at a host that was never asked");
    let rest_ms = first_ms(&clock, &asked, dir.path(), format!("{other}/2"));
    assert!((1_000..DELAY_MS + 1_000).contains(&rest_ms), "{rest_ms} ms right after the last");
    thread::sleep(Duration::from_millis(DELAY_MS));
    let over_ms = first_ms(&clock, &asked, dir.path(), format!("{one}/2"));
    assert!(over_ms < 1_000, "{over_ms} ms though the silence is over");
    let told = fs::read_to_string(dir.path().join("frontier/asked")).expect("the crawl made it");
    assert!(told.contains(" over\n"), "{told}");
}

/// No record shows which host was requested, so no host is requested before the pause is over.
#[test]
fn an_interrupted_request_is_followed_by_a_pause() {
    let (clock, asked) = (Arc::new(SystemClock::new()), Arc::<Mutex<Vec<u64>>>::default());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let [one, other] = [(); 2].map(|()| serve_noted(&clock, &asked));
    let stop = AtomicBool::new(false);
    let watch = |_: &Snapshot| {
        let is_asked = asked.lock().expect("nobody panics").len() == 2;
        stop.fetch_or(is_asked, Ordering::Relaxed);
    };
    let config = Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("{one}/slow")];
    run(&dirs(dir.path()), &config, &seeds, Arc::new(SystemClock::new()), &stop, &watch)
        .expect("it ends");
    let told = fs::read_to_string(dir.path().join("frontier/asked")).expect("the crawl made it");
    assert!(told.contains(" open\n"), "{told}");
    fs::write(dir.path().join("frontier/seeds"), "").expect("written");
    let rest_ms = first_ms(&clock, &asked, dir.path(), format!("{other}/1"));
    assert!((1_000..DELAY_MS + 1_000).contains(&rest_ms), "{rest_ms} ms after a cut");
}

/// Runs a crawl whose time ends in the middle of a pause; its pages are [`DELAY_MS`] apart.
fn stopped(dir: &Path, seed: &str) {
    let seeds = [format!("{seed}/1")];
    let config = Config { delay_ms: DELAY_MS, ip_delay_ms: 0, time_s_max: 1, ..Config::default() };
    crawl(dir, &config, &seeds).expect("it ends");
}

#[test]
fn the_end_of_a_run_starts_no_pause() {
    let (clock, asked) = (Arc::new(SystemClock::new()), Arc::<Mutex<Vec<u64>>>::default());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let one = serve_noted(&clock, &asked);
    stopped(dir.path(), &one);
    let last_ms = *asked.lock().expect("nobody panics").last().expect("robots.txt was asked for");
    let begun_ms = clock.now_ms();
    let rest_ms = begun_ms + first_ms(&clock, &asked, dir.path(), format!("{one}/2")) - last_ms;
    assert!(begun_ms - last_ms > 700, "the run went on for {} ms", begun_ms - last_ms);
    assert!((DELAY_MS..DELAY_MS + 700).contains(&rest_ms), "{rest_ms} ms after the last");
}

#[test]
fn a_damaged_file_causes_a_whole_pause() {
    let (clock, asked) = (Arc::new(SystemClock::new()), Arc::<Mutex<Vec<u64>>>::default());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let one = serve_noted(&clock, &asked);
    stopped(dir.path(), &one);
    let path = dir.path().join("frontier/asked");
    let mut bytes = fs::read(&path).expect("the crawl made it");
    bytes[0] ^= 1;
    fs::write(&path, bytes).expect("written");
    let rest_ms = first_ms(&clock, &asked, dir.path(), format!("{one}/2"));
    assert!(rest_ms >= DELAY_MS, "{rest_ms} ms");
}

/// A pause of four times the server's response time.
fn relative() -> Config {
    Config {
        politeness: PolitenessKind::Relative,
        slice_ms: 1,
        relative_factor: 4,
        relative_ms_min: 50,
        relative_ms_max: 10_000,
        delay_ms: 5,
        ip_delay_ms: 0,
        ..Config::default()
    }
}

/// Starts a server that takes `ms` milliseconds for `/slow`, and records the start and the end of each request.
fn serve_slow(clock: &Arc<SystemClock>, noted: &Arc<Mutex<Vec<(u64, u64)>>>, ms: u64) -> String {
    let (clock, noted) = (Arc::clone(clock), Arc::clone(noted));
    let port = serve(move |path, out| {
        let begun_ms = clock.now_ms();
        let place = {
            let mut noted = noted.lock().expect("nobody panics");
            noted.push((begun_ms, u64::MAX));
            noted.len() - 1
        };
        if path == "/slow" {
            thread::sleep(Duration::from_millis(ms));
        }
        let status = if path == "/robots.txt" { "404 No" } else { "200 OK" };
        let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 5";
        noted.lock().expect("nobody panics")[place].1 = clock.now_ms();
        write(out, &format!("HTTP/1.1 {status}\r\n{kind}\r\n\r\n<p>ok"));
    });
    format!("http://127.0.0.1:{port}")
}

/// The pause after a slow answer is the same across runs, also if a run in between requested another host.
#[test]
fn a_slow_server_keeps_its_pause_across_runs() {
    const SLOW_MS: u64 = 600;
    let clock = Arc::new(SystemClock::new());
    let [noted, others] = [(); 2].map(|()| Arc::<Mutex<Vec<(u64, u64)>>>::default());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let slow = serve_slow(&clock, &noted, SLOW_MS);
    let other = serve_slow(&clock, &others, 0);
    crawl(dir.path(), &relative(), &[format!("{slow}/slow")]).expect("it runs");
    crawl(dir.path(), &relative(), &[format!("{other}/1")]).expect("it runs");
    let begun_ms = clock.now_ms();
    crawl(dir.path(), &relative(), &[format!("{slow}/2")]).expect("it runs");
    let noted = noted.lock().expect("nobody panics");
    let [_, (_, over_ms), (next_ms, _), ..] = noted[..] else { panic!("{noted:?}") };
    assert!(begun_ms < over_ms + SLOW_MS, "the silence was over before: nothing is tested");
    let silence_ms = next_ms - over_ms;
    assert!((4 * SLOW_MS..8 * SLOW_MS).contains(&silence_ms), "{silence_ms} ms");
}

/// The server worked for at least the time until the interruption.
#[test]
fn an_interrupted_slow_request_causes_a_proportional_pause() {
    const STOP_MS: u64 = 500;
    let clock = Arc::new(SystemClock::new());
    let noted = Arc::<Mutex<Vec<(u64, u64)>>>::default();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let slow = serve_slow(&clock, &noted, 60_000);
    let config = Config { relative_factor: 2, ..relative() };
    let stop = AtomicBool::new(false);
    let watch = |_: &Snapshot| {
        let noted = noted.lock().expect("nobody panics");
        let is_late =
            noted.get(1).is_some_and(|(begun_ms, _)| clock.now_ms() >= begun_ms + STOP_MS);
        stop.fetch_or(is_late, Ordering::Relaxed);
    };
    let seeds = [format!("{slow}/slow")];
    run(&dirs(dir.path()), &config, &seeds, Arc::new(SystemClock::new()), &stop, &watch)
        .expect("it ends");
    let over_ms = clock.now_ms();
    fs::write(dir.path().join("frontier/seeds"), "").expect("written");
    crawl(dir.path(), &config, &[format!("{slow}/2")]).expect("it runs");
    let noted = noted.lock().expect("nobody panics");
    let [_, (begun_ms, _), (next_ms, _), ..] = noted[..] else { panic!("{noted:?}") };
    let took_ms = over_ms - begun_ms;
    let silence_ms = next_ms - over_ms;
    let wanted_ms = 2 * took_ms..2 * took_ms + 2_000;
    assert!(wanted_ms.contains(&silence_ms), "{silence_ms} ms after {took_ms}");
}

/// The pause that is due is unknown, so it is the longest one.
#[test]
fn a_missing_file_causes_the_longest_relative_pause() {
    let clock = Arc::new(SystemClock::new());
    let noted = Arc::<Mutex<Vec<(u64, u64)>>>::default();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let one = serve_slow(&clock, &noted, 0);
    let config = Config { relative_ms_max: 2_000, ..relative() };
    crawl(dir.path(), &config, &[format!("{one}/1")]).expect("it runs");
    fs::remove_file(dir.path().join("frontier/asked")).expect("the crawl made it");
    crawl(dir.path(), &config, &[format!("{one}/2")]).expect("it runs");
    let noted = noted.lock().expect("nobody panics");
    let [_, (_, over_ms), (next_ms, _), ..] = noted[..] else { panic!("{noted:?}") };
    assert!(next_ms - over_ms >= 2_000, "{} ms", next_ms - over_ms);
}

/// The requests to a server, with their times.
type Requests = Arc<Mutex<Vec<(String, u64)>>>;

/// Starts a server with a robots.txt that may change, which records its requests; returns its address.
fn serve_robots(robots: &Arc<Mutex<&'static str>>, asked: &Requests) -> String {
    let (clock, robots, asked) = (SystemClock::new(), Arc::clone(robots), Arc::clone(asked));
    let port = serve(move |path, out| {
        asked.lock().expect("nobody panics").push((path.to_owned(), clock.now_ms()));
        let is_robots = path == "/robots.txt";
        let body = if is_robots { *robots.lock().expect("nobody panics") } else { "<p>ok" };
        let kind = if is_robots { "text/plain" } else { "text/html" };
        let head = format!("Content-Type: {kind}\r\nContent-Length: {}", body.len());
        write(out, &format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{head}\r\n\r\n{body}"));
    });
    format!("http://127.0.0.1:{port}")
}

const SLOW: &str = "User-agent: *\nCrawl-delay: 1\n";

/// An older robots.txt in the archive does not count: the newer one is fetched again, after its Crawl-delay.
#[test]
fn older_robots_rules_do_not_replace_lost_ones() {
    let (robots, asked) = (Arc::new(Mutex::new("")), Requests::default());
    let server = serve_robots(&robots, &asked);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() };
    let go_on = |path| crawl(dir.path(), &config, &[format!("{server}{path}")]).expect("it runs");
    let file = |number| dir.path().join(format!("archive/crivello-0000{number}.warc.gz"));
    go_on("/");
    let aside = dir.path().join("first");
    fs::rename(file(1), &aside).expect("the crawl made it");
    *robots.lock().expect("nobody panics") = SLOW;
    go_on("/");
    fs::rename(&aside, file(1)).expect("it was moved");
    // The first robots.txt is known again.
    go_on("/");
    fs::remove_file(file(2)).expect("the crawl made it");
    go_on("/next");
    let asked = asked.lock().expect("nobody panics");
    let paths: Vec<&str> = asked.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/robots.txt", "/", "/robots.txt", "/", "/robots.txt", "/next"]);
    let waited_ms = asked[4].1 - asked[3].1;
    assert!(waited_ms >= 999, "{waited_ms} ms");
}

/// The Crawl-delay of a robots.txt in a missing archive file holds before the robots.txt is fetched again.
#[test]
fn a_crawl_delay_survives_a_missing_archive_file() {
    let asked = Requests::default();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_robots(&Arc::new(Mutex::new(SLOW)), &asked);
    let config = Config { delay_ms: 5, ip_delay_ms: 0, ..Config::default() };
    let seeds = [format!("{server}/")];
    for run in 0..2 {
        crawl(dir.path(), &config, &seeds).expect("it runs");
        let file = format!("archive/crivello-0000{}.warc.gz", run + 1);
        fs::remove_file(dir.path().join(file)).expect("the crawl made it");
    }
    let asked = asked.lock().expect("nobody panics");
    let gaps: Vec<u64> = asked.windows(2).map(|two| two[1].1 - two[0].1).collect();
    assert!(gaps.len() == 3 && gaps.iter().all(|&gap_ms| gap_ms >= 999), "{gaps:?}");
}

/// A server takes two seconds to answer with a Retry-After of three: the wait counts from the answer on. This
/// holds in later runs, which read it from the archive, the log of visits, or both. A filter may keep the answer
/// out of the archive.
#[test]
fn a_retry_after_counts_from_the_answer() {
    let is_busy = Arc::new(AtomicBool::new(true));
    for (lost, store_filter) in
        [("", ""), ("archive", ""), ("frontier/visits", ""), ("frontier/visits", "status = 200")]
    {
        is_busy.store(true, Ordering::Relaxed);
        let clock = Arc::new(SystemClock::new());
        let noted = Arc::<Mutex<Vec<(u64, u64)>>>::default();
        let port = {
            let (clock, noted, is_busy) =
                (Arc::clone(&clock), Arc::clone(&noted), Arc::clone(&is_busy));
            serve(move |path, out| {
                let begun_ms = clock.now_ms();
                let head = match path {
                    "/robots.txt" => "404 No",
                    _ if is_busy.swap(false, Ordering::Relaxed) => {
                        thread::sleep(Duration::from_secs(2));
                        "503 Busy\r\nRetry-After: 3"
                    }
                    _ => "200 OK",
                };
                noted.lock().expect("nobody panics").push((begun_ms, clock.now_ms()));
                let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 5";
                write(out, &format!("HTTP/1.1 {head}\r\n{kind}\r\n\r\n<p>ok"));
            })
        };
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Config {
            delay_ms: 5,
            ip_delay_ms: 0,
            retry_ms: 5,
            retry_after_s_max: 1,
            store_filter: store_filter.to_owned(),
            ..Config::default()
        };
        let seeds = [format!("http://127.0.0.1:{port}/")];
        let first = crawl(dir.path(), &config, &seeds).expect("it ends");
        let [_, (begun_ms, over_ms)] = noted.lock().expect("nobody panics")[..] else {
            panic!("{lost}: not two requests");
        };
        assert!(over_ms - begun_ms >= 2_000, "{lost}");
        let second = crawl(dir.path(), &config, &[]).expect("it ends");
        let told = [first, second].map(|report| report.aside[0].until_s);
        assert!(told[0].is_some() && told[0] == told[1], "{lost}: {told:?}");
        if !lost.is_empty() {
            fs::remove_dir_all(dir.path().join(lost)).expect("it is there");
        }
        let config = Config { retry_after_s_max: 300, ..config };
        crawl(dir.path(), &config, &seeds).expect("it ends");
        let next_ms = noted.lock().expect("nobody panics")[2].0;
        assert!(next_ms >= over_ms + 3_000, "{lost}: {} ms after the answer", next_ms - over_ms);
        assert!(next_ms < over_ms + 4_500, "{lost}: {} ms after the answer", next_ms - over_ms);
    }
}

/// A change to the log of visits.
type Loss<'a> = &'a (dyn Fn(&Path) + Sync);

/// When the archive and the log of visits are missing, the time of the last visit is still known, but not its
/// host.
#[test]
fn a_visit_with_lost_records_causes_a_pause() {
    let remove = |path: &Path| {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.expect("it is there");
    };
    let files = |dir: &Path, ending: &str| -> Vec<_> {
        let entries = fs::read_dir(dir).expect("it is there");
        let paths = entries.map(|entry| entry.expect("it is there").path());
        paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
    };
    let check = &|name: &str, lose: &dyn Fn(&Path)| {
        let (clock, asked) = (Arc::new(SystemClock::new()), Arc::<Mutex<Vec<u64>>>::default());
        let dir = tempfile::tempdir().expect("a temporary folder");
        let one = serve_noted(&clock, &asked);
        first_ms(&clock, &asked, dir.path(), format!("{one}/1"));
        let last_ms = *asked.lock().expect("nobody panics").last().expect("it was asked");
        for path in files(&dir.path().join("archive"), "") {
            remove(&path);
        }
        lose(&dir.path().join("frontier/visits"));
        let begun_ms = clock.now_ms();
        let rest_ms = begun_ms + first_ms(&clock, &asked, dir.path(), format!("{one}/1")) - last_ms;
        assert!((DELAY_MS..DELAY_MS + 1_000).contains(&rest_ms), "{name}: {rest_ms} ms");
    };
    let cut = |log: &PathBuf| {
        let bytes = fs::read(log).expect("it is there");
        fs::write(log, &bytes[..bytes.len() - 1]).expect("room");
    };
    let losses: [(&str, Loss<'_>); 6] = [
        ("nothing", &|_| ()),
        ("the list", &|visits| remove(&visits.join("files"))),
        ("a sound list", &|visits| fs::write(visits.join("files"), "x").expect("room")),
        ("the logs", &|visits| files(visits, ".log").iter().for_each(|log| remove(log))),
        ("the end of the log", &|visits| files(visits, ".log").iter().for_each(cut)),
        ("all", &remove),
    ];
    thread::scope(|scope| {
        for (name, lose) in losses {
            scope.spawn(move || check(name, lose));
        }
    });
}

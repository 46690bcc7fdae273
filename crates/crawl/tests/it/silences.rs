//! How long a crawl that goes on leaves hosts alone: for what is left of the silence, and no longer.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crawl::{Clock as _, Config, Snapshot, SystemClock, run};

use crate::faults::{serve, write};
use crate::support::{crawl, dirs};

const DELAY_MS: u64 = 1_500;

/// A server that takes note when it is asked, by the clock, and hangs on `/slow`; its address.
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

/// When a run first asked for anything, by how long after its begin.
fn first_ms(clock: &SystemClock, asked: &Mutex<Vec<u64>>, dir: &Path, seed: String) -> u64 {
    asked.lock().expect("nobody panics").clear();
    let begun_ms = clock.now_ms();
    let config = Config { delay_ms: DELAY_MS, ip_delay_ms: 0, ..Config::default() };
    crawl(dir, &config, &[seed]).expect("it runs");
    asked.lock().expect("nobody panics")[0] - begun_ms
}

#[test]
fn what_is_left_of_the_silence_is_waited_for_and_strangers_for_nothing() {
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
    assert!(told.contains(" over "), "{told}");
}

/// Nothing tells who it was, so nobody is asked before the pause is over.
#[test]
fn a_request_that_is_cut_off_is_followed_by_silence() {
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
    assert!(told.contains(" open "), "{told}");
    fs::write(dir.path().join("frontier/seeds"), "").expect("written");
    let rest_ms = first_ms(&clock, &asked, dir.path(), format!("{other}/1"));
    assert!((1_000..DELAY_MS + 1_000).contains(&rest_ms), "{rest_ms} ms after a cut");
}

/// A run of a host whose pages come [`DELAY_MS`] after each other that its time ends in the middle of a pause.
fn stopped(dir: &Path, seed: &str) {
    let seeds = [format!("{seed}/1")];
    let config = Config { delay_ms: DELAY_MS, ip_delay_ms: 0, time_s_max: 1, ..Config::default() };
    crawl(dir, &config, &seeds).expect("it ends");
}

#[test]
fn the_end_of_a_run_is_no_request() {
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
fn a_wrong_bit_in_the_file_means_a_whole_pause() {
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

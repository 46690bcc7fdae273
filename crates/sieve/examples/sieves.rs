//! How many tests a second of processor time each kind of sieve makes, and what it takes.
//!
//! ```text
//! cargo run --release -p crivello-sieve --example sieves -- KIND KEYS [BUFFER_KEYS [CACHE_KEYS]]
//! ```
//!
//! KEYS different URLs are offered; after each one a URL drawn evenly from all before it comes
//! again, so half of the tests are repetitions, and nearly all of those from far back. A flush every
//! 2²⁰ offers. Processor time is that of the whole process, making the URLs included; resident
//! memory its peak.

use std::error::Error;
use std::fs;

use sieve::{Plan, Sieve, SieveKind};

const FLUSH_OFFERS: u64 = 1 << 20;
/// Linux counts processor time in hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

#[expect(clippy::print_stdout, reason = "the answer")]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let kind = args.first().map_or("offline", String::as_str);
    let kind = SieveKind::ALL.into_iter().find(|known| known.name() == kind).ok_or("what kind?")?;
    let number = |at: usize, default: u64| args.get(at).map_or(Ok(default), |text| text.parse());
    let keys = number(1, 1_000_000)?;
    let plan = Plan {
        kind,
        capacity: keys,
        buffer_keys: usize::try_from(number(2, 1 << 20)?)?,
        cache_keys: usize::try_from(number(3, 1 << 16)?)?,
        ..Plan::default()
    };
    let dir = std::env::temp_dir().join(format!("crivello-sieves-{}", std::process::id()));
    let mut sieve = plan.create(&dir)?;
    let before = cpu_s()?;
    let emitted = drive(&mut *sieve, keys)?;
    let cpu = cpu_s()? - before;
    let (stats, resident) = (sieve.stats(), peak_bytes()?);
    drop(sieve);
    fs::remove_dir_all(&dir).ok();
    let tests_a_second = stats.offered as f64 / cpu;
    let (resident_mb, disk_mb) = (resident as f64 / 1e6, stats.disk_bytes as f64 / 1e6);
    println!("kind           keys       tests      tests/CPU-s  resident MB  disk MB  lost");
    println!(
        "{:<13} {keys:>10} {:>11} {tests_a_second:>12.0} {resident_mb:>12.1} {disk_mb:>8.1} {:>5}",
        kind.name(),
        stats.offered,
        keys - emitted
    );
    println!(
        "{{\"kind\":\"{}\",\"keys\":{keys},\"tests\":{},\"tests_per_cpu_s\":{tests_a_second:.0},\"resident_mb\":{resident_mb:.1},\"disk_mb\":{disk_mb:.1},\"lost\":{},\"cache_hit_rate\":{:.4},\"false_positive_rate\":{:e}}}",
        kind.name(),
        stats.offered,
        keys - emitted,
        stats.cache_hit_rate(),
        stats.false_positive_rate
    );
    Ok(())
}

/// Offers every key and as many repetitions; how many keys came out.
fn drive(sieve: &mut dyn Sieve, keys: u64) -> Result<u64, Box<dyn Error>> {
    let mut url = *b"https://www.host-00000.example/articles/2026/0000000000.html";
    let mut emitted = 0;
    for number in 0..keys {
        write_url(&mut url, number);
        sieve.offer(&url)?;
        write_url(&mut url, mix(number) % (number + 1));
        sieve.offer(&url)?;
        if number % (FLUSH_OFFERS / 2) == 0 {
            sieve.flush(&mut |_| emitted += 1)?;
        }
    }
    sieve.flush(&mut |_| emitted += 1)?;
    Ok(emitted)
}

/// Writes host and page of the `number`-th URL into their places.
fn write_url(url: &mut [u8], number: u64) {
    write_digits(&mut url[17..22], number % 99_991);
    write_digits(&mut url[45..55], number);
}

fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

fn mix(number: u64) -> u64 {
    let number = (number.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The processor time of this process so far.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process name")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |at: usize| -> Result<f64, Box<dyn Error>> {
        Ok(fields.get(at).ok_or("too few fields")?.parse()?)
    };
    // Fields 14 and 15 of proc(5), counted from after the name, which is the second.
    Ok((ticks(11)? + ticks(12)?) / TICKS_A_SECOND)
}

/// The most memory that this process ever had.
fn peak_bytes() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}

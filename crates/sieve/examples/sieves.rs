//! How many tests a second of processor time each kind of sieve makes, and what it takes.
//!
//! ```text
//! cargo run --release -p crivello-sieve --example sieves -- table [KEYS]
//! cargo run --release -p crivello-sieve --example sieves -- KIND KEYS [BUFFER_KEYS [CACHE_KEYS [CAPACITY]]]
//! ```
//!
//! KEYS different URLs are offered; after each one a URL drawn evenly from all before it comes
//! again, so half of the tests are repetitions, and nearly all of those from far back. A flush takes
//! place every `BUFFER_KEYS` / 2 offers, as in a crawl. Processor time is that of the whole process,
//! making the URLs included; resident memory its peak; disk the most at any flush. Every key that
//! comes out is compared with the one before it: the run fails if their order is not that of the
//! offers or one comes twice. CAPACITY is what a Bloom filter is planned for; KEYS if not given.
//!
//! At the end the sieve is synced. `table` makes every kind, without and with the cache, each in a
//! process of its own; those with a filter once as planned and once with ten times the keys they were
//! planned for. Ten million keys are ten times the buffer of the others anyway.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use sieve::{Plan, SieveKind, Stats};

type Failure = Box<dyn Error>;

/// Linux counts processor time in hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

fn main() -> Result<(), Failure> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| args.get(at).map_or(Ok(default), |text| text.parse());
    let word = args.first().map_or("table", String::as_str);
    if word == "table" {
        return print_table(number(1, 10_000_000)?);
    }
    let kind = SieveKind::ALL.into_iter().find(|known| known.name() == word).ok_or("what kind?")?;
    let keys = number(1, 1_000_000)?;
    let plan = Plan {
        kind,
        buffer_keys: usize::try_from(number(2, 1 << 20)?)?,
        cache_keys: usize::try_from(number(3, 1 << 16)?)?,
        capacity: number(4, keys)?,
        ..Plan::default()
    };
    let dir = std::env::temp_dir().join(format!("crivello-sieves-{}", std::process::id()));
    let measured = measure(&plan, keys, &dir);
    fs::remove_dir_all(&dir).ok();
    print_row(&plan, keys, &measured?)
}

/// What a run took.
struct Measured {
    stats: Stats,
    cpu_s: f64,
    disk_bytes: u64,
    emitted: u64,
}

fn measure(plan: &Plan, keys: u64, dir: &Path) -> Result<Measured, Failure> {
    let mut sieve = plan.create(dir)?;
    let before = cpu_s()?;
    let flush_keys = (plan.buffer_keys as u64 / 4).max(1);
    let (mut url, mut output) = (URL, Output::default());
    let mut disk_bytes = 0;
    for number in 0..keys {
        write_url(&mut url, number);
        sieve.offer(&url)?;
        write_url(&mut url, mix(number) % (number + 1));
        sieve.offer(&url)?;
        if number % flush_keys == flush_keys - 1 || number == keys - 1 {
            disk_bytes = disk_bytes.max(sieve.stats().disk_bytes);
            sieve.flush(&mut |key| output.take(key))?;
        }
    }
    if output.out_of_order > 0 {
        return Err(format!("{} keys came twice or out of order", output.out_of_order).into());
    }
    sieve.sync()?;
    let (stats, cpu_s) = (sieve.stats(), cpu_s()? - before);
    disk_bytes = disk_bytes.max(stats.disk_bytes);
    Ok(Measured { stats, cpu_s, disk_bytes, emitted: output.emitted })
}

const COLUMNS: &str = "kind | buffer | cache | capacity | keys | tests | tests/CPU-s \
    | resident MB | sieve's own MB | disk MB | cache hits | false positives | lost";

#[expect(clippy::print_stdout, reason = "the answer")]
fn print_table(keys: u64) -> Result<(), Failure> {
    println!("| {COLUMNS} |");
    println!("|{}", " --- |".repeat(COLUMNS.split('|').count()));
    let this = std::env::current_exe()?;
    let (buffer, cache) = (Plan::default().buffer_keys as u64, Plan::default().cache_keys as u64);
    for kind in SieveKind::ALL.into_iter().filter(|kind| kind.is_built()) {
        let capacities = if has_filter(kind) { vec![keys, keys / 10] } else { vec![keys] };
        for capacity in capacities {
            for cache in [0, cache] {
                let numbers = [keys, buffer, cache, capacity].map(|number| number.to_string());
                let done = Command::new(&this).arg(kind.name()).args(numbers).status()?;
                if !done.success() {
                    return Err(format!("{} failed", kind.name()).into());
                }
            }
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the answer")]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn print_row(plan: &Plan, keys: u64, measured: &Measured) -> Result<(), Failure> {
    let Measured { stats, cpu_s, disk_bytes, emitted } = measured;
    let buffered = matches!(plan.kind, SieveKind::Lsm | SieveKind::Offline);
    let planned = has_filter(plan.kind);
    let if_so = |so: bool, number: u64| if so { number.to_string() } else { "–".to_owned() };
    let mb = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let fields = [
        plan.kind.name().to_owned(),
        if_so(buffered, plan.buffer_keys as u64),
        plan.cache_keys.to_string(),
        if_so(planned, plan.capacity),
        keys.to_string(),
        stats.offered.to_string(),
        format!("{:.0}", stats.offered as f64 / cpu_s),
        mb(peak_bytes()?),
        mb(stats.memory_bytes),
        mb(*disk_bytes),
        format!("{:.1} %", 100.0 * stats.cache_hit_rate()),
        if planned { format!("{:.1e}", stats.false_positive_rate) } else { "0".to_owned() },
        (keys - emitted).to_string(),
    ];
    println!("| {} |", fields.join(" | "));
    Ok(())
}

fn has_filter(kind: SieveKind) -> bool {
    matches!(kind, SieveKind::Bloom | SieveKind::BlockedBloom)
}

/// The output so far.
#[derive(Default)]
struct Output {
    emitted: u64,
    out_of_order: u64,
    last: Vec<u8>,
}

impl Output {
    /// The digits of a URL ascend from each one that is new to the next.
    fn take(&mut self, key: &[u8]) {
        let page = &key[PAGE];
        self.out_of_order += u64::from(page <= self.last.as_slice());
        self.last.clear();
        self.last.extend_from_slice(page);
        self.emitted += 1;
    }
}

const URL: [u8; 60] = *b"https://www.host-00000.example/articles/2026/0000000000.html";
const HOST: std::ops::Range<usize> = 17..22;
const PAGE: std::ops::Range<usize> = 45..55;

/// Writes host and page of the `number`-th URL into their places.
fn write_url(url: &mut [u8], number: u64) {
    write_digits(&mut url[HOST], number % 99_991);
    write_digits(&mut url[PAGE], number);
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
fn cpu_s() -> Result<f64, Failure> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process name")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |at: usize| -> Result<f64, Failure> {
        Ok(fields.get(at).ok_or("too few fields")?.parse()?)
    };
    // Fields 14 and 15 of proc(5), counted from after the name, which is the second.
    Ok((ticks(11)? + ticks(12)?) / TICKS_A_SECOND)
}

/// The most memory that this process ever had.
fn peak_bytes() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}

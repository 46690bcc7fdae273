//! What a piece of work costs: processor time, and memory beside what was held before.
//!
//! **Invariant.** Memory is what the kernel counts as resident: `peak_bytes` with the pages of mapped
//! files, `own_bytes` without. The first is the kernel's own maximum; the second is looked at every few
//! milliseconds by a thread that costs less than a thousandth of a processor.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

const LOOK_EVERY: Duration = Duration::from_millis(10);
const PAGE_BYTES: u64 = 4096;

/// What was spent.
pub(crate) struct Cost {
    pub(crate) cpu_s: f64,
    pub(crate) peak_bytes: u64,
    pub(crate) own_bytes: u64,
}

/// Does `work` and says what it cost.
pub(crate) fn cost<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Cost)> {
    // The greatest resident size from here on.
    fs::write("/proc/self/clear_refs", "5")?;
    let (resident, own) = resident()?;
    let over = AtomicBool::new(false);
    let begun = cpu_s();
    let (done, own_max) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(crate::measure::resident().map_or(0, |(_, own)| own));
                thread::sleep(LOOK_EVERY);
            }
            most
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, watcher.join().expect("it only looks"))
    });
    let spent = cpu_s() - begun;
    let cost = Cost {
        cpu_s: spent,
        peak_bytes: high_water()?.saturating_sub(resident),
        own_bytes: own_max.saturating_sub(own),
    };
    Ok((done?, cost))
}

/// The least processor time of several rounds of `work`, in nanoseconds, after one that does not count.
pub(crate) fn fastest_ns(rounds: usize, mut work: impl FnMut()) -> f64 {
    let [ns] = fastest_in_turns_ns(rounds, [&mut work]);
    ns
}

/// The same of each of some ways, which are gone in turns: what else the machine does slows all of them down alike.
pub(crate) fn fastest_in_turns_ns<const N: usize>(
    rounds: usize,
    mut ways: [&mut dyn FnMut(); N],
) -> [f64; N] {
    let mut fastest = [f64::INFINITY; N];
    for round in 0..=rounds {
        for (way, least) in ways.iter_mut().zip(&mut fastest) {
            let begun = cpu_s();
            way();
            let spent = (cpu_s() - begun) * 1e9;
            if round > 0 {
                *least = least.min(spent);
            }
        }
    }
    fastest
}

/// The processor time of this process so far.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident bytes: all, and without those of files.
fn resident() -> Result<(u64, u64)> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let mut numbers = text.split(' ').skip(1).map(str::parse::<u64>);
    let mut next = || numbers.next().ok_or("statm has too few numbers");
    let (all, files) = (next()??, next()??);
    Ok((all * PAGE_BYTES, (all - files) * PAGE_BYTES))
}

/// The greatest resident size since it was reset.
fn high_water() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

//! Limits of processor time and memory, from the counters of Linux. Other systems have no limits.
//!
//! **Invariant.** Time is that of this thread only. Memory is measured only if all other threads wait.

use std::fs;
use std::time::Duration;

/// Far above the time of any script, but not of an endless loop.
const CPU_MAX: Duration = Duration::from_secs(10);
/// Twice 1 KiB for each byte of the longest file of the sound index.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Usage so far.
pub(crate) struct Usage {
    cpu: Option<Duration>,
    /// Address space in use, and its maximum so far.
    memory: Option<(u64, u64)>,
}

impl Usage {
    pub(crate) fn now() -> Usage {
        let schedule = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanoseconds = schedule.and_then(|text| text.split(' ').next()?.parse().ok());
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let is_alone = number(&status, "Threads:").is_some_and(|threads| threads <= 2);
        let memory = number(&status, "VmSize:").zip(number(&status, "VmPeak:"));
        let memory = memory.filter(|_| is_alone).map(|(size, peak)| (size << 10, peak << 10));
        Usage { cpu: nanoseconds.map(Duration::from_nanos), memory }
    }

    /// Asserts that the usage since then is below the limits.
    pub(crate) fn check(&self) {
        let now = Usage::now();
        if let (Some(before), Some(after)) = (self.cpu, now.cpu) {
            let taken = after.saturating_sub(before);
            assert!(taken < CPU_MAX, "{taken:?} of processor time");
        }
        if let (Some((size, peak)), Some((_, peak_now))) = (self.memory, now.memory) {
            let taken = if peak_now > peak { peak_now.saturating_sub(size) } else { 0 };
            assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes of memory");
        }
    }
}

/// The number in a line of the status of a process.
fn number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

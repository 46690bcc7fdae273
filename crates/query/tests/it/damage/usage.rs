//! What a run may take: processor time and memory, as Linux counts them; elsewhere nothing is counted.
//!
//! **Invariant.** Time is that of this thread alone, and memory is counted only where this thread is alone but for
//! one that waits, so that nothing else is held against it.

use std::fs;
use std::time::Duration;

/// Far more than any script takes; what goes on for ever takes more.
const CPU_MAX: Duration = Duration::from_secs(10);
/// 1 KiB for each byte of the longest file of the sound index is half of this.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// What has been taken so far.
pub(crate) struct Usage {
    cpu: Option<Duration>,
    /// Addresses in use, and the most that ever were.
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

    /// Asserts that little was taken since.
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

/// The number of a line of the status of a process.
fn number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

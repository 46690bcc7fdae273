//! Mapped pages that cannot be read: the file was cut short, or the disk refuses them.
//!
//! The system tells whoever reads such a page by SIGBUS, which ends the process. Here zeros take the place of the page
//! and of all that lies behind it in its file, and reading goes on. What was lost is noted: whoever has read asks for it
//! afterwards ([`Watch::lost`]), and believes nothing of what came from a file that has lost anything.
//!
//! What lives here: the handler of the signal, and which ranges are ours. What does not: whether a file is as it was in
//! other respects (`mapped.rs`). Where there are no signals, nothing is ever lost.
//!
//! **Invariant.** A range is watched from before its first byte is read until after its last one was. Memory outside the
//! ranges that are watched is never touched: a fault there does what it did before the first file was mapped, and so does
//! the signal if somebody sends it; whoever handles that and goes on is not protected any more.
//!
//! Reference: POSIX.1-2024, `mmap` and 2.4 "Signal Concepts"; nothing is called in the handler but `mmap`, `sigaction`
//! and `raise`, which are single system calls, and atomics.

use memmap2::Mmap;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The address of what is not there.
const NOWHERE: usize = usize::MAX;

/// A range that is watched, or was: slots are used again, and never freed, so that the handler needs no lock.
///
/// All its numbers are in one order (`SeqCst`): what comes of a fault is too rare to be made fast.
struct Slot {
    /// Where it begins; [`NOWHERE`] while it is no range.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The first page that was lost; [`NOWHERE`] if none was.
    lost: AtomicUsize,
    /// The slot that was made before this one.
    before: Option<&'static Slot>,
}

/// The slot that was made last: all others are found from it.
static LAST: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());
/// Those that are no range.
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// A mapped file that is watched as long as it is mapped.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Dropped before what it watches: fields are, in their order.
    watch: Watch,
    map: Mmap,
}

impl Watched {
    /// Watches a mapping of a file from its first byte on.
    pub(crate) fn new(map: Mmap) -> Watched {
        Watched { watch: Watch::new(&map), map }
    }

    /// The offset of the first byte that could not be read, if there was one.
    pub(crate) fn lost(&self) -> Option<usize> {
        self.watch.lost()
    }
}

impl Deref for Watched {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

#[derive(Debug)]
struct Watch(&'static Slot);

impl Watch {
    fn new(range: &Mmap) -> Watch {
        #[cfg(unix)]
        signal::install();
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = free.pop().unwrap_or_else(Slot::make);
        let bounds = range.as_ptr_range();
        slot.lost.store(NOWHERE, Ordering::SeqCst);
        slot.end.store(bounds.end.addr(), Ordering::SeqCst);
        slot.start.store(bounds.start.addr(), Ordering::SeqCst);
        Watch(slot)
    }

    fn lost(&self) -> Option<usize> {
        let lost = self.0.lost.load(Ordering::SeqCst);
        (lost != NOWHERE).then(|| lost - self.0.start.load(Ordering::SeqCst))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.start.store(NOWHERE, Ordering::SeqCst);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("start", &self.start)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Slot {
    /// One more, which the handler finds; called with [`FREE`] locked.
    fn make() -> &'static Slot {
        let slot = Box::leak(Box::new(Slot {
            start: AtomicUsize::new(NOWHERE),
            end: AtomicUsize::new(NOWHERE),
            lost: AtomicUsize::new(NOWHERE),
            before: Slot::last(),
        }));
        LAST.store(slot, Ordering::SeqCst);
        slot
    }

    fn last() -> Option<&'static Slot> {
        let last = LAST.load(Ordering::SeqCst);
        #[expect(unsafe_code, reason = "a list that the handler of a signal can walk")]
        // SAFETY: it is null or a slot, and slots are never freed or borrowed mutably.
        unsafe {
            last.as_ref()
        }
    }

    /// Where the range ends, if the address is in it. The slot may become another range meanwhile, but not if the
    /// address is of the range: somebody is reading that.
    #[cfg(unix)]
    fn end_behind(&self, address: usize) -> Option<usize> {
        let start = self.start.load(Ordering::SeqCst);
        let end = self.end.load(Ordering::SeqCst);
        let is_one = start != NOWHERE && start == self.start.load(Ordering::SeqCst);
        (is_one && (start..end).contains(&address)).then_some(end)
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "signals and mappings are the system's; tests/it/faults.rs")]
mod signal {
    use super::{AtomicUsize, Ordering, Slot};
    use libc::{c_int, c_void, siginfo_t};
    use std::sync::{Once, OnceLock};
    use std::{mem, ptr};

    static ONCE: Once = Once::new();
    /// What was done at SIGBUS before.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    /// POSIX names three kinds of faults, Linux two more.
    const FAULT_CODE_MAX: c_int = 5;

    /// From now on, what is lost of a range that is watched reads as zeros.
    pub(super) fn install() {
        ONCE.call_once(|| {
            // SAFETY: it has no preconditions.
            let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(1 << 12), Ordering::SeqCst);
            // SAFETY: all that is in it may be zero: numbers, pointers, and a set of signals that is empty then.
            let mut action: libc::sigaction = unsafe { mem::zeroed() };
            let mut before = action;
            // SAFETY: there is room for the answer.
            let told = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before) };
            // Told before the handler can ask.
            if told != 0 || BEFORE.set(before).is_err() {
                return;
            }
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: the handler is of the kind that the flags say. If it is refused, all is as it was.
            unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
        });
    }

    /// Comes between a read that failed and its second try, or wherever somebody sends the signal.
    extern "C" fn on_fault(_signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
        // SAFETY: the system hands it over for as long as the handler runs.
        let info = unsafe { &*info };
        // Faults have small codes from 1 on; what is sent has none of these, and no address.
        let is_sent = !(1..=FAULT_CODE_MAX).contains(&info.si_code);
        // SAFETY: every signal has these bytes; what they say counts only where it is an address.
        let address = unsafe { info.si_addr() }.addr();
        if !is_sent && put_zeros(address) {
            return;
        }
        let before = BEFORE.get();
        if is_sent && before.is_some_and(|before| before.sa_sigaction == libc::SIG_IGN) {
            return;
        }
        if let Some(before) = before {
            // SAFETY: it is what the system told. The read fails again, and then that is done.
            unsafe { libc::sigaction(libc::SIGBUS, before, ptr::null_mut()) };
        }
        if is_sent {
            // SAFETY: it has no preconditions, and waits until the handler has ended.
            unsafe { libc::raise(libc::SIGBUS) };
        }
    }

    /// Puts zeros in the place of a page and of what lies behind it in its range, if it is of a range that is watched.
    fn put_zeros(address: usize) -> bool {
        let mut next = Slot::last();
        while let Some(slot) = next {
            if let Some(end) = slot.end_behind(address) {
                let page = address & !(PAGE_BYTES.load(Ordering::SeqCst) - 1);
                // Noted first: whoever reads a zero finds it noted.
                slot.lost.fetch_min(page, Ordering::SeqCst);
                let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON;
                let place = ptr::without_provenance_mut(page);
                // SAFETY: the pages from this one to the end are of a mapping that is ours, and stay mapped and readable.
                let put = unsafe { libc::mmap(place, end - page, libc::PROT_READ, flags, -1, 0) };
                return put != libc::MAP_FAILED;
            }
            next = slot.before;
        }
        false
    }
}

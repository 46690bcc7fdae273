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
//! the signal if somebody sends it, or if the system tells by it of memory that nobody has read. Whoever handles these two
//! and goes on is protected as before; behind a fault elsewhere what was there before us stays in our place. What has been put
//! in our place meanwhile is what is done at the next one.
//!
//! Reference: POSIX.1-2024, `mmap` and 2.4 "Signal Concepts". The handler calls nothing but atomics, `sigaction` and
//! `raise`, which POSIX allows there, and `mmap`, which it does not list: on the systems that we know it is a system call
//! that takes no lock of the process.

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
    /// Goes up before and after the range becomes another: odd in between.
    turn: AtomicUsize,
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
        slot.become_range(bounds.start.addr(), bounds.end.addr());
        Watch(slot)
    }

    fn lost(&self) -> Option<usize> {
        let lost = self.0.lost.load(Ordering::SeqCst);
        (lost != NOWHERE).then(|| lost - self.0.start.load(Ordering::SeqCst))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.become_range(NOWHERE, NOWHERE);
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
            turn: AtomicUsize::new(0),
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

    /// Another range, of which nothing is lost, or none; called by whom it was taken from [`FREE`] for.
    fn become_range(&self, start: usize, end: usize) {
        self.turn.fetch_add(1, Ordering::SeqCst);
        self.lost.store(NOWHERE, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.turn.fetch_add(1, Ordering::SeqCst);
    }

    /// Where the range ends, if the address is in it. The slot may become another range meanwhile, but not if the
    /// address is of the range: somebody is reading that.
    #[cfg(unix)]
    fn end_behind(&self, address: usize) -> Option<usize> {
        let turn = self.turn.load(Ordering::SeqCst);
        let start = self.start.load(Ordering::SeqCst);
        let end = self.end.load(Ordering::SeqCst);
        let is_one = turn.is_multiple_of(2) && turn == self.turn.load(Ordering::SeqCst);
        (is_one && (start..end).contains(&address)).then_some(end)
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "signals and mappings are the system's; tests/it/faults.rs")]
mod signal {
    use super::{AtomicUsize, Ordering, Slot};
    use libc::{c_int, c_void, siginfo_t};
    use std::ops::RangeInclusive;
    use std::sync::Once;
    use std::sync::atomic::AtomicI32;
    use std::{mem, ptr};

    static ONCE: Once = Once::new();
    /// What was done at SIGBUS before: an address, or what stands for none, and the flags.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
    static BEFORE_FLAGS: AtomicI32 = AtomicI32::new(0);
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    /// What tells of a read that failed: POSIX names three kinds, Linux one more.
    const READ_CODES: RangeInclusive<c_int> = 1..=4;
    /// What Linux tells of memory that is lost, and that nobody has read.
    const LOST_CODE: c_int = 5;

    /// From now on, what is lost of a range that is watched reads as zeros.
    pub(super) fn install() {
        ONCE.call_once(|| {
            // SAFETY: it has no preconditions.
            let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(1 << 12), Ordering::SeqCst);
            // Told before the handler can ask.
            if let Some(before) = act(None) {
                remember(&before);
                act(Some(&ours()));
            }
        });
    }

    /// Puts an action in the place of the one at SIGBUS, if one is given, and says what was there; if it is refused, all is
    /// as it was.
    fn act(action: Option<&libc::sigaction>) -> Option<libc::sigaction> {
        let mut before = no_action();
        // SAFETY: it is an action or nothing, and there is room for the answer.
        let told = unsafe {
            libc::sigaction(
                libc::SIGBUS,
                action.map_or(ptr::null(), ptr::from_ref),
                &raw mut before,
            )
        };
        (told == 0).then_some(before)
    }

    fn no_action() -> libc::sigaction {
        // SAFETY: all that is in it may be zero: numbers, pointers, and a set of signals that is empty then.
        unsafe { mem::zeroed() }
    }

    fn ours() -> libc::sigaction {
        let mut action = no_action();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        action
    }

    fn remember(before: &libc::sigaction) {
        BEFORE_FLAGS.store(before.sa_flags, Ordering::SeqCst);
        BEFORE.store(before.sa_sigaction, Ordering::SeqCst);
    }

    /// Comes between a read that failed and its second try, or wherever somebody sends the signal.
    extern "C" fn on_fault(_signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system hands it over for as long as the handler runs.
        let told = unsafe { &*info };
        // Faults have these small codes; what is sent has none of them, and no address.
        let is_read = READ_CODES.contains(&told.si_code);
        // SAFETY: every signal has these bytes; what they say counts only where it is an address.
        let address = unsafe { told.si_addr() }.addr();
        if (is_read || told.si_code == LOST_CODE) && put_zeros(address) {
            return;
        }
        if is_read {
            put_before();
        } else {
            do_before(info, context);
        }
    }

    /// Has done from now on what was done before us.
    fn put_before() {
        let mut before = no_action();
        before.sa_sigaction = BEFORE.load(Ordering::SeqCst);
        before.sa_flags = BEFORE_FLAGS.load(Ordering::SeqCst);
        // The read fails again, and then that is done.
        act(Some(&before));
    }

    /// Does what was done before us, once.
    fn do_before(info: *mut siginfo_t, context: *mut c_void) {
        match BEFORE.load(Ordering::SeqCst) {
            libc::SIG_IGN => return,
            libc::SIG_DFL => {
                put_before();
                // SAFETY: it has no preconditions; the process ends as soon as the handler has.
                unsafe { libc::raise(libc::SIGBUS) };
                return;
            }
            address if BEFORE_FLAGS.load(Ordering::SeqCst) & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
                let handler = ptr::with_exposed_provenance::<()>(address);
                // SAFETY: it is of the kind that its flags say.
                let handler: Handler = unsafe { mem::transmute(handler) };
                handler(libc::SIGBUS, info, context);
            }
            address => {
                let handler = ptr::with_exposed_provenance::<()>(address);
                // SAFETY: as above.
                let handler: extern "C" fn(c_int) = unsafe { mem::transmute(handler) };
                handler(libc::SIGBUS);
            }
        }
        // It may have put another in our place, as that of Rust's threads puts the default.
        let ours = ours();
        if let Some(now) = act(Some(&ours)).filter(|now| now.sa_sigaction != ours.sa_sigaction) {
            remember(&now);
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_becoming_another_range_is_none() {
        let slot = Slot {
            turn: AtomicUsize::new(0),
            start: AtomicUsize::new(NOWHERE),
            end: AtomicUsize::new(NOWHERE),
            lost: AtomicUsize::new(NOWHERE),
            before: None,
        };
        let ends = |slot: &Slot| [0, 4095, 4096, 8191, 8192].map(|at| slot.end_behind(at));
        assert_eq!(ends(&slot), [None; 5]);
        slot.become_range(4096, 8192);
        assert_eq!(ends(&slot), [None, None, Some(8192), Some(8192), None]);
        slot.turn.fetch_add(1, Ordering::SeqCst);
        assert_eq!(ends(&slot), [None; 5]);
        slot.turn.fetch_add(1, Ordering::SeqCst);
        slot.become_range(NOWHERE, NOWHERE);
        assert_eq!(ends(&slot), [None; 5]);
    }
}

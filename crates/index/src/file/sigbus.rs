//! Handles SIGBUS on mapped files: the file was truncated, or the disk failed to read a page.
//!
//! By default SIGBUS ends the process. The handler here maps zeros over the page and the rest of its file, and the
//! read continues. It records the first lost page. After reading, callers check [`Watch::lost`] and discard
//! results from a file that lost pages.
//!
//! What lives here: the signal handler and the list of watched ranges. Checks for other changes of a file are in
//! `mapped.rs`. Without Unix signals, nothing is ever reported as lost.
//!
//! **Invariant.** A range is watched from before its first read until after its last. The handler never changes
//! memory outside the watched ranges. On a fault elsewhere it restores the previous handler, and the read fails
//! again there. On a signal sent by a process, or on lost memory that nobody has read, it calls the previous
//! handler once and stays installed. If that handler installed another one, the next such signal goes to the new
//! one.
//!
//! Reference: POSIX.1-2024, `mmap` and 2.4 "Signal Concepts". The handler uses only atomics, `sigaction`, `raise`
//! and `mmap`. POSIX does not list `mmap` as async-signal-safe. On the systems that we know, it is a system call
//! that takes no lock of the process.

use memmap2::Mmap;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Marks an empty slot, or a slot without a lost page.
const NOWHERE: usize = usize::MAX;

/// A slot for a watched range. Slots are reused and never freed, so the handler needs no lock.
///
/// All accesses are `SeqCst`: faults are too rare to optimise.
struct Slot {
    /// Incremented before and after the range changes, so it is odd during a change.
    turn: AtomicUsize,
    /// Start address of the range; [`NOWHERE`] if the slot is free.
    start: AtomicUsize,
    end: AtomicUsize,
    /// Address of the first lost page, or [`NOWHERE`].
    lost: AtomicUsize,
    /// The slot created before this one.
    before: Option<&'static Slot>,
}

/// Head of the linked list of all slots.
static LAST: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());
/// Slots that can be reused.
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// A mapped file that is watched as long as it is mapped.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Declared first, so it is dropped before the mapping.
    watch: Watch,
    map: Mmap,
}

impl Watched {
    /// Watches a mapping of a file from its first byte on.
    pub(crate) fn new(map: Mmap) -> Watched {
        Watched { watch: Watch::new(&map), map }
    }

    /// Returns the offset of the first lost byte, if any.
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
    /// Adds a slot to the list. The caller holds the lock of [`FREE`].
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
        #[expect(unsafe_code, reason = "a list that a signal handler can walk")]
        // SAFETY: the pointer is null or a slot; slots are never freed or borrowed mutably.
        unsafe {
            last.as_ref()
        }
    }

    /// Sets or clears the range and forgets any loss. Only the owner of the slot calls this.
    fn become_range(&self, start: usize, end: usize) {
        self.turn.fetch_add(1, Ordering::SeqCst);
        self.lost.store(NOWHERE, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.turn.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the end of the range if it contains the address. The slot may change concurrently, but not while
    /// somebody reads this address: a range is watched as long as it is read.
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
#[expect(unsafe_code, reason = "signals and mappings need system calls; tests/it/sigbus.rs")]
mod signal {
    use super::{AtomicUsize, Ordering, Slot};
    use libc::{c_int, c_void, siginfo_t};
    use std::ops::RangeInclusive;
    use std::sync::Once;
    use std::sync::atomic::AtomicI32;
    use std::{mem, ptr};

    static ONCE: Once = Once::new();
    /// The previous action for SIGBUS: the address of a handler, `SIG_DFL` or `SIG_IGN`; and its flags.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
    static BEFORE_FLAGS: AtomicI32 = AtomicI32::new(0);
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    /// The `si_code` values of a failed read: three of POSIX, one of Linux.
    const READ_CODES: RangeInclusive<c_int> = 1..=4;
    /// The `si_code` of Linux for lost memory that nobody has read.
    const LOST_CODE: c_int = 5;

    /// Installs the handler, once per process.
    pub(super) fn install() {
        ONCE.call_once(|| {
            // SAFETY: it has no preconditions.
            let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(1 << 12), Ordering::SeqCst);
            // The handler must find the previous action, so remember it first.
            if let Some(before) = act(None) {
                remember(&before);
                act(Some(&ours()));
            }
        });
    }

    /// Reads the action for SIGBUS and replaces it if `action` is given. Returns the previous action, or `None` if
    /// the call failed.
    fn act(action: Option<&libc::sigaction>) -> Option<libc::sigaction> {
        let mut before = no_action();
        // SAFETY: `action` is null or valid, and `before` has room for the answer.
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
        // SAFETY: zeros are valid for every field: numbers, pointers, and an empty signal set.
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

    /// Runs after a failed read, or when a process sends SIGBUS.
    extern "C" fn on_fault(_signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the pointer is valid as long as the handler runs.
        let told = unsafe { &*info };
        // Faults have these small codes. A sent signal has another code and no address.
        let is_read = READ_CODES.contains(&told.si_code);
        // SAFETY: every signal has these bytes; they are used only where they are an address.
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

    /// Restores the previous action.
    fn put_before() {
        let mut before = no_action();
        before.sa_sigaction = BEFORE.load(Ordering::SeqCst);
        before.sa_flags = BEFORE_FLAGS.load(Ordering::SeqCst);
        // The handler returns, the read fails again, and the previous action handles it.
        act(Some(&before));
    }

    /// Calls the previous handler once.
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
                // SAFETY: its flags say that the handler has this signature.
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
        // The previous handler may have installed another one; Rust's own handler installs the default.
        let ours = ours();
        if let Some(now) = act(Some(&ours)).filter(|now| now.sa_sigaction != ours.sa_sigaction) {
            remember(&now);
        }
    }

    /// Maps zeros over the page and the rest of its range. Returns whether the address is in a watched range.
    fn put_zeros(address: usize) -> bool {
        let mut next = Slot::last();
        while let Some(slot) = next {
            if let Some(end) = slot.end_behind(address) {
                let page = address & !(PAGE_BYTES.load(Ordering::SeqCst) - 1);
                // Record the loss first, so that every reader of a zero finds it recorded.
                slot.lost.fetch_min(page, Ordering::SeqCst);
                let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON;
                let place = ptr::without_provenance_mut(page);
                // SAFETY: the pages from here to the end belong to our mapping, and stay mapped and readable.
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
    fn a_slot_being_changed_matches_no_address() {
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

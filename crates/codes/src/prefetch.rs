//! Asking for memory before it is needed.
//!
//! What lives here: [`prefetch()`], a hint to the processor. Whoever looks up many things one after the other waits
//! for memory each time; whoever first asks for all of it waits once.
//!
//! **Invariant.** Nothing but time depends on it; where the processor has no such hint, nothing happens.

/// Asks for the line of memory in which the item at `at` begins; nothing if there is no such item.
#[inline]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the hint takes a pointer; there is no safe one")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer is that of an item which is there; it is read by nobody.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_place_may_be_named_and_nothing_changes() {
        let bytes: Vec<u8> = (0..200).collect();
        for at in [0, 1, 63, 64, 199, 200, 201, usize::MAX] {
            prefetch(&bytes, at);
            prefetch(&bytes[..at.min(200)], at);
            prefetch::<u8>(&[], at);
            prefetch(&[[0_u64; 9]; 3], at);
        }
        assert!(bytes.into_iter().eq(0..200));
    }
}

//! Prefetching: loads memory into the cache before it is needed.
//!
//! A loop that looks up many items waits for memory each time. If it prefetches them all first, it waits about
//! once. On other processors [`prefetch()`] does nothing.

/// Prefetches the cache line where item `at` begins; does nothing if the item does not exist.
#[inline]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the hint takes a pointer; there is no safe one")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer belongs to an existing item, and is not read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetching_any_position_changes_nothing() {
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

//! Tables of cache lines with random access.
//!
//! A long table asks the system for huge pages, so that accesses far apart cause fewer TLB misses.
//!
//! **Invariant.** Each line of a table is one aligned cache line, all zeros at first.

use codes::prefetch::prefetch;
use memmap2::MmapMut;

pub(crate) const LINE_BYTES: usize = 64;
/// Tables of at least this size ask for huge pages; a shorter one would not fill a page.
const LONG_BYTES: usize = 1 << 21;

/// The table; empty before [`CacheLines::new`].
#[derive(Debug, Default)]
pub(crate) struct CacheLines {
    memory: Option<MmapMut>,
}

impl CacheLines {
    /// A table of `count` lines; `count` must not be zero.
    pub(crate) fn new(count: usize) -> CacheLines {
        let bytes = count * LINE_BYTES;
        CacheLines { memory: Some(zeros(bytes, bytes >= LONG_BYTES)) }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_none()
    }

    #[inline]
    pub(crate) fn get(&self, line: usize) -> Option<&[u8; LINE_BYTES]> {
        self.memory.as_ref()?.as_chunks().0.get(line)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, line: usize) -> Option<&mut [u8; LINE_BYTES]> {
        self.memory.as_mut()?.as_chunks_mut().0.get_mut(line)
    }

    #[inline]
    pub(crate) fn prefetch(&self, line: usize) {
        if let Some(memory) = &self.memory {
            prefetch(memory, line * LINE_BYTES);
        }
    }
}

/// Zeroed memory. If `is_large`, asks for huge pages.
pub(crate) fn zeros(bytes: usize, is_large: bool) -> MmapMut {
    let memory = MmapMut::map_anon(bytes).expect("as much memory as is configured");
    #[cfg(target_os = "linux")]
    if is_large {
        // Huge pages are optional, so ignore a refusal.
        let _ = memory.advise(memmap2::Advice::HugePage);
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_stores_aligned_lines() {
        for count in [1, 7, 1 << 15] {
            let mut lines = CacheLines::new(count);
            assert_eq!((lines.memory_bytes(), lines.is_empty()), (64 * count, false));
            for line in 0..count {
                lines.prefetch(line);
                assert_eq!(lines.get(line), Some(&[0; 64]));
                lines.get_mut(line).unwrap().fill(line.to_le_bytes()[0]);
            }
            lines.prefetch(count);
            assert_eq!(lines.get(count), None);
            assert!((0..count).all(|line| lines.get(line).unwrap()[63] == line.to_le_bytes()[0]));
            assert!(lines.get(0).is_some_and(|line| line.as_ptr().align_offset(64) == 0));
        }
        assert_eq!((CacheLines::default().get(0), CacheLines::default().memory_bytes()), (None, 0));
    }
}

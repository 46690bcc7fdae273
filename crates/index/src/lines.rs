//! Tables of lines of the processor's cache, which are looked up here and there.
//!
//! A long table is in large pages of the processor where the system has such: what is far apart is found as fast. What
//! is in a line is not known here.
//!
//! **Invariant.** A table has as many lines as it was made with, all zeros at first, and each is one line of the cache.

use codes::prefetch::prefetch;
use memmap2::MmapMut;

pub(crate) const LINE_BYTES: usize = 64;
/// From so many bytes on a table is long: less does not fill a large page.
const LONG_BYTES: usize = 1 << 21;

/// The lines; none before [`Lines::new`].
#[derive(Debug, Default)]
pub(crate) struct Lines {
    memory: Option<MmapMut>,
}

impl Lines {
    /// So many lines, one at least.
    pub(crate) fn new(count: usize) -> Lines {
        let bytes = count * LINE_BYTES;
        Lines { memory: Some(zeros(bytes, bytes >= LONG_BYTES)) }
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

    /// Asks for a line that is wanted soon.
    #[inline]
    pub(crate) fn prefetch(&self, line: usize) {
        if let Some(memory) = &self.memory {
            prefetch(memory, line * LINE_BYTES);
        }
    }
}

/// Memory, all zeros; in large pages, if it is to be in such and the system has them.
pub(crate) fn zeros(bytes: usize, is_large: bool) -> MmapMut {
    let memory = MmapMut::map_anon(bytes).expect("as much memory as is configured");
    #[cfg(target_os = "linux")]
    if is_large {
        // It is as good otherwise.
        let _ = memory.advise(memmap2::Advice::HugePage);
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_its_lines() {
        for count in [1, 7, 1 << 15] {
            let mut lines = Lines::new(count);
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
        assert_eq!((Lines::default().get(0), Lines::default().memory_bytes()), (None, 0));
    }
}

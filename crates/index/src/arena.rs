//! Memory for many byte strings that grow at the same time: pages, cut into slices.
//!
//! A string is a chain of slices, each twice as long as the one before up to a limit; the last four
//! bytes of a slice are the address of the next one. Nothing is ever moved or freed one by one.
//!
//! **Invariant.** [`Arena::memory_bytes`] is what the strings take, including the room left in their
//! last slices; a page is allocated whole and never again.

const PAGE_BITS: u32 = 16;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
/// Addresses are 32 bits.
const PAGES_MAX: usize = 1 << (u32::BITS - PAGE_BITS);
const LINK_BYTES: usize = 4;
/// The first slice of a string without its link, and the longest.
const SLICE_BYTES_MIN: u16 = 8;
const SLICE_BYTES_MAX: u16 = 4096;

/// A growing string of bytes in an arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    /// Where the next byte goes.
    next: u32,
    /// How many more bytes the last slice takes.
    room: u16,
    /// How long the last slice is.
    slice_bytes: u16,
    /// How long the string is.
    bytes: u32,
}

/// The pages.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pages: Vec<Box<[u8]>>,
    /// How much of the last page is taken.
    taken: usize,
}

impl Arena {
    /// What the pages take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pages.len() * PAGE_BYTES
    }

    /// Stores bytes that will not grow, a page long at most; `None` when addresses run out.
    pub(crate) fn store(&mut self, bytes: &[u8]) -> Option<u32> {
        let at = self.allocate(bytes.len())?;
        self.slice_mut(at, bytes.len()).copy_from_slice(bytes);
        Some(at)
    }

    /// Bytes that were stored.
    pub(crate) fn stored(&self, at: u32, length: usize) -> &[u8] {
        let start = at as usize % PAGE_BYTES;
        &self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }

    /// An empty string.
    pub(crate) fn chain(&mut self) -> Option<Chain> {
        let slice_bytes = SLICE_BYTES_MIN;
        let first = self.allocate(usize::from(slice_bytes) + LINK_BYTES)?;
        Some(Chain { first, next: first, room: slice_bytes, slice_bytes, bytes: 0 })
    }

    /// Puts `bytes` at the end of a string.
    pub(crate) fn append(&mut self, chain: &mut Chain, mut bytes: &[u8]) -> Option<()> {
        loop {
            let room = u16::try_from(bytes.len()).map_or(chain.room, |most| chain.room.min(most));
            let (fits, rest) = bytes.split_at(usize::from(room));
            self.slice_mut(chain.next, fits.len()).copy_from_slice(fits);
            chain.next += u32::from(room);
            chain.room -= room;
            chain.bytes += u32::from(room);
            if rest.is_empty() {
                return Some(());
            }
            bytes = rest;
            let slice_bytes = longer(chain.slice_bytes);
            let link = self.allocate(usize::from(slice_bytes) + LINK_BYTES)?;
            self.slice_mut(chain.next, LINK_BYTES).copy_from_slice(&link.to_le_bytes());
            chain.next = link;
            (chain.room, chain.slice_bytes) = (slice_bytes, slice_bytes);
        }
    }

    /// Puts the whole string in `out`.
    pub(crate) fn read(&self, chain: &Chain, out: &mut Vec<u8>) {
        out.clear();
        let (mut at, mut slice_bytes) = (chain.first, SLICE_BYTES_MIN);
        let mut left = chain.bytes as usize;
        loop {
            let most = usize::from(slice_bytes);
            out.extend_from_slice(self.stored(at, left.min(most)));
            if left <= most {
                return;
            }
            left -= most;
            let link = self.stored(at + u32::from(slice_bytes), LINK_BYTES);
            at = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            slice_bytes = longer(slice_bytes);
        }
    }

    fn allocate(&mut self, bytes: usize) -> Option<u32> {
        assert!(bytes <= PAGE_BYTES, "{bytes} bytes in a page");
        if self.pages.is_empty() || self.taken + bytes > PAGE_BYTES {
            if self.pages.len() == PAGES_MAX {
                return None;
            }
            self.pages.push(vec![0; PAGE_BYTES].into_boxed_slice());
            self.taken = 0;
        }
        let at = ((self.pages.len() - 1) << PAGE_BITS) + self.taken;
        self.taken += bytes;
        u32::try_from(at).ok()
    }

    fn slice_mut(&mut self, at: u32, length: usize) -> &mut [u8] {
        let start = at as usize % PAGE_BYTES;
        &mut self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }
}

impl Chain {
    /// How long the string is.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes as usize
    }
}

fn longer(slice_bytes: u16) -> u16 {
    (2 * slice_bytes).min(SLICE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_grow_in_turns_are_those_of_vectors() {
        let mut arena = Arena::default();
        let mut chains: Vec<Chain> = (0..5).map(|_| arena.chain().unwrap()).collect();
        let mut model = vec![Vec::new(); chains.len()];
        for turn in 0..30_000_usize {
            let bytes: Vec<u8> = (0..turn % 11).map(|i| (turn * 7 + i).to_le_bytes()[0]).collect();
            let which = turn * turn % chains.len();
            arena.append(&mut chains[which], &bytes).unwrap();
            model[which].extend_from_slice(&bytes);
        }
        let mut out = vec![1, 2, 3];
        for (chain, expected) in chains.iter().zip(&model) {
            arena.read(chain, &mut out);
            assert_eq!(&out, expected);
            assert_eq!(chain.bytes(), expected.len());
        }
        let page = vec![9; PAGE_BYTES];
        let at = arena.store(&page).unwrap();
        assert_eq!(arena.stored(at, PAGE_BYTES), page);
    }
}

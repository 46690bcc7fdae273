//! Memory for many byte strings that grow at the same time: pages, cut into slices.
//!
//! A string belongs to a key, behind which it begins. It is a chain of slices, each twice as long as the
//! one before up to a limit; the last four bytes of a slice are the address of the next one. Nothing is
//! ever moved or freed one by one. The ends of strings lie all over the pages, so that these are large
//! ones of the processor where the system has such: what is far apart is found as fast.
//!
//! **Invariant.** [`Arena::memory_bytes`] is what keys and strings take, including the room left in their
//! last slices; a page is allocated whole and never again.

use codes::vbyte;
use memmap2::MmapMut;

const PAGE_BITS: u32 = 21;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
/// Addresses are 32 bits.
const PAGES_MAX: usize = 1 << (u32::BITS - PAGE_BITS);
const LINK_BYTES: usize = 4;
/// The longest codeword of [`Arena::append`].
pub(crate) const CODEWORD_BYTES_MAX: usize = 5;
/// The first slice of a string without its link, and the longest.
const SLICE_BYTES_MIN: u16 = 8;
const SLICE_BYTES_MAX: u16 = 4096;

/// The end of a growing string of bytes in an arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Where the next byte goes.
    next: u32,
    /// How many more bytes the last slice takes.
    room: u16,
    /// How long the last slice is.
    slice_bytes: u16,
}

/// The pages.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pages: Vec<MmapMut>,
    /// How much of the last page is taken.
    taken: usize,
}

impl Arena {
    /// What the strings take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pages.len().saturating_sub(1) * PAGE_BYTES + self.taken
    }

    /// Stores a key, less than a page long, and begins an empty string; `None` when addresses run out.
    pub(crate) fn begin(&mut self, key: &[u8]) -> Option<(u32, Chain)> {
        let slice_bytes = SLICE_BYTES_MIN;
        let at = self.allocate(key.len() + usize::from(slice_bytes) + LINK_BYTES)?;
        self.slice_mut(at, key.len()).copy_from_slice(key);
        let next = behind(at, key.len());
        Some((at, Chain { next, room: slice_bytes, slice_bytes }))
    }

    /// The key at an address.
    #[inline]
    pub(crate) fn key(&self, at: u32, length: usize) -> &[u8] {
        let start = at as usize % PAGE_BYTES;
        &self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }

    /// Puts a number below 2³⁵ at the end of a string, as a vbyte.
    #[inline]
    pub(crate) fn append(&mut self, chain: &mut Chain, n: u64) -> Option<()> {
        let (word, bytes) = codeword(n);
        if chain.room < 8 {
            return self.append_bytes(chain, &word.to_le_bytes()[..usize::from(bytes)]);
        }
        // All eight at once; those behind the codeword are in the room that is left.
        self.slice_mut(chain.next, 8).copy_from_slice(&word.to_le_bytes());
        chain.next += u32::from(bytes);
        chain.room -= bytes;
        Some(())
    }

    /// The byte behind a string, whatever it is.
    #[inline]
    pub(crate) fn end(&self, chain: Chain) -> u8 {
        self.pages[(chain.next >> PAGE_BITS) as usize][chain.next as usize % PAGE_BYTES]
    }

    /// The string of the key at `at`, of `key_bytes`, in its slices.
    pub(crate) fn slices(
        &self,
        at: u32,
        key_bytes: usize,
        chain: Chain,
    ) -> impl Iterator<Item = &[u8]> {
        let last = chain.next + u32::from(chain.room) - u32::from(chain.slice_bytes);
        let mut next = Some((behind(at, key_bytes), SLICE_BYTES_MIN));
        std::iter::from_fn(move || {
            let (at, slice_bytes) = next?;
            if at == last {
                next = None;
                return Some(self.key(at, usize::from(chain.slice_bytes - chain.room)));
            }
            let length = usize::from(slice_bytes);
            let (slice, link) = self.key(at, length + LINK_BYTES).split_at(length);
            let link = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            next = Some((link, longer(slice_bytes)));
            Some(slice)
        })
    }

    #[inline(never)]
    fn append_bytes(&mut self, chain: &mut Chain, mut bytes: &[u8]) -> Option<()> {
        loop {
            let room = u16::try_from(bytes.len()).map_or(chain.room, |most| chain.room.min(most));
            let (fits, rest) = bytes.split_at(usize::from(room));
            self.slice_mut(chain.next, fits.len()).copy_from_slice(fits);
            chain.next += u32::from(room);
            chain.room -= room;
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

    fn allocate(&mut self, bytes: usize) -> Option<u32> {
        assert!(bytes <= PAGE_BYTES, "{bytes} bytes in a page");
        if self.pages.is_empty() || self.taken + bytes > PAGE_BYTES {
            if self.pages.len() == PAGES_MAX {
                return None;
            }
            // The first is mostly not filled.
            self.pages.push(page(!self.pages.is_empty()));
            self.taken = 0;
        }
        let at = ((self.pages.len() - 1) << PAGE_BITS) + self.taken;
        self.taken += bytes;
        u32::try_from(at).ok()
    }

    #[inline]
    fn slice_mut(&mut self, at: u32, length: usize) -> &mut [u8] {
        let start = at as usize % PAGE_BYTES;
        &mut self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }
}

/// A page, all zeros; one of the processor, if it is to be large and the system has such.
fn page(is_large: bool) -> MmapMut {
    let page = MmapMut::map_anon(PAGE_BYTES).expect("as much memory as is configured");
    #[cfg(target_os = "linux")]
    if is_large {
        // It is as good a page otherwise.
        let _ = page.advise(memmap2::Advice::HugePage);
    }
    page
}

/// The address of what follows a key.
fn behind(at: u32, key_bytes: usize) -> u32 {
    at + u32::try_from(key_bytes).expect("less than a page")
}

fn longer(slice_bytes: u16) -> u16 {
    (2 * slice_bytes).min(SLICE_BYTES_MAX)
}

/// The codeword of a number below 2³⁵ under [`vbyte`], from the lowest byte up, and its length.
#[inline]
fn codeword(n: u64) -> (u64, u16) {
    debug_assert!(n < 1 << 35, "{n} has more than five bytes");
    let spread = n & 0x7f
        | (n & 0x7f << 7) << 1
        | (n & 0x7f << 14) << 2
        | (n & 0x7f << 21) << 3
        | (n & 0x7f << 28) << 4;
    let bytes = vbyte::bytes(n);
    let more = 0x8080_8080_8080_8080 & ((1 << (8 * (bytes - 1))) - 1);
    (spread | more, bytes.to_le_bytes()[0].into())
}

/// The number whose codeword, of five bytes at most, `word` begins with, and the length of that.
#[inline]
pub(crate) fn number(word: u64) -> (u64, usize) {
    // The lowest byte whose highest bit is not set is the last.
    let last = !word & 0x80_8080_8080;
    let bits = last.trailing_zeros() + 1;
    let code = word & (last ^ last.wrapping_sub(1));
    let n = code & 0x7f
        | (code >> 1 & 0x7f << 7)
        | (code >> 2 & 0x7f << 14)
        | (code >> 3 & 0x7f << 21)
        | (code >> 4 & 0x7f << 28);
    (n, bits as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codewords_are_those_of_vbyte() {
        let edges = (0..=34).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1, (1 << bits) + 1]);
        for n in edges.chain((0..10_000).map(|i| i * 3_435_973)) {
            let mut expected = Vec::new();
            vbyte::write(&mut expected, n);
            let (word, bytes) = codeword(n);
            assert_eq!(&word.to_le_bytes()[..usize::from(bytes)], expected, "{n}");
            assert_eq!(word.checked_shr(8 * u32::from(bytes)).unwrap_or(0), 0, "{n}");
            for behind in [0, u64::MAX] {
                let mixed = word | behind << (8 * bytes);
                assert_eq!(number(mixed), (n, usize::from(bytes)), "{n}");
            }
        }
    }

    #[test]
    fn strings_that_grow_in_turns_are_those_of_vectors() {
        let mut arena = Arena::default();
        let keys = ["", "k", "another key", "é", "x"].map(str::as_bytes);
        let mut chains = keys.map(|key| arena.begin(key).unwrap());
        let mut model = vec![Vec::new(); chains.len()];
        for turn in 0..800_000_u64 {
            let which = usize::try_from(turn * turn % 5).unwrap();
            let n = (turn * 0x9e37_79b9) % (1 << (turn % 36)).min((1 << 35) - 1);
            arena.append(&mut chains[which].1, n).unwrap();
            vbyte::write(&mut model[which], n);
        }
        for ((key, (at, chain)), expected) in keys.iter().zip(chains).zip(&model) {
            assert_eq!(arena.key(at, key.len()), *key);
            let found: Vec<&[u8]> = arena.slices(at, key.len(), chain).collect();
            assert_eq!(&found.concat(), expected);
        }
        assert!(arena.pages.len() > 1, "an edge between pages is crossed");
        let room = model.iter().map(|bytes| bytes.len() + usize::from(SLICE_BYTES_MAX));
        let strings: usize = room.sum::<usize>() * 101 / 100;
        assert!((strings / 2..=strings).contains(&arena.memory_bytes()));
    }
}

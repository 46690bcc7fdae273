//! Memory for many byte strings that grow at the same time: pages, cut into slices.
//!
//! A string belongs to a key. What is known of it, its head, lies before the key, and it begins behind
//! that: so long as it is short, one or two lines of the processor's cache hold all three. It is a chain
//! of slices, each twice as long as the one before up to a limit; the last four bytes of a slice are the
//! address of the next one. Nothing is ever moved or freed one by one. Pages are not asked to be large ones of the
//! processor: what is far apart is prefetched, and to get large ones costs a virtual machine more than they save.
//!
//! ```text
//! head     four notes of whoever appends (4 bytes each); where the next byte goes (4), how many more the
//!          last slice takes (2), how long that is (2); the length of the key (2)
//! ```
//!
//! **Invariant.** [`Arena::memory_bytes`] is what heads, keys and strings take, including the room left in
//! their last slices; a page is allocated whole and never again.

use crate::lines;
use codes::prefetch::prefetch;
use memmap2::MmapMut;

const PAGE_BITS: u32 = 21;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
/// Addresses are 32 bits.
const PAGES_MAX: usize = 1 << (u32::BITS - PAGE_BITS);
const LINK_BYTES: usize = 4;
/// The first slice of a string without its link, and the longest.
const SLICE_BYTES_MIN: u16 = 8;
pub(crate) const SLICE_BYTES_MAX: u16 = 4096;
const HEAD_BYTES: usize = 26;
/// Heads begin at multiples of this, so that the first two notes are in one line.
const HEAD_STEP: usize = 8;

/// The head of a string: what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Zeros at first; the arena does not look at them.
    pub(crate) notes: [u32; 4],
    /// Where the next byte goes.
    next: u32,
    /// How many more bytes the last slice takes.
    room: u16,
    /// How long the last slice is.
    slice_bytes: u16,
    key_bytes: u16,
}

impl Head {
    #[inline]
    fn from_bytes(bytes: &[u8; HEAD_BYTES]) -> Head {
        let (fours, rest) = bytes.as_chunks::<4>();
        let [a, b, c, d] = fours[5];
        let four = |at: usize| u32::from_le_bytes(fours[at]);
        Head {
            notes: [four(0), four(1), four(2), four(3)],
            next: four(4),
            room: u16::from_le_bytes([a, b]),
            slice_bytes: u16::from_le_bytes([c, d]),
            key_bytes: u16::from_le_bytes([rest[0], rest[1]]),
        }
    }

    #[inline]
    fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        let (fours, rest) = bytes.as_chunks_mut::<4>();
        let halves = u32::from(self.room) | u32::from(self.slice_bytes) << 16;
        let [a, b, c, d] = self.notes;
        for (four, n) in fours.iter_mut().zip([a, b, c, d, self.next, halves]) {
            *four = n.to_le_bytes();
        }
        rest.copy_from_slice(&self.key_bytes.to_le_bytes());
        bytes
    }

    /// The address of the key, that of the head being `at`.
    fn key_at(at: u32) -> u32 {
        behind(at, HEAD_BYTES)
    }
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

    /// Stores a key of less than 2¹⁶ bytes and begins an empty string; where its head is, or `None` when
    /// addresses run out.
    pub(crate) fn begin(&mut self, key: &[u8]) -> Option<u32> {
        let slice_bytes = SLICE_BYTES_MIN;
        let key_bytes = u16::try_from(key.len()).expect("the term was checked");
        self.taken = self.taken.next_multiple_of(HEAD_STEP);
        let bytes = HEAD_BYTES + key.len() + usize::from(slice_bytes) + LINK_BYTES;
        let at = self.allocate(bytes)?;
        self.slice_mut(Head::key_at(at), key.len()).copy_from_slice(key);
        let next = behind(Head::key_at(at), key.len());
        let head = Head { notes: [0; 4], next, room: slice_bytes, slice_bytes, key_bytes };
        self.set_head(at, head);
        Some(at)
    }

    /// The head at an address.
    #[inline]
    pub(crate) fn head(&self, at: u32) -> Head {
        let bytes = self.slice(at, HEAD_BYTES).first_chunk().expect("as many as were asked for");
        Head::from_bytes(bytes)
    }

    #[inline]
    pub(crate) fn set_head(&mut self, at: u32, head: Head) {
        self.slice_mut(at, HEAD_BYTES).copy_from_slice(&head.to_bytes());
    }

    /// The first two notes of the head at an address, the least byte of each first.
    #[inline]
    pub(crate) fn notes_mut(&mut self, at: u32) -> &mut [[u8; 4]; 2] {
        let notes = self.slice_mut(at, 8).as_chunks_mut().0;
        notes.first_chunk_mut().expect("as many as were asked for")
    }

    /// The key of the head at an address.
    #[inline]
    pub(crate) fn key(&self, at: u32) -> &[u8] {
        let [low, high] =
            *self.slice(at, HEAD_BYTES).last_chunk().expect("as many as were asked for");
        self.slice(Head::key_at(at), usize::from(u16::from_le_bytes([low, high])))
    }

    /// Asks for the head at an address, which is wanted soon.
    #[inline]
    pub(crate) fn prefetch(&self, at: u32) {
        prefetch(&self.pages[(at >> PAGE_BITS) as usize], at as usize % PAGE_BYTES);
    }

    /// Asks for the head at an address and for the bytes from there on of its key, if it has as many.
    #[inline]
    pub(crate) fn prefetch_key(&self, at: u32, from: usize) {
        self.prefetch(at);
        let page = &self.pages[(at >> PAGE_BITS) as usize];
        prefetch(page, at as usize % PAGE_BYTES + HEAD_BYTES + from);
    }

    /// Asks for the end of the string with the head at an address.
    #[inline]
    pub(crate) fn prefetch_end(&self, at: u32) {
        self.prefetch(self.head(at).next);
    }

    /// Asks for the slice of a string that so many others come before, if there is such; with the first, for its head.
    /// What comes before should be at hand.
    #[inline]
    pub(crate) fn prefetch_slice(&self, at: u32, before: u32) {
        if before == 0 {
            // Head, key and first slice are in one line or two.
            return self.prefetch_key(at, 16);
        }
        let head = self.head(at);
        let last = head.next + u32::from(head.room) - u32::from(head.slice_bytes);
        let mut slice = behind(Head::key_at(at), usize::from(head.key_bytes));
        let mut slice_bytes = SLICE_BYTES_MIN;
        for _ in 0..before {
            if slice == last {
                return;
            }
            let link = self.slice(behind(slice, usize::from(slice_bytes)), LINK_BYTES);
            slice = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            slice_bytes = longer(slice_bytes);
        }
        self.prefetch(slice);
    }

    /// Puts a number below 2³⁵ at the end of a string, as a vbyte.
    #[inline]
    pub(crate) fn append(&mut self, head: &mut Head, n: u64) -> Option<()> {
        let (word, bytes) = codeword(n);
        self.append_word(head, word, bytes)
    }

    /// The same with two numbers.
    #[inline]
    pub(crate) fn append_two(&mut self, head: &mut Head, first: u64, second: u64) -> Option<()> {
        let ((word, bytes), (behind, more)) = (codeword(first), codeword(second));
        if bytes + more > 8 {
            self.append_word(head, word, bytes)?;
            return self.append_word(head, behind, more);
        }
        self.append_word(head, word | behind << (8 * bytes), bytes + more)
    }

    /// Puts the lowest bytes of a word, so many of them, at the end of a string.
    #[inline]
    fn append_word(&mut self, head: &mut Head, word: u64, bytes: u16) -> Option<()> {
        if head.room < 8 {
            return self.append_bytes(head, &word.to_le_bytes()[..usize::from(bytes)]);
        }
        // All eight at once; those behind the codeword are in the room that is left.
        self.slice_mut(head.next, 8).copy_from_slice(&word.to_le_bytes());
        head.next += u32::from(bytes);
        head.room -= bytes;
        Some(())
    }

    /// The string with the head at `at`, in its slices.
    pub(crate) fn slices(&self, at: u32) -> impl Iterator<Item = &[u8]> {
        let head = self.head(at);
        let last = head.next + u32::from(head.room) - u32::from(head.slice_bytes);
        let first = behind(Head::key_at(at), usize::from(head.key_bytes));
        let mut next = Some((first, SLICE_BYTES_MIN));
        std::iter::from_fn(move || {
            let (at, slice_bytes) = next?;
            if at == last {
                next = None;
                return Some(self.slice(at, usize::from(head.slice_bytes - head.room)));
            }
            let length = usize::from(slice_bytes);
            let (slice, link) = self.slice(at, length + LINK_BYTES).split_at(length);
            let link = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            next = Some((link, longer(slice_bytes)));
            self.prefetch(link);
            Some(slice)
        })
    }

    #[inline(never)]
    fn append_bytes(&mut self, head: &mut Head, mut bytes: &[u8]) -> Option<()> {
        loop {
            let room = u16::try_from(bytes.len()).map_or(head.room, |most| head.room.min(most));
            let (fits, rest) = bytes.split_at(usize::from(room));
            self.slice_mut(head.next, fits.len()).copy_from_slice(fits);
            head.next += u32::from(room);
            head.room -= room;
            if rest.is_empty() {
                return Some(());
            }
            bytes = rest;
            let slice_bytes = longer(head.slice_bytes);
            let link = self.allocate(usize::from(slice_bytes) + LINK_BYTES)?;
            self.slice_mut(head.next, LINK_BYTES).copy_from_slice(&link.to_le_bytes());
            head.next = link;
            (head.room, head.slice_bytes) = (slice_bytes, slice_bytes);
        }
    }

    fn allocate(&mut self, bytes: usize) -> Option<u32> {
        assert!(bytes <= PAGE_BYTES, "{bytes} bytes in a page");
        if self.pages.is_empty() || self.taken + bytes > PAGE_BYTES {
            if self.pages.len() == PAGES_MAX {
                return None;
            }
            self.pages.push(lines::zeros(PAGE_BYTES, false));
            self.taken = 0;
        }
        let at = ((self.pages.len() - 1) << PAGE_BITS) + self.taken;
        self.taken += bytes;
        u32::try_from(at).ok()
    }

    #[inline]
    fn slice(&self, at: u32, length: usize) -> &[u8] {
        let start = at as usize % PAGE_BYTES;
        &self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }

    #[inline]
    fn slice_mut(&mut self, at: u32, length: usize) -> &mut [u8] {
        let start = at as usize % PAGE_BYTES;
        &mut self.pages[(at >> PAGE_BITS) as usize][start..start + length]
    }
}

/// The address that lies so many bytes, less than a page, behind another.
fn behind(at: u32, bytes: usize) -> u32 {
    at + u32::try_from(bytes).expect("less than a page")
}

fn longer(slice_bytes: u16) -> u16 {
    (2 * slice_bytes).min(SLICE_BYTES_MAX)
}

/// The codeword of a number below 2³⁵ under [`codes::vbyte`], from the lowest byte up, and its length.
#[inline]
fn codeword(n: u64) -> (u64, u16) {
    debug_assert!(n < 1 << 35, "{n} has more than five bytes");
    let spread = n & 0x7f
        | (n & 0x7f << 7) << 1
        | (n & 0x7f << 14) << 2
        | (n & 0x7f << 21) << 3
        | (n & 0x7f << 28) << 4;
    let more = [1 << 7, 1 << 14, 1 << 21, 1 << 28].map(|least| u16::from(n >= least));
    let more = more.iter().sum::<u16>();
    (spread | 0x8080_8080_8080_8080 & ((1 << (8 * more)) - 1), more + 1)
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
    use codes::vbyte;

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
        let heads = keys.map(|key| arena.begin(key).unwrap());
        let mut model = vec![Vec::new(); heads.len()];
        for turn in 0..800_000_u64 {
            let which = usize::try_from(turn * turn % 5).unwrap();
            let n = (turn * 0x9e37_79b9) % (1 << (turn % 36)).min((1 << 35) - 1);
            let mut head = arena.head(heads[which]);
            assert_eq!(head.notes[2], u32::try_from(model[which].len()).unwrap());
            arena.append(&mut head, n).unwrap();
            vbyte::write(&mut model[which], n);
            if turn % 7 < 3 {
                arena.append_two(&mut head, n / 3, turn).unwrap();
                vbyte::write(&mut model[which], n / 3);
                vbyte::write(&mut model[which], turn);
            }
            head.notes[2] = u32::try_from(model[which].len()).unwrap();
            arena.set_head(heads[which], head);
            arena.notes_mut(heads[which])[1] = u32::try_from(turn).unwrap().to_le_bytes();
            assert_eq!(arena.head(heads[which]).notes[..2], [0, u32::try_from(turn).unwrap()]);
        }
        for ((key, at), expected) in keys.iter().zip(heads).zip(&model) {
            arena.prefetch_end(at);
            // Whatever is asked for, it stays inside.
            (0..3000).for_each(|n| arena.prefetch_slice(at, n));
            assert_eq!(arena.key(at), *key);
            let found: Vec<&[u8]> = arena.slices(at).collect();
            assert_eq!(&found.concat(), expected);
        }
        assert!(arena.pages.len() > 1, "an edge between pages is crossed");
        let room = model.iter().map(|bytes| bytes.len() + usize::from(SLICE_BYTES_MAX));
        let strings: usize = room.sum::<usize>() * 101 / 100;
        assert!((strings / 2..=strings).contains(&arena.memory_bytes()));
    }
}

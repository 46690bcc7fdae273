//! Memory for many byte strings that grow at the same time: pages, cut into slices.
//!
//! Each string belongs to a key. In memory, a head comes first, then the key, then the string. A short string, its
//! key and its head share one or two cache lines. A string is a chain of slices, each twice as long as the one
//! before, up to a limit. The last four bytes of a slice are the address of the next one. Nothing is moved or
//! freed individually. Huge pages are not requested: prefetching does their work, and obtaining them costs a
//! virtual machine more than they save.
//!
//! ```text
//! head     four notes of the appender (4 bytes each); address of the next byte (4), free bytes in the
//!          last slice (2), length of the last slice (2); length of the key (2)
//! ```
//!
//! **Invariant.** [`Arena::memory_bytes`] counts heads, keys and strings, including the free bytes of their last
//! slices. A page is allocated as a whole, and freed only with the arena.

use crate::build::cache_lines;
use codes::prefetch::prefetch;
use memmap2::MmapMut;

const PAGE_BITS: u32 = 21;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
/// Addresses are 32 bits.
const PAGES_MAX: usize = 1 << (u32::BITS - PAGE_BITS);
const LINK_BYTES: usize = 4;
/// Lengths of the first and the longest slice, without the link.
const SLICE_BYTES_MIN: u32 = 8;
pub(crate) const SLICE_BYTES_MAX: u32 = 4096;
const HEAD_BYTES: usize = 26;
/// Heads are aligned to this, so that the first two notes share a cache line.
const HEAD_STEP: usize = 8;
/// Offsets in a head: the last two notes, the end of the string, and the length of the key.
const LAST_NOTES_AT: usize = 8;
const END_AT: usize = 16;
const KEY_BYTES_AT: usize = 24;

/// The end of a string: the address of the next byte, the free bytes of the last slice and its length, from the
/// lowest bits up. One number, because a load of a number just stored in parts stalls the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End(u64);

impl End {
    /// The end of an empty slice of `slice_bytes` bytes.
    fn new(next: u32, slice_bytes: u32) -> End {
        End(u64::from(next) | u64::from(slice_bytes) << 32 | u64::from(slice_bytes) << 48)
    }

    #[inline]
    fn next(self) -> u32 {
        narrow(self.0)
    }

    #[inline]
    fn room(self) -> u32 {
        narrow(self.0 >> 32) & 0xffff
    }

    #[inline]
    fn slice_bytes(self) -> u32 {
        narrow(self.0 >> 48)
    }

    /// The end after `bytes` more bytes, which must fit into the last slice.
    #[inline]
    fn after(self, bytes: u32) -> End {
        End(self.0 + u64::from(bytes) - (u64::from(bytes) << 32))
    }

    /// The address of the last slice.
    fn last_slice(self) -> u32 {
        self.next() + self.room() - self.slice_bytes()
    }
}

/// The pages.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pages: Vec<MmapMut>,
    /// Bytes used in the last page.
    taken: usize,
}

impl Arena {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pages.len().saturating_sub(1) * PAGE_BYTES + self.taken
    }

    /// Stores a key of less than 2¹⁶ bytes and starts an empty string. Returns the address of its head, or `None`
    /// when addresses run out.
    pub(crate) fn begin(&mut self, key: &[u8]) -> Option<u32> {
        let slice_bytes = SLICE_BYTES_MIN;
        let key_bytes = u16::try_from(key.len()).expect("the term was checked");
        self.taken = self.taken.next_multiple_of(HEAD_STEP);
        let bytes = HEAD_BYTES + key.len() + slice_bytes as usize + LINK_BYTES;
        let at = self.allocate(bytes)?;
        self.slice_mut(key_at(at), key.len()).copy_from_slice(key);
        self.slice_mut(behind(at, KEY_BYTES_AT), 2).copy_from_slice(&key_bytes.to_le_bytes());
        let next = behind(key_at(at), key.len());
        self.set_end(at, [0; 2], End::new(next, slice_bytes));
        Some(at)
    }

    /// Returns the last two notes of the head at an address, initially zero, and the end of its string.
    #[inline]
    pub(crate) fn end(&self, at: u32) -> ([u32; 2], End) {
        let eights = self.slice(at, HEAD_BYTES).as_chunks().0;
        let [notes, end] = [LAST_NOTES_AT, END_AT].map(|at| u64::from_le_bytes(eights[at / 8]));
        let halves = [narrow(notes), narrow(notes >> 32)];
        (halves, End(end))
    }

    /// Sets the last two notes of the head at an address and the end of its string.
    #[inline]
    pub(crate) fn set_end(&mut self, at: u32, notes: [u32; 2], end: End) {
        let eights = self.slice_mut(at, HEAD_BYTES).as_chunks_mut().0;
        let notes = u64::from(notes[0]) | u64::from(notes[1]) << 32;
        eights[LAST_NOTES_AT / 8] = notes.to_le_bytes();
        eights[END_AT / 8] = end.0.to_le_bytes();
    }

    /// The first two notes of the head at an address, each in little-endian order.
    #[inline]
    pub(crate) fn notes_mut(&mut self, at: u32) -> &mut [[u8; 4]; 2] {
        let notes = self.slice_mut(at, 8).as_chunks_mut().0;
        notes.first_chunk_mut().expect("as many as were asked for")
    }

    /// The key of the head at an address.
    #[inline]
    pub(crate) fn key(&self, at: u32) -> &[u8] {
        self.slice(key_at(at), self.key_bytes(at))
    }

    #[inline]
    fn key_bytes(&self, at: u32) -> usize {
        let head = self.slice(at, HEAD_BYTES);
        usize::from(u16::from_le_bytes(*head.last_chunk().expect("as many as were asked for")))
    }

    /// Prefetches the head at an address.
    #[inline]
    pub(crate) fn prefetch(&self, at: u32) {
        prefetch(&self.pages[(at >> PAGE_BITS) as usize], at as usize % PAGE_BYTES);
    }

    /// Prefetches the head at an address and its key from offset `from`.
    #[inline]
    pub(crate) fn prefetch_key(&self, at: u32, from: usize) {
        self.prefetch(at);
        let page = &self.pages[(at >> PAGE_BITS) as usize];
        prefetch(page, at as usize % PAGE_BYTES + HEAD_BYTES + from);
    }

    /// Prefetches the end of the string whose head is at an address.
    #[inline]
    pub(crate) fn prefetch_end(&self, at: u32) {
        self.prefetch(self.end(at).1.next());
    }

    /// Prefetches the slice after the first `before` slices of a string, if it exists. Slice 0 includes the head.
    /// The slices before it should be in the cache.
    #[inline]
    pub(crate) fn prefetch_slice(&self, at: u32, before: u32) {
        if before == 0 {
            // Head, key and first slice are in one line or two.
            return self.prefetch_key(at, 16);
        }
        let last = self.end(at).1.last_slice();
        let mut slice = behind(key_at(at), self.key_bytes(at));
        let mut slice_bytes = SLICE_BYTES_MIN;
        for _ in 0..before {
            if slice == last {
                return;
            }
            let link = self.slice(slice + slice_bytes, LINK_BYTES);
            slice = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            slice_bytes = longer(slice_bytes);
        }
        self.prefetch(slice);
    }

    /// Appends a codeword to a string. Returns the new end.
    #[inline]
    pub(crate) fn append(&mut self, end: End, (word, bytes): Codeword) -> Option<End> {
        if end.room() < 8 {
            return self.append_across(end, word, bytes);
        }
        // Write all eight bytes; those after the codeword fall into free room.
        self.slice_mut(end.next(), 8).copy_from_slice(&word.to_le_bytes());
        Some(end.after(bytes))
    }

    /// Appends two codewords to a string. Returns the new end.
    #[inline]
    pub(crate) fn append_two(
        &mut self,
        end: End,
        (word, bytes): Codeword,
        (behind, more): Codeword,
    ) -> Option<End> {
        if bytes + more > 8 {
            let end = self.append(end, (word, bytes))?;
            return self.append(end, (behind, more));
        }
        self.append(end, (word | behind << (8 * bytes), bytes + more))
    }

    /// The slices of the string whose head is at `at`.
    pub(crate) fn slices(&self, at: u32) -> impl Iterator<Item = &[u8]> {
        let (_, end) = self.end(at);
        let first = behind(key_at(at), self.key_bytes(at));
        let mut next = Some((first, SLICE_BYTES_MIN));
        std::iter::from_fn(move || {
            let (at, slice_bytes) = next?;
            if at == end.last_slice() {
                next = None;
                return Some(self.slice(at, (end.slice_bytes() - end.room()) as usize));
            }
            let length = slice_bytes as usize;
            let (slice, link) = self.slice(at, length + LINK_BYTES).split_at(length);
            let link = u32::from_le_bytes([link[0], link[1], link[2], link[3]]);
            next = Some((link, longer(slice_bytes)));
            self.prefetch(link);
            Some(slice)
        })
    }

    /// [`Arena::append`] when the codeword may need a new slice.
    #[inline(never)]
    fn append_across(&mut self, end: End, word: u64, bytes: u32) -> Option<End> {
        let word = word.to_le_bytes();
        let (fits, rest) = word[..bytes as usize].split_at(end.room().min(bytes) as usize);
        self.slice_mut(end.next(), fits.len()).copy_from_slice(fits);
        if rest.is_empty() {
            return Some(end.after(bytes));
        }
        let slice_bytes = longer(end.slice_bytes());
        let link = self.allocate(slice_bytes as usize + LINK_BYTES)?;
        self.slice_mut(end.next() + end.room(), LINK_BYTES).copy_from_slice(&link.to_le_bytes());
        self.slice_mut(link, rest.len()).copy_from_slice(rest);
        Some(End::new(link, slice_bytes).after(bytes - end.room()))
    }

    fn allocate(&mut self, bytes: usize) -> Option<u32> {
        assert!(bytes <= PAGE_BYTES, "{bytes} bytes in a page");
        if self.pages.is_empty() || self.taken + bytes > PAGE_BYTES {
            if self.pages.len() == PAGES_MAX {
                return None;
            }
            self.pages.push(cache_lines::zeros(PAGE_BYTES, false));
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

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn narrow(n: u64) -> u32 {
    n as u32
}

/// The address `bytes` bytes after another; `bytes` must be less than a page.
fn behind(at: u32, bytes: usize) -> u32 {
    at + u32::try_from(bytes).expect("less than a page")
}

/// The address of the key whose head is at `at`.
fn key_at(at: u32) -> u32 {
    behind(at, HEAD_BYTES)
}

fn longer(slice_bytes: u32) -> u32 {
    (2 * slice_bytes).min(SLICE_BYTES_MAX)
}

/// A codeword of [`codes::vbyte`], from the lowest byte up, and its length.
pub(crate) type Codeword = (u64, u32);

/// The codeword of a number below 2³⁵.
#[inline]
pub(crate) fn codeword(n: u64) -> Codeword {
    debug_assert!(n < 1 << 35, "{n} has more than five bytes");
    let spread = n & 0x7f
        | (n & 0x7f << 7) << 1
        | (n & 0x7f << 14) << 2
        | (n & 0x7f << 21) << 3
        | (n & 0x7f << 28) << 4;
    with_length(spread, n)
}

/// Returns whether the processor has the instructions of [`codeword_wide`]. Some processors with BMI2 have a slow
/// PDEP (AMD before Zen 3); none of these has VAES.
#[cfg(target_arch = "x86_64")]
pub(crate) fn spreads_bits() -> bool {
    is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("vaes")
}

/// The codeword of a number below 2³⁵, computed with PDEP.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,lzcnt")]
#[inline]
pub(crate) fn codeword_wide(n: u64) -> Codeword {
    debug_assert!(n < 1 << 35, "{n} has more than five bytes");
    with_length(std::arch::x86_64::_pdep_u64(n, 0x7f_7f7f_7f7f), n)
}

/// Completes a codeword from its spread bits: adds the continuation marks and the length.
#[inline]
fn with_length(spread: u64, n: u64) -> Codeword {
    // (bits - 1) / 7 for up to 34: 37 / 256 is about a seventh.
    let more = ((n | 1).ilog2() * 37) >> 8;
    (spread | 0x8080_8080_8080_8080 & ((1 << (8 * more)) - 1), more + 1)
}

/// Decodes the codeword, of at most five bytes, at the start of `word`. Returns the number and the codeword's length.
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
    fn codewords_match_vbyte() {
        let edges = (0..=34).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1, (1 << bits) + 1]);
        for n in edges.chain((0..10_000).map(|i| i * 3_435_973)) {
            let mut expected = Vec::new();
            vbyte::write(&mut expected, n);
            let (word, bytes) = codeword(n);
            #[cfg(target_arch = "x86_64")]
            if spreads_bits() {
                // SAFETY: the processor has these instructions.
                #[expect(unsafe_code, reason = "calls a function compiled for more CPU features")]
                let wide = unsafe { codeword_wide(n) };
                assert_eq!(wide, (word, bytes), "{n}");
            }
            assert_eq!(&word.to_le_bytes()[..bytes as usize], expected, "{n}");
            assert_eq!(word.checked_shr(8 * bytes).unwrap_or(0), 0, "{n}");
            for behind in [0, u64::MAX] {
                let mixed = word | behind << (8 * bytes);
                assert_eq!(number(mixed), (n, bytes as usize), "{n}");
            }
        }
    }

    #[test]
    fn interleaved_appends_match_vectors() {
        let mut arena = Arena::default();
        let keys = ["", "k", "another key", "é", "x"].map(str::as_bytes);
        let heads = keys.map(|key| arena.begin(key).unwrap());
        let mut model = vec![Vec::new(); heads.len()];
        for turn in 0..800_000_u64 {
            let which = usize::try_from(turn * turn % 5).unwrap();
            let n = (turn * 0x9e37_79b9) % (1 << (turn % 36)).min((1 << 35) - 1);
            let ([length, _], mut end) = arena.end(heads[which]);
            assert_eq!(length as usize, model[which].len());
            end = arena.append(end, codeword(n)).unwrap();
            vbyte::write(&mut model[which], n);
            if turn % 7 < 3 {
                end = arena.append_two(end, codeword(n / 3), codeword(turn)).unwrap();
                vbyte::write(&mut model[which], n / 3);
                vbyte::write(&mut model[which], turn);
            }
            let notes = [model[which].len() as u64, turn].map(|n| u32::try_from(n).unwrap());
            arena.set_end(heads[which], notes, end);
            assert_eq!(arena.end(heads[which]).0, notes);
            assert_eq!(arena.notes_mut(heads[which])[0], [0; 4]);
            arena.notes_mut(heads[which])[1] = notes[1].to_le_bytes();
            assert_eq!(arena.end(heads[which]).0, notes);
        }
        for ((key, at), expected) in keys.iter().zip(heads).zip(&model) {
            arena.prefetch_end(at);
            // Any slice number stays in bounds.
            (0..3000).for_each(|n| arena.prefetch_slice(at, n));
            assert_eq!(arena.key(at), *key);
            let found: Vec<&[u8]> = arena.slices(at).collect();
            assert_eq!(&found.concat(), expected);
        }
        assert!(arena.pages.len() > 1, "an edge between pages is crossed");
        let room = model.iter().map(|bytes| bytes.len() + SLICE_BYTES_MAX as usize);
        let strings: usize = room.sum::<usize>() * 101 / 100;
        assert!((strings / 2..=strings).contains(&arena.memory_bytes()));
    }
}

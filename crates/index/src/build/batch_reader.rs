//! Decodes the strings of a batch: the documents of a term, and the distances of its positions.
//!
//! A string is codewords of [`codes::vbyte`] for numbers below 2³³. An odd number, 2 × gap + 1, begins a document;
//! the gap is the number of documents since the previous one. An even number, 2 × distance, is an occurrence in
//! it.
//!
//! Up to 64 bytes are decoded at a time, without a data-dependent branch. The highest bits of the bytes give the
//! ends of the codewords. Each number is written to both outputs, and only the right one advances.
//!
//! On corrupt bytes, decoding does not panic.

use crate::build::arena;

/// Largest number of bytes, and of numbers, decoded at a time.
pub(crate) const STEP: usize = 64;
/// Bytes read after them.
const BEHIND: usize = 8;
/// The rest of earlier slices, the longest slice, and the bytes read after it.
pub(crate) const TAKEN_BYTES: usize = STEP + arena::SLICE_BYTES_MAX as usize + STEP + BEHIND;

#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// The gap of each document that begins here, and the number of distances before it.
    docs: [(u32, u32); STEP],
    doc_count: usize,
    distances: [u32; STEP],
    distance_count: usize,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { docs: [(0, 0); STEP], doc_count: 0, distances: [0; STEP], distance_count: 0 }
    }
}

impl Numbers {
    #[inline]
    pub(crate) fn docs(&self) -> &[(u32, u32)] {
        &self.docs[..self.doc_count]
    }

    #[inline]
    pub(crate) fn distances(&self) -> &[u32] {
        &self.distances[..self.distance_count]
    }

    /// Decodes the codewords that end in the first `valid` bytes. Returns how many bytes they take.
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls a function compiled for more CPU features")
    )]
    fn decode(&mut self, bytes: &[u8; STEP + BEHIND], valid: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if has_wide() {
            // SAFETY: the processor has these instructions.
            return unsafe { self.decode_wide(bytes, valid) };
        }
        self.decode_anyhow(bytes, valid)
    }

    fn decode_anyhow(&mut self, bytes: &[u8; STEP + BEHIND], valid: usize) -> usize {
        let (mut at, mut docs, mut distances) = (0, 0, 0);
        while at < valid.min(STEP) {
            let (n, length) = arena::number(eight(bytes, at));
            if at + length > valid.min(STEP) {
                break;
            }
            let value = low(n >> 1);
            if n & 1 == 1 {
                self.docs[docs] = (value, low(distances as u64));
                docs += 1;
            } else {
                self.distances[distances] = value;
                distances += 1;
            }
            at += length;
        }
        (self.doc_count, self.distance_count) = (docs, distances);
        at
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    #[expect(unsafe_code, reason = "64 bytes are read at once; bench/index")]
    fn decode_wide(&mut self, bytes: &[u8; STEP + BEHIND], valid: usize) -> usize {
        use std::arch::x86_64::{
            _bzhi_u64, _mm512_loadu_si512, _mm512_movepi8_mask, _pext_u64, _tzcnt_u64,
        };
        // SAFETY: there are more than 64 bytes, which need not be aligned.
        let wide = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let mut ends = _bzhi_u64(!_mm512_movepi8_mask(wide), low(valid.min(STEP) as u64));
        let (mut start, mut docs, mut distances) = (0, 0, 0);
        while ends != 0 {
            let end = _tzcnt_u64(ends) + 1;
            ends &= ends - 1;
            let code = _bzhi_u64(eight(bytes, narrow(start)), low(8 * (end - start)));
            start = end;
            // Extract seven bits of each byte, without the lowest bit of the number.
            let value = low(_pext_u64(code, 0x7f_7f7f_7f7e));
            let is_doc = narrow(code & 1);
            // There are at most as many numbers as ends.
            self.docs[docs % STEP] = (value, low(distances as u64));
            self.distances[distances % STEP] = value;
            docs += is_doc;
            distances += 1 - is_doc;
        }
        (self.doc_count, self.distance_count) = (docs, distances);
        narrow(start)
    }
}

/// Returns whether the processor has the instructions of [`Numbers::decode_wide`].
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_wide() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

/// A string in slices.
pub(crate) struct BatchReader<'a, S> {
    slices: S,
    /// Bytes copied from the slices; those from `at` to `end` are not decoded yet.
    taken: &'a mut [u8; TAKEN_BYTES],
    at: usize,
    end: usize,
    is_over: bool,
}

impl<'a, 's, S: Iterator<Item = &'s [u8]>> BatchReader<'a, S> {
    /// `taken` may have any contents.
    pub(crate) fn new(slices: S, taken: &'a mut [u8; TAKEN_BYTES]) -> Self {
        BatchReader { slices, taken, at: 0, end: 0, is_over: false }
    }

    /// Decodes the next numbers. Returns `false` at the end.
    #[inline]
    pub(crate) fn next(&mut self, numbers: &mut Numbers) -> bool {
        if self.end - self.at < STEP && !self.is_over {
            self.take();
        }
        let Some(bytes) = self.taken[self.at..].first_chunk() else { return false };
        let used = numbers.decode(bytes, self.end - self.at);
        self.at += used;
        used > 0
    }

    /// Copies slices until there is enough, or no slice is left.
    #[inline(never)]
    fn take(&mut self) {
        self.taken.copy_within(self.at..self.at + STEP, 0);
        (self.at, self.end) = (0, self.end - self.at);
        while self.end < STEP {
            let Some(slice) = self.slices.next() else {
                self.is_over = true;
                return;
            };
            let end = self.end + slice.len();
            self.taken[self.end..end].copy_from_slice(slice);
            self.end = end;
        }
    }
}

/// The eight bytes from `at` on, as a number.
#[inline]
fn eight(bytes: &[u8; STEP + BEHIND], at: usize) -> u64 {
    let eight = bytes[at % STEP..].first_chunk().expect("there are eight behind each");
    u64::from_le_bytes(*eight)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn low(n: u64) -> u32 {
    n as u32
}

/// A number that fits into a byte.
#[inline]
#[cfg(target_arch = "x86_64")]
fn narrow(n: u64) -> usize {
    usize::from(n.to_le_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use codes::vbyte;

    fn decoded(
        bytes: &[u8; STEP + BEHIND],
        valid: usize,
        decode: impl Fn(&mut Numbers, &[u8; STEP + BEHIND], usize) -> usize,
    ) -> (usize, Vec<(u32, u32)>, Vec<u32>) {
        let mut numbers = Numbers::default();
        let used = decode(&mut numbers, bytes, valid);
        (used, numbers.docs().to_vec(), numbers.distances().to_vec())
    }

    /// Codewords of all lengths up to five, cut off anywhere, followed by any bytes.
    #[test]
    fn both_decoders_agree() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        for round in 0..40_000 {
            let mut string = Vec::new();
            while string.len() < STEP + BEHIND {
                let n = u64::from(random()) << 9 | u64::from(random()) & 0x1ff;
                vbyte::write(&mut string, n >> [0, 6, 13, 20, 27, 30, 32][random() as usize % 7]);
            }
            if round % 2 == 0 {
                string[STEP..].fill(0xff);
            }
            let bytes = string.first_chunk().unwrap();
            let lengths = [0, 1, 2, 4, 5, 6, 15, 16, 17, 62, 63, 64, 65, 1000];
            for valid in lengths.into_iter().chain([random() as usize % 70]) {
                let plain = decoded(bytes, valid, Numbers::decode_anyhow);
                assert_eq!(decoded(bytes, valid, Numbers::decode), plain, "{valid} of {string:?}");
                let mut rest = &string[..plain.0];
                let mut count = [0; 2];
                while let Some(n) = vbyte::read(&mut rest) {
                    let value = low(n >> 1);
                    if n & 1 == 1 {
                        assert_eq!(plain.1[count[0]], (value, low(count[1] as u64)));
                        count[0] += 1;
                    } else {
                        assert_eq!(plain.2[count[1]], value);
                        count[1] += 1;
                    }
                }
                assert_eq!(count, [plain.1.len(), plain.2.len()]);
                let left = valid.min(STEP) - plain.0;
                assert!(string[plain.0..plain.0 + left].iter().all(|byte| byte & 0x80 != 0));
            }
        }
    }

    /// Strings of all lengths around a step and a slice, in slices of any length.
    #[test]
    fn strings_split_over_slices_are_read_whole() {
        for count in (0..200).chain([2000, 4000, 9000]) {
            for slice_bytes in [1, 8, 63, 64, 65, 4096] {
                let (mut string, mut docs, mut distances) = (Vec::new(), Vec::new(), Vec::new());
                for n in 0..count {
                    let value = n * n * 0x9e37 % (1 << (n % 33));
                    vbyte::write(&mut string, value << 1 | u64::from(n % 3 == 0));
                    if n % 3 == 0 { docs.push(low(value)) } else { distances.push(low(value)) }
                }
                let mut taken = Box::new([0xff; TAKEN_BYTES]);
                let mut strings = BatchReader::new(string.chunks(slice_bytes), &mut taken);
                let (mut numbers, mut found) = (Numbers::default(), (Vec::new(), Vec::new()));
                while strings.next(&mut numbers) {
                    found.0.extend(numbers.docs().iter().map(|&(gap, _)| gap));
                    found.1.extend_from_slice(numbers.distances());
                }
                assert_eq!(found, (docs, distances), "{count} numbers, {slice_bytes} bytes");
            }
        }
    }
}

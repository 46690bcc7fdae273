//! [`Model`]: numbers of 32 bits under rANS.
//!
//! A number is split into a bucket, which is coded by its frequency, and lower bits, which are stored. Numbers
//! below 16 are buckets of their own without lower bits. The bucket of a greater number is its three highest bits
//! and the count of the other bits. There are 128 buckets. Each has at least one slot, so every model can code
//! every number. A model is shared by many blocks and stored separately: [`Model::save`].
//!
//! The numbers of a block are coded from last to first, and read from first to last:
//!
//! | bytes | |
//! |---|---|
//! | prefix vbyte | for less than 512 numbers: twice the state if there are no words, otherwise twice the number of words plus one |
//! | prefix vbyte | the state, if there are words |
//! | prefix vbyte | for 512 numbers or more: the number of words |
//! | 4 · 4 | four states, little-endian; number *i* uses state *i* mod 4 |
//! | 2 each | words: the low 16 bits of a state that would have exceeded 32 bits, little-endian |
//! | any | the lower bits of the numbers, lowest first, padded to a whole byte |
//!
//! A single state starts from 0 and takes only the bits that the symbols need, so short lists stay short. It reads
//! a word when it is below 2¹⁶ and a word is left. Four states start from 2¹⁶ and are never less. They are
//! independent of each other, which makes long blocks fast.
//!
//! **Invariant.** After a valid block, the states are back at their start, and all words and lower bits are used
//! up. Any other block is refused. On any bytes: no panic.

use crate::fixed::eight;
use crate::rans::Frequencies;
use crate::{Bits, Code as _, Delta, Histogram, Reader, prefix_vbyte};

/// Blocks of at least this size have four states.
pub const INTERLEAVED_MIN: usize = 512;

/// The greatest class of [`Model::lomax`].
pub const LOMAX_CLASS_MAX: u8 = 63;

/// 2¹² slots.
const BITS: u32 = 12;
const SLOTS: usize = 1 << BITS;
/// Numbers below this are buckets of their own.
const DIRECT: u32 = 16;
const BUCKETS: usize = 128;
/// Lower bound of states, except of a single state without words.
const LOW: u32 = 1 << 16;

/// Frequencies of the buckets of numbers.
#[derive(Debug, Clone)]
pub struct Model {
    frequencies: Frequencies,
    /// For each slot: the frequency of its bucket less one, its index in the bucket (12 bits each, from the
    /// lowest), and the bucket.
    slots: Box<[u32; SLOTS]>,
    /// Cost of each bucket, in units of 2⁻¹⁶ bits.
    costs: Box<[u32; BUCKETS]>,
}

impl Model {
    /// The model of the counted numbers.
    #[expect(clippy::missing_panics_doc, reason = "there are more slots than buckets")]
    pub fn new(histogram: &Histogram) -> Self {
        let mut weights = [0; BUCKETS];
        for (n, count) in histogram.iter() {
            weights[bucket(n).0] += count;
        }
        // Exactly one slot for every bucket that does not occur.
        let weights = weights.map(|weight: u64| weight.saturating_mul(1 << 16).max(1));
        let frequencies = Frequencies::quantise(&weights, BITS).expect("more slots than buckets");
        Self::of(frequencies)
    }

    /// The model of a Lomax distribution, P(*N* ≥ *n*) = (σ / (*n* + σ))². Its mean is σ = 2^(`class` / 2 – 4).
    /// The model is the same on every machine.
    #[expect(clippy::missing_panics_doc, reason = "there are more slots than buckets")]
    pub fn lomax(class: u8) -> Self {
        // σ in sixteenths; 181 / 128 approximates √2.
        let class = class.min(LOMAX_CLASS_MAX);
        let half = class / 2;
        let sigma = if class.is_multiple_of(2) { 1 << half } else { (181_u128 << half) / 128 };
        let at_least = |n: u64| ((sigma * sigma) << 48) / (16 * u128::from(n) + sigma).pow(2);
        let weights: Vec<u64> = FIRST
            .iter()
            .map(|&(least, lower)| {
                let from = u64::from(least);
                let weight = at_least(from) - at_least(from + (1 << lower));
                u64::try_from(weight).expect("at most 2^48").max(1)
            })
            .collect();
        Self::of(Frequencies::quantise(&weights, BITS).expect("more slots than buckets"))
    }

    fn of(frequencies: Frequencies) -> Self {
        let mut slots = Box::new([0; SLOTS]);
        let mut next = slots.iter_mut();
        for (&frequency, bucket) in frequencies.slots.iter().zip(0..) {
            for (slot, place) in next.by_ref().take(frequency as usize).zip(0_u32..) {
                *slot = (frequency - 1) | place << BITS | bucket << (2 * BITS);
            }
        }
        let costs = std::array::from_fn(|bucket| (BITS << 16) - log2(frequencies.slots[bucket]));
        Self { frequencies, slots, costs: Box::new(costs) }
    }

    /// Cost of a number in bits: –log₂ of its probability.
    pub fn bits(&self, n: u32) -> f64 {
        let (bucket, lower) = bucket(n);
        f64::from(lower) + f64::from(self.costs[bucket]) / f64::from(1 << 16)
    }

    /// Cost of a number in units of 2⁻¹⁶ bits, computed with integers.
    #[inline]
    pub fn cost(&self, n: u32) -> u64 {
        let (bucket, lower) = bucket(n);
        (u64::from(lower) << 16) + u64::from(self.costs[bucket])
    }

    /// Appends the model: the frequencies, less one, in [`Delta`], padded to a whole byte.
    pub fn save(&self, out: &mut Vec<u8>) {
        let mut bits = Bits::default();
        for &frequency in &self.frequencies.slots {
            Delta.write(&mut bits, u64::from(frequency - 1));
        }
        out.extend_from_slice(bits.as_bytes());
    }

    /// Reads a saved model and advances `input`. Returns `None`, and leaves `input` unchanged, if the bytes are
    /// invalid.
    pub fn load(input: &mut &[u8]) -> Option<Self> {
        let mut reader = Reader::new(input);
        let (mut frequencies, mut left) = (Vec::with_capacity(BUCKETS), 1 << BITS);
        for _ in 0..BUCKETS {
            let frequency = u32::try_from(Delta.read(&mut reader)?).ok()?.checked_add(1)?;
            left = u32::checked_sub(left, frequency)?;
            frequencies.push(frequency);
        }
        let rest = &input[reader.position().div_ceil(8)..];
        let model = (left == 0).then(|| Self::of(Frequencies::new(frequencies, BITS)))?;
        *input = rest;
        Some(model)
    }

    /// Appends `numbers` as one block.
    pub fn write(&self, numbers: &[u32], out: &mut Vec<u8>) {
        if numbers.is_empty() {
            return;
        }
        let interleaved = numbers.len() >= INTERLEAVED_MIN;
        let mut states = if interleaved { [LOW; 4] } else { [0; 4] };
        let mut words = Vec::new();
        for (at, &n) in numbers.iter().enumerate().rev() {
            let state = &mut states[if interleaved { at % 4 } else { 0 }];
            self.push(state, bucket(n).0, &mut words);
        }
        let (word_count, state) = (words.len() as u64, u64::from(states[0]));
        if interleaved {
            prefix_vbyte::write(out, word_count);
            out.extend(states.iter().flat_map(|state| state.to_le_bytes()));
        } else if words.is_empty() {
            prefix_vbyte::write(out, 2 * state);
        } else {
            prefix_vbyte::write(out, 2 * word_count + 1);
            prefix_vbyte::write(out, state);
        }
        out.extend(words.iter().rev().flat_map(|word| word.to_le_bytes()));
        write_lower(numbers, out);
    }

    /// Pushes a bucket onto a state. Moves a word to the output before that if needed.
    fn push(&self, state: &mut u32, bucket: usize, words: &mut Vec<u16>) {
        let frequency = u64::from(self.frequencies.slots[bucket]);
        if u64::from(*state) >= frequency << (u32::BITS - BITS) {
            let [low @ .., _, _] = state.to_le_bytes();
            words.push(u16::from_le_bytes(low));
            *state >>= 16;
        }
        let pushed = self.frequencies.push(u64::from(*state), bucket);
        *state = pushed.and_then(|state| u32::try_from(state).ok()).expect("made small enough");
    }

    /// Reads a block that fills `out`, and advances `input`. Returns `None`, with `input` unchanged and anything
    /// in `out`, if the bytes are invalid.
    pub fn read(&self, input: &mut &[u8], out: &mut [u32]) -> Option<()> {
        if out.is_empty() {
            return Some(());
        }
        let mut rest = *input;
        let head = prefix_vbyte::read(&mut rest)?;
        if out.len() >= INTERLEAVED_MIN {
            let word_bytes = usize::try_from(head.checked_mul(2)?).ok()?;
            let (states, behind) = rest.split_first_chunk::<16>()?;
            let (words, lower) = behind.split_at_checked(word_bytes)?;
            let mut lower = Lower { bytes: lower, bit: 0 };
            self.read_four(states, words, &mut lower, out)?;
            rest = lower.finish()?;
        } else {
            let alone = head.is_multiple_of(2);
            let state = if alone { head / 2 } else { prefix_vbyte::read(&mut rest)? };
            let state = u32::try_from(state).ok()?;
            let word_bytes = if alone { 0 } else { usize::try_from(head - 1).ok()? };
            let (words, lower) = rest.split_at_checked(word_bytes)?;
            let mut lower = Lower { bytes: lower, bit: 0 };
            self.read_one(state, words, &mut lower, out)?;
            rest = lower.finish()?;
        }
        *input = rest;
        Some(())
    }

    fn read_one(
        &self,
        mut state: u32,
        mut words: &[u8],
        lower: &mut Lower<'_>,
        out: &mut [u32],
    ) -> Option<()> {
        for n in out {
            let bucket = self.pop(&mut state);
            if state < LOW
                && let Some((word, rest)) = words.split_first_chunk()
            {
                state = state << 16 | u32::from(u16::from_le_bytes(*word));
                words = rest;
            }
            *n = lower.read(bucket);
        }
        (state == 0 && words.is_empty()).then_some(())
    }

    fn read_four(
        &self,
        states: &[u8; 16],
        mut words: &[u8],
        lower: &mut Lower<'_>,
        out: &mut [u32],
    ) -> Option<()> {
        let (four, _) = states.as_chunks();
        let mut states = [0; 4];
        for (state, bytes) in states.iter_mut().zip(four) {
            *state = u32::from_le_bytes(*bytes);
        }
        let (groups, tail) = out.as_chunks_mut::<4>();
        for group in groups {
            self.read_group(&mut states, &mut words, lower, group)?;
        }
        self.read_group(&mut states, &mut words, lower, tail)?;
        (states == [LOW; 4] && words.is_empty()).then_some(())
    }

    /// Reads one number from each state, at most four.
    #[inline]
    fn read_group(
        &self,
        states: &mut [u32; 4],
        words: &mut &[u8],
        lower: &mut Lower<'_>,
        out: &mut [u32],
    ) -> Option<()> {
        let mut window = eight(words, 0);
        let mut used = 0;
        for (state, n) in states.iter_mut().zip(out) {
            let bucket = self.pop(state);
            let [first, second, ..] = window.to_le_bytes();
            let filled = *state << 16 | u32::from(u16::from_le_bytes([first, second]));
            // Branch-free: half of the branches would be mispredicted.
            let takes = *state < LOW;
            *state = if takes { filled } else { *state };
            window = if takes { window >> 16 } else { window };
            used += 2 * usize::from(takes);
            *n = lower.read(bucket);
        }
        *words = words.get(used..)?;
        Some(())
    }

    /// Pops a bucket off a state.
    #[inline]
    fn pop(&self, state: &mut u32) -> usize {
        let slot = self.slots[*state as usize % SLOTS];
        let (frequency, place) = (slot % (1 << BITS) + 1, slot >> BITS & ((1 << BITS) - 1));
        // Less than the frequency times 2^20: no overflow.
        *state = frequency * (*state >> BITS) + place;
        (slot >> (2 * BITS)) as usize % BUCKETS
    }
}

/// log₂ of a number from 1 to 2¹², in units of 2⁻¹⁶, rounded down. Computed bit by bit, by squaring.
fn log2(n: u32) -> u32 {
    let whole = n.max(1).ilog2();
    // A fixed-point number from 1 to 2, with 30 fractional bits.
    let mut rest = (u64::from(n.max(1)) << 30) >> whole;
    let mut log = whole;
    for _ in 0..16 {
        rest = (rest * rest) >> 30;
        let is_two = rest >> 31;
        rest >>= is_two;
        log = log << 1 | u32::from(is_two > 0);
    }
    log
}

/// The bucket of a number, and its number of lower bits.
#[inline]
fn bucket(n: u32) -> (usize, u32) {
    if n < DIRECT {
        return (n as usize, 0);
    }
    let lower = n.ilog2() - 2;
    (((lower - 2) * 4 + (n >> lower) + DIRECT - 4) as usize, lower)
}

/// The least number of each bucket, and the number of lower bits.
const FIRST: [(u32, u32); BUCKETS] = {
    let mut first = [(0, 0); BUCKETS];
    let mut bucket: u32 = 0;
    while (bucket as usize) < BUCKETS {
        first[bucket as usize] = if bucket < DIRECT {
            (bucket, 0)
        } else {
            let lower = (bucket - DIRECT) / 4 + 2;
            ((4 + (bucket - DIRECT) % 4) << lower, lower)
        };
        bucket += 1;
    }
    first
};

fn write_lower(numbers: &[u32], out: &mut Vec<u8>) {
    let (mut held, mut bits) = (0_u64, 0);
    for &n in numbers {
        let (bucket, lower) = bucket(n);
        held |= u64::from(n - FIRST[bucket].0) << bits;
        bits += lower;
        while bits >= 8 {
            out.push(held.to_le_bytes()[0]);
            held >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        out.push(held.to_le_bytes()[0]);
    }
}

/// A cursor over the lower bits.
struct Lower<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl<'a> Lower<'a> {
    /// Reads the lower bits of a number in `bucket`; zeros after the end.
    #[inline]
    fn read(&mut self, bucket: usize) -> u32 {
        let (first, lower) = FIRST[bucket];
        let window = eight(self.bytes, self.bit / 8) >> (self.bit % 8);
        self.bit += lower as usize;
        let [low @ .., _, _, _, _] = window.to_le_bytes();
        first + (u32::from_le_bytes(low) & ((1 << lower) - 1))
    }

    /// Returns the rest of the input if all bits were present and the padding is zero.
    fn finish(&self) -> Option<&'a [u8]> {
        let (used, rest) = self.bytes.split_at_checked(self.bit.div_ceil(8))?;
        let spare = used
            .last()
            .is_some_and(|last| !self.bit.is_multiple_of(8) && last >> (self.bit % 8) > 0);
        (!spare).then_some(rest)
    }
}

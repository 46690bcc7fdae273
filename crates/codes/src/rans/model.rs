//! [`Model`]: numbers of 32 bits under rANS.
//!
//! A number is a bucket, which is coded by its frequency, and lower bits, which are as they are:
//! numbers below 16 are buckets of their own, with no lower bits; of greater ones the bucket is the
//! three highest bits and how many follow. Those are 128 buckets, and each has a slot at least, so
//! that every number can be coded under every model. A model belongs to many blocks and is kept
//! apart from them: [`Model::save`].
//!
//! A block of *n* numbers is coded from the last to the first and read from the first to the last:
//!
//! | bytes | |
//! |---|---|
//! | prefix vbyte | of fewer than 512 numbers: twice the state, if there are no words; else twice the number of words and one |
//! | prefix vbyte | the state, if there are words |
//! | prefix vbyte | from 512 on: the number of words |
//! | 4 · 4 | four states, little-endian, of which number *i* uses *i* mod 4 |
//! | 2 a word | 16 bits that a state gave off because it would have outgrown 32, little-endian |
//! | any | the lower bits of the numbers, the lowest first, up to a whole byte |
//!
//! A single state starts from 0 and takes no more than the symbols need: short lists stay short. It
//! takes a word when it is below 2¹⁶ and there is one. Four states start from 2¹⁶ and are never less:
//! they do not wait for each other, which is what makes long blocks fast.
//!
//! **Invariant.** What was coded ends where it started: the states, the words and the lower bits are
//! used up, or the block is refused. On any bytes: no panic.

use crate::fixed::eight;
use crate::rans::Frequencies;
use crate::{Bits, Code as _, Delta, Histogram, Reader, prefix_vbyte};

/// From so many numbers on a block has four states.
pub const INTERLEAVED_MIN: usize = 512;

/// The greatest class of [`Model::lomax`].
pub const LOMAX_CLASS_MAX: u8 = 63;

/// 2¹² slots.
const BITS: u32 = 12;
const SLOTS: usize = 1 << BITS;
/// Numbers that are buckets of their own.
const DIRECT: u32 = 16;
const BUCKETS: usize = 128;
/// States are at least this, except the single one before its first word.
const LOW: u32 = 1 << 16;

/// Frequencies of the magnitudes of numbers.
#[derive(Debug, Clone)]
pub struct Model {
    frequencies: Frequencies,
    /// For each slot: the frequency of its bucket less one, its place among the slots of the bucket
    /// (12 bits each, from the lowest), and the bucket.
    slots: Box<[u32; SLOTS]>,
    /// What each bucket costs, in parts of 2⁻¹⁶ bits.
    costs: Box<[u32; BUCKETS]>,
}

impl Model {
    /// The model of numbers like those counted.
    #[expect(clippy::missing_panics_doc, reason = "there are more slots than buckets")]
    pub fn new(histogram: &Histogram) -> Self {
        let mut weights = [0; BUCKETS];
        for (n, count) in histogram.iter() {
            weights[bucket(n).0] += count;
        }
        // One slot for every bucket that does not occur, and not more.
        let weights = weights.map(|weight: u64| weight.saturating_mul(1 << 16).max(1));
        let frequencies = Frequencies::quantise(&weights, BITS).expect("more slots than buckets");
        Self::of(frequencies)
    }

    /// The model of numbers of a Lomax distribution, P(*N* ≥ *n*) = (σ / (*n* + σ))², where σ, which is
    /// also the mean, is 2 to the power of `class` / 2 – 4. It is the same on every machine.
    #[expect(clippy::missing_panics_doc, reason = "there are more slots than buckets")]
    pub fn lomax(class: u8) -> Self {
        // σ in sixteenths; 181 / 128 is the root of two.
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

    /// How many bits this model means a number to take: –log₂ of its intended probability.
    pub fn bits(&self, n: u32) -> f64 {
        let (bucket, lower) = bucket(n);
        f64::from(lower) + f64::from(self.costs[bucket]) / f64::from(1 << 16)
    }

    /// The same in parts of 2⁻¹⁶ bits, computed in whole numbers.
    #[inline]
    pub fn cost(&self, n: u32) -> u64 {
        let (bucket, lower) = bucket(n);
        (u64::from(lower) << 16) + u64::from(self.costs[bucket])
    }

    /// Appends the model itself: the frequencies, less one, in [`Delta`], up to a whole byte.
    pub fn save(&self, out: &mut Vec<u8>) {
        let mut bits = Bits::default();
        for &frequency in &self.frequencies.slots {
            Delta.write(&mut bits, u64::from(frequency - 1));
        }
        out.extend_from_slice(bits.as_bytes());
    }

    /// Reads a model that was saved, and advances `input` behind it; `None`, and `input` as it was,
    /// if the bytes are none.
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

    /// Pushes a bucket on a state, which gives off a word before if it has to.
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

    /// Reads one block of as many numbers as `out` holds, and advances `input` behind it. `None`,
    /// with `input` as it was and anything in `out`, if the bytes are no such block.
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

    /// Reads a number from each state, four at most.
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
            // Written so that no branch is needed: half of them would be foreseen wrongly.
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

/// log₂ of a number from 1 to 2¹², in parts of 2⁻¹⁶, rounded down: a bit at a time, by squaring.
fn log2(n: u32) -> u32 {
    let whole = n.max(1).ilog2();
    // From 1 to 2, with 30 digits behind the point.
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

/// The bucket of a number, and how many lower bits it has there.
#[inline]
fn bucket(n: u32) -> (usize, u32) {
    if n < DIRECT {
        return (n as usize, 0);
    }
    let lower = n.ilog2() - 2;
    (((lower - 2) * 4 + (n >> lower) + DIRECT - 4) as usize, lower)
}

/// The least number of each bucket, and how many lower bits it has.
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
    /// The number of `bucket` that has the next lower bits; zeros behind the end.
    #[inline]
    fn read(&mut self, bucket: usize) -> u32 {
        let (first, lower) = FIRST[bucket];
        let window = eight(self.bytes, self.bit / 8) >> (self.bit % 8);
        self.bit += lower as usize;
        let [low @ .., _, _, _, _] = window.to_le_bytes();
        first + (u32::from_le_bytes(low) & ((1 << lower) - 1))
    }

    /// What follows, if the bits were there and the rest of the last byte is zero.
    fn finish(&self) -> Option<&'a [u8]> {
        let (used, rest) = self.bytes.split_at_checked(self.bit.div_ceil(8))?;
        let spare = used
            .last()
            .is_some_and(|last| !self.bit.is_multiple_of(8) && last >> (self.bit % 8) > 0);
        (!spare).then_some(rest)
    }
}

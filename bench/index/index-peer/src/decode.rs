//! Every code on the numbers of a real index: bits a number, and nanoseconds to decode one.
//!
//! The numbers are blocks of 256 from all over the index, as many as stay in the cache of a processor.
//! What is left over at the end of lists is not among them. `bitpacking` is the crate that tantivy's
//! blocks are made with, called without anything around it: its widths lie apart.
//!
//! **Invariant.** Every code is given the same numbers, and what it decodes is compared with them
//! before the clock starts.

use std::hint::black_box;
use std::path::Path;

use bitpacking::{BitPacker as _, BitPacker4x};
use codes::pfor::Choice;
use codes::rans::Model;
use codes::{
    Bits, Code, Delta, Gamma, Golomb, Histogram, MinimalBinary, Reader, Unary, Zeta, packed, pfor,
    prefix_vbyte, vbyte,
};
use index::Field;
use serde_json::{Value, json};

use crate::measure::{cpu_s, fastest_ns};
use crate::{Result, crivello};

const COUNT: usize = 1 << 17;
const BLOCK: usize = 256;
const ROUNDS: usize = 7;
/// A round decodes again and again for about so long.
const ROUND_S: f64 = 0.02;
/// A code that needs more is not tried.
const BITS_EACH_MAX: u64 = 256;

/// A stream's numbers: one block of `every`.
struct Sample {
    every: usize,
    seen: usize,
    numbers: Vec<u32>,
}

impl Sample {
    fn of(total: u64) -> Self {
        let every = usize::try_from(total).unwrap_or(usize::MAX).div_ceil(COUNT).max(1);
        Self { every, seen: 0, numbers: Vec::new() }
    }

    fn add(&mut self, list: &[u32]) {
        for block in list.chunks_exact(BLOCK) {
            if self.seen.is_multiple_of(self.every) {
                self.numbers.extend_from_slice(block);
            }
            self.seen += 1;
        }
    }
}

pub(crate) fn measure(dir: &Path) -> Result<Value> {
    let index = crivello::open(dir)?;
    let segment = &index.segments()[0];
    let occurrences = Field::ALL.map(|field| segment.length_total(field)).iter().sum();
    let mut gaps = Sample::of(segment.posting_count());
    let mut frequencies = Sample::of(segment.posting_count());
    let mut positions = Sample::of(occurrences);
    segment.each_list(|list| {
        gaps.add(&list.gaps);
        frequencies.add(&list.frequencies);
        positions.add(&list.positions);
    })?;
    let mut figures = json!({});
    for (name, sample) in [("gaps", gaps), ("frequencies", frequencies), ("positions", positions)] {
        figures[name] = stream(&sample.numbers)?;
    }
    Ok(figures)
}

fn stream(numbers: &[u32]) -> Result<Value> {
    let mut histogram = Histogram::default();
    histogram.add(numbers);
    let mut table = Table { numbers, histogram: &histogram, rows: Vec::new() };
    table.blocks()?;
    table.bytes()?;
    table.bits("unary", &Unary)?;
    table.bits("gamma", &Gamma)?;
    table.bits("delta", &Delta)?;
    table.bits("zeta 3", &Zeta::new(3))?;
    table.bits("golomb", &Golomb::for_mean(histogram.mean()))?;
    table.bits("minimal binary", &MinimalBinary::new(u64::from(histogram.max()) + 1))?;
    let model = Model::new(&histogram);
    let mut coded = Vec::new();
    model.write(numbers, &mut coded);
    table.time("rANS", coded.len() * 8, |out| model.read(&mut &coded[..], out))?;
    let (count, entropy) = (histogram.count(), histogram.entropy());
    Ok(json!({ "numbers": count, "entropy": entropy, "codes": table.rows }))
}

/// The figures of one stream.
struct Table<'a> {
    numbers: &'a [u32],
    histogram: &'a Histogram,
    rows: Vec<Value>,
}

impl Table<'_> {
    fn blocks(&mut self) -> Result<()> {
        let mut coded = Vec::new();
        for block in self.numbers.as_chunks().0 {
            packed::write(block, &mut coded);
        }
        self.time("packed", coded.len() * 8, |out| {
            let mut input = &coded[..];
            out.as_chunks_mut().0.iter_mut().try_for_each(|block| packed::read(&mut input, block))
        })?;
        let by_share = ("pfor, 90 %", Choice::Coverage { percent: 90 });
        for (name, choice) in [by_share, ("pfor, optimum", Choice::Optimum)] {
            let mut coded = Vec::new();
            let blocks = self.numbers.chunks(pfor::BLOCK);
            blocks.for_each(|block| pfor::write(block, choice, &mut coded));
            self.time(name, coded.len() * 8, |out| {
                let mut input = &coded[..];
                out.chunks_mut(pfor::BLOCK).try_for_each(|block| pfor::read(&mut input, block))
            })?;
        }
        self.bitpacking()
    }

    fn bitpacking(&mut self) -> Result<()> {
        let packer = BitPacker4x::new();
        let (mut coded, mut widths) = (Vec::new(), Vec::new());
        for block in self.numbers.chunks(BitPacker4x::BLOCK_LEN) {
            let width = packer.num_bits(block);
            let start = coded.len();
            coded.resize(start + BitPacker4x::compressed_block_size(width), 0);
            packer.compress(block, &mut coded[start..], width);
            widths.push(width);
        }
        self.time("bitpacking 0.9.3", (coded.len() + widths.len()) * 8, |out| {
            let mut rest = &coded[..];
            for (block, &width) in out.chunks_mut(BitPacker4x::BLOCK_LEN).zip(&widths) {
                rest = &rest[packer.decompress(rest, block, width)..];
            }
            Some(())
        })
    }

    fn bytes(&mut self) -> Result<()> {
        let mut coded = Vec::new();
        self.numbers.iter().for_each(|&n| vbyte::write(&mut coded, u64::from(n)));
        self.time("vbyte", coded.len() * 8, |out| {
            let mut input = &coded[..];
            fill(out, || vbyte::read(&mut input))
        })?;
        let mut coded = Vec::new();
        self.numbers.iter().for_each(|&n| prefix_vbyte::write(&mut coded, u64::from(n)));
        self.time("prefix-vbyte", coded.len() * 8, |out| {
            let mut input = &coded[..];
            fill(out, || prefix_vbyte::read(&mut input))
        })
    }

    fn bits(&mut self, name: &str, code: &impl Code) -> Result<()> {
        if self.histogram.bits(code) > BITS_EACH_MAX * self.histogram.count() {
            return Ok(());
        }
        let mut bits = Bits::default();
        self.numbers.iter().for_each(|&n| code.write(&mut bits, u64::from(n)));
        self.time(name, bits.len(), |out| {
            let mut input = Reader::new(bits.as_bytes());
            fill(out, || code.read(&mut input))
        })
    }

    /// Checks what `decode` decodes, and times it.
    fn time(
        &mut self,
        name: &str,
        bits: usize,
        decode: impl Fn(&mut [u32]) -> Option<()>,
    ) -> Result<()> {
        let mut out = vec![0; self.numbers.len()];
        let begun = cpu_s();
        decode(&mut out).ok_or("what was coded cannot be decoded")?;
        let times = (ROUND_S / (cpu_s() - begun)).ceil().max(1.0);
        if out != self.numbers {
            return Err(format!("{name} does not decode what was coded").into());
        }
        let fastest = fastest_ns(ROUNDS, || {
            for _ in 0..times as usize {
                decode(black_box(&mut out));
                black_box(&out);
            }
        });
        let count = self.numbers.len() as f64;
        let (bits, ns) = (bits as f64 / count, fastest / times / count);
        self.rows.push(json!({ "code": name, "bits": bits, "ns": ns }));
        Ok(())
    }
}

/// Puts in `out` what comes next; numbers of 32 bits, since no other was written.
fn fill(out: &mut [u32], mut next: impl FnMut() -> Option<u64>) -> Option<()> {
    for slot in out {
        *slot = next()? as u32;
    }
    Some(())
}

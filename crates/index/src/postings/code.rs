//! [`StreamCode`]: the code of a stream of numbers, chosen in the configuration.
//!
//! What lives here: runs of numbers as bytes under every code. The codes themselves are in the crate `codes`, and
//! `writer.rs` decides which numbers make up a run.
//!
//! | code | a run |
//! |---|---|
//! | `gamma`, `delta`, `zeta` | codewords, padded to a whole byte; ζ with *k* = 3 |
//! | `vbyte`, `prefix-vbyte` | codewords |
//! | `golomb` | the modulus for their mean, as a prefix vbyte, then codewords padded to a whole byte |
//! | `minimal-binary` | the greatest number, or 1, as a prefix vbyte, then codewords padded to a whole byte |
//! | `rans` | the class of a Lomax distribution, a byte, then a block under its model |
//! | `packed`, `pfor`, `pfor-optimum`, `pfor-unary` | blocks of 128 numbers; a remainder of 32 or more is a shorter PFOR block, a smaller one uses the [`Coder`]'s `rest` |
//!
//! **Invariant.** A coder reads back what it wrote, given the number of numbers. On any bytes: no panic, and no
//! read after the run.

use codes::pfor::Choice;
use codes::rans::{LOMAX_CLASS_MAX, Model};
use codes::{Bits, Code, Delta, Gamma, Golomb, MinimalBinary, Reader, Zeta};
use codes::{packed, pfor, prefix_vbyte, vbyte};
use std::sync::OnceLock;

/// Numbers, and documents, in a block.
pub const BLOCK: usize = packed::BLOCK;

/// A remainder of at least this size is a block of its own. It decodes much faster than single codewords, and
/// takes hardly more space.
const SHORT_BLOCK: usize = 32;

/// A code for one of the streams of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamCode {
    /// Elias γ.
    Gamma,
    /// Elias δ.
    Delta,
    /// ζ with *k* = 3.
    Zeta,
    /// Golomb. For positions the modulus follows from the document, otherwise from the block.
    Golomb,
    /// Minimal binary, bounded by the greatest number of each block.
    MinimalBinary,
    /// Variable-byte: each byte has a continuation bit.
    Vbyte,
    /// Variable-byte with all continuation bits in the first byte.
    PrefixVbyte,
    /// Blocks of numbers as wide as their greatest.
    Packed,
    /// Blocks as wide as nine of ten numbers need, with exceptions.
    Pfor,
    /// Blocks of the best width, with exceptions.
    PforOptimum,
    /// Asymmetric numeral systems, with the best model for each block.
    Rans,
    /// Like [`StreamCode::PforOptimum`], with unary blocks where these are not much longer. A unary block can be
    /// searched without decoding.
    PforUnary,
}

impl StreamCode {
    /// Every code, in the order of its number.
    pub const ALL: [StreamCode; 12] = [
        StreamCode::Gamma,
        StreamCode::Delta,
        StreamCode::Zeta,
        StreamCode::Golomb,
        StreamCode::MinimalBinary,
        StreamCode::Vbyte,
        StreamCode::PrefixVbyte,
        StreamCode::Packed,
        StreamCode::Pfor,
        StreamCode::PforOptimum,
        StreamCode::Rans,
        StreamCode::PforUnary,
    ];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            StreamCode::Gamma => "gamma",
            StreamCode::Delta => "delta",
            StreamCode::Zeta => "zeta",
            StreamCode::Golomb => "golomb",
            StreamCode::MinimalBinary => "minimal-binary",
            StreamCode::Vbyte => "vbyte",
            StreamCode::PrefixVbyte => "prefix-vbyte",
            StreamCode::Packed => "packed",
            StreamCode::Pfor => "pfor",
            StreamCode::PforOptimum => "pfor-optimum",
            StreamCode::Rans => "rans",
            StreamCode::PforUnary => "pfor-unary",
        }
    }

    /// Its number in the manifest, which never changes.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    /// The code of that number.
    pub(crate) fn from_number(number: u64) -> Option<StreamCode> {
        StreamCode::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// Writes and reads runs of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coder {
    code: StreamCode,
    /// Code of a small remainder after the blocks; not a block code.
    rest: StreamCode,
}

impl Coder {
    /// The coder of document gaps; δ for a small remainder.
    pub(crate) fn of_docs(code: StreamCode) -> Coder {
        Coder { code, rest: StreamCode::Delta }
    }

    /// The coder of frequencies; γ for a small remainder.
    pub(crate) fn of_freqs(code: StreamCode) -> Coder {
        Coder { code, rest: StreamCode::Gamma }
    }

    /// The coder of position distances; ζ for a small remainder.
    pub(crate) fn of_positions(code: StreamCode) -> Coder {
        Coder { code, rest: StreamCode::Zeta }
    }

    /// Appends a run.
    pub(crate) fn write(self, numbers: &[u32], out: &mut Vec<u8>) {
        let mut rest = numbers;
        if let Some(write) = block_writer(self.code) {
            let (blocks, left) = numbers.as_chunks();
            for block in blocks {
                write(block, out);
            }
            rest = left;
            if rest.len() >= SHORT_BLOCK {
                pfor::write(rest, Choice::Optimum, out);
            } else if !rest.is_empty() {
                write_run(self.rest, rest, out);
            }
        } else if !rest.is_empty() {
            write_run(self.code, rest, out);
        }
    }

    /// Reads a run that fills `out`, and advances `input` after it. Returns `None`, with anything in both, if the
    /// bytes are invalid.
    pub(crate) fn read(self, input: &mut &[u8], out: &mut [u32]) -> Option<()> {
        if out.len() == BLOCK && self.is_pfor() {
            return pfor::read(input, out);
        }
        let mut rest_code = self.code;
        let mut rest = out;
        if block_writer(self.code).is_some() {
            let (blocks, left) = rest.as_chunks_mut();
            for block in blocks {
                match self.code {
                    StreamCode::Packed => packed::read(input, block)?,
                    _ => pfor::read(input, block)?,
                }
            }
            if left.len() >= SHORT_BLOCK {
                return pfor::read(input, left);
            }
            (rest, rest_code) = (left, self.rest);
        }
        if rest.is_empty() { Some(()) } else { read_run(rest_code, input, rest) }
    }

    fn is_pfor(self) -> bool {
        matches!(self.code, StreamCode::Pfor | StreamCode::PforOptimum | StreamCode::PforUnary)
    }
}

/// Writes a block of a block code.
type BlockWriter = fn(&[u32; BLOCK], &mut Vec<u8>);

fn block_writer(code: StreamCode) -> Option<BlockWriter> {
    match code {
        StreamCode::Packed => Some(packed::write),
        StreamCode::Pfor => {
            Some(|block, out| pfor::write(block, Choice::Coverage { percent: 90 }, out))
        }
        StreamCode::PforOptimum => Some(|block, out| pfor::write(block, Choice::Optimum, out)),
        StreamCode::PforUnary => Some(|block, out| pfor::write(block, Choice::OptimumOrUnary, out)),
        _ => None,
    }
}

fn write_run(code: StreamCode, numbers: &[u32], out: &mut Vec<u8>) {
    match code {
        StreamCode::Gamma => write_codewords(&Gamma, numbers, out),
        StreamCode::Delta => write_codewords(&Delta, numbers, out),
        StreamCode::Zeta => write_codewords(&Zeta::new(3), numbers, out),
        StreamCode::Golomb => {
            let code = Golomb::fitting(numbers);
            prefix_vbyte::write(out, code.parameter().unwrap_or(1));
            write_codewords(&code, numbers, out);
        }
        StreamCode::MinimalBinary => {
            // At least one bit per number, as under every other code.
            let max = numbers.iter().copied().max().unwrap_or(0).max(1);
            prefix_vbyte::write(out, u64::from(max));
            write_codewords(&MinimalBinary::new(u64::from(max) + 1), numbers, out);
        }
        StreamCode::Vbyte => {
            for &n in numbers {
                vbyte::write(out, u64::from(n));
            }
        }
        StreamCode::PrefixVbyte => {
            for &n in numbers {
                prefix_vbyte::write(out, u64::from(n));
            }
        }
        StreamCode::Rans => {
            let class = lomax_class(numbers);
            out.push(class);
            lomax(class).write(numbers, out);
        }
        StreamCode::Packed | StreamCode::Pfor | StreamCode::PforOptimum | StreamCode::PforUnary => {
            unreachable!("what they leave over is under another code")
        }
    }
}

fn read_run(code: StreamCode, input: &mut &[u8], out: &mut [u32]) -> Option<()> {
    match code {
        StreamCode::Gamma => read_codewords(&Gamma, input, out),
        StreamCode::Delta => read_codewords(&Delta, input, out),
        StreamCode::Zeta => read_codewords(&Zeta::new(3), input, out),
        StreamCode::Golomb => {
            let modulus = prefix_vbyte::read(input)?;
            (1..=1 << 33).contains(&modulus).then_some(())?;
            read_codewords(&Golomb::new(modulus), input, out)
        }
        StreamCode::MinimalBinary => {
            let max = u32::try_from(prefix_vbyte::read(input)?).ok().filter(|&max| max > 0)?;
            read_codewords(&MinimalBinary::new(u64::from(max) + 1), input, out)
        }
        StreamCode::Vbyte => read_each(out, || vbyte::read(input)),
        StreamCode::PrefixVbyte => read_each(out, || prefix_vbyte::read(input)),
        StreamCode::Rans => {
            let (&class, rest) = input.split_first()?;
            *input = rest;
            (class <= LOMAX_CLASS_MAX).then(|| lomax(class).read(input, out))?
        }
        StreamCode::Packed | StreamCode::Pfor | StreamCode::PforOptimum | StreamCode::PforUnary => {
            None
        }
    }
}

fn write_codewords(code: &impl Code, numbers: &[u32], out: &mut Vec<u8>) {
    let mut bits = Bits::from_bytes(std::mem::take(out));
    for &n in numbers {
        code.write(&mut bits, u64::from(n));
    }
    *out = bits.into_bytes();
}

fn read_codewords(code: &impl Code, input: &mut &[u8], out: &mut [u32]) -> Option<()> {
    let mut reader = Reader::new(input);
    read_each(out, || code.read(&mut reader))?;
    *input = &input[reader.position().div_ceil(8)..];
    Some(())
}

fn read_each(out: &mut [u32], mut read: impl FnMut() -> Option<u64>) -> Option<()> {
    for slot in out {
        *slot = u32::try_from(read()?).ok()?;
    }
    Some(())
}

/// The models, each built on first use.
static LOMAX: [OnceLock<Model>; LOMAX_CLASS_MAX as usize + 1] =
    [const { OnceLock::new() }; LOMAX_CLASS_MAX as usize + 1];

fn lomax(class: u8) -> &'static Model {
    LOMAX[usize::from(class)].get_or_init(|| Model::lomax(class))
}

/// The class with the fewest bits for these numbers, searched near their mean.
fn lomax_class(numbers: &[u32]) -> u8 {
    let sum: u64 = numbers.iter().map(|&n| u64::from(n)).sum();
    // σ = 2^(class / 2 - 4): a mean of 1 belongs to class 8.
    let sixteenths = 16 * sum / numbers.len().max(1) as u64;
    let about = u8::try_from(2 * sixteenths.checked_ilog2().unwrap_or(0)).unwrap_or(u8::MAX);
    let near = about.saturating_sub(6)..=about.saturating_add(3).min(LOMAX_CLASS_MAX);
    let cost = |class: &u8| -> u64 { numbers.iter().map(|&n| lomax(*class).cost(n)).sum() };
    near.min_by_key(cost).unwrap_or(LOMAX_CLASS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Numbers of all magnitudes.
    fn number() -> impl Strategy<Value = u32> {
        (any::<u32>(), 0..32_u32).prop_map(|(n, shift)| n >> shift)
    }

    proptest! {
        #[test]
        fn runs_round_trip_under_every_code(numbers in vec(number(), 0..300)) {
            for code in StreamCode::ALL {
                for coder in
                    [Coder::of_docs(code), Coder::of_freqs(code), Coder::of_positions(code)]
                {
                    let mut bytes = Vec::new();
                    coder.write(&numbers, &mut bytes);
                    let written = bytes.len();
                    bytes.extend_from_slice(&[0xa5; 9]);
                    let (mut rest, mut read) = (&bytes[..], vec![7; numbers.len()]);
                    prop_assert_eq!(coder.read(&mut rest, &mut read), Some(()), "{:?}", code);
                    prop_assert_eq!(&read, &numbers, "{:?}", code);
                    prop_assert_eq!(bytes.len() - rest.len(), written, "{:?}", code);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..200), count in 0..300_usize) {
            for code in StreamCode::ALL {
                let (mut rest, mut out) = (&bytes[..], vec![0; count]);
                let _ = Coder::of_docs(code).read(&mut rest, &mut out);
            }
        }
    }

    #[test]
    fn code_names_and_numbers_match_configuration_and_manifest() {
        for (number, code) in (0..).zip(StreamCode::ALL) {
            assert_eq!(u64::from(code.number()), number);
            assert_eq!(StreamCode::from_number(number), Some(code));
            let name =
                serde::de::value::StrDeserializer::<serde::de::value::Error>::new(code.name());
            assert_eq!(serde::Deserialize::deserialize(name), Ok(code));
        }
        assert_eq!(StreamCode::from_number(12), None);
        assert_eq!(StreamCode::from_number(u64::MAX), None);
    }
}

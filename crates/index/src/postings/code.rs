//! [`StreamCode`]: how the numbers of a stream are coded, as the configuration says.
//!
//! What lives here: runs of numbers on bytes under every code. What does not: the codes themselves
//! (crate `codes`), and which numbers make up a run (`writer.rs`).
//!
//! | code | a run |
//! |---|---|
//! | `gamma`, `delta`, `zeta` | codewords, up to a whole byte; of ζ that with *k* = 3 |
//! | `vbyte`, `prefix-vbyte` | codewords |
//! | `golomb` | the modulus for their mean, as a prefix vbyte, then codewords up to a whole byte |
//! | `minimal-binary` | the greatest number, or 1, as a prefix vbyte, then codewords up to a whole byte |
//! | `rans` | the class of a Lomax distribution, a byte, then a block under its model |
//! | `packed`, `pfor`, `pfor-optimum`, `pfor-unary` | every 128 numbers a block; of the rest 32 or more are a shorter block of PFOR, fewer are under the [`Coder`]'s `rest` |
//!
//! **Invariant.** What a coder writes it reads back, given how many numbers there are. On any bytes: no
//! panic, and nothing is read behind the run.

use codes::pfor::Choice;
use codes::rans::{LOMAX_CLASS_MAX, Model};
use codes::{Bits, Code, Delta, Gamma, Golomb, MinimalBinary, Reader, Zeta};
use codes::{packed, pfor, prefix_vbyte, vbyte};
use std::sync::OnceLock;

/// How many numbers a block holds, and how many documents.
pub const BLOCK: usize = packed::BLOCK;

/// So many numbers that are left over make up a block of their own: it is decoded much faster than single codewords, and
/// takes hardly more.
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
    /// Golomb; of positions the modulus follows from the document, else from the block.
    Golomb,
    /// Minimal binary below the greatest number of each block.
    MinimalBinary,
    /// Bytes with a continuation bit each.
    Vbyte,
    /// Bytes with all continuation bits in the first.
    PrefixVbyte,
    /// Blocks in the width of their greatest number.
    Packed,
    /// Blocks in the width that nine of ten numbers fit, with exceptions.
    Pfor,
    /// Blocks in the best width, with exceptions.
    PforOptimum,
    /// Asymmetric numeral systems, with the model that suits each block.
    Rans,
    /// As [`StreamCode::PforOptimum`], but blocks in unary where that is not much longer: a document is looked up in them
    /// without decoding any.
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
    /// For the few that are left over by a code of blocks; itself a code of any count.
    rest: StreamCode,
}

impl Coder {
    /// Of document gaps: what is left over is in δ.
    pub(crate) fn of_docs(code: StreamCode) -> Coder {
        Coder { code, rest: StreamCode::Delta }
    }

    /// Of frequencies: what is left over is in γ.
    pub(crate) fn of_freqs(code: StreamCode) -> Coder {
        Coder { code, rest: StreamCode::Gamma }
    }

    /// Of distances of positions: what is left over is in ζ.
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

    /// Reads a run of as many numbers as `out` holds, and advances `input` behind it. `None`, with
    /// anything in both, if the bytes begin with none.
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

/// Writes a block of a code that has such.
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
            // A bit at least for each, as under every other code.
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

/// The models, each made when it is first needed.
static LOMAX: [OnceLock<Model>; LOMAX_CLASS_MAX as usize + 1] =
    [const { OnceLock::new() }; LOMAX_CLASS_MAX as usize + 1];

fn lomax(class: u8) -> &'static Model {
    LOMAX[usize::from(class)].get_or_init(|| Model::lomax(class))
}

/// The class under which the numbers take the fewest bits, near that of their mean.
fn lomax_class(numbers: &[u32]) -> u8 {
    let sum: u64 = numbers.iter().map(|&n| u64::from(n)).sum();
    // σ = 2^(class / 2 - 4): the class of a mean of 1 is 8.
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
        fn runs_come_back_under_every_code(numbers in vec(number(), 0..300)) {
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
        fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200), count in 0..300_usize) {
            for code in StreamCode::ALL {
                let (mut rest, mut out) = (&bytes[..], vec![0; count]);
                let _ = Coder::of_docs(code).read(&mut rest, &mut out);
            }
        }
    }

    #[test]
    fn names_and_numbers_are_those_of_the_configuration_and_the_manifest() {
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

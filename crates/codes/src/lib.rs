//! Bit streams, instantaneous codes, block codes and static functions.
//!
//! What lives here:
//!
//! - [`Bits`] and [`Reader`], a bit buffer and its reader;
//! - the [`Code`] trait with [`Unary`], [`MinimalBinary`], [`Gamma`], [`Delta`], [`Zeta`] and [`Golomb`], by
//!   `dsi-bitstream`;
//! - the byte codes [`VByte`] and [`PrefixVByte`], which [`vbyte`] and [`prefix_vbyte`] read from plain bytes;
//! - [`reduced_binary`], which is not instantaneous and hence not a [`Code`];
//! - codes of many numbers at once: [`packed`], blocks of 128 numbers of one width; [`pfor`], blocks of 256 or 128
//!   with exceptions; [`unary_block`], gaps of a set as a bit set; [`rans`], asymmetric numeral systems; [`rice`],
//!   Golomb with powers of two from the context; [`fixed`], numbers of one width up to 64 bits;
//! - [`prefix_code()`], a code with given lengths;
//! - [`fsst`], compression of byte strings by a table of frequent substrings;
//! - [`function`], static functions from byte strings to numbers that do not store the strings;
//! - [`lanes`], inner loops over blocks of numbers, [`bit_set`], bit sets of numbers, and [`byte_classes`], inner loops
//!   over text;
//! - [`Histogram`] and [`Survey`]: the size of given numbers under each code.
//!
//! Files, documents and checksums are in other crates. Other crates do not define bit readers, bit writers or
//! variable-length integers. A new code is one file here, one line in [`Survey`] and one on the command line.
//!
//! Codewords of the first numbers, read from left to right:
//!
//! | n | unary    | γ       | δ        | ζ₃      | Golomb, 3 | below 8 |
//! |---|----------|---------|----------|---------|-----------|---------|
//! | 0 | 1        | 1       | 1        | 100     | 10        | 000     |
//! | 1 | 01       | 010     | 0100     | 1010    | 110       | 001     |
//! | 2 | 001      | 011     | 0101     | 1011    | 111       | 010     |
//! | 3 | 0001     | 00100   | 01100    | 1100    | 010       | 011     |
//! | 4 | 00001    | 00101   | 01101    | 1101    | 0110      | 100     |
//! | 5 | 000001   | 00110   | 01110    | 1110    | 0111      | 101     |
//! | 6 | 0000001  | 00111   | 01111    | 1111    | 0010      | 110     |
//! | 7 | 00000001 | 0001000 | 00100000 | 0100000 | 00110     | 111     |
//!
//! **Invariant.** A code reads back what it wrote. Decoders accept any bytes: on invalid ones they return `None`
//! or some number, but never panic, read past the end or loop forever.
//!
//! ```
//! use codes::{Bits, Code, Gamma, Reader};
//!
//! let mut bits = Bits::default();
//! for n in [4, 0, 1] {
//!     Gamma.write(&mut bits, n);
//! }
//! assert_eq!(bits.to_text(), "001011010");
//!
//! let bytes = bits.into_bytes();
//! let mut input = Reader::new(&bytes);
//! assert_eq!(Gamma.read(&mut input), Some(4));
//! assert_eq!(input.position(), 5);
//! ```

pub mod bit_set;
mod bits;
pub mod byte_classes;
pub mod columns;
mod delta;
pub mod fixed;
pub mod fsst;
pub mod function;
mod gamma;
mod golomb;
mod histogram;
pub mod lanes;
mod minimal_binary;
pub mod packed;
pub mod pfor;
pub mod prefetch;
mod prefix_code;
pub mod prefix_sums;
pub mod prefix_vbyte;
pub mod rans;
mod reader;
pub mod reduced_binary;
pub mod rice;
mod survey;
mod unary;
pub mod unary_block;
pub mod vbyte;
mod zeta;

pub use bits::Bits;
pub use delta::Delta;
pub use gamma::Gamma;
pub use golomb::Golomb;
pub use histogram::Histogram;
pub use minimal_binary::MinimalBinary;
pub use prefix_code::{LENGTH_MAX, LengthsError, prefix_code};
pub use prefix_vbyte::PrefixVByte;
pub use reader::Reader;
pub use survey::{Cost, Survey};
pub use unary::Unary;
pub use vbyte::VByte;
pub use zeta::Zeta;

/// An instantaneous code of the natural numbers, from zero.
///
/// A code is a value, because some codes have a parameter: `Gamma`, `Golomb::new(3)`. Inside a crate it is chosen
/// by type; across crates by one `match` per list, or as `dyn Code` where speed does not matter.
pub trait Code {
    /// The name on the command line and in messages, without the parameter.
    fn name(&self) -> &'static str;

    /// The parameter, if the code has one.
    fn parameter(&self) -> Option<u64> {
        None
    }

    /// The greatest number that has a codeword.
    fn max(&self) -> u64 {
        u64::MAX - 1
    }

    /// The length of the codeword of `n` in bits.
    ///
    /// # Panics
    /// If `n` is greater than [`Code::max`].
    fn len(&self, n: u64) -> usize;

    /// Appends the codeword of `n`.
    ///
    /// # Panics
    /// If `n` is greater than [`Code::max`].
    fn write(&self, out: &mut Bits, n: u64);

    /// Reads one codeword. Returns `None` if the input ends early or the bits are not a codeword of a number up to
    /// [`Code::max`]; then the reader does not move.
    fn read(&self, input: &mut Reader<'_>) -> Option<u64>;
}

/// Implements the `# Panics` of every code.
#[inline]
fn check_range(code: &impl Code, n: u64) {
    assert!(n <= code.max(), "{n} has no {} codeword: the greatest is {}", code.name(), code.max());
}

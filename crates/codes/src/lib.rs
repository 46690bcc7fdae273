//! Bit streams, instantaneous codes and block codes.
//!
//! What lives here: [`Bits`] and [`Reader`], a bit buffer and its reader; the [`Code`] trait with
//! [`Unary`], [`Gamma`], [`Delta`] and [`Zeta`], whose codewords come from `dsi-bitstream`;
//! [`vbyte`], a code of whole bytes; [`packed`], blocks of 128 numbers of one width; [`fixed`],
//! any number of numbers of one width up to 64 bits. What does not: files, documents, checksums.
//! Other crates define no bit reader, no bit writer and no variable-length integer of their own.
//!
//! Codewords of the first numbers, read from left to right:
//!
//! | n | unary    | γ       | δ        | ζ₃      |
//! |---|----------|---------|----------|---------|
//! | 0 | 1        | 1       | 1        | 100     |
//! | 1 | 01       | 010     | 0100     | 1010    |
//! | 2 | 001      | 011     | 0101     | 1011    |
//! | 3 | 0001     | 00100   | 01100    | 1100    |
//! | 4 | 00001    | 00101   | 01101    | 1101    |
//! | 5 | 000001   | 00110   | 01110    | 1110    |
//! | 6 | 0000001  | 00111   | 01111    | 1111    |
//! | 7 | 00000001 | 0001000 | 00100000 | 0100000 |
//!
//! **Invariant.** What one code writes it reads back. Decoders take any bytes: on bytes that no
//! coder wrote they answer `None` or some number, and never panic, read past the end or loop.
//!
//! ```
//! use codes::{Bits, Code, Gamma, Reader};
//!
//! let mut bits = Bits::default();
//! for n in [4, 0, 1] {
//!     Gamma::write(&mut bits, n);
//! }
//! assert_eq!(bits.to_text(), "001011010");
//!
//! let bytes = bits.into_bytes();
//! let mut input = Reader::new(&bytes);
//! assert_eq!(Gamma::read(&mut input), Some(4));
//! assert_eq!(input.position(), 5);
//! ```

mod bits;
mod delta;
pub mod fixed;
mod gamma;
pub mod packed;
mod reader;
mod unary;
pub mod vbyte;
mod zeta;

pub use bits::Bits;
pub use delta::Delta;
pub use gamma::Gamma;
pub use reader::Reader;
pub use unary::Unary;
pub use zeta::Zeta;

/// An instantaneous code of the natural numbers, from zero.
///
/// Implementors are types without values: a code is chosen by a type parameter inside a crate and
/// by one `match` per list across crates.
pub trait Code {
    /// The name in file headers and on the command line.
    const NAME: &'static str;

    /// The greatest number that has a codeword.
    const MAX: u64 = u64::MAX - 1;

    /// The length of the codeword of `n` in bits.
    ///
    /// # Panics
    /// If `n` is greater than [`Code::MAX`].
    fn len(n: u64) -> usize;

    /// Appends the codeword of `n`.
    ///
    /// # Panics
    /// If `n` is greater than [`Code::MAX`].
    fn write(out: &mut Bits, n: u64);

    /// Reads one codeword. `None` if the input ends before the codeword does, or if the bits begin
    /// no codeword of a number up to [`Code::MAX`]; the reader then stays where it was.
    fn read(input: &mut Reader<'_>) -> Option<u64>;
}

/// The check behind the `# Panics` of every code.
fn check_range<C: Code>(n: u64) {
    assert!(n <= C::MAX, "{n} has no {} codeword: the greatest is {}", C::NAME, C::MAX);
}

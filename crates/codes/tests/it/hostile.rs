//! Decoders on invalid bytes, compared with their coders. A decoder either returns a number whose codeword is
//! exactly what it read, or returns `None` and does not move.

use codes::{
    Bits, Code, Delta, Gamma, Golomb, Histogram, PrefixVByte, Reader, Unary, VByte, Zeta, fixed,
    packed, pfor, prefix_vbyte, rans, unary_block, vbyte,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::subjects::every_code;

/// Skips `skip` unary codewords of `bytes`, then reads until nothing more can be read.
fn check_decoder(code: &dyn Code, bytes: &[u8], skip: usize) {
    let text = text(bytes);
    let mut input = Reader::new(bytes);
    for _ in 0..skip {
        // So that the decoder starts at any bit offset.
        if Unary.read(&mut input).is_none() {
            break;
        }
    }
    loop {
        let start = input.position();
        let Some(n) = code.read(&mut input) else {
            assert_eq!(input.position(), start, "{} moved without a number", code.name());
            return;
        };
        let mut bits = Bits::default();
        code.write(&mut bits, n);
        assert_eq!(text[start..input.position()], bits.to_text(), "{} of {n}", code.name());
        assert!(input.position() <= bytes.len() * 8);
        if input.position() == start {
            // The only number below a bound of one.
            return;
        }
    }
}

fn check_all(bytes: &[u8], skip: usize) {
    for code in every_code() {
        check_decoder(&*code, bytes, skip);
    }
    check_bytes(bytes);
    check_blocks(bytes);
}

type ReadBytes = fn(&mut &[u8]) -> Option<u64>;
type WriteBytes = fn(&mut Vec<u8>, u64);

fn check_bytes(bytes: &[u8]) {
    let codes: [(ReadBytes, WriteBytes); 2] =
        [(vbyte::read, vbyte::write), (prefix_vbyte::read, prefix_vbyte::write)];
    for (read, write) in codes {
        let mut input = bytes;
        loop {
            let before = input;
            let Some(n) = read(&mut input) else {
                assert_eq!(input, before);
                break;
            };
            let mut again = Vec::new();
            write(&mut again, n);
            assert_eq!(before[..before.len() - input.len()], again);
        }
    }
}

/// Blocks of all kinds: no panic, and no progress without a valid block.
fn check_blocks(bytes: &[u8]) {
    let mut input = bytes;
    loop {
        let (before, mut out) = (input, [7; packed::BLOCK]);
        let mut skipping = input;
        let read = packed::read(&mut input, &mut out);
        assert_eq!(packed::skip(&mut skipping), read);
        assert_eq!(skipping, input);
        if read.is_none() {
            assert_eq!((input, out), (before, [7; packed::BLOCK]));
            break;
        }
    }

    let model = rans::Model::new(&Histogram::default());
    for count in [0, 1, 5, 255, 256] {
        let (mut input, mut out) = (bytes, vec![0; count]);
        if pfor::read(&mut input, &mut out).is_none() {
            assert_eq!(input, bytes);
        }
    }
    let ones: usize = bytes.iter().map(|byte| byte.count_ones() as usize).sum();
    for count in [0, 1, 5, 128, ones] {
        let mut out = vec![0; count];
        let read = unary_block::read(bytes, &mut out);
        assert!(read.is_none() || count == ones);
        if read.is_some() {
            assert_eq!(unary_block::bytes(&out), bytes.len() as u64);
        }
    }
    for count in [0, 1, 5, 511, 512, 1001] {
        let (mut input, mut out) = (bytes, vec![0; count]);
        if model.read(&mut input, &mut out).is_none() {
            assert_eq!(input, bytes);
        }
    }
    let mut input = bytes;
    if rans::Model::load(&mut input).is_none() {
        assert_eq!(input, bytes);
    }
}

fn text(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    (0..bytes.len() * 8).map(|at| char::from(b'0' + bit(at))).collect()
}

/// Mostly zeros: long runs of zeros make decoders shift too far.
fn sparse_byte() -> impl Strategy<Value = u8> {
    prop_oneof![6 => Just(0), 1 => (0..8_u32).prop_map(|bit| 1 << bit), 1 => any::<u8>()]
}

proptest! {
    #[test]
    fn fixed_width_numbers_are_written_back_identically(
        bytes in vec(any::<u8>(), 0..40),
        count in 0..60_usize,
        width in 0..=70_u32,
    ) {
        let mut numbers = Vec::new();
        if fixed::read(&bytes, count, width, |n| numbers.push(n)).is_some() {
            let mut again = Vec::new();
            fixed::write(&mut again, numbers, width);
            prop_assert_eq!(again, bytes);
        }
    }


    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in vec(any::<u8>(), 0..60), skip in 0..4_usize) {
        check_all(&bytes, skip);
    }

    #[test]
    fn long_runs_of_zeros_are_decoded_or_refused(bytes in vec(sparse_byte(), 0..60), skip in 0..4_usize) {
        check_all(&bytes, skip);
    }
}

/// A run of zeros of every length, then ones: both sides of the limit of every code.
#[test]
fn every_run_of_zeros_is_decoded_or_refused() {
    for zeros in 0..200 {
        for tail in [[0xff_u8; 20], [0x80; 20], [0; 20]] {
            let mut text = "0".repeat(zeros);
            text.push('1');
            text.push_str(&self::text(&tail));
            let bytes: Vec<u8> = text
                .as_bytes()
                .chunks(8)
                .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | (bit - b'0')))
                .collect();
            check_all(&bytes, 0);
        }
    }
}

#[test]
fn vbyte_refuses_overlong_codewords_and_over_64_bits() {
    let full = |last: &[u8]| [&[0xff; 9], last].concat();
    let table = [
        vec![],
        vec![0x80],
        vec![0x80, 0x00],
        vec![0xff, 0x80, 0x00],
        full(&[]),
        full(&[0x00]),
        full(&[0x02]),
        full(&[0x7f]),
        full(&[0x81, 0x01]),
    ];
    for bytes in table {
        let mut input = bytes.as_slice();
        assert_eq!(vbyte::read(&mut input), None, "{bytes:x?}");
        assert_eq!(input, bytes);
    }
}

/// All δ prefixes for a λ around 64, with any continuation.
#[test]
fn delta_refuses_an_impossible_length() {
    for prefix in 0..=0b111_u16 << 10 {
        let mut bytes = (prefix << 3).to_be_bytes().to_vec();
        bytes.resize(40, 0xff);
        check_decoder(&Delta, &bytes, 0);
    }
}

/// A sequence cut at every bit: the numbers before the cut, then `None`.
#[test]
fn truncated_sequences_are_read_up_to_the_cut() {
    let golomb = Golomb::new(1 << 50);
    for code in
        [&Gamma as &dyn Code, &Delta, &Zeta::new(2), &Zeta::new(3), &VByte, &PrefixVByte, &golomb]
    {
        let mut bits = Bits::default();
        let numbers = [0, 1, 2, 7, 8, 1000, 1 << 40, u64::MAX - 1, 3];
        for n in numbers {
            code.write(&mut bits, n);
        }
        for end in 0..bits.as_bytes().len() {
            let mut input = Reader::new(&bits.as_bytes()[..end]);
            let mut whole = 0;
            for n in numbers {
                whole += code.len(n);
                let expected = (whole <= end * 8).then_some(n);
                assert_eq!(code.read(&mut input), expected, "{} cut at byte {end}", code.name());
                if expected.is_none() {
                    break;
                }
            }
        }
    }
}

#[test]
fn numbers_without_a_codeword_are_refused_by_the_coder() {
    for code in every_code() {
        let Some(beyond) = code.max().checked_add(1) else { continue };
        let code = std::panic::AssertUnwindSafe(code);
        let write = || code.write(&mut Bits::default(), beyond);
        assert!(std::panic::catch_unwind(write).is_err(), "{}", code.name());
        assert!(std::panic::catch_unwind(|| code.len(beyond)).is_err(), "{}", code.name());
    }
}

/// A run of zeros for which the product with the modulus, or the sum, exceeds 64 bits.
#[test]
fn golomb_refuses_an_excessive_quotient() {
    let mut bytes = vec![0; 2];
    bytes.resize(40, 0xff);
    for modulus in [1 << 60, 1 << 61, u64::MAX / 16, u64::MAX] {
        assert_eq!(Golomb::new(modulus).read(&mut Reader::new(&bytes)), None, "modulus {modulus}");
        check_decoder(&Golomb::new(modulus), &bytes, 0);
    }
}

/// Valid blocks with any bit flipped: the decoder returns some answer.
#[test]
fn flipped_bits_of_blocks_are_decoded_or_refused() {
    let numbers: Vec<u32> = (0..600).map(|n| (n * n * n) % 5000 * u32::from(n % 3 > 0)).collect();
    let mut histogram = Histogram::default();
    histogram.add(&numbers);
    let model = rans::Model::new(&histogram);
    for count in [3, 200, 256, 600] {
        let numbers = &numbers[..count];
        let (mut by_rans, mut by_pfor) = (Vec::new(), Vec::new());
        model.write(numbers, &mut by_rans);
        let short = &numbers[..count.min(256)];
        pfor::write(short, pfor::Choice::Coverage { percent: 90 }, &mut by_pfor);
        for bit in 0..by_rans.len() * 8 {
            let mut bytes = by_rans.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            check_blocks(&bytes);
            let mut out = vec![0; count];
            if model.read(&mut &bytes[..], &mut out).is_some() {
                assert_ne!(out, numbers, "bit {bit} does not matter");
            }
        }
        for bit in 0..by_pfor.len() * 8 {
            let mut bytes = by_pfor.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut out = vec![0; short.len()];
            if pfor::read(&mut &bytes[..], &mut out).is_some() {
                assert_ne!(out, short, "bit {bit} does not matter");
            }
        }
        for end in 0..by_rans.len() {
            assert_eq!(model.read(&mut &by_rans[..end], &mut vec![0; count]), None);
        }
        for end in 0..by_pfor.len() {
            assert_eq!(pfor::read(&mut &by_pfor[..end], &mut vec![0; short.len()]), None);
        }
    }
}

/// Block headers that no coder writes.
#[test]
fn pfor_refuses_invalid_block_headers() {
    let read = |bytes: &[u8]| pfor::read(&mut &bytes[..], &mut [0; 2]);
    // Width 8, two numbers, one exception of 4 more bits: the second number.
    assert_eq!(read(&[8 | 0x80, 7, 7, 0, 4, 1, 5]), Some(()));
    assert_eq!(read(&[8 | 0x80, 7, 7, 0, 4, 2, 5]), None, "there is no third number");
    assert_eq!(read(&[8 | 0x80, 7, 7, 0, 0, 1]), None, "an exception of no bits");
    assert_eq!(read(&[8 | 0x80, 7, 7, 0, 24, 1, 5, 5, 5]), Some(()));
    assert_eq!(read(&[8 | 0x80, 7, 7, 0, 25, 1, 5, 5, 5, 0]), None, "33 bits");
    assert_eq!(read(&[33, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, "33 bits");
}

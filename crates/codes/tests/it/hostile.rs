//! Decoders on bytes that no coder wrote. What a decoder answers is compared with its coder: either
//! the number it read has exactly the codeword it read it from, or it answers `None` and has not
//! moved.

use codes::{Bits, Code, Delta, Gamma, Reader, Unary, Zeta, fixed, packed, vbyte};
use proptest::collection::vec;
use proptest::prelude::*;

/// Reads on after `skip` ones of `bytes` until nothing more can be read.
fn check_decoder<C: Code>(bytes: &[u8], skip: usize) {
    let text = text(bytes);
    let mut input = Reader::new(bytes);
    for _ in 0..skip {
        // So that the decoder does not start on a byte boundary.
        if Unary::read(&mut input).is_none() {
            break;
        }
    }
    loop {
        let start = input.position();
        let Some(n) = C::read(&mut input) else {
            assert_eq!(input.position(), start, "{} moved without a number", C::NAME);
            return;
        };
        let mut bits = Bits::default();
        C::write(&mut bits, n);
        assert_eq!(text[start..input.position()], bits.to_text(), "{} of {n}", C::NAME);
        assert!(input.position() <= bytes.len() * 8);
    }
}

fn check_all(bytes: &[u8], skip: usize) {
    check_decoder::<Unary>(bytes, skip);
    check_decoder::<Gamma>(bytes, skip);
    check_decoder::<Delta>(bytes, skip);
    check_decoder::<Zeta<1>>(bytes, skip);
    check_decoder::<Zeta<2>>(bytes, skip);
    check_decoder::<Zeta<3>>(bytes, skip);
    check_decoder::<Zeta<4>>(bytes, skip);
    check_decoder::<Zeta<5>>(bytes, skip);
    check_decoder::<Zeta<6>>(bytes, skip);
    check_decoder::<Zeta<7>>(bytes, skip);
    check_bytes(bytes);
}

fn check_bytes(bytes: &[u8]) {
    let mut input = bytes;
    loop {
        let before = input;
        let Some(n) = vbyte::read(&mut input) else {
            assert_eq!(input, before);
            break;
        };
        let mut again = Vec::new();
        vbyte::write(&mut again, n);
        assert_eq!(before[..before.len() - input.len()], again);
    }

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
}

fn text(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    (0..bytes.len() * 8).map(|at| char::from(b'0' + bit(at))).collect()
}

/// Mostly zeros: long runs are where decoders shift too far.
fn sparse_byte() -> impl Strategy<Value = u8> {
    prop_oneof![6 => Just(0), 1 => (0..8_u32).prop_map(|bit| 1 << bit), 1 => any::<u8>()]
}

proptest! {
    #[test]
    fn numbers_of_one_width_are_those_that_were_written(
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
    fn any_bytes(bytes in vec(any::<u8>(), 0..60), skip in 0..4_usize) {
        check_all(&bytes, skip);
    }

    #[test]
    fn long_runs_of_zeros(bytes in vec(sparse_byte(), 0..60), skip in 0..4_usize) {
        check_all(&bytes, skip);
    }
}

/// A run of zeros of every length, then ones: both sides of every limit of every code.
#[test]
fn every_run_of_zeros() {
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
fn vbyte_refuses_what_is_not_the_shortest_or_exceeds_64_bits() {
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

/// All the prefixes of δ that announce a λ around 64, whatever follows.
#[test]
fn delta_of_an_impossible_length() {
    for prefix in 0..=0b111_u16 << 10 {
        let mut bytes = (prefix << 3).to_be_bytes().to_vec();
        bytes.resize(40, 0xff);
        check_decoder::<Delta>(&bytes, 0);
    }
}

/// A sequence cut at every bit boundary of a byte: the numbers before the cut, then `None`.
#[test]
fn every_cut_of_a_sequence() {
    fn check<C: Code>() {
        let mut bits = Bits::default();
        let numbers = [0, 1, 2, 7, 8, 1000, 1 << 40, u64::MAX - 1, 3];
        for n in numbers {
            C::write(&mut bits, n);
        }
        for end in 0..bits.as_bytes().len() {
            let mut input = Reader::new(&bits.as_bytes()[..end]);
            let mut whole = 0;
            for n in numbers {
                whole += C::len(n);
                let expected = (whole <= end * 8).then_some(n);
                assert_eq!(C::read(&mut input), expected, "{} cut at byte {end}", C::NAME);
                if expected.is_none() {
                    break;
                }
            }
        }
    }
    check::<Gamma>();
    check::<Delta>();
    check::<Zeta<2>>();
    check::<Zeta<3>>();
}

#[test]
fn numbers_without_a_codeword_are_refused_by_the_coder() {
    fn check<C: Code>() {
        let out_of_range = || {
            let mut bits = Bits::default();
            C::write(&mut bits, C::MAX + 1);
        };
        assert!(std::panic::catch_unwind(out_of_range).is_err(), "{}", C::NAME);
        assert!(std::panic::catch_unwind(|| C::len(C::MAX + 1)).is_err(), "{}", C::NAME);
    }
    check::<Unary>();
    check::<Gamma>();
    check::<Delta>();
    check::<Zeta<3>>();
}

//! Reads what was written: mixed sequences of numbers under every code.

use codes::{
    Bits, Code, Delta, Gamma, Golomb, Reader, Unary, Zeta, fixed, packed, pfor, prefix_vbyte, vbyte,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::subjects::every_code;

/// Numbers of all magnitudes.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(n, shift)| (n >> shift).min(u64::MAX - 1))
}

fn check_sequence(code: &dyn Code, numbers: &[u64]) {
    let mut bits = Bits::default();
    for &n in numbers {
        code.write(&mut bits, n);
    }
    let total: usize = numbers.iter().map(|&n| code.len(n)).sum();
    assert_eq!(bits.len(), total, "{}", code.name());
    assert_eq!(bits.to_text().len(), total);
    assert_eq!(bits.as_bytes().len(), total.div_ceil(8));

    let mut input = Reader::new(bits.as_bytes());
    for &n in numbers {
        assert_eq!(code.read(&mut input), Some(n), "{}", code.name());
    }
    assert_eq!(input.position(), total);
    assert!(input.remaining() < 8);
    if code.len(0) > 7 || ["unary", "gamma", "delta", "zeta"].contains(&code.name()) {
        assert_eq!(code.read(&mut input), None, "{}: the padding is no codeword", code.name());
    }
}

proptest! {
    #[test]
    fn instantaneous_codes_round_trip(numbers in vec(number(), 0..80)) {
        for code in every_code() {
            let mut numbers = numbers.clone();
            numbers.retain(|&n| n <= code.max() && code.len(n) < 5000);
            check_sequence(&*code, &numbers);
        }
    }

    #[test]
    fn fixed_width_numbers_round_trip(numbers in vec(any::<u64>(), 0..80), shift in 0..=64_u32) {
        let numbers: Vec<_> = numbers.iter().map(|n| n.checked_shr(shift).unwrap_or(0)).collect();
        let width = numbers.iter().map(|&n| fixed::width(n)).max().unwrap_or(0);
        let mut out = vec![0xAB];
        fixed::write(&mut out, numbers.iter().copied(), width);
        prop_assert_eq!(out.len(), 1 + fixed::bytes(numbers.len(), width));
        let mut read = Vec::new();
        let ok = fixed::read(&out[1..], numbers.len(), width, |n| read.push(n));
        prop_assert_eq!(ok, Some(()));
        let one_by_one = (0..numbers.len()).map(|at| fixed::get(&out[1..], at, width));
        prop_assert!(one_by_one.eq(numbers.iter().copied()));
        prop_assert_eq!(fixed::get(&out[1..], numbers.len() + 100, width), 0);
        prop_assert_eq!(read, numbers);
    }

    #[test]
    fn unary_round_trips(numbers in vec(0..300_u64, 0..40)) {
        check_sequence(&Unary, &numbers);
    }

    #[test]
    fn codes_mix_in_one_buffer(numbers in vec(0..200_u64, 0..60)) {
        let mut bits = Bits::default();
        for &n in &numbers {
            Gamma.write(&mut bits, n);
            Unary.write(&mut bits, n);
            Zeta::new(3).write(&mut bits, n);
            Delta.write(&mut bits, n);
            Golomb::new(7).write(&mut bits, n);
        }
        let mut input = Reader::new(bits.as_bytes());
        for &n in &numbers {
            prop_assert_eq!(Gamma.read(&mut input), Some(n));
            prop_assert_eq!(Unary.read(&mut input), Some(n));
            prop_assert_eq!(Zeta::new(3).read(&mut input), Some(n));
            prop_assert_eq!(Delta.read(&mut input), Some(n));
            prop_assert_eq!(Golomb::new(7).read(&mut input), Some(n));
        }
    }

    #[test]
    fn prefix_vbyte_sequences_round_trip(numbers in vec(number(), 0..80)) {
        let mut bytes = Vec::new();
        for &n in &numbers {
            prefix_vbyte::write(&mut bytes, n);
        }
        let mut input = bytes.as_slice();
        for &n in &numbers {
            prop_assert_eq!(prefix_vbyte::read(&mut input), Some(n));
        }
        prop_assert!(input.is_empty());
    }

    /// Codewords compare like their numbers.
    #[test]
    fn prefix_vbyte_keeps_the_order(a in number(), b in number()) {
        let codeword = |n| {
            let mut bytes = Vec::new();
            prefix_vbyte::write(&mut bytes, n);
            bytes
        };
        prop_assert_eq!(codeword(a).cmp(&codeword(b)), a.cmp(&b));
    }

    /// Mostly small numbers with some of any size: full and short blocks, with every choice. No other width beats
    /// the best one.
    #[test]
    fn pfor_blocks_round_trip(
        numbers in vec((any::<u32>(), 0..40_u32), 0..=pfor::BLOCK),
        full in any::<bool>(),
        width in 0..=32_u32,
    ) {
        let narrow = |(n, odd): (u32, u32)| if odd == 0 { n } else { n.checked_shr(32 - width).unwrap_or(0) };
        let mut numbers: Vec<u32> = numbers.into_iter().map(narrow).collect();
        if full {
            numbers.resize(pfor::BLOCK, 5);
        }
        let mut best = Vec::new();
        pfor::write(&numbers, pfor::Choice::Optimum, &mut best);
        for percent in [0, 50, 90, 95, 100] {
            let mut bytes = Vec::new();
            pfor::write(&numbers, pfor::Choice::Coverage { percent }, &mut bytes);
            prop_assert!(best.len() <= bytes.len(), "{percent} % takes {} bytes", bytes.len());
            let (mut input, mut out) = (&bytes[..], vec![7; numbers.len()]);
            prop_assert_eq!(pfor::read(&mut input, &mut out), Some(()));
            prop_assert_eq!(&out, &numbers);
            prop_assert!(input.is_empty());
        }
        best.push(0xAB);
        let (mut input, mut out) = (&best[..], vec![7; numbers.len()]);
        prop_assert_eq!(pfor::read(&mut input, &mut out), Some(()));
        prop_assert_eq!(&out, &numbers);
        prop_assert_eq!(input, [0xAB]);
    }

    #[test]
    fn vbyte_sequences_round_trip(numbers in vec(number(), 0..80)) {
        let mut bytes = Vec::new();
        for &n in &numbers {
            vbyte::write(&mut bytes, n);
        }
        let mut input = bytes.as_slice();
        for &n in &numbers {
            prop_assert_eq!(vbyte::read(&mut input), Some(n));
        }
        prop_assert!(input.is_empty());
    }

    #[test]
    fn packed_blocks_round_trip(blocks in vec((vec(any::<u32>(), packed::BLOCK), 0..=32_u32), 0..4)) {
        let blocks: Vec<[u32; packed::BLOCK]> = blocks
            .into_iter()
            .map(|(values, width)| {
                let narrow = |value: u32| value.checked_shr(32 - width).unwrap_or(0);
                values.into_iter().map(narrow).collect::<Vec<_>>().try_into().unwrap()
            })
            .collect();
        let mut bytes = Vec::new();
        for values in &blocks {
            let start = bytes.len();
            packed::write(values, &mut bytes);
            let width = values.iter().map(|value| 32 - value.leading_zeros()).max().unwrap();
            prop_assert_eq!(u32::from(bytes[start]), width);
            prop_assert_eq!(bytes.len() - start, 1 + 16 * width as usize);
        }
        let (mut input, mut skipping) = (bytes.as_slice(), bytes.as_slice());
        for values in &blocks {
            let mut out = [u32::MAX; packed::BLOCK];
            prop_assert_eq!(packed::read(&mut input, &mut out), Some(()));
            prop_assert_eq!(&out, values);
            prop_assert_eq!(packed::skip(&mut skipping), Some(()));
            prop_assert_eq!(skipping, input);
        }
        prop_assert!(input.is_empty());
    }
}

//! What was read against what was written: mixed sequences of numbers under every code.

use codes::{Bits, Code, Delta, Gamma, Reader, Unary, Zeta, fixed, packed, vbyte};
use proptest::collection::vec;
use proptest::prelude::*;

/// Numbers of all magnitudes, and not mostly huge ones.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(n, shift)| (n >> shift).min(u64::MAX - 1))
}

fn check_sequence<C: Code>(numbers: &[u64]) {
    let mut bits = Bits::default();
    for &n in numbers {
        C::write(&mut bits, n);
    }
    let total: usize = numbers.iter().map(|&n| C::len(n)).sum();
    assert_eq!(bits.len(), total, "{}", C::NAME);
    assert_eq!(bits.to_text().len(), total);
    assert_eq!(bits.as_bytes().len(), total.div_ceil(8));

    let mut input = Reader::new(bits.as_bytes());
    for &n in numbers {
        assert_eq!(C::read(&mut input), Some(n), "{}", C::NAME);
    }
    assert_eq!(input.position(), total);
    assert!(input.remaining() < 8);
    assert_eq!(C::read(&mut input), None, "{}: the padding is no codeword", C::NAME);
}

proptest! {
    #[test]
    fn instantaneous_codes(numbers in vec(number(), 0..80)) {
        check_sequence::<Gamma>(&numbers);
        check_sequence::<Delta>(&numbers);
        check_sequence::<Zeta<1>>(&numbers);
        check_sequence::<Zeta<2>>(&numbers);
        check_sequence::<Zeta<3>>(&numbers);
        check_sequence::<Zeta<6>>(&numbers);
    }

    #[test]
    fn numbers_of_one_width(numbers in vec(any::<u64>(), 0..80), shift in 0..=64_u32) {
        let numbers: Vec<_> = numbers.iter().map(|n| n.checked_shr(shift).unwrap_or(0)).collect();
        let width = numbers.iter().map(|&n| fixed::width(n)).max().unwrap_or(0);
        let mut out = vec![0xAB];
        fixed::write(&mut out, numbers.iter().copied(), width);
        prop_assert_eq!(out.len(), 1 + fixed::bytes(numbers.len(), width));
        let mut read = Vec::new();
        let ok = fixed::read(&out[1..], numbers.len(), width, |n| read.push(n));
        prop_assert_eq!(ok, Some(()));
        prop_assert_eq!(read, numbers);
    }

    #[test]
    fn unary(numbers in vec(0..300_u64, 0..40)) {
        check_sequence::<Unary>(&numbers);
    }

    #[test]
    fn codes_mix_in_one_buffer(numbers in vec(0..200_u64, 0..60)) {
        let mut bits = Bits::default();
        for &n in &numbers {
            Gamma::write(&mut bits, n);
            Unary::write(&mut bits, n);
            Zeta::<3>::write(&mut bits, n);
            Delta::write(&mut bits, n);
        }
        let mut input = Reader::new(bits.as_bytes());
        for &n in &numbers {
            prop_assert_eq!(Gamma::read(&mut input), Some(n));
            prop_assert_eq!(Unary::read(&mut input), Some(n));
            prop_assert_eq!(Zeta::<3>::read(&mut input), Some(n));
            prop_assert_eq!(Delta::read(&mut input), Some(n));
        }
    }

    #[test]
    fn vbyte_sequence(numbers in vec(number(), 0..80)) {
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
    fn packed_blocks(blocks in vec((vec(any::<u32>(), packed::BLOCK), 0..=32_u32), 0..4)) {
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

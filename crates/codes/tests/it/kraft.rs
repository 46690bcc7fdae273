//! Kraft sums, Σ 2^-length: at most one, and the difference from one is exactly the share of the numbers left out.
//! Computed exactly in fixed point.

use codes::{
    Bits, Code, Delta, Gamma, Golomb, LengthsError, MinimalBinary, PrefixVByte, Unary, VByte, Zeta,
    prefix_code, reduced_binary,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::subjects::every_code;

/// One; the unit of the sums is 2⁻¹⁰⁰.
const ONE: u128 = 1 << 100;

fn kraft_sum(code: &dyn Code, numbers: impl Iterator<Item = u64>) -> u128 {
    numbers.map(|n| ONE >> code.len(n)).sum()
}

/// Checks the sum. `tail` is the sum over all numbers from `end` on, if the code is complete.
fn check_sum(code: &dyn Code, end: u64, tail: u128) {
    assert_eq!(kraft_sum(code, 0..end), ONE - tail, "{} up to {end}", code.name());
}

#[test]
fn unary_is_complete() {
    for end in 1..=100 {
        check_sum(&Unary, end, ONE >> end);
    }
}

/// The codewords of the numbers from 2^h – 1 on are all those that begin with h zeros.
#[test]
fn gamma_is_complete() {
    for h in 0..16 {
        check_sum(&Gamma, (1 << h) - 1, ONE >> h);
        check_sum(&Zeta::new(1), (1 << h) - 1, ONE >> h);
    }
}

/// The codewords of the numbers from 2^hk – 1 on are all those that begin with h zeros.
#[test]
fn zeta_is_complete() {
    for h in 0..5 {
        check_sum(&Zeta::new(2), (1 << (2 * h)) - 1, ONE >> h);
        check_sum(&Zeta::new(3), (1 << (3 * h)) - 1, ONE >> h);
    }
}

/// The numbers from 2^(2^h – 1) – 1 on have a γ codeword of λ that begins with h zeros.
#[test]
fn delta_is_complete() {
    for h in 0..5 {
        check_sum(&Delta, (1 << ((1 << h) - 1)) - 1, ONE >> h);
    }
}

/// No sum exceeds one, for any parameter.
#[test]
fn no_kraft_sum_exceeds_one() {
    for code in every_code() {
        let numbers = (0..5000_u64.min(code.max())).filter(|&n| code.len(n) <= 100);
        let sum = kraft_sum(&*code, numbers);
        assert!(sum <= ONE, "{} {:?}", code.name(), code.parameter());
    }
}

/// The numbers from bq on are those whose codeword begins with q zeros.
#[test]
fn golomb_is_complete() {
    for modulus in [1, 2, 3, 7, 8, 100, 641] {
        for quotient in 0..20 {
            check_sum(&Golomb::new(modulus), modulus * quotient, ONE >> quotient);
        }
    }
}

#[test]
fn minimal_binary_is_complete() {
    for bound in [1, 2, 3, 7, 8, 100, 641, 65536] {
        check_sum(&MinimalBinary::new(bound), bound, 0);
    }
}

/// Codewords that begin with k ones have more than k bytes.
#[test]
fn prefix_vbyte_is_complete() {
    check_sum(&PrefixVByte, 1 << 7, ONE >> 1);
    check_sum(&PrefixVByte, (1 << 7) + (1 << 14), ONE >> 2);
    check_sum(&PrefixVByte, (1 << 7) + (1 << 14) + (1 << 21), ONE >> 3);
}

/// For each length except the first, one codeword in 128 is unused.
#[test]
fn vbyte_is_not_complete() {
    check_sum(&VByte, 1 << 7, ONE >> 1);
    check_sum(&VByte, 1 << 14, (ONE >> 2) + (ONE >> 9));
    check_sum(&VByte, 1 << 21, (ONE >> 3) + (ONE >> 9) + (ONE >> 10));
}

/// Each length alone has the sum one, which is too much for a decodable code.
#[test]
fn reduced_binary_is_not_decodable() {
    let sum: u128 = (0..(1 << 10) - 1).map(|n| ONE >> reduced_binary::codeword(n).len()).sum();
    assert_eq!(sum, 10 * ONE);
}

fn texts(lengths: &[u32]) -> Vec<String> {
    prefix_code(lengths).expect("lengths of a code").iter().map(Bits::to_text).collect()
}

#[test]
fn canonical_codewords_ascend() {
    assert_eq!(texts(&[]), [] as [&str; 0]);
    assert_eq!(texts(&[0]), [""]);
    assert_eq!(texts(&[1, 2, 3, 3]), ["0", "10", "110", "111"]);
    assert_eq!(texts(&[3, 1, 3, 2]), ["110", "0", "111", "10"]);
    assert_eq!(texts(&[2, 2, 2]), ["00", "01", "10"]);
    // RFC 1951, section 3.2.2.
    assert_eq!(
        texts(&[3, 3, 3, 3, 3, 2, 4, 4]),
        ["010", "011", "100", "101", "110", "00", "1110", "1111"]
    );
    assert_eq!(texts(&[1, 64])[1], format!("1{}", "0".repeat(63)));
}

#[test]
fn impossible_codeword_lengths_are_refused_with_their_sum() {
    assert_eq!(prefix_code(&[1, 2, 2, 2]), Err(LengthsError::Kraft { sum: 1.25 }));
    assert_eq!(prefix_code(&[0, 0]), Err(LengthsError::Kraft { sum: 2.0 }));
    assert_eq!(prefix_code(&[1, 65]), Err(LengthsError::TooLong { length: 65 }));
    // One part in 2^64 too much, which a floating-point sum would miss.
    assert!(matches!(prefix_code(&[1, 1, 64]), Err(LengthsError::Kraft { .. })));
    let message = prefix_code(&[1, 1, 1]).unwrap_err().to_string();
    assert!(message.contains("Kraft sum is 1.5"), "{message}");
}

proptest! {
    /// By definition: the lengths are right, and no codeword is a prefix of another.
    #[test]
    fn built_codes_are_prefix_free(lengths in vec(0..10_u32, 0..40)) {
        let sum: u128 = lengths.iter().map(|length| ONE >> length).sum();
        match prefix_code(&lengths) {
            Err(_) => prop_assert!(sum > ONE),
            Ok(codewords) => {
                prop_assert!(sum <= ONE);
                let texts: Vec<String> = codewords.iter().map(Bits::to_text).collect();
                for (at, text) in texts.iter().enumerate() {
                    prop_assert_eq!(text.len(), lengths[at] as usize);
                    let begins = |(other, longer): (usize, &String)| {
                        other != at && longer.starts_with(text.as_str())
                    };
                    prop_assert!(!texts.iter().enumerate().any(begins));
                }
            }
        }
    }

    /// The codeword lengths of every code here satisfy the inequality.
    #[test]
    fn codeword_lengths_of_every_code_form_a_prefix_code(numbers in vec(0..3000_u64, 1..30)) {
        let mut numbers = numbers;
        numbers.sort_unstable();
        numbers.dedup();
        for code in every_code() {
            let lengths = numbers.iter().filter(|&&n| n <= code.max()).map(|&n| code.len(n));
            let lengths = lengths.filter(|&length| length <= 64);
            let lengths: Vec<u32> = lengths.map(|length| u32::try_from(length).unwrap()).collect();
            prop_assert!(prefix_code(&lengths).is_ok(), "{}", code.name());
        }
    }
}

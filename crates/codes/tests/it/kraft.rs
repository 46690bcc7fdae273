//! Kraft sums, Σ 2^-length, against one: never greater, and what is missing from one is exactly
//! the share of the numbers that were left out. In 128 binary places, so that equal means equal.

use codes::{Code, Delta, Gamma, Unary, Zeta};

/// One, and 2⁻¹⁰⁰ is the smallest part that a sum is made of.
const ONE: u128 = 1 << 100;

fn kraft_sum<C: Code>(numbers: impl Iterator<Item = u64>) -> u128 {
    numbers.map(|n| ONE >> C::len(n)).sum()
}

/// `tail`: the sum over all the numbers from `end` on, if the code is complete.
fn check_sum<C: Code>(end: u64, tail: u128) {
    assert_eq!(kraft_sum::<C>(0..end), ONE - tail, "{} up to {end}", C::NAME);
}

#[test]
fn unary_is_complete() {
    for end in 1..=100 {
        check_sum::<Unary>(end, ONE >> end);
    }
}

/// The codewords of the numbers from 2^h – 1 on are all those that begin with h zeros.
#[test]
fn gamma_is_complete() {
    for h in 0..16 {
        check_sum::<Gamma>((1 << h) - 1, ONE >> h);
        check_sum::<Zeta<1>>((1 << h) - 1, ONE >> h);
    }
}

/// The same, for the numbers from 2^hk – 1 on.
#[test]
fn zeta_is_complete() {
    for h in 0..5 {
        check_sum::<Zeta<2>>((1 << (2 * h)) - 1, ONE >> h);
        check_sum::<Zeta<3>>((1 << (3 * h)) - 1, ONE >> h);
    }
}

/// The numbers from 2^(2^h – 1) – 1 on have a γ codeword of λ that begins with h zeros.
#[test]
fn delta_is_complete() {
    for h in 0..5 {
        check_sum::<Delta>((1 << ((1 << h) - 1)) - 1, ONE >> h);
    }
}

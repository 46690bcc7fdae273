//! rANS against its definition: the table of the specification, push and pop as inverse functions, blocks, and
//! their size against the entropy.

use codes::rans::{Frequencies, FrequenciesError, INTERLEAVED_MIN, Model};
use codes::{Code as _, Delta, Histogram, Reader};
use proptest::collection::vec;
use proptest::prelude::*;

fn histogram(numbers: &[u32]) -> Histogram {
    let mut histogram = Histogram::default();
    histogram.add(numbers);
    histogram
}

/// 9/10, 1/30 and 2/30 of 2^10 slots.
#[test]
fn frequencies_match_the_specification() {
    let table = Frequencies::quantise(&[27, 1, 2], 10).unwrap();
    assert_eq!(table.frequencies(), [922, 34, 68]);
    assert_eq!(table.starts(), [0, 922, 956]);
    // push(x, s) = (⌊x / f⌋ << d) + c + x mod f, by hand.
    assert_eq!(table.push(0, 0), Some(0));
    assert_eq!(table.push(1000, 0), Some((1 << 10) + 78));
    assert_eq!(table.push(1000, 1), Some((29 << 10) + 922 + 14));
    assert_eq!(table.push(1000, 2), Some((14 << 10) + 956 + 48));
    assert_eq!(table.pop((29 << 10) + 936), (1, 1000));
}

#[test]
fn every_symbol_with_a_weight_has_a_slot() {
    let table = Frequencies::quantise(&[1 << 60, 0, 1, 1, 1], 2).unwrap();
    assert_eq!(table.frequencies(), [1, 0, 1, 1, 1]);
    let table = Frequencies::quantise(&[1, 1, 1], 10).unwrap();
    assert_eq!(table.frequencies().iter().sum::<u32>(), 1024);
    assert_eq!(table.push(5, 3), None);
    let table = Frequencies::quantise(&[0, 3, 0], 4).unwrap();
    assert_eq!((table.push(5, 0), table.push(5, 1)), (None, Some(5)));
    assert_eq!(table.pop(5), (1, 5));
}

#[test]
fn weights_without_valid_frequencies_are_refused() {
    assert_eq!(Frequencies::quantise(&[], 10), Err(FrequenciesError::NoWeight));
    assert_eq!(Frequencies::quantise(&[0, 0], 10), Err(FrequenciesError::NoWeight));
    let few = FrequenciesError::TooFewSlots { symbols: 3, slots: 2 };
    assert_eq!(Frequencies::quantise(&[1, 1, 1], 1), Err(few));
    let many = FrequenciesError::TooManySlots { bits: 17 };
    assert_eq!(Frequencies::quantise(&[1], 17), Err(many));
}

fn check_block(model: &Model, numbers: &[u32]) -> usize {
    let mut bytes = Vec::new();
    model.write(numbers, &mut bytes);
    let length = bytes.len();
    bytes.extend([0xAB; 3]);
    let (mut input, mut out) = (&bytes[..], vec![7; numbers.len()]);
    assert_eq!(model.read(&mut input, &mut out), Some(()), "{} numbers", numbers.len());
    assert_eq!(out, numbers);
    assert_eq!(input, [0xAB; 3]);
    length
}

/// A geometric sequence: within a hundredth of a bit per number of the entropy, plus the initial states.
#[test]
fn blocks_take_little_more_than_the_entropy() {
    let mut seed = 1_u64;
    let numbers: Vec<u32> = (0..100_000)
        .map(|_| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 20 | 1 << 40).trailing_zeros()
        })
        .collect();
    let histogram = histogram(&numbers);
    let bits = check_block(&Model::new(&histogram), &numbers) * 8;
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let each = bits as f64 / numbers.len() as f64;
    let entropy = histogram.entropy();
    // 100 unused buckets of at most one slot of 4096 each cost 0.04 bits.
    assert!(each > entropy && each < entropy + 0.05, "{each} bits against {entropy}");
}

#[test]
fn a_short_list_takes_few_bytes() {
    let numbers = [3, 0, 1, 0, 0, 2, 1, 0];
    let model = Model::new(&histogram(&numbers));
    // 12 bits for the first number, 1.8 for the others, and one bit that says that there are no words.
    assert_eq!(check_block(&model, &numbers), 4);
    assert_eq!(check_block(&model, &[0]), 1);
    assert_eq!(check_block(&model, &[]), 0);
}

proptest! {
    #[test]
    fn pop_reverses_push(
        weights in vec(0..50_u64, 1..20),
        symbol in any::<prop::sample::Index>(),
        x in any::<u64>(),
        shift in 0..64_u32,
        bits in 5..=16_u32,
    ) {
        prop_assume!(weights.iter().any(|&weight| weight > 0));
        let table = Frequencies::quantise(&weights, bits).unwrap();
        prop_assert_eq!(table.frequencies().iter().sum::<u32>(), 1 << bits);
        let (symbol, x) = (symbol.index(weights.len()), x >> shift);
        match table.push(x, symbol) {
            Some(pushed) => prop_assert_eq!(table.pop(pushed), (symbol, x)),
            None => prop_assert!(weights[symbol] == 0 || x >= 1 << (63 - bits)),
        }
        // Push reverses pop.
        let (symbol, before) = table.pop(x);
        prop_assert_eq!(table.push(before, symbol), Some(x));
    }

    /// Every number can be coded, even under the model of other numbers.
    #[test]
    fn blocks_round_trip(
        numbers in vec((any::<u32>(), 0..32_u32), 0..1200),
        others in vec(0..20_u32, 0..30),
    ) {
        let numbers: Vec<u32> = numbers.iter().map(|&(n, shift)| n >> shift).collect();
        for of in [&numbers, &others] {
            let model = Model::new(&histogram(of));
            for count in [numbers.len(), 1, 7, INTERLEAVED_MIN - 1, INTERLEAVED_MIN + 3] {
                check_block(&model, &numbers[..count.min(numbers.len())]);
            }
            let mut saved = Vec::new();
            model.save(&mut saved);
            saved.push(0xAB);
            let mut input = &saved[..];
            let loaded = Model::load(&mut input).unwrap();
            prop_assert_eq!(input, [0xAB]);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            model.write(&numbers, &mut a);
            loaded.write(&numbers, &mut b);
            prop_assert_eq!(a, b);
        }
    }
}

/// Slots of the buckets of a saved model.
fn slots(model: &Model) -> Vec<u64> {
    let mut bytes = Vec::new();
    model.save(&mut bytes);
    let mut reader = Reader::new(&bytes);
    (0..128).map(|_| Delta.read(&mut reader).expect("128 numbers") + 1).collect()
}

/// P(N ≥ n) = (σ / (n + σ))² with σ = 2^(class / 2 – 4), where √2 is 181 / 128 and σ is truncated to sixteenths.
/// The buckets are 0, 1, …, 15, then [4 · 2ˡ, 5 · 2ˡ), …, [7 · 2ˡ, 8 · 2ˡ) for l = 2, 3, …, in 4096 slots. Another
/// program computed these tables from the definition with exact fractions. Buckets before the first and after the
/// last number of a table have one slot.
#[test]
fn lomax_models_match_their_definition() {
    let tables: [(u8, usize, &[u64]); 5] = [
        (0, 0, &[3959, 10, 2]),
        (9, 0, &[2654, 676, 268, 133, 76, 47, 31, 22, 16, 12, 9, 7, 6, 5, 4, 3, 8, 5, 3, 2, 2]),
        (
            20,
            0,
            &[
                123, 117, 112, 107, 102, 98, 94, 90, 86, 83, 80, 76, 73, 71, 68, 65, 239, 207, 181,
                159, 264, 209, 169, 138, 211, 151, 111, 85, 118, 77, 53, 38, 49, 30, 19, 13, 16, 9,
                6, 4, 5, 3, 2,
            ],
        ),
        (
            41,
            28,
            &[
                3, 3, 3, 3, 6, 6, 6, 6, 11, 11, 11, 11, 22, 21, 21, 21, 41, 41, 40, 40, 77, 75, 73,
                70, 134, 127, 119, 113, 207, 186, 167, 151, 262, 218, 183, 155, 248, 187, 144, 114,
                166, 113, 80, 59, 79, 49, 33, 23, 29, 17, 11, 7, 9, 5, 3, 2, 3,
            ],
        ),
        (
            63,
            72,
            &[
                3, 3, 3, 3, 6, 6, 6, 6, 11, 11, 11, 11, 22, 21, 21, 21, 41, 41, 40, 40, 77, 75, 73,
                70, 134, 127, 119, 113, 207, 186, 168, 151, 262, 218, 183, 156, 248, 187, 144, 114,
                166, 113, 80, 59, 79, 49, 33, 23, 29, 17, 11, 7, 9, 5, 3, 2,
            ],
        ),
    ];
    for (class, ones, table) in tables {
        let mut wanted = vec![1; ones];
        wanted.extend(table);
        wanted.resize(128, 1);
        assert_eq!(wanted.iter().sum::<u64>(), 4096, "class {class}");
        assert_eq!(slots(&Model::lomax(class)), wanted, "class {class}");
    }
    // Greater classes are clamped.
    assert_eq!(slots(&Model::lomax(200)), slots(&Model::lomax(63)));
}

//! Codewords against published tables, and lengths against published formulas.

use codes::{
    Bits, Code, Delta, Gamma, Golomb, MinimalBinary, PrefixVByte, Reader, Unary, VByte, Zeta,
    packed, pfor, prefix_vbyte, reduced_binary, vbyte,
};

use crate::subjects::every_code;

fn check_table(code: &dyn Code, table: &[&str]) {
    for (n, &codeword) in (0..).zip(table) {
        let mut bits = Bits::default();
        code.write(&mut bits, n);
        assert_eq!(bits.to_text(), codeword, "{} codeword of {n}", code.name());
        assert_eq!(bits.len(), codeword.len());
        assert_eq!(code.len(n), codeword.len(), "{} length of {n}", code.name());
        let bytes = bits.into_bytes();
        let mut input = Reader::new(&bytes);
        assert_eq!(code.read(&mut input), Some(n));
        assert_eq!(input.position(), codeword.len());
    }
}

/// Both ends of every power of two, and the greatest number.
fn boundaries(max: u64) -> impl Iterator<Item = u64> {
    (0..64).flat_map(|shift| [(1 << shift) - 1, 1 << shift]).filter(move |&n| n <= max).chain([max])
}

#[test]
fn unary_is_a_run_of_zeros() {
    check_table(&Unary, &["1", "01", "001", "0001", "00001", "000001"]);
}

/// P. Elias, "Universal codeword sets and representations of the integers", 1975; here from zero.
#[test]
fn gamma_matches_elias_1975() {
    check_table(&Gamma, &["1", "010", "011", "00100", "00101", "00110", "00111", "0001000"]);
    for x in boundaries(Gamma.max()) {
        let lambda = (x + 1).ilog2() as usize;
        assert_eq!(Gamma.len(x), 2 * lambda + 1, "length of {x}");
    }
}

/// P. Elias, "Universal codeword sets and representations of the integers", 1975; here from zero.
#[test]
fn delta_matches_elias_1975() {
    check_table(
        &Delta,
        &["1", "0100", "0101", "01100", "01101", "01110", "01111", "00100000", "00100001"],
    );
    for x in boundaries(Delta.max()) {
        let lambda = (x + 1).ilog2();
        let length = 2 * (lambda + 1).ilog2() + 1 + lambda;
        assert_eq!(Delta.len(x), length as usize, "length of {x}");
    }
}

/// P. Boldi, S. Vigna, "Codes for the World Wide Web", 2005, table 1, for the numbers 1 to 8 there.
#[test]
fn zeta_matches_boldi_and_vigna_2005() {
    check_table(&Zeta::new(1), &["1", "010", "011", "00100", "00101", "00110", "00111", "0001000"]);
    check_table(&Zeta::new(2), &["10", "110", "111", "01000", "01001", "01010", "01011", "011000"]);
    check_table(&Zeta::new(3), &["100", "1010", "1011", "1100", "1101", "1110", "1111", "0100000"]);
    check_table(
        &Zeta::new(4),
        &["1000", "10010", "10011", "10100", "10101", "10110", "10111", "11000"],
    );
}

#[test]
fn every_code_round_trips_its_boundary_values() {
    for code in every_code() {
        for n in boundaries(code.max()).filter(|&n| code.len(n) < 1 << 16) {
            let mut bits = Bits::default();
            code.write(&mut bits, n);
            assert_eq!(bits.len(), code.len(n), "{} length of {n}", code.name());
            let read = code.read(&mut Reader::new(bits.as_bytes()));
            assert_eq!(read, Some(n), "{} of {n}", code.name());
        }
    }
}

/// S. W. Golomb, "Run-length encodings", 1966, table 2. The quotient is in zeros, as in R. Baeza-Yates, B.
/// Ribeiro-Neto, so its bits are inverted.
#[test]
fn golomb_matches_its_table() {
    check_table(&Golomb::new(1), &["1", "01", "001", "0001"]);
    check_table(&Golomb::new(2), &["10", "11", "010", "011", "0010", "0011"]);
    check_table(&Golomb::new(3), &["10", "110", "111", "010", "0110", "0111", "0010", "00110"]);
    check_table(&Golomb::new(4), &["100", "101", "110", "111", "0100", "0101"]);
    check_table(&Golomb::new(5), &["100", "101", "110", "1110", "1111", "0100", "0101", "0110"]);
}

/// R. G. Gallager, D. C. van Voorhis, 1975: the least b with θ^b + θ^(b + 1) ≤ 1.
#[test]
fn golomb_parameter_matches_gallager_and_van_voorhis() {
    let modulus = |mean| Golomb::for_mean(mean).parameter().unwrap();
    for mean in [0.1, 0.5, 0.618, 1.0, 1.6, 2.0, 5.0, 10.0, 99.5, 1234.0] {
        let theta: f64 = mean / (1.0 + mean);
        let holds = |b: u32| theta.powi(b.cast_signed()) + theta.powi(b.cast_signed() + 1) <= 1.0;
        let least = (1..10_000).find(|&b| holds(b)).unwrap();
        assert_eq!(modulus(mean), u64::from(least), "mean {mean}");
    }
    for (mean, expected) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1)] {
        assert_eq!(modulus(mean), expected, "mean {mean}");
    }
    assert_eq!(modulus(1e6), 693_148);
    assert_eq!(modulus(1e18), 693_147_180_559_945_216);
    assert_eq!(modulus(f64::INFINITY), modulus(18_446_744_073_709_551_616.0));
    assert_eq!(Golomb::fitting(&[u64::MAX - 1]).len(u64::MAX - 1), 65);
    assert_eq!(Golomb::fitting::<u32>(&[]).parameter(), Some(1));
    assert_eq!(Golomb::fitting(&[9_u32, 11]).parameter(), Some(7));
}

#[test]
fn minimal_binary_matches_its_definition() {
    check_table(&MinimalBinary::new(1), &[""]);
    check_table(&MinimalBinary::new(2), &["0", "1"]);
    check_table(&MinimalBinary::new(3), &["0", "10", "11"]);
    check_table(&MinimalBinary::new(5), &["00", "01", "10", "110", "111"]);
    check_table(&MinimalBinary::new(6), &["00", "01", "100", "101", "110", "111"]);
    check_table(&MinimalBinary::new(8), &["000", "001", "010", "011", "100", "101", "110", "111"]);
}

#[test]
fn reduced_binary_is_binary_without_its_leading_one() {
    let table = ["", "0", "1", "00", "01", "10", "11", "000", "001"];
    for (n, codeword) in (0..).zip(table) {
        assert_eq!(reduced_binary::codeword(n).to_text(), codeword, "codeword of {n}");
    }
    for n in boundaries(reduced_binary::MAX) {
        let bits = reduced_binary::codeword(n);
        assert_eq!(bits.len(), (n + 1).ilog2() as usize);
        assert_eq!(reduced_binary::number(&bits), Some(n));
    }
    let long = Bits::from_text(&"0".repeat(64)).unwrap();
    assert_eq!(reduced_binary::number(&long), None);
}

/// The table in the module header, and both ends of each length, on bits and on bytes.
#[test]
fn prefix_vbyte_starts_with_its_length() {
    let table: [(u64, &[u8]); 8] = [
        (0, &[0x00]),
        (127, &[0x7f]),
        (128, &[0x80, 0x00]),
        (129, &[0x80, 0x01]),
        (16_511, &[0xbf, 0xff]),
        (16_512, &[0xc0, 0x00, 0x00]),
        (2_113_663, &[0xdf, 0xff, 0xff]),
        (u64::MAX, &[0xff, 0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f]),
    ];
    for (n, codeword) in table {
        let mut bytes = Vec::new();
        prefix_vbyte::write(&mut bytes, n);
        assert_eq!(bytes, codeword, "codeword of {n}");
    }
    let mut first = 0_u64;
    for length in 1..9 {
        first += 1 << (7 * length);
        for (n, expected) in [(first - 1, length), (first, length + 1)] {
            let mut bytes = Vec::new();
            prefix_vbyte::write(&mut bytes, n);
            assert_eq!(bytes.len(), expected, "length of {n}");
        }
    }
}

/// Byte codes have the same codewords on bits as on bytes.
#[test]
fn byte_codes_are_identical_in_a_bit_stream() {
    for n in boundaries(u64::MAX) {
        let (mut bits, mut bytes) = (Bits::default(), Vec::new());
        VByte.write(&mut bits, n);
        vbyte::write(&mut bytes, n);
        assert_eq!(bits.as_bytes(), bytes);
        let (mut bits, mut bytes) = (Bits::default(), Vec::new());
        PrefixVByte.write(&mut bits, n);
        prefix_vbyte::write(&mut bytes, n);
        assert_eq!(bits.as_bytes(), bytes);
    }
}

#[test]
fn bits_match_their_text() {
    for text in ["", "0", "1", "0010110", "000000001", "1111111100000000"] {
        assert_eq!(Bits::from_text(text).unwrap().to_text(), text);
    }
    for text in ["2", "01 ", "0b1", "/"] {
        assert_eq!(Bits::from_text(text), None, "{text}");
    }
}

/// The examples of the DWARF standard (LEB128, unsigned), and both ends of each length.
#[test]
fn vbyte_matches_leb128() {
    let table: [(u64, &[u8]); 8] = [
        (0, &[0x00]),
        (2, &[0x02]),
        (127, &[0x7f]),
        (128, &[0x80, 0x01]),
        (129, &[0x81, 0x01]),
        (12857, &[0xb9, 0x64]),
        (624_485, &[0xe5, 0x8e, 0x26]),
        (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ];
    for (n, codeword) in table {
        let mut bytes = Vec::new();
        vbyte::write(&mut bytes, n);
        assert_eq!(bytes, codeword, "codeword of {n}");
        let mut input = codeword;
        assert_eq!(vbyte::read(&mut input), Some(n));
        assert!(input.is_empty());
    }
    for length in 1..10 {
        for (n, expected) in [((1 << (7 * length)) - 1, length), (1 << (7 * length), length + 1)] {
            let mut bytes = Vec::new();
            vbyte::write(&mut bytes, n);
            assert_eq!(bytes.len(), expected, "length of {n}");
        }
    }
}

/// The layout described in the header of `packed`: four lanes, lowest bits first.
#[test]
fn packed_uses_four_lanes() {
    let mut values = [0; packed::BLOCK];
    (values[0], values[1], values[5], values[127]) = (1, 3, 2, 1);
    let mut bytes = Vec::new();
    packed::write(&values, &mut bytes);
    let mut expected = vec![0; 1 + 32];
    expected[0] = 2;
    expected[1] = 1; // number 0: lane 0, word 0, bits 0–1
    expected[1 + 4] = 3 | 2 << 2; // numbers 1 and 5: lane 1, word 0, bits 0–3
    expected[1 + 31] = 1 << 6; // number 127: lane 3, word 1, bits 30–31
    assert_eq!(bytes, expected);
}

/// The layout described in the header of `pfor`.
#[test]
fn pfor_uses_eight_lanes_followed_by_exceptions() {
    let mut values = [1; pfor::BLOCK];
    (values[1], values[9], values[200]) = (3, 2, 0b1_0111);
    let mut bytes = Vec::new();
    pfor::write(&values, pfor::Choice::Coverage { percent: 99 }, &mut bytes);
    let mut expected = vec![0x55; 1 + 64];
    expected[0] = 2 | 0x80;
    expected[1 + 4] = 0b0101_1011; // numbers 1 and 9: lane 1, word 0, bits 0–3
    expected[1 + 32 + 2] = 0b0101_1101; // number 200: lane 0, word 1, bits 18–19
    expected.extend([0, 3, 200, 0b101]);
    assert_eq!(bytes, expected);

    let mut bytes = Vec::new();
    pfor::write(&[1, 2, 3, 0, 900], pfor::Choice::Optimum, &mut bytes);
    assert_eq!(bytes, [2 | 0x80, 0b0011_1001, 0, 0, 8, 4, 225]);
}

/// Under `Coverage` the width is the least that fits the percentage, even if exceptions are costly. The gaps of
/// {1, 2, 5, 14} are a set with bits 1, 2, 5 and 14.
#[test]
fn pfor_can_use_unary() {
    let mut bytes = Vec::new();
    pfor::write(&[1, 0, 2, 8], pfor::Choice::OptimumOrUnary, &mut bytes);
    assert_eq!(bytes, [64, 2, 0b0010_0110, 0b0100_0000]);
    let mut read = [0; 4];
    assert_eq!(pfor::read(&mut &bytes[..], &mut read), Some(()));
    assert_eq!(read, [1, 0, 2, 8]);
    for (count, bits) in [(3, &bytes[..]), (5, &bytes), (4, &bytes[..3]), (4, &[64, 3, 38, 64, 0])]
    {
        assert_eq!(pfor::read(&mut &bits[..], &mut vec![0; count]), None);
    }
}

#[test]
fn pfor_coverage_uses_the_least_width_for_the_percentage() {
    let width = |great: usize, percent: u8| {
        let values: Vec<u32> =
            (0..pfor::BLOCK).map(|at| if at < great { 1 << 31 } else { 7 }).collect();
        let mut bytes = Vec::new();
        pfor::write(&values, pfor::Choice::Coverage { percent }, &mut bytes);
        bytes[0]
    };
    assert_eq!(width(0, 90), 3);
    assert_eq!(width(25, 90), 3 | 0x80);
    assert_eq!(width(26, 90), 32);
    assert_eq!(width(1, 100), 32);
    assert_eq!(width(255, 0), 0x80);
}

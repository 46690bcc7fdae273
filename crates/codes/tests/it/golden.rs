//! Codewords against published tables, and lengths against published formulas.

use codes::{Bits, Code, Delta, Gamma, Reader, Unary, Zeta, packed, vbyte};

fn check_table<C: Code>(table: &[&str]) {
    for (n, &codeword) in (0..).zip(table) {
        let mut bits = Bits::default();
        C::write(&mut bits, n);
        assert_eq!(bits.to_text(), codeword, "{} codeword of {n}", C::NAME);
        assert_eq!(bits.len(), codeword.len());
        assert_eq!(C::len(n), codeword.len(), "{} length of {n}", C::NAME);
        let bytes = bits.into_bytes();
        let mut input = Reader::new(&bytes);
        assert_eq!(C::read(&mut input), Some(n));
        assert_eq!(input.position(), codeword.len());
    }
}

/// Both ends of every power of two, the smallest numbers, and the greatest.
fn boundaries(max: u64) -> impl Iterator<Item = u64> {
    (0..64).flat_map(|shift| [(1 << shift) - 1, 1 << shift]).filter(move |&n| n <= max).chain([max])
}

#[test]
fn unary_is_a_run_of_zeros() {
    check_table::<Unary>(&["1", "01", "001", "0001", "00001", "000001"]);
}

/// P. Elias, "Universal codeword sets and representations of the integers", 1975; here from zero.
#[test]
fn gamma_matches_elias_1975() {
    check_table::<Gamma>(&["1", "010", "011", "00100", "00101", "00110", "00111", "0001000"]);
    for x in boundaries(Gamma::MAX) {
        let lambda = (x + 1).ilog2() as usize;
        assert_eq!(Gamma::len(x), 2 * lambda + 1, "length of {x}");
    }
}

/// The same paper.
#[test]
fn delta_matches_elias_1975() {
    check_table::<Delta>(&[
        "1", "0100", "0101", "01100", "01101", "01110", "01111", "00100000", "00100001",
    ]);
    for x in boundaries(Delta::MAX) {
        let lambda = (x + 1).ilog2();
        let length = 2 * (lambda + 1).ilog2() + 1 + lambda;
        assert_eq!(Delta::len(x), length as usize, "length of {x}");
    }
}

/// P. Boldi, S. Vigna, "Codes for the World Wide Web", 2005, table 1, for the numbers 1 to 8 there.
#[test]
fn zeta_matches_boldi_and_vigna_2005() {
    check_table::<Zeta<1>>(&["1", "010", "011", "00100", "00101", "00110", "00111", "0001000"]);
    check_table::<Zeta<2>>(&["10", "110", "111", "01000", "01001", "01010", "01011", "011000"]);
    check_table::<Zeta<3>>(&["100", "1010", "1011", "1100", "1101", "1110", "1111", "0100000"]);
    check_table::<Zeta<4>>(&[
        "1000", "10010", "10011", "10100", "10101", "10110", "10111", "11000",
    ]);
}

#[test]
fn every_code_reaches_its_ends() {
    fn check<C: Code>() {
        for n in boundaries(C::MAX) {
            let mut bits = Bits::default();
            C::write(&mut bits, n);
            assert_eq!(bits.len(), C::len(n), "{} length of {n}", C::NAME);
            assert_eq!(C::read(&mut Reader::new(bits.as_bytes())), Some(n), "{} of {n}", C::NAME);
        }
    }
    check::<Gamma>();
    check::<Delta>();
    check::<Zeta<1>>();
    check::<Zeta<2>>();
    check::<Zeta<3>>();
    check::<Zeta<4>>();
    check::<Zeta<5>>();
    check::<Zeta<6>>();
    check::<Zeta<7>>();
}

/// The examples of the DWARF standard (LEB128, unsigned), and both sides of each length.
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

/// The bytes that the header of `packed` describes: lanes of four, lowest bits first.
#[test]
fn packed_lies_in_four_lanes() {
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

//! Signatures against the vectors that the xxHash project checks itself with, and the odds of a
//! collision against the formula.

use sieve::{Signature, expected_collisions, signature};

/// The first `len` bytes of the buffer of xxHash's own sanity check.
fn sanity_buffer(len: usize) -> Vec<u8> {
    let mut state = 2_654_435_761_u64;
    std::iter::repeat_with(|| {
        let [.., byte] = state.to_le_bytes();
        state = state.wrapping_mul(11_400_714_785_074_694_797);
        byte
    })
    .take(len)
    .collect()
}

/// Y. Collet, xxHash, sanity check of XXH3 with 64 bits and seed 0. The lengths take every path of
/// the algorithm: up to 3, 8, 16, 128 and 240 bytes, and more.
#[test]
fn signatures_are_xxh3() {
    let table = [
        (0, 0x2D06_8005_38D3_94C2),
        (1, 0xC44B_DFF4_074E_ECDB),
        (6, 0x27B5_6A84_CD2D_7325),
        (12, 0xA713_DAF0_DFBB_77E7),
        (24, 0xA3FE_70BF_9D35_10EB),
        (48, 0x397D_A259_ECBA_1F11),
        (80, 0xBCDE_FBBB_2C47_C90A),
        (195, 0xCD94_217E_E362_EC3A),
        (403, 0xCDEB_804D_65C6_DEA4),
        (512, 0x617E_4959_9013_CB6B),
        (2048, 0xDD59_E2C3_A5F0_38E0),
        (2240, 0x6E73_A905_39CF_2948),
        (2367, 0xCB37_AEB9_E5D3_61ED),
    ];
    for (len, expected) in table {
        assert_eq!(signature(&sanity_buffer(len)), Signature(expected), "of {len} bytes");
    }
}

#[test]
#[expect(clippy::float_cmp, reason = "powers of two: no rounding")]
fn collisions_grow_quadratically() {
    assert_eq!(expected_collisions(0), 0.0);
    assert_eq!(expected_collisions(1 << 16), 2_f64.powi(-32));
    assert_eq!(expected_collisions(1 << 32), 1.0);
    assert!(expected_collisions(u64::MAX).is_finite());
}

//! SimHash: each bit is the majority of that bit over the features.

/// The SimHash of the lowest `bits` bits of `features`; a tie gives zero.
pub fn simhash(features: impl Iterator<Item = u64>, bits: u32) -> u64 {
    let mut balance = [0_i64; 64];
    for feature in features {
        for (bit, balance) in balance.iter_mut().enumerate() {
            *balance += if feature >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    (0..bits.min(64) as usize).filter(|&bit| balance[bit] > 0).map(|bit| 1 << bit).sum()
}

//! Every code, with parameters from everywhere in their range.

use codes::{Code, Delta, Gamma, Golomb, MinimalBinary, PrefixVByte, Unary, VByte, Zeta};

pub(crate) fn every_code() -> Vec<Box<dyn Code>> {
    let mut codes: Vec<Box<dyn Code>> = vec![
        Box::new(Unary),
        Box::new(Gamma),
        Box::new(Delta),
        Box::new(VByte),
        Box::new(PrefixVByte),
    ];
    codes.extend((1..=Zeta::K_MAX).map(|k| Box::new(Zeta::new(k)) as Box<dyn Code>));
    for parameter in [1, 2, 3, 5, 8, 100, 1 << 20, (1 << 33) - 1, 1 << 63, u64::MAX] {
        codes.push(Box::new(Golomb::new(parameter)));
        codes.push(Box::new(MinimalBinary::new(parameter)));
    }
    codes
}

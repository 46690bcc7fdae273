//! [`Survey`]: the size of lists of numbers under every code.
//!
//! A code of single numbers costs its codewords, without padding between lists. A parameter per list costs a δ
//! codeword in addition. A block code costs every byte that it writes, list by list. The model of rANS costs once.
//!
//! | code | parameter |
//! |---|---|
//! | `unary`, `gamma`, `delta`, `vbyte`, `prefix-vbyte` | none |
//! | `zeta` | *k* from 2 to 7 |
//! | `golomb` | the modulus for the mean of all numbers |
//! | `golomb-list` | the modulus for the mean of each list |
//! | `minimal-binary` | the bound is one more than the greatest number |
//! | `minimal-binary-list` | the bound is one more than the greatest number of each list |
//! | `packed` | blocks of 128, the remainder as `vbyte` |
//! | `pfor` | blocks of 256, with the width that 90% of the numbers fit |
//! | `pfor-optimum` | blocks of 256, with the best width |
//! | `pfor-unary` | as `pfor-optimum`, or unary where that is not much longer |
//! | `rans` | one model for all |
//!
//! **Invariant.** A cost is the size of the output of this crate's coders.

use crate::pfor::Choice;
use crate::rans::Model;
use crate::{
    Code, Delta, Gamma, Golomb, Histogram, MinimalBinary, PrefixVByte, Unary, VByte, Zeta, packed,
    pfor, vbyte,
};

/// Size of numbers under one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The name of the code.
    pub code: &'static str,
    /// Its parameter, if all lists share one.
    pub parameter: Option<u64>,
    /// Whether it is a block code, decoded by SIMD instructions.
    pub is_vectorised: bool,
    /// Total bits.
    pub bits: u64,
}

/// Total bits of the codes that depend on more than single numbers.
#[derive(Debug, Clone, Copy, Default)]
struct ByList {
    golomb: u64,
    minimal_binary: u64,
    packed: u64,
    pfor: u64,
    pfor_optimum: u64,
    pfor_unary: u64,
    rans: u64,
}

/// Measures lists. All their numbers must be counted first.
#[derive(Debug, Clone)]
pub struct Survey {
    histogram: Histogram,
    model: Model,
    by_list: ByList,
    bytes: Vec<u8>,
}

impl Survey {
    /// A survey of the numbers in `histogram`. The same numbers must then be [added](Survey::add) list by list.
    pub fn new(histogram: Histogram) -> Self {
        let model = Model::new(&histogram);
        let mut bytes = Vec::new();
        model.save(&mut bytes);
        let by_list = ByList { rans: bits(&bytes), ..ByList::default() };
        Self { histogram, model, by_list, bytes }
    }

    /// The histogram of the numbers.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The model of the numbers under rANS.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Measures one list.
    pub fn add(&mut self, list: &[u32]) {
        let Some(&max) = list.iter().max() else { return };
        let total = |code: &dyn Code, parameter: u64| {
            let codewords: usize = list.iter().map(|&n| code.len(u64::from(n))).sum();
            (codewords + Delta.len(parameter)) as u64
        };
        let golomb = Golomb::fitting(list);
        self.by_list.golomb += total(&golomb, golomb.parameter().map_or(0, |b| b - 1));
        let binary = MinimalBinary::new(u64::from(max) + 1);
        self.by_list.minimal_binary += total(&binary, u64::from(max));

        self.bytes.clear();
        let (blocks, left) = list.as_chunks();
        for block in blocks {
            packed::write(block, &mut self.bytes);
        }
        for &n in left {
            vbyte::write(&mut self.bytes, u64::from(n));
        }
        self.by_list.packed += bits(&self.bytes);

        let sums = &mut self.by_list;
        for (choice, sum) in [
            (Choice::Coverage { percent: 90 }, &mut sums.pfor),
            (Choice::Optimum, &mut sums.pfor_optimum),
            (Choice::OptimumOrUnary, &mut sums.pfor_unary),
        ] {
            self.bytes.clear();
            for block in list.chunks(pfor::BLOCK) {
                pfor::write(block, choice, &mut self.bytes);
            }
            *sum += bits(&self.bytes);
        }

        self.bytes.clear();
        self.model.write(list, &mut self.bytes);
        self.by_list.rans += bits(&self.bytes);
    }

    /// The codes with a fixed codeword for each number, with parameters for these numbers.
    pub fn instantaneous(&self) -> Vec<Box<dyn Code>> {
        let mut codes: Vec<Box<dyn Code>> = vec![Box::new(Unary), Box::new(Gamma), Box::new(Delta)];
        codes.extend((2..=Zeta::K_MAX).map(|k| Box::new(Zeta::new(k)) as Box<dyn Code>));
        codes.push(Box::new(Golomb::for_mean(self.histogram.mean())));
        codes.push(Box::new(MinimalBinary::new(u64::from(self.histogram.max()) + 1)));
        codes.push(Box::new(VByte));
        codes.push(Box::new(PrefixVByte));
        codes
    }

    /// Size of the numbers under every code.
    pub fn costs(&self) -> Vec<Cost> {
        let single = self.instantaneous().into_iter().map(|code| Cost {
            code: code.name(),
            parameter: code.parameter(),
            is_vectorised: false,
            bits: self.histogram.bits(&*code),
        });
        let sums = &self.by_list;
        let by_list = [
            ("golomb-list", false, sums.golomb),
            ("minimal-binary-list", false, sums.minimal_binary),
            ("packed", true, sums.packed),
            ("pfor", true, sums.pfor),
            ("pfor-optimum", true, sums.pfor_optimum),
            ("pfor-unary", true, sums.pfor_unary),
            ("rans", false, sums.rans),
        ];
        let by_list = by_list.map(|(code, is_vectorised, bits)| Cost {
            code,
            parameter: None,
            is_vectorised,
            bits,
        });
        single.chain(by_list).collect()
    }
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.len() as u64 * 8
}

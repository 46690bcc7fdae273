//! Significance of the difference between two runs, topic by topic.
//!
//! There are two tests: Student's paired test, which assumes normal differences, and Fisher's randomization test.
//! The latter swaps the figures of both runs at random on each topic and counts differences at least as great.
//!
//! **Invariant.** Equal figures give equal results: the random generator has a fixed seed.
//!
//! **Reference.** M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests for
//! information retrieval evaluation", CIKM 2007; W. H. Press et al., *Numerical Recipes*, section 6.4 (the incomplete
//! beta function by continued fractions).

use super::{Figures, real};
use libm::lgamma;

/// Number of random trials.
const THROWS: usize = 20_000;

/// The comparison of two runs by one measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The number of topics.
    pub topics: usize,
    /// The mean of the first run minus that of the second.
    pub difference: f64,
    /// The number of topics on which the first run is better.
    pub better: usize,
    /// The number of topics on which the first run is worse.
    pub worse: usize,
    /// The two-sided p-value of Student's paired test, 1 without a difference.
    pub student: f64,
    /// The two-sided p-value of the randomization test.
    pub randomisation: f64,
}

/// Compares two runs by their figures on the topics that both have.
pub fn compare(first: &Figures, second: &Figures) -> Comparison {
    let both = first.of_topics.iter().filter_map(|(topic, of_first)| {
        second.of_topics.get(topic).map(|of_second| of_first - of_second)
    });
    let differences: Vec<f64> = both.collect();
    let topics = differences.len();
    let sum: f64 = differences.iter().sum();
    Comparison {
        topics,
        difference: if topics == 0 { 0.0 } else { sum / real(topics) },
        better: differences.iter().filter(|&&difference| difference > 0.0).count(),
        worse: differences.iter().filter(|&&difference| difference < 0.0).count(),
        student: student(&differences),
        randomisation: randomisation(&differences),
    }
}

fn student(differences: &[f64]) -> f64 {
    if differences.len() < 2 || differences.iter().all(|&difference| difference == 0.0) {
        return 1.0;
    }
    let (count, freedom) = (real(differences.len()), real(differences.len() - 1));
    let mean = differences.iter().sum::<f64>() / count;
    let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / freedom;
    if variance == 0.0 {
        return 0.0;
    }
    let t_squared = mean * mean * count / variance;
    regularised_beta(freedom / (freedom + t_squared), freedom / 2.0, 0.5)
}

fn randomisation(differences: &[f64]) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    // Differences that are equal up to rounding count as equal.
    let least = observed - 1e-12 * differences.iter().map(|d| d.abs()).sum::<f64>();
    let mut coins = Coins(0x9E37_79B9_7F4A_7C15);
    let mut as_great = 0;
    for _ in 0..THROWS {
        let thrown = differences.iter().map(|&d| if coins.next() { d } else { -d });
        as_great += usize::from(thrown.sum::<f64>().abs() >= least);
    }
    real(as_great + 1) / real(THROWS + 1)
}

/// Random bits, by G. Marsaglia's 64-bit xorshift.
struct Coins(u64);

impl Coins {
    fn next(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 63 == 1
    }
}

/// The regularised incomplete beta function.
fn regularised_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * x.ln() + b * (1.0 - x).ln();
    // The fraction converges if x is on this side of the mean; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - front.exp() * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const STEPS_MAX: u32 = 1_000;
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut upper, mut lower) = (1.0, 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = lower;
    for step in 1..=STEPS_MAX {
        let step = f64::from(step);
        let even = step * (b - step) * x / ((a + 2.0 * step - 1.0) * (a + 2.0 * step));
        let odd = -(a + step) * (a + b + step) * x / ((a + 2.0 * step) * (a + 2.0 * step + 1.0));
        let before = fraction;
        for coefficient in [even, odd] {
            lower = 1.0 / not_zero(1.0 + coefficient * lower);
            upper = not_zero(1.0 + coefficient / upper);
            fraction *= upper * lower;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn the_beta_function_matches_published_tables() {
        check(regularised_beta(0.3, 1.0, 1.0), 0.3);
        check(regularised_beta(0.25, 2.0, 3.0), 0.261_718_75);
        check(regularised_beta(0.9, 2.0, 3.0), 0.9963);
    }

    #[test]
    fn the_students_test_matches_the_textbook() {
        // One degree of freedom is Cauchy's distribution: 1 - 2 atan(t) / π.
        let t = 3.0_f64; // of 1 and 2: mean 1.5, deviation 0.5·√2, over √2
        check(student(&[1.0, 2.0]), 1.0 - 2.0 * t.atan() / std::f64::consts::PI);
        // Two degrees: 1 - t / √(2 + t²), with t = √12 of 1, 2, 3.
        check(student(&[1.0, 2.0, 3.0]), 1.0 - 12_f64.sqrt() / 14_f64.sqrt());
        check(student(&[0.0; 5]), 1.0);
        check(student(&[0.1]), 1.0);
    }

    #[test]
    fn the_randomisation_test_matches_exact_counts() {
        // All five have the same sign: 2 of 32 assignments are as great.
        let found = randomisation(&[1.0; 5]);
        assert!((found - 2.0 / 32.0).abs() < 0.01, "{found}");
        let found = randomisation(&[1.0, -1.0]);
        assert!((found - 1.0).abs() < 1e-3, "{found}");
    }
}

//! Durations in a configuration: `30d`, `12h`, `2w`, `1y`.
//!
//! **Invariant.** A [`HalfLife`] is from an hour to a hundred years, and its printed form parses to itself.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;
/// The letters of the units, with their seconds, longest first.
const UNITS: [(char, u64); 4] = [('y', 365 * DAY_S), ('w', 7 * DAY_S), ('d', DAY_S), ('h', HOUR_S)];
/// Maximum.
const SECONDS_MAX: u64 = 100 * 365 * DAY_S;
/// Describes the valid texts.
const EXPECTED: &str = "a whole number of hours, days, weeks or years up to `100y`, such as `30d`";

/// The time after which a score is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfLife {
    seconds: u64,
}

impl HalfLife {
    /// The fraction of 1 that is left after the given number of seconds.
    pub(crate) fn left_after(self, seconds: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a second in a million years")]
        let (age, half_life) = (seconds as f64, self.seconds as f64);
        (-age / half_life).exp2()
    }
}

/// Thirty days.
impl Default for HalfLife {
    fn default() -> HalfLife {
        HalfLife { seconds: 30 * DAY_S }
    }
}

impl FromStr for HalfLife {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<HalfLife, Self::Err> {
        let read = || {
            let unit = text.chars().next_back()?;
            let &(_, seconds) = UNITS.iter().find(|(letter, _)| *letter == unit)?;
            let digits = text.strip_suffix(unit)?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let count: u64 = digits.parse().ok().filter(|_| is_plain)?;
            let seconds = count.checked_mul(seconds)?;
            (HOUR_S..=SECONDS_MAX).contains(&seconds).then_some(HalfLife { seconds })
        };
        read().ok_or(EXPECTED)
    }
}

/// In the longest unit that fits.
impl Display for HalfLife {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let fits = |(_, seconds): &&(char, u64)| self.seconds.is_multiple_of(*seconds);
        let (letter, seconds) = UNITS.iter().find(fits).unwrap_or(&UNITS[UNITS.len() - 1]);
        write!(f, "{}{letter}", self.seconds / seconds)
    }
}

impl Serialize for HalfLife {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HalfLife {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<HalfLife, D::Error> {
        let text = String::deserialize(input)?;
        text.parse().map_err(|expected: &str| {
            let found = serde::de::Unexpected::Str(&text);
            serde::de::Error::invalid_value(found, &expected)
        })
    }
}

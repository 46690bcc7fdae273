//! Days of the calendar.
//!
//! All days are in UTC. Hours and time zones are not represented.
//!
//! **Invariant.** A [`Day`] exists in the calendar, and its year is from [`YEAR_FIRST`] to [`YEAR_LAST`].
//!
//! Reference: H. Hinnant, "chrono-compatible low-level date algorithms", 2013.

/// The first year of a [`Day`].
pub const YEAR_FIRST: u16 = 1970;
/// The last year of a [`Day`].
pub const YEAR_LAST: u16 = 2199;
const DAY_S: i64 = 86_400;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    /// From 1 on.
    of_month: u8,
}

impl Day {
    /// The day of this date. `None` if the date does not exist or its year is out of range.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (YEAR_FIRST..=YEAR_LAST).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day);
        exists.then_some(Self { year, month, of_month: day })
    }

    /// The day of a Unix time in seconds. `None` if its year is out of range.
    pub fn of_second(second: i64) -> Option<Self> {
        // Years begin in March here, so that 29 February is the last day of a year.
        let days = second.div_euclid(DAY_S).checked_add(719_468)?;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)
    }

    /// The year, from [`YEAR_FIRST`] to [`YEAR_LAST`].
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// From 1 on.
    pub fn day(self) -> u8 {
        self.of_month
    }

    /// The last day of the month.
    #[must_use]
    pub fn month_end(self) -> Self {
        Self { of_month: days_of(self.year, self.month), ..self }
    }

    /// The last day of the year.
    #[must_use]
    pub fn year_end(self) -> Self {
        Self { month: 12, of_month: 31, ..self }
    }

    /// The next day. `None` after the last day of [`YEAR_LAST`].
    pub fn next(self) -> Option<Self> {
        Self::new(self.year, self.month, self.of_month + 1)
            .or_else(|| Self::new(self.year, self.month + 1, 1))
            .or_else(|| Self::new(self.year + 1, 1, 1))
    }
}

/// The number of days in a month.
fn days_of(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_days_match_their_seconds() {
        let mut day = Day::new(YEAR_FIRST, 1, 1).expect("the first");
        let mut second = 0;
        loop {
            assert_eq!(Day::of_second(second), Some(day), "{second}");
            assert_eq!(Day::of_second(second + DAY_S - 1), Some(day), "{second}");
            second += DAY_S;
            let Some(next) = day.next() else { break };
            assert!(next > day && day <= day.month_end() && day.month_end() <= day.year_end());
            day = next;
        }
        assert_eq!(
            (day, second),
            (Day { year: YEAR_LAST, month: 12, of_month: 31 }, 84_006 * DAY_S)
        );
        assert_eq!([-1, second, i64::MAX, i64::MIN].map(Day::of_second), [None; 4]);
    }

    #[test]
    fn nonexistent_days_are_refused() {
        for (year, month, day) in
            [(2026, 2, 29), (2100, 2, 29), (2026, 13, 1), (2026, 0, 1), (2026, 4, 31), (1969, 1, 1)]
        {
            assert_eq!(Day::new(year, month, day), None, "{year}-{month}-{day}");
        }
        assert!(Day::new(2000, 2, 29).is_some() && Day::new(2024, 2, 29).is_some());
    }
}

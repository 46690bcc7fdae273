//! Dates in queries: a year, a month, a day, or a range.
//!
//! **Invariant.** A [`DateRange`] has a first day and a last one that is not before it.

use std::fmt::{Display, Formatter, Result};

use page::{Day, Filter, YEAR_FIRST, YEAR_LAST};

/// A year, a month or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    /// Its first day.
    first: Day,
    /// The number of given parts: year, month, day.
    said: u8,
}

impl Span {
    /// `2026`, `2026-03`, `2026-03-15`.
    fn read(text: &str) -> Option<Span> {
        let mut parts = text.split('-');
        let number = |text: &str, digits: usize| -> Option<u16> {
            let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| text.parse().ok())?
        };
        let year = number(parts.next()?, 4)?;
        let (mut said, mut rest) = (1, [1_u8; 2]);
        for (part, value) in parts.zip(rest.iter_mut().chain([&mut 0])) {
            *value = u8::try_from(number(part, 2)?).ok()?;
            said += 1;
        }
        let first = Day::new(year, rest[0], rest[1])?;
        (said <= 3).then_some(Span { first, said })
    }

    fn last(self) -> Day {
        match self.said {
            1 => self.first.year_end(),
            2 => self.first.month_end(),
            _ => self.first,
        }
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:04}", self.first.year())?;
        if self.said > 1 {
            write!(f, "-{:02}", self.first.month())?;
        }
        if self.said > 2 {
            write!(f, "-{:02}", self.first.day())?;
        }
        Ok(())
    }
}

/// `2026`, `2026-01..2026-03-15`, `..2025`, `2026-03..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    from: Option<Span>,
    to: Option<Span>,
}

impl DateRange {
    /// Parses the text after `date:`. Returns `None` if it is not a date.
    pub(super) fn read(text: &str) -> Option<DateRange> {
        let Some((from, to)) = text.split_once("..") else {
            let only = Span::read(text)?;
            return Some(DateRange { from: Some(only), to: Some(only) });
        };
        let end = |text: &str| match text {
            "" => Some(None),
            text => Span::read(text).map(Some),
        };
        let range = DateRange { from: end(from)?, to: end(to)? };
        let is_said = range.from.is_some() || range.to.is_some();
        (is_said && range.first() <= range.last()).then_some(range)
    }

    fn first(&self) -> Day {
        let first = Day::new(YEAR_FIRST, 1, 1).expect("the first year has a first day");
        self.from.map_or(first, |from| from.first)
    }

    fn last(&self) -> Day {
        let last = Day::new(YEAR_LAST, 12, 31).expect("the last year has a last day");
        self.to.map_or(last, Span::last)
    }

    /// The fewest terms that cover exactly its days: whole years, whole months, days.
    pub(crate) fn terms(&self) -> Vec<String> {
        let (mut terms, mut day, last) = (Vec::new(), Some(self.first()), self.last());
        while let Some(at) = day.filter(|&at| at <= last) {
            let begins_month = at.day() == 1;
            let (term, end) = if begins_month && at.month() == 1 && at.year_end() <= last {
                (Filter::of_year(at), at.year_end())
            } else if begins_month && at.month_end() <= last {
                (Filter::of_month(at), at.month_end())
            } else {
                (Filter::of_single_day(at), at)
            };
            terms.push(term);
            day = end.next();
        }
        terms
    }
}

impl Display for DateRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let (Some(from), true) = (self.from, self.from == self.to) {
            return from.fmt(f);
        }
        self.from.map_or(Ok(()), |from| from.fmt(f))?;
        f.write_str("..")?;
        self.to.map_or(Ok(()), |to| to.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_range_becomes_few_terms() {
        for (text, expected) in [
            ("2026", "2026"),
            ("2026-02", "2026-02"),
            ("2026-02-28..2026-03-01", "2026-02-28 2026-03-01"),
            ("2026-01..2026-03-02", "2026-01 2026-02 2026-03-01 2026-03-02"),
            ("2024-12-31..2026-01", "2024-12-31 2025 2026-01"),
            ("2025..2026", "2025 2026"),
        ] {
            let range = DateRange::read(text).expect(text);
            let expected: Vec<String> =
                expected.split(' ').map(|day| Filter::Date.term(day)).collect();
            assert_eq!(range.terms(), expected, "{text}");
            assert_eq!(range.to_string(), text);
        }
        let since = |text: &str| DateRange::read(text).expect(text).terms().len();
        assert_eq!((since("..2025"), since("2026..")), (56, 174));
        assert_eq!(since("1970-01-02..2199-12-30"), 30 + 11 + 228 + 11 + 30);
    }

    #[test]
    fn invalid_dates_are_refused() {
        for text in [
            "",
            "..",
            "26",
            "2026-1",
            "2026-13",
            "2026-02-30",
            "2026-02-28-1",
            "1969",
            "2200",
            "2026..2025",
            "2026-03..2026-02-27",
            "2026...2027",
            "today",
            "2026-",
            "-2026",
            "+026",
            "2026/03",
        ] {
            assert_eq!(DateRange::read(text), None, "{text}");
        }
    }
}

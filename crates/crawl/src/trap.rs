//! Traps: URLs of endless generated pages.
//!
//! What lives here: repeated segments, calendars, session ids in paths, each recognised by the URL alone. What
//! does not: limits per host (`frontier/`).
//!
//! **Invariant.** The result depends only on the URL and the limits, not on the date.

use std::collections::BTreeMap;

use page::Url;

/// The numbers that count as years.
const YEARS: std::ops::RangeInclusive<u16> = 1800..=2200;

/// Segments under which `/2031/7` is a month.
const CALENDAR_WORDS: [&str; 12] = [
    "cal",
    "calendar",
    "kalender",
    "calendario",
    "agenda",
    "events",
    "event",
    "schedule",
    "diary",
    "month",
    "day",
    "archive",
];

/// Parameters that hold a year.
const YEAR_NAMES: [&str; 6] = ["year", "y", "yr", "yyyy", "jahr", "annee"];

/// Returns a segment that occurs more than `times_max` times, and a lower bound of its count.
pub(crate) fn repetition(url: &Url, times_max: usize) -> Option<(&str, usize)> {
    let segments = url.path().split('/').filter(|segment| !segment.is_empty());
    if segments.clone().count() <= times_max {
        return None;
    }
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for segment in segments {
        let times = times.entry(segment).or_default();
        *times += 1;
        if *times > times_max {
            return Some((segment, *times));
        }
    }
    None
}

/// Returns a year of a date in the URL that is outside the range.
pub(crate) fn year_beyond(url: &Url, [first, last]: [u16; 2]) -> Option<u16> {
    let is_beyond = |year: &u16| YEARS.contains(year) && !(first..=last).contains(year);
    let in_query = url.query().into_iter().flat_map(|query| query.split('&')).flat_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or_default();
        let named = YEAR_NAMES.iter().any(|year| name.eq_ignore_ascii_case(year));
        named.then(|| number(value, 4)).flatten().into_iter().chain(dates(value))
    });
    dates(url.path()).chain(folders(url.path())).chain(in_query).find(is_beyond)
}

/// Returns the years of all dates like `2031-07` or `2031_07_15`.
fn dates(text: &str) -> impl Iterator<Item = u16> {
    let words =
        text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
    words.filter_map(|word| {
        let mut parts = word.split(['-', '_', '.']);
        let mut year = None;
        // The first part that is a year and is followed by a month.
        while let Some(part) = parts.next() {
            year = number(part, 4).filter(|_| is_month(parts.clone().next(), 2));
            if year.is_some() {
                break;
            }
        }
        year
    })
}

/// Returns the years of folders like `/2031/07`, or `/2031/7` below a calendar folder.
fn folders(path: &str) -> impl Iterator<Item = u16> {
    let mut is_calendar = false;
    let next = path.split('/').skip(1).chain([""]);
    path.split('/').zip(next).filter_map(move |(segment, next)| {
        is_calendar |= CALENDAR_WORDS.iter().any(|word| segment.eq_ignore_ascii_case(word));
        let digits_min = if is_calendar { 1 } else { 2 };
        number(segment, 4).filter(|_| is_month(Some(next), digits_min))
    })
}

fn is_month(text: Option<&str>, digits_min: usize) -> bool {
    let text = text.unwrap_or_default();
    (digits_min..=2).any(|digits| number(text, digits).is_some_and(|n| (1..=12).contains(&n)))
}

/// Parses a number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<u16> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

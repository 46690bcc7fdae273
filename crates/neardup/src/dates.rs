//! Dates in a text, and the names of months, days of the week and two time zones.
//!
//! A date has a day, a month and a year: `2019-11-18`, `11/18/2019`, `18.11.2019`, `18 November 2019`,
//! `Nov 18, 2019`, `2019年11月18日`. An adjacent day of the week, time or time zone is part of the date.
//! A year, a month or a time alone is not a date: a report on 2019 differs from a report on 2020.
//!
//! The names are in English, Italian, German, French and Spanish. Some are also ordinary words (*may*,
//! *march*, *mars*, *set*). A fingerprint leaves out every name. This makes it slightly coarser, but independent
//! of the month.
//!
//! **Invariant.** [`NAMES`] is sorted and in lower case. A change of it changes stored fingerprints.

/// The number of words of the date at the start of `words`, including an adjacent time. 0 if there is no date.
#[inline]
pub(crate) fn length(words: &[&str]) -> usize {
    match words.first().map(|word| Part::of(word)) {
        None | Some(Part::Other) => 0,
        Some(_) => date_with_time(words),
    }
}

/// Returns whether `word` can be part of a date.
pub(crate) fn is_part(word: &str) -> bool {
    Part::of(word) != Part::Other
}

#[inline(never)]
fn date_with_time(words: &[&str]) -> usize {
    let before = match time(words) {
        0 => 0,
        time if words.get(time).is_some_and(|word| is_one_of(word, &ON)) => time + 1,
        time => time,
    };
    let date = match date(&words[before..]) {
        0 => return 0,
        date => before + date,
    };
    let gap = usize::from(words.get(date).is_some_and(|word| is_one_of(word, &AT)));
    match time(&words[(date + gap).min(words.len())..]) {
        0 => date,
        time => date + gap + time,
    }
}

/// The number of words of the date at the start of `words`, without an adjacent time. 0 if there is no date.
fn date(words: &[&str]) -> usize {
    let [first, rest @ ..] = words else { return 0 };
    let second = || rest.first().map_or(Part::Other, |word| Part::of(word));
    match Part::of(first) {
        Part::Date => 1,
        // `18 November 2019`, `3 de marzo de 2025`.
        Part::Day => {
            let month = 1 + usize::from(rest.first().is_some_and(|word| is_one_of(word, &OF)));
            let year = month + 1;
            let year = year + usize::from(words.get(year).is_some_and(|word| is_one_of(word, &OF)));
            if is(words, month, Part::Name) && is(words, year, Part::Year) { year + 1 } else { 0 }
        }
        Part::Name => match second() {
            // `November 18, 2019`, `Nov 18 12:30:05 UTC 2019`.
            Part::Day if is(words, 2, Part::Year) => 3,
            Part::Day if time(&words[2..]) > 0 => {
                let year = 2 + time(&words[2..]);
                if is(words, year, Part::Year) { year + 1 } else { date_after_weekday(rest) }
            }
            Part::Day | Part::Name | Part::Date => date_after_weekday(rest),
            _ => 0,
        },
        Part::Year => date_in_characters(words),
        Part::Time | Part::Other => 0,
    }
}

/// The number of words of a date that follows a day of the week. The count includes the day of the week.
fn date_after_weekday(words: &[&str]) -> usize {
    match words.first().map(|word| Part::of(word)) {
        Some(Part::Name) if !is(words, 1, Part::Day) => 0,
        _ => match date(words) {
            0 => 0,
            date => date + 1,
        },
    }
}

/// The number of words of a date such as `2019年11月18日`, one word per character, or `2019년 11월 18일`.
fn date_in_characters(words: &[&str]) -> usize {
    let is_day = |at| is(words, at, Part::Day);
    match words {
        [_, "年", _, "月", _, "日", ..] if is_day(2) && is_day(4) => 6,
        [year, month, day, ..]
            if year.ends_with('년') && month.ends_with('월') && day.contains('일') =>
        {
            3
        }
        _ => 0,
    }
}

/// The number of words of the time of day at the start of `words`, including AM or PM and the time zone.
fn time(words: &[&str]) -> usize {
    if !is(words, 0, Part::Time) {
        return 0;
    }
    let zones = words[1..].iter().take(2).take_while(|word| is_zone(word));
    1 + zones.count()
}

fn is(words: &[&str], at: usize, part: Part) -> bool {
    words.get(at).is_some_and(|word| Part::of(word) == part)
}

const ON: [&str; 2] = ["on", "am"];
const AT: [&str; 5] = ["at", "um", "à", "alle", "ore"];
const OF: [&str; 4] = ["of", "de", "del", "di"];
const ZONES: [&str; 17] = [
    "am", "pm", "a.m", "p.m", "uhr", "utc", "gmt", "cet", "cest", "est", "edt", "cst", "cdt",
    "mst", "mdt", "pst", "pdt",
];

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Returns whether `word` is a suffix of a time, such as `UTC`, `PM` or `+0100`.
fn is_zone(word: &str) -> bool {
    let offset = word.strip_prefix(['+', '-']).map(trimmed);
    offset.is_some_and(|offset| {
        matches!(offset.len(), 4 | 5)
            && offset.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    }) || is_one_of(trimmed(word), &ZONES)
}

/// The role of a word in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A whole date, such as `2019-11-18` or `18/Nov/2019`.
    Date,
    /// From 1 to 31, or an ordinal such as `18th`. It may also be the number of a month.
    Day,
    /// A number of four digits.
    Year,
    /// The name of a month, of a day of the week or of a time zone.
    Name,
    /// A time of day, such as `12:30` or `12:30:05Z`.
    Time,
    Other,
}

impl Part {
    #[inline]
    fn of(word: &str) -> Self {
        let word = trimmed(word);
        match word.bytes().next() {
            Some(b'0'..=b'9') => Self::of_number(word),
            Some(_) if is_name_in_any_case(word) => Self::Name,
            _ => Self::Other,
        }
    }

    fn of_number(word: &str) -> Self {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = word.split_at(digits);
        match (digits, rest) {
            (1 | 2, "" | "st" | "nd" | "rd" | "th" | "er" | "º") if is_within(number, 31) => {
                Self::Day
            }
            (4, "" | "년") => Self::Year,
            (1 | 2, _) if rest.starts_with(':') && is_time(word) => Self::Time,
            (1 | 2 | 4, _) if is_whole(word) => Self::Date,
            _ => Self::Other,
        }
    }
}

/// Returns whether `word` is a time, such as `12:30`, `12:30:05.123Z` or `9:15pm`.
fn is_time(word: &str) -> bool {
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.' | ','));
    let (clock, zone) = word.split_at(end.unwrap_or(word.len()));
    let mut parts = clock.split(':');
    let is_hour = parts.next().is_some_and(|hour| is_within(hour, 24));
    let minutes = parts.next().is_some_and(|minutes| minutes.len() == 2);
    is_hour
        && minutes
        && parts.count() <= 1
        && (zone.is_empty() || is_one_of(zone, &["z", "h"]) || is_zone(zone))
}

/// Returns whether `word` is a whole date, such as `2019-11-18`, `2019-11-18T12:30:05Z`, `11/18/2019`,
/// `18.11.2019` or `18-Nov-2019`. `2019.11.18` is excluded, since it may be a version.
fn is_whole(word: &str) -> bool {
    let (word, time) =
        word.split_once(['T', 't']).filter(|(day, _)| day.len() >= 8).unwrap_or((word, ""));
    let Some(separator) = word.chars().find(|c| !c.is_ascii_digit()) else { return false };
    let mut parts = word.splitn(3, separator);
    let [Some(first), Some(second), Some(third)] = [parts.next(), parts.next(), parts.next()]
    else {
        return false;
    };
    let is_day = |text: &str| text.len() <= 2 && is_within(text, 31);
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_month = |text: &str| is_day(text) || separator != '.' && is_name_in_any_case(text);
    let is_date = match separator {
        '-' | '/' => is_year(first) && is_day(third) || is_day(first) && is_year(third),
        '.' => is_day(first) && is_year(third),
        _ => false,
    };
    is_date && is_month(second) && (time.is_empty() || is_time(time))
}

/// Returns whether `digits` are a number from 0 to `most`.
fn is_within(digits: &str, most: u32) -> bool {
    digits.parse().is_ok_and(|number: u32| number <= most)
}

/// `word` without punctuation at its ends.
#[inline]
fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[inline]
fn is_name_in_any_case(word: &str) -> bool {
    let Some(start) = word.as_bytes().first_chunk::<3>() else { return false };
    has_shape(start.map(|byte| byte.to_ascii_lowercase()), word.len())
        && is_among_names(word.to_lowercase().as_bytes())
}

/// Returns whether `word`, in lower case, is the name of a month, a day of the week or a time zone.
#[inline]
pub(crate) fn is_name(word: &[u8]) -> bool {
    may_be_name(word) && is_among_names(word)
}

#[inline(never)]
fn is_among_names(word: &[u8]) -> bool {
    NAMES.binary_search_by(|name| name.as_bytes().cmp(word)).is_ok()
}

/// Returns whether a name may have the length and the first three bytes of `word`. Hash collisions give false
/// positives. The filter excludes most words.
#[inline]
fn may_be_name(word: &[u8]) -> bool {
    word.first_chunk().is_some_and(|start| has_shape(*start, word.len()))
}

#[inline]
fn has_shape(start: [u8; 3], length: usize) -> bool {
    let bit = shape_bit(start, length);
    SHAPES[bit / 64] >> (bit % 64) & 1 == 1
}

/// A hash of a start and a length: the highest bits of their product with 2³² divided by the golden ratio.
#[expect(clippy::cast_possible_truncation, reason = "the last eight bits of a length tell enough")]
const fn shape_bit([a, b, c]: [u8; 3], length: usize) -> usize {
    let shape = u32::from_le_bytes([a, b, c, length as u8]);
    (shape.wrapping_mul(0x9e37_79b9) >> (u32::BITS - SHAPE_BITS)) as usize
}

const SHAPE_BITS: u32 = 13;

/// A set of the hashes of all names, one bit each.
static SHAPES: [u64; 1 << (SHAPE_BITS - 6)] = {
    let mut shapes = [0; 1 << (SHAPE_BITS - 6)];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].as_bytes();
        let start = name.first_chunk();
        let bit = shape_bit(*start.expect("a name has three bytes at least"), name.len());
        shapes[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    shapes
};

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "abr", "abril", "ago", "agosto", "aout", "août", "apr", "april", "aprile", "aug", "august",
    "avr", "avril", "dec", "december", "decembre", "dez", "dezember", "dic", "dicembre",
    "diciembre", "dienstag", "dim", "dimanche", "dom", "domenica", "domingo", "donnerstag", "déc",
    "décembre", "ene", "enero", "feb", "febbraio", "febrero", "februar", "february", "fevrier",
    "freitag", "fri", "friday", "févr", "février", "gen", "gennaio", "gio", "giovedi", "giovedì",
    "giu", "giugno", "gmt", "jan", "januar", "january", "janv", "janvier", "jeu", "jeudi", "jue",
    "jueves", "juil", "juillet", "juin", "jul", "juli", "julio", "july", "jun", "june", "juni",
    "junio", "jän", "jänner", "lug", "luglio", "lun", "lundi", "lunedi", "lunedì", "lunes", "mag",
    "maggio", "mai", "mar", "march", "mardi", "mars", "martedi", "martedì", "martes", "marzo",
    "may", "mayo", "mer", "mercoledi", "mercoledì", "mercredi", "miercoles", "mittwoch", "mié",
    "miércoles", "mon", "monday", "montag", "mrz", "mär", "märz", "nov", "november", "novembre",
    "noviembre", "oct", "october", "octobre", "octubre", "okt", "oktober", "ott", "ottobre",
    "sab", "sabado", "sabato", "sam", "samedi", "samstag", "sat", "saturday", "sep", "sept",
    "september", "septembre", "septiembre", "set", "setiembre", "settembre", "sonnabend",
    "sonntag", "sun", "sunday", "sáb", "sábado", "thu", "thur", "thurs", "thursday", "tue",
    "tues", "tuesday", "utc", "ven", "vendredi", "venerdi", "venerdì", "vie", "viernes", "wed",
    "wednesday",
];

#[cfg(test)]
mod tests {
    //! Tests of the invariant of the list, of dates, and of words that resemble dates.

    use super::{NAMES, is_name, length};

    #[track_caller]
    fn check(text: &str, expected: usize) {
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(length(&words), expected, "{text:?}");
    }

    #[test]
    fn dates_are_found_with_the_time_beside_them() {
        for text in [
            "2019-11-18",
            "(2019/11/18),",
            "11/18/2019",
            "18.11.2019.",
            "18-Nov-2019",
            "18/nov/2019",
            "2019-11-18T12:30:05Z",
            "2019-11-18T12:30:05+01:00",
            "2019-11-18 12:30:05.123 +0100",
            "18 November 2019",
            "Monday, 18th of November, 2019",
            "Nov 18, 2019 (12:17 UTC).",
            "NOVEMBER 18 2019 at 9:15 pm",
            "Mon Nov 18 12:30:05 UTC 2019",
            "Mon, 18 Nov 2019 12:30:05 GMT",
            "gio 27/06/2024, 11:05",
            "4. Dezember 1999 um 12:30 Uhr",
            "1er août 2024",
            "3 de marzo de 2025",
            "12:30, 18 November 2019",
            "2019 年 11 月 18 日",
            "2019년 11월 18일",
        ] {
            check(text, text.split_whitespace().count());
            check(&format!("{text} and more"), text.split_whitespace().count());
        }
    }

    #[test]
    fn incomplete_dates_are_kept() {
        for text in [
            "",
            "2019",
            "18",
            "November",
            "November 2019",
            "Monday",
            "12:30",
            "12:30:05 UTC",
            "1.2.3",
            "2019.11.18",
            "127.0.0.1",
            "2019-20",
            "11/18",
            "18 apples 2019",
            "may 5",
            "set 12 of 2019",
            "3400",
            "0199-1234-5678",
            "2019-11-18x",
            "45/45/2019",
            "part 2019-11-18",
        ] {
            check(text, 0);
        }
    }

    #[test]
    fn a_date_ends_where_other_words_begin() {
        check("18 November 2019 12 apples", 3);
        check("2019-11-18 at home", 1);
        check("2019-11-18 2019-11-19", 1);
        check("Nov 18, 2019 12:30 CET GMT UTC", 6);
    }

    #[test]
    fn names_are_sorted_and_in_lower_case() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
        assert!(NAMES.iter().all(|name| name.to_lowercase() == *name));
    }

    #[test]
    fn only_date_names_are_recognised() {
        assert!(NAMES.iter().all(|name| is_name(name.as_bytes())));
        for word in ["", "a", "ma", "the", "mare", "octet", "mayor", "ag", "août2", "日曜日"] {
            assert!(!is_name(word.as_bytes()), "{word}");
        }
    }
}

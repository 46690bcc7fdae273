//! WARC-Date and the 14-digit time of CDXJ.
//!
//! What lives here: both spellings to and from seconds since 1970, that of WARC with microseconds. What does not: any
//! clock.
//!
//! **Invariant.** What is written is read back as the same moment, in the years 0 to 9999; what is no date is no
//! moment.
//!
//! Reference: WARC 1.1, section 5.4, which takes its dates from W3C "Date and Time Formats": a year
//! alone up to a second with a fraction. Older writers also use 14 digits and lower-case letters.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Seconds since 1970 as a WARC-Date, which is also what HTML's `<time>` wants: `2017-03-06T04:03:53Z`.
/// Seconds outside the years 0 to 9999 are clamped to them.
pub fn date_text(date_s: i64) -> String {
    civil(date_s).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a date with its microseconds, as in `2017-03-06T04:03:53.000120Z`. Zero microseconds are left out.
pub fn exact_date_text(date_s: i64, date_us: u32) -> String {
    let text = date_text(date_s);
    match text.strip_suffix('Z') {
        Some(whole) if date_us > 0 => format!("{whole}.{:06}Z", date_us.min(999_999)),
        _ => text,
    }
}

/// `20170306040353`.
pub(crate) fn digits(date_s: i64) -> String {
    civil(date_s).strftime("%Y%m%d%H%M%S").to_string()
}

/// Reads a WARC-Date: `2017`, `2017-03`, `2017-03-06`, `2017-03-06T04:03Z`, `2017-03-06T04:03:53Z`
/// with or without a fraction, or 14 digits. Always in UTC, as the standard wants. Microseconds are the most that
/// counts of a fraction.
pub fn parse(text: &str) -> Option<(i64, u32)> {
    let text = text.trim().as_bytes();
    let mut date_us = 0;
    let digits: Vec<u8> = if text.len() == 14 && text.iter().all(u8::is_ascii_digit) {
        text.to_vec()
    } else {
        const PATTERN: &[u8] = b"0000-00-00T00:00:00";
        let text = text.strip_suffix(b"Z").or_else(|| text.strip_suffix(b"z")).unwrap_or(text);
        let (whole, fraction) = text.split_at(text.len().min(PATTERN.len()));
        let shape = whole.iter().zip(PATTERN).all(|(&byte, &wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b'T' => byte == b'T' || byte == b't' || byte == b' ',
            _ => byte == wanted,
        });
        let complete = matches!(whole.len(), 4 | 7 | 10 | 16 | 19);
        let fraction = match fraction {
            [] => true,
            [b'.', rest @ ..] => {
                let digits = rest.iter().chain(b"000000").take(6);
                date_us = digits.fold(0, |number, &digit| number * 10 + u32::from(digit & 15));
                !rest.is_empty() && rest.len() <= 9 && rest.iter().all(u8::is_ascii_digit)
            }
            _ => false,
        };
        if !(shape && complete && fraction) {
            return None;
        }
        whole.iter().copied().filter(u8::is_ascii_digit).collect()
    };
    let part = |from: usize, to: usize, missing: i16| {
        digits.get(from..to).map_or(missing, |part| {
            part.iter().fold(0, |number, &digit| number * 10 + i16::from(digit - b'0'))
        })
    };
    let small = |number: i16| i8::try_from(number).ok();
    let time = DateTime::new(
        part(0, 4, 0),
        small(part(4, 6, 1))?,
        small(part(6, 8, 1))?,
        small(part(8, 10, 0))?,
        small(part(10, 12, 0))?,
        small(part(12, 14, 0).min(59))?, // a leap second is the second before it
        0,
    )
    .ok()?;
    Some((time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second(), date_us))
}

fn civil(date_s: i64) -> DateTime {
    const YEAR_0_S: i64 = -62_167_219_200;
    const YEAR_9999_S: i64 = 253_402_207_200; // the last day jiff has
    let timestamp = Timestamp::from_second(date_s.clamp(YEAR_0_S, YEAR_9999_S));
    TimeZone::UTC.to_datetime(timestamp.expect("clamped to what jiff can hold"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_match_golden_values() {
        let table = [
            ("1970-01-01T00:00:00Z", 0),
            ("2017-03-06T04:03:53Z", 1_488_773_033),
            ("2017-03-06t04:03:53z", 1_488_773_033),
            ("20170306040353", 1_488_773_033),
            ("2017-03-06T04:03Z", 1_488_772_980),
            ("2017-03-06", 1_488_758_400),
            ("2017-03", 1_488_326_400),
            ("2017", 1_483_228_800),
            ("2016-12-31T23:59:60Z", 1_483_228_799),
        ];
        for (text, date_s) in table {
            assert_eq!(parse(text), Some((date_s, 0)), "{text}");
        }
        for (fraction, date_us) in
            [("5", 500_000), ("123456", 123_456), ("000120", 120), ("123456999", 123_456)]
        {
            let text = format!("2017-03-06T04:03:53.{fraction}Z");
            assert_eq!(parse(&text), Some((1_488_773_033, date_us)), "{text}");
        }
        for text in
            ["2017-03-06T04:03:53.Z", "2017-03-06T04:03:53.1x", "2017-03-06T04:03:53.1234567890"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in ["", "blue monday", "2017-", "2017-13", "2017-02-30", "2017-03-06T04:03:53+01"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(date_text(1_488_773_033), "2017-03-06T04:03:53Z");
        assert_eq!(digits(1_488_773_033), "20170306040353");
    }

    #[test]
    fn every_second_is_formatted() {
        for date_s in [i64::MIN, -1, 0, 253_402_300_799, i64::MAX] {
            assert_eq!(date_text(date_s).len(), 20, "{date_s}");
            let (read_s, _) = parse(&date_text(date_s)).expect("a date");
            for date_us in [0, 1, 120, 999_999] {
                let text = exact_date_text(date_s, date_us);
                assert_eq!(parse(&text), Some((read_s, date_us)), "{text}");
            }
        }
    }
}

//! The head of an answer: what it says before its body is read.
//!
//! What lives here: the purpose of a request, the meaning of a status, and Retry-After. What does not: the body
//! (`answer.rs`).
//!
//! **Invariant.** Every result follows from the head alone, so a live and an archived answer give the same result.
//!
//! Reference: RFC 9110, sections 10.2.3 (Retry-After) and 15 (statuses).

use archive::HttpResponse;
use page::StatusClass;
use serde::Serialize;

use crate::clock::Moment;
use crate::outcome::Answered;

/// The kind of resource that was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A page.
    Page,
    /// The robots.txt of a site.
    Robots,
    /// A sitemap.
    Sitemap,
}

/// Interprets the head of an answer.
pub(super) fn answered(http: &HttpResponse<'_>, date: Moment) -> Answered {
    Answered {
        status: http.status,
        bytes: u64::try_from(http.body.len()).unwrap_or(u64::MAX),
        retry_after_ms: retry_after_ms(http, date),
        ..Answered::default()
    }
}

pub(crate) fn is_redirect(status: u16) -> bool {
    StatusClass::of(status) == StatusClass::Moved
}

/// Returns whether a status (0 for no answer) may be better another time. A robots.txt has its own rule: all
/// statuses but 429 and 5xx mean that there are no rules (RFC 9309, section 2.3.1.3).
pub fn is_temporary(purpose: Purpose, status: u16) -> bool {
    match purpose {
        Purpose::Robots => matches!(status, 429 | 500..),
        Purpose::Page | Purpose::Sitemap => {
            status > 0 && StatusClass::of(status) == StatusClass::Temporary
        }
    }
}

/// Returns whether an answer with this status leaves the earlier capture valid.
pub fn keeps_previous(purpose: Purpose, status: u16) -> bool {
    match purpose {
        Purpose::Robots => is_temporary(purpose, status),
        Purpose::Page | Purpose::Sitemap => status > 0 && StatusClass::of(status).keeps_previous(),
    }
}

/// The days of the week in dates, whole or by their first three letters.
const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Returns whether a Retry-After counts from the arrival of the answer, as seconds do and a date does not.
pub(crate) fn is_from_answer(value: &str) -> bool {
    is_seconds(value.trim())
}

/// Returns whether the value is one number, or several: a proxy may join two fields.
fn is_seconds(value: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    value.split(',').all(|it| is_number(it.trim()))
}

/// Returns the longest wait that the Retry-After fields of an answer request.
pub(crate) fn retry_after_ms(http: &HttpResponse<'_>, now: Moment) -> Option<u64> {
    let fields = http.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Retry-After"));
    fields.filter_map(|(_, value)| wait_ms(value, now)).max()
}

/// Returns the wait that a Retry-After requests: seconds or a date.
fn wait_ms(value: &str, now: Moment) -> Option<u64> {
    let value = value.trim();
    if is_seconds(value) {
        // A number that does not fit is longer than any wait.
        let seconds = value.split(',').map(|it| it.trim().parse::<u64>().unwrap_or(u64::MAX));
        return seconds.max().map(|seconds| seconds.saturating_mul(1000));
    }
    let date_s = date_s(value)?;
    let wait_ms = date_s.saturating_sub(u64::try_from(now.s).ok()?).saturating_mul(1000);
    Some(wait_ms.saturating_sub(now.us.div_ceil(1000).into()))
}

/// Parses an HTTP date into seconds since 1970. The day of the week is redundant, so it may be wrong.
fn date_s(value: &str) -> Option<u64> {
    let (day, rest) = value.split_at(value.bytes().take_while(u8::is_ascii_alphabetic).count());
    DAYS.iter()
        .find(|name| name.eq_ignore_ascii_case(day) || name[..3].eq_ignore_ascii_case(day))?;
    let names = DAYS.iter().map(|name| if day.len() == 3 { &name[..3] } else { name });
    let dates = names.map(|name| format!("{name}{rest}"));
    let date = dates.into_iter().find_map(|date| httpdate::parse_http_date(&date).ok())?;
    Some(date.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, wanted_s: Option<u64>) {
        // Sun, 06 Nov 1994 08:49:27 GMT, ten seconds before those below.
        let wait_ms = wait_ms(value, Moment { s: 784_111_767, us: 0 });
        assert_eq!(wait_ms, wanted_s.map(|wanted_s| wanted_s.saturating_mul(1000)), "{value}");
    }

    #[test]
    fn retry_after_accepts_any_number_of_seconds() {
        check("120", Some(120));
        check(" 7 ", Some(7));
        check("60, 120", Some(120));
        check("120,60", Some(120));
        check("18446744073709551615", Some(u64::MAX));
        check("99999999999999999999999", Some(u64::MAX));
        check(&"9".repeat(4_000), Some(u64::MAX));
        for value in ["", "-1", "+1", "1.5", "1e9", "soon", "１"] {
            check(value, None);
        }
    }

    #[test]
    fn the_longest_retry_after_counts() {
        let block = b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nretry-after: 70, 9\r\n\r\n";
        let http = archive::parse_http(block).expect("an answer");
        assert_eq!(retry_after_ms(&http, Moment { s: 7, us: 0 }), Some(70_000));
    }

    #[test]
    fn a_date_with_a_wrong_weekday_is_accepted() {
        for value in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Saturday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Wed Nov  6 08:49:37 1994",
        ] {
            check(value, Some(10));
        }
        let now = Moment { s: 784_111_767, us: 250_999 };
        let wait = wait_ms("Sun, 06 Nov 1994 08:49:37 GMT", now);
        assert_eq!(wait, Some(9_749));
        assert_eq!(wait.map(|ms| now.second_after(ms)), Some(784_111_777), "the very second");
        check("Tue, 06 Nov 1990 08:49:37 GMT", Some(0));
        for value in ["Abc, 06 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", ", 06"] {
            check(value, None);
        }
    }
}

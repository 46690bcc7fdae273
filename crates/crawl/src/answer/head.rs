//! What the head of an answer says, before its body is read.
//!
//! What lives here: what an answer was asked for, what its status means, how long it asks to wait. What does
//! not: its body (`answer.rs`).
//!
//! Reference: RFC 9110, sections 10.2.3 (Retry-After) and 15 (statuses).

use archive::HttpResponse;
use serde::Serialize;

use crate::outcome::Answered;

/// What an answer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To be a page.
    Page,
    /// To be the robots.txt of a site.
    Robots,
    /// To be a sitemap.
    Sitemap,
}

/// What an answer says before it is read.
pub(super) fn answered(http: &HttpResponse<'_>, date_s: i64) -> Answered {
    Answered {
        status: http.status,
        bytes: u64::try_from(http.body.len()).unwrap_or(u64::MAX),
        retry_after_ms: http.header("Retry-After").and_then(|value| wait_ms(value, date_s)),
        ..Answered::default()
    }
}

/// Whether a status says that the answer is elsewhere.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Whether a status says that the server may answer better another time.
pub fn is_passing_status(status: u16) -> bool {
    matches!(status, 429 | 500..=599)
}

/// What Retry-After asks for: seconds, or a date.
pub(crate) fn wait_ms(value: &str, now_s: i64) -> Option<u64> {
    if let Ok(seconds) = value.trim().parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let date = httpdate::parse_http_date(value.trim()).ok()?;
    let date_s = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Some(date_s.saturating_sub(u64::try_from(now_s).ok()?).saturating_mul(1000))
}

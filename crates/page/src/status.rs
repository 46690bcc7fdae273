//! What the status of an answer says of the page that was asked for.
//!
//! What lives here: the one table of statuses, for crawl and index alike. What does not: what follows from a
//! class, and what a robots.txt or a condition makes of a status.
//!
//! **Invariant.** Every number has a class. Only an answer that speaks of the page itself, as it is now, takes an
//! earlier capture of it away.
//!
//! Reference: RFC 9110, section 15, by which an unknown status is treated as the first of its hundred and one
//! beyond 599 as 500; RFC 4918 (423, 424), 6585 (429), 7725 (451), 8470 (425).

/// What a status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// Here it is.
    Page,
    /// It is elsewhere, if the answer says where.
    Moved,
    /// There is none, nothing in it, or none for us.
    Gone,
    /// Another time the answer may be another one.
    Passing,
    /// An answer to something that was not asked, such as a part of a page: it says nothing of the page.
    Odd,
}

impl StatusClass {
    /// The class of a status.
    #[must_use]
    pub fn of(status: u16) -> Self {
        match status {
            200 => Self::Page,
            301 | 302 | 303 | 307 | 308 => Self::Moved,
            // Accepted and not done yet; timeout, conflict, misdirected, locked, failed dependency, too early, too many.
            202 | 408 | 409 | 421 | 423 | 424 | 425 | 429 => Self::Passing,
            // All other successes and redirects, and what is about a condition, a range or an expectation.
            201 | 203 | 206..=300 | 304..=306 | 309..=399 | 412 | 416 | 417 => Self::Odd,
            // Two that have no content, and all other errors of whoever asks.
            204 | 205 | 400..=499 => Self::Gone,
            _ => Self::Passing,
        }
    }

    /// Whether what was known before still stands after such an answer.
    #[must_use]
    pub fn leaves_standing(self) -> bool {
        matches!(self, Self::Passing | Self::Odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(statuses: &[u16], wanted: StatusClass) {
        for &status in statuses {
            assert_eq!(StatusClass::of(status), wanted, "{status}");
        }
    }

    #[test]
    fn what_statuses_say() {
        check(&[200], StatusClass::Page);
        check(&[301, 302, 303, 307, 308], StatusClass::Moved);
        check(
            &[204, 205, 400, 401, 403, 404, 405, 407, 410, 414, 418, 451, 499],
            StatusClass::Gone,
        );
        check(&[202, 408, 409, 421, 423, 424, 425, 429, 500, 501, 503, 599], StatusClass::Passing);
        check(&[100, 101, 600, 999], StatusClass::Passing);
        check(&[201, 203, 206, 226, 299, 300, 304, 305, 306, 412, 416, 417], StatusClass::Odd);
    }
}

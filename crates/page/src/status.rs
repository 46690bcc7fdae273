//! Classes of HTTP status codes by their meaning for the requested page.
//!
//! Crawl and index use this one table. The callers act on the class. They also handle the status of robots.txt and of
//! conditional requests.
//!
//! **Invariant.** Every number has a class. Only a response about the current state of the page replaces or removes an
//! earlier capture of it.
//!
//! Reference: RFC 9110, section 15; RFC 4918 (423, 424), 6585 (429), 7725 (451), 8470 (425). RFC 9110 treats an unknown
//! status as the x00 status of its class, and a status above 599 as 500.

/// The class of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// The response contains the page.
    Page,
    /// The page has another URL, if the response names it.
    Moved,
    /// The page does not exist, has no content, or is not accessible to the crawler.
    Gone,
    /// The failure is temporary. A later request may give another result.
    Temporary,
    /// The response does not match the request, such as a part of a page. It says nothing about the page.
    Odd,
}

impl StatusClass {
    /// The class of a status.
    #[must_use]
    pub fn of(status: u16) -> Self {
        match status {
            200 => Self::Page,
            301 | 302 | 303 | 307 | 308 => Self::Moved,
            // Accepted, timeout, conflict, misdirected, locked, failed dependency, too early, too many requests.
            202 | 408 | 409 | 421 | 423 | 424 | 425 | 429 => Self::Temporary,
            // All other successes and redirects, and errors about a condition, a range or an expectation.
            201 | 203 | 206..=300 | 304..=306 | 309..=399 | 412 | 416 | 417 => Self::Odd,
            // Two successes without content, and all other client errors.
            204 | 205 | 400..=499 => Self::Gone,
            _ => Self::Temporary,
        }
    }

    /// Returns whether an earlier capture of the page stays valid after a response of this class.
    #[must_use]
    pub fn keeps_previous(self) -> bool {
        matches!(self, Self::Temporary | Self::Odd)
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
    fn status_codes_have_the_expected_class() {
        check(&[200], StatusClass::Page);
        check(&[301, 302, 303, 307, 308], StatusClass::Moved);
        check(
            &[204, 205, 400, 401, 403, 404, 405, 407, 410, 414, 418, 451, 499],
            StatusClass::Gone,
        );
        check(
            &[202, 408, 409, 421, 423, 424, 425, 429, 500, 501, 503, 599],
            StatusClass::Temporary,
        );
        check(&[100, 101, 600, 999], StatusClass::Temporary);
        check(&[201, 203, 206, 226, 299, 300, 304, 305, 306, 412, 416, 417], StatusClass::Odd);
    }
}

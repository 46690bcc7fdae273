//! Directives of a page to robots: `X-Robots-Tag` and `<meta name=robots>`.
//!
//! The module parses the two directives that matter to a crawler and an index. [`Link`](crate::Link) holds the
//! `rel=nofollow` of a single link. The crawler reads robots.txt before it fetches a page.
//!
//! **Invariant.** An unknown directive forbids nothing. No directive allows what another one forbids.
//!
//! Reference: <https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag>; there is no
//! standard.

/// The uses of a page that it forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// The page must not appear in results.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
}

/// The name of the header. Comparison ignores case.
const ROBOTS_TAG: &str = "X-Robots-Tag";

/// Directives with a value after a colon. Any other name before a colon is the name of a robot.
const WITH_VALUE: [&str; 5] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max-age"];

impl Directives {
    /// Reads the value of one `X-Robots-Tag` header as the robot `agent`. `agent` is `crivello` or a whole user agent
    /// string, of which the product before the slash counts.
    ///
    /// A robot's name with a colon applies to the directives up to the next name: `otherbot: noindex, nofollow`.
    /// If a page sends several headers, read each value separately and take the [`union`](Self::union).
    /// If they were joined with commas, a name would apply to the values of the next header.
    #[must_use]
    pub fn from_header(value: &str, agent: &str) -> Self {
        let product = agent.split(['/', ' ', '\t']).next().unwrap_or_default();
        let mut directives = Self::default();
        let mut for_us = true;
        for part in value.split(',') {
            let mut part = part.trim();
            if let Some((name, rest)) = part.split_once(':') {
                let name = name.trim();
                if takes_value(name) {
                    continue;
                }
                // A colon after a blank belongs to a time of day inside a date.
                if !name.is_empty() && !name.contains(char::is_whitespace) {
                    for_us = name == "*" || name.eq_ignore_ascii_case(product);
                    part = rest.trim();
                }
            }
            if for_us {
                directives = directives.union(Self::from_meta(part));
            }
        }
        directives
    }

    /// Reads all `X-Robots-Tag` headers in `headers` as the robot `agent`.
    #[must_use]
    pub fn from_headers<'a>(
        headers: impl IntoIterator<Item = &'a (String, String)>,
        agent: &str,
    ) -> Self {
        let tags = headers.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case(ROBOTS_TAG));
        tags.map(|(_, value)| Self::from_header(value, agent)).fold(Self::default(), Self::union)
    }

    /// Reads the content of `<meta name=robots>`.
    ///
    /// Directives are separated by commas or blanks. A value after a colon is not a directive:
    /// `max-image-preview: none` forbids nothing.
    #[must_use]
    pub fn from_meta(content: &str) -> Self {
        let mut directives = Self::default();
        for part in content.split(',') {
            let mut words = part.split_whitespace();
            while let Some(word) = words.next() {
                if word.strip_suffix(':').is_some_and(takes_value) {
                    words.next();
                }
                directives = directives.union(Self::from_word(word));
            }
        }
        directives
    }

    /// The directives that `self` or `other` has.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }

    fn from_word(word: &str) -> Self {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        Self { noindex: is("noindex") || is("none"), nofollow: is("nofollow") || is("none") }
    }
}

fn takes_value(name: &str) -> bool {
    WITH_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known))
}

//! What a page tells robots: `X-Robots-Tag` and `<meta name=robots>`.
//!
//! What lives here: the two directives that matter to a crawler and an index, and how they are
//! written. What does not: `rel=nofollow` of a single link (see [`Link`](crate::Link)) and
//! robots.txt, which is read before a page is fetched at all.
//!
//! **Invariant.** What is not understood forbids nothing, and what one part forbids no other allows.
//!
//! Reference: <https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag>; there is no
//! standard.

/// What must not be done with a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// The page must not be found.
    pub noindex: bool,
    /// Its links must not be followed.
    pub nofollow: bool,
}

/// The header, in any case.
const ROBOTS_TAG: &str = "X-Robots-Tag";

/// Directives that carry a value after a colon; any other name before a colon is a robot's.
const WITH_VALUE: [&str; 5] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max-age"];

impl Directives {
    /// Reads the value of one `X-Robots-Tag` header as the robot `agent` (`crivello`, or a whole
    /// user agent string: the product before the slash counts).
    ///
    /// A robot's name with a colon makes what follows it, up to the next name, that robot's
    /// business: `otherbot: noindex, nofollow`. Where a page sends the header several times, read
    /// each and take the [`union`](Self::union); joined with commas, a name would reach too far.
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
                // A colon after a blank is a time of day inside a date, not a robot's name.
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

    /// Reads all `X-Robots-Tag` headers among these, for a robot called `agent`.
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
    /// Directives are separated by commas or blanks; the value after a colon is none itself, so that
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

    /// What either forbids.
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

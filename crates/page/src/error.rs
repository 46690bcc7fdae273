//! What can go wrong with a URL, a body or a configuration.
//!
//! **Invariant.** A message is short, however long the page: what it repeats of one is cut.

/// An error of this crate. Malformed HTML is not one: any text can be read as HTML.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The reference cannot be parsed as a URL.
    #[error("cannot parse the URL {raw:?}")]
    Url {
        /// The reference as found, cut where it is long.
        raw: String,
        /// What the URL parser says.
        source: ::url::ParseError,
    },
    /// The URL is absolute but not on the web.
    #[error("the scheme of {raw:?} is {scheme}, not http or https")]
    Scheme {
        /// The reference as found, cut where it is long.
        raw: String,
        /// The scheme it has.
        scheme: String,
    },
    /// The URL is longer than [`Limits::url_bytes_max`](crate::Limits::url_bytes_max).
    #[error("the URL has {bytes} bytes, more than the {bytes_max} allowed (url_bytes_max)")]
    UrlTooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// The body is not text, whatever its label says.
    #[error("the body is not text: {found}")]
    NotText {
        /// What was seen instead.
        found: &'static str,
    },
    /// The content type is none of those that can be read.
    #[error("cannot read {content_type:?}: only HTML, plain text and Markdown are understood")]
    UnsupportedType {
        /// The type without its parameters.
        content_type: String,
    },
    /// The configuration names a stemmer that does not exist.
    #[error("no stemmer is called {name:?}; known are none, {known}")]
    UnknownStemmer {
        /// The name as configured.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// The configuration allows terms too short for a character, or so long that they are noise.
    #[error("term_bytes_max is {bytes}; it must be from {least} to {most}")]
    TermLimit {
        /// The value as configured.
        bytes: usize,
        /// The least value that makes sense.
        least: usize,
        /// The greatest value that makes sense.
        most: usize,
    },
}

//! The error type: an invalid URL, body or configuration.
//!
//! **Invariant.** The length of a message about a page is bounded: text from the page is cut, or is part of a URL of
//! valid length.

/// An error of this crate. Malformed HTML gives no error, because any text can be read as HTML.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The reference cannot be parsed as a URL.
    #[error("cannot parse the URL {raw:?}")]
    Url {
        /// The reference as found, cut where it is long.
        raw: String,
        /// The error of the URL parser.
        source: ::url::ParseError,
    },
    /// The URL is absolute, but its scheme is neither http nor https.
    #[error("the scheme of {raw:?} is {scheme}, not http or https")]
    Scheme {
        /// The reference as found, cut where it is long.
        raw: String,
        /// The scheme of the URL.
        scheme: String,
    },
    /// The URL is longer than [`Limits::url_bytes_max`](crate::Limits::url_bytes_max).
    #[error("the URL has {bytes} bytes, more than the {bytes_max} allowed (url_bytes_max)")]
    UrlTooLong {
        /// The length of the URL.
        bytes: usize,
        /// The greatest length that is allowed.
        bytes_max: usize,
    },
    /// The body is not text, whatever its content type.
    #[error("the body is not text: {found}")]
    NotText {
        /// The content that was found.
        found: &'static str,
    },
    /// No reader exists for the content type.
    #[error("cannot read {content_type:?}: only HTML, plain text and Markdown are understood")]
    UnsupportedType {
        /// The type without its parameters.
        content_type: String,
    },
    /// The configuration names a stemmer that does not exist.
    #[error("unknown stemmer {name:?}; use `none`, or one of {known}")]
    UnknownStemmer {
        /// The name as configured.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// The configured length of a term is out of range.
    #[error("term_bytes_max is {bytes}; it must be from {least} to {most}")]
    TermLimit {
        /// The value as configured.
        bytes: usize,
        /// The least value that is allowed.
        least: usize,
        /// The greatest value that is allowed.
        most: usize,
    },
}

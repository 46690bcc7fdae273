//! Bytes to URL, links, text, language, terms.

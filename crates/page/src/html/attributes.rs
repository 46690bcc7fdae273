//! The known attributes of one tag.
//!
//! `extract.rs` interprets the values. `scan.rs` finds where they begin and end.
//!
//! **Invariant.** A value has at most the allowed number of bytes. [`Attributes::whole`] never returns a value that was
//! cut.

use std::borrow::Cow;

use super::entities;

/// The known attributes. If a tag repeats an attribute, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Alt,
    Content,
    Href,
    HttpEquiv,
    Lang,
    Name,
    Rel,
    Src,
    XlinkHref,
    XmlLang,
}

impl Attribute {
    const COUNT: usize = 10;

    /// The attribute of this name, in any case.
    fn from_name(name: &str) -> Option<Self> {
        let is =
            |expected: &str, attribute| name.eq_ignore_ascii_case(expected).then_some(attribute);
        match name.len() {
            3 => is("alt", Self::Alt)
                .or_else(|| is("rel", Self::Rel))
                .or_else(|| is("src", Self::Src)),
            4 => is("href", Self::Href)
                .or_else(|| is("name", Self::Name))
                .or_else(|| is("lang", Self::Lang)),
            7 => is("content", Self::Content),
            8 => is("xml:lang", Self::XmlLang),
            10 => is("http-equiv", Self::HttpEquiv).or_else(|| is("xlink:href", Self::XlinkHref)),
            _ => None,
        }
    }
}

/// The values of the attributes of a tag, as written. Methods decode them on request.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    values: [Option<&'a str>; Attribute::COUNT],
    value_bytes_max: usize,
}

impl<'a> Attributes<'a> {
    /// Values longer than `value_bytes_max` are cut.
    pub(super) fn new(value_bytes_max: usize) -> Self {
        Self { values: [None; Attribute::COUNT], value_bytes_max }
    }

    /// Keeps an attribute if it is known and the tag does not have it yet.
    pub(super) fn add(&mut self, name: &str, value: &'a str) {
        if let Some(attribute) = Attribute::from_name(name) {
            self.values[attribute as usize].get_or_insert(value);
        }
    }

    /// The value, cut at the limit.
    pub(super) fn text(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let raw = self.values[attribute as usize]?;
        Some(entities::value(raw, self.value_bytes_max).0)
    }

    /// The value as written, with its character references.
    pub(super) fn raw(&self, attribute: Attribute) -> Option<&'a str> {
        self.values[attribute as usize]
    }

    /// The value. `None` if it is too long, because half a URL is another URL.
    pub(super) fn whole(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let raw = self.values[attribute as usize]?;
        let (value, is_cut) = entities::value(raw, self.value_bytes_max);
        (!is_cut).then_some(value)
    }

    /// Returns whether the value is a list of words that contains `word`, in any case.
    pub(super) fn has_word(&self, attribute: Attribute, word: &str) -> bool {
        self.text(attribute).is_some_and(|value| {
            value.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
        })
    }

    /// Returns whether the value is `expected`, in any case.
    pub(super) fn is(&self, attribute: Attribute, expected: &str) -> bool {
        self.text(attribute).is_some_and(|value| value.trim().eq_ignore_ascii_case(expected))
    }
}

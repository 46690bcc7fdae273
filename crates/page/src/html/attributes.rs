//! The attributes of one tag, of those that count.
//!
//! What does not live here: what a value means (`extract.rs`), and where it begins and ends
//! (`scan.rs`).
//!
//! **Invariant.** A value has at most the bytes that were allowed, and one that was cut is never
//! handed out as whole.

use std::borrow::Cow;

use super::entities;

/// The attributes that count. A tag has each at most once: the first one written.
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

    /// The attribute of this name, in whatever case.
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

/// The values of a tag's attributes as written; they are decoded when they are asked for.
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

    /// Keeps an attribute if it is one that counts and the tag has it not yet.
    pub(super) fn add(&mut self, name: &str, value: &'a str) {
        if let Some(attribute) = Attribute::from_name(name) {
            self.values[attribute as usize].get_or_insert(value);
        }
    }

    /// The value, or as much of it as is kept.
    pub(super) fn text(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let raw = self.values[attribute as usize]?;
        Some(entities::value(raw, self.value_bytes_max).0)
    }

    /// The value as it is written, references and all.
    pub(super) fn raw(&self, attribute: Attribute) -> Option<&'a str> {
        self.values[attribute as usize]
    }

    /// The value if all of it is kept: half a URL is another URL.
    pub(super) fn whole(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let raw = self.values[attribute as usize]?;
        let (value, is_cut) = entities::value(raw, self.value_bytes_max);
        (!is_cut).then_some(value)
    }

    /// Whether the value, as words, has this one.
    pub(super) fn has_word(&self, attribute: Attribute, word: &str) -> bool {
        self.text(attribute).is_some_and(|value| {
            value.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
        })
    }

    /// Whether the value is this one, whatever the case.
    pub(super) fn is(&self, attribute: Attribute, expected: &str) -> bool {
        self.text(attribute).is_some_and(|value| value.trim().eq_ignore_ascii_case(expected))
    }
}

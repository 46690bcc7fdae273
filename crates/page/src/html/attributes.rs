//! The attributes of one tag, of those that count.
//!
//! What does not live here: what a value means (`extract.rs`).
//!
//! **Invariant.** A value has at most the bytes that were allowed, and one that was cut is never
//! handed out as whole.

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

    /// The attribute of this name, in lower case.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alt" => Self::Alt,
            b"content" => Self::Content,
            b"href" => Self::Href,
            b"http-equiv" => Self::HttpEquiv,
            b"lang" => Self::Lang,
            b"name" => Self::Name,
            b"rel" => Self::Rel,
            b"src" => Self::Src,
            b"xlink:href" => Self::XlinkHref,
            b"xml:lang" => Self::XmlLang,
            _ => return None,
        })
    }
}

/// The values of a tag's attributes, in buffers that are used again for the next tag.
#[derive(Debug)]
pub(super) struct Attributes {
    values: [Value; Attribute::COUNT],
    value_bytes_max: usize,
}

#[derive(Debug, Default)]
struct Value {
    bytes: Vec<u8>,
    is_present: bool,
    is_cut: bool,
}

impl Attributes {
    /// Values longer than `value_bytes_max` are cut.
    pub(super) fn new(value_bytes_max: usize) -> Self {
        Self { values: Default::default(), value_bytes_max }
    }

    pub(super) fn clear(&mut self) {
        for value in &mut self.values {
            value.bytes.clear();
            value.is_present = false;
            value.is_cut = false;
        }
    }

    /// Begins the value of `attribute`; false if the tag has it already.
    pub(super) fn begin(&mut self, attribute: Attribute) -> bool {
        let value = &mut self.values[attribute as usize];
        !std::mem::replace(&mut value.is_present, true)
    }

    pub(super) fn push(&mut self, attribute: Attribute, bytes: &[u8]) {
        let value = &mut self.values[attribute as usize];
        let room = self.value_bytes_max - value.bytes.len();
        value.is_cut |= bytes.len() > room;
        value.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The value, or as much of it as was kept.
    pub(super) fn text(&self, attribute: Attribute) -> Option<&str> {
        let value = &self.values[attribute as usize];
        let valid = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        value.is_present.then(|| valid(value.bytes.as_slice()))
    }

    /// The value if all of it was kept: half a URL is another URL.
    pub(super) fn whole(&self, attribute: Attribute) -> Option<&str> {
        if self.values[attribute as usize].is_cut { None } else { self.text(attribute) }
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

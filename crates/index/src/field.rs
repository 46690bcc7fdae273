//! The fields of a document, which are indexed separately.
//!
//! **Invariant.** The number of a field is part of the file format: it never changes, and a removed field's number
//! is not reused.

/// Part of a document in which a term occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The title of the page.
    Title,
    /// Its headings.
    Headings,
    /// Its text.
    Body,
    /// The words of its address.
    Url,
    /// The text of the links that lead to it.
    Anchor,
}

impl Field {
    /// Every field, in the order of its number.
    pub const ALL: [Field; 5] =
        [Field::Title, Field::Headings, Field::Body, Field::Url, Field::Anchor];

    /// The name that queries and configurations use.
    pub fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Headings => "headings",
            Field::Body => "body",
            Field::Url => "url",
            Field::Anchor => "anchor",
        }
    }

    /// The field of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }

    /// The field of a lexicon key, if its first byte is valid.
    pub(crate) fn of_key(key: &[u8]) -> Option<Field> {
        Field::ALL.get(usize::from(*key.first()?)).copied()
    }

    /// Its number in the files: the first byte of a lexicon key.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_and_numbers_round_trip() {
        for (number, field) in (0..).zip(Field::ALL) {
            assert_eq!(Field::from_name(field.name()), Some(field));
            assert_eq!(field.number(), number);
        }
        assert_eq!(Field::from_name("Title"), None);
    }
}

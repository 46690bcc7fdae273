//! The fields of a document that are indexed apart from each other.
//!
//! **Invariant.** The number of a field is part of the file format: it never changes, and a field
//! that is given up leaves its number behind.

/// Where in a document a term stands.
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

    /// The field of a key of the lexicon, if its first byte is one.
    pub(crate) fn of_key(key: &[u8]) -> Option<Field> {
        Field::ALL.get(usize::from(*key.first()?)).copied()
    }

    /// Its number in the files: the first byte of every key of the lexicon.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_their_field() {
        for (number, field) in (0..).zip(Field::ALL) {
            assert_eq!(Field::from_name(field.name()), Some(field));
            assert_eq!(field.number(), number);
        }
        assert_eq!(Field::from_name("Title"), None);
    }
}

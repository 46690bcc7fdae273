//! Builds the text of a page: collapses white space, separates blocks, and keeps to a limit.
//!
//! `html/elements.rs` defines which elements are blocks.
//!
//! **Invariant.** A finished text is at most as long as allowed. It has no blank at either end and no two blanks
//! in a row.

use codes::byte_classes::{self, BLOCK};

/// The separator between two pieces of text, the weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// A text that grows piece by piece. White space at either end disappears. Between words one space or one newline
/// remains.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    text: String,
    bytes_max: usize,
    gap: Gap,
    is_full: bool,
    is_cut: bool,
}

impl Flow {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), bytes_max, gap: Gap::None, is_full: false, is_cut: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Separates the next piece from the text before it. The strongest gap wins.
    pub(crate) fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    pub(crate) fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        if self.is_full {
            self.is_cut = self.is_cut || !text.chars().all(is_blank);
            return;
        }
        while at < bytes.len() {
            let blank = blank_bytes(bytes, at);
            if blank == 0 {
                let end = words_end(bytes, at);
                self.push_words(&text[at..end]);
                at = end;
                if self.is_full {
                    return self.push(&text[at..]);
                }
            } else {
                // A NUL is removed, as in browsers, and does not separate words.
                if bytes[at] != 0 {
                    self.separate(Gap::Space);
                }
                at += blank;
            }
        }
    }

    /// Returns whether the limit cut off any text.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The text, without a blank that the limit left at the end.
    pub(crate) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end_matches([' ', '\n']).len());
        self.text
    }

    fn push_words(&mut self, words: &str) {
        if !self.text.is_empty() {
            match self.gap {
                Gap::None => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        self.gap = Gap::None;
        let room = self.bytes_max.saturating_sub(self.text.len());
        self.text.push_str(&words[..words.floor_char_boundary(room)]);
        self.is_full = words.len() >= room;
        self.is_cut = words.len() > room;
    }
}

/// Returns whether a character is a blank of [`blank_bytes`].
fn is_blank(letter: char) -> bool {
    letter <= ' ' || letter == '\u{a0}'
}

/// The bytes of the blank at `at`: ASCII white space, a control, or U+00A0. Returns 0 if no blank begins there.
fn blank_bytes(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        0..=b' ' => 1,
        0xc2 if bytes.get(at + 1) == Some(&0xa0) => 2,
        _ => 0,
    }
}

/// The end of a run of words from `at` that are separated by exactly one space.
fn words_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    loop {
        // Reads a block and the byte after it. That byte decides whether a space at the end of the block is single.
        let [block @ .., next] = &ahead(&bytes[end..]);
        let (spaces, breaks) = byte_classes::spaces_and_breaks(block);
        let is_last = u64::from(matches!(next, 0..=b' ' | 0xc2)) << (BLOCK - 1);
        // A space belongs to the run only if a word follows.
        let ends = breaks | spaces & ((spaces | breaks) >> 1 | is_last);
        end += ends.trailing_zeros() as usize;
        if ends == 0 {
            continue;
        }
        let is_word = match bytes.get(end) {
            Some(0xc2) => blank_bytes(bytes, end) == 0,
            Some(b' ') => end + 1 < bytes.len() && blank_bytes(bytes, end + 1) == 0,
            _ => false,
        };
        if !is_word {
            return end;
        }
        end += 1;
    }
}

/// A block and the byte after it, filled with zeros at the end of the text.
fn ahead(bytes: &[u8]) -> [u8; BLOCK + 1] {
    bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut ahead = [0; BLOCK + 1];
        ahead[..bytes.len()].copy_from_slice(bytes);
        ahead
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reference implementation of [`Flow`] that reads single characters.
    fn collapse(text: &str) -> String {
        let shown: String = text.chars().filter(|c| *c != '\0').collect();
        shown.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn text() -> impl Strategy<Value = String> {
        let pieces =
            ["a", "bc", "word", "!", " ", " ", "  ", "\u{a0}", "\t", "\0", "é", "\u{bf}", "日"];
        let pieces = prop::sample::select(pieces.to_vec());
        // Long enough that a block holds nothing but words.
        let words = "[a-zé]{3,9}( [a-zé]{3,9}){3,24}";
        let piece = prop_oneof![6 => pieces.prop_map(String::from), 1 => words];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn blanks_collapse(text in text()) {
            let mut flow = Flow::new(1 << 20);
            flow.push(&text);
            prop_assert_eq!(flow.finish(), collapse(&text));
        }

        /// With any limit, the text is a prefix of the whole text, and `is_cut` reports whether it is shorter.
        #[test]
        fn a_cut_text_is_reported_as_cut(texts in prop::collection::vec(text(), 0..4), bytes_max in 0..90_usize) {
            let read = |bytes_max: usize| {
                let mut flow = Flow::new(bytes_max);
                for text in &texts {
                    flow.separate(Gap::Line);
                    flow.push(text);
                }
                (flow.is_cut(), flow.finish())
            };
            let ((is_cut, text), (is_whole_cut, whole)) = (read(bytes_max), read(1 << 20));
            prop_assert!(!is_whole_cut && whole.starts_with(&text), "{:?} of {:?}", text, whole);
            prop_assert_eq!(is_cut, text != whole, "{:?} of {:?}", text, whole);
        }
    }
}

//! Text as it is read off a page: white space collapsed, blocks apart, never too long.
//!
//! What does not live here: what parts a block (`html/elements.rs`).
//!
//! **Invariant.** A finished text is at most as long as allowed, has no blank at either end and no
//! two of them together.

/// What comes between two pieces of text, the weaker first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    None,
    Space,
    Line,
}

/// Grows a text piece by piece. White space at either end disappears, and between words one space
/// or one newline is left.
///
/// Works on bytes, for a tokenizer may cut a character in two; the pieces together are UTF-8.
#[derive(Debug)]
pub(crate) struct Flow {
    bytes: Vec<u8>,
    bytes_max: usize,
    gap: Gap,
    is_full: bool,
}

impl Flow {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, gap: Gap::None, is_full: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Keeps what comes before and what comes after apart.
    pub(crate) fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    pub(crate) fn push(&mut self, mut text: &[u8]) {
        while !text.is_empty() && !self.is_full {
            let blank = blank_bytes(text);
            if blank > 0 {
                // A NUL vanishes, as in browsers, and separates nothing.
                if text[0] != 0 {
                    self.separate(Gap::Space);
                }
                text = &text[blank..];
                continue;
            }
            let word = word_bytes(text);
            self.push_word(&text[..word]);
            text = &text[word..];
        }
    }

    /// The text; where the limit cut a character in two, without it and the blank before it.
    pub(crate) fn finish(self) -> String {
        let mut text = match String::from_utf8(self.bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(valid);
                String::from_utf8(bytes).unwrap_or_default()
            }
        };
        text.truncate(text.trim_end_matches([' ', '\n']).len());
        text
    }

    fn push_word(&mut self, word: &[u8]) {
        if !self.bytes.is_empty() {
            match self.gap {
                Gap::None => {}
                Gap::Space => self.bytes.push(b' '),
                Gap::Line => self.bytes.push(b'\n'),
            }
        }
        self.gap = Gap::None;
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&word[..word.len().min(room)]);
        self.is_full = word.len() >= room;
    }
}

/// How many bytes at the start are one blank: ASCII white space, a control, U+00A0.
fn blank_bytes(text: &[u8]) -> usize {
    match text {
        [0..=b' ', ..] => 1,
        [0xc2, 0xa0, ..] => 2,
        _ => 0,
    }
}

/// How many bytes come before the next blank; at least one.
fn word_bytes(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && blank_bytes(&text[at..]) == 0 {
        at += 1;
    }
    at
}

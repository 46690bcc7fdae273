//! The scanner makes one pass over the bytes of a page and passes tags and text to the extractor.
//!
//! It is the tokenizer of the standard, without token objects. Its states are places in this code. The scanner jumps
//! over bytes that cannot change the state, for example to the next `<` in text or the next quote in a value.
//! `extract.rs` interprets tags. No tree is built. Comments, doctypes and errors are dropped.
//!
//! **Invariant.** The scan only moves forward and reads each byte a bounded number of times. So time is linear in the
//! number of bytes.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/parsing.html#tokenization>.

use memchr::{memchr, memchr2, memchr3};

use super::attributes::Attributes;
use super::elements::{Element, Raw};
use super::entities::Place;
use super::extract::{Extractor, References};

/// Passes the content of `markup` to `extractor`, in order.
pub(super) fn scan<'a>(markup: &'a str, extractor: &mut Extractor<'a>) {
    let mut scanner = Scanner { markup, bytes: markup.as_bytes(), at: 0, extractor };
    // `None` means that the markup ended inside a construct, which is then dropped.
    let _ = scanner.data();
}

struct Scanner<'a, 'e> {
    markup: &'a str,
    bytes: &'a [u8],
    /// The first byte that the extractor has not received yet.
    at: usize,
    extractor: &'e mut Extractor<'a>,
}

/// The escape state of a script ("script data escaped", "double escaped").
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After `<!--`, whose dashes begin at this byte.
    Once(usize),
    /// After `<script` inside such a comment.
    Twice(usize),
}

impl<'a> Scanner<'a, '_> {
    /// "Data state", until the bytes run out.
    fn data(&mut self) -> Option<()> {
        while let Some(open) = self.next_open() {
            self.text_until(open);
            match self.bytes.get(open + 1) {
                Some(letter) if letter.is_ascii_alphabetic() => self.start_tag(open + 1)?,
                Some(b'/') => self.end_tag_open(open)?,
                Some(b'!') => self.declaration(open)?,
                Some(b'?') => self.skip_past(b'>', open + 2)?,
                _ => self.text_until(open + 1),
            }
        }
        self.text_until(self.bytes.len());
        Some(())
    }

    /// The place of the next `<`. It is usually near, so a short loop runs before the search with SIMD.
    fn next_open(&self) -> Option<usize> {
        const NEAR: usize = 8;
        let rest = &self.bytes[self.at..];
        let near = rest.iter().take(NEAR).position(|byte| *byte == b'<');
        let found = near.or_else(|| Some(NEAR + memchr(b'<', rest.get(NEAR..)?)?))?;
        Some(self.at + found)
    }

    fn text_until(&mut self, end: usize) {
        if self.extractor.wants_text() && self.at < end {
            self.extractor.text(&self.markup[self.at..end], References::In(Place::Text));
        }
        self.at = end;
    }

    /// "Tag open state", from the first letter of the name.
    fn start_tag(&mut self, name_start: usize) -> Option<()> {
        let (element, name_end) = self.name(name_start)?;
        let is_self_closing = if self.extractor.reads_attributes(element) {
            let mut attributes = self.extractor.no_attributes();
            let is_self_closing = self.attributes(name_end, Some(&mut attributes))?;
            self.extractor.begin(element);
            self.extractor.open(element, &attributes);
            is_self_closing
        } else {
            let is_self_closing = self.skip_attributes(name_end)?;
            self.extractor.begin(element);
            is_self_closing
        };
        if let Some(raw) = self.extractor.start_tag(element, is_self_closing) {
            match raw {
                Raw::Script => return self.script(),
                Raw::Plaintext => self.raw_until(raw, self.bytes.len()),
                _ => return self.raw(raw),
            }
        }
        Some(())
    }

    /// "End tag open state", from the `<`.
    fn end_tag_open(&mut self, open: usize) -> Option<()> {
        match self.bytes.get(open + 2) {
            Some(letter) if letter.is_ascii_alphabetic() => self.end_tag(open + 2),
            Some(_) => self.skip_past(b'>', open + 2),
            None => {
                self.text_until(self.bytes.len());
                Some(())
            }
        }
    }

    fn end_tag(&mut self, name_start: usize) -> Option<()> {
        let (element, name_end) = self.name(name_start)?;
        self.skip_attributes(name_end)?;
        self.extractor.end_tag(element);
        Some(())
    }

    /// "Tag name state": the element, and the end of its name.
    fn name(&self, start: usize) -> Option<(Element, usize)> {
        let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
        let end = start + self.bytes[start..].iter().position(is_end)?;
        Some((Element::from_name(&self.bytes[start..end]), end))
    }

    /// Moves past the tag whose name ends at `at`. Returns whether the tag is self-closing.
    fn skip_attributes(&mut self, at: usize) -> Option<bool> {
        // Before the first quote no value is quoted, so the first `>` ends the tag.
        let rest = &self.bytes[at..];
        let found = if rest.first() == Some(&b'>') { 0 } else { memchr3(b'>', b'"', b'\'', rest)? };
        if rest[found] == b'>' && self.bytes[at + found - 1] != b'/' {
            self.at = at + found + 1;
            return Some(false);
        }
        self.attributes(at, None)
    }

    /// The attribute states, from the end of the tag name to the `>`. Returns whether the tag is self-closing.
    fn attributes(&mut self, at: usize, mut kept: Option<&mut Attributes<'a>>) -> Option<bool> {
        let bytes = self.bytes;
        let mut at = at;
        loop {
            match bytes.get(at)? {
                b'>' => {
                    self.at = at + 1;
                    return Some(false);
                }
                b'/' if *bytes.get(at + 1)? == b'>' => {
                    self.at = at + 2;
                    return Some(true);
                }
                b'/' => at += 1,
                byte if is_space(*byte) => at += 1,
                _ => {
                    let (name, value, end) = attribute(self.markup, at)?;
                    if let Some(kept) = &mut kept {
                        kept.add(name, value);
                    }
                    at = end;
                }
            }
        }
    }

    /// "Markup declaration open state", from the `<`.
    fn declaration(&mut self, open: usize) -> Option<()> {
        let rest = &self.bytes[open + 2..];
        if rest.starts_with(b"--") {
            self.comment(open + 4)
        } else if rest.starts_with(b"[CDATA[") && self.extractor.is_in_foreign_content() {
            self.at = open + 9;
            self.character_data();
            Some(())
        } else {
            self.skip_past(b'>', open + 2)
        }
    }

    /// The comment states, from the end of `<!--`.
    fn comment(&mut self, start: usize) -> Option<()> {
        let bytes = self.bytes;
        if bytes[start..].starts_with(b"->") {
            self.at = start + 2;
            return Some(());
        }
        let mut at = start;
        loop {
            self.skip_past(b'>', at)?;
            at = self.at;
            let inside = &bytes[start..at - 1];
            if inside.is_empty() || inside.ends_with(b"--") || inside.ends_with(b"--!") {
                return Some(());
            }
        }
    }

    /// "CDATA section state".
    fn character_data(&mut self) {
        let start = self.at;
        let mut at = start;
        while let Some(found) = memchr(b'>', &self.bytes[at..]) {
            at += found + 1;
            if self.bytes[start..at - 1].ends_with(b"]]") {
                self.extractor.text(&self.markup[start..at - 3], References::None);
                self.at = at;
                return;
            }
        }
        self.extractor.text(&self.markup[start..], References::None);
        self.at = self.bytes.len();
    }

    /// "RCDATA state" and "RAWTEXT state", up to and including the end tag.
    fn raw(&mut self, raw: Raw) -> Option<()> {
        let mut at = self.at;
        while let Some(found) = memchr(b'<', &self.bytes[at..]) {
            let open = at + found;
            if self.is_end_tag(open, raw) {
                self.raw_until(raw, open);
                return self.end_tag(open + 2);
            }
            at = open + 1;
        }
        self.raw_until(raw, self.bytes.len());
        Some(())
    }

    fn raw_until(&mut self, raw: Raw, end: usize) {
        self.extractor.raw_text(raw, &self.markup[self.at..end]);
        self.at = end;
    }

    /// The script states, up to and including the end tag.
    fn script(&mut self) -> Option<()> {
        let bytes = self.bytes;
        let mut escape = Escape::None;
        let mut at = self.at;
        loop {
            let rest = &bytes[at..];
            let found = match escape {
                Escape::None => memchr(b'<', rest),
                _ => memchr2(b'<', b'>', rest),
            };
            let here = at + found?;
            at = here + 1;
            escape = match escape {
                Escape::Once(dashes) | Escape::Twice(dashes) if bytes[here] == b'>' => {
                    if bytes[dashes..here].ends_with(b"--") { Escape::None } else { escape }
                }
                Escape::None if bytes[here..].starts_with(b"<!--") => Escape::Once(here + 2),
                Escape::None | Escape::Once(_) if self.is_end_tag(here, Raw::Script) => {
                    return self.end_tag(here + 2);
                }
                Escape::Once(dashes) if self.is_name(here + 1, Raw::Script) => {
                    Escape::Twice(dashes)
                }
                Escape::Twice(dashes) if self.is_end_tag(here, Raw::Script) => Escape::Once(dashes),
                _ => escape,
            };
        }
    }

    /// Returns whether the end tag of `raw` begins at the `<` at `open`.
    fn is_end_tag(&self, open: usize, raw: Raw) -> bool {
        self.bytes.get(open + 1) == Some(&b'/') && self.is_name(open + 2, raw)
    }

    /// Returns whether exactly the name of `raw` begins at `start`.
    fn is_name(&self, start: usize, raw: Raw) -> bool {
        let name = raw.name();
        let rest = &self.bytes[start..];
        rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && rest
                .get(name.len())
                .is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
    }

    fn skip_past(&mut self, byte: u8, start: usize) -> Option<()> {
        self.at = start + memchr(byte, &self.bytes[start..])? + 1;
        Some(())
    }
}

/// The attribute that begins at `start`: its name, its value as written, and its end. `None` if the markup
/// ends first.
pub(super) fn attribute(markup: &str, start: usize) -> Option<(&str, &str, usize)> {
    let bytes = markup.as_bytes();
    // The first character is part of the name, even if it is `=`.
    let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>' | b'=');
    let name_end = start + 1 + bytes[start + 1..].iter().position(is_end)?;
    let name = &markup[start..name_end];
    let at = behind_space(bytes, name_end)?;
    if bytes[at] != b'=' {
        return Some((name, "", at));
    }
    let at = behind_space(bytes, at + 1)?;
    match bytes[at] {
        b'>' => Some((name, "", at)),
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + memchr(quote, &bytes[at + 1..])?;
            Some((name, &markup[at + 1..end], end + 1))
        }
        _ => {
            let is_end = |byte: &u8| is_space(*byte) || *byte == b'>';
            let end = at + bytes[at..].iter().position(is_end)?;
            Some((name, &markup[at..end], end))
        }
    }
}

fn behind_space(bytes: &[u8], at: usize) -> Option<usize> {
    Some(at + bytes[at..].iter().position(|byte| !is_space(*byte))?)
}

/// Returns whether a byte is white space to the tokenizer.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

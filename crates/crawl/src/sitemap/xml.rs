//! The tags and the text of an XML document, as far as sitemaps and feeds need them.
//!
//! What lives here: [`Scanner`], which goes from tag to tag, and the five entities that XML predefines. What does
//! not: the meaning of an element (`listing.rs`), and declared entities: none is ever expanded, so no document is
//! larger than its bytes.
//!
//! **Invariant.** Any text can be scanned; every byte is looked at a bounded number of times.
//!
//! Reference: Extensible Markup Language (XML) 1.0, fifth edition, sections 2.4 to 2.8, 3.1 and 4.1.

/// Maximum bytes of an entity, `&` and `;` included.
const ENTITY_BYTES_MAX: usize = 11;

/// Scans a document.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    rest: &'a str,
    /// Whether the document type has declarations: then an unknown entity may be declared there.
    declares: bool,
}

/// A start tag or an end tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) is_end: bool,
    /// The prefix of its namespace.
    pub(super) prefix: &'a str,
    pub(super) name: &'a str,
    attributes: &'a str,
}

impl Tag<'_> {
    /// Returns whether the tag is a whole, empty element.
    pub(super) fn is_empty(self) -> bool {
        self.attributes.ends_with('/')
    }
}

/// The text of an element.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// Trimmed, with entities decoded.
    pub(super) text: String,
    /// Whether an end tag follows, so that the text is complete.
    pub(super) is_ended: bool,
    /// Whether all of its entities are known.
    pub(super) is_explained: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { rest: text, declares: false }
    }

    /// Returns the next tag; skips comments, instructions, declarations and text.
    pub(super) fn next_tag(&mut self) -> Option<Tag<'a>> {
        loop {
            self.rest = &self.rest[self.rest.find('<')?..];
            if self.pass_markup()? {
                continue;
            }
            let end = tag_end(self.rest)?;
            let tag = &self.rest[1..end];
            self.rest = &self.rest[end + 1..];
            let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
            let name_end = tag.find([' ', '\t', '\r', '\n', '/']).unwrap_or(tag.len());
            let (name, attributes) = tag.split_at(name_end);
            let (prefix, name) = name.split_once(':').unwrap_or(("", name));
            return Some(Tag { is_end, prefix, name, attributes });
        }
    }

    /// Skips markup that is neither a tag nor text; `None` if its end is missing.
    fn pass_markup(&mut self) -> Option<bool> {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
            if let Some(inside) = self.rest.strip_prefix(start) {
                self.rest = &inside[inside.find(end)? + end.len()..];
                return Some(true);
            }
        }
        if self.rest.starts_with("<!") {
            let (end, declares) = declaration_end(self.rest)?;
            self.declares |= declares;
            self.rest = &self.rest[end..];
            return Some(true);
        }
        Some(false)
    }

    /// Returns the text up to the next tag, without comments.
    pub(super) fn value(&mut self) -> Value {
        let (mut text, mut is_known) = (String::new(), true);
        loop {
            let end = self.rest.find('<').unwrap_or(self.rest.len());
            is_known &= undo_entities(&self.rest[..end], &mut text);
            self.rest = &self.rest[end..];
            if let Some(raw) = self.rest.strip_prefix("<![CDATA[") {
                let Some(end) = raw.find("]]>") else { break };
                text.push_str(&raw[..end]);
                self.rest = &raw[end + 3..];
            } else if let Some(comment) = self.rest.strip_prefix("<!--") {
                let Some(end) = comment.find("-->") else { break };
                self.rest = &comment[end + 3..];
            } else {
                break;
            }
        }
        let (is_ended, is_explained) = (self.rest.starts_with("</"), is_known || !self.declares);
        Value { text: text.trim().to_owned(), is_ended, is_explained }
    }

    /// Returns the value of an attribute of a tag of this document.
    pub(super) fn attribute(&self, tag: Tag<'_>, wanted: &str) -> Option<Value> {
        let mut rest = tag.attributes;
        while let Some((name, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let (value, behind) = after[1..].split_once(quote)?;
            if name.trim().trim_start_matches('/') == wanted {
                let mut text = String::new();
                let is_explained = undo_entities(value, &mut text) || !self.declares;
                let text = text.trim().to_owned();
                return Some(Value { text, is_ended: true, is_explained });
            }
            rest = behind;
        }
        None
    }
}

/// Finds the `>` of a tag outside of quotes. A quote that does not end before the next tag is ignored.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            (_, b'<') => break,
            _ => {}
        }
    }
    tag.find('>')
}

/// Finds the end of a declaration; also returns whether it is a document type with declarations of its own.
fn declaration_end(text: &str) -> Option<(usize, bool)> {
    let (mut quote, mut declares) = (None, false);
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        if quote.is_none() && text.as_bytes()[at..].starts_with(b"<!--") {
            at += 4 + text[at + 4..].find("-->")? + 3;
            continue;
        }
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') => declares = true,
            (None, b'<') => depth += 1,
            (None, b'>') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some((at + 1, declares));
                }
            }
            (Some(_) | None, _) => {}
        }
        at += 1;
    }
    None
}

/// Appends a text with its entities decoded. An unknown entity stays as it is, and the result is `false`.
fn undo_entities(text: &str, out: &mut String) -> bool {
    let mut is_known = true;
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // Looks no further than the longest entity, so that parsing stays linear.
        let end = rest.bytes().take(ENTITY_BYTES_MAX).position(|byte| byte == b';');
        let entity = end.map(|end| &rest[1..end]);
        if let Some((letter, entity)) = entity.and_then(|entity| Some((letter(entity)?, entity))) {
            out.push(letter);
            rest = &rest[entity.len() + 2..];
        } else {
            is_known = false;
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    is_known
}

/// Returns the character of an entity.
fn letter(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)
        }
    }
}

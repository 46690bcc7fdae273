//! The spelling in which the rules of a robots.txt and the paths of URLs are compared.
//!
//! A rule and a URL may write the same character in different ways: as it is, or as an escape with hex digits of either
//! case. [`spell`] gives both the same spelling. [`undo`] goes further and also unites spellings whose meaning is in
//! doubt; only a Disallow uses it.
//!
//! **Invariant.** Spelling or undoing a second time changes nothing.
//!
//! Reference: RFC 9309, 2.2.2 and 2.2.3; RFC 3986, 2.2, 2.3 and 6.2.2.

/// The origin of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The value of a rule, in which a raw `*` matches any bytes.
    Rule,
    /// The path and query of a URL, in which a raw `*` is that character. A byte beyond ASCII is no part of a URL, so it
    /// stays as it is and no Allow matches it.
    Url,
}

/// Spells a rule or a URL: escapes have upper case digits; a byte that a URL parser may escape is escaped; `$` is not,
/// and a literal `*` is `%2A`.
pub(super) fn spell(text: &[u8], side: Side) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = escaped_byte(&text[at..]);
        match escaped.unwrap_or(byte) {
            b'$' => out.push(b'$'),
            b'*' if escaped.is_none() && side == Side::Rule => out.push(b'*'),
            0x80.. if escaped.is_none() && side == Side::Url => out.push(byte),
            byte if escaped.is_none() && (byte == b'%' || is_plain(byte)) => out.push(byte),
            byte => push_escape(&mut out, byte),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

/// Decodes the escapes of all printable ASCII characters in the output of [`spell`], and escapes what it left:
/// bytes beyond ASCII and a `%` that begins no escape. `None` if that changes nothing. Before the query, `%2F` and
/// `%3F` stay, since `/` and `?` divide a URL.
pub(super) fn undo(spelt: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(spelt.len());
    let (mut at, mut in_query) = (0, false);
    while let Some(&byte) = spelt.get(at) {
        let escaped = escaped_byte(&spelt[at..]);
        match escaped {
            Some(b'/' | b'?') if !in_query => out.extend_from_slice(&spelt[at..at + 3]),
            Some(character) if is_plain(character) => out.push(character),
            Some(_) => out.extend_from_slice(&spelt[at..at + 3]),
            None if byte == b'%' || !byte.is_ascii() => push_escape(&mut out, byte),
            None => out.push(byte),
        }
        in_query |= byte == b'?';
        at += if escaped.is_some() { 3 } else { 1 };
    }
    (out != spelt).then_some(out)
}

/// Returns whether [`spell`] leaves a raw byte as it is. URL parsers leave `'` in a path and escape it in a query,
/// so it is not plain.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&()+,;=".contains(&byte)
}

/// Returns the byte whose escape is at the front of `text`.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = text.first_chunk()? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
    out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// [`spell`] and [`undo`] leave their own output as it is.
    #[test]
    fn canonical_spelling_is_idempotent() {
        let text = "[ -~é\u{0}]{0,3}(%[0-9a-fA-F]{0,2}|[?/*$ ]|a){0,12}";
        proptest!(|(text in text)| {
            for side in [Side::Rule, Side::Url] {
                let spelt = spell(text.as_bytes(), side);
                prop_assert_eq!(&spell(&spelt, side), &spelt);
                let Some(undone) = undo(&spelt) else { continue };
                prop_assert_eq!(undo(&undone), None);
            }
        });
    }
}

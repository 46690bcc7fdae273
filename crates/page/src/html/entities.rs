//! Character references: `&eacute;`, `&#233;`, `&#xe9;`.
//!
//! The table of the standard gives the characters of a reference. Each line of `entities.txt` has a name and its code
//! points in hexadecimal. The callers decide where references apply. Scripts and raw text have no references.
//!
//! **Invariant.** Text that is not a reference stays unchanged. Apart from the digits of a number, the decision reads a
//! bounded number of bytes.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/parsing.html#character-reference-state>,
//! <https://html.spec.whatwg.org/multipage/named-characters.html>.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use memchr::{memchr, memchr2, memchr3};

/// Bytes of the longest name, with its semicolon.
const NAME_BYTES_MAX: usize = 32;
/// Bytes of the longest name that is valid without a semicolon.
const BARE_NAME_BYTES_MAX: usize = 6;

/// Every name, with the semicolon if it is required, and the one or two characters that it represents.
static NAMED: LazyLock<HashMap<&'static str, [Option<char>; 2]>> = LazyLock::new(|| {
    let entry = |line: &'static str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let mut character = || char::from_u32(u32::from_str_radix(words.next()?, 16).ok()?);
        (name, [character(), character()])
    };
    include_str!("entities.txt").lines().map(entry).collect()
});

/// The place of a reference. It decides the meaning of a name without a semicolon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// The value of an attribute, where `&copy=` and `&copyright` are parts of a URL.
    Value,
}

/// Passes `text` to `push` in pieces, with references replaced.
pub(super) fn each_piece(text: &str, place: Place, mut push: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        push(&rest[..at]);
        rest = &rest[at..];
        if let Some((characters, bytes)) = reference(rest, place) {
            let mut buffer = [0; 4];
            for character in characters.into_iter().flatten() {
                push(character.encode_utf8(&mut buffer));
            }
            rest = &rest[bytes..];
        } else {
            push("&");
            rest = &rest[1..];
        }
    }
    push(rest);
}

/// The value of an attribute, and whether it was cut at `bytes_max`. References are replaced, line ends become `\n`,
/// and NUL becomes U+FFFD.
pub(super) fn value(raw: &str, bytes_max: usize) -> (Cow<'_, str>, bool) {
    if memchr3(b'&', b'\0', b'\r', raw.as_bytes()).is_none() {
        let kept = raw.floor_char_boundary(bytes_max);
        return (Cow::Borrowed(&raw[..kept]), kept < raw.len());
    }
    let mut out = String::with_capacity(raw.len().min(bytes_max));
    let mut is_cut = false;
    each_piece(raw, Place::Value, |piece| {
        if is_cut {
            return;
        }
        is_cut = if memchr2(b'\0', b'\r', piece.as_bytes()).is_none() {
            !push_within(&mut out, piece, bytes_max)
        } else {
            let piece = piece.replace('\0', "\u{fffd}").replace("\r\n", "\n").replace('\r', "\n");
            !push_within(&mut out, &piece, bytes_max)
        };
    });
    (Cow::Owned(out), is_cut)
}

/// Appends the part of `piece` that fits. Returns whether all of it fits.
fn push_within(out: &mut String, piece: &str, bytes_max: usize) -> bool {
    let room = bytes_max - out.len();
    out.push_str(&piece[..piece.floor_char_boundary(room)]);
    piece.len() <= room
}

/// The characters of the reference at the start of `text`, and its length in bytes.
fn reference(text: &str, place: Place) -> Option<([Option<char>; 2], usize)> {
    let single = |character| [Some(character), None];
    match text.as_bytes() {
        // Nearly all references are one of these.
        [b'&', b'l', b't', b';', ..] => Some((single('<'), 4)),
        [b'&', b'g', b't', b';', ..] => Some((single('>'), 4)),
        [b'&', b'a', b'm', b'p', b';', ..] => Some((single('&'), 5)),
        [b'&', b'n', b'b', b's', b'p', b';', ..] => Some((single('\u{a0}'), 6)),
        [b'&', b'q', b'u', b'o', b't', b';', ..] => Some((single('"'), 6)),
        [b'&', b'#', b'x' | b'X', digits @ ..] => number(digits, 16, 3),
        [b'&', b'#', digits @ ..] => number(digits, 10, 2),
        _ => named(text, place),
    }
}

fn named(text: &str, place: Place) -> Option<([Option<char>; 2], usize)> {
    let after = &text.as_bytes()[1..];
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric();
    let run = after.iter().take(NAME_BYTES_MAX).take_while(is_name).count();
    if after.get(run) == Some(&b';')
        && let Some(characters) = NAMED.get(&text[1..run + 2])
    {
        return Some((*characters, run + 2));
    }
    (2..=run.min(BARE_NAME_BYTES_MAX)).rev().find_map(|bytes| {
        let characters = NAMED.get(&text[1..=bytes])?;
        let next = after.get(bytes);
        let is_of_url = next.is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
        Some((*characters, bytes + 1)).filter(|_| place == Place::Text || !is_of_url)
    })
}

fn number(digits: &[u8], radix: u32, before: usize) -> Option<([Option<char>; 2], usize)> {
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let mut value: u32 = 0;
    let mut count = 0;
    for digit in digits.iter().map_while(digit) {
        value = value.saturating_mul(radix).saturating_add(digit);
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let semicolon = usize::from(digits.get(count) == Some(&b';'));
    Some(([Some(numbered(value)), None], before + count + semicolon))
}

/// The character of a number. Numbers of C1 controls give characters of windows-1252.
fn numbered(value: u32) -> char {
    match value {
        0 => '\u{fffd}',
        0x80..=0x9f => {
            let byte = [u8::try_from(value).unwrap_or_default()];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().unwrap_or('\u{fffd}')
        }
        _ => char::from_u32(value).unwrap_or('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entity_table_is_complete_and_limits_match() {
        assert_eq!(NAMED.len(), 2231);
        assert!(NAMED.values().all(|characters| characters[0].is_some()));
        let longest = |bare: bool| {
            let names = NAMED.keys().filter(|name| name.ends_with(';') != bare);
            names.map(|name| name.len()).max()
        };
        assert_eq!(longest(false), Some(NAME_BYTES_MAX));
        assert_eq!(longest(true), Some(BARE_NAME_BYTES_MAX));
    }

    #[test]
    fn values_are_cut_between_characters() {
        for (raw, bytes_max, expected) in [
            ("aé", 2, ("a", true)),
            ("aé", 3, ("aé", false)),
            ("a&eacute;", 2, ("a", true)),
            ("a&eacute;b", 3, ("aé", true)),
            ("a\r\nb\rc\0", 9, ("a\nb\nc\u{fffd}", false)),
            ("?a&copy=1&copyb&copy;", 99, ("?a&copy=1&copyb©", false)),
        ] {
            let (found, is_cut) = value(raw, bytes_max);
            assert_eq!((found.as_ref(), is_cut), expected, "{raw:?}");
        }
    }
}

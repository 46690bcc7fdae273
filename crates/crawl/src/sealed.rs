//! A checksum at the end of a text that people may read and edit: the last line, or the last member of a JSON
//! object.
//!
//! What lives here: writing and verifying the checksum. What does not: the texts.
//!
//! **Invariant.** A text with a valid checksum has not changed since it was written, up to a collision of CRC-32.
//! The space in `# sum ` keeps the line from being read as part of an address if the newline before it is lost.

use std::path::Path;
use std::{fs, io};

/// The prefix of the checksum line.
const SUM: &str = "# sum ";

/// The text before the checksum in a JSON object.
const SUM_MEMBER: &str = ",\"sum\":\"";

/// The result of verifying a checksum.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seal<'a> {
    /// The checksum is valid; this is the text before it.
    Good(&'a str),
    /// The checksum is wrong or cut off.
    Broken,
    /// There is no checksum.
    None,
}

/// Appends the checksum line to a text of whole lines.
pub(crate) fn seal(text: &str) -> String {
    format!("{text}{SUM}{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// Returns whether a line is a checksum line, in upper or lower case.
pub(crate) fn is_sum(line: &str) -> bool {
    line.get(..SUM.len()).is_some_and(|start| start.eq_ignore_ascii_case(SUM))
}

/// Verifies the checksum line at the end of a text.
pub(crate) fn unseal(text: &str) -> Seal<'_> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let (body, last) = lines.split_at(lines.rfind('\n').map_or(0, |end| end + 1));
    match last {
        _ if seal(body) == text => Seal::Good(body),
        // A truncated file ends in a part of the checksum line.
        last if !last.is_empty() && (last.starts_with(SUM) || SUM.starts_with(last)) => {
            Seal::Broken
        }
        _ => Seal::None,
    }
}

/// Reads a file and returns its text without the checksum line. A missing file is empty; an invalid checksum is
/// `None`.
pub(crate) fn read_sealed(path: &Path) -> io::Result<Option<String>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(String::new())),
        bytes => bytes?,
    };
    Ok(match unseal(&String::from_utf8_lossy(&bytes)) {
        Seal::Good(text) => Some(text.to_owned()),
        Seal::Broken | Seal::None => None,
    })
}

/// Adds the checksum of a JSON object as its last member, and a newline.
pub(crate) fn seal_object(text: &str) -> String {
    let open = text.strip_suffix('}').unwrap_or(text);
    format!("{open}{SUM_MEMBER}{:08x}\"}}\n", crc32fast::hash(open.as_bytes()))
}

/// Verifies the checksum member at the end of a JSON object.
pub(crate) fn unseal_object(text: &str) -> Seal<'_> {
    match text.rsplit_once(SUM_MEMBER) {
        Some((open, _)) if seal_object(&format!("{open}}}")) == text => Seal::Good(text),
        _ if text.ends_with("}}\n") => Seal::None,
        _ => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_and_every_flip_is_no_good() {
        let text = "http://a.test/\nsitemap:http://b.test/s.xml\n";
        let whole = seal(text);
        assert_eq!(unseal(&whole), Seal::Good(text));
        assert_eq!(unseal(text), Seal::None);
        for length in text.len() + 1..whole.len() {
            assert_eq!(unseal(&whole[..length]), Seal::Broken, "{length}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] ^= 1;
            let flipped = String::from_utf8(bytes).expect("it is ASCII");
            assert!(!matches!(unseal(&flipped), Seal::Good(_)), "{at}");
        }
    }

    #[test]
    fn a_sealed_object_is_one_and_every_cut_and_every_flip_is_no_good() {
        let text = "{\"a\":1,\"b\":{\"c\":\"}}\"}}";
        let whole = seal_object(text);
        assert_eq!(unseal_object(&whole), Seal::Good(&whole));
        let read: serde_json::Value = serde_json::from_str(&whole).expect("it is JSON");
        assert_eq!((&read["a"], &read["b"]["c"]), (&1.into(), &"}}".into()));
        assert_eq!(unseal_object(&format!("{text}\n")), Seal::None);
        for length in 0..whole.len() {
            assert_eq!(unseal_object(&whole[..length]), Seal::Broken, "{length}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] ^= 1;
            let flipped = String::from_utf8(bytes).expect("it is ASCII");
            assert_eq!(unseal_object(&flipped), Seal::Broken, "{at}");
        }
    }
}

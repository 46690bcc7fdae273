//! A checksum at the end of a text that people may read and change: as the last line, or as the last member of an object
//! of JSON.
//!
//! What lives here: writing it, and holding it against what stands before it. What does not: the texts.
//!
//! **Invariant.** A text that ends with its checksum is as it was written, as far as 32 bits tell. A space in the line
//! keeps it from being taken for a part of an address if the break before it is lost.

use std::path::Path;
use std::{fs, io};

/// What the last line begins with.
const SUM: &str = "# sum ";

/// What stands before the checksum in an object of JSON.
const SUM_MEMBER: &str = ",\"sum\":\"";

/// What is said of a text by its last line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seal<'a> {
    /// This stands before it, and is as it was written.
    Good(&'a str),
    /// It has another checksum, or half of one.
    Broken,
    /// It has none.
    None,
}

/// A text of whole lines with its checksum behind it.
pub(crate) fn seal(text: &str) -> String {
    format!("{text}{SUM}{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// Whether a line is, or was before it was changed, one with a checksum.
pub(crate) fn is_sum(line: &str) -> bool {
    line.get(..SUM.len()).is_some_and(|start| start.eq_ignore_ascii_case(SUM))
}

/// What is said of a text by its last line.
pub(crate) fn unseal(text: &str) -> Seal<'_> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let (body, last) = lines.split_at(lines.rfind('\n').map_or(0, |end| end + 1));
    match last {
        _ if seal(body) == text => Seal::Good(body),
        // A cut leaves some of it.
        last if !last.is_empty() && (last.starts_with(SUM) || SUM.starts_with(last)) => {
            Seal::Broken
        }
        _ => Seal::None,
    }
}

/// What stands before the last line of a file, nothing if there is none; `None` if it is not as it was written.
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

/// An object of JSON with its checksum, that of all before it, as one member more, and the end of the line.
pub(crate) fn seal_object(text: &str) -> String {
    let open = text.strip_suffix('}').unwrap_or(text);
    format!("{open}{SUM_MEMBER}{:08x}\"}}\n", crc32fast::hash(open.as_bytes()))
}

/// What is said of a line with an object of JSON by its last member, which is another object where it has no checksum.
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

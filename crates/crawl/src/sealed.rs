//! A checksum as the last line of a text that people may read and change.
//!
//! What lives here: writing that line, and holding it against what stands before it. What does not: the texts.
//!
//! **Invariant.** A text whose last line is its checksum is as it was written, as far as 32 bits tell. A space in the line
//! keeps it from being taken for a part of an address if the break before it is lost.

/// What the last line begins with.
const SUM: &str = "# sum ";

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
}

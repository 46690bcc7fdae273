//! Texts with a checksum, which a person can read: the last line is `# sum` and the CRC-32 of the lines before.
//!
//! **Invariant.** A text with a correct checksum line is the text that was written. The space in that line
//! distinguishes it from an address if the line break before it is lost.

use std::path::Path;
use std::{fs, io};

/// The start of the checksum line.
const SUM: &str = "# sum ";

/// The result of checking the last line of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Seal<'a> {
    /// The checksum is correct. The value is the text before it.
    Good(&'a str),
    /// The checksum is wrong or cut.
    Broken,
    /// The last line is not a checksum.
    None,
}

/// Appends a checksum line to a text of whole lines.
pub fn seal(text: &str) -> String {
    format!("{text}{SUM}{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// Returns whether a line is a checksum line, in upper or lower case.
pub fn is_sum(line: &str) -> bool {
    line.get(..SUM.len()).is_some_and(|start| start.eq_ignore_ascii_case(SUM))
}

/// Checks the last line of a text.
pub fn unseal(text: &str) -> Seal<'_> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let (body, last) = lines.split_at(lines.rfind('\n').map_or(0, |end| end + 1));
    let is_cut = !last.is_empty() && SUM.starts_with(last);
    match last {
        _ if seal(body) == text => Seal::Good(body),
        last if last.starts_with(SUM) || is_cut => Seal::Broken,
        _ => Seal::None,
    }
}

/// Reads a file that [`seal`] made. The text is empty if the file is missing, and `None` if the checksum is not correct.
pub fn read_sealed(path: &Path) -> io::Result<Option<String>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(String::new())),
        bytes => bytes?,
    };
    Ok(match unseal(&String::from_utf8_lossy(&bytes)) {
        Seal::Good(text) => Some(text.to_owned()),
        Seal::Broken | Seal::None => None,
    })
}

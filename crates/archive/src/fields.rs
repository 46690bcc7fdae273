//! `Name: value` lines: the header of a WARC record, the header of an HTTP message, and the blocks of
//! type `application/warc-fields`.
//!
//! What lives here: one tolerant parser for all three, and the writer of warc-fields blocks. Lines may end with CR LF
//! or LF. Values may continue in lines that begin with white space. Lines without a colon are skipped. Bytes that are
//! not UTF-8 are read as Latin-1. What does not: limits on size, which the caller sets.
//!
//! **Invariant.** Any bytes can be read. A written value is one line and is read back unchanged, with two exceptions.
//! Control characters become blanks, and blanks around the value are removed.
//!
//! Reference: WARC 1.1, section 4; RFC 9112, section 5.

/// The fields of a header, in order; `bytes` begins after the version or status line.
pub(crate) fn parse(bytes: &[u8]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        if line[0] == b' ' || line[0] == b'\t' {
            if let Some((_, value)) = fields.last_mut() {
                let more = text(line.trim_ascii());
                if !value.is_empty() && !more.is_empty() {
                    value.push(' ');
                }
                value.push_str(&more);
            }
        } else if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            let (name, value) = line.split_at(colon);
            fields.push((text(name.trim_ascii()), text(value[1..].trim_ascii())));
        }
    }
    fields
}

/// The value of the first field called `name`, whatever its case.
pub(crate) fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Reads a block of type `application/warc-fields`.
pub fn parse_warc_fields(block: &[u8]) -> Vec<(String, String)> {
    parse(block)
}

/// Writes a block of type `application/warc-fields`. Line breaks and other control characters in a
/// value become spaces, since a value is one line.
pub fn warc_fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.extend_from_slice(name.as_bytes());
        block.extend_from_slice(b": ");
        let line: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        block.extend_from_slice(line.trim().as_bytes());
        block.extend_from_slice(b"\r\n");
    }
    block
}

/// UTF-8 where it is, otherwise Latin-1: nothing is lost either way.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[(&str, &str)]) {
        let got = parse(bytes);
        let got: Vec<_> = got.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(got, expected, "fields of {:?}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn malformed_fields_are_tolerated() {
        check(b"A: 1\r\nb:2\r\n\r\n", &[("A", "1"), ("b", "2")]);
        check(b"A: 1\nB : 2\n", &[("A", "1"), ("B", "2")]);
        check(b"A: \r\n one\r\n\ttwo\r\n", &[("A", "one two")]);
        check(b" lost\r\nA: x\r\n", &[("A", "x")]);
        check(b"no colon\r\nA: b: c\r\n", &[("A", "b: c")]);
        check(b"A: caf\xe9\r\nB: caf\xc3\xa9", &[("A", "café"), ("B", "café")]);
    }

    #[test]
    fn a_written_value_cannot_become_a_second_field() {
        let block = warc_fields(&[("detail", "one\r\nforged: 1"), ("outcome", "timeout")]);
        check(&block, &[("detail", "one  forged: 1"), ("outcome", "timeout")]);
    }
}

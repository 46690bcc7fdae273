//! The protobuf wire format, as far as CIFF needs it: varints, strings, nested messages.
//!
//! A varint is written as by [`codes::vbyte`]; a reader accepts longer ones too.
//!
//! **Invariant.** On any bytes, reading ends with a value or an error that names the offset. It takes no more
//! memory than the limit given for a string, and never reads across the end of a message.
//!
//! Reference: <https://protobuf.dev/programming-guides/encoding/>.

use crate::IndexError;
use codes::vbyte;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 16;
/// The longest varint.
const VARINT_BYTES_MAX: u32 = 10;

/// The wire type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Varint,
    Fixed64,
    Delimited,
    Fixed32,
}

/// The tag before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) field: u64,
    pub(super) kind: Kind,
}

/// Reads a stream of messages.
pub(super) struct WireReader<R> {
    input: R,
    file: PathBuf,
    buffer: Box<[u8]>,
    /// Range of the buffer that is still to be read.
    at: usize,
    filled: usize,
    /// Offset of the buffer in the stream.
    buffer_offset: u64,
}

impl<R: Read> WireReader<R> {
    /// `file` is named in errors.
    pub(super) fn new(input: R, file: &Path) -> WireReader<R> {
        WireReader {
            input,
            file: file.to_path_buf(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            at: 0,
            filled: 0,
            buffer_offset: 0,
        }
    }

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.buffer_offset + self.at as u64
    }

    /// An error at `offset`.
    pub(super) fn wrong(&self, offset: u64, what: impl Into<String>) -> IndexError {
        IndexError::Ciff { file: self.file.clone(), offset, what: what.into() }
    }

    /// Returns whether the stream has ended.
    pub(super) fn is_at_end(&mut self) -> Result<bool, IndexError> {
        if self.at < self.filled {
            return Ok(false);
        }
        self.buffer_offset += self.filled as u64;
        (self.at, self.filled) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(bytes) => {
                    self.filled = bytes;
                    return Ok(bytes == 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(IndexError::Interchange { path: self.file.clone(), source });
                }
            }
        }
    }

    /// Starts a message inside one that ends at `end`. Returns its own end.
    pub(super) fn message(&mut self, end: u64) -> Result<u64, IndexError> {
        let start = self.offset();
        let bytes = self.varint(end)?;
        let own_end = self.offset().checked_add(bytes).filter(|&own_end| own_end <= end);
        own_end.ok_or_else(|| self.wrong(start, format!("{bytes} bytes, more than there can be")))
    }

    /// The next tag of the message that ends at `end`; `None` at its end.
    pub(super) fn tag(&mut self, end: u64) -> Result<Option<Tag>, IndexError> {
        let start = self.offset();
        if start == end {
            return Ok(None);
        }
        let tag = self.varint(end)?;
        let kind = match tag & 7 {
            0 => Kind::Varint,
            1 => Kind::Fixed64,
            2 => Kind::Delimited,
            5 => Kind::Fixed32,
            other => return Err(self.wrong(start, format!("no field has the type {other}"))),
        };
        match tag >> 3 {
            0 => Err(self.wrong(start, "no field has the number 0")),
            field => Ok(Some(Tag { field, kind })),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self, end: u64) -> Result<u64, IndexError> {
        let start = self.offset();
        let mut value = 0_u64;
        for place in 0..VARINT_BYTES_MAX {
            let byte = self.byte(end)?;
            let bits = u64::from(byte & 0x7f);
            if place == VARINT_BYTES_MAX - 1 && bits > 1 {
                break;
            }
            value |= bits << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.wrong(start, "a number of more than 64 bits"))
    }

    /// Reads a number that must not be negative or greater than `max`.
    #[inline]
    pub(super) fn count(&mut self, end: u64, max: u64, what: &str) -> Result<u64, IndexError> {
        let start = self.offset();
        let value = self.varint(end)?;
        if value > max {
            let signed = value.cast_signed();
            let found = if signed < 0 { signed.to_string() } else { value.to_string() };
            return Err(self.wrong(start, format!("{what} is {found}")));
        }
        Ok(value)
    }

    pub(super) fn double(&mut self, end: u64) -> Result<f64, IndexError> {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = self.byte(end)?;
        }
        Ok(f64::from_le_bytes(bytes))
    }

    /// Reads a string of at most `max` bytes into `out`.
    pub(super) fn text(
        &mut self,
        end: u64,
        max: usize,
        out: &mut String,
    ) -> Result<(), IndexError> {
        let start = self.offset();
        let own_end = self.message(end)?;
        let length = own_end - self.offset();
        if length > max as u64 {
            let what = format!("a text of {length} bytes, at most {max} are read");
            return Err(self.wrong(start, what));
        }
        let mut bytes = std::mem::take(out).into_bytes();
        bytes.clear();
        while self.offset() < own_end {
            bytes.push(self.byte(own_end)?);
        }
        *out =
            String::from_utf8(bytes).map_err(|_| self.wrong(start, "a text that is not UTF-8"))?;
        Ok(())
    }

    /// Skips the value of an unknown field.
    pub(super) fn skip(&mut self, kind: Kind, end: u64) -> Result<(), IndexError> {
        match kind {
            Kind::Varint => self.varint(end).map(|_| ()),
            Kind::Fixed64 => self.skip_to(self.offset().saturating_add(8), end),
            Kind::Fixed32 => self.skip_to(self.offset().saturating_add(4), end),
            Kind::Delimited => {
                let own_end = self.message(end)?;
                self.skip_to(own_end, end)
            }
        }
    }

    /// Skips to `target`, which must not be after `end`.
    pub(super) fn skip_to(&mut self, target: u64, end: u64) -> Result<(), IndexError> {
        while self.offset() < target {
            if target > end || self.is_at_end()? {
                return Err(self.cut_short());
            }
            let ahead = usize::try_from(target - self.offset()).unwrap_or(usize::MAX);
            self.at += ahead.min(self.filled - self.at);
        }
        Ok(())
    }

    #[inline]
    fn byte(&mut self, end: u64) -> Result<u8, IndexError> {
        if self.at == self.filled && self.is_at_end()? {
            return Err(self.cut_short());
        }
        if self.offset() >= end {
            return Err(self.wrong(self.offset(), "a field reaches beyond the end of its message"));
        }
        self.at += 1;
        Ok(self.buffer[self.at - 1])
    }

    fn cut_short(&self) -> IndexError {
        self.wrong(self.offset(), "the file ends in the middle of a message")
    }
}

/// Number of bytes of a varint.
pub(super) fn varint_bytes(value: u64) -> u64 {
    u64::from((64 - (value | 1).leading_zeros()).div_ceil(7))
}

/// Appends an integer field, unless it is 0, which is the default.
pub(super) fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    if value > 0 {
        vbyte::write(out, field << 3);
        vbyte::write(out, value);
    }
}

/// Appends a field of type double.
pub(super) fn put_double(out: &mut Vec<u8>, field: u64, value: f64) {
    vbyte::write(out, field << 3 | 1);
    out.extend(value.to_le_bytes());
}

/// Appends a string field, unless it is empty.
pub(super) fn put_text(out: &mut Vec<u8>, field: u64, text: &str) {
    if !text.is_empty() {
        vbyte::write(out, field << 3 | 2);
        vbyte::write(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_with_the_predicted_length() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in edges.chain([u64::MAX]) {
            let mut bytes = Vec::new();
            vbyte::write(&mut bytes, value);
            assert_eq!(bytes.len() as u64, varint_bytes(value), "{value}");
            let mut reader = WireReader::new(&bytes[..], Path::new("f"));
            assert_eq!(reader.varint(u64::MAX).expect("was written"), value);
        }
    }

    #[test]
    fn endless_numbers_and_texts_are_refused_at_their_start() {
        let endless = [0x80; 20];
        let mut reader = WireReader::new(&endless[..], Path::new("f"));
        let said = reader.varint(u64::MAX).expect_err("has no end").to_string();
        assert!(said.contains("f is damaged at byte 0: a number of more than 64 bits"), "{said}");
        let mut long = Vec::new();
        vbyte::write(&mut long, 1 << 40);
        let mut reader = WireReader::new(&long[..], Path::new("f"));
        let said = reader.text(u64::MAX, 100, &mut String::new()).expect_err("is too long");
        assert!(said.to_string().contains("a text of 1099511627776 bytes"), "{said}");
    }
}

//! A row of the page table and its bytes: strings and numbers in variable-length bytes.
//!
//! **Invariant.** `Fate::decode` of what `encode` wrote is the same fate; of any other bytes it is a
//! fate or `None`, never a panic.

use codes::vbyte;
use neardup::Fingerprint;

/// Where a row stands: part, block in the part, row in the block.
///
/// Packed in 64 bits (16, 36, 12), which the index keeps without knowing what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PagePointer {
    /// Number of the part.
    pub part: u16,
    /// Byte at which the block begins, below 2^36.
    pub block: u64,
    /// Row inside the block, below 4096.
    pub row: u16,
}

/// Bits of a packed pointer that hold the row.
const ROW_BITS: u32 = 12;
/// Bits of a packed pointer that hold the block's offset.
const BLOCK_BITS: u32 = 36;
/// Those bits of its last sixteen.
const ROW_MASK: u16 = (1 << ROW_BITS) - 1;
/// Rows in a block at the most.
pub(crate) const BLOCK_ROWS_MAX: usize = 1 << ROW_BITS;
/// Bytes in a part at the most.
pub(crate) const PART_BYTES_MAX: u64 = 1 << BLOCK_BITS;

impl PagePointer {
    /// As one number.
    pub fn pack(self) -> u64 {
        u64::from(self.part) << (ROW_BITS + BLOCK_BITS)
            | self.block << ROW_BITS
            | u64::from(self.row)
    }

    /// The pointer behind a number.
    pub fn unpack(packed: u64) -> Self {
        let [high, low, .., row_high, row_low] = packed.to_be_bytes();
        Self {
            part: u16::from_be_bytes([high, low]),
            block: packed >> ROW_BITS & ((1 << BLOCK_BITS) - 1),
            row: u16::from_be_bytes([row_high, row_low]) & ROW_MASK,
        }
    }
}

/// A link as it stands on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutLink {
    /// Normalised target.
    pub url: String,
    /// The anchor's text.
    pub text: String,
    /// The page says not to follow it.
    pub nofollow: bool,
}

/// A page as the later stages need it.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRow {
    /// Where the record begins in the archive file that the part was made from.
    pub record_offset: u64,
    /// Compressed bytes of the record.
    pub record_length: u64,
    /// Title.
    pub title: String,
    /// Headings, one a line.
    pub headings: String,
    /// Text, blocks separated by newlines.
    pub text: String,
    /// The page's own description.
    pub description: String,
    /// ISO 639-1, or nothing.
    pub language: String,
    /// The name of its character encoding.
    pub charset: String,
    /// The page asks not to be found.
    pub noindex: bool,
    /// Which URL it says it is a copy of, or nothing.
    pub canonical: String,
    /// For near-duplicates.
    pub fingerprint: Fingerprint,
    /// Links in order of appearance.
    pub links: Vec<OutLink>,
}

/// What became of one URL at one moment.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It is a page.
    Page(Box<PageRow>),
    /// It leads elsewhere.
    Redirect {
        /// Normalised target.
        target: String,
    },
    /// It is not there (any more), or is nothing to read.
    Gone {
        /// For people: `status 404`, `not text: image/png`.
        what: String,
    },
    /// It could not be had this time; an earlier capture still counts.
    Failed {
        /// For people: `timeout`, `status 503`.
        what: String,
    },
    /// It was found as it was before.
    Same,
}

impl Fate {
    /// Appends the bytes of a row.
    pub(crate) fn encode(&self, url: &str, date_s: i64, out: &mut Vec<u8>) {
        put_text(out, url);
        vbyte::write(out, u64::try_from(date_s).unwrap_or(0));
        match self {
            Self::Page(page) => {
                out.push(0);
                page.encode(out);
            }
            Self::Redirect { target } => {
                out.push(1);
                put_text(out, target);
            }
            Self::Gone { what } => {
                out.push(2);
                put_text(out, what);
            }
            Self::Failed { what } => {
                out.push(3);
                put_text(out, what);
            }
            Self::Same => out.push(4),
        }
    }

    /// Reads one row: URL, date, fate.
    pub(crate) fn decode(input: &mut &[u8]) -> Option<(String, i64, Self)> {
        let url = take_text(input)?;
        let date_s = i64::try_from(vbyte::read(input)?).ok()?;
        let (&tag, rest) = input.split_first()?;
        *input = rest;
        let fate = match tag {
            0 => Self::Page(Box::new(PageRow::decode(input)?)),
            1 => Self::Redirect { target: take_text(input)? },
            2 => Self::Gone { what: take_text(input)? },
            3 => Self::Failed { what: take_text(input)? },
            4 => Self::Same,
            _ => return None,
        };
        Some((url, date_s, fate))
    }
}

impl PageRow {
    fn encode(&self, out: &mut Vec<u8>) {
        vbyte::write(out, self.record_offset);
        vbyte::write(out, self.record_length);
        for text in [
            &self.title,
            &self.headings,
            &self.text,
            &self.description,
            &self.language,
            &self.charset,
            &self.canonical,
        ] {
            put_text(out, text);
        }
        out.push(u8::from(self.noindex));
        out.extend_from_slice(&self.fingerprint.simhash.to_le_bytes());
        out.extend_from_slice(&self.fingerprint.digest.to_le_bytes());
        vbyte::write(out, u64::from(self.fingerprint.words));
        vbyte::write(out, self.links.len() as u64);
        for link in &self.links {
            put_text(out, &link.url);
            put_text(out, &link.text);
            out.push(u8::from(link.nofollow));
        }
    }

    fn decode(input: &mut &[u8]) -> Option<Self> {
        let record_offset = vbyte::read(input)?;
        let record_length = vbyte::read(input)?;
        let [title, headings, text, description, language, charset, canonical] = [
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
        ];
        let noindex = take_byte(input)? != 0;
        let fingerprint = Fingerprint {
            simhash: take_word(input)?,
            digest: take_word(input)?,
            words: u32::try_from(vbyte::read(input)?).ok()?,
        };
        let count = vbyte::read(input)?;
        let mut links = Vec::new();
        for _ in 0..count {
            let url = take_text(input)?;
            let text = take_text(input)?;
            let nofollow = take_byte(input)? != 0;
            links.push(OutLink { url, text, nofollow });
        }
        Some(Self {
            record_offset,
            record_length,
            title,
            headings,
            text,
            description,
            language,
            charset,
            noindex,
            canonical,
            fingerprint,
            links,
        })
    }
}

/// Appends a string behind its length.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    vbyte::write(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads what [`put_text`] wrote.
pub(crate) fn take_text(input: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(vbyte::read(input)?).ok()?;
    let (text, rest) = input.split_at_checked(length)?;
    *input = rest;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

/// Reads one byte.
pub(crate) fn take_byte(input: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = input.split_first()?;
    *input = rest;
    Some(byte)
}

/// Reads a little-endian word.
pub(crate) fn take_word(input: &mut &[u8]) -> Option<u64> {
    let (word, rest) = input.split_first_chunk::<8>()?;
    *input = rest;
    Some(u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    //! Every row against its bytes, and any bytes at all.

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn page() -> impl Strategy<Value = PageRow> {
        let links = vec(("\\PC{0,9}", "\\PC{0,9}", any::<bool>()), 0..4);
        let fingerprint = (any::<u64>(), any::<u64>(), any::<u32>());
        (vec("\\PC{0,20}", 7), any::<[u32; 2]>(), any::<bool>(), fingerprint, links).prop_map(
            |(texts, numbers, noindex, (simhash, digest, words), links)| PageRow {
                record_offset: u64::from(numbers[0]),
                record_length: u64::from(numbers[1]),
                title: texts[0].clone(),
                headings: texts[1].clone(),
                text: texts[2].clone(),
                description: texts[3].clone(),
                language: texts[4].clone(),
                charset: texts[5].clone(),
                noindex,
                canonical: texts[6].clone(),
                fingerprint: Fingerprint { simhash, digest, words },
                links: links
                    .into_iter()
                    .map(|(url, text, nofollow)| OutLink { url, text, nofollow })
                    .collect(),
            },
        )
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![
            page().prop_map(|page| Fate::Page(Box::new(page))),
            "\\PC{0,20}".prop_map(|target| Fate::Redirect { target }),
            "\\PC{0,20}".prop_map(|what| Fate::Gone { what }),
            "\\PC{0,20}".prop_map(|what| Fate::Failed { what }),
        ]
    }

    proptest! {
        #[test]
        fn a_row_comes_back_from_its_bytes(
            fate in fate(),
            url in "\\PC{0,20}",
            date_s in 0..i64::MAX,
            noise in vec(any::<u8>(), 0..9),
        ) {
            let mut bytes = Vec::new();
            fate.encode(&url, date_s, &mut bytes);
            let length = bytes.len();
            bytes.extend_from_slice(&noise);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(Fate::decode(&mut rest), Some((url, date_s, fate)));
            prop_assert_eq!(rest, noise.as_slice());
            for cut in 0..length {
                prop_assert_eq!(Fate::decode(&mut &bytes[..cut]), None, "{} bytes", cut);
            }
        }

        #[test]
        fn any_bytes_are_a_row_or_none(bytes in vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            let row = Fate::decode(&mut rest);
            prop_assert!(row.is_none() || rest.len() < bytes.len());
        }

        #[test]
        fn a_pointer_comes_back_from_its_bits(part: u16, block in 0..PART_BYTES_MAX, row in 0..=ROW_MASK) {
            let pointer = PagePointer { part, block, row };
            prop_assert_eq!(PagePointer::unpack(pointer.pack()), pointer);
        }
    }
}

//! A row of the page table and its bytes: strings and numbers in variable-length bytes.
//!
//! A row has a head with the facts for the directory. The row of a page also has a body with its text and links. The
//! heads can be read without the bodies.
//!
//! **Invariant.** `decode` restores the row that [`RowBytes::push`] wrote. For any other bytes it returns a row or
//! `None`, and never panics.

use codes::vbyte;
use neardup::Fingerprint;

/// Position of a row: part, block in the part, row in the block.
///
/// Packed in 64 bits (16, 36, 12). The index stores the packed number and does not interpret it.
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
/// The row bits in the low 16 bits of a packed pointer.
const ROW_MASK: u16 = (1 << ROW_BITS) - 1;
/// Maximum rows in a block.
pub(crate) const BLOCK_ROWS_MAX: usize = 1 << ROW_BITS;
/// Maximum bytes in a part.
pub(crate) const PART_BYTES_MAX: u64 = 1 << BLOCK_BITS;

impl PagePointer {
    /// Packs the pointer into one number.
    pub fn pack(self) -> u64 {
        u64::from(self.part) << (ROW_BITS + BLOCK_BITS)
            | self.block << ROW_BITS
            | u64::from(self.row)
    }

    /// Unpacks a pointer.
    pub fn unpack(packed: u64) -> Self {
        let [high, low, .., row_high, row_low] = packed.to_be_bytes();
        Self {
            part: u16::from_be_bytes([high, low]),
            block: packed >> ROW_BITS & ((1 << BLOCK_BITS) - 1),
            row: u16::from_be_bytes([row_high, row_low]) & ROW_MASK,
        }
    }
}

/// A link on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutLink {
    /// Normalised target.
    pub url: String,
    /// The anchor's text.
    pub text: String,
    /// Whether the page marks the link `nofollow`.
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
    /// Whether the page asks not to be indexed.
    pub noindex: bool,
    /// It is an imported record, not a page of the web.
    pub is_record: bool,
    /// The canonical URL that the page declares, or empty.
    pub canonical: String,
    /// For near-duplicates.
    pub fingerprint: Fingerprint,
    /// Links in order of appearance.
    pub links: Vec<OutLink>,
}

/// The facts about a page that the directory keeps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageHead {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) noindex: bool,
    pub(crate) is_record: bool,
    pub(crate) canonical: String,
}

/// The result of one capture of a URL.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureOutcome<P = Box<PageRow>> {
    /// It is a page.
    Page(P),
    /// It leads elsewhere.
    Redirect {
        /// Normalised target.
        target: String,
    },
    /// It does not exist, or is not readable text.
    Gone {
        /// For people: `status 404`, `not text: image/png`.
        what: String,
    },
    /// The fetch failed. An earlier capture still counts.
    Failed {
        /// For people: `timeout`, `status 503`.
        what: String,
    },
    /// It has not changed.
    Same,
    /// It has not changed, and asks not to be indexed.
    Withheld {
        /// The date of the unchanged capture, as in the archive.
        page_date: String,
    },
}

impl<P> CaptureOutcome<P> {
    /// Converts the page of [`CaptureOutcome::Page`] with `become_page`. Returns `None` if `become_page` does. Keeps other
    /// fates.
    pub fn try_map<Q>(self, become_page: impl FnOnce(P) -> Option<Q>) -> Option<CaptureOutcome<Q>> {
        Some(match self {
            CaptureOutcome::Page(page) => CaptureOutcome::Page(become_page(page)?),
            CaptureOutcome::Redirect { target } => CaptureOutcome::Redirect { target },
            CaptureOutcome::Gone { what } => CaptureOutcome::Gone { what },
            CaptureOutcome::Failed { what } => CaptureOutcome::Failed { what },
            CaptureOutcome::Same => CaptureOutcome::Same,
            CaptureOutcome::Withheld { page_date } => CaptureOutcome::Withheld { page_date },
        })
    }
}

/// When a capture was made: seconds since 1970, and the microseconds of that second.
pub(crate) type Moment = (i64, u32);

/// A row: URL, date, fate.
pub(crate) type Row<P = Box<PageRow>> = (String, Moment, CaptureOutcome<P>);

/// The bytes of rows.
#[derive(Debug, Default)]
pub(crate) struct RowBytes {
    pub(crate) heads: Vec<u8>,
    pub(crate) bodies: Vec<u8>,
}

impl RowBytes {
    /// Appends a row.
    pub(crate) fn push(&mut self, url: &str, (date_s, date_us): Moment, fate: &CaptureOutcome) {
        let heads = &mut self.heads;
        put_text(heads, url);
        vbyte::write(heads, u64::try_from(date_s).unwrap_or(0));
        vbyte::write(heads, date_us.into());
        let (tag, text) = match fate {
            CaptureOutcome::Page(page) => {
                heads.push(0);
                put_head(heads, page.fingerprint, page.noindex, page.is_record, &page.canonical);
                return page.encode_body(&mut self.bodies);
            }
            CaptureOutcome::Redirect { target } => (1, target.as_str()),
            CaptureOutcome::Gone { what } => (2, what.as_str()),
            CaptureOutcome::Failed { what } => (3, what.as_str()),
            CaptureOutcome::Same => (4, ""),
            CaptureOutcome::Withheld { page_date } => (5, page_date.as_str()),
        };
        heads.push(tag);
        put_text(heads, text);
    }
}

/// Reads the head of a row.
pub(crate) fn decode_head(input: &mut &[u8]) -> Option<Row<PageHead>> {
    let url = take_text(input)?;
    let date_s = i64::try_from(vbyte::read(input)?).ok()?;
    let date_us = u32::try_from(vbyte::read(input)?).ok()?;
    let fate = match take_byte(input)? {
        0 => CaptureOutcome::Page(PageHead::decode(input)?),
        1 => CaptureOutcome::Redirect { target: take_text(input)? },
        2 => CaptureOutcome::Gone { what: take_text(input)? },
        3 => CaptureOutcome::Failed { what: take_text(input)? },
        4 if take_text(input)?.is_empty() => CaptureOutcome::Same,
        5 => CaptureOutcome::Withheld { page_date: take_text(input)? },
        _ => return None,
    };
    Some((url, (date_s, date_us), fate))
}

/// Reads a whole row.
pub(crate) fn decode(heads: &mut &[u8], bodies: &mut &[u8]) -> Option<Row> {
    let (url, date, fate) = decode_head(heads)?;
    let fate = fate.try_map(|head| PageRow::decode_body(head, bodies).map(Box::new))?;
    Some((url, date, fate))
}

impl PageHead {
    /// Reads what [`put_head`] wrote.
    pub(crate) fn decode(input: &mut &[u8]) -> Option<Self> {
        let fingerprint = Fingerprint {
            simhash: take_word(input)?,
            digest: take_word(input)?,
            identity: take_word(input)?,
        };
        let flags = take_byte(input)?;
        Some(Self {
            fingerprint,
            noindex: flags & NOINDEX != 0,
            is_record: flags & RECORD != 0,
            canonical: take_text(input)?,
        })
    }
}

impl PageRow {
    fn encode_body(&self, out: &mut Vec<u8>) {
        vbyte::write(out, self.record_offset);
        vbyte::write(out, self.record_length);
        for text in [
            &self.title,
            &self.headings,
            &self.text,
            &self.description,
            &self.language,
            &self.charset,
        ] {
            put_text(out, text);
        }
        vbyte::write(out, self.links.len() as u64);
        for link in &self.links {
            put_text(out, &link.url);
            put_text(out, &link.text);
            out.push(u8::from(link.nofollow));
        }
    }

    fn decode_body(head: PageHead, input: &mut &[u8]) -> Option<Self> {
        let record_offset = vbyte::read(input)?;
        let record_length = vbyte::read(input)?;
        let [title, headings, text, description, language, charset] = [
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
            take_text(input)?,
        ];
        let count = vbyte::read(input)?;
        let mut links = Vec::new();
        for _ in 0..count {
            let url = take_text(input)?;
            let text = take_text(input)?;
            let nofollow = take_byte(input)? != 0;
            links.push(OutLink { url, text, nofollow });
        }
        let PageHead { fingerprint, noindex, is_record, canonical } = head;
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
            is_record,
            canonical,
            fingerprint,
            links,
        })
    }
}

/// Flags of a page: it asks not to be found.
const NOINDEX: u8 = 1;
/// It is an imported record.
const RECORD: u8 = 2;

/// Appends what the directory keeps of a page.
pub(crate) fn put_head(
    out: &mut Vec<u8>,
    fingerprint: Fingerprint,
    noindex: bool,
    is_record: bool,
    canonical: &str,
) {
    out.extend_from_slice(&fingerprint.simhash.to_le_bytes());
    out.extend_from_slice(&fingerprint.digest.to_le_bytes());
    out.extend_from_slice(&fingerprint.identity.to_le_bytes());
    out.push((u8::from(noindex) * NOINDEX) | (u8::from(is_record) * RECORD));
    put_text(out, canonical);
}

/// Appends the length of a string, then the string.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    vbyte::write(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads what [`put_text`] wrote.
pub(crate) fn take_text(input: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(vbyte::read(input)?).ok()?;
    let (text, rest) = input.split_at_checked(length)?;
    *input = rest;
    simdutf8::basic::from_utf8(text).ok().map(str::to_owned)
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
        let fingerprint = any::<[u64; 3]>();
        (vec("\\PC{0,20}", 7), any::<[u32; 2]>(), any::<[bool; 2]>(), fingerprint, links).prop_map(
            |(texts, numbers, [noindex, is_record], [simhash, digest, identity], links)| PageRow {
                record_offset: u64::from(numbers[0]),
                record_length: u64::from(numbers[1]),
                title: texts[0].clone(),
                headings: texts[1].clone(),
                text: texts[2].clone(),
                description: texts[3].clone(),
                language: texts[4].clone(),
                charset: texts[5].clone(),
                noindex,
                is_record,
                canonical: texts[6].clone(),
                fingerprint: Fingerprint { simhash, digest, identity },
                links: links
                    .into_iter()
                    .map(|(url, text, nofollow)| OutLink { url, text, nofollow })
                    .collect(),
            },
        )
    }

    fn fate() -> impl Strategy<Value = CaptureOutcome> {
        prop_oneof![
            page().prop_map(|page| CaptureOutcome::Page(Box::new(page))),
            "\\PC{0,20}".prop_map(|target| CaptureOutcome::Redirect { target }),
            "\\PC{0,20}".prop_map(|what| CaptureOutcome::Gone { what }),
            "\\PC{0,20}".prop_map(|what| CaptureOutcome::Failed { what }),
            Just(CaptureOutcome::Same),
            "\\PC{0,20}".prop_map(|page_date| CaptureOutcome::Withheld { page_date }),
        ]
    }

    proptest! {
        #[test]
        fn a_row_round_trips(
            fate in fate(),
            url in "\\PC{0,20}",
            date in (0..i64::MAX, any::<u32>()),
            noise in vec(any::<u8>(), 0..9),
        ) {
            let mut bytes = RowBytes::default();
            bytes.push(&url, date, &fate);
            let RowBytes { mut heads, mut bodies } = bytes;
            let lengths = (heads.len(), bodies.len());
            heads.extend_from_slice(&noise);
            bodies.extend_from_slice(&noise);
            let (mut heads_left, mut bodies_left) = (heads.as_slice(), bodies.as_slice());
            let row = decode(&mut heads_left, &mut bodies_left);
            prop_assert_eq!(row, Some((url, date, fate)));
            prop_assert_eq!((heads_left, bodies_left), (noise.as_slice(), noise.as_slice()));
            for cut in 0..lengths.0 {
                let row = decode(&mut &heads[..cut], &mut bodies.as_slice());
                prop_assert_eq!(row, None, "{} bytes of a head", cut);
            }
            for cut in 0..lengths.1 {
                let row = decode(&mut heads.as_slice(), &mut &bodies[..cut]);
                prop_assert_eq!(row, None, "{} bytes of a body", cut);
            }
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(head in vec(any::<u8>(), 0..200), body in vec(any::<u8>(), 0..200)) {
            let (mut heads, mut bodies) = (head.as_slice(), body.as_slice());
            let row = decode(&mut heads, &mut bodies);
            prop_assert!(row.is_none() || heads.len() < head.len());
        }

        #[test]
        fn a_pointer_round_trips(part: u16, block in 0..PART_BYTES_MAX, row in 0..=ROW_MASK) {
            let pointer = PagePointer { part, block, row };
            prop_assert_eq!(PagePointer::unpack(pointer.pack()), pointer);
        }
    }
}

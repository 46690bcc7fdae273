//! The length of each field of each document in terms, and its peak: the highest frequency of a term.
//!
//! ```text
//! widths   bytes of a length (0 to 4) for each field, then bytes of a peak for each field: ten bytes
//! lengths  for each field the lengths of all documents
//! peaks    for each field the peaks of all documents
//! ```
//!
//! Filters, the terms with [`FILTER_MARK`](crate::FILTER_MARK), count in neither.
//!
//! **Invariant.** The width of a column is the least that holds its greatest number.

use crate::file::envelope::{FileWriter, Kind, Stamp};
use crate::file::fixed;
use crate::file::mapped::MappedFile;
use crate::{DocId, Field, IndexError};
use durable::Disk;
use std::path::Path;

/// One number for each field.
pub(crate) type PerField<T> = [T; Field::ALL.len()];

/// The mask of each width.
const MASKS: [u32; 5] = [0, 0xff, 0xffff, 0xff_ffff, u32::MAX];

/// Number of columns of each kind.
const FIELDS: usize = Field::ALL.len();

/// A number for each field of each document, field by field.
pub(crate) struct Columns<I> {
    pub(crate) widths: PerField<usize>,
    pub(crate) numbers: I,
}

impl<I: Iterator<Item = (Field, u32)>> Columns<I> {
    /// Computes the widths in a first pass over `numbers`; the second pass is written.
    pub(crate) fn new(numbers: impl Fn() -> I) -> Columns<I> {
        let mut greatest = PerField::<u32>::default();
        for (field, number) in numbers() {
            greatest[field as usize] = number.max(greatest[field as usize]);
        }
        let widths = greatest.map(|number| fixed::width(u64::from(number)));
        Columns { widths, numbers: numbers() }
    }

    fn write(self, file: &mut FileWriter) -> Result<(), IndexError> {
        let mut bytes: Vec<u8> = Vec::with_capacity(8);
        for (field, number) in self.numbers {
            bytes.clear();
            fixed::put(&mut bytes, u64::from(number), self.widths[field as usize]);
            file.write(&bytes)?;
        }
        Ok(())
    }
}

pub(crate) fn write(
    disk: &Disk,
    folder: &Path,
    lengths: Columns<impl Iterator<Item = (Field, u32)>>,
    peaks: Columns<impl Iterator<Item = (Field, u32)>>,
) -> Result<Stamp, IndexError> {
    let path = folder.join(Kind::Lengths.file_name());
    let mut file = FileWriter::create(disk, &path, Kind::Lengths)?;
    let mut bytes: Vec<u8> = Vec::with_capacity(2 * FIELDS);
    for width in lengths.widths.into_iter().chain(peaks.widths) {
        fixed::put(&mut bytes, width as u64, 1);
    }
    file.write(&bytes)?;
    lengths.write(&mut file)?;
    peaks.write(&mut file)?;
    file.finish()
}

#[derive(Debug)]
pub(crate) struct LengthsFile {
    file: MappedFile,
    doc_count: u32,
    /// Widths of the lengths of each field, then of its peaks.
    widths: [usize; 2 * FIELDS],
    /// Start of each column in the payload.
    starts: [usize; 2 * FIELDS],
}

impl LengthsFile {
    pub(crate) fn new(file: MappedFile, doc_count: u32) -> Result<LengthsFile, IndexError> {
        let mut starts = [0; 2 * FIELDS];
        let mut end = 2 * FIELDS;
        let mut widths = [0; 2 * FIELDS];
        for (column, &width) in file.bytes(0..end)?.iter().enumerate() {
            if width > 4 {
                return Err(file.damaged(column, "a length has at most four bytes"));
            }
            widths[column] = usize::from(width);
            starts[column] = end;
            end += widths[column] * doc_count as usize;
        }
        if end != file.payload_bytes() {
            return Err(file.damaged(0, "not as many lengths as documents"));
        }
        Ok(LengthsFile { file, doc_count, widths, starts })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }

    /// Length of a document in a field; zero if there is no such document, or if the file is damaged.
    pub(crate) fn get(&self, field: Field, doc: DocId) -> u32 {
        if doc.0 >= self.doc_count {
            return 0;
        }
        let width = self.widths[field as usize];
        let at = self.starts[field as usize] + doc.0 as usize * width;
        let bytes = self.file.bytes(at..at + width).unwrap_or_default();
        fixed::get(bytes, 0, width).and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
    }

    /// The lengths of one field, verified.
    pub(crate) fn field(&self, field: Field) -> Result<Lengths<'_>, IndexError> {
        self.column(field as usize)
    }

    /// The peaks of one field, verified.
    pub(crate) fn max_frequencies(&self, field: Field) -> Result<MaxFrequencies<'_>, IndexError> {
        self.column(FIELDS + field as usize).map(MaxFrequencies)
    }

    fn column(&self, column: usize) -> Result<Lengths<'_>, IndexError> {
        let (start, width) = (self.starts[column], self.widths[column]);
        let bytes = self.file.bytes(start..start + width * self.doc_count as usize)?;
        Ok(Lengths { bytes, width, mask: MASKS[width], doc_count: self.doc_count })
    }
}

/// The lengths of one field: the number of terms of each document.
#[derive(Clone, Copy, Debug)]
pub struct Lengths<'a> {
    bytes: &'a [u8],
    width: usize,
    /// The mask of this width.
    mask: u32,
    doc_count: u32,
}

impl Lengths<'_> {
    /// Length of a document; zero for one that the segment does not have.
    #[inline]
    pub fn get(self, doc: DocId) -> u32 {
        if doc.0 >= self.doc_count {
            return 0;
        }
        let at = doc.0 as usize * self.width;
        if let Some(four) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            return u32::from_le_bytes(*four) & self.mask;
        }
        let length = fixed::get(self.bytes, at, self.width);
        length.and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
    }

    /// Stores the lengths of ascending documents in `out`; zero for documents that the segment does not have.
    pub fn of(self, docs: &[u32], out: &mut [u32]) {
        debug_assert!(docs.is_sorted(), "documents ascend");
        // Whether four bytes can be read for each document, and all documents exist.
        let is_inside = |&last: &u32| {
            last < self.doc_count
                && (last as usize * self.width).saturating_add(4) <= self.bytes.len()
        };
        match docs.last() {
            Some(&last) if is_inside(&last) => gather(self, docs, last, out),
            _ => {
                for (&doc, length) in docs.iter().zip(out) {
                    *length = self.get(DocId(doc));
                }
            }
        }
    }
}

/// Stores the lengths of ascending documents in `out`. The greatest is `last`, and four bytes can be read at its
/// place.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
fn gather(lengths: Lengths<'_>, docs: &[u32], last: u32, out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if last < u32::MAX >> 4 && is_x86_feature_detected!("avx512f") {
        let (wide, rest) = docs.as_chunks();
        let (first, others) = out.split_at_mut(16 * wide.len());
        // SAFETY: the processor has these instructions.
        unsafe { gather_avx512(lengths, wide, last, first.as_chunks_mut().0) };
        return gather_each(lengths, rest, last, others);
    }
    gather_each(lengths, docs, last, out);
}

/// [`gather`] for sixteen documents at a time; the place of the last is below 2³¹.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "bounds checks take several times as long; bench/query")]
#[expect(clippy::cast_ptr_alignment, reason = "these instructions take any address")]
fn gather_avx512(lengths: Lengths<'_>, docs: &[[u32; 16]], last: u32, out: &mut [[u32; 16]]) {
    use std::arch::x86_64::{
        _mm512_and_si512, _mm512_i32gather_epi32, _mm512_loadu_epi32, _mm512_min_epu32,
        _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_storeu_epi32,
    };
    let Lengths { bytes, width, mask, .. } = lengths;
    assert!(width <= 4 && last < u32::MAX >> 4, "place {last} of {width} bytes each");
    assert!(last as usize * width + 4 <= bytes.len(), "place {last} of {} bytes", bytes.len());
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "at most 4")]
    let bytes_each = _mm512_set1_epi32(width as i32);
    let (last, mask) =
        (_mm512_set1_epi32(last.cast_signed()), _mm512_set1_epi32(mask.cast_signed()));
    for (docs, out) in docs.iter().zip(out) {
        // SAFETY: `docs` has sixteen numbers.
        let docs = unsafe { _mm512_loadu_epi32(docs.as_ptr().cast::<i32>()) };
        let places = _mm512_mullo_epi32(_mm512_min_epu32(docs, last), bytes_each);
        // SAFETY: no place is after that of `last`, which is below 2³¹ and has four bytes.
        let four = unsafe { _mm512_i32gather_epi32::<1>(places, bytes.as_ptr().cast::<i32>()) };
        let found = _mm512_and_si512(four, mask);
        // SAFETY: `out` has room for sixteen numbers.
        unsafe { _mm512_storeu_epi32(out.as_mut_ptr().cast::<i32>(), found) };
    }
}

/// [`gather`] for one document at a time.
#[expect(unsafe_code, reason = "bounds checks take twice as long; bench/query")]
fn gather_each(lengths: Lengths<'_>, docs: &[u32], last: u32, out: &mut [u32]) {
    let Lengths { bytes, width, mask, .. } = lengths;
    assert!(last as usize * width + 4 <= bytes.len(), "place {last} of {} bytes", bytes.len());
    for (&doc, length) in docs.iter().zip(out) {
        let at = doc.min(last) as usize * width;
        // SAFETY: the place is not after that of `last`, which has four bytes.
        let four = unsafe { bytes.get_unchecked(at..at + 4) };
        *length = four.first_chunk().map_or(0, |four| u32::from_le_bytes(*four)) & mask;
    }
}

/// The peaks of one field: the frequency of the most frequent term of each document.
#[derive(Clone, Copy, Debug)]
pub struct MaxFrequencies<'a>(Lengths<'a>);

impl MaxFrequencies<'_> {
    /// Peak of a document; zero for one without terms or that the segment does not have.
    #[inline]
    pub fn get(self, doc: DocId) -> u32 {
        self.0.get(doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn batch_lengths_match_single_lengths(
            width in 0..5_usize,
            bytes in vec(any::<u8>(), 400),
            doc_count in 0..=100_u32,
            docs in vec(0..102_u32, 0..70),
            are_inside in any::<bool>(),
        ) {
            let bytes = &bytes[..width * doc_count as usize];
            let lengths = Lengths { bytes, width, mask: MASKS[width], doc_count };
            let mut docs = docs;
            docs.retain(|&doc| !are_inside || doc + 4 < doc_count);
            docs.sort_unstable();
            let mut found = vec![7; docs.len()];
            lengths.of(&docs, &mut found);
            let each: Vec<u32> = docs.iter().map(|&doc| lengths.get(DocId(doc))).collect();
            prop_assert_eq!(found, each);
            for doc in 0..doc_count {
                let at = doc as usize * width;
                let mut four = [0; 4];
                four[..width].copy_from_slice(&bytes[at..at + width]);
                prop_assert_eq!(lengths.get(DocId(doc)), u32::from_le_bytes(four));
            }
        }
    }
}

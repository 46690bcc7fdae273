//! A block of a run: up to 4096 signatures in ascending order, as gaps.
//!
//! What lives here: the bytes of one block, both ways. What does not: files; see `run.rs`.
//!
//! A block is a head (number of signatures, length of the gaps in bytes, first signature), the gap
//! of every further signature to the one before, less one, in variable-length bytes, and the
//! CRC-32 of all that. A block of no signatures ends a run; it has the number of all signatures of
//! the run in place of the first one. Random signatures have geometric gaps, for which a Golomb
//! code would be the best; variable bytes lose about four bits a signature to it and decode faster.
//!
//! **Invariant.** [`decode`] accepts exactly what [`encode`] writes.

use codes::vbyte;

/// How many signatures a block holds; the last one of a run may hold fewer.
pub(crate) const SIGNATURES_MAX: usize = 4096;

/// The length of the longest block in bytes.
pub(crate) const BYTES_MAX: usize =
    HEAD_BYTES + (SIGNATURES_MAX - 1) * vbyte::BYTES_MAX + CHECKSUM_BYTES;

/// The length of the block that ends a run.
pub(crate) const LAST_BYTES: usize = HEAD_BYTES + CHECKSUM_BYTES;

const HEAD_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;

/// Appends `signatures`, strictly ascending and at least one, as a block.
pub(crate) fn encode(signatures: &[u64], out: &mut Vec<u8>) {
    assert!((1..=SIGNATURES_MAX).contains(&signatures.len()), "a block of {}", signatures.len());
    let start = begin(signatures.len(), signatures[0], out);
    for pair in signatures.windows(2) {
        let gap = pair[1].checked_sub(pair[0]).expect("signatures ascend");
        vbyte::write(out, gap.checked_sub(1).expect("signatures differ"));
    }
    let gap_bytes = u32::try_from(out.len() - start - HEAD_BYTES).expect("at most BYTES_MAX");
    out[start + 4..start + 8].copy_from_slice(&gap_bytes.to_le_bytes());
    end(start, out);
}

/// Appends the block that ends a run of `total` signatures.
pub(crate) fn encode_last(total: u64, out: &mut Vec<u8>) {
    let start = begin(0, total, out);
    end(start, out);
}

/// Replaces `signatures` by those of a block, or says what is wrong with it.
pub(crate) fn decode(block: &[u8], signatures: &mut Vec<u64>) -> Result<(), &'static str> {
    signatures.clear();
    let (count, first, mut gaps) = open(block)?;
    if !(1..=SIGNATURES_MAX).contains(&count) {
        return Err("the number of signatures in the block cannot be");
    }
    let mut signature = first;
    signatures.push(signature);
    for _ in 1..count {
        let gap = vbyte::read(&mut gaps).ok_or("a gap in the block is no number")?;
        signature = signature
            .checked_add(gap)
            .and_then(|sum| sum.checked_add(1))
            .ok_or("the gaps in the block exceed 64 bits")?;
        signatures.push(signature);
    }
    if gaps.is_empty() { Ok(()) } else { Err("the block goes on after its signatures") }
}

/// The total in a block that ends a run, or what is wrong with it.
pub(crate) fn decode_last(block: &[u8]) -> Result<u64, &'static str> {
    match open(block)? {
        (0, total, []) => Ok(total),
        _ => Err("the run does not end where it should"),
    }
}

fn begin(count: usize, first: u64, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let count = u32::try_from(count).expect("at most SIGNATURES_MAX");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&first.to_le_bytes());
    start
}

fn end(start: usize, out: &mut Vec<u8>) {
    let checksum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Number of signatures, first signature and gaps of a block whose checksum and length are right.
fn open(block: &[u8]) -> Result<(usize, u64, &[u8]), &'static str> {
    let (contents, checksum) = block.split_last_chunk().ok_or("the block is too short")?;
    if crc32fast::hash(contents) != u32::from_le_bytes(*checksum) {
        return Err("the checksum of the block does not match");
    }
    let (count, rest) = contents.split_first_chunk().ok_or("the block is too short")?;
    let (gap_bytes, rest) = rest.split_first_chunk().ok_or("the block is too short")?;
    let (first, gaps) = rest.split_first_chunk().ok_or("the block is too short")?;
    if u32::from_le_bytes(*gap_bytes) as usize != gaps.len() {
        return Err("the block is not as long as it says");
    }
    Ok((u32::from_le_bytes(*count) as usize, u64::from_le_bytes(*first), gaps))
}

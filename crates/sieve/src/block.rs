//! A block of a run: up to 4096 signatures in ascending order, as gaps.
//!
//! What lives here: the bytes of one block, both ways. What does not: files; see `run.rs`.
//!
//! A block is a head (number of signatures, width of a gap in bits, length of the gaps in bytes,
//! first signature), the gap of every further signature to the one before, less one, all of one
//! width, and the CRC-32 of all that. A block of no signatures ends a run; it has the number of all
//! signatures of the run in place of the first one, and the CRC-32 of the heads of all blocks before it in
//! place of the gaps: heads are believed before their blocks are read. Random signatures have geometric gaps, for
//! which a Golomb code would be the best; one width for all, that of the greatest, loses about
//! three bits a signature to it and decodes without a branch.
//!
//! **Invariant.** [`decode`] accepts exactly what [`encode`] writes.

use codes::fixed;

/// How many signatures a block holds; the last one of a run may hold fewer.
pub(crate) const SIGNATURES_MAX: usize = 4096;

/// The length of the longest block in bytes.
pub(crate) const BYTES_MAX: usize = HEAD_BYTES + (SIGNATURES_MAX - 1) * 8 + CHECKSUM_BYTES;

/// The length of the block that ends a run.
pub(crate) const LAST_BYTES: usize = HEAD_BYTES + 2 * CHECKSUM_BYTES;

/// The length of what comes before the gaps.
pub(crate) const HEAD_BYTES: usize = 16;

const CHECKSUM_BYTES: usize = 4;

/// What a run holds, as the block that ends it has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Summary {
    /// How many signatures.
    pub(crate) total: u64,
    /// Of the heads of the blocks, one after the other.
    heads: crc32fast::Hasher,
}

impl Summary {
    /// Takes in the next block, by its head.
    pub(crate) fn add(&mut self, head: [u8; HEAD_BYTES]) {
        self.total += Head::read(head).count as u64;
        self.heads.update(&head);
    }

    fn heads(&self) -> u32 {
        self.heads.clone().finalize()
    }
}

/// What a block says of itself before its gaps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// How many signatures it holds; none if it ends a run.
    pub(crate) count: usize,
    /// The width of a gap in bits.
    width: u32,
    gap_bytes: usize,
    /// The first signature, or the number of all.
    pub(crate) first: u64,
}

impl Head {
    /// Reads it, unchecked: the checksum is that of the whole block.
    pub(crate) fn read(bytes: [u8; HEAD_BYTES]) -> Self {
        let [c0, c1, width, _, g0, g1, g2, g3, first @ ..] = bytes;
        Self {
            count: usize::from(u16::from_le_bytes([c0, c1])),
            width: u32::from(width),
            gap_bytes: u32::from_le_bytes([g0, g1, g2, g3]) as usize,
            first: u64::from_le_bytes(first),
        }
    }

    /// The length of the whole block.
    pub(crate) fn block_bytes(&self) -> u64 {
        (HEAD_BYTES + self.gap_bytes + CHECKSUM_BYTES) as u64
    }

    fn write(&self, out: &mut Vec<u8>) {
        let count = u16::try_from(self.count).expect("at most SIGNATURES_MAX");
        let width = u8::try_from(self.width).expect("at most 64");
        let gap_bytes = u32::try_from(self.gap_bytes).expect("at most BYTES_MAX");
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[width, 0]);
        out.extend_from_slice(&gap_bytes.to_le_bytes());
        out.extend_from_slice(&self.first.to_le_bytes());
    }
}

/// Appends `signatures`, strictly ascending and at least one, as a block.
pub(crate) fn encode(signatures: &[u64], out: &mut Vec<u8>) {
    let count = signatures.len();
    assert!((1..=SIGNATURES_MAX).contains(&count), "a block of {count}");
    let gaps = || signatures.windows(2).map(|pair| gap(pair[0], pair[1]));
    let width = gaps().map(fixed::width).max().unwrap_or(0);
    let gap_bytes = fixed::bytes(count - 1, width);
    let start = out.len();
    Head { count, width, gap_bytes, first: signatures[0] }.write(out);
    fixed::write(out, gaps(), width);
    end(start, out);
}

/// Appends the block that ends a run.
pub(crate) fn encode_last(run: &Summary, out: &mut Vec<u8>) {
    let start = out.len();
    Head { count: 0, width: 0, gap_bytes: CHECKSUM_BYTES, first: run.total }.write(out);
    out.extend_from_slice(&run.heads().to_le_bytes());
    end(start, out);
}

/// Replaces `signatures` by those of a block, or says what is wrong with it.
pub(crate) fn decode(block: &[u8], signatures: &mut Vec<u64>) -> Result<(), &'static str> {
    signatures.clear();
    let (head, gaps) = open(block)?;
    if !(1..=SIGNATURES_MAX).contains(&head.count) {
        return Err("the number of signatures in the block cannot be");
    }
    let (mut signature, mut widest, mut exceeds) = (head.first, 0, false);
    signatures.push(signature);
    let read = fixed::read(gaps, head.count - 1, head.width, |gap| {
        let next = signature.wrapping_add(gap).wrapping_add(1);
        exceeds |= next <= signature;
        widest |= gap;
        signature = next;
        signatures.push(next);
    });
    match read {
        Some(()) if exceeds => Err("the gaps in the block exceed 64 bits"),
        Some(()) if fixed::width(widest) == head.width => Ok(()),
        _ => Err("the gaps in the block are not those of its signatures"),
    }
}

/// Checks a block that ends a run against what the blocks before it said, or says what is wrong.
pub(crate) fn check_last(block: &[u8], run: &Summary) -> Result<(), &'static str> {
    let (head, heads) = open(block)?;
    let (0, 0, &[a, b, c, d]) = (head.count, head.width, heads) else {
        return Err("the run does not end where it should");
    };
    if head.first != run.total {
        return Err("the number of signatures is not right");
    }
    if u32::from_le_bytes([a, b, c, d]) != run.heads() {
        return Err("the heads of the blocks are not those written here");
    }
    Ok(())
}

fn gap(before: u64, after: u64) -> u64 {
    let distance = after.checked_sub(before).expect("signatures ascend");
    distance.checked_sub(1).expect("signatures differ")
}

fn end(start: usize, out: &mut Vec<u8>) {
    let checksum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Head and gaps of a block whose checksum and length are right.
fn open(block: &[u8]) -> Result<(Head, &[u8]), &'static str> {
    let (contents, checksum) = block.split_last_chunk().ok_or("the block is too short")?;
    if crc32fast::hash(contents) != u32::from_le_bytes(*checksum) {
        return Err("the checksum of the block does not match");
    }
    let (bytes, gaps) = contents.split_first_chunk().ok_or("the block is too short")?;
    let head = Head::read(*bytes);
    if head.gap_bytes != gaps.len() || bytes[3] != 0 {
        return Err("the block is not as long as it says");
    }
    Ok((head, gaps))
}

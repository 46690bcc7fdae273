//! A block of a run: up to 4096 signatures in ascending order, as gaps.
//!
//! What lives here: the bytes of one block, both ways. What does not: files; see `run.rs`.
//!
//! A block is a head, the gaps and the CRC-32 of both. The head holds the number of signatures, the
//! width of a gap in bits, the length of the gaps in bytes and the first signature. A gap is the
//! difference between a signature and the one before it, minus one. All gaps of a block have one
//! width.
//!
//! A block without signatures ends a run. In its head, the number of all signatures of the run
//! replaces the first signature. The CRC-32 of the heads of all earlier blocks replaces the gaps,
//! because a reader trusts the heads before it reads the blocks.
//!
//! Random signatures have geometric gaps, for which a Golomb code is optimal. One width, that of
//! the greatest gap, costs about three bits a signature more. It decodes without a branch.
//!
//! **Invariant.** [`decode`] accepts exactly what [`encode`] writes.

use codes::fixed;

/// The most signatures in a block. Only the last block of a run may hold fewer.
pub(crate) const SIGNATURES_MAX: usize = 4096;

/// The length of the longest block in bytes.
pub(crate) const BYTES_MAX: usize = HEAD_BYTES + (SIGNATURES_MAX - 1) * 8 + CHECKSUM_BYTES;

/// The length of the block that ends a run.
pub(crate) const LAST_BYTES: usize = HEAD_BYTES + 2 * CHECKSUM_BYTES;

/// The length of what comes before the gaps.
pub(crate) const HEAD_BYTES: usize = 16;

const CHECKSUM_BYTES: usize = 4;

/// The contents of a run, as recorded in the block that ends it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Summary {
    /// The number of signatures.
    pub(crate) total: u64,
    /// The checksum of the heads of all blocks, in order.
    heads: crc32fast::Hasher,
}

impl Summary {
    /// Adds the next block, given its head.
    pub(crate) fn add(&mut self, head: [u8; HEAD_BYTES]) {
        self.total += Head::read(head).count as u64;
        self.heads.update(&head);
    }

    fn heads(&self) -> u32 {
        self.heads.clone().finalize()
    }
}

/// The part of a block before its gaps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The number of signatures; 0 in the block that ends a run.
    pub(crate) count: usize,
    /// The width of a gap in bits.
    width: u32,
    gap_bytes: usize,
    /// The first signature; in the block that ends a run, the number of all signatures.
    pub(crate) first: u64,
}

impl Head {
    /// Reads a head without a check. The checksum covers the whole block.
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
        return Err("the length of the block does not agree with its header");
    }
    Ok((head, gaps))
}

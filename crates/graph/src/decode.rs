//! Decoding of successor lists.
//!
//! [`Lists`] reads every list in the order of the nodes, and [`list_at`] reads one list. `compress.rs` writes them.
//!
//! **Invariant.** Any input gives either a [`Fault`] or a strictly ascending list of existing nodes. A number is
//! checked against the count of nodes before memory is allocated for it.

use codes::{Code, Gamma, Reader, Unary};

use crate::shape::{RESIDUALS, Shape};

/// Why a list cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) &'static str);

const BEFORE_WINDOW: Fault = Fault("a reference to before the window");

/// Reads the lists of a graph in sequence.
pub(crate) struct Lists<'a> {
    shape: Shape,
    input: Reader<'a>,
    /// The latest lists; that of `node` is at `node % (window + 1)`.
    recent: Vec<Vec<u32>>,
    next: u32,
}

impl<'a> Lists<'a> {
    pub(crate) fn new(shape: Shape, graph: &'a [u8]) -> Self {
        let recent = vec![Vec::new(); shape.window as usize + 1];
        Lists { shape, input: Reader::new(graph), recent, next: 0 }
    }

    /// The length in bits of the lists read so far.
    pub(crate) fn position(&self) -> usize {
        self.input.position()
    }

    /// The list of the next node. Must be called at most once for each node.
    pub(crate) fn next_list(&mut self) -> Result<&[u32], Fault> {
        let (node, slots) = (self.next, self.recent.len());
        let here = node as usize % slots;
        let mut list = std::mem::take(&mut self.recent[here]);
        let recent = &self.recent;
        read_list(&mut self.input, self.shape, node, &mut list, |reference| {
            Ok(&recent[(node - reference) as usize % slots])
        })?;
        self.next += 1;
        self.recent[here] = list;
        Ok(&self.recent[here])
    }
}

/// Reads the list of `node`. `offsets` has the start of each list and the end of the last one, in bits.
pub(crate) fn list_at(
    shape: Shape,
    graph: &[u8],
    offsets: &[u64],
    node: u32,
) -> Result<Vec<u32>, Fault> {
    let mut chain = vec![node];
    let mut last = node;
    while let Some(back) = reference_of(shape, &bits_of(graph, offsets, last)?)? {
        last = last.checked_sub(back).ok_or(BEFORE_WINDOW)?;
        chain.push(last);
    }
    let (mut list, mut other) = (Vec::new(), Vec::new());
    for &link in chain.iter().rev() {
        std::mem::swap(&mut list, &mut other);
        let bytes = bits_of(graph, offsets, link)?;
        read_list(&mut Reader::new(&bytes), shape, link, &mut list, |_| Ok(&other))?;
    }
    Ok(list)
}

/// The reference of the list in `bytes`, as a number of nodes back. `None` if the list has no reference.
fn reference_of(shape: Shape, bytes: &[u8]) -> Result<Option<u32>, Fault> {
    let mut input = Reader::new(bytes);
    if number(&Gamma, &mut input)? == 0 || shape.window == 0 {
        return Ok(None);
    }
    match number(&Unary, &mut input)? {
        0 => Ok(None),
        back => u32::try_from(back).map(Some).map_err(|_| BEFORE_WINDOW),
    }
}

fn bits_of(graph: &[u8], offsets: &[u64], node: u32) -> Result<Vec<u8>, Fault> {
    cut(graph, offsets[node as usize], offsets[node as usize + 1])
}

/// Copies the bits from `start` to `end` into new bytes, so that they begin at a byte boundary.
fn cut(graph: &[u8], start: u64, end: u64) -> Result<Vec<u8>, Fault> {
    let outside = Fault("the list lies outside the file");
    let first = usize::try_from(start / 8).map_err(|_| outside)?;
    let last = usize::try_from(end.div_ceil(8)).map_err(|_| outside)?;
    let bytes = graph.get(first..last).ok_or(outside)?;
    let shift = start % 8;
    let follow = bytes.iter().copied().skip(1).chain([0]);
    let pair =
        |(&byte, next): (&u8, u8)| (u16::from_be_bytes([byte, next]) << shift).to_be_bytes()[0];
    Ok(bytes.iter().zip(follow).map(pair).collect())
}

/// Reads one list into `list`. `other` returns the list of the node that is the given number of nodes back.
fn read_list<'r>(
    input: &mut Reader<'_>,
    shape: Shape,
    node: u32,
    list: &mut Vec<u32>,
    other: impl FnOnce(u32) -> Result<&'r [u32], Fault>,
) -> Result<(), Fault> {
    list.clear();
    let degree = number(&Gamma, input)?;
    if degree > u64::from(shape.nodes) {
        return Err(Fault("more successors than nodes"));
    }
    if degree == 0 {
        return Ok(());
    }
    let reference = if shape.window > 0 { number(&Unary, input)? } else { 0 };
    if reference > 0 {
        let back = u32::try_from(reference).ok().filter(|&r| r <= shape.window.min(node));
        let back = back.ok_or(BEFORE_WINDOW)?;
        copy_blocks(input, other(back)?, list)?;
    }
    let extras = degree
        .checked_sub(list.len() as u64)
        .ok_or(Fault("more successors copied than there are"))?;
    if extras > 0 {
        let intervals = if shape.interval_min > 0 {
            read_intervals(input, shape, node, extras, list)?
        } else {
            0
        };
        read_residuals(input, shape, node, extras - intervals, list)?;
        merge_runs(list);
    }
    let ascending = list.is_sorted_by(|a, b| a < b);
    ascending.then_some(()).ok_or(Fault("a successor twice"))
}

/// Sorts a list of at most three ascending runs.
#[expect(clippy::stable_sort_primitive, reason = "the stable sort finds the runs and merges them")]
fn merge_runs(list: &mut [u32]) {
    list.sort();
}

fn copy_blocks(input: &mut Reader<'_>, other: &[u32], list: &mut Vec<u32>) -> Result<(), Fault> {
    let too_long = Fault("copy blocks longer than the list referred to");
    let count = number(&Gamma, input)?;
    let mut rest = other;
    for block in 0..count {
        let len = number(&Gamma, input)?.checked_add(u64::from(block > 0)).ok_or(too_long)?;
        let len = usize::try_from(len).map_err(|_| too_long)?;
        let (run, behind) = rest.split_at_checked(len).ok_or(too_long)?;
        if block % 2 == 0 {
            list.extend_from_slice(run);
        }
        rest = behind;
    }
    if count % 2 == 0 {
        list.extend_from_slice(rest);
    }
    Ok(())
}

/// Reads the intervals. Returns the number of successors in them, which is at most `extras`.
fn read_intervals(
    input: &mut Reader<'_>,
    shape: Shape,
    node: u32,
    extras: u64,
    list: &mut Vec<u32>,
) -> Result<u64, Fault> {
    let outside = Fault("an interval of successors that are no nodes");
    let count = number(&Gamma, input)?;
    let (mut held, mut end) = (0, None);
    for _ in 0..count {
        let left = behind(number(&Gamma, input)?, end, node);
        let len = number(&Gamma, input)?.checked_add(u64::from(shape.interval_min));
        let (left, len) = left.zip(len).ok_or(outside)?;
        let right =
            left.checked_add(len).filter(|&r| r <= u64::from(shape.nodes)).ok_or(outside)?;
        held += len;
        if held > extras {
            return Err(Fault("intervals of more successors than there are"));
        }
        let bound = |n: u64| u32::try_from(n).map_err(|_| outside);
        list.extend(bound(left)?..bound(right)?);
        end = Some(right + 1);
    }
    Ok(held)
}

fn read_residuals(
    input: &mut Reader<'_>,
    shape: Shape,
    node: u32,
    count: u64,
    list: &mut Vec<u32>,
) -> Result<(), Fault> {
    let outside = Fault("a successor that is no node");
    let mut end = None;
    for _ in 0..count {
        let residual = behind(number(&RESIDUALS, input)?, end, node);
        let residual = residual.filter(|&n| n < u64::from(shape.nodes)).ok_or(outside)?;
        list.push(u32::try_from(residual).map_err(|_| outside)?);
        end = Some(residual + 1);
    }
    Ok(())
}

#[inline]
fn number(code: &impl Code, input: &mut Reader<'_>) -> Result<u64, Fault> {
    code.read(input).ok_or(Fault("no whole codeword"))
}

/// The number at distance `gap` after `end`. Without `end`, `gap` encodes the difference from `node`.
#[inline]
fn behind(gap: u64, end: Option<u64>, node: u32) -> Option<u64> {
    match end {
        None => unsigned(gap, node),
        Some(end) => gap.checked_add(end),
    }
}

/// Adds to `node` a difference that was encoded as a natural number.
fn unsigned(n: u64, node: u32) -> Option<u64> {
    let node = u64::from(node);
    if n.is_multiple_of(2) { node.checked_add(n / 2) } else { node.checked_sub(n / 2 + 1) }
}

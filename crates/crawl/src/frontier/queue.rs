//! The waiting pages of one host, by class and in order of arrival, in memory or on disk.
//!
//! What lives here: [`Queue`], a few FIFOs, and the encoding of a page in them. What does not: the class of a page
//! (`order.rs`), when a queue leaves memory (`hosts.rs`), files (`spill.rs`).
//!
//! A FIFO is, in this order: `head` in memory, blocks on disk, `tail` in memory. Pages are appended to `tail`, or
//! to `head` as long as nothing is on disk.
//!
//! **Invariant.** A pushed page is popped once; the lowest class first, and inside a class in the order of
//! arrival, also across the disk. After [`Queue::spill`] a queue holds no page in memory.

use super::spill::{Place, Spill};
use crate::error::CrawlError;
use crate::order::{Blame, FetchMode, Waiting};

/// Maximum bytes of pages in a block: every visited host loads a whole one.
const BLOCK_BYTES_MAX: usize = 2_048;
/// Length of the path, hops, flags, depth.
const RECORD_HEADER_BYTES: usize = 6;
const SITEMAP: u8 = 1;
const KNOWN: u8 = 2;

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// By class; an empty FIFO is removed.
    classes: Vec<(u8, Fifo)>,
    len: u32,
    /// Number of pages of a recrawl.
    known: u32,
}

#[derive(Debug)]
struct Fifo {
    head: Vec<u8>,
    /// Where the next page begins in `head`.
    at: u32,
    /// The first and the last block on disk.
    first: Place,
    last: Place,
    tail: Vec<u8>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn has_known(&self) -> bool {
        self.known > 0
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.classes.iter().map(|(_, fifo)| fifo.head.capacity() + fifo.tail.capacity()).sum()
    }

    /// Adds a page; attempts are not kept, since it was never tried.
    pub(super) fn push(&mut self, class: u8, page: &Waiting) {
        let at = match self.classes.binary_search_by_key(&class, |&(class, _)| class) {
            Ok(at) => at,
            Err(at) => {
                self.classes.reserve_exact(1);
                self.classes.insert(at, (class, Fifo::new()));
                at
            }
        };
        let fifo = &mut self.classes[at].1;
        let end = if fifo.first == Place::NONE { &mut fifo.head } else { &mut fifo.tail };
        encode(end, page);
        self.len += 1;
        self.known += u32::from(page.known);
    }

    pub(super) fn pop(&mut self, spill: &mut Spill) -> Result<Option<Waiting>, CrawlError> {
        let Some((_, fifo)) = self.classes.first_mut() else { return Ok(None) };
        let page = fifo.pop(spill)?;
        if fifo.is_empty() {
            self.classes.remove(0);
        }
        self.len -= 1;
        self.known -= u32::from(page.known);
        Ok(Some(page))
    }

    /// Moves all pages to disk.
    pub(super) fn spill(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        self.classes.iter_mut().try_for_each(|(_, fifo)| fifo.spill(spill))
    }

    /// Writes the pages on disk again, in blocks of full size.
    pub(super) fn rewrite(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        self.classes.iter_mut().try_for_each(|(_, fifo)| fifo.rewrite(spill))
    }

    /// Removes all pages; returns their number.
    pub(super) fn clear(&mut self, spill: &mut Spill) -> Result<usize, CrawlError> {
        for (_, fifo) in &mut self.classes {
            while fifo.first != Place::NONE {
                (_, fifo.first) = spill.take(fifo.first)?;
            }
        }
        self.classes = Vec::new();
        self.known = 0;
        Ok(std::mem::take(&mut self.len) as usize)
    }
}

impl Fifo {
    fn new() -> Fifo {
        let (first, last) = (Place::NONE, Place::NONE);
        Fifo { head: Vec::new(), at: 0, first, last, tail: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.at as usize == self.head.len() && self.first == Place::NONE && self.tail.is_empty()
    }

    fn pop(&mut self, spill: &mut Spill) -> Result<Waiting, CrawlError> {
        if self.at as usize == self.head.len() {
            self.at = 0;
            if self.first == Place::NONE {
                self.head = std::mem::take(&mut self.tail);
            } else {
                (self.head, self.first) = spill.take(self.first)?;
            }
            if self.first == Place::NONE {
                self.last = Place::NONE;
                // New pages are appended to the head, so the tail must come first.
                self.head.append(&mut self.tail);
                self.tail = Vec::new();
            }
        }
        let (page, bytes) = decode(&self.head[self.at as usize..]);
        self.at += u32::try_from(bytes).expect("a record is short");
        // Frees popped pages once they are the greater part.
        if self.at as usize > self.head.len() / 2 {
            self.head.drain(..self.at as usize);
            self.head.shrink_to_fit();
            self.at = 0;
        }
        Ok(page)
    }

    fn spill(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        let tail = std::mem::take(&mut self.tail);
        self.append(&tail, spill)?;
        let head = std::mem::take(&mut self.head);
        let at = std::mem::take(&mut self.at) as usize;
        let blocks: Vec<&[u8]> = blocks(&head[at..]).collect();
        for block in blocks.into_iter().rev() {
            self.first = spill.append(self.first, block)?;
            if self.last == Place::NONE {
                self.last = self.first;
            }
        }
        Ok(())
    }

    /// Appends pages after the last block.
    fn append(&mut self, pages: &[u8], spill: &mut Spill) -> Result<(), CrawlError> {
        for block in blocks(pages) {
            let place = spill.append(Place::NONE, block)?;
            if self.last == Place::NONE {
                self.first = place;
            } else {
                spill.link(self.last, place)?;
            }
            self.last = place;
        }
        Ok(())
    }

    fn rewrite(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        let mut next = std::mem::replace(&mut self.first, Place::NONE);
        self.last = Place::NONE;
        let mut gathered = Vec::new();
        while next != Place::NONE {
            let block;
            (block, next) = spill.take(next)?;
            if gathered.len() + block.len() > BLOCK_BYTES_MAX {
                self.append(&gathered, spill)?;
                gathered.clear();
            }
            gathered.extend_from_slice(&block);
        }
        self.append(&gathered, spill)
    }
}

/// Splits whole records into pieces of at most [`BLOCK_BYTES_MAX`], or one record.
fn blocks(mut pages: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let mut end = 0;
        while end < pages.len() {
            let bytes = record_bytes(&pages[end..]);
            if end > 0 && end + bytes > BLOCK_BYTES_MAX {
                break;
            }
            end += bytes;
        }
        let (block, rest) = pages.split_at(end);
        pages = rest;
        (!block.is_empty()).then_some(block)
    })
}

fn encode(out: &mut Vec<u8>, page: &Waiting) {
    let length = u16::try_from(page.path.len()).expect("URLs are shorter than 64 KB");
    let [depth_low, depth_high] = page.depth.to_le_bytes();
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let flags = flag(page.sitemap, SITEMAP) | flag(page.known, KNOWN);
    out.reserve_exact(if out.is_empty() { RECORD_HEADER_BYTES + page.path.len() } else { 0 });
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&[page.hops, flags, depth_low, depth_high]);
    out.extend_from_slice(page.path.as_bytes());
}

fn record_bytes(record: &[u8]) -> usize {
    RECORD_HEADER_BYTES + usize::from(u16::from_le_bytes([record[0], record[1]]))
}

fn decode(record: &[u8]) -> (Waiting, usize) {
    let bytes = record_bytes(record);
    let page = Waiting {
        path: String::from_utf8_lossy(&record[RECORD_HEADER_BYTES..bytes]).into(),
        hops: record[2],
        attempts: 0,
        spell: 0,
        attempts_before: 0,
        sitemap: record[3] & SITEMAP != 0,
        known: record[3] & KNOWN != 0,
        depth: u16::from_le_bytes([record[4], record[5]]),
        refused: false,
        fetch_mode: FetchMode::default(),
        blame: Blame::default(),
    };
    (page, bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Push(u8, String),
        Pop,
        Spill,
        Rewrite,
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..3_u8, "/[a-z]{0,1800}").prop_map(|(class, path)| Step::Push(class, path)),
            6 => Just(Step::Pop),
            3 => Just(Step::Spill),
            1 => Just(Step::Rewrite),
            1 => Just(Step::Clear),
        ]
    }

    fn check(queues: &mut [Queue; 2], steps: &[(bool, Step)]) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut spill = Spill::create(dir.path()).expect("it is empty");
        let mut models: [[VecDeque<Waiting>; 3]; 2] = Default::default();
        for (number, (second, step)) in steps.iter().enumerate() {
            let (queue, model) =
                (&mut queues[usize::from(*second)], &mut models[usize::from(*second)]);
            match step {
                Step::Push(class, path) => {
                    let depth = u16::try_from(number).expect("a short walk");
                    let sitemap = number % 3 == 0;
                    let page =
                        Waiting { depth, sitemap, known: !sitemap, hops: 1, ..Waiting::new(path) };
                    queue.push(*class, &page);
                    model[usize::from(*class)].push_back(page);
                }
                Step::Pop => {
                    let wanted = model.iter_mut().find_map(VecDeque::pop_front);
                    assert_eq!(queue.pop(&mut spill).expect("files"), wanted);
                }
                Step::Spill => {
                    queue.spill(&mut spill).expect("files");
                    assert_eq!(queue.memory_bytes(), 0);
                }
                Step::Rewrite => queue.rewrite(&mut spill).expect("files"),
                Step::Clear => {
                    let cleared = queue.clear(&mut spill).expect("files");
                    let wanted = model.iter_mut().map(|fifo| fifo.drain(..).count()).sum::<usize>();
                    assert_eq!(cleared, wanted);
                }
            }
            let len = model.iter().map(VecDeque::len).sum::<usize>();
            assert_eq!(queue.len(), len);
            assert_eq!(queue.has_known(), model.iter().flatten().any(|page| page.known));
        }
        for queue in queues {
            queue.clear(&mut spill).expect("files");
        }
        assert_eq!(spill.used_bytes(), 0, "what was spilled was taken");
    }

    proptest! {
        #[test]
        fn queues_behave_like_lists(
            steps in prop::collection::vec((any::<bool>(), step()), 0..80),
        ) {
            check(&mut [Queue::default(), Queue::default()], &steps);
        }
    }

    #[test]
    fn spill_files_are_few_and_removed_when_drained() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut spill = Spill::create(dir.path()).expect("it is empty");
        let files = || std::fs::read_dir(dir.path()).expect("a folder").count();
        let mut queues: Vec<Queue> = (0..200).map(|_| Queue::default()).collect();
        let long = "x".repeat(2_000);
        for number in 0..20_000_usize {
            let queue = &mut queues[number * 7 % 200];
            queue.push(0, &Waiting::new(&format!("/{number}{long}")));
            queue.spill(&mut spill).expect("files");
        }
        assert!((2..4).contains(&files()), "{} files", files());
        for (host, queue) in queues.iter_mut().enumerate() {
            let mut last = None;
            while let Some(page) = queue.pop(&mut spill).expect("files") {
                let digits: String = page.path.chars().filter(char::is_ascii_digit).collect();
                let number: usize = digits.parse().expect("a number");
                assert!(number * 7 % 200 == host && last < Some(number), "{last:?} {number}");
                last = Some(number);
            }
        }
        assert_eq!((spill.used_bytes(), files()), (0, 1), "the file that grows is left");
        drop(spill);
        assert_eq!(files(), 0);
    }
}

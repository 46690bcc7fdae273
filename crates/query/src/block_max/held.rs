//! A block of a list by itself: what of it has been asked for is decoded, or it is asked where it lies as a set of bits.
//!
//! **Invariant.** What is decoded is of the block that was taken last; of one that is damaged there are no documents, each
//! with one occurrence.

use index::{BLOCK, DocSet, InvertedList};

/// Room for what is decoded of a block, kept from query to query. It begins where a line of the cache does.
#[repr(align(64))]
pub(super) struct Room {
    docs: [u32; BLOCK],
    more: [u32; BLOCK],
}

/// As many rooms as a query has had lists.
#[derive(Default)]
pub(super) struct Rooms(Vec<Room>);

impl Rooms {
    /// The number of lists that fit.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// So many of them.
    pub(super) fn take(&mut self, count: usize) -> impl Iterator<Item = &mut Room> {
        let empty = || Room { docs: [0; BLOCK], more: [0; BLOCK] };
        self.0.resize_with(self.0.len().max(count), empty);
        self.0.iter_mut().take(count)
    }
}

/// A block by itself.
pub(super) struct Held<'a> {
    pub(super) block: Option<usize>,
    /// Whether documents can be looked up in it: in `set`, if it lies as a set of bits, or else in those that are decoded.
    is_open: bool,
    pub(super) set: Option<DocSet<'a>>,
    room: &'a mut Room,
    /// How many documents are decoded, if they are.
    docs: Option<usize>,
    /// Of how many documents it is known how often they have the term, if that is decoded.
    more: Option<usize>,
    /// Where a document was found last.
    pub(super) at: usize,
}

impl<'a> Held<'a> {
    /// None yet.
    pub(super) fn new(room: &'a mut Room) -> Held<'a> {
        Held { block: None, is_open: false, set: None, room, docs: None, more: None, at: 0 }
    }

    /// Takes a block, of which nothing is decoded yet.
    #[inline]
    pub(super) fn take(&mut self, block: usize) {
        if self.block != Some(block) {
            (self.block, self.at, self.set) = (Some(block), 0, None);
            (self.is_open, self.docs, self.more) = (false, None, None);
        }
    }

    /// Makes it so that documents can be looked up.
    #[inline]
    pub(super) fn open(&mut self, list: &InvertedList<'a>) {
        if let (false, Some(block)) = (self.is_open, self.block) {
            self.is_open = true;
            self.set = list.set(block);
            if self.set.is_none() {
                self.fill_docs(list);
            }
        }
    }

    /// The documents, if they are decoded.
    #[inline]
    pub(super) fn docs(&self) -> &[u32] {
        &self.room.docs[..self.docs.unwrap_or(0)]
    }

    /// How often, less one, each document has the term, if that is decoded.
    #[inline]
    pub(super) fn more(&self) -> &[u32] {
        &self.room.more[..self.more.unwrap_or(0)]
    }

    /// Whether `doc` is there.
    #[inline]
    pub(super) fn contains(&mut self, doc: u32) -> bool {
        match &self.set {
            Some(set) => set.contains(doc),
            None => self.find(doc),
        }
    }

    /// The same; where it stands is kept.
    #[inline]
    pub(super) fn find(&mut self, doc: u32) -> bool {
        if let Some(set) = &self.set {
            let is_there = set.contains(doc);
            if is_there {
                self.at = set.rank(doc);
            }
            return is_there;
        }
        self.at = find(self.docs(), self.at, doc);
        self.docs().get(self.at) == Some(&doc)
    }

    #[inline]
    pub(super) fn fill_docs(&mut self, list: &InvertedList<'_>) {
        if let (None, Some(block)) = (self.docs, self.block) {
            let count = list.block_len(block);
            let read = list.read_docs(block, &mut self.room.docs[..count]);
            self.docs = Some(read.map_or(0, |()| count));
        }
    }

    #[inline]
    pub(super) fn fill_more(&mut self, list: &InvertedList<'_>) {
        if let (None, Some(block)) = (self.more, self.block) {
            let count = list.block_len(block);
            read_more(list, block, &mut self.room.more[..count]);
            self.more = Some(count);
        }
    }
}

/// What is damaged counts as one occurrence.
pub(super) fn read_more(list: &InvertedList<'_>, block: usize, more: &mut [u32]) {
    if list.read_more(block, more).is_none() {
        more.fill(0);
    }
}

/// Where the first document from `doc` on is among ascending ones: most often not far behind `hint`.
#[inline]
pub(super) fn find(docs: &[u32], hint: usize, doc: u32) -> usize {
    let (mut low, mut step) = (hint, 1);
    if docs.get(low).is_none_or(|&found| found > doc) {
        low = 0;
    }
    while let Some(&found) = docs.get(low + step)
        && found <= doc
    {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(docs.len());
    low + docs[low..high].partition_point(|&found| found < doc)
}

//! The directory: every live page once, in SURT order, and the fate of every other URL.
//!
//! What lives here: the choice of the capture that counts, and the file `pages/directory`. What does not: the pages'
//! text, which stays in the parts.
//!
//! **Invariant.** Entries are strictly increasing by (SURT, URL). Redirects and fates are sorted by URL. The newest
//! capture of a URL counts. Of two captures with the same date, the later row counts. A failed fetch never replaces
//! an earlier answer. A revisit passes its date to the earlier capture. A revisit with `noindex` withholds the page
//! until a later capture.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use codes::vbyte;
use neardup::Fingerprint;

use super::row::{
    CaptureOutcome, Moment, PageHead, PagePointer, put_head, put_text, take_text, take_word,
};
use crate::{CollectionError, disk};

const MAGIC: [u8; 8] = *b"CRVDIRE\x03";
/// Redirects that are followed from one URL before giving up.
const HOPS_MAX: usize = 10;

/// A live page.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Normalised URL.
    pub url: String,
    /// When it was captured.
    pub date_s: i64,
    /// Where its row is.
    pub pointer: PagePointer,
    /// For near-duplicates.
    pub fingerprint: Fingerprint,
    /// Whether the page asks not to be indexed.
    pub noindex: bool,
    /// It is an imported record, not a page of the web.
    pub is_record: bool,
    /// The canonical URL that the page declares, or empty.
    pub canonical: String,
}

/// All live pages, all redirects, and the fate of every other URL that was tried.
#[derive(Debug, Default)]
pub struct Directory {
    id: String,
    entries: Vec<Entry>,
    redirects: Vec<(String, String)>,
    others: Vec<(String, String)>,
}

impl Directory {
    /// Identifies the content. Outputs made from this directory store it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Live pages. The place in this list is the node number in the link graph.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// URL and where it leads.
    pub fn redirects(&self) -> &[(String, String)] {
        &self.redirects
    }

    /// URLs that are no page, and why.
    pub fn others(&self) -> &[(String, String)] {
        &self.others
    }

    /// The place of `url`, if it is a live page.
    pub fn find(&self, url: &str) -> Option<usize> {
        let key = archive::surt(url);
        let order =
            |entry: &Entry| archive::surt(&entry.url).cmp(&key).then_with(|| (*entry.url).cmp(url));
        self.entries.binary_search_by(order).ok()
    }

    /// Where `url` leads, if it is a redirect.
    pub fn redirect(&self, url: &str) -> Option<&str> {
        look_up(&self.redirects, url)
    }

    /// Why `url` is not a page, if it was fetched.
    pub fn other(&self, url: &str) -> Option<&str> {
        look_up(&self.others, url)
    }

    /// A map from every URL to the place of its page, with redirects followed.
    #[expect(clippy::missing_panics_doc, reason = "a directory has fewer than 2^32 entries")]
    pub fn resolver(&self) -> HashMap<&str, u32> {
        let mut places: HashMap<&str, u32> = HashMap::with_capacity(self.entries.len());
        for (place, entry) in self.entries.iter().enumerate() {
            let place = u32::try_from(place).expect("read() keeps the count below 2^32");
            places.insert(&entry.url, place);
        }
        for (url, _) in &self.redirects {
            let mut at = url.as_str();
            for _ in 0..HOPS_MAX {
                let Some(target) = self.redirect(at) else { break };
                at = target;
            }
            if let Some(&place) = places.get(at) {
                places.entry(url).or_insert(place);
            }
        }
        places
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), CollectionError> {
        let mut out = Vec::new();
        vbyte::write(&mut out, self.entries.len() as u64);
        for entry in &self.entries {
            put_text(&mut out, &entry.url);
            vbyte::write(&mut out, u64::try_from(entry.date_s).unwrap_or(0));
            out.extend_from_slice(&entry.pointer.pack().to_le_bytes());
            put_head(&mut out, entry.fingerprint, entry.noindex, entry.is_record, &entry.canonical);
        }
        for list in [&self.redirects, &self.others] {
            vbyte::write(&mut out, list.len() as u64);
            for (url, text) in list {
                put_text(&mut out, url);
                put_text(&mut out, text);
            }
        }
        disk::write_sealed(path, MAGIC, &out)
    }

    /// Returns whether a directory of this version exists. Only the first bytes are read.
    pub fn is_there(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        path.is_file() && (read.is_err() || durable::other_version(&start, MAGIC).is_none())
    }

    /// Reads the directory. Returns `None` if the file does not exist.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, CollectionError> {
        let Some(bytes) = disk::read_sealed(path, MAGIC)? else { return Ok(None) };
        let id = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes));
        Self::decode(&bytes, id).map(Some).ok_or_else(|| CollectionError::Damaged {
            path: path.to_owned(),
            offset: MAGIC.len() as u64,
            what: "entries that cannot be read".into(),
        })
    }

    fn decode(mut input: &[u8], id: String) -> Option<Self> {
        let input = &mut input;
        let count = u32::try_from(vbyte::read(input)?).ok()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let url = take_text(input)?;
            let date_s = i64::try_from(vbyte::read(input)?).ok()?;
            let pointer = PagePointer::unpack(take_word(input)?);
            let PageHead { fingerprint, noindex, is_record, canonical } = PageHead::decode(input)?;
            entries.push(Entry {
                url,
                date_s,
                pointer,
                fingerprint,
                noindex,
                is_record,
                canonical,
            });
        }
        let redirects = take_pairs(input)?;
        let others = take_pairs(input)?;
        input.is_empty().then_some(Self { id, entries, redirects, others })
    }
}

fn take_pairs(input: &mut &[u8]) -> Option<Vec<(String, String)>> {
    let count = vbyte::read(input)?;
    let mut pairs = Vec::new();
    for _ in 0..count {
        pairs.push((take_text(input)?, take_text(input)?));
    }
    Some(pairs)
}

fn look_up<'a>(pairs: &'a [(String, String)], url: &str) -> Option<&'a str> {
    let at = pairs.binary_search_by(|(key, _)| key.as_str().cmp(url)).ok()?;
    Some(&pairs[at].1)
}

/// The state of a URL, from the capture that counts.
enum Standing {
    Page(Entry),
    Redirect(String),
    Gone(String),
    Failed(String),
}

/// A revisit: the URL had not changed.
struct Same {
    date: Moment,
    /// The date of the capture that must not be indexed, if any.
    withheld: Option<String>,
}

/// Selects the capture that counts for each URL. Captures with equal dates must be added in archive order. Captures
/// of one second may be in several files, whose order has no meaning. Dates therefore include microseconds.
#[derive(Default)]
pub(crate) struct DirectoryBuilder {
    standings: BTreeMap<(String, String), (Moment, Standing)>,
    /// The last revisit of each URL.
    same: BTreeMap<(String, String), Same>,
}

impl DirectoryBuilder {
    pub(crate) fn add(
        &mut self,
        url: String,
        date: Moment,
        fate: CaptureOutcome<PageHead>,
        pointer: PagePointer,
    ) {
        let key = (archive::surt(&url), url.clone());
        let withheld = match fate {
            CaptureOutcome::Same => Some(None),
            CaptureOutcome::Withheld { ref page_date } => Some(Some(page_date.clone())),
            _ => None,
        };
        if let Some(withheld) = withheld {
            if self.same.get(&key).is_none_or(|same| date >= same.date) {
                self.same.insert(key, Same { date, withheld });
            }
            return;
        }
        let answer = !matches!(fate, CaptureOutcome::Failed { .. });
        if let Some((held_date, held)) = self.standings.get(&key) {
            let held_answer = !matches!(held, Standing::Failed(_));
            // Of two captures with the same date the later row counts.
            if (answer, date) < (held_answer, *held_date) {
                return;
            }
        }
        let standing = match fate {
            CaptureOutcome::Page(page) => Standing::Page(Entry {
                url,
                date_s: date.0,
                pointer,
                fingerprint: page.fingerprint,
                noindex: page.noindex,
                is_record: page.is_record,
                canonical: page.canonical,
            }),
            CaptureOutcome::Redirect { target } => Standing::Redirect(target),
            CaptureOutcome::Gone { what } => Standing::Gone(what),
            CaptureOutcome::Failed { what } => Standing::Failed(what),
            CaptureOutcome::Same | CaptureOutcome::Withheld { .. } => return,
        };
        self.standings.insert(key, (date, standing));
    }

    pub(crate) fn finish(self) -> Directory {
        let mut directory = Directory::default();
        for (key, ((page_s, page_us), standing)) in self.standings {
            match standing {
                Standing::Page(mut entry) => {
                    if let Some(Same { date: (date_s, _), withheld }) = self.same.get(&key) {
                        let date = archive::exact_date_text(page_s, page_us);
                        entry.noindex |= withheld.as_ref() == Some(&date);
                        entry.date_s = entry.date_s.max(*date_s);
                    }
                    directory.entries.push(entry);
                }
                Standing::Redirect(target) => directory.redirects.push((key.1, target)),
                Standing::Gone(what) | Standing::Failed(what) => {
                    directory.others.push((key.1, what));
                }
            }
        }
        directory.redirects.sort_unstable();
        directory.others.sort_unstable();
        directory
    }
}

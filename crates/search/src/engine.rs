//! The engine: the index, ranks, page table and archive of a collection, opened together.
//!
//! The page table, the clusters and the ranks are optional, since the batch stages can build them again.
//! Without the page table, results have no snippets. Without ranks, the score depends on the words alone.
//! A note in each answer names the missing file.
//!
//! **Invariant.** An engine answers from one generation of the index for its whole life. Files of that
//! generation stay mapped after they are removed. If [`Index::intact`] fails, searches and completions fail.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use archive::{Archive, Location};
use collection::{Clusters, Collection, CollectionError, PagePointer, PageRow, PageTable, Vector};
use index::{Index, IndexError};
use query::{Explanation, Hit, Matches, Piece, Query, QueryError, RankValues, Searcher, Stop};

use crate::SearchError;
use crate::cached_copy::PageCopy;
use crate::results::{CachedPage, Completions, Ranking, Results, SearchRequest, SearchResult};

/// Length of a snippet.
const SNIPPET_CHARS_MAX: usize = 240;

/// A searchable collection.
pub struct Engine {
    collection: Collection,
    version: Version,
    index: Arc<Index>,
    searcher: Arc<Searcher>,
    /// One searcher for each topic requested so far.
    of_topics: Mutex<BTreeMap<String, Arc<Searcher>>>,
    /// A note for each missing rank and file. Every answer includes these notes.
    missing: Vec<String>,
    /// Modification times of the page table and the clusters. Set if one of these files is unusable.
    times: Option<FileTimes>,
    pages: PageTable,
    folding: Option<Clusters>,
    archive: Archive,
}

/// The version of the index and of the ranks.
#[derive(PartialEq)]
struct Version {
    generation: u64,
    /// The source of the index. An index built after a deletion restarts at the first generation.
    source: String,
    /// Rank vectors and their modification times. Each `crivello rank` rewrites them.
    vectors: Vec<(Vector, Option<SystemTime>)>,
}

/// A change of a collection since it was opened.
#[derive(Debug)]
pub enum Change {
    /// Nothing has changed.
    None,
    /// The collection has a new index, new ranks, or new or modified files.
    Newer,
    /// Bytes of the index that were read have changed.
    Fault(SearchError),
}

impl Engine {
    /// Opens the index, the ranks, the page table and the archive of a collection.
    pub fn open(collection: &Collection, query: query::Config) -> Result<Self, SearchError> {
        let index = Arc::new(match Index::open(&collection.index_dir()) {
            Err(IndexError::NotAnIndex { .. }) => return Err(SearchError::NoIndex),
            index => index?,
        });
        let version = Version::of(collection, &index);
        let (ranks, mut missing) = ranks_of(collection, &index, &version, &query)?;
        // Words of a query must become the terms that the words of the pages became.
        let analysis = collection::analysis_of(&index).ok_or(SearchError::NoIndex)?;
        let analyzer = page::Analyzer::build(&analysis)?;
        let times = file_times(collection);
        let mut can_improve = false;
        let mut unless_damaged = |fault: CollectionError, lacks: &str| match fault {
            CollectionError::Damaged { .. }
            | CollectionError::Version { .. }
            | CollectionError::Missing { .. } => {
                missing.push(format!("{lacks}: {fault}"));
                can_improve = true;
                Ok(())
            }
            fault => Err(fault),
        };
        let pages = PageTable::open(&collection.pages_dir()).or_else(|fault| {
            unless_damaged(fault, "No snippets and no copies").map(|()| PageTable::default())
        })?;
        let folding = Clusters::open(collection, pages.directory())
            .or_else(|fault| unless_damaged(fault, "No duplicates").map(|()| None))?;
        let searcher = Searcher::new(Arc::clone(&index), analyzer, query, ranks)?;
        Ok(Self {
            collection: collection.clone(),
            version,
            searcher: Arc::new(searcher),
            of_topics: Mutex::default(),
            missing,
            times: can_improve.then_some(times),
            index,
            folding,
            pages,
            archive: Archive::open(&collection.archive_dir())?,
        })
    }

    /// Returns how the collection has changed since it was opened. Opening a new engine verifies the files again.
    pub fn change(&self, collection: &Collection) -> Change {
        let fault = |found: Result<(), SearchError>| found.err().map(Change::Fault);
        let found = match Index::open(&collection.index_dir()) {
            // Checked first: damage to a replaced index does not matter.
            Ok(index) if Version::of(collection, &index) != self.version => Some(Change::Newer),
            Ok(index) => {
                let is_built_again = self.times.is_some_and(|then| then != file_times(collection));
                let is_newer = is_built_again || !self.index.has_files_of(&index);
                fault(self.intact()).or_else(|| is_newer.then_some(Change::Newer))
            }
            Err(IndexError::Damaged { file, .. }) => fault(
                self.intact().and_then(|()| self.index.doubted(&file).map_err(SearchError::from)),
            ),
            Err(_) => fault(self.intact()),
        };
        found.unwrap_or(Change::None)
    }

    /// Fails if bytes read from the index so far differ from the bytes written.
    pub fn intact(&self) -> Result<(), SearchError> {
        Ok(self.index.intact()?)
    }

    /// Returns whether damage found earlier at `offset` of `file` is repaired, or `file` has left the index.
    pub fn is_whole_at(&self, file: &Path, offset: u64) -> bool {
        self.index.is_whole_at(file, offset)
    }

    /// Returns `made`, or an error if the index is damaged.
    fn if_intact<T>(&self, made: Result<T, SearchError>) -> Result<T, SearchError> {
        self.intact()?;
        made
    }

    /// The generation of the index.
    pub fn generation(&self) -> u64 {
        self.index.generation()
    }

    /// The number of documents in the index.
    pub fn document_count(&self) -> u64 {
        self.index.live_count()
    }

    /// The names of the topics that have ranks.
    pub fn topics(&self) -> Vec<&str> {
        let topic = |vector| match vector {
            &(Vector::Topic(ref name), _) => Some(name.as_str()),
            _ => None,
        };
        self.version.vectors.iter().filter_map(topic).collect()
    }

    /// The searcher for a topic, created at the first request.
    fn searcher(&self, topic: Option<&str>) -> Result<Arc<Searcher>, SearchError> {
        let Some(topic) = topic else { return Ok(Arc::clone(&self.searcher)) };
        let lock = || self.of_topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(searcher) = lock().get(topic) {
            return Ok(Arc::clone(searcher));
        }
        let unknown = || {
            let known = self.topics().into_iter().map(str::to_owned).collect();
            SearchError::NoTopic { topic: topic.to_owned(), known }
        };
        if !self.topics().contains(&topic) {
            return Err(unknown());
        }
        let vector = Vector::Topic(topic.to_owned());
        let ranks = collection::document_ranks(&self.collection, &self.index, &vector)?;
        let searcher = Arc::new(self.searcher.with_topic(topic, ranks.ok_or_else(unknown)?));
        lock().insert(topic.to_owned(), Arc::clone(&searcher));
        Ok(searcher)
    }

    /// The best documents for a question.
    pub fn search(&self, question: &SearchRequest<'_>) -> Result<Results, SearchError> {
        let query = query::parse(question.text)?;
        self.if_intact(self.answer(&query, question))
    }

    fn answer(&self, query: &Query, question: &SearchRequest<'_>) -> Result<Results, SearchError> {
        let &SearchRequest { offset, k, topic, explain, ref stop, .. } = question;
        let searcher = self.searcher(topic)?;
        let prepared = searcher.prepare_until(query, stop)?;
        let answer = prepared.search(offset, k)?;
        let highlighter = prepared.highlighter();
        let found = answer.hits.iter().map(|hit| {
            let explanation =
                if explain { Some(prepared.explain(hit.segment, hit.doc)?) } else { None };
            self.found(hit, &highlighter, explanation.filter(|_| !stop.is_set()))
        });
        let hits: Vec<SearchResult> = found.collect::<Result<_, _>>()?;
        // If results exist, an unknown name that resembles no field may be part of the searched text.
        let unknown = query.unknown_field();
        let unknown = unknown.filter(|field| field.meant.is_some() || answer.total == 0);
        let hint = unknown.map(|field| field.to_string());
        let (total, with_all, mut notes) = (answer.total, answer.with_all, answer.notes);
        notes.extend_from_slice(&self.missing);
        notes.extend(self.without_text(&hits));
        let found = Matches { with_all: with_all.unwrap_or(total), total };
        let suggestion = searcher.suggest(query, found, stop, |hit| self.text(hit));
        // The results are returned even if the suggestion fails.
        let suggestion = suggestion.unwrap_or_else(|error: SearchError| {
            notes.push(format!("What was perhaps meant cannot be told: {error}"));
            None
        });
        let (query, topic) = (query.to_string(), topic.map(str::to_owned));
        let partial = answer.partial || stop.is_set();
        Ok(Results {
            query,
            topic,
            total,
            with_all,
            partial,
            offset,
            hits,
            hint,
            notes,
            suggestion,
        })
    }

    /// A note on results whose text is missing from the page table.
    fn without_text(&self, hits: &[SearchResult]) -> Option<String> {
        let is_known = |hit: &&SearchResult| self.pages.directory().find(&hit.url).is_some();
        let bare: Vec<_> = hits.iter().filter(|hit| !hit.cached).filter(is_known).collect();
        let directory = self.pages.directory();
        let fault = |hit: &&SearchResult| {
            let pointer = directory.entries()[directory.find(&hit.url)?].pointer;
            self.pages.page(pointer).err().map(|fault| fault.to_string())
        };
        let why = bare.iter().find_map(fault).unwrap_or_else(|| {
            "files of `pages/` are missing; run `crivello index` to build them again".to_owned()
        });
        let count = bare.len();
        (count > 0).then(|| format!("No snippet for {count} of the results shown: {why}"))
    }

    /// The row of a page with its URL. `None` if the row is missing or damaged.
    fn row(&self, pointer: PagePointer) -> Result<Option<(String, PageRow)>, SearchError> {
        match self.pages.page(pointer) {
            Err(CollectionError::Damaged { .. }) => Ok(None),
            row => Ok(row?),
        }
    }

    /// Completes the last word of `text`. Returns the completions found before `stop` was set.
    pub fn complete(&self, text: &str, stop: &Stop) -> Result<Completions, SearchError> {
        let completions = self.searcher.complete(text, stop, |hit| self.text(hit));
        let completions = self.if_intact(completions)?;
        Ok(Completions { query: text.to_owned(), completions })
    }

    /// The text of a document, if its page is still in the page table.
    fn text(&self, hit: &Hit) -> Result<Option<String>, SearchError> {
        let record = self.index.segments()[hit.segment].record(hit.doc)?;
        let directory = self.pages.directory();
        let Some(place) = directory.find(&record.url) else { return Ok(None) };
        let row = self.row(directory.entries()[place].pointer)?;
        Ok(row.map(|(_, page)| page.text))
    }

    /// The URLs and scores of the best `k` pages for a query, best first, and notes, one line each.
    /// The near-duplicates of a page follow it.
    pub fn rank(&self, text: &str, k: usize) -> Result<(Ranking, Vec<String>), SearchError> {
        self.if_intact(self.ranking(text, k))
    }

    fn ranking(&self, text: &str, k: usize) -> Result<(Ranking, Vec<String>), SearchError> {
        let answer = match query::parse(text).and_then(|query| self.searcher.search(&query, 0, k)) {
            Err(QueryError::Empty) => return Ok((Vec::new(), Vec::new())),
            answer => answer?,
        };
        let directory = self.pages.directory();
        let mut ranking = Vec::with_capacity(k);
        for hit in answer.hits {
            let record = self.index.segments()[hit.segment].record(hit.doc)?;
            let place = directory.find(&record.url);
            ranking.push((record.url, hit.score));
            if let (Some(folding), Some(place)) = (&self.folding, place) {
                let behind = folding.behind(place).map(|place| directory.entries()[place].pointer);
                for pointer in behind {
                    let page = self.row(pointer)?;
                    ranking.extend(page.map(|(url, _)| (url, hit.score)));
                }
            }
        }
        ranking.truncate(k);
        Ok((ranking, answer.notes))
    }

    fn found(
        &self,
        hit: &Hit,
        highlighter: &query::Highlighter,
        explanation: Option<Explanation>,
    ) -> Result<SearchResult, SearchError> {
        let record = self.index.segments()[hit.segment].record(hit.doc)?;
        // A page removed since indexing is a result without a snippet.
        let directory = self.pages.directory();
        let entry = directory.find(&record.url).map(|place| &directory.entries()[place]);
        let row = entry.map(|entry| self.row(entry.pointer)).transpose()?.flatten();
        let snippet = row.as_ref().map_or_else(Vec::new, |(_, page)| {
            let text = if page.text.trim().is_empty() { &page.description } else { &page.text };
            shown(highlighter.snippet(text, SNIPPET_CHARS_MAX))
        });
        let title = if record.title.trim().is_empty() { &record.url } else { &record.title };
        Ok(SearchResult {
            title: shown(highlighter.mark(title)),
            snippet,
            url: page::without_controls(&record.url).into_owned(),
            language: record.language,
            // The page table has the latest visit; the index omits later visits that found the page unchanged.
            date_s: entry.map_or(record.date_s, |entry| entry.date_s),
            score: hit.score,
            copies: record.copies,
            cached: row.is_some(),
            explanation,
        })
    }

    /// The capture from which the copy of `url` is made.
    pub fn captured(&self, url: &str) -> Result<Option<CachedPage>, SearchError> {
        let Some(place) = self.pages.directory().find(url) else { return Ok(None) };
        let entry = &self.pages.directory().entries()[place];
        let row = self.pages.page(entry.pointer)?;
        let shown = |url: String| page::without_controls(&url).into_owned();
        Ok(row.map(|(url, _)| CachedPage { url: shown(url), date_s: entry.date_s }))
    }

    /// A copy of `url`, from the archive.
    pub fn copy(&self, url: &str) -> Result<Option<PageCopy>, SearchError> {
        let Some(place) = self.pages.directory().find(url) else { return Ok(None) };
        let entry = &self.pages.directory().entries()[place];
        let row = self.pages.page(entry.pointer)?;
        let file = self.pages.archive_file(entry.pointer.part);
        let (Some((_, page)), Some(file)) = (row, file) else { return Ok(None) };
        let location = Location {
            file: file.to_owned(),
            offset: page.record_offset,
            length: page.record_length,
        };
        let record = self.archive.read(&location)?;
        let answer = archive::parse_http(&record.block).ok();
        let answer = answer.filter(|_| record.kind == archive::Kind::Response);
        let Some(answer) = answer else { return Ok(Some(PageCopy::of_text(page.text))) };
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        PageCopy::of_response(&kind, &page.charset, record.block).map(Some)
    }

    /// The URLs of the near-duplicates folded into `url`, except pages marked `noindex`.
    pub fn copies(&self, url: &str) -> Vec<String> {
        let directory = self.pages.directory();
        let (Some(place), Some(folding)) = (directory.find(url), &self.folding) else {
            return Vec::new();
        };
        let entries = folding.behind(place).filter_map(|member| directory.entries().get(member));
        let shown = |entry: &collection::Entry| page::without_controls(&entry.url).into_owned();
        entries.filter(|entry| !entry.noindex).map(shown).collect()
    }
}

impl Version {
    fn of(collection: &Collection, index: &Index) -> Self {
        let vectors = collection::document_vectors(collection, index);
        Self { generation: index.generation(), source: index.source().to_owned(), vectors }
    }
}

/// When `pages/directory`, `pages/parts` and `dups/clusters` were written; `None` for a missing file.
type FileTimes = [Option<SystemTime>; 3];

fn file_times(collection: &Collection) -> FileTimes {
    let (pages, dups) = (collection.pages_dir(), collection.dups_dir());
    [pages.join("directory"), pages.join("parts"), dups.join("clusters")]
        .map(|path| path.metadata().and_then(|about| about.modified()).ok())
}

/// Removes control characters, which could change the display of surrounding text.
fn shown(mut pieces: Vec<Piece>) -> Vec<Piece> {
    for piece in &mut pieces {
        piece.text = page::without_controls(&piece.text).into_owned();
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// Ranks by name.
type Named = Vec<(String, RankValues)>;

/// The ranks with a weight above zero, and a note for each that is missing. An imported index has no computed
/// ranks, so the default ranks need no note there.
fn ranks_of(
    collection: &Collection,
    index: &Index,
    version: &Version,
    config: &query::Config,
) -> Result<(Named, Vec<String>), SearchError> {
    let (mut ranks, mut missing) = (Vec::new(), Vec::new());
    let by_default = query::Config::default().ranks;
    for (name, _) in config.ranks.iter().filter(|(_, weight)| **weight > 0.0) {
        let vector = Vector::Rank(name.clone());
        let values = match collection::document_ranks(collection, index, &vector) {
            Err(fault @ CollectionError::Damaged { .. }) => {
                missing.push(format!("The rank `{name}` does not count: {fault}"));
                continue;
            }
            values => values?,
        };
        if let Some(values) = values {
            ranks.push((name.clone(), values));
        } else if !(collection::is_imported(index) && by_default.contains_key(name)) {
            missing.push(no_such_rank(name, version));
        }
    }
    Ok((ranks, missing))
}

fn no_such_rank(name: &str, version: &Version) -> String {
    let ranks = version.vectors.iter().filter(|(vector, _)| matches!(vector, Vector::Rank(_)));
    let known: Vec<&str> = ranks.map(|(vector, _)| vector.name()).collect();
    let known = match known[..] {
        [] => "it has none: `crivello rank` computes some".to_owned(),
        _ => format!("it has {}", known.join(", ")),
    };
    format!(
        "[search] gives the rank `{name}` a weight, but this collection has no such rank; {known}"
    )
}

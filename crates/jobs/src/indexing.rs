//! Pages to index: every representative page, in directory order.
//!
//! The fields of a document are its title, headings, text, URL words, and the anchor text of links to it. The URL
//! field also holds unanalysed filter terms ([`page::Filter`]): hosts, language, extension, link targets and date.
//!
//! If an index with the same settings exists, only changes are indexed (`changes.rs`). New documents form new
//! segments in directory order. Old documents are deleted.
//!
//! **Invariant.** The index holds exactly the pages that represent a cluster and allow indexing. `Index::source`
//! names the directory, clusters, codes, order and analysis that the index was made from.

use std::collections::BTreeSet;

use collection::{
    Clusters, Collection, CollectionError, Directory, PageRow, PageTable, is_imported_source,
};
use index::{DocRecord, Field, Index, IndexError, IndexWriter};
use page::{AnalysisConfig, Analyzer, Day, Filter, TermMaker, Url};
use xxhash_rust::xxh3::Xxh3;

use crate::changes::{Changes, Wanted};
use crate::in_order::each_in_order;
use crate::rank::{is_ranked, write_document_ranks};
use crate::{JobsError, Progress, Stage, Staleness};

/// Maximum bytes of anchor text for one page.
const ANCHOR_BYTES_MAX: usize = 2048;
/// A link with a longer text says little about its target.
const ANCHOR_LINK_BYTES_MAX: usize = 200;

/// Version of the filters. Increase it when the filters of a document change, so that the index is rebuilt.
const FILTERS: &str = "filters 2";

/// What the stage built.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct IndexReport {
    /// Documents in the index.
    pub documents: u64,
    /// New or changed documents that were indexed in this run.
    pub added: u64,
    /// Documents that were deleted, because their page was removed or has changed.
    pub removed: u64,
    /// Segments of the index.
    pub segments: u64,
    /// Pages that ask not to be indexed.
    pub noindex: u64,
    /// Near-duplicates that another page represents.
    pub folded: u64,
    /// The index's generation.
    pub generation: u64,
    /// Nothing was to do.
    pub up_to_date: bool,
    /// The fault of the old index, with file and offset, if it forced a full rebuild.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// The documents of the old index to reuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// Documents that have not changed.
    Unchanged,
    /// No documents: all pages are indexed again, in one order.
    Nothing,
}

/// Brings the index up to date with the page table and the clusters. A damaged index or an index of another version
/// is rebuilt. `warn` is called with the fault before that rebuild. An index that the system refuses to open is not
/// changed.
pub fn build_index(
    collection: &Collection,
    config: &index::Config,
    analysis: &AnalysisConfig,
    reuse: Reuse,
    warn: &dyn Fn(&IndexError),
    progress: Progress<'_>,
) -> Result<IndexReport, JobsError> {
    let dir = collection.index_dir();
    // This includes an imported index that cannot be opened, because this stage cannot rebuild it.
    if Index::source_in(&dir).is_ok_and(|source| is_imported_source(&source)) {
        return Err(JobsError::ImportedIndex { path: dir });
    }
    let fault = match reuse {
        Reuse::Nothing => return build(collection, config, analysis, None, progress),
        Reuse::Unchanged => match Index::open(&dir) {
            Ok(old) => match build(collection, config, analysis, Some(old), progress) {
                Err(
                    JobsError::Index(fault @ IndexError::Damaged { .. })
                    | JobsError::Merge(fault @ IndexError::Damaged { .. }),
                ) => fault,
                built => return built,
            },
            Err(IndexError::NotAnIndex { .. }) => {
                return build(collection, config, analysis, None, progress);
            }
            Err(fault @ (IndexError::Damaged { .. } | IndexError::Version { .. })) => fault,
            Err(refused) => return Err(refused.into()),
        },
    };
    warn(&fault);
    let report = build(collection, config, analysis, None, progress)?;
    Ok(IndexReport { fault: Some(fault.fault()), ..report })
}

/// Indexes the pages that `old` lacks, or all pages.
fn build(
    collection: &Collection,
    config: &index::Config,
    analysis: &AnalysisConfig,
    old: Option<Index>,
    progress: Progress<'_>,
) -> Result<IndexReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let missing = CollectionError::Missing { needs: "the list of duplicates", command: "dedup" };
    let folding = Clusters::open(collection, table.directory())?.ok_or(missing)?;
    let plan = Plan::of(&table, &folding);
    let source = full_source(table.directory(), &folding, config, analysis);
    if let Some(index) = &old
        && index.source() == source
    {
        let report = IndexReport { up_to_date: true, ..plan.report() };
        return finish(collection, table.directory(), config, report);
    }
    let texts = Texts::of(&table, &folding)?;
    let contents = plan.places.iter().map(|&place| Wanted {
        place,
        url: &table.directory().entries()[place].url,
        content: texts.content(place, plan.copies[place]),
    });
    let wanted: Vec<Wanted<'_>> = contents.collect();
    let settings = |source: &str| source.splitn(3, " / ").nth(2).map(str::to_owned);
    let old = old.filter(|index| settings(index.source()) == settings(&source));
    let (mut writer, changes) = begin(collection, config, old, &wanted)?;
    let analyzer = Analyzer::build(analysis)?;
    let total = changes.added.len() as u64;
    let read = |place| {
        let (record, page) = document(collection, &table, &plan, &texts, place)?;
        Ok::<_, JobsError>(fields(record, page, &texts.anchors[place]))
    };
    let mut done = 0;
    let mut tell = || {
        done += 1;
        progress(Stage::Index, done, total);
    };
    // One thread writes, the others read and analyse.
    if let others @ 1.. = config.thread_count() - 1 {
        let begin = || analyzer.term_maker();
        let make =
            |terms: &mut TermMaker<'_>, place| Ok(Analysed::of(read(place)?, &analyzer, terms));
        each_in_order(others, &changes.added, begin, make, |analysed: Analysed| {
            analysed.add(&mut writer)?;
            tell();
            Ok::<(), JobsError>(())
        })?;
    } else {
        let mut terms = analyzer.term_maker();
        for &place in &changes.added {
            add(&mut writer, &analyzer, &mut terms, &read(place)?)?;
            tell();
        }
    }
    writer.commit(&source)?;
    let (added, removed) = (total, changes.removed.len() as u64);
    let report = IndexReport { added, removed, ..plan.report() };
    finish(collection, table.directory(), config, report)
}

/// Returns a writer and its changes. The writer keeps the unchanged documents of the old index, if any.
fn begin(
    collection: &Collection,
    config: &index::Config,
    old: Option<Index>,
    wanted: &[Wanted<'_>],
) -> Result<(IndexWriter, Changes), JobsError> {
    let dir = collection.index_dir();
    let changes = old.map(|index| {
        let changes = Changes::between(&index, wanted);
        index.intact()?;
        changes
    });
    let Some(changes) = changes.transpose()?.filter(|changes| !changes.is_new_index()) else {
        let added = wanted.iter().map(|page| page.place).collect();
        return Ok((IndexWriter::create(&dir, config)?, Changes { added, ..Changes::default() }));
    };
    let mut writer = IndexWriter::update(&dir, config)?;
    for &(segment, doc) in &changes.removed {
        writer.delete(segment, doc)?;
    }
    Ok((writer, changes))
}

/// Writes the missing ranks and merges segments. Each generation can be searched while the next is made.
fn finish(
    collection: &Collection,
    directory: &Directory,
    config: &index::Config,
    report: IndexReport,
) -> Result<IndexReport, JobsError> {
    let dir = collection.index_dir();
    let mut index = Index::open(&dir)?;
    // A kill between index and ranks, or damage, may have left the index without ranks.
    if !is_ranked(collection, directory, &index) {
        write_document_ranks(collection, directory, &index)?;
    }
    if index::merge(&dir, config).map_err(JobsError::Merge)?.is_some() {
        index = Index::open(&dir)?;
        write_document_ranks(collection, directory, &index)?;
    }
    let segments = index.segments().len() as u64;
    Ok(IndexReport { segments, generation: index.generation(), ..report })
}

/// The record and the page at a place.
fn document(
    collection: &Collection,
    table: &PageTable,
    plan: &Plan,
    texts: &Texts,
    place: usize,
) -> Result<(DocRecord, PageRow), JobsError> {
    let entry = &table.directory().entries()[place];
    let (url, page) = table.page(entry.pointer)?.ok_or_else(|| CollectionError::Damaged {
        path: collection.pages_dir().join("directory"),
        offset: 0,
        what: "it names a page that no part holds".into(),
    })?;
    let copies = plan.copies[place];
    let record = DocRecord {
        url,
        title: page.title.clone(),
        language: page.language.clone(),
        date_s: entry.date_s,
        content: texts.content(place, copies),
        copies,
    };
    Ok((record, page))
}

/// Returns why `index` is out of date for these pages, clusters and settings. Returns `None` if it is up to date.
pub fn index_staleness(
    index: &Index,
    directory: &Directory,
    folding: &Clusters,
    config: &index::Config,
    analysis: &AnalysisConfig,
) -> Option<Staleness> {
    let wanted = full_source(directory, folding, config, analysis);
    let parts =
        |source: &str| -> Vec<String> { source.splitn(4, " / ").map(str::to_owned).collect() };
    let (had, wanted) = (parts(index.source()), parts(&wanted));
    let lags = [Staleness::Pages, Staleness::Duplicates, Staleness::Codes, Staleness::Analysis];
    let mut lags = (0..).zip(lags).filter(|&(part, _)| had.get(part) != wanted.get(part));
    lags.next().map(|(_, lag)| lag)
}

/// The value of `Index::source`: pages, clusters, codes and order, and the analysis as JSON.
fn full_source(
    directory: &Directory,
    folding: &Clusters,
    config: &index::Config,
    analysis: &AnalysisConfig,
) -> String {
    let codes = [config.docs_code, config.freqs_code, config.positions_code];
    let codes = codes.map(index::StreamCode::name).join(" ");
    let order = config.order.name();
    let analysis = serde_json::to_string(analysis).expect("strings and numbers are JSON");
    format!("{} / {} / {codes} {order} {FILTERS} / {analysis}", directory.id(), folding.source())
}

/// The pages that become documents.
struct Plan {
    places: Vec<usize>,
    /// For each place, the number of near-duplicates that its page represents.
    copies: Vec<u32>,
    noindex: u64,
    folded: u64,
}

impl Plan {
    fn of(table: &PageTable, folding: &Clusters) -> Self {
        let entries = table.directory().entries();
        let mut plan =
            Self { places: Vec::new(), copies: vec![0; entries.len()], noindex: 0, folded: 0 };
        for (place, entry) in entries.iter().enumerate() {
            let representative = folding.representative(place).unwrap_or(place);
            if entry.noindex {
                plan.noindex += 1;
            } else if representative != place && !entries[representative].noindex {
                plan.copies[representative] += 1;
                plan.folded += 1;
            } else {
                plan.places.push(place);
            }
        }
        plan
    }

    fn report(&self) -> IndexReport {
        IndexReport {
            documents: self.places.len() as u64,
            noindex: self.noindex,
            folded: self.folded,
            ..IndexReport::default()
        }
    }
}

/// Hashes and anchor texts by place, from one pass over all pages.
struct Texts {
    /// For each place, the hash of the page's title, headings, text and language.
    pages: Vec<u64>,
    /// For each place, the hash of its link targets.
    links: Vec<u64>,
    /// For each place, the distinct anchor texts of links to it or to a copy of it. `nofollow` links are left out, as
    /// in the graph.
    anchors: Vec<BTreeSet<String>>,
}

impl Texts {
    fn of(table: &PageTable, folding: &Clusters) -> Result<Self, JobsError> {
        let directory = table.directory();
        let places = directory.resolver();
        let mut anchors = vec![BTreeSet::new(); directory.entries().len()];
        let (mut pages, mut links) = (vec![0; anchors.len()], vec![0; anchors.len()]);
        let mut bytes = vec![0_usize; anchors.len()];
        table.each_live(&mut |from, page| {
            pages[from] = hash(
                [&page.title, &page.headings, &page.text, &page.language].map(String::as_bytes),
            );
            links[from] = hash(page.links.iter().map(|link| link.url.as_bytes()));
            for link in page.links.iter().filter(|link| !link.nofollow) {
                let Some(&target) = places.get(link.url.as_str()) else { continue };
                let place = folding.representative(target as usize).unwrap_or(target as usize);
                let fits = (1..=ANCHOR_LINK_BYTES_MAX).contains(&link.text.len());
                let room = bytes[place] + link.text.len() <= ANCHOR_BYTES_MAX;
                if place != from && fits && room && anchors[place].insert(link.text.clone()) {
                    bytes[place] += link.text.len();
                }
            }
            Ok(())
        })?;
        Ok(Self { pages, links, anchors })
    }

    /// The hash of everything that is indexed for the page at a place.
    fn content(&self, place: usize, copies: u32) -> u64 {
        let of_page = [self.pages[place], self.links[place]].map(u64::to_le_bytes);
        let numbers = [&of_page[0][..], &of_page[1], &copies.to_le_bytes()];
        hash(numbers.into_iter().chain(self.anchors[place].iter().map(String::as_bytes)))
    }
}

/// The hash of a sequence of strings, each prefixed by its length.
fn hash<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = Xxh3::new();
    for bytes in strings {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.digest()
}

/// The texts of a document.
struct Fields {
    record: DocRecord,
    /// In the order of writing. The URL words are last.
    texts: [(Field, String); 5],
    /// Unanalysed terms of the URL field.
    filters: Vec<String>,
}

fn fields(record: DocRecord, page: PageRow, anchors: &BTreeSet<String>) -> Fields {
    let anchors: Vec<&str> = anchors.iter().map(String::as_str).collect();
    let url = Url::parse(&record.url).ok();
    let words = url.as_ref().map_or_else(|| record.url.clone(), url_words);
    let texts = [
        (Field::Title, record.title.clone()),
        (Field::Headings, page.headings),
        (Field::Body, page.text),
        (Field::Anchor, anchors.join("\n")),
        (Field::Url, words),
    ];
    let links = page.links.iter().map(|link| link.url.as_str());
    let filters = filters(url.as_ref(), &record.language, record.date_s, links);
    Fields { record, texts, filters }
}

/// Writes one document: its record and the terms of its fields.
fn add(
    writer: &mut IndexWriter,
    analyzer: &Analyzer,
    terms: &mut TermMaker<'_>,
    fields: &Fields,
) -> Result<(), JobsError> {
    writer.add(&fields.record)?;
    for (field, text) in &fields.texts {
        let term = |word: &str, term: &mut String| term.push_str(terms.term(word));
        let mut words = writer.words(*field, text, term);
        analyzer.words(text, |word, position| words.push(word, position));
    }
    add_filters(writer, &fields.filters);
    Ok(())
}

/// Writes the filters, all at position 0.
fn add_filters(writer: &mut IndexWriter, filters: &[String]) {
    for filter in filters {
        writer.term(Field::Url, filter, 0);
    }
}

/// A document whose texts are analysed.
struct Analysed {
    record: DocRecord,
    fields: [(Field, Vec<usize>); 5],
    /// All terms, concatenated. The field holds the end of each term.
    terms: String,
    filters: Vec<String>,
}

impl Analysed {
    fn of(fields: Fields, analyzer: &Analyzer, terms: &mut TermMaker<'_>) -> Self {
        let mut all = String::new();
        let ends = fields.texts.map(|(field, text)| {
            let mut ends = Vec::new();
            analyzer.words(&text, |word, _| {
                all.push_str(terms.term(&text[word]));
                ends.push(all.len());
            });
            (field, ends)
        });
        Self { record: fields.record, fields: ends, terms: all, filters: fields.filters }
    }

    fn add(&self, writer: &mut IndexWriter) -> Result<(), JobsError> {
        writer.add(&self.record)?;
        let mut start = 0;
        for (field, ends) in &self.fields {
            let as_it_is = |word: &str, term: &mut String| term.push_str(word);
            let mut words = writer.words(*field, &self.terms, as_it_is);
            for (position, &end) in (0..).zip(ends) {
                words.push(start..end, position);
                start = end;
            }
        }
        add_filters(writer, &self.filters);
        Ok(())
    }
}

/// The searchable words of a URL: the whole host, then every word of host, path and query. The analysis alone would
/// keep `www.example.org` as one word.
pub fn url_words(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let rest = format!("{host} {} {}", url.path(), url.query().unwrap_or_default());
    let apart = rest.replace(|letter: char| !letter.is_alphanumeric() && letter != '%', " ");
    format!("{host} {apart}")
}

/// The filters of a document with this URL, language and date, and with links to `links`.
pub fn filters<'a>(
    url: Option<&Url>,
    language: &str,
    date_s: i64,
    links: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut filters = url.map(Filter::of_url).unwrap_or_default();
    if !language.is_empty() {
        filters.push(Filter::Language.term(language));
    }
    filters.extend(Day::of_second(date_s).into_iter().flat_map(Filter::of_day));
    let own = url.map(Url::as_str);
    let targets: BTreeSet<&str> = links.filter(|target| Some(*target) != own).collect();
    filters.extend(targets.into_iter().map(Filter::of_link));
    filters
}

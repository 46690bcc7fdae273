//! Pages to index: every representative page, in the order of the directory.
//!
//! The fields of a document are its title, headings, text, the words of its URL and the text of the
//! links that lead to it. The URL field also holds unanalysed terms for filters: `site::H` for the
//! host and each domain above it, `lang::XX` for the language; no analysed word has two colons.
//!
//! **Invariant.** The index holds exactly the pages that represent a cluster and do not ask to be left
//! out; `Index::source` names the directory, the clusters, the codes and the analysis that it was made from.

use std::collections::BTreeSet;

use index::{DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer, TermMaker, Url};

use crate::rank::write_document_ranks;
use crate::{Collection, Directory, Folding, JobsError, PageRow, PageTable, Progress, Stage};

/// Anchor text kept for one page.
const ANCHOR_BYTES_MAX: usize = 2048;
/// A link with more text than this says nothing in particular about where it leads.
const ANCHOR_LINK_BYTES_MAX: usize = 200;

/// What the stage built.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct IndexReport {
    /// Documents in the index.
    pub documents: u64,
    /// Pages that ask not to be found.
    pub noindex: u64,
    /// Pages that stand behind another.
    pub folded: u64,
    /// The index's generation.
    pub generation: u64,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// Brings the index up to date with the page table and the clusters.
pub fn build_index(
    collection: &Collection,
    config: &index::Config,
    analysis: &AnalysisConfig,
    progress: Progress<'_>,
) -> Result<IndexReport, JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let missing = JobsError::Missing { needs: "the list of duplicates", command: "dedup" };
    let folding = Folding::open(collection, table.directory())?.ok_or(missing)?;
    let plan = Plan::of(&table, &folding);
    let source = full_source(table.directory(), &folding, config, analysis);
    if let Ok(index) = Index::open(&collection.index_dir())
        && index.source() == source
    {
        // A kill may have come between the index and its ranks.
        if !collection.document_ranks_file(&index).is_file() {
            write_document_ranks(collection, &index)?;
        }
        return Ok(plan.report(index.generation(), true));
    }
    let analyzer = Analyzer::build(analysis)?;
    let mut terms = analyzer.term_maker();
    let mut writer = IndexWriter::create(&collection.index_dir(), config)?;
    let anchors = anchors_of(&table, &folding)?;
    let total = plan.places.len() as u64;
    for (done, &place) in (1..).zip(&plan.places) {
        let entry = &table.directory().entries()[place];
        let (url, page) = table.page(entry.pointer)?.ok_or_else(|| JobsError::Damaged {
            path: collection.pages_dir().join("directory"),
            offset: 0,
            what: "it names a page that no part holds".into(),
        })?;
        let record = DocRecord {
            url,
            title: page.title.clone(),
            language: page.language.clone(),
            date_s: entry.date_s,
            page: entry.pointer.pack(),
            copies: plan.copies[place],
        };
        add(&mut writer, &analyzer, &mut terms, &record, &page, &anchors[place])?;
        progress(Stage::Index, done, total);
    }
    let generation = writer.commit(&source)?;
    write_document_ranks(collection, &Index::open(&collection.index_dir())?)?;
    Ok(plan.report(generation, false))
}

/// Whether `index` was made from these pages and these clusters, as the configurations say.
pub fn is_indexed(
    index: &Index,
    directory: &Directory,
    folding: &Folding,
    config: &index::Config,
    analysis: &AnalysisConfig,
) -> bool {
    index.source() == full_source(directory, folding, config, analysis)
}

/// The analysis that `index` was made with: queries must go through the same.
pub fn analysis_of(index: &Index) -> Option<AnalysisConfig> {
    let (_, name) = index.source().split_once(" / {")?;
    serde_json::from_str(&format!("{{{name}")).ok()
}

/// The name of an index's source: pages, clusters, codes, and the analysis as JSON.
fn full_source(
    directory: &Directory,
    folding: &Folding,
    config: &index::Config,
    analysis: &AnalysisConfig,
) -> String {
    let codes = [config.docs_code, config.freqs_code, config.positions_code];
    let codes = codes.map(index::StreamCode::name).join(" ");
    let analysis = serde_json::to_string(analysis).expect("strings and numbers are JSON");
    format!("{} / {} / {codes} / {analysis}", directory.id(), folding.source())
}

/// Which pages become documents.
struct Plan {
    places: Vec<usize>,
    /// For each place, how many pages stand behind it.
    copies: Vec<u32>,
    noindex: u64,
    folded: u64,
}

impl Plan {
    fn of(table: &PageTable, folding: &Folding) -> Self {
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

    fn report(&self, generation: u64, up_to_date: bool) -> IndexReport {
        IndexReport {
            documents: self.places.len() as u64,
            noindex: self.noindex,
            folded: self.folded,
            generation,
            up_to_date,
        }
    }
}

/// For each page the distinct texts of the links that lead to it or to a copy of it; links that the
/// linking page does not vouch for are left out, as they are in the graph.
fn anchors_of(table: &PageTable, folding: &Folding) -> Result<Vec<BTreeSet<String>>, JobsError> {
    let directory = table.directory();
    let places = directory.resolver();
    let mut anchors = vec![BTreeSet::new(); directory.entries().len()];
    let mut bytes = vec![0_usize; anchors.len()];
    table.each_live(&mut |from, page| {
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
    Ok(anchors)
}

/// Writes one document: its record and the terms of its fields.
fn add(
    writer: &mut IndexWriter,
    analyzer: &Analyzer,
    terms: &mut TermMaker<'_>,
    record: &DocRecord,
    page: &PageRow,
    anchors: &BTreeSet<String>,
) -> Result<(), JobsError> {
    writer.add(record)?;
    let anchors: Vec<&str> = anchors.iter().map(String::as_str).collect();
    for (field, text) in [
        (Field::Title, record.title.as_str()),
        (Field::Headings, &page.headings),
        (Field::Body, &page.text),
        (Field::Anchor, &anchors.join("\n")),
    ] {
        put(writer, analyzer, terms, field, text);
    }
    let url = Url::parse(&record.url).ok();
    let words = url.as_ref().map_or_else(|| record.url.clone(), url_words);
    let mut position = put(writer, analyzer, terms, Field::Url, &words);
    for filter in url_filters(url.as_ref(), &record.language) {
        position += 1;
        writer.term(Field::Url, &filter, position);
    }
    Ok(())
}

/// Analyses `text` into `field`; the last position that was used.
fn put(
    writer: &mut IndexWriter,
    analyzer: &Analyzer,
    terms: &mut TermMaker<'_>,
    field: Field,
    text: &str,
) -> u32 {
    let mut last = 0;
    analyzer.words(text, |word, position| {
        writer.word(field, word, position, || terms.term(word));
        last = position;
    });
    last
}

/// What of a URL is worth searching: the host as a whole, then every word of host, path and query. The
/// analysis would take `www.example.org` for one word.
pub fn url_words(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let rest = format!("{host} {} {}", url.path(), url.query().unwrap_or_default());
    let apart = rest.replace(|letter: char| !letter.is_alphanumeric() && letter != '%', " ");
    format!("{host} {apart}")
}

/// The unanalysed terms that `site:` and `lang:` look for.
pub fn url_filters(url: Option<&Url>, language: &str) -> Vec<String> {
    let mut filters = Vec::new();
    // `example.org.` is `example.org`, said with the dot of the root.
    if let Some(host) = url.and_then(Url::host_str).map(|host| host.trim_end_matches('.')) {
        let named = url.is_some_and(|url| url.domain().is_some());
        filters.push(format!("site::{host}"));
        let mut above = host.split_once('.').filter(|_| named);
        while let Some((_, domain)) = above {
            filters.push(format!("site::{domain}"));
            above = domain.split_once('.');
        }
    }
    if !language.is_empty() {
        filters.push(format!("lang::{language}"));
    }
    filters
}

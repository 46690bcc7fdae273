//! tantivy's side: the same corpus in one segment, with frequencies, positions and field norms, nothing
//! stored.
//!
//! Its terms are its own, made by its own tokenizer with a stemmer where Crivello has one, or Crivello's,
//! handed over by an adapter: then both indices hold the same.
//!
//! **Invariant.** Crivello's terms come one at a time from its analysis to tantivy's writer, at their own
//! positions; the adapter gathers nothing.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use page::Analyzer;
use serde_json::{Value, json};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer, Token, TokenStream,
    Tokenizer, TokenizerManager,
};
use tantivy::{Index, SegmentReader, TantivyDocument};

use crate::Result;
use crate::corpus::{Corpus, Document};
use crate::measure::cost;

/// The names of the two tokenizers.
const TEXT: &str = "text";
const URL: &str = "url";
/// Between the words of a URL and its filters, and between these.
const FILTER_MARK: char = '\0';
/// What it may hold in its arena before it asks for another segment, of which this writer has one.
const MEMORY_BYTES: usize = 2 << 30;
/// As in tantivy's own default; Crivello cuts terms at 64.
const TERM_BYTES_MAX: usize = 40;

/// The field of tantivy for one of Crivello's.
pub(crate) fn field(schema: &Schema, field: index::Field) -> Result<Field> {
    Ok(schema.get_field(field.name())?)
}

/// Opens an index of one segment.
pub(crate) fn open(dir: &Path) -> Result<SegmentReader> {
    let index = Index::open_in_dir(dir)?;
    let [segment] = &index.searchable_segments()?[..] else {
        return Err(format!("{} has more than one segment", dir.display()).into());
    };
    Ok(SegmentReader::open(segment)?)
}

pub(crate) fn tokenise(corpus: &Corpus) -> Value {
    let mut analyzer = own(corpus);
    let measured = cost(|| {
        let mut tokens = 0_u64;
        for document in corpus.documents() {
            let Document { title, headings, body, anchors, url_words, .. } = document;
            for text in [title, headings, body, anchors, url_words] {
                let mut stream = analyzer.token_stream(text);
                // Of the stream in the box, as the writer does.
                (*stream).process(&mut |token| {
                    black_box(&token.text);
                    tokens += 1;
                });
            }
        }
        Ok(tokens)
    });
    let (tokens, cost) = measured.expect("nothing in it fails");
    json!({ "tokens": tokens, "text_bytes": corpus.bytes(), "cpu_s": cost.cpu_s })
}

pub(crate) fn build(corpus: &Corpus, with_ours: bool, dir: &Path) -> Result<Value> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    let tokenizers = TokenizerManager::new();
    if with_ours {
        for (name, has_filters) in [(TEXT, false), (URL, true)] {
            let (analyzer, token) = (corpus.analyzer()?, Token::default());
            tokenizers.register(name, TextAnalyzer::from(Ours { analyzer, has_filters, token }));
        }
    } else {
        [TEXT, URL].iter().for_each(|name| tokenizers.register(name, own(corpus)));
    }
    let schema = schema();
    let fields = index::Field::ALL
        .map(|of| field(&schema, of).expect("the schema has a field for each of Crivello's"));
    let builder = Index::builder().schema(schema).tokenizers(tokenizers);
    let ((), cost) = cost(|| {
        let mut writer: SingleSegmentIndexWriter =
            builder.single_segment_index_writer(MmapDirectory::open(dir)?, MEMORY_BYTES)?;
        for document in corpus.documents() {
            writer.add_document(document_of(&document, fields, with_ours))?;
        }
        writer.finalize()?;
        Ok(())
    })?;
    Ok(json!({
        "text_bytes": corpus.bytes(),
        "cpu_s": cost.cpu_s,
        "peak_bytes": cost.peak_bytes,
        "own_bytes": cost.own_bytes,
        "documents": open(dir)?.max_doc(),
        "components": components(dir)?,
    }))
}

fn schema() -> Schema {
    let mut schema = Schema::builder();
    for field in index::Field::ALL {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(if field == index::Field::Url { URL } else { TEXT })
            .set_fieldnorms(true)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let options = TextOptions::default().set_indexing_options(indexing);
        schema.add_text_field(field.name(), options);
    }
    schema.build()
}

/// Fields are in the order of [`index::Field::ALL`].
fn document_of(document: &Document<'_>, fields: [Field; 5], with_ours: bool) -> TantivyDocument {
    let Document { title, headings, body, anchors, url_words, filters, .. } = *document;
    let mark = if with_ours { FILTER_MARK } else { ' ' };
    let mut url = url_words.to_owned();
    for filter in filters.lines() {
        url.push(mark);
        url.push_str(filter);
    }
    let mut out = TantivyDocument::default();
    for (field, text) in fields.into_iter().zip([title, headings, body, &url, anchors]) {
        out.add_text(field, text);
    }
    out
}

/// tantivy's own analysis.
fn own(corpus: &Corpus) -> TextAnalyzer {
    let words = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(TERM_BYTES_MAX))
        .filter(LowerCaser);
    if corpus.is_stemmed() { words.filter(Stemmer::default()).build() } else { words.build() }
}

/// Crivello's analysis as a tokenizer of tantivy.
#[derive(Clone)]
struct Ours {
    analyzer: Analyzer,
    has_filters: bool,
    token: Token,
}

impl Tokenizer for Ours {
    type TokenStream<'a> = OurTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> OurTokens<'a> {
        let apart = text.split_once(FILTER_MARK).filter(|_| self.has_filters);
        let (words, filters) = apart.unwrap_or((text, ""));
        OurTokens { analyzer: &self.analyzer, token: &mut self.token, words, filters }
    }
}

/// Not an iterator but a loop: tantivy's writer asks for all tokens at once.
struct OurTokens<'a> {
    analyzer: &'a Analyzer,
    token: &'a mut Token,
    words: &'a str,
    filters: &'a str,
}

impl TokenStream for OurTokens<'_> {
    fn advance(&mut self) -> bool {
        unreachable!("tantivy's writer calls `process`")
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let token = &mut *self.token;
        token.position = 0;
        self.analyzer.each(self.words, &mut |found| {
            token.text.clear();
            token.text.push_str(found.term);
            (token.offset_from, token.offset_to) = (found.start, found.end);
            token.position = found.position as usize;
            sink(token);
        });
        for filter in self.filters.split(FILTER_MARK).filter(|filter| !filter.is_empty()) {
            token.text.clear();
            token.text.push_str(filter);
            token.position = 0;
            sink(token);
        }
    }
}

/// The bytes of each component of the one segment, by its ending.
fn components(dir: &Path) -> Result<BTreeMap<String, u64>> {
    let mut bytes = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if let Some(ending) = path.extension().filter(|ending| *ending != "json" && !is_hidden) {
            bytes.insert(ending.to_string_lossy().into_owned(), entry.metadata()?.len());
        }
    }
    Ok(bytes)
}

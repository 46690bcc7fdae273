//! Documents as JSONL: one object a line.
//!
//! What lives here: reading and checking them. What does not: what becomes of them (`import.rs`).
//!
//! **Invariant.** A fault of a document is told with file and line; a field that is ours but for a letter is one.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use archive::Unpacked;
use page::PageError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

/// What a line of JSONL is like.
const SHAPE: &str =
    "write {\"id\": \"1\", \"url\": \"http://…\", \"title\": \"…\", \"text\": \"…\"}";
/// A line of JSONL is at most this long.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// The name of a document is at most this long: it stands in the headers of its record.
const ID_BYTES_MAX: usize = 1 << 15;

/// A document as JSONL gives it, with values of any kind.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    url: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    text: Value,
    /// What else the line has.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// A document as the archive keeps it.
#[derive(Serialize)]
pub(super) struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    pub(super) title: String,
    pub(super) text: Option<String>,
    /// What else the line has.
    #[serde(skip)]
    pub(super) others: BTreeMap<String, Value>,
}

impl Document {
    /// A document that has no address.
    pub(super) fn named(id: String, title: String, text: String) -> Self {
        Self { id: Some(id), url: None, title, text: Some(text), others: BTreeMap::new() }
    }

    fn read(line: &[u8]) -> Result<Document> {
        anyhow::ensure!(
            !line.trim_ascii().is_empty(),
            "the line is empty: delete it, every line is a document"
        );
        if let Err(error) = std::str::from_utf8(line) {
            let at = error.valid_up_to();
            bail!(
                "byte {} ({:02X}) is not UTF-8: convert the file, as by `iconv -f latin1 -t utf-8` if it is Latin-1",
                at + 1,
                line[at]
            );
        }
        if !line.trim_ascii_start().starts_with(b"{")
            && let Ok(value) = serde_json::from_slice::<Value>(line)
        {
            bail!("the line is {}, and must be an object: {SHAPE}", kind(&value));
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| in_words(&error))?;
        let id = match line.id {
            // Some number their documents.
            Value::Number(number) => Some(number.to_string()),
            id => string("id", id, "a string or a number")?,
        };
        let title = string("title", line.title, "a string")?.unwrap_or_default();
        let url = string("url", line.url, "a string")?;
        let text = string("text", line.text, "a string")?;
        Ok(Document { id, url, title, text, others: line.others })
    }

    /// Whether it can be kept, and found again; or what is wrong with it.
    fn check(&self) -> Result<()> {
        let is_named = self.id.as_ref().is_some_and(|id| !id.is_empty());
        let absent = [
            ("id", self.id.is_none()),
            ("url", self.url.is_none()),
            ("title", self.title.is_empty()),
            ("text", self.text.is_none()),
        ];
        let absent = || absent.iter().filter(|(_, is_absent)| *is_absent).map(|(name, _)| *name);
        for other in self.others.keys() {
            if let Some(name) = absent().find(|name| is_misspelt(other, name)) {
                bail!("there is no field {other:?}; did you mean {name:?}?");
            }
        }
        anyhow::ensure!(self.text.is_some(), "a document needs a \"text\"");
        let id_bytes = self.id.as_ref().map_or(0, String::len);
        anyhow::ensure!(
            id_bytes <= ID_BYTES_MAX,
            "the \"id\" has {id_bytes} bytes, at most {ID_BYTES_MAX}: give a shorter one"
        );
        match &self.url {
            Some(url) => match page::normalise(url, None, &page::Limits::default()) {
                Ok(_) => {}
                Err(PageError::UrlTooLong { bytes, bytes_max }) => bail!(
                    "the \"url\" has {bytes} bytes, at most {bytes_max}: give an \"id\" instead"
                ),
                Err(_) => bail!("{url:?} is no web address, such as https://example.org/"),
            },
            None if is_named => {}
            None => bail!("a document needs an \"id\" or a \"url\""),
        }
        Ok(())
    }
}

/// Whether a field is another one but for a letter, or for capitals. Short names are near to too many.
fn is_misspelt(other: &str, name: &str) -> bool {
    let other = other.to_lowercase();
    other == name || name.len() > 3 && strsim::osa_distance(&other, name) == 1
}

/// The string that a field has, if it has a value.
fn string(field: &str, value: Value, wanted: &str) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => bail!("the field {field:?} is {}, and must be {wanted}: {SHAPE}", kind(&other)),
    }
}

/// What a value is, in a word.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Hands over every document of a JSONL file; how many there were.
pub(super) fn each_document(
    file: &Path,
    visit: &mut dyn FnMut(Document) -> Result<()>,
) -> Result<u64> {
    let name = file.display();
    let mut lines = BufReader::new(Unpacked::open(file)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(number - 1);
        }
        if line.len() as u64 == LINE_BYTES_MAX {
            bail!(
                "{name}:{number}: the line is longer than {LINE_BYTES_MAX} bytes: make several documents of it"
            );
        }
        // A byte-order mark is no part of the first document.
        let json = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF") } else { None };
        let document = Document::read(json.unwrap_or(&line));
        let checked = document.and_then(|document| document.check().map(|()| document));
        visit(checked.with_context(|| format!("{name}:{number}"))?)?;
    }
    Ok(0)
}

/// What is wrong with a line, and where in it: that it is one line is known.
fn in_words(error: &serde_json::Error) -> anyhow::Error {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = match (error.classify(), what) {
        (Category::Eof, _) => return anyhow!("the line ends before its object does: {SHAPE}"),
        (_, "trailing characters") => "something follows the object",
        (_, "recursion limit exceeded") => "it is nested too deep",
        (Category::Data, _) => {
            let field = what.split('`').nth(1).unwrap_or(what);
            return anyhow!("the field {field:?} stands there twice");
        }
        // A control character, an escape, a surrogate: what it is, helps.
        (_, what) if what.contains("character") || what.contains("escape") => what,
        _ => "this is no JSON",
    };
    anyhow!("{what}, at byte {}: {SHAPE}", error.column())
}

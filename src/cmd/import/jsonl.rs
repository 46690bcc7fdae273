//! Reads and checks documents in JSONL: one object a line.
//!
//! **Invariant.** An error names the file and the line. A misspelt field is an error.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use archive::Unpacked;
use page::PageError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

/// An example of a line.
const SHAPE: &str =
    "write {\"id\": \"1\", \"url\": \"http://…\", \"title\": \"…\", \"text\": \"…\"}";
/// The longest line.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// The longest name of a document, which goes into the headers of its record.
const ID_BYTES_MAX: usize = 1 << 15;

/// A document of a file, with values of any type.
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
    /// Other fields of the line.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// A document of the archive.
#[derive(Serialize)]
pub(super) struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    pub(super) title: String,
    pub(super) text: Option<String>,
    /// Other fields of the line.
    #[serde(skip)]
    pub(super) others: BTreeMap<String, Value>,
}

impl Document {
    /// A document without an address.
    pub(super) fn named(id: String, title: String, text: String) -> Self {
        Self { id: Some(id), url: None, title, text: Some(text), others: BTreeMap::new() }
    }

    fn read(line: &[u8]) -> Result<Document> {
        anyhow::ensure!(
            !line.trim_ascii().is_empty(),
            "the line is empty; delete it, since every line is a document"
        );
        if let Err(error) = std::str::from_utf8(line) {
            let at = error.valid_up_to();
            bail!(
                "byte {} ({:02X}) is not UTF-8; convert the file: `iconv -f latin1 -t utf-8` for Latin-1",
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
            // Some files number their documents.
            Value::Number(number) => Some(number.to_string()),
            id => string("id", id, "a string or a number")?,
        };
        let title = string("title", line.title, "a string")?.unwrap_or_default();
        let url = string("url", line.url, "a string")?;
        let text = string("text", line.text, "a string")?;
        Ok(Document { id, url, title, text, others: line.others })
    }

    /// Checks that the document can be stored and found again.
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
                Err(_) => bail!("{url:?} is not a web address such as https://example.org/"),
            },
            None if is_named => {}
            None => bail!("a document needs an \"id\" or a \"url\""),
        }
        Ok(())
    }
}

/// Returns whether a field is another one except for a letter or capitals. Short names resemble too many others.
fn is_misspelt(other: &str, name: &str) -> bool {
    let other = other.to_lowercase();
    other == name || name.len() > 3 && strsim::osa_distance(&other, name) == 1
}

/// Returns the string of a field, if it has a value.
fn string(field: &str, value: Value, wanted: &str) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => bail!("the field {field:?} is {}, and must be {wanted}: {SHAPE}", kind(&other)),
    }
}

/// The type of a value in words.
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

/// Calls `visit` with every document of a JSONL file. Returns their number.
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
                "{name}:{number}: the line is longer than {LINE_BYTES_MAX} bytes; split the document"
            );
        }
        // A byte-order mark is not part of the first document.
        let json = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF") } else { None };
        let document = Document::read(json.unwrap_or(&line));
        let checked = document.and_then(|document| document.check().map(|()| document));
        visit(checked.with_context(|| format!("{name}:{number}"))?)?;
    }
    Ok(0)
}

/// The error of a line with its place. The line number is added by the caller.
fn in_words(error: &serde_json::Error) -> anyhow::Error {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = match (error.classify(), what) {
        (Category::Eof, _) => return anyhow!("the line ends before its object does: {SHAPE}"),
        (_, "trailing characters") => "something follows the object",
        (_, "recursion limit exceeded") => "it is nested too deep",
        (Category::Data, _) => {
            let field = what.split('`').nth(1).unwrap_or(what);
            return anyhow!("the field {field:?} is there twice");
        }
        // A control character, an escape or a surrogate: the message of the parser helps.
        (_, what) if what.contains("character") || what.contains("escape") => what,
        _ => "this is not JSON",
    };
    anyhow!("{what}, at byte {}: {SHAPE}", error.column())
}

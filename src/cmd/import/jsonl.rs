//! Documents as JSONL: one object a line.
//!
//! What lives here: reading and checking them. What does not: what becomes of them (`import.rs`).
//!
//! **Invariant.** A fault of a document is told with file and line; a field that is ours but for a letter is one.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use archive::Unpacked;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A line of JSONL is at most this long.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// A document as JSONL gives it and as the archive keeps it.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "name_or_number")]
    pub(super) id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) title: String,
    pub(super) text: Option<String>,
    /// What else the line has.
    #[serde(flatten, skip_serializing)]
    pub(super) others: BTreeMap<String, Value>,
}

impl Document {
    /// A document that has no address.
    pub(super) fn named(id: String, title: String, text: String) -> Self {
        Self { id: Some(id), url: None, title, text: Some(text), others: BTreeMap::new() }
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
        match &self.url {
            Some(url) => {
                page::normalise(url, None, &page::Limits::default())
                    .with_context(|| format!("{url:?} is no web address"))?;
            }
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

/// Some number their documents.
fn name_or_number<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name)),
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(serde::de::Error::custom("an id is a string or a number")),
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
            bail!("{name}:{number}: the line is longer than {LINE_BYTES_MAX} bytes");
        }
        // A byte-order mark is no part of the first document.
        let json = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF") } else { None };
        let document = serde_json::from_slice::<Document>(json.unwrap_or(&line));
        let document = document.map_err(|error| anyhow::anyhow!(in_words(&error)));
        let checked = document.and_then(|document| document.check().map(|()| document));
        visit(checked.with_context(|| format!("{name}:{number}"))?)?;
    }
    Ok(0)
}

/// What is wrong with a line, and where in it: that it is one line is known.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let shape = "a line must be a JSON object such as {\"id\": \"1\", \"url\": \"http://…\", \"title\": \"…\", \
                 \"text\": \"…\"}";
    format!("{shape}: {what}, at byte {}", error.column())
}

//! [`Manifest`]: the file that names the files of a graph, with their lengths and checksums.
//!
//! This module reads and writes the manifest, and verifies files against it.
//!
//! **Invariant.** A manifest that parses is identical to the text written. Its last line is the CRC-32 of all
//! lines before, as [`durable::seal`] writes it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use durable::Seal;

use crate::GraphError;

/// The name of the manifest in the folder of the graph.
pub(crate) const NAME: &str = "manifest";
/// The maximum length of the source.
pub(crate) const SOURCE_BYTES_MAX: usize = 1024;

const TITLE: &str = "crivello graph 2";

/// The contents of the folder of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The number in the names of the files.
    pub(crate) generation: u64,
    /// A line that describes the input of the graph, given by the caller of the build.
    pub(crate) source: String,
    pub(crate) properties: Sum,
    pub(crate) graph: Sum,
    pub(crate) offsets: Sum,
}

/// Length and checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    len: u64,
    crc: u32,
}

impl Sum {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Sum { len: bytes.len() as u64, crc: crc32fast::hash(bytes) }
    }

    /// Reads the file at `path` and verifies its length and checksum.
    pub(crate) fn read(self, path: &Path) -> Result<Vec<u8>, GraphError> {
        let bytes = fs::read(path).map_err(GraphError::io(path))?;
        let found = Sum::of(&bytes);
        if found.len != self.len {
            let reason = format!("the file has {} bytes and should have {}", found.len, self.len);
            let end = found.len.min(self.len);
            return Err(GraphError::Damaged { file: path.to_owned(), offset: end, reason });
        }
        if found.crc != self.crc {
            let reason = format!(
                "the checksum of its {} bytes is {:08x} and should be {:08x}",
                found.len, found.crc, self.crc
            );
            return Err(GraphError::damaged(path, 0, reason));
        }
        Ok(bytes)
    }
}

impl Manifest {
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("{TITLE}\n");
        let mut line = |key: &str, value: &dyn std::fmt::Display| {
            writeln!(text, "{key} {value}").expect("a string takes any text");
        };
        line("generation", &self.generation);
        line("source", &self.source);
        line("properties", &format_args!("{} {:08x}", self.properties.len, self.properties.crc));
        line("graph", &format_args!("{} {:08x}", self.graph.len, self.graph.crc));
        line("offsets", &format_args!("{} {:08x}", self.offsets.len, self.offsets.crc));
        durable::seal(&text)
    }

    /// Reads the manifest at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, GraphError> {
        let bytes = fs::read(path).map_err(GraphError::io(path))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| GraphError::damaged(path, error.valid_up_to(), "not text"))?;
        let manifest = Self::parse(text)
            .map_err(|(offset, reason)| GraphError::damaged(path, offset, reason))?;
        // Only the spelling that this program writes is accepted.
        if manifest.to_text() != text {
            return Err(GraphError::damaged(path, 0, "not spelt as this program spells it"));
        }
        Ok(manifest)
    }

    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let Seal::Good(lines) = durable::unseal(text) else {
            return Err((text.len(), "the checksum does not match"));
        };
        let mut lines = lines.lines();
        if lines.next() != Some(TITLE) {
            return Err((0, "not the title and version of this program"));
        }
        let mut value = |key: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(key));
            line.and_then(|line| line.strip_prefix(' ')).ok_or((0, "a line is missing"))
        };
        let generation = value("generation")?.parse().map_err(|_| (0, "no generation"))?;
        let source = value("source")?.to_owned();
        let mut sum = |key: &str| {
            let (len, crc) = value(key)?.split_once(' ').ok_or((0, "no checksum of a file"))?;
            let len = len.parse().map_err(|_| (0, "no length of a file"))?;
            let crc = u32::from_str_radix(crc, 16).map_err(|_| (0, "no checksum of a file"))?;
            Ok(Sum { len, crc })
        };
        let (properties, graph, offsets) = (sum("properties")?, sum("graph")?, sum("offsets")?);
        Ok(Manifest { generation, source, properties, graph, offsets })
    }
}

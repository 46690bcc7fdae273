//! Sorting of lines in bounded memory.
//!
//! What lives here: [`LineSorter`], an external merge sort. Lines gather in memory. At a limit they are written to an
//! unnamed file as a sorted run, and at the end the runs are merged. What does not: the content of a line
//! (`cdx/mod.rs`).
//!
//! **Invariant.** The output is the input in bytewise order, however often it is read. At most `bytes_max` and the
//! last line are in memory, unless the disk refuses them. The merge takes `RUN_BYTES` for each run. A kill leaves at
//! most a file with a temporary name.
//!
//! Reference: D. E. Knuth, The Art of Computer Programming, volume 3, section 5.4.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use durable::Disk;

use crate::{cdx, disk};

/// Default limit of the memory for lines.
pub(crate) const LINES_BYTES_MAX: usize = 8 << 20;

/// Lines are written in chunks of this size.
pub(crate) const WRITE_BYTES: usize = 64 << 10;

/// Bytes of a run that are read at a time.
const RUN_BYTES: u64 = 64 << 10;

/// Memory of a line in addition to its bytes.
const LINE_BYTES: usize = size_of::<String>() + 16;

/// Lines of a CDXJ file that is not written yet.
pub(crate) struct LineSorter {
    bytes_max: usize,
    here: Vec<String>,
    /// Bytes of memory that they take.
    here_bytes: usize,
    /// At this size the lines in memory are written to a run.
    here_bytes_max: usize,
    /// Bytes of all lines, each with its line break.
    bytes: u64,
    /// The file of the runs, and the byte range of each run.
    away: Option<(File, Vec<Range<u64>>)>,
}

impl Default for LineSorter {
    fn default() -> Self {
        Self::new(LINES_BYTES_MAX)
    }
}

impl LineSorter {
    /// None yet; they are to take so much memory.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let (here, here_bytes, here_bytes_max) = (Vec::new(), 0, bytes_max);
        Self { bytes_max, here, here_bytes, here_bytes_max, bytes: 0, away: None }
    }

    /// Adds a line of the CDXJ file of `warc`. If the disk refuses a run, the lines stay in memory. The run is tried
    /// again after `bytes_max` further bytes.
    pub(crate) fn push(&mut self, disk: &Disk, warc: &Path, line: String) {
        self.bytes += line.len() as u64 + 1;
        self.here_bytes += line.capacity() + LINE_BYTES;
        self.here.push(line);
        if self.here_bytes >= self.here_bytes_max {
            let spilled = self.spill(disk, warc);
            let more = if spilled.is_ok() { 0 } else { self.here_bytes };
            self.here_bytes_max = self.bytes_max.saturating_add(more);
        }
    }

    /// Bytes of all lines, each with its line break.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Moves what is in memory to the file.
    fn spill(&mut self, disk: &Disk, warc: &Path) -> io::Result<()> {
        let (file, runs) = match &mut self.away {
            Some(away) => away,
            none => {
                // Without a descriptor the lines stay in memory, so that the writer of records does not wait for one.
                let create = |path: &Path| disk::create(disk, path);
                let (file, path) = cdx::create_temporary(create, &cdx::path_of(warc))?;
                fs::remove_file(&path)?;
                none.insert((file, Vec::new()))
            }
        };
        // A run that was refused may have left some bytes.
        let start = file.metadata()?.len();
        self.here.sort_unstable();
        let (mut end, mut text) = (start, String::new());
        for (place, line) in self.here.iter().enumerate() {
            text.push_str(line);
            text.push('\n');
            if text.len() >= WRITE_BYTES || place + 1 == self.here.len() {
                disk.write_all(file, text.as_bytes())?;
                end += text.len() as u64;
                text.clear();
            }
        }
        runs.push(start..end);
        (self.here, self.here_bytes) = (Vec::new(), 0);
        Ok(())
    }

    /// Hands every line to `take`, in order.
    pub(crate) fn each(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.here.sort_unstable();
        let mut here = self.here.iter().map(|line| line.as_bytes().to_vec());
        let away =
            self.away.iter().flat_map(|(file, runs)| runs.iter().map(move |run| (file, run)));
        let mut runs: Vec<Run<'_>> = away.map(|(file, run)| Run::new(file, run)).collect();
        let mut first = BinaryHeap::with_capacity(runs.len() + 1);
        for (place, run) in runs.iter_mut().enumerate() {
            first.extend(run.next_line()?.map(|line| Reverse((line, place))));
        }
        first.extend(here.next().map(|line| Reverse((line, runs.len()))));
        while let Some(Reverse((line, place))) = first.pop() {
            take(&line)?;
            let next = match runs.get_mut(place) {
                Some(run) => run.next_line()?,
                None => here.next(),
            };
            first.extend(next.map(|line| Reverse((line, place))));
        }
        Ok(())
    }
}

/// A run that is being read.
struct Run<'a> {
    file: &'a File,
    /// The bytes that are not read yet.
    rest: Range<u64>,
    /// The bytes that were read. `at` is the number of them that were consumed.
    buffer: Vec<u8>,
    at: usize,
}

impl<'a> Run<'a> {
    fn new(file: &'a File, run: &Range<u64>) -> Self {
        Self { file, rest: run.clone(), buffer: Vec::new(), at: 0 }
    }

    /// The next line without its line break; `None` at the end.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let here = &self.buffer[self.at..];
            if let Some(length) = here[searched..].iter().position(|&byte| byte == b'\n') {
                let line = here[..searched + length].to_vec();
                self.at += line.len() + 1;
                return Ok(Some(line));
            }
            if self.rest.is_empty() {
                return Ok(None);
            }
            searched = here.len();
            self.buffer.drain(..self.at);
            self.at = 0;
            let mut file = self.file;
            file.seek(SeekFrom::Start(self.rest.start))?;
            let bytes = RUN_BYTES.min(self.rest.end - self.rest.start);
            let read = file.take(bytes).read_to_end(&mut self.buffer)? as u64;
            if read < bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.rest.start += read;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustix::io::Errno;

    use super::*;

    fn collect(lines: &mut LineSorter) -> Vec<String> {
        let mut found = Vec::new();
        let each = lines.each(&mut |line| {
            found.push(String::from_utf8(line.to_vec()).expect("text"));
            Ok(())
        });
        each.expect("the runs can be read");
        found
    }

    #[test]
    fn missing_descriptors_keep_lines_in_memory_without_waiting() {
        let (mut lines, disk) =
            (LineSorter::new(0), Disk::failing_with(0..u64::MAX, || Errno::MFILE.into()));
        for text in ["b", "c", "a"] {
            lines.push(&disk, Path::new("a.warc.gz"), text.to_owned());
        }
        assert!((1..=3).contains(&disk.calls()), "{} times", disk.calls());
        assert_eq!(collect(&mut lines), ["a", "b", "c"]);
        // With one again they leave it.
        let dir = tempfile::tempdir().expect("a folder");
        let warc = dir.path().join("a.warc.gz");
        for text in ["d".repeat(500), "e".repeat(500)] {
            lines.push(&Disk::default(), &warc, text);
        }
        assert!(lines.away.is_some());
    }

    /// A short one, or one longer than what is read at a time.
    fn text() -> impl Strategy<Value = String> {
        let long = ("[a-c]{2}", 30_000..35_000_usize).prop_map(|(text, times)| text.repeat(times));
        prop_oneof![9 => "[a-c]{0,9}", 1 => long]
    }

    proptest! {
        #[test]
        fn lines_are_sorted_with_any_memory_limit(
            texts in prop::collection::vec(text(), 0..60),
            bytes_max in prop_oneof![Just(0_usize), 1..2_000_usize, Just(LINES_BYTES_MAX)],
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let warc = dir.path().join("a.warc.gz");
            let mut lines = LineSorter::new(bytes_max);
            for text in &texts {
                lines.push(&Disk::default(), &warc, text.clone());
                prop_assert!(lines.here_bytes <= bytes_max);
            }
            let mut sorted = texts.clone();
            sorted.sort_unstable();
            prop_assert_eq!(collect(&mut lines), &sorted[..]);
            prop_assert_eq!(collect(&mut lines), &sorted[..], "again");
            let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
            prop_assert_eq!(lines.bytes(), bytes as u64);
            prop_assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 0);
        }
    }
}

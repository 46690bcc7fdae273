//! The fuzz targets: an index with damaged files is opened and queried in all ways.
//!
//! What lives here: the checks. What does not: the index and its files (`sample_index.rs`, `files.rs`), the damage
//! (`script.rs`) and the queries (`queries.rs`). The tests of this crate and the folder `fuzz/` share these files.
//!
//! **Invariant.** For any bytes, queries end without a panic, in bounded time and memory. Without forged checksums,
//! every answer is right or an error that names a damaged file and an offset, and `verify` finds all damage. With
//! forged checksums, an index that passes `verify` answers everything.

mod files;
mod queries;
mod resources;
mod sample_index;
mod script;

use index::{Index, IndexError};
use queries::{Asked, Question};
use resources::Usage;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) use files::{Files, KIND_COUNT};
pub(crate) use sample_index::{Random, Size};
pub(crate) use script::{OPERATIONS, REPLACE, SEAL};

/// The result of opening and querying an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It does not open.
    Closed,
    /// It opens. Counts the answers and the errors.
    Open { answered: usize, refused: usize },
}

/// An index that is damaged repeatedly.
pub(crate) struct Target {
    /// Only held: the folder is removed with it.
    _folder: TempDir,
    dir: PathBuf,
    files: Files,
    /// The queries, each with its answer on the undamaged index.
    questions: Vec<(Question, u64)>,
}

impl Target {
    /// Builds an index with files of that size.
    pub(crate) fn build(size: Size) -> Target {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("index");
        sample_index::build(&dir, size);
        let asked = Asked::new(Index::open(&dir).expect("sound"));
        asked.verify().expect("sound");
        let answer = |question: Question| {
            let answer = asked.ask(&question).expect("sound");
            (question, answer)
        };
        let questions = asked.questions().into_iter().map(answer).collect();
        Target { files: Files::read(&dir), _folder: folder, dir, questions }
    }

    /// Runs a script of damage and checks the index.
    pub(crate) fn damaged_index(&mut self, bytes: &[u8]) -> Outcome {
        script::run(bytes, &mut self.files);
        self.check()
    }

    /// Replaces the payload of the file named by the first byte, and checks the index.
    pub(crate) fn forged_file(&mut self, bytes: &[u8]) -> Outcome {
        if let Some((&file, payload)) = bytes.split_first() {
            self.files.forge(self.files.choose(file), payload);
        }
        self.check()
    }

    /// For every file, the bytes that forge its own payload.
    pub(crate) fn sound_files(&self) -> Vec<Vec<u8>> {
        let payloads = self.files.payloads();
        payloads.map(|(number, payload)| [&[number], payload].concat()).collect()
    }

    fn check(&mut self) -> Outcome {
        self.files.write();
        let before = Usage::now();
        let outcome = match Index::open(&self.dir) {
            Ok(index) => self.check_answers(&Asked::new(index)),
            Err(error) => {
                self.check_error(&error);
                Outcome::Closed
            }
        };
        before.check();
        self.files.restore();
        outcome
    }

    fn check_answers(&self, asked: &Asked) -> Outcome {
        let verified = asked.verify();
        if let Err(error) = &verified {
            self.check_error(error);
        } else if !self.files.lies() {
            let changed: Vec<_> = self.files.changed().collect();
            assert!(changed.is_empty(), "verified, although {changed:?} are damaged");
        }
        let (mut answered, mut refused) = (0, 0);
        for (question, expected) in &self.questions {
            match asked.ask(question) {
                Ok(answer) if self.files.lies() || answer == *expected => answered += 1,
                Ok(_) => panic!("{question:?} is answered wrongly"),
                Err(error) => {
                    assert!(verified.is_err(), "{question:?}, in a verified index: {error:?}");
                    self.check_error(&error);
                    refused += 1;
                }
            }
        }
        Outcome::Open { answered, refused }
    }

    /// Checks that an error reports damage, in a damaged file and at an offset inside it.
    fn check_error(&self, error: &IndexError) {
        match error {
            IndexError::Damaged { .. } | IndexError::Version { .. } if self.files.lies() => {}
            IndexError::Damaged { file, offset, .. } => {
                let mut changed = self.files.changed();
                let near = changed.any(|(path, bytes)| path == file && *offset <= bytes as u64);
                assert!(near, "{error:?}, but what is damaged is elsewhere");
            }
            error => panic!("not what damage is: {error:?}"),
        }
    }
}

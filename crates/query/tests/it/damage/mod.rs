//! The fuzz targets: an index whose files are damaged is opened and asked everything.
//!
//! What lives here: what is held to be right. What does not: what is damaged (`sound.rs`, `files.rs`), how
//! (`script.rs`), and what is asked (`questions.rs`). The tests of this crate and the folder `fuzz/` share these
//! files.
//!
//! **Invariant.** Whatever the bytes, asking ends, without a panic, in bounded time and memory. If no sum was made
//! to match: every answer is the right one or an error that names a damaged file and a place in it, and `verify`
//! finds any damage. If sums were made to match: an index in which `verify` finds nothing has an answer to
//! everything.

mod files;
mod questions;
mod script;
mod sound;
mod usage;

use index::{Index, IndexError};
use questions::{Asked, Question};
use std::path::PathBuf;
use tempfile::TempDir;
use usage::Usage;

pub(crate) use files::{Files, KIND_COUNT};
pub(crate) use script::{OPERATIONS, REPLACE, SEAL};
pub(crate) use sound::{Random, Size};

/// What became of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It cannot be opened.
    Closed,
    /// It can, and so many questions have an answer, and so many an error.
    Open { answered: usize, refused: usize },
}

/// An index to be damaged again and again.
pub(crate) struct Target {
    /// Held, not used: the folder ends with it.
    _folder: TempDir,
    dir: PathBuf,
    files: Files,
    /// What is asked, and what the answer is while nothing is damaged.
    questions: Vec<(Question, u64)>,
}

impl Target {
    /// With files of that size.
    pub(crate) fn build(size: Size) -> Target {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("index");
        sound::build(&dir, size);
        let asked = Asked::new(Index::open(&dir).expect("sound"));
        asked.verify().expect("sound");
        let answer = |question: Question| {
            let answer = asked.ask(&question).expect("sound");
            (question, answer)
        };
        let questions = asked.questions().into_iter().map(answer).collect();
        Target { files: Files::read(&dir), _folder: folder, dir, questions }
    }

    /// Does what a script says, and asks.
    pub(crate) fn damaged_index(&mut self, bytes: &[u8]) -> Outcome {
        script::run(bytes, &mut self.files);
        self.check()
    }

    /// Puts the bytes in the place of the payload of a file, which the first of them names, and asks.
    pub(crate) fn forged_file(&mut self, bytes: &[u8]) -> Outcome {
        if let Some((&file, payload)) = bytes.split_first() {
            self.files.forge(self.files.choose(file), payload);
        }
        self.check()
    }

    /// For every file the bytes that forge what it is already.
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

    /// An error is damage, and names a file that is damaged, and a byte that it has or had.
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

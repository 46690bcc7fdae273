//! The parsers: threads that archive what was fetched and read what it leads to (W2).
//!
//! What lives here: the loop of one such thread, which has an archive file of its own. What does not:
//! what an answer means (`answer.rs`), how it is archived (`journal.rs`).
//!
//! **Invariant.** A visit is archived before the frontier hears of it. What was archived is on the
//! medium a second later at most, as long as the thread has something to do, and when it ends.

use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveError, WarcWriter, parse_http};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::answer::Answers;
use crate::clock::Clock;
use crate::fetch::{Catch, Fetched};
use crate::journal;
use crate::outcome::{Done, Outcome};

/// How long an archived record may wait to be on the medium.
const SYNC_MS: u64 = 1_000;

/// The name of this stage.
pub(crate) const PARSER: &str = "parser";

/// What the coordinator hears.
pub(crate) enum Event {
    /// A visit is over and archived.
    Done(Box<Done>),
    /// The archive cannot be written.
    Archive(ArchiveError),
    /// A thread or a task ended before its time.
    Lost(&'static str),
}

/// One parsing thread.
pub(crate) struct Parser {
    pub(crate) answers: Arc<Answers>,
    /// `None` if nothing is to be stored.
    pub(crate) archive: Option<WarcWriter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) user_agent: String,
}

impl Parser {
    /// Works until there is nothing more to come, or the archive fails.
    pub(crate) fn run(mut self, fetched: &Receiver<Fetched>, events: &Sender<Event>) {
        let mut dead = Dead { events, stage: PARSER, is_over: false };
        let result = self
            .work(fetched, events)
            .and_then(|()| self.archive.map_or(Ok(()), WarcWriter::finish));
        if let Err(error) = result {
            // If nobody listens any more, the crawl is over anyway.
            let _ = events.send(Event::Archive(error));
        }
        dead.is_over = true;
    }

    fn work(
        &mut self,
        fetched: &Receiver<Fetched>,
        events: &Sender<Event>,
    ) -> Result<(), ArchiveError> {
        let mut synced_ms = self.clock.now_ms();
        let mut is_dirty = false;
        loop {
            let next = if is_dirty {
                fetched.recv_timeout(Duration::from_millis(SYNC_MS))
            } else {
                fetched.recv().map_err(RecvTimeoutError::from)
            };
            match next {
                Ok(fetched) => {
                    let done = self.settle(fetched)?;
                    is_dirty = true;
                    let _ = events.send(Event::Done(Box::new(done)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let now_ms = self.clock.now_ms();
            if is_dirty && now_ms >= synced_ms + SYNC_MS {
                self.archive.as_mut().map_or(Ok(()), WarcWriter::sync)?;
                (is_dirty, synced_ms) = (false, now_ms);
            }
        }
    }

    fn settle(&mut self, fetched: Fetched) -> Result<Done, ArchiveError> {
        let Fetched { visit, finished_ms, date_s, result } = fetched;
        let outcome = match result {
            Ok(Catch::Address(address)) => Outcome::Resolved(address),
            Ok(Catch::Answer(answer)) => {
                let archive = self.archive.as_mut();
                let block =
                    journal::write_answer(archive, &visit, date_s, &self.user_agent, &answer)?;
                let http = parse_http(&block)?;
                let url = visit.url();
                Outcome::Answered(self.answers.read(visit.purpose(), &url, &http, date_s))
            }
            Err(failure) => {
                if let Some(archive) = &mut self.archive {
                    journal::write_failure(archive, &visit, date_s, &failure)?;
                }
                Outcome::Failed(failure)
            }
        };
        Ok(Done { visit, finished_ms, date_s, outcome })
    }
}

/// Tells the coordinator if a thread or a task ends without having said that it is over.
pub(crate) struct Dead<'a> {
    pub(crate) events: &'a Sender<Event>,
    pub(crate) stage: &'static str,
    pub(crate) is_over: bool,
}

impl Drop for Dead<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.events.send(Event::Lost(self.stage));
        }
    }
}

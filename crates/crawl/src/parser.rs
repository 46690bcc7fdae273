//! The parsers: threads that archive what was fetched and read what it leads to (W2).
//!
//! What lives here: the loop of one such thread, which has an archive file of its own and its log of
//! visits. What does not: what an answer means (`answer.rs`), how it is archived (`journal.rs`), what the
//! log is good for (`checkpoint/`).
//!
//! **Invariant.** A visit is archived before the frontier hears of it. What was archived is on the
//! medium a second later at most, as long as the thread has something to do, and when it ends.

use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveError, HttpResponse, WarcWriter, parse_http};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::answer::Answers;
use crate::checkpoint::{Circumstances, LogWriter, Settled};
use crate::clock::Clock;
use crate::fetch::{Answer, Catch, Fetched};
use crate::journal::{self, Entry, Written};
use crate::outcome::{Answered, Done, Failure, Outcome, Visit};
use crate::recrawl::Earlier;

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
    pub(crate) store: Option<Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) user_agent: String,
}

impl Parser {
    /// Works until there is nothing more to come, or the archive fails.
    pub(crate) fn run(mut self, fetched: &Receiver<Fetched>, events: &Sender<Event>) {
        let mut dead = Dead { events, stage: PARSER, is_over: false };
        let mut result = self.work(fetched, events);
        if let Some(mut store) = self.store {
            store.log.try_flush();
            result = result.and_then(|()| store.archive.finish());
        }
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
                if let Some(store) = &mut self.store {
                    store.archive.sync()?;
                    store.log.try_flush();
                }
                (is_dirty, synced_ms) = (false, now_ms);
            }
        }
    }

    fn settle(&mut self, fetched: Fetched) -> Result<Done, ArchiveError> {
        let Fetched { visit, finished_ms, date_s, earlier, result } = fetched;
        let outcome = match result {
            Ok(Catch::Address { address, until_ms }) => Outcome::Resolved { address, until_ms },
            Ok(Catch::Answer(answer)) => {
                let answered = self.read(&visit, date_s, &answer, earlier.as_ref())?;
                let bytes = u64::try_from(answer.body.len()).unwrap_or(u64::MAX);
                Outcome::Answered(Answered { bytes, ..answered })
            }
            Err(failure) => {
                if let Some(store) = &mut self.store {
                    store.keep_failure(&visit, date_s, &failure, &self.answers)?;
                }
                Outcome::Failed(failure)
            }
        };
        Ok(Done { visit, finished_ms, date_s, outcome })
    }

    /// What an answer means; it is archived before, if it is to be.
    fn read(
        &mut self,
        visit: &Visit,
        date_s: i64,
        answer: &Answer,
        earlier: Option<&Earlier>,
    ) -> Result<Answered, ArchiveError> {
        let Some(store) = &mut self.store else {
            let (block, _) = journal::answer_block(answer, &answer.body);
            let http = parse_http(&block)?;
            return Ok(self.answers.read(visit.purpose(), &visit.url(), &http, date_s));
        };
        let (archive, agent) = (&mut store.archive, &self.user_agent);
        let Written { block, location, unchanged } =
            journal::write_answer(archive, visit, date_s, agent, answer, earlier)?;
        let http = parse_http(&block)?;
        let before = earlier.map_or(0, |earlier| earlier.status);
        let circumstances = Entry::of(visit, None).map(|entry| Circumstances {
            url: visit.url(),
            entry,
            date_s,
            location: &location,
            before,
            unchanged,
        });
        Ok(store.log_visit(circumstances, Some(&http), &self.answers).unwrap_or_default())
    }
}

/// Where a parser keeps what it gets.
pub(crate) struct Store {
    pub(crate) archive: WarcWriter,
    pub(crate) log: LogWriter,
}

impl Store {
    fn keep_failure(
        &mut self,
        visit: &Visit,
        date_s: i64,
        failure: &Failure,
        answers: &Answers,
    ) -> Result<(), ArchiveError> {
        let location = journal::write_failure(&mut self.archive, visit, date_s, failure)?;
        let circumstances = Entry::of(visit, Some(failure.kind)).map(|entry| Circumstances {
            url: visit.url(),
            entry,
            date_s,
            location: &location,
            before: 0,
            unchanged: false,
        });
        self.log_visit(circumstances, None, answers);
        Ok(())
    }

    /// Puts a visit that is archived into the log; gives back what its answer means.
    fn log_visit(
        &mut self,
        circumstances: Option<Circumstances<'_>>,
        http: Option<&HttpResponse<'_>>,
        answers: &Answers,
    ) -> Option<Answered> {
        let circumstances = circumstances?;
        let location = circumstances.location;
        let settled = Settled::new(circumstances, http, answers);
        self.log.push(location, &settled);
        settled.answered
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

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

use archive::{ArchiveError, WarcWriter, parse_http};
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
                Outcome::Answered(self.settle_answer(&visit, date_s, &answer, earlier.as_ref())?)
            }
            Err(failure) => {
                if let Some(store) = &mut self.store {
                    store.keep_failure(&visit, date_s, &failure)?;
                }
                Outcome::Failed(failure)
            }
        };
        Ok(Done { visit, finished_ms, date_s, outcome })
    }

    /// Archives an answer, or what it leads to if the filter refuses it, and puts it into the log. One that
    /// was compared with a capture of the archive is archived in any case, since the newest one counts.
    fn settle_answer(
        &mut self,
        visit: &Visit,
        date_s: i64,
        answer: &Answer,
        earlier: Option<&Earlier>,
    ) -> Result<Answered, ArchiveError> {
        let (url, depth) = (visit.url(), visit.page.depth);
        let bytes = u64::try_from(answer.body.len()).unwrap_or(u64::MAX);
        let is_judged = earlier.is_none() && self.answers.may_refuse_to_store(visit.purpose());
        let judged = if is_judged { Some(self.judge(visit, date_s, answer)?) } else { None };
        let is_unstored = judged.as_ref().is_some_and(|judged| judged.is_unstored);
        let read = |http: &_| self.answers.read(visit.purpose(), &url, http, date_s, depth);
        let Some(store) = &mut self.store else {
            let (block, _) = journal::answer_block(answer, &answer.body);
            return Ok(Answered { bytes, ..read(&parse_http(&block)?) });
        };
        let archive = &mut store.archive;
        let Written { block, location, unchanged } = match &judged {
            Some(judged) if is_unstored => Written {
                block: Vec::new(),
                location: journal::write_unstored(archive, visit, date_s, judged)?,
                unchanged: false,
            },
            _ => journal::write_answer(archive, visit, date_s, &self.user_agent, answer, earlier)?,
        };
        let http = if is_unstored { None } else { Some(parse_http(&block)?) };
        let answered = judged.or_else(|| http.as_ref().map(read)).unwrap_or_default();
        let Some(entry) = Entry::of(visit, None) else { return Ok(answered) };
        let (location, before) = (&location, earlier.map_or(0, |earlier| earlier.status));
        let circumstances = Circumstances { url, entry, date_s, location, before, unchanged };
        let settled = Settled::new(circumstances, http.as_ref(), Some(answered));
        store.log.push(location, &settled);
        self.answers.know_body(&settled);
        Ok(Answered { bytes, ..settled.answered.unwrap_or_default() })
    }

    /// What an answer means, and whether it is to be archived.
    fn judge(&self, visit: &Visit, date_s: i64, answer: &Answer) -> Result<Answered, ArchiveError> {
        let (block, _) = journal::answer_block(answer, &answer.body);
        let http = parse_http(&block)?;
        Ok(self.answers.judge(&visit.url(), &http, date_s, visit.page.depth))
    }
}

/// Where a parser keeps what it gets.
pub(crate) struct Store {
    pub(crate) archive: WarcWriter,
    pub(crate) log: LogWriter,
}

impl Store {
    /// Archives that a visit had no answer, and puts it into the log.
    fn keep_failure(
        &mut self,
        visit: &Visit,
        date_s: i64,
        failure: &Failure,
    ) -> Result<(), ArchiveError> {
        let location = journal::write_failure(&mut self.archive, visit, date_s, failure)?;
        if let Some(entry) = Entry::of(visit, Some(failure.kind)) {
            let (url, location) = (visit.url(), &location);
            let (before, unchanged) = (0, false);
            let circumstances = Circumstances { url, entry, date_s, location, before, unchanged };
            self.log.push(location, &Settled::new(circumstances, None, None));
        }
        Ok(())
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

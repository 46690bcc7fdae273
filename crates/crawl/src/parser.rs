//! The parsers: threads that archive each answer and then parse it.
//!
//! What lives here: [`Parser`], which has its own archive file and its own log of visits, and the loop of its
//! thread. The coordinator borrows an idle parser where passing the visit to a thread would take longer than
//! settling it. What does not: what an answer means (`answer.rs`), how it is archived (`journal.rs`), what the log
//! is used for (`checkpoint/`).
//!
//! **Invariant.** A visit is archived before the frontier learns of it. Records reach the disk about a second
//! later. The parser thread syncs them; the coordinator never waits for the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use archive::{ArchiveError, WarcWriter, parse_http};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use tokio::sync::mpsc::UnboundedSender;

use crate::answer::{Answers, Links, Purpose, is_redirect};
use crate::checkpoint::{Circumstances, LogWriter, Settled};
use crate::clock::{Clock, Moment};
use crate::error::CrawlError;
use crate::fetch::{Answer, FetchResult, Fetched};
use crate::journal::{self, Entry, Written};
use crate::outcome::{Answered, Done, Failure, FailureKind, Outcome, Visit};
use crate::recrawl::Earlier;
use crate::robots;

/// How long an archived record may wait to be synced to disk.
const SYNC_MS: u64 = 1_000;

pub(crate) const PARSER: &str = "parser";

/// A message to the coordinator.
pub(crate) enum Event {
    /// A visit ended and is not settled yet.
    Fetched(Box<Fetched>),
    /// A visit is settled: archived and parsed.
    Done(Box<Done>),
    /// The archive cannot be written.
    Archive(ArchiveError),
    /// One visit cannot be made; the others can.
    Unable(CrawlError),
    /// A thread or a task ended unexpectedly.
    Lost(&'static str),
}

pub(crate) type Events = UnboundedSender<Event>;

pub(crate) struct Parser {
    answers: Arc<Answers>,
    /// `None` if nothing is stored.
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    user_agent: String,
    /// When the archive was last synced, and whether it has grown since.
    synced_ms: u64,
    is_dirty: bool,
}

/// The result of settling a visit at once.
pub(crate) enum Here {
    Done(Box<Done>),
    /// The parser was busy; the visit is not settled.
    Busy(Box<Fetched>),
}

/// A parser that its thread and the coordinator share.
pub(crate) struct SharedParser(Mutex<Parser>);

impl SharedParser {
    pub(crate) fn new(parser: Parser) -> SharedParser {
        SharedParser(Mutex::new(parser))
    }

    /// Runs the thread's loop until the channel closes or the archive fails.
    pub(crate) fn run(&self, fetched: &Receiver<Box<Fetched>>, events: &Events) {
        let mut dead = Dead { events, stage: PARSER, is_over: false };
        let result = self.work(fetched, events).and_then(|()| self.lock().finish());
        if let Err(error) = result {
            // If the receiver is gone, the crawl is over anyway.
            let _ = events.send(Event::Archive(error));
        }
        dead.is_over = true;
    }

    /// Settles a visit on the calling thread, unless the parser is busy or about to start a new file. A panic of
    /// the parser is an error here, as it is on its own thread.
    pub(crate) fn settle_here(&self, fetched: Box<Fetched>) -> Result<Here, CrawlError> {
        let Some(mut parser) = self.0.try_lock().ok().filter(|parser| !parser.is_full()) else {
            return Ok(Here::Busy(fetched));
        };
        let settle = AssertUnwindSafe(|| parser.settle(*fetched));
        match catch_unwind(settle) {
            Ok(done) => Ok(Here::Done(Box::new(done?))),
            Err(_) => Err(CrawlError::Lost { stage: PARSER }),
        }
    }

    fn work(&self, fetched: &Receiver<Box<Fetched>>, events: &Events) -> Result<(), ArchiveError> {
        loop {
            match fetched.recv_timeout(Duration::from_millis(SYNC_MS)) {
                Ok(fetched) => {
                    let done = self.lock().settle(*fetched)?;
                    let _ = events.send(Event::Done(Box::new(done)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.lock().sync()?;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Parser> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parser {
    pub(crate) fn new(
        answers: Arc<Answers>,
        store: Option<Store>,
        clock: Arc<dyn Clock>,
        user_agent: String,
    ) -> Parser {
        let synced_ms = clock.now_ms();
        Parser { answers, store, clock, user_agent, synced_ms, is_dirty: false }
    }

    /// Syncs the archive if [`SYNC_MS`] have passed since the last time.
    fn sync(&mut self) -> Result<(), ArchiveError> {
        let now_ms = self.clock.now_ms();
        if self.is_dirty && now_ms >= self.synced_ms + SYNC_MS {
            (self.is_dirty, self.synced_ms) = (false, now_ms);
            if let Some(store) = &mut self.store {
                store.archive.sync()?;
                store.log.try_flush();
            }
        }
        Ok(())
    }

    /// Returns whether the next answer starts a new file.
    fn is_full(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.archive.is_full())
    }

    /// Closes the archive file and flushes the log.
    fn finish(&mut self) -> Result<(), ArchiveError> {
        let Some(mut store) = self.store.take() else { return Ok(()) };
        store.log.try_flush();
        store.archive.finish()
    }

    fn settle(&mut self, fetched: Fetched) -> Result<Done, ArchiveError> {
        let Fetched { mut visit, finished_ms, date, mut earlier, result } = fetched;
        let before = earlier.as_ref().map_or(0, |earlier| earlier.status);
        let was_page = earlier.as_ref().is_some_and(|earlier| earlier.is_page && before == 200);
        // A robots.txt that cannot be decoded to its end may lack any rule: it counts as cut off.
        let result = match result {
            Ok(FetchResult::Answer(answer)) if is_torn_robots(&visit, &answer) => {
                Err(Failure::new(FailureKind::Protocol, "the file cannot be decoded whole"))
            }
            result => result,
        };
        visit.blames_host &= is_of_host(&result);
        let outcome = match result {
            Ok(FetchResult::Addresses { addresses, until_ms }) => {
                Outcome::Resolved { addresses, until_ms }
            }
            Ok(FetchResult::Inconclusive(answer)) => {
                // The head describes the page even if no better answer ever comes.
                if let Some(earlier) = &earlier {
                    self.keep_inconclusive(&of_page(&visit, earlier), date, &answer, earlier)?;
                }
                let bytes = u64::try_from(answer.body.len()).unwrap_or(u64::MAX);
                Outcome::Inconclusive { status: answer.status(), bytes }
            }
            Ok(FetchResult::Uncalled(answer)) => {
                let failure = Failure::uncalled_304();
                let withheld = earlier.as_ref().filter(|page| page.is_withheld_by(&answer));
                if let Some(store) = &mut self.store {
                    let visit =
                        withheld.map_or_else(|| visit.clone(), |page| of_page(&visit, page));
                    store.keep_failure(&visit, date, &failure, withheld)?;
                }
                Outcome::Failed(failure)
            }
            Ok(FetchResult::Answer(answer)) => {
                if visit.page.sitemap {
                    earlier = self.tell_apart(&mut visit, &answer, earlier)?;
                }
                Outcome::Answered(self.settle_answer(&visit, date, &answer, earlier.as_ref())?)
            }
            Err(failure) => {
                let is_over = !visit.goes_on_after(&failure);
                if let Some(store) = self.store.as_mut().filter(|_| is_over) {
                    store.keep_failure(&visit, date, &failure, None)?;
                }
                Outcome::Failed(failure)
            }
        };
        self.is_dirty = true;
        Ok(Done { visit, finished_ms, date, before, was_page, outcome })
    }

    /// Turns the visit of a sitemap into that of a page if the answer is a page. Returns the capture to compare
    /// the answer with.
    fn tell_apart(
        &self,
        visit: &mut Visit,
        answer: &Answer,
        earlier: Option<Earlier>,
    ) -> Result<Option<Earlier>, ArchiveError> {
        let was_page = earlier.as_ref().is_some_and(|earlier| earlier.is_page);
        let is_led_on = answer.status() == 200 || is_redirect(answer.status());
        if was_page && !is_led_on || self.answers.is_page_after_all(&visit.url(), &answer.http()?) {
            // From here on the URL counts as if a link had led to it. If it was a sitemap so far, the page is new.
            (visit.page.sitemap, visit.page.depth) = (false, 0);
            return Ok(earlier.filter(|earlier| earlier.is_page));
        }
        // A page that became a sitemap with the same bytes is not unchanged.
        Ok(earlier.map(|earlier| if was_page { earlier.of_another_kind() } else { earlier }))
    }

    /// Archives an answer and logs it; if the filter refuses the answer, archives only what it leads to. An answer
    /// that was compared with an archived capture is always archived, since the newest capture counts.
    fn settle_answer(
        &mut self,
        visit: &Visit,
        date: Moment,
        answer: &Answer,
        earlier: Option<&Earlier>,
    ) -> Result<Answered, ArchiveError> {
        let (url, depth) = (visit.url(), visit.page.depth);
        let bytes = u64::try_from(answer.body.len()).unwrap_or(u64::MAX);
        let is_judged = earlier.is_none() && self.answers.may_refuse_to_store(visit.purpose());
        let judged = if is_judged { Some(self.judge(visit, date, answer)?) } else { None };
        let is_unstored = judged.as_ref().is_some_and(|judged| judged.is_unstored);
        let took_ms = journal::took_ms(answer);
        let read = |http: &_| {
            let purpose = visit.purpose();
            let answered = self.answers.read(purpose, &url, http, date, depth, Links::Unknown);
            Answered { took_ms, ..answered }
        };
        let Some(store) = &mut self.store else {
            let http = answer.http()?;
            return Ok(Answered { bytes, ..read(&http) });
        };
        let archive = &mut store.archive;
        let Written { block, location, unchanged } = match &judged {
            Some(judged) if is_unstored => Written {
                block: Vec::new(),
                location: journal::write_unstored(archive, visit, date, judged)?,
                unchanged: false,
            },
            _ => journal::write_answer(archive, visit, date, &self.user_agent, answer, earlier)?,
        };
        let http = if is_unstored { None } else { Some(parse_http(&block)?) };
        // The record of an unchanged answer has no body.
        let answered = judged.or_else(|| http.as_ref().map(read)).unwrap_or_default();
        let answered = Answered { bytes, ..answered };
        let Some(entry) = Entry::of(visit, None) else { return Ok(answered) };
        let (location, before) = (&location, earlier.map_or(0, |earlier| earlier.status));
        let refers_to = earlier.filter(|_| unchanged).map(|earlier| earlier.date);
        let circumstances =
            Circumstances { url, entry, date, location, before, unchanged, refers_to };
        let settled = Settled::new(circumstances, http.as_ref(), Some(answered));
        store.log.push(location, &settled);
        self.answers.know_body(&settled);
        Ok(settled.answered.unwrap_or_default())
    }

    /// Archives and logs an answer to a conditional request after which the page still has to be fetched.
    fn keep_inconclusive(
        &mut self,
        visit: &Visit,
        date: Moment,
        answer: &Answer,
        earlier: &Earlier,
    ) -> Result<(), ArchiveError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let Written { block, location, unchanged } = journal::write_answer(
            &mut store.archive,
            visit,
            date,
            &self.user_agent,
            answer,
            Some(earlier),
        )?;
        let Some(entry) = Entry::of(visit, None) else { return Ok(()) };
        let entry = Entry { is_inconclusive: true, ..entry };
        let (url, location, before) = (visit.url(), &location, earlier.status);
        let http = parse_http(&block)?;
        let (purpose, depth) = (visit.purpose(), visit.page.depth);
        let answered = self.answers.read(purpose, &url, &http, date, depth, Links::Unknown);
        let answered = Answered { took_ms: journal::took_ms(answer), ..answered };
        let refers_to = unchanged.then_some(earlier.date);
        let circumstances =
            Circumstances { url, entry, date, location, before, unchanged, refers_to };
        store.log.push(location, &Settled::new(circumstances, Some(&http), Some(answered)));
        Ok(())
    }

    /// Parses an answer, and decides whether to archive it.
    fn judge(
        &self,
        visit: &Visit,
        date: Moment,
        answer: &Answer,
    ) -> Result<Answered, ArchiveError> {
        let http = answer.http()?;
        let judged = self.answers.judge(&visit.url(), &http, date, visit.page.depth);
        let took_ms = judged.retry_after_ms.map_or(0, |_| journal::took_ms(answer));
        Ok(Answered { took_ms, ..judged })
    }
}

/// Returns whether the result can be the fault of the host: status 429 or 5xx, or a failure that may pass. All
/// other answers concern one page.
fn is_of_host(result: &Result<FetchResult, Failure>) -> bool {
    match result {
        Ok(FetchResult::Answer(answer)) => answer.status() == 429 || answer.status() >= 500,
        Ok(_) => false,
        Err(failure) => failure.kind.is_temporary(),
    }
}

/// Returns whether an answer is a robots.txt that cannot be decoded to its end.
fn is_torn_robots(visit: &Visit, answer: &Answer) -> bool {
    let is_file = visit.purpose() == Purpose::Robots && (200..300).contains(&answer.status());
    is_file && answer.http().is_ok_and(|http| robots::text(&http).is_none())
}

/// Returns the visit as one of the kind that its URL was before: an answer without a body refers to the earlier
/// one.
fn of_page(visit: &Visit, earlier: &Earlier) -> Visit {
    let mut visit = visit.clone();
    if visit.page.sitemap && earlier.is_page {
        (visit.page.sitemap, visit.page.depth) = (false, 0);
    }
    visit
}

/// The files that a parser writes.
pub(crate) struct Store {
    pub(crate) archive: WarcWriter,
    pub(crate) log: LogWriter,
}

impl Store {
    /// Archives and logs a failed visit. `withheld` is the page that an unrequested 304 reports as missing.
    fn keep_failure(
        &mut self,
        visit: &Visit,
        date: Moment,
        failure: &Failure,
        withheld: Option<&Earlier>,
    ) -> Result<(), ArchiveError> {
        let archive = &mut self.archive;
        let location = journal::write_failure(archive, visit, date, failure, withheld)?;
        if let Some(entry) = Entry::of(visit, Some(failure.kind)) {
            let (url, location) = (visit.url(), &location);
            let (before, unchanged, refers_to) = (0, false, None);
            let circumstances =
                Circumstances { url, entry, date, location, before, unchanged, refers_to };
            self.log.push(location, &Settled::new(circumstances, None, None));
        }
        Ok(())
    }
}

/// Tells the coordinator if a thread or a task ends without setting `is_over`.
pub(crate) struct Dead<'a> {
    pub(crate) events: &'a Events,
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

//! The stages beside the coordinator: fetchers and parsers.
//!
//! What lives here: starting them, handing a visit to a fetcher, and handing its result to a parser. What does
//! not: the work of the stages (`fetch/`, `parser.rs`).
//!
//! **Invariant.** Every visit comes back as an event, also if its task or its thread ends unexpectedly.

use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle};

use archive::{WarcWriter, WriterOptions};
use crossbeam_channel::{Receiver, Sender};
use hyper::header::CONTENT_ENCODING;
use tokio::task::spawn_blocking;

use super::Dirs;
use crate::checkpoint::VisitLogs;
use crate::config::Config;
use crate::descriptors::Patience;
use crate::error::CrawlError;
use crate::fetch::{FetchResult, Fetched, Fetcher};
use crate::order::FetchMode;
use crate::outcome::{Done, Task, Visit};
use crate::parser::{Dead, Event, Events, Here, PARSER, SharedParser, Store};
use crate::recrawl::{Earlier, LastCaptures};

/// A longer body is left to the parsers even if it comes alone, since it would hold up other visits.
const ALONE_BYTES_MAX: usize = 256 << 10;

/// The other stages, as the coordinator sees them.
pub(super) struct Stages<'a> {
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) known: Option<Arc<LastCaptures>>,
    pub(super) events: Events,
    pub(super) parsers: &'a [SharedParser],
    pub(super) fetched: Sender<Box<Fetched>>,
}

impl Stages<'_> {
    pub(super) fn fetch(&self, visit: Visit) {
        let (fetcher, events) = (Arc::clone(&self.fetcher), self.events.clone());
        // A robots.txt is always fetched unconditionally.
        let known = self.known.clone().filter(|_| visit.task == Task::Page);
        tokio::spawn(async move {
            let mut dead = Dead { events: &events, stage: "fetcher", is_over: false };
            let event = match visit_once(&fetcher, known, visit).await {
                Ok(fetched) => Event::Fetched(Box::new(fetched)),
                Err(error) => Event::Unable(error),
            };
            // The receiver is gone only when the crawl is over.
            let _ = events.send(event);
            dead.is_over = true;
        });
    }

    /// Settles a visit on this thread if that is fastest, or hands it to a parser.
    pub(super) fn settle(
        &self,
        fetched: Box<Fetched>,
        is_alone: bool,
    ) -> Result<Option<Done>, CrawlError> {
        let is_short = match &fetched.result {
            Ok(FetchResult::Answer(answer)) => {
                answer.body.len() <= ALONE_BYTES_MAX
                    && !answer.headers.contains_key(CONTENT_ENCODING)
            }
            Ok(
                FetchResult::Addresses { .. }
                | FetchResult::Inconclusive(_)
                | FetchResult::Uncalled(_),
            )
            | Err(_) => true,
        };
        let mut fetched = fetched;
        if is_alone && is_short && self.fetched.is_empty() {
            for parser in self.parsers {
                match parser.settle_here(fetched)? {
                    Here::Done(done) => return Ok(Some(*done)),
                    Here::Busy(back) => fetched = back,
                }
            }
        }
        // The channel has room for every visit under way. It is closed only when all parsers have failed, and then
        // they have sent events.
        let _ = self.fetched.send(fetched);
        Ok(None)
    }
}

/// Makes a visit, with the earlier capture of its URL.
async fn visit_once(
    fetcher: &Fetcher,
    known: Option<Arc<LastCaptures>>,
    visit: Visit,
) -> Result<Fetched, CrawlError> {
    let mut earlier = None;
    if let Some(known) = known {
        let mut patience = Patience::default();
        loop {
            let (known, url, is_sitemap) = (Arc::clone(&known), visit.url(), visit.page.sitemap);
            // The lookup reads the archive, so it blocks.
            match spawn_blocking(move || known.earlier(&url, is_sitemap)).await {
                Ok(Err(source)) => patience.wait(source).await?,
                Ok(Ok(found)) => break earlier = found,
                Err(_) => break,
            }
        }
    }
    // An earlier page is fetched unconditionally if the URL is now a sitemap and the page can be read as one: its
    // body is needed.
    let is_other = |earlier: &Earlier| visit.page.sitemap && earlier.is_page && earlier.is_listing;
    if visit.page.fetch_mode == FetchMode::Unconditional || earlier.as_ref().is_some_and(is_other) {
        earlier = earlier.map(Earlier::without_condition);
    }
    fetcher.visit(visit, earlier).await
}

pub(super) fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    parser: &'scope SharedParser,
    fetched: Receiver<Box<Fetched>>,
    events: Events,
) -> Result<ScopedJoinHandle<'scope, ()>, CrawlError> {
    std::thread::Builder::new()
        .name(PARSER.to_owned())
        .spawn_scoped(scope, move || parser.run(&fetched, &events))
        .map_err(|source| CrawlError::Start { source })
}

/// Opens the files of a parser; `None` if nothing is stored.
pub(super) fn store(
    dirs: &Dirs,
    config: &Config,
    logs: &VisitLogs,
) -> Result<Option<Store>, CrawlError> {
    if !config.store {
        return Ok(None);
    }
    let options = WriterOptions {
        software: config.user_agent.clone(),
        file_bytes_max: config.archive_file_bytes_max,
        compression: config.compression(),
        taken: logs.named().iter().chain(&dirs.named).cloned().collect(),
    };
    let archive = WarcWriter::create(&dirs.archive, options)?;
    Ok(Some(Store { archive, log: logs.writer() }))
}

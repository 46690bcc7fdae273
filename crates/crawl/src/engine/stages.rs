//! The stages beside the coordinator, as it sees them: fetchers and parsers.
//!
//! What lives here: how a visit comes to a fetcher and what that brings to a parser, and how parsers begin. What does not:
//! what they do (`fetch/`, `parser.rs`).
//!
//! **Invariant.** Every visit that was begun comes back as an event, also if its task or its thread ends before its time.

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
use crate::fetch::{Catch, Fetched, Fetcher};
use crate::order::Manner;
use crate::outcome::{Done, Task, Visit};
use crate::parser::{Dead, Event, Events, Here, PARSER, SharedParser, Store};
use crate::recrawl::{Earlier, LastCaptures};

/// A body longer than this is left to the parsers even if it comes alone: it would hold up the others.
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
    /// Begins a visit.
    pub(super) fn fetch(&self, visit: Visit) {
        let (fetcher, events) = (Arc::clone(&self.fetcher), self.events.clone());
        // robots.txt is always asked for as if it had never been seen.
        let known = self.known.clone().filter(|_| visit.task == Task::Page);
        tokio::spawn(async move {
            let mut dead = Dead { events: &events, stage: "fetcher", is_over: false };
            let event = match visit_once(&fetcher, known, visit).await {
                Ok(fetched) => Event::Fetched(Box::new(fetched)),
                Err(error) => Event::Unable(error),
            };
            // Nobody listens only when all is over.
            let _ = events.send(event);
            dead.is_over = true;
        });
    }

    /// Settles a visit here if that is quickest, or has it settled.
    pub(super) fn settle(
        &self,
        fetched: Box<Fetched>,
        is_alone: bool,
    ) -> Result<Option<Done>, CrawlError> {
        let is_short = match &fetched.result {
            Ok(Catch::Answer(answer)) => {
                answer.body.len() <= ALONE_BYTES_MAX
                    && !answer.headers.contains_key(CONTENT_ENCODING)
            }
            Ok(Catch::Addresses { .. } | Catch::Inconclusive(_) | Catch::Uncalled(_)) | Err(_) => {
                true
            }
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
        // There is room for every visit under way. Nobody listens only when all parsers have failed,
        // and then their events say so.
        let _ = self.fetched.send(fetched);
        Ok(None)
    }
}

/// Makes a visit, with what is known of its URL.
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
            // It reads the archive.
            match spawn_blocking(move || known.earlier(&url, is_sitemap)).await {
                Ok(Err(source)) => patience.wait(source).await?,
                Ok(Ok(found)) => break earlier = found,
                Err(_) => break,
            }
        }
    }
    // What was read as a page is read as a sitemap only with its body; what is none needs none if it is the same.
    let is_other = |earlier: &Earlier| visit.page.sitemap && earlier.is_page && earlier.is_listing;
    if visit.page.manner == Manner::Anyhow || earlier.as_ref().is_some_and(is_other) {
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

/// Where a parser archives; `None` if nothing is to be stored.
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

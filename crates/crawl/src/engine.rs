//! A run: the coordinating thread between the frontier, the fetchers and the parsers.
//!
//! What lives here: [`run`], from the lock to the report. `engine/stages.rs` starts the other stages,
//! `engine/progress.rs` reports to the watcher, `engine/pause.rs` looks for the pause file. The coordinator hands
//! visits of the frontier to the fetchers, which are tasks on its own thread that wait for the network. The
//! answers go to the parsers (`parser.rs`), which are threads, and their results come back to the coordinator.
//! What does not: any decision about a page; the frontier makes those.
//!
//! Waking a thread costs more than parsing a page. So the coordinator itself settles a visit that comes alone.
//! When visits come faster than that, several come at a time, and the parsers get them.
//!
//! **Invariant.** At most `fetchers` visits are under way, so every queue is bounded and a slow stage slows the
//! others down. When [`run`] returns, its threads have ended and everything they archived is synced to disk.

mod pause;
mod progress;
mod stages;

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use archive::Archive;
use crossbeam_channel::bounded;
use page::Url;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep};

use crate::answer::Answers;
use crate::asked::AskedFile;
use crate::checkpoint::VisitLogs;
use crate::clock::Clock;
use crate::config::Config;
use crate::descriptors::Connections;
use crate::error::CrawlError;
use crate::fetch::Fetcher;
use crate::frontier::Frontier;
use crate::guard::Guard;
use crate::halt::Halt;
use crate::inbox::Inbox;
use crate::outcome::Task;
use crate::parser::{Event, PARSER, Parser, SharedParser};
use crate::recrawl::{Epochs, LastCaptures, Wanted};
use crate::replay::{Replay, Replayed};
use crate::report::{Report, Snapshot, known_report, write_report};
use crate::rules::Rules;
use crate::seeds::{Seed, Start, all_seeds, given_seeds, write_seeds};
use crate::settings::Settings;
use crate::standing::PAUSE;
use crate::untold::Untold;

use pause::Pause;
use progress::Progress;
use stages::{Stages, spawn, store};

/// The interval at which the watcher is called and the stop flag is checked.
const WATCH_MS: u64 = 200;

/// How long visits under way may take to end when the crawl is stopped, or its time is over.
const STOP_MS: u64 = 3_000;

/// The folders of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// The archive; the only source of truth.
    pub archive: PathBuf,
    /// The seeds, and working files that every run rebuilds.
    pub frontier: PathBuf,
    /// Names of archive files that other stages know, missing or not. No new file gets such a name.
    pub named: Vec<String>,
}

/// Crawls until all work is done, or `stop` is set.
///
/// `seeds` are added to those of earlier runs, and may be empty if there were any. Pages that earlier runs
/// archived are not fetched again. `watch` is called about five times a second with the current counts.
pub fn run(
    dirs: &Dirs,
    config: &Config,
    seeds: &[String],
    clock: Arc<dyn Clock>,
    stop: &AtomicBool,
    watch: &(dyn Fn(&Snapshot) + Sync),
) -> Result<Report, CrawlError> {
    config.check()?;
    let (started_ms, _lock) = (clock.now_ms(), lock(dirs)?);
    let given = given_seeds(seeds, config)?;
    let seeds = all_seeds(&dirs.frontier, &given)?;
    let urls: Vec<Url> = seeds.iter().map(|seed| seed.url.clone()).collect();
    Guard::new(config, &urls)?.check_contact()?;
    let rules = Rules::new(config, &urls)?;
    let logs = VisitLogs::new(&dirs.frontier, &dirs.archive, config, &urls);
    archive::repair_from(&dirs.archive, &|name| logs.whole(name))?;
    let archive = Archive::open(&dirs.archive)?;
    let (both, now_s) = ((&given[..], &seeds[..]), clock.unix_s());
    let wanted = Wanted::begin(&dirs.frontier, archive.files(), config, both, now_s)?;
    write_seeds(&dirs.frontier, &seeds)?;
    Settings::of(config).write(&dirs.frontier)?;

    let config = Arc::new(config.clone());
    let mut frontier = Frontier::create(&config, &urls, &dirs.frontier)?;
    let end_ms = frontier.begin_time(started_ms);
    // With a depth limit, a known link may still be a shorter path.
    let recent = frontier.recent().filter(|_| config.depth_max == 0);
    let answers = Arc::new(Answers::new(&config, rules.clone(), recent));
    let inbox = Inbox::read(&dirs.frontier, &rules, &config)?;
    inbox.dropped.iter().for_each(|(limit, urls)| frontier.drop_urls(limit, *urls));
    let first = first_urls(&given, &seeds, &inbox, &config);
    let pause = Pause::new(dirs.frontier.join(PAUSE));
    let mut progress = Progress::new(Arc::clone(&clock), watch, started_ms, pause);
    let tick = &mut |frontier: &Frontier| progress.report(frontier);
    let replay_clock = Arc::clone(&clock);
    let replay = Replay {
        dirs,
        config: &config,
        rules: &rules,
        logs: &logs,
        answers: &answers,
        clock: &*replay_clock,
        halt: Halt::at(stop).or_at(&*replay_clock, end_ms),
        given: &given,
        seeds: &seeds,
        wanted: &wanted,
    };
    let mut replayed = replay.run(&mut frontier, &first, tick)?;
    if replayed.is_cut {
        return unread(dirs, &*clock, stop, started_ms);
    }

    // Pages that a sitemap still has to be read for count as known, so `pages_max` does not apply to them.
    if replayed.known.is_some() || replayed.lists > 0 {
        frontier.begin_recrawl();
    }
    let asked = AskedFile::new(&dirs.frontier);
    let mut coordinator = Coordinator { frontier, clock, stop, progress, asked, fetchers: 0 };
    coordinator.progress.report(&coordinator.frontier);
    while !stop.load(Ordering::Relaxed) {
        coordinator.crawl(dirs, &config, &answers, &logs, replayed.known.clone())?;
        let is_ended = coordinator.is_ended();
        let frontier = &mut coordinator.frontier;
        if is_ended || !replay.go_on(frontier)? && !replay.ask_named(frontier, &mut replayed)? {
            break;
        }
    }
    // URLs that a limit kept from being fetched are left to the next run, and so are newly found URLs of sitemaps.
    if coordinator.is_ended() {
        replay.halt.read_on(|| replay.ask_named(&mut coordinator.frontier, &mut replayed))?;
    }
    if replayed.is_recrawl && !coordinator.is_ended() {
        replay.close_recrawls(&coordinator.frontier, &replayed)?;
    }
    replay.count_held(&mut coordinator.frontier)?;
    coordinator.progress.told_ms = None;
    coordinator.progress.report(&coordinator.frontier);
    let open = Epochs::read(&dirs.frontier)?;
    replay.halt.read_on(|| replay.count_missing(&mut replayed, &mut coordinator.frontier))?;
    tell(dirs, coordinator.report(&replayed, &inbox, &open, started_ms))
}

/// Writes the report of a completed run.
fn tell(dirs: &Dirs, report: Report) -> Result<Report, CrawlError> {
    write_report(&dirs.frontier, &report)?;
    Untold::end(&dirs.frontier)?;
    Ok(report)
}

/// Ends a run that did not finish reading the archive of earlier runs. The counts of states are unknown to it.
fn unread(
    dirs: &Dirs,
    clock: &dyn Clock,
    stop: &AtomicBool,
    started_ms: u64,
) -> Result<Report, CrawlError> {
    let interrupted = stop.load(Ordering::Relaxed);
    let report = Report {
        unread: true,
        resumed: true,
        interrupted,
        limit: (!interrupted).then(|| "time_s_max".to_owned()),
        finished_s: clock.unix_s(),
        elapsed_ms: clock.now_ms().saturating_sub(started_ms),
        ..known_report(&dirs.frontier)?.standing()
    };
    write_report(&dirs.frontier, &report)?;
    Ok(report)
}

/// Creates the folders and locks them against a second crawl as long as the file is open.
fn lock(dirs: &Dirs) -> Result<File, CrawlError> {
    for dir in [&dirs.frontier, &dirs.archive] {
        fs::create_dir_all(dir).map_err(|source| CrawlError::Io { path: dir.clone(), source })?;
    }
    let path = dirs.frontier.join("lock");
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|source| CrawlError::Io { path: path.clone(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CrawlError::Busy { path }),
        Err(TryLockError::Error(source)) => Err(CrawlError::Io { path, source }),
    }
}

/// Returns the seeds and the URLs of other agents; with `alone` set, only the given addresses. Sitemaps come
/// first: a URL that is given as a page and as a sitemap is fetched as a sitemap.
fn first_urls(given: &[Seed], seeds: &[Seed], inbox: &Inbox, config: &Config) -> Vec<Start> {
    let seeds = if config.alone && !given.is_empty() { given } else { seeds };
    let mut first: Vec<Start> = seeds.iter().map(Start::from).collect();
    first.extend(inbox.starts.iter().cloned());
    first.sort_by_key(|start| !start.is_sitemap);
    first
}

/// The thread between the stages.
struct Coordinator<'a> {
    frontier: Frontier,
    clock: Arc<dyn Clock>,
    stop: &'a AtomicBool,
    progress: Progress<'a>,
    asked: AskedFile,
    /// Maximum number of visits under way.
    fetchers: usize,
}

impl Coordinator<'_> {
    /// Returns whether the run was stopped, or a limit has ended it.
    fn is_ended(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.frontier.is_cut()
    }

    fn crawl(
        &mut self,
        dirs: &Dirs,
        config: &Arc<Config>,
        answers: &Arc<Answers>,
        logs: &VisitLogs,
        known: Option<Arc<LastCaptures>>,
    ) -> Result<(), CrawlError> {
        let Connections { fetchers, idle } = Connections::share(config);
        self.fetchers = fetchers;
        let (fetched_in, fetched_out) = bounded(fetchers);
        let (events_in, mut events_out) = unbounded_channel();
        let fetcher = Arc::new(Fetcher::new(config, idle, Arc::clone(&self.clock))?);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| CrawlError::Start { source })?;
        let parsers: Vec<SharedParser> = (0..config.parsers)
            .map(|_| {
                let (clock, user_agent) = (Arc::clone(&self.clock), config.user_agent_header());
                let store = store(dirs, config, logs)?;
                let parser = Parser::new(Arc::clone(answers), store, clock, user_agent);
                Ok(SharedParser::new(parser))
            })
            .collect::<Result<_, CrawlError>>()?;
        let ended = std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(parsers.len());
            for parser in &parsers {
                threads.push(spawn(scope, parser, fetched_out.clone(), events_in.clone())?);
            }
            drop(fetched_out);
            let stages = Stages {
                fetcher,
                known,
                events: events_in,
                parsers: &parsers,
                fetched: fetched_in,
            };
            let work = self.work(fetchers, &stages, &mut events_out);
            let result = runtime.block_on(work);
            // When the last sender is gone, the parsers finish their files and end.
            drop(stages);
            runtime.shutdown_timeout(Duration::from_millis(STOP_MS));
            for thread in threads {
                // A thread that panicked has sent an event.
                let _ = thread.join();
            }
            result
        });
        ended.and(self.end(&mut events_out))
    }

    /// Handles the events that arrived while the stages were ending.
    fn end(&mut self, events: &mut UnboundedReceiver<Event>) -> Result<(), CrawlError> {
        if self.frontier.is_asking() {
            self.asked.keep(&*self.clock, self.frontier.owed())?;
        }
        while let Ok(event) = events.try_recv() {
            match event {
                Event::Archive(error) => return Err(error.into()),
                Event::Lost(stage) if stage == PARSER => return Err(CrawlError::Lost { stage }),
                // A parser has archived the visit.
                Event::Done(done) => self.frontier.settle(*done)?,
                // These visits were interrupted before they were archived, so they are made again.
                Event::Lost(_) | Event::Fetched(_) | Event::Unable(_) => {}
            }
        }
        let is_over = !self.frontier.is_asking();
        self.asked.end(&*self.clock, self.frontier.owed(), is_over)?;
        self.frontier.end_run(self.clock.now_ms())
    }

    /// Hands out visits and handles their results.
    async fn work(
        &mut self,
        visits_max: usize,
        stages: &Stages<'_>,
        events: &mut UnboundedReceiver<Event>,
    ) -> Result<(), CrawlError> {
        let mut under_way = 0;
        let mut ended_ms = None;
        let mut heard = Vec::with_capacity(visits_max);
        let mut alarm = pin!(sleep(Duration::ZERO));
        loop {
            let now_ms = self.clock.now_ms();
            if self.frontier.is_time_over(now_ms) || self.stop.load(Ordering::Relaxed) {
                let since_ms = *ended_ms.get_or_insert(now_ms);
                if under_way == 0 || now_ms >= since_ms + STOP_MS {
                    return Ok(());
                }
            }
            let is_held = ended_ms.is_some() || self.progress.pause.look(now_ms);
            while !is_held && under_way < visits_max {
                let now_ms = self.clock.now_ms();
                let Some(visit) = self.frontier.next(now_ms, self.clock.unix_s())? else { break };
                if visit.task != Task::Resolve {
                    self.asked.keep(&*self.clock, self.frontier.owed())?;
                }
                stages.fetch(visit);
                under_way += 1;
            }
            if under_way == 0 && !is_held && self.frontier.is_done() {
                return Ok(());
            }
            self.progress.report(&self.frontier);
            let is_full = under_way >= visits_max;
            let wake_ms = self.frontier.next_ms().filter(|_| !is_full && !is_held);
            let wait_ms = wake_ms.unwrap_or(u64::MAX).saturating_sub(now_ms).clamp(1, WATCH_MS);
            // An early wake-up is harmless, and setting the timer costs more.
            let moment = Instant::now() + Duration::from_millis(wait_ms);
            if alarm.is_elapsed() || moment < alarm.deadline() {
                alarm.as_mut().reset(moment);
            }
            // Takes all available events before the next look at the queues.
            tokio::select! {
                biased;
                _ = events.recv_many(&mut heard, visits_max) => {}
                () = &mut alarm => {}
            }
            if self.frontier.is_asking() {
                self.asked.keep(&*self.clock, self.frontier.owed())?;
            }
            under_way -= self.hear(&mut heard, stages)?;
        }
    }

    /// Handles events; returns how many visits are over.
    fn hear(&mut self, heard: &mut Vec<Event>, stages: &Stages<'_>) -> Result<usize, CrawlError> {
        let is_alone = heard.len() == 1;
        let mut settled = 0;
        for event in heard.drain(..) {
            let done = match event {
                Event::Fetched(fetched) => stages.settle(fetched, is_alone)?,
                Event::Done(done) => Some(*done),
                Event::Archive(error) => return Err(error.into()),
                Event::Unable(error) => return Err(error),
                Event::Lost(stage) => return Err(CrawlError::Lost { stage }),
            };
            if let Some(done) = done {
                self.frontier.settle(done)?;
                settled += 1;
            }
        }
        Ok(settled)
    }

    fn report(&self, replayed: &Replayed, inbox: &Inbox, open: &Epochs, started_ms: u64) -> Report {
        let (now_ms, finished_s) = (self.clock.now_ms(), self.clock.unix_s());
        Report {
            damaged: replayed.damaged,
            damage: replayed.damage.clone(),
            gone: replayed.gone.iter().cloned().collect(),
            shortened: replayed.shortened.iter().cloned().collect(),
            lost: replayed.lost,
            missing: replayed.gaps.pages(),
            missing_kept_out: replayed.kept_out,
            visited: replayed.visited.clone(),
            bad_lines: inbox.bad_lines,
            bad_line: inbox.bad_line.clone(),
            resumed: replayed.resumed,
            interrupted: self.stop.load(Ordering::Relaxed),
            alone: replayed.alone.is_some(),
            recrawled: replayed.known.is_some(),
            recrawl_waits_s: replayed.alone.as_ref().and_then(|alone| open.beside_s(alone)),
            recrawl_unbegun: replayed.unbegun.map(str::to_owned),
            paused_ms: self.progress.pause.total_ms(now_ms),
            fetchers: self.fetchers as u64,
            finished_s,
            elapsed_ms: now_ms.saturating_sub(started_ms),
            ..self.frontier.report()
        }
    }
}

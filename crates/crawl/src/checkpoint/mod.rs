//! The checkpoint of a crawl (W4): a compact log of every visit beside the archive, so that a crawl goes on
//! in seconds without parsing its pages again.
//!
//! What lives here: [`VisitLogs`], the folder `frontier/visits` with one log for each archive file;
//! `row.rs` is what a log keeps of a visit, `file.rs` how it stands on disk, `list.rs` which archive files there are logs
//! of. What does not: what follows
//! from the visits (`replay.rs`).
//!
//! **Invariant.** The archive is the only source of truth. The logs together say the same as the archive
//! up to the bytes that they cover, each of its file; a link that an earlier visit had led to may be left
//! out of a later one. Beyond, and where a log is missing, damaged, of another configuration or of another
//! file, the archive is read and the log made again; all of them, if a file is gone that one was
//! about, or has no more what one tells of. A log that cannot be written costs the next run some time and nothing else.
//!
//! Reference: `docs/formats/frontier.md`.

mod file;
mod list;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use archive::{Archive, ArchiveError};
use page::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::answer::Answers;
use crate::config::{Config, Scope};
use crate::error::CrawlError;
use crate::halt::Halt;
use crate::recrawl::Epochs;
use crate::untold::Untold;

pub(crate) use file::LogWriter;
use file::{Fit, LogReader, LogState, is_log};
use list::Listed;
pub(crate) use row::{Circumstances, Settled};

/// The folder of the logs.
const FOLDER: &str = "visits";

/// The logs of a crawl.
#[derive(Debug, Clone)]
pub(crate) struct VisitLogs {
    dir: PathBuf,
    archive: PathBuf,
    identity: u64,
    /// Files of the archive that the frontier names, though they may be gone.
    named: Vec<String>,
    /// Held by whoever changes the list: parsers begin logs at the same time.
    listing: Arc<Mutex<()>>,
}

impl VisitLogs {
    /// The logs in `frontier` of the files in `archive`, as a crawl with these settings reads them.
    pub(crate) fn new(
        frontier: &Path,
        archive: &Path,
        config: &Config,
        seeds: &[Url],
    ) -> VisitLogs {
        VisitLogs {
            dir: frontier.join(FOLDER),
            archive: archive.to_owned(),
            identity: identity(config, seeds),
            named: named_files(frontier).into_iter().collect(),
            listing: Arc::default(),
        }
    }

    /// The archive files that the frontier named when the run began.
    pub(crate) fn named(&self) -> &[String] {
        &self.named
    }

    /// A writer that keeps up with an archive that is being written.
    pub(crate) fn writer(&self) -> LogWriter {
        LogWriter::new(self.clone())
    }

    /// Where the last record of an archive file begins that the log knows to be whole; 0 if none.
    pub(crate) fn whole(&self, name: &str) -> u64 {
        self.skim(name, &mut |_| ()).map_or(0, |reader| reader.last())
    }

    /// Brings the log of every file of the archive up to date; what is wrong with the first record that could not be read.
    pub(crate) fn complete(
        &self,
        archive: &Archive,
        answers: &Answers,
        halt: &Halt<'_>,
    ) -> Result<Option<ArchiveError>, CrawlError> {
        self.complete_noting(archive, answers, halt, &mut |_| ())
    }

    /// The same; every visit is handed to `note`, and `None` for every other record that is read.
    pub(crate) fn complete_noting(
        &self,
        archive: &Archive,
        answers: &Answers,
        halt: &Halt<'_>,
        note: &mut dyn FnMut(Option<&Settled>),
    ) -> Result<Option<ArchiveError>, CrawlError> {
        fs::create_dir_all(&self.dir).map_err(CrawlError::io(&self.dir))?;
        self.drop_incomplete(archive)?;
        let mut damage = None;
        for name in archive.files() {
            let found = self.complete_one(archive, name, answers, halt, note)?;
            damage = damage.or(found);
        }
        // Without a list the next run would tell again of files that are gone.
        if archive.files().is_empty() && !archive.gone()?.is_empty() {
            list::begin(&self.dir).map_err(CrawlError::io(&list::path(&self.dir)))?;
        }
        Ok(damage)
    }

    /// Removes all logs if a file is gone that one was about, or is not what it was, or if nobody knows: what it told
    /// first the others may not tell. What shows that goes last, first its log and then the list, so that a kill in
    /// between changes nothing. What else stands in the folder is left alone.
    fn drop_incomplete(&self, archive: &Archive) -> Result<(), CrawlError> {
        let list = list::path(&self.dir);
        let own: BTreeSet<PathBuf> = archive.files().iter().map(|name| self.path(name)).collect();
        if let Some(path) = own.iter().chain([&list]).find(|path| path.is_dir()) {
            return Err(CrawlError::InTheWay { path: path.clone() });
        }
        let entries = fs::read_dir(&self.dir).and_then(|entries| {
            entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()
        });
        let mut logs = entries.map_err(CrawlError::io(&self.dir))?;
        logs.retain(|path| own.contains(path) || is_log(path));
        let is_there = |name: &String| archive.files().contains(name);
        let is_listed = match list::read(&self.dir) {
            Listed::Names(names) => names.iter().all(is_there),
            Listed::Nothing | Listed::Unsound => false,
        };
        let misfits = misfits(&self.dir, archive)?;
        let is_misfit = |log: &PathBuf| misfits.iter().any(|(name, _)| self.path(name) == *log);
        let is_whole = is_listed && misfits.is_empty();
        if is_whole && logs.iter().all(|log| own.contains(log)) {
            return Ok(());
        }
        logs.sort_by_key(is_misfit);
        for path in logs {
            fs::remove_file(&path).map_err(CrawlError::io(&path))?;
        }
        match fs::remove_file(&list) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(CrawlError::io(&list)(error))
            }
            _ => Ok(()),
        }
    }

    fn complete_one(
        &self,
        archive: &Archive,
        name: &str,
        answers: &Answers,
        halt: &Halt<'_>,
        note: &mut dyn FnMut(Option<&Settled>),
    ) -> Result<Option<ArchiveError>, CrawlError> {
        let warc = self.archive.join(name);
        let length = fs::metadata(&warc).map_err(CrawlError::io(&warc))?.len();
        let reader = self.skim(name, &mut |settled| note(Some(settled)));
        let covered = reader.as_ref().map_or(0, LogReader::covered);
        let path = self.path(name);
        if let Some(reader) = reader.as_ref().filter(|_| covered == length) {
            return reader.cut_behind(&path).map(|()| None).map_err(CrawlError::io(&path));
        }
        let mut writer = self.writer();
        writer.go_on(name, reader.as_ref()).map_err(CrawlError::io(&path))?;
        let records = match archive.records_from(name, covered) {
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            records => records,
        };
        let mut damage = None;
        for record in records.into_iter().flatten() {
            if halt.is_called() {
                return Ok(damage);
            }
            match record {
                Ok(record) => {
                    let settled = Settled::of_record(&record, answers);
                    note(settled.as_ref());
                    if let Some(settled) = settled {
                        writer.add(&settled).map_err(CrawlError::io(&path))?;
                    }
                }
                Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
                Err(error) => {
                    if let Some(frontier) = self.dir.parent().filter(|_| damage.is_none()) {
                        Untold::keep_damage(frontier, &error.to_string())?;
                    }
                    writer.add_damage();
                    damage = damage.or(Some(error));
                }
            }
        }
        writer.end(length).map_err(CrawlError::io(&path))?;
        Ok(damage)
    }

    /// Hands every visit to `take`, with the place of its file among `archive.files()`; how many records
    /// could not be read. Visits that no log covers are left out.
    pub(crate) fn each(
        &self,
        archive: &Archive,
        halt: &Halt<'_>,
        take: &mut dyn FnMut(usize, Settled) -> Result<(), CrawlError>,
    ) -> Result<u64, CrawlError> {
        let mut damaged = 0;
        for (place, name) in archive.files().iter().enumerate() {
            let Some(mut reader) = self.reader(name) else { continue };
            while let Some(block) = reader.next_block() {
                damaged += u64::from(block.damaged);
                for settled in block.rows {
                    if halt.is_called() {
                        return Ok(damaged);
                    }
                    take(place, settled)?;
                }
            }
        }
        Ok(damaged)
    }

    /// Takes note that there is, or will be, a log of `name`.
    fn enlist(&self, name: &str) -> io::Result<()> {
        let _held = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        list::add(&self.dir, name)
    }

    fn reader(&self, name: &str) -> Option<LogReader> {
        LogReader::open(&self.path(name), &self.archive.join(name), self.identity)
    }

    /// A reader that has come to the end of what is good, with every visit handed to `note`.
    fn skim(&self, name: &str, note: &mut dyn FnMut(&Settled)) -> Option<LogReader> {
        let mut reader = self.reader(name)?;
        while let Some(block) = reader.next_block() {
            block.rows.iter().for_each(&mut *note);
        }
        Some(reader)
    }

    fn path(&self, name: &str) -> PathBuf {
        log_path(&self.dir, name)
    }
}

fn log_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.log"))
}

/// The files of an archive that the list in the folder of the logs names; none if it cannot be believed.
fn listed_files(dir: &Path) -> BTreeSet<String> {
    match list::read(dir) {
        Listed::Names(names) => names,
        Listed::Nothing | Listed::Unsound => BTreeSet::new(),
    }
}

/// The files of an archive that there are logs of.
fn logged_files(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    let logs = entries.map(|entry| entry.path()).filter(|path| is_log(path));
    let names = logs.filter_map(|log| Some(log.file_stem()?.to_str()?.to_owned()));
    names.filter(|name| archive::is_warc_name(name)).collect()
}

/// The files of an archive that are not what their logs tell of, and how.
fn misfits(dir: &Path, archive: &Archive) -> Result<Vec<(String, Fit)>, CrawlError> {
    let mut misfits = Vec::new();
    for name in archive.files() {
        let path = log_path(dir, name);
        if !path.is_file() {
            continue;
        }
        let fit = file::fit(&path, &archive.path(name)?).map_err(CrawlError::io(&path))?;
        if fit != Fit::All {
            misfits.push((name.clone(), fit));
        }
    }
    Ok(misfits)
}

/// The archive files that are gone or have become shorter by the logs of visits, which are to be made anew for that; and those
/// that are so by their CDXJ files, if there is no log, or no list, that would show that a crawl has told of it.
pub(crate) fn newly_lost(
    frontier: &Path,
    archive: &Archive,
) -> Result<BTreeSet<String>, CrawlError> {
    let dir = frontier.join(FOLDER);
    let list = list::read(&dir);
    let is_listed = matches!(list, Listed::Names(_));
    let mut names = match list {
        Listed::Names(names) => names,
        Listed::Nothing | Listed::Unsound => logged_files(&dir),
    };
    names.retain(|name| !archive.files().contains(name));
    let misfits = misfits(&dir, archive)?.into_iter();
    names.extend(misfits.filter_map(|(name, fit)| (fit == Fit::Shorter).then_some(name)));
    let is_told = |name: &String| {
        let is_there = archive.files().contains(name);
        if is_there { log_path(&dir, name).is_file() } else { is_listed }
    };
    names.extend(archive.gone()?.into_iter().filter(|name| !is_told(name)));
    Ok(names)
}

/// Whether archive and logs of visits together tell of every visit there was: not if nobody knows of which files there were
/// logs, nor if a file is gone, or is another, together with its log.
pub(crate) fn tells_all(frontier: &Path, archive: &Archive) -> Result<bool, CrawlError> {
    let dir = frontier.join(FOLDER);
    let Listed::Names(names) = list::read(&dir) else { return Ok(false) };
    for name in names {
        let path = log_path(&dir, &name);
        let is_there = archive.files().contains(&name);
        let is_told = if is_there { Ok(path.is_file()) } else { file::is_sound(&path) };
        if !is_told.map_err(CrawlError::io(&path))? {
            return Ok(false);
        }
    }
    Ok(misfits(&dir, archive)?.iter().all(|(_, fit)| *fit != Fit::Other))
}

/// The archive files that logs of visits in `frontier`, their list, what is still to be told and recrawls that are not over
/// are about, gone or not: none of these names may be given to a new file.
pub fn named_files(frontier: &Path) -> BTreeSet<String> {
    let dir = frontier.join(FOLDER);
    let mut names = listed_files(&dir);
    let logs = fs::read_dir(&dir).into_iter().flatten().filter_map(Result::ok);
    names.extend(
        logs.filter_map(|log| Some(log.file_name().to_str()?.strip_suffix(".log")?.to_owned())),
    );
    names.extend(Epochs::read(frontier).unwrap_or_default().files().cloned());
    names.extend(Untold::kept(frontier).ok().flatten().into_iter().flat_map(Untold::into_names));
    names
}

/// The archive files that are gone or have become shorter, by what is left of them in the archive, by the logs of visits in
/// `frontier`, by what no crawl has told of yet, and by the recrawls that are not over.
pub fn lost_files(frontier: &Path, archive: &Archive) -> Result<BTreeSet<String>, CrawlError> {
    let mut gone = newly_lost(frontier, archive)?;
    gone.extend(archive.gone()?);
    gone.extend(Untold::read(frontier, archive)?.into_names());
    // What is wrong with that file is told by whoever reads it for its own sake.
    let epochs = Epochs::read(frontier).unwrap_or_default();
    gone.extend(epochs.files().filter(|name| !archive.files().contains(name)).cloned());
    Ok(gone)
}

/// Hands the visits to `take` that the log of an archive file tells of, and that it does not have any more; none if there
/// is no log.
pub(crate) fn each_lost(
    frontier: &Path,
    archive: &Archive,
    name: &str,
    take: &mut dyn FnMut(Settled),
) -> Result<(), CrawlError> {
    let left = archive.length(name)?.unwrap_or(0);
    each_logged(frontier, name, &mut |settled| {
        if settled.offset + settled.length.max(1) > left {
            take(settled);
        }
    })
}

/// Hands the visits to `take` that the log of an archive file tells of; none if there is no log.
pub(crate) fn each_logged(
    frontier: &Path,
    name: &str,
    take: &mut dyn FnMut(Settled),
) -> Result<(), CrawlError> {
    let path = log_path(&frontier.join(FOLDER), name);
    match file::each_row(&path, take) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        read => read.map_err(CrawlError::io(&path)),
    }
}

/// What was found of the logs of visits.
#[derive(Debug, Default)]
pub struct VisitLogsFound {
    /// How many there are.
    pub logs: u64,
    /// How many visits they tell of, as far as they are good.
    pub visits: u64,
    /// How many do not tell of their archive file as it is now, so that the next crawl reads that.
    pub behind: u64,
    /// What is wrong, with file and byte.
    pub faults: Vec<CrawlError>,
}

/// Reads the logs of visits in `frontier` of the files in `archive` from the first byte to the last; nothing is changed.
pub fn verify_visit_logs(frontier: &Path, archive: &Path) -> Result<VisitLogsFound, CrawlError> {
    let dir = frontier.join(FOLDER);
    let mut found = VisitLogsFound::default();
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(CrawlError::io(&dir))?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
    let mut paths = paths.map_err(CrawlError::io(&dir))?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "log") && path.is_file());
    paths.sort_unstable();
    for path in paths {
        let warc = archive.join(path.file_stem().unwrap_or_default());
        // Other files are left alone.
        if !is_log(&path) && !warc.is_file() {
            continue;
        }
        found.logs += 1;
        match file::verify(&path, &warc).map_err(CrawlError::io(&path))? {
            LogState::Whole(visits) => found.visits += visits,
            LogState::Behind(visits) => {
                found.visits += visits;
                found.behind += 1;
            }
            LogState::Damaged(offset) => found.faults.push(CrawlError::Log { path, offset }),
        }
    }
    if list::read(&dir) == Listed::Unsound {
        found.faults.push(CrawlError::Log { path: list::path(&dir), offset: 0 });
    }
    Ok(found)
}

/// Tells settings under which pages lead to other links from those under which they lead to the same. A key
/// that is not known to make no difference makes one.
fn identity(config: &Config, seeds: &[Url]) -> u64 {
    let same = Config::default();
    let config = Config {
        contact: same.contact,
        headers: same.headers,
        auth: same.auth,
        cookies_file: same.cookies_file,
        tls_roots: same.tls_roots,
        politeness: same.politeness,
        delay_ms: same.delay_ms,
        burst_requests: same.burst_requests,
        burst_pause_ms: same.burst_pause_ms,
        slice_ms: same.slice_ms,
        relative_factor: same.relative_factor,
        relative_ms_min: same.relative_ms_min,
        relative_ms_max: same.relative_ms_max,
        ip_delay_ms: same.ip_delay_ms,
        crawl_delay_ms_max: same.crawl_delay_ms_max,
        fetchers: same.fetchers,
        parsers: same.parsers,
        idle_connections_max: same.idle_connections_max,
        bytes_max: same.bytes_max,
        time_s_max: same.time_s_max,
        pages_max: same.pages_max,
        pages_per_host_max: same.pages_per_host_max,
        requests_per_host_max: same.requests_per_host_max,
        waiting_per_host_max: same.waiting_per_host_max,
        waiting_max: same.waiting_max,
        waiting_memory_bytes: same.waiting_memory_bytes,
        turn_s_max: same.turn_s_max,
        hosts_max: same.hosts_max,
        connect_timeout_ms: same.connect_timeout_ms,
        timeout_ms: same.timeout_ms,
        body_timeout_ms: same.body_timeout_ms,
        retries: same.retries,
        retry_ms: same.retry_ms,
        retry_after_s_max: same.retry_after_s_max,
        host_failures_max: same.host_failures_max,
        set_aside_s: same.set_aside_s,
        sieve: same.sieve,
        sieve_buffer_keys: same.sieve_buffer_keys,
        sieve_cache_keys: same.sieve_cache_keys,
        sieve_capacity: same.sieve_capacity,
        sieve_precision: same.sieve_precision,
        resolve: same.resolve,
        dns_servers: same.dns_servers,
        dns_ttl_s_min: same.dns_ttl_s_min,
        dns_ttl_s_max: same.dns_ttl_s_max,
        dns_negative_ttl_s_max: same.dns_negative_ttl_s_max,
        dns_names_max: same.dns_names_max,
        http2: same.http2,
        recrawl: same.recrawl,
        recrawl_min_s: same.recrawl_min_s,
        recrawl_max_s: same.recrawl_max_s,
        metrics: same.metrics,
        store: same.store,
        archive_file_bytes_max: same.archive_file_bytes_max,
        archive_compression: same.archive_compression,
        gzip_level: same.gzip_level,
        zstd_level: same.zstd_level,
        ..config.clone()
    };
    let seeds: Vec<&str> = match config.scope {
        Scope::Any => Vec::new(),
        _ => seeds.iter().map(Url::as_str).collect(),
    };
    let text = format!("{} {config:?} {seeds:?}", env!("CARGO_PKG_VERSION"));
    xxh3_64(text.as_bytes())
}

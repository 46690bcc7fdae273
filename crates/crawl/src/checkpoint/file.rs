//! A log on disk: a head, then blocks, each with the stretch of the archive file that it covers.
//!
//! What lives here: reading as far as a log is good, and appending to it. What does not: what a row means.
//!
//! **Invariant.** The blocks that [`LogReader`] gives out follow each other without a gap from the first
//! byte of the archive file, pass their checksums, and end where that file holds the bytes that it held
//! when they were written. [`LogWriter::push`] never fails: the log then ends where it was.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use archive::Location;

use super::VisitLogs;
use super::row::{Rows, Settled, decode};

const MAGIC: [u8; 8] = *b"CRVVISI\x09";
/// Magic, identity, CRC-32.
const FILE_HEAD_BYTES: usize = 20;
const BLOCK_HEAD_BYTES: usize = 52;
/// Rows gather until they are this many bytes.
const BLOCK_BYTES: usize = 64 << 10;
/// The limits of a page keep every row far below this; a block that claims more is damaged.
const BLOCK_BYTES_MAX: u32 = 512 << 20;

/// The head of a block.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// The bytes of the archive file that the block covers.
    from: u64,
    to: u64,
    /// Where the last record begins that it tells of.
    last: u64,
    /// The last eight bytes before `to`: a gzip member ends with its checksum and length, a zstd frame with
    /// its checksum.
    tail: [u8; 8],
    packed: u32,
    unpacked: u32,
    rows: u32,
    damaged: u32,
}

impl Head {
    /// All of it but the checksum.
    fn to_bytes(self) -> [u8; BLOCK_HEAD_BYTES - 4] {
        let mut bytes = [0; BLOCK_HEAD_BYTES - 4];
        let words = [self.from, self.to, self.last, u64::from_le_bytes(self.tail)];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        let numbers = [self.packed, self.unpacked, self.rows, self.damaged];
        for (slot, number) in bytes[32..].chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; BLOCK_HEAD_BYTES]) -> Head {
        let eight = |at: usize| bytes[at..].first_chunk::<8>().copied().unwrap_or_default();
        let four = |at: usize| bytes[at..].first_chunk::<4>().copied().unwrap_or_default();
        Head {
            from: u64::from_le_bytes(eight(0)),
            to: u64::from_le_bytes(eight(8)),
            last: u64::from_le_bytes(eight(16)),
            tail: eight(24),
            packed: u32::from_le_bytes(four(32)),
            unpacked: u32::from_le_bytes(four(36)),
            rows: u32::from_le_bytes(four(40)),
            damaged: u32::from_le_bytes(four(44)),
        }
    }

    /// Whether an archive file of this length holds what it held when the block was written.
    fn fits(self, warc: &File, length: u64) -> bool {
        self.to <= length && tail_of(warc, self.to).is_ok_and(|tail| tail == self.tail)
    }

    fn checksum(self, packed: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.to_bytes());
        hasher.update(packed);
        hasher.finalize()
    }
}

fn file_head(identity: u64) -> [u8; FILE_HEAD_BYTES] {
    let mut head = [0; FILE_HEAD_BYTES];
    head[..8].copy_from_slice(&MAGIC);
    head[8..16].copy_from_slice(&identity.to_le_bytes());
    let sum = crc32fast::hash(&head[..16]);
    head[16..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// Whether a file is a log, of this version or another.
pub(super) fn is_log(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len() - 1];
    let is_named = path.extension().is_some_and(|ending| ending == "log") && path.is_file();
    is_named
        && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && MAGIC.starts_with(&magic)
}

/// The eight bytes of a file before `end`; zeros before its beginning.
fn tail_of(mut file: &File, end: u64) -> io::Result<[u8; 8]> {
    let mut tail = [0; 8];
    let (start, skip) = match end.checked_sub(8) {
        Some(start) => (start, 0),
        None => (0, usize::try_from(8 - end).unwrap_or(8)),
    };
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut tail[skip..])?;
    Ok(tail)
}

/// A block, read.
pub(super) struct Block {
    pub(super) rows: Vec<Settled>,
    pub(super) damaged: u32,
}

/// Reads a log as far as it is good.
pub(super) struct LogReader {
    input: BufReader<File>,
    warc: File,
    warc_length: u64,
    /// Bytes of the archive file covered so far.
    covered: u64,
    last: u64,
    /// Bytes of the log read so far.
    end: u64,
}

impl LogReader {
    /// Opens a log; `None` if there is none of use.
    pub(super) fn open(path: &Path, warc: &Path, identity: u64) -> Option<LogReader> {
        let mut input = BufReader::with_capacity(256 << 10, File::open(path).ok()?);
        let mut head = [0; FILE_HEAD_BYTES];
        input.read_exact(&mut head).ok()?;
        let warc = File::open(warc).ok()?;
        let warc_length = warc.metadata().ok()?.len();
        let end = FILE_HEAD_BYTES as u64;
        (head == file_head(identity)).then_some(LogReader {
            input,
            warc,
            warc_length,
            covered: 0,
            last: 0,
            end,
        })
    }

    /// The next block; `None` where the good ones end.
    pub(super) fn next_block(&mut self) -> Option<Block> {
        let mut bytes = [0; BLOCK_HEAD_BYTES];
        self.input.read_exact(&mut bytes).ok()?;
        let head = Head::from_bytes(&bytes);
        let fits = head.from == self.covered && (head.from..=self.warc_length).contains(&head.to);
        if !fits || head.packed.max(head.unpacked) > BLOCK_BYTES_MAX {
            return None;
        }
        // Grown as bytes come, since the length may be a lie.
        let mut packed = Vec::new();
        let mut input = (&mut self.input).take(u64::from(head.packed));
        input.read_to_end(&mut packed).ok()?;
        let is_whole = packed.len() as u64 == u64::from(head.packed);
        if !is_whole || bytes[48..] != head.checksum(&packed).to_le_bytes() {
            return None;
        }
        if tail_of(&self.warc, head.to).ok()? != head.tail {
            return None;
        }
        let unpacked = usize::try_from(head.unpacked).ok()?;
        let rows = lz4_flex::decompress(&packed, unpacked).ok()?;
        let rows = decode(&rows, head.rows)?;
        (self.covered, self.last) = (head.to, head.last);
        self.end += (BLOCK_HEAD_BYTES + packed.len()) as u64;
        Some(Block { rows, damaged: head.damaged })
    }

    /// Cuts off what stands in the log behind the last good block, where the reader has come to.
    pub(super) fn cut_behind(&self, path: &Path) -> io::Result<()> {
        if self.input.get_ref().metadata()?.len() > self.end {
            File::options().write(true).open(path)?.set_len(self.end)?;
        }
        Ok(())
    }

    pub(super) fn covered(&self) -> u64 {
        self.covered
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }
}

/// How a log is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogState {
    /// It covers its archive file as it is now, with so many visits.
    Whole(u64),
    /// It is sound, but of another version, or tells of another file than there is now, or of less; so many visits.
    Behind(u64),
    /// From this byte on it is no log.
    Damaged(u64),
}

/// Reads a log from its first byte to its last, whatever its settings.
pub(super) fn verify(path: &Path, warc: &Path) -> io::Result<LogState> {
    let mut input = BufReader::with_capacity(256 << 10, File::open(path)?);
    let mut head = Vec::new();
    (&mut input).take(FILE_HEAD_BYTES as u64).read_to_end(&mut head)?;
    let &[.., a, b, c, d] = head.as_slice() else { return Ok(LogState::Behind(0)) };
    let known = MAGIC.len() - 1;
    if head.len() < FILE_HEAD_BYTES
        || head[..known] == MAGIC[..known] && head[known] != MAGIC[known]
    {
        return Ok(LogState::Behind(0));
    }
    let sum = crc32fast::hash(&head[..FILE_HEAD_BYTES - 4]).to_le_bytes();
    if !head.starts_with(&MAGIC) || sum != [a, b, c, d] {
        return Ok(LogState::Damaged(0));
    }
    let (mut covered, mut visits, mut offset) = (0, 0, FILE_HEAD_BYTES as u64);
    let warc = File::open(warc);
    let length = warc.as_ref().ok().and_then(|warc| warc.metadata().ok()).map(|about| about.len());
    loop {
        let (head, rows) = match next_sound(&mut input, covered)? {
            Sound::Block(head, rows) => (head, rows),
            Sound::End => break,
            Sound::Damage => return Ok(LogState::Damaged(offset)),
        };
        let is_of_now =
            warc.as_ref().is_ok_and(|warc| length.is_some_and(|length| head.fits(warc, length)));
        if !is_of_now {
            return Ok(LogState::Behind(visits));
        }
        covered = head.to;
        visits += rows.len() as u64;
        offset += BLOCK_HEAD_BYTES as u64 + u64::from(head.packed);
    }
    let is_all = length == Some(covered);
    Ok(if is_all { LogState::Whole(visits) } else { LogState::Behind(visits) })
}

/// How an archive file that is there stands to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It has all that the log tells of.
    All,
    /// It has become shorter.
    Shorter,
    /// It is another than it was.
    Other,
}

/// Compares a log, whatever its settings, with its archive file; what is wrong with the log itself tells nothing of that.
pub(super) fn fit(path: &Path, warc: &Path) -> io::Result<Fit> {
    let mut input = BufReader::new(File::open(path)?);
    let mut head = Vec::new();
    (&mut input).take(FILE_HEAD_BYTES as u64).read_to_end(&mut head)?;
    let warc = File::open(warc)?;
    let (length, mut covered) = (warc.metadata()?.len(), 0);
    let (mut bytes, mut offset) = ([0; BLOCK_HEAD_BYTES], FILE_HEAD_BYTES as u64);
    while head.starts_with(&MAGIC) && input.read_exact(&mut bytes).is_ok() {
        let head = Head::from_bytes(&bytes);
        if !head.fits(&warc, length) {
            input.seek(SeekFrom::Start(offset))?;
            let is_sound = matches!(next_sound(&mut input, covered)?, Sound::Block(..));
            let misfit = if head.to > length { Fit::Shorter } else { Fit::Other };
            return Ok(if is_sound { misfit } else { Fit::All });
        }
        (covered, offset) = (head.to, offset + BLOCK_HEAD_BYTES as u64 + u64::from(head.packed));
        input.seek_relative(i64::from(head.packed))?;
    }
    Ok(Fit::All)
}

/// Hands the visits that a log tells of to `take`, as far as it is sound, whatever its settings and though its archive file
/// may be gone.
pub(super) fn each_row(path: &Path, take: &mut dyn FnMut(Settled)) -> io::Result<()> {
    let mut input = BufReader::with_capacity(256 << 10, File::open(path)?);
    let mut head = Vec::new();
    (&mut input).take(FILE_HEAD_BYTES as u64).read_to_end(&mut head)?;
    let mut covered = 0;
    while head.starts_with(&MAGIC)
        && let Sound::Block(head, rows) = next_sound(&mut input, covered)?
    {
        covered = head.to;
        rows.into_iter().for_each(&mut *take);
    }
    Ok(())
}

/// Whether a log is there and can be read from its first byte to its last, whatever its settings.
pub(super) fn is_sound(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let mut input = BufReader::with_capacity(256 << 10, file);
    let mut head = Vec::new();
    (&mut input).take(FILE_HEAD_BYTES as u64).read_to_end(&mut head)?;
    if head.len() < FILE_HEAD_BYTES || !head.starts_with(&MAGIC) {
        return Ok(false);
    }
    let mut covered = 0;
    loop {
        match next_sound(&mut input, covered)? {
            Sound::Block(head, _) => covered = head.to,
            Sound::End => return Ok(true),
            Sound::Damage => return Ok(false),
        }
    }
}

/// What follows in a log that is read for its own sake.
enum Sound {
    Block(Head, Vec<Settled>),
    End,
    Damage,
}

/// Reads the block that begins where the archive file is covered up to.
fn next_sound(input: &mut BufReader<File>, covered: u64) -> io::Result<Sound> {
    let mut bytes = Vec::new();
    input.take(BLOCK_HEAD_BYTES as u64).read_to_end(&mut bytes)?;
    let Some(head) = bytes.first_chunk().map(Head::from_bytes) else { return Ok(Sound::End) };
    let mut packed = Vec::new();
    input.take(u64::from(head.packed)).read_to_end(&mut packed)?;
    // A crawl that was killed may have left half a block at the end.
    if (packed.len() as u64) < u64::from(head.packed) && head.packed <= BLOCK_BYTES_MAX {
        return Ok(Sound::End);
    }
    let is_sound = head.from == covered
        && head.packed.max(head.unpacked) <= BLOCK_BYTES_MAX
        && bytes[48..] == head.checksum(&packed).to_le_bytes();
    let unpacked = usize::try_from(head.unpacked).ok().filter(|_| is_sound);
    let rows = unpacked.and_then(|unpacked| lz4_flex::decompress(&packed, unpacked).ok());
    let rows = rows.and_then(|rows| decode(&rows, head.rows));
    Ok(rows.map_or(Sound::Damage, |rows| Sound::Block(head, rows)))
}

/// Appends to the log of the archive file that is being written, and begins another with the next file.
pub(crate) struct LogWriter {
    logs: VisitLogs,
    current: Option<Current>,
}

struct Current {
    name: String,
    /// `None` once it could not be written.
    files: Option<Files>,
    from: u64,
    to: u64,
    last: u64,
    damaged: u32,
    rows: Rows,
}

struct Files {
    log: File,
    warc: File,
}

impl LogWriter {
    pub(super) fn new(logs: VisitLogs) -> LogWriter {
        LogWriter { logs, current: None }
    }

    /// Takes note of the visit whose last record was just written at `location`.
    pub(crate) fn push(&mut self, location: &Location, settled: &Settled) {
        if self.current.as_ref().is_none_or(|current| current.name != location.file) {
            self.try_flush();
            // Whatever stands under this name tells of a file that is gone.
            let files = self.create(&location.file, 0).ok();
            self.current = Some(Current::new(&location.file, files));
        }
        let pushed = self.add(settled);
        self.forgive(pushed);
    }

    /// Writes what has gathered.
    pub(crate) fn try_flush(&mut self) {
        let flushed = self.flush();
        self.forgive(flushed);
    }

    /// After an error the log ends; the next run reads the archive from there on.
    fn forgive(&mut self, result: io::Result<()>) {
        if let (Err(_), Some(current)) = (result, &mut self.current) {
            current.files = None;
        }
    }

    /// Goes on where the log of `name` ends, by a reader that has come there.
    pub(super) fn go_on(&mut self, name: &str, end: Option<&LogReader>) -> io::Result<()> {
        let files = self.create(name, end.map_or(0, |end| end.end))?;
        let mut current = Current::new(name, Some(files));
        if let Some(end) = end {
            (current.from, current.to, current.last) = (end.covered, end.covered, end.last);
        }
        self.current = Some(current);
        Ok(())
    }

    /// Opens the log of `name` and keeps `kept` bytes of it.
    fn create(&self, name: &str, kept: u64) -> io::Result<Files> {
        let path = self.logs.path(name);
        std::fs::create_dir_all(&self.logs.dir)?;
        let warc = File::open(self.logs.archive.join(name))?;
        let mut log = File::options().create(true).truncate(false).write(true).open(path)?;
        log.set_len(kept)?;
        log.seek(SeekFrom::End(0))?;
        if kept == 0 {
            self.logs.enlist(name)?;
            log.write_all(&file_head(self.logs.identity))?;
        }
        Ok(Files { log, warc })
    }

    pub(super) fn add(&mut self, settled: &Settled) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        if current.files.is_none() {
            return Ok(());
        }
        current.rows.push(settled);
        current.last = settled.offset;
        // A record that shares its gzip member with others is no place to go on from.
        if settled.length > 0 {
            current.to = settled.offset + settled.length;
            if current.rows.bytes.len() >= BLOCK_BYTES {
                return current.flush();
            }
        }
        Ok(())
    }

    pub(super) fn add_damage(&mut self) {
        if let Some(current) = &mut self.current {
            current.damaged = current.damaged.saturating_add(1);
        }
    }

    /// Writes what has gathered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.current.as_mut().map_or(Ok(()), Current::flush)
    }

    /// Writes what has gathered; it covers the archive file up to its end.
    pub(super) fn end(&mut self, length: u64) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.to = length;
        current.write_block()
    }
}

impl Current {
    fn new(name: &str, files: Option<Files>) -> Current {
        let (from, to, last, damaged) = (0, 0, 0, 0);
        Current { name: name.to_owned(), files, from, to, last, damaged, rows: Rows::default() }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.to > self.from { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> io::Result<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let packed = lz4_flex::compress(&self.rows.bytes);
        let narrow = |length: usize| u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge);
        let head = Head {
            from: self.from,
            to: self.to,
            last: self.last,
            tail: tail_of(&files.warc, self.to)?,
            packed: narrow(packed.len())?,
            unpacked: narrow(self.rows.bytes.len())?,
            rows: self.rows.count,
            damaged: self.damaged,
        };
        let mut block = Vec::with_capacity(BLOCK_HEAD_BYTES + packed.len());
        block.extend_from_slice(&head.to_bytes());
        block.extend_from_slice(&head.checksum(&packed).to_le_bytes());
        block.extend_from_slice(&packed);
        files.log.write_all(&block)?;
        self.rows.clear();
        (self.from, self.damaged) = (self.to, 0);
        Ok(())
    }
}

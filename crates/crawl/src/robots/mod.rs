//! robots.txt: the rules of a site for crawlers.
//!
//! What lives here: the parser and the matcher of RFC 9309, with the leniency of Google's published suite. It
//! accepts a missing colon, common misspellings, part of a byte-order mark, and an allowed `/x/index.html` that
//! also allows `/x/`. What does not: fetching the file, and handling a failure to fetch it (`frontier/`).
//!
//! The groups that name our agent are merged; without such a group, the groups of `*` are. Among the lines that
//! match a path the longest pattern wins, and Allow wins a tie. Rules and paths are compared in one spelling
//! ([`canonical`]). The RFC also decodes escapes of ordinary letters (`%62` is `b`) before the comparison, the
//! suite does not. An ambiguous rule forbids: a Disallow matches in either reading, an Allow only in the literal
//! one.
//!
//! **Invariant.** Parsing never fails, reads at most [`BYTES_MAX`] bytes and keeps nothing larger than them.
//!
//! Reference: M. Koster, G. Illyes, H. Zeller, L. Sassman, RFC 9309, 2022.

mod canonical;
mod explanation;
mod pattern;

use std::borrow::Cow;
use std::cmp::Reverse;

use archive::HttpResponse;
use canonical::{Side, spell, undo};
use codes::vbyte;
pub use explanation::{RobotsExplanation, explain_robots};
use pattern::Pattern;

/// Maximum bytes read of a file: the 500 KiB that the RFC requires.
pub(crate) const BYTES_MAX: usize = 500 << 10;

/// Maximum bytes of a line; the rest of a longer one is ignored.
const LINE_BYTES_MAX: usize = 16 << 10;

/// Maximum number of redirects of a robots.txt: the five of the RFC.
pub const ROBOTS_HOPS_MAX: u8 = 5;

/// Maximum number of sitemaps of one file.
const SITEMAPS_MAX: usize = 10_000;

/// Decodes the file in an answer; `None` if it cannot be decoded completely. Then any rule may be missing, so it
/// must forbid everything.
pub(crate) fn text<'a>(http: &HttpResponse<'a>) -> Option<Cow<'a, [u8]>> {
    http.whole_body(BYTES_MAX).ok()
}

/// Maximum characters of a line in a message.
const SHOWN_LETTERS_MAX: usize = 100;

/// Returns the lines of a file, as far as they are read.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = without_mark(bytes.get(..BYTES_MAX).unwrap_or(bytes));
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(rest.len());
        let line = (!rest.is_empty()).then_some(&rest[..end.min(LINE_BYTES_MAX)]);
        let both = rest[end..].starts_with(b"\r\n");
        rest = rest.get(end + 1 + usize::from(both)..).unwrap_or_default();
        line
    })
}

/// Returns a line of a file by its number, from 1, in parentheses; empty if the line does not exist.
pub(crate) fn line_text(bytes: &[u8], number: usize) -> String {
    let text = lines(bytes).nth(number.saturating_sub(1)).map(String::from_utf8_lossy);
    let shown =
        |text: Cow<'_, str>| text.trim().chars().take(SHOWN_LETTERS_MAX).collect::<String>();
    text.map(|text| format!(" ({})", shown(text))).unwrap_or_default()
}

/// The rules of one robots.txt for one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    /// The most specific first, Allow before Disallow: the first that matches decides.
    lines: Vec<Line>,
    crawl_delay_ms: Option<u64>,
    sitemaps: Vec<String>,
}

/// One Allow or Disallow line.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    allow: bool,
    number: usize,
    pattern: Pattern,
    /// A Disallow with its escapes decoded, if that differs from the literal reading.
    undone: Option<Pattern>,
}

/// The result for one path, and the line that decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The deciding line, from 1; `None` if no line matches the path.
    pub line: Option<usize>,
}

impl Robots {
    /// Parses a file for `agent`, which is a bare name such as `crivello`.
    pub fn parse(bytes: &[u8], agent: &str) -> Robots {
        let mut parser = Parser { agent, ..Parser::default() };
        for (at, line) in lines(bytes).enumerate() {
            parser.line(at + 1, line);
        }
        parser.finish()
    }

    /// Returns a file that forbids everything, for one that cannot be decoded.
    pub fn forbid_all() -> Robots {
        Robots::parse(b"User-agent: *\nDisallow: /", "any")
    }

    /// Returns whether `path`, the path and query of a URL, may be fetched.
    pub fn allows(&self, path: &str) -> Verdict {
        let path = if path.is_empty() { "/" } else { path };
        let path = spell(path.as_bytes(), Side::Url);
        let undone_path = undo(&path);
        let forbids = |Line { pattern, undone, .. }: &Line| {
            (undone.is_some() || undone_path.is_some())
                && undone.as_ref().unwrap_or(pattern).matches(undone_path.as_ref().unwrap_or(&path))
        };
        let speaks = |line: &&Line| line.pattern.matches(&path) || !line.allow && forbids(line);
        match self.lines.iter().find(speaks) {
            Some(line) => Verdict { allowed: line.allow, line: Some(line.number) },
            None => Verdict { allowed: true, line: None },
        }
    }

    /// Returns the Crawl-delay for our agent, in milliseconds.
    pub fn crawl_delay_ms(&self) -> Option<u64> {
        self.crawl_delay_ms
    }

    /// Returns the sitemaps that the file names, as written.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Returns whether no line forbids anything.
    pub(crate) fn is_open(&self) -> bool {
        self.lines.iter().all(|line| line.allow)
    }

    /// Returns the maximum number of lines that a path is matched against.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Keeps the lines alone, in as little memory as possible.
    pub(crate) fn into_rules(mut self) -> Robots {
        self.lines.shrink_to_fit();
        Robots { lines: self.lines, ..Robots::default() }
    }

    /// Returns the approximate bytes of memory of the lines.
    pub(crate) fn memory_bytes(&self) -> usize {
        let patterns = |line: &Line| {
            let undone = line.undone.as_ref().map_or(0, Pattern::memory_bytes);
            size_of::<Line>() + line.pattern.memory_bytes() + undone
        };
        self.lines.iter().map(patterns).sum()
    }

    /// Serialises the lines, for a file that only this process reads.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for Line { allow, number, pattern, undone: _ } in &self.lines {
            out.push(u8::from(*allow));
            vbyte::write(&mut out, *number as u64);
            pattern.write(&mut out);
        }
        out
    }

    /// Reads the output of [`Robots::to_bytes`]; other bytes forbid everything.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Robots {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let Some(line) = Line::read(&mut bytes) else { return Robots::forbid_all() };
            lines.push(line);
        }
        Robots { lines, ..Robots::default() }
    }
}

impl Line {
    fn read(bytes: &mut &[u8]) -> Option<Line> {
        let (&allow, rest) = bytes.split_first()?;
        *bytes = rest;
        let number = usize::try_from(vbyte::read(bytes)?).ok()?;
        let pattern = Pattern::read(bytes)?;
        let undone = pattern.undone().filter(|_| allow == 0);
        Some(Line { allow: allow != 0, number, pattern, undone })
    }
}

/// The lines of the groups that may be ours, while the file is parsed.
#[derive(Default)]
struct Parser<'a> {
    agent: &'a str,
    /// Whether the current group is ours, or that of `*`.
    in_ours: bool,
    in_all: bool,
    /// Whether the current group has rules, so that the next user-agent line begins another group.
    in_rules: bool,
    ours: Option<Group>,
    all: Group,
    sitemaps: Vec<String>,
}

#[derive(Default)]
struct Group {
    lines: Vec<Line>,
    crawl_delay_ms: Option<u64>,
}

impl Parser<'_> {
    fn line(&mut self, number: usize, line: &[u8]) {
        let Some((key, value)) = split(line) else { return };
        match Key::of(key) {
            Some(Key::UserAgent) => self.user_agent(value),
            Some(Key::Allow) => self.rule(number, true, value),
            Some(Key::Disallow) => self.rule(number, false, value),
            Some(Key::CrawlDelay) => self.crawl_delay(value),
            Some(Key::Sitemap) if !value.is_empty() && self.sitemaps.len() < SITEMAPS_MAX => {
                self.sitemaps.push(String::from_utf8_lossy(value).into_owned());
            }
            _ => {}
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        if self.in_rules {
            (self.in_ours, self.in_all, self.in_rules) = (false, false, false);
        }
        if let [b'*', rest @ ..] = value
            && rest.first().is_none_or(u8::is_ascii_whitespace)
        {
            self.in_all = true;
            return;
        }
        let letter = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-' || **byte == b'_';
        let name = &value[..value.iter().take_while(letter).count()];
        if !name.is_empty() && name.eq_ignore_ascii_case(self.agent.as_bytes()) {
            self.in_ours = true;
            self.ours.get_or_insert_default();
        }
    }

    fn rule(&mut self, number: usize, allow: bool, value: &[u8]) {
        self.in_rules = true;
        if value.is_empty() {
            return;
        }
        let pattern = Pattern::parse(value);
        let folder = pattern.folder().filter(|_| allow);
        let undone = pattern.undone().filter(|_| !allow);
        let line = Line { allow, number, pattern, undone };
        let folder = folder.map(|pattern| Line { pattern, undone: None, ..line });
        for group in self.groups() {
            group.lines.extend(folder.clone());
            group.lines.push(line.clone());
        }
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        // Some files have a decimal comma; some request more than a lifetime.
        let text = str::from_utf8(value).map(|text| text.replace(',', "."));
        let seconds = text.ok().and_then(|text| text.parse::<f64>().ok());
        let Some(seconds) = seconds.filter(|seconds| *seconds >= 0.0) else { return };
        let seconds = seconds.min(1e9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let delay_ms = (seconds * 1000.0).ceil() as u64;
        for group in self.groups() {
            group.crawl_delay_ms = group.crawl_delay_ms.max(Some(delay_ms));
        }
    }

    /// Returns the groups that the current line belongs to.
    fn groups(&mut self) -> impl Iterator<Item = &mut Group> {
        let ours = self.ours.as_mut().filter(|_| self.in_ours);
        ours.into_iter().chain(self.in_all.then_some(&mut self.all))
    }

    fn finish(self) -> Robots {
        let Group { mut lines, crawl_delay_ms } = self.ours.unwrap_or(self.all);
        lines.sort_by_key(|line| (Reverse(line.pattern.len()), Reverse(line.allow)));
        Robots { lines, crawl_delay_ms, sitemaps: self.sitemaps }
    }
}

/// The key of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

impl Key {
    fn of(word: &[u8]) -> Option<Key> {
        Some(match word.to_ascii_lowercase().as_slice() {
            b"user-agent" | b"useragent" | b"user agent" => Key::UserAgent,
            b"allow" => Key::Allow,
            b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => {
                Key::Disallow
            }
            b"crawl-delay" | b"crawldelay" | b"crawl delay" => Key::CrawlDelay,
            b"sitemap" | b"site-map" => Key::Sitemap,
            _ => return None,
        })
    }
}

/// Splits a line into key and value, without comment and white space. The colon may be missing if there are only
/// two words, as in `sitemap http://…`.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
    if let Some(colon) = line.iter().position(|&byte| byte == b':') {
        let (key, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if Key::of(key).is_some() {
            return Some((key, value));
        }
    }
    let (key, value) = line.split_at(line.iter().position(u8::is_ascii_whitespace)?);
    let value = value.trim_ascii();
    (!value.iter().any(u8::is_ascii_whitespace)).then_some((key, value))
}

/// Skips a UTF-8 byte-order mark, or a part of it.
fn without_mark(bytes: &[u8]) -> &[u8] {
    let mark = b"\xEF\xBB\xBF";
    let len = bytes.iter().zip(mark).take_while(|(byte, mark)| byte == mark).count();
    &bytes[len..]
}

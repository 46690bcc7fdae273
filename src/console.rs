//! Output for people: labelled facts, progress and errors.
//!
//! Remarks, progress and errors go to standard error. A command whose answer is a list of facts writes them to
//! standard output ([`Fact::write`]).
//!
//! **Invariant.** Text from elsewhere passes [`plain`] before it is printed, so it cannot move the cursor.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use anyhow::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jobs::Stage;
use serde::{Serialize, Serializer};

/// Columns of a label with the space after it.
const LABEL_COLUMNS: usize = 10;
/// Fewest columns that a text is wrapped to.
const TEXT_COLUMNS_MIN: usize = 20;

/// The progress display on the terminal, if there is one. Other lines are printed above it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// One fact for people: a label and a short text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) text: String,
    /// Whether only `--verbose` shows it.
    pub(crate) is_detail: bool,
}

impl Fact {
    pub(crate) fn new(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), is_detail: false }
    }

    /// A fact that only `--verbose` shows.
    pub(crate) fn detail(label: &'static str, text: impl Into<String>) -> Self {
        Self { is_detail: true, ..Self::new(label, text) }
    }

    /// Writes the fact as part of an answer.
    pub(crate) fn write(&self, out: &mut (impl Write + AsFd)) -> io::Result<()> {
        let text = self.wrapped(columns(&*out));
        writeln!(out, "{text}")
    }

    /// The label, then the text, wrapped to `columns` with a hanging indent.
    fn wrapped(&self, columns: Option<usize>) -> String {
        let wide = |columns: usize| columns.saturating_sub(LABEL_COLUMNS).max(TEXT_COLUMNS_MIN);
        let columns = columns.map_or(usize::MAX, wide);
        let mut out = format!("{:LABEL_COLUMNS$}", self.label);
        let mut used = 0;
        for (place, word) in self.text.split(' ').enumerate() {
            let letters = word.chars().count();
            if used > 0 && used + 1 + letters > columns {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', LABEL_COLUMNS));
                used = 0;
            } else if place > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += letters;
        }
        out
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.label, self.text)
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The width of a terminal; `None` for a file or a pipe.
fn columns(out: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Prints an error with its causes, without the control characters of typed or crawled text.
pub(crate) fn error(error: &Error) {
    replace_bar(None);
    let text = format!("crivello: {error:#}");
    text.lines().for_each(|line| print(&plain(line)));
}

/// Prints the last fact of a process, in place of the progress display.
pub(crate) fn last(fact: &Fact) {
    replace_bar(None);
    self::fact(false, fact);
}

/// Prints a labelled fact on standard error.
pub(crate) fn fact(quiet: bool, fact: &Fact) {
    say(quiet, &fact.wrapped(columns(&io::stderr())));
}

/// Prints a remark without a label on standard error.
pub(crate) fn say(quiet: bool, text: &str) {
    if !quiet {
        print(text);
    }
}

/// Prints a line on standard error, above the progress display. A closed standard error is no failure.
pub(crate) fn print(text: &str) {
    let write = || {
        let _ = writeln!(io::stderr().lock(), "{text}");
    };
    match &*BAR.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the progress display and shows another one, if any.
fn replace_bar(bar: Option<ProgressBar>) {
    let mut shown = BAR.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(old) = std::mem::replace(&mut *shown, bar) {
        old.finish_and_clear();
    }
}

/// Facts that change while a stage works. They are shown on a terminal only.
pub(crate) struct Line {
    is_shown: bool,
    bar: ProgressBar,
}

impl Line {
    pub(crate) fn start(quiet: bool) -> Self {
        let is_shown = !quiet && io::stderr().is_terminal();
        let target = if is_shown {
            ProgressDrawTarget::stderr_with_hz(8)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{msg}").expect("a valid template"));
        if is_shown {
            replace_bar(Some(bar.clone()));
        }
        Self { is_shown, bar }
    }

    /// Shows these facts instead of the last ones.
    pub(crate) fn show(&self, facts: &[Fact]) {
        if self.is_shown {
            let columns = columns(&io::stderr());
            let lines: Vec<String> = facts.iter().map(|fact| fact.wrapped(columns)).collect();
            self.bar.set_message(lines.join("\n"));
            self.bar.tick();
        }
    }

    /// Removes the facts from the terminal.
    pub(crate) fn clear(&self) {
        if self.is_shown {
            replace_bar(None);
        }
    }
}

/// Progress of the batch stages: one bar at a time.
pub(crate) struct Stages {
    quiet: bool,
    shown: Mutex<Option<(Stage, ProgressBar)>>,
}

impl Stages {
    pub(crate) fn start(quiet: bool) -> Self {
        Self { quiet: quiet || !io::stderr().is_terminal(), shown: Mutex::default() }
    }

    /// Shows how far a stage is.
    pub(crate) fn report(&self, stage: Stage, done: u64, total: u64) {
        if self.quiet {
            return;
        }
        let mut slot = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_none_or(|(shown, _)| *shown != stage) {
            // A new bar draws itself at once, so the old one has to go first.
            replace_bar(None);
            let bar = stage_bar(stage, total);
            replace_bar(Some(bar.clone()));
            *slot = Some((stage, bar));
        }
        if let Some((_, bar)) = slot.as_ref() {
            bar.set_position(done);
        }
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&self) {
        if self.shown.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            replace_bar(None);
        }
    }
}

fn stage_bar(stage: Stage, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    let template = "{msg:9} [{bar:30}] {percent} %, {eta} left";
    let style = ProgressStyle::with_template(template).expect("a valid template");
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(match stage {
        Stage::Extract => "Reading",
        Stage::Link => "Linking",
        Stage::Rank => "Ranking",
        Stage::Fold => "Merging",
        Stage::Index => "Indexing",
    });
    bar
}

/// `1 page`, `1,204 pages`, `2 addresses`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", thousands(number))
}

/// `312`, `1,204`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.3 MB`, `450 B`.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::DecimalBytes(count).to_string()
}

/// Where lost URLs are listed.
pub(crate) const SEE_DOCTOR: &str = "`crivello doctor archive` lists the lost URLs";

/// Sentences about archive files that are missing and about those that became shorter.
pub(crate) fn lost_files(gone: &[String], shortened: &[String]) -> Vec<String> {
    [(gone, "is gone", "are gone"), (shortened, "has become shorter", "have become shorter")]
        .into_iter()
        .filter(|(names, ..)| !names.is_empty())
        .map(|(names, one, many)| {
            let (files, fate) = (count(names.len() as u64, "file"), plain(&names.join(", ")));
            let verb = if names.len() == 1 { one } else { many };
            format!("{files} of the archive {verb}: {fate}")
        })
        .collect()
}

/// Crawled text for a terminal: without characters that move the cursor or reorder the line.
pub(crate) fn plain(text: &str) -> String {
    page::without_controls(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_gets_a_hanging_indent() {
        let fact = Fact::new("Failed", "10 pages: broken answer 3, gone 2");
        assert_eq!(fact.wrapped(None), "Failed    10 pages: broken answer 3, gone 2");
        assert_eq!(
            fact.wrapped(Some(34)),
            "Failed    10 pages: broken answer\n          3, gone 2"
        );
        let spaced = Fact::new("Ready", "http://127.0.0.1:7700/   Ctrl-C stops");
        assert_eq!(spaced.wrapped(None), "Ready     http://127.0.0.1:7700/   Ctrl-C stops");
    }

    #[test]
    fn numbers_have_separators() {
        assert_eq!([0, 999, 1_204, 1_000_000].map(thousands), ["0", "999", "1,204", "1,000,000"]);
        assert_eq!(count(1, "page"), "1 page");
        assert_eq!(count(2, "address"), "2 addresses");
    }
}

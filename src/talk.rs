//! Talk on standard error: remarks, progress, errors. Never data.
//!
//! **Invariant.** Nothing that comes from elsewhere moves the cursor, if it passes [`plain`].

use std::io::{IsTerminal, Write as _};
use std::sync::{Mutex, PoisonError};

use anyhow::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jobs::Stage;

/// Prints an error with its causes, line by line and without control characters of what was typed or crawled.
pub(crate) fn error(error: &Error) {
    let text = format!("crivello: {error:#}");
    text.lines().for_each(|line| print(&plain(line)));
}

/// A remark for people.
pub(crate) fn say(quiet: bool, text: &str) {
    if !quiet {
        print(text);
    }
}

/// Writes a line; where nobody can hear it there is nobody to tell.
pub(crate) fn print(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A line that changes while a stage works, on a terminal; nothing elsewhere.
pub(crate) struct Line {
    bar: ProgressBar,
}

impl Line {
    /// A line that counts up to a total, or just spins.
    pub(crate) fn start(quiet: bool) -> Self {
        let bar = ProgressBar::no_length();
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(8)
        } else {
            ProgressDrawTarget::hidden()
        };
        bar.set_draw_target(target);
        bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("a valid template"));
        Self { bar }
    }

    /// Shows `text` now.
    pub(crate) fn show(&self, text: String) {
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress of the batch stages as one bar a stage.
pub(crate) struct Stages {
    quiet: bool,
    bar: Mutex<Option<(Stage, ProgressBar)>>,
}

impl Stages {
    pub(crate) fn start(quiet: bool) -> Self {
        Self { quiet: quiet || !std::io::stderr().is_terminal(), bar: Mutex::default() }
    }

    /// To be handed to a stage.
    pub(crate) fn report(&self, stage: Stage, done: u64, total: u64) {
        if self.quiet {
            return;
        }
        let mut slot = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_none_or(|(shown, _)| *shown != stage)
            && let Some((_, old)) = slot.replace((stage, stage_bar(stage, total)))
        {
            old.finish_and_clear();
        }
        if let Some((_, bar)) = slot.as_ref() {
            bar.set_position(done);
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some((_, bar)) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

fn stage_bar(stage: Stage, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    let template = "{msg:>9} [{bar:40}] {percent}% {eta}";
    let style = ProgressStyle::with_template(template).expect("a valid template");
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(stage.to_string());
    bar
}

/// `1 page`, `12 pages`, `2 addresses`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// `12.3 MB`, `450 B`.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::DecimalBytes(count).to_string()
}

/// Who tells what was lost with them.
pub(crate) const WHO_TELLS_LOST: &str = "`crivello doctor archive` tells what was in no other";

/// Which files of the archive are gone, and which have become shorter.
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

/// Crawled text for a terminal: nothing in it moves the cursor or reorders the line.
pub(crate) fn plain(text: &str) -> String {
    page::without_controls(text).into_owned()
}

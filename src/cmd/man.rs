//! `crivello man`: the manual, one page a command.
//!
//! What lives here: the pages, with the examples of `--help` as a section. What does not: the texts (`main.rs` and each
//! command).
//!
//! **Invariant.** If a page refers to another page, that page is written as well.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::CommandFactory;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::Cli;
use crate::context::Exit;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  crivello man | man -l -\n  crivello man --out ~/.local/share/man/man1"
)]
pub(crate) struct Args {
    /// Write crivello.1, crivello-crawl.1, … to this folder instead of printing the first
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit> {
    let mut command = without_help(Cli::command());
    command.build();
    match &args.out {
        None => render(&command, &mut io::stdout().lock())?,
        Some(folder) => {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            write_all(folder, &command, "crivello")?;
        }
    }
    Ok(Exit::Done)
}

/// Removes `help`, since each command has its own page.
fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// Writes the pages of a command and of its subcommands.
fn write_all(folder: &Path, command: &clap::Command, name: &str) -> Result<()> {
    for sub in command.get_subcommands() {
        write_all(folder, sub, &format!("{name}-{}", sub.get_name()))?;
    }
    let mut page = Vec::new();
    render(command, &mut page)?;
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes the page of a command, with the examples last.
fn render(command: &clap::Command, out: &mut dyn Write) -> io::Result<()> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    Man::new(command.clone().after_help(Resettable::Reset)).render(out)?;
    let mut section = Roff::default();
    section.control("SH", ["EXAMPLES"]);
    // The first line is the word "Examples:".
    for line in examples.lines().skip(1) {
        let line = line.trim();
        let (example, about) = line.split_once("  ").unwrap_or((line, ""));
        section.control("TP", []);
        section.text([bold(example)]);
        section.text([roman(about.trim())]);
    }
    section.to_writer(out)
}

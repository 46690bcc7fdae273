//! `crivello man`: the manual, one page a command.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::CommandFactory;
use clap_mangen::Man;

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
    let mut command = Cli::command();
    command.build();
    match &args.out {
        None => Man::new(command).render(&mut std::io::stdout().lock())?,
        Some(folder) => {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            write_all(folder, &command, "crivello")?;
        }
    }
    Ok(Exit::Done)
}

/// The page of a command and of all below it.
fn write_all(folder: &Path, command: &clap::Command, name: &str) -> Result<()> {
    // What `help` says of a command stands on the page of that command.
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        write_all(folder, sub, &format!("{name}-{}", sub.get_name()))?;
    }
    write(folder, command.clone(), name)
}

fn write(folder: &Path, command: clap::Command, name: &str) -> Result<()> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    let path = folder.join(format!("{name}.1"));
    let mut file =
        fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(&page).with_context(|| format!("cannot write {}", path.display()))
}

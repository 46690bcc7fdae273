//! `crivello completions`: prints completions for bash, zsh, fish and other shells.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::context::Exit;

#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  crivello completions bash > ~/.local/share/bash-completion/completions/crivello"
)]
pub(crate) struct Args {
    /// The shell to write for
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "crivello", &mut text);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &text)?;
    Ok(Exit::Done)
}

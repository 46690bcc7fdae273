//! `crivello`: flags and configuration become calls of the crates; one file a sub-command in `cmd/`.
//!
//! What lives here: the list of commands, exit codes, the broken pipe. What does not: algorithms.
//!
//! **Invariant.** Data goes to standard output, talk and progress to standard error. Exit codes: 0 ok,
//! 1 failed, 2 wrong usage, 3 nothing found, 130 interrupted.
#![forbid(unsafe_code)]

mod cmd;
mod config;
mod context;
mod pipeline;
mod talk;
mod usage;

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use clap::Parser;

use crate::context::{Context, Exit, Usage};

/// A web search engine in one binary: from a URL to an explained result.
#[derive(Parser)]
#[command(version, about, long_about = None, after_help = "Examples:
  crivello up                                 a sample web, crawled, indexed and served
  crivello up https://example.org --dir ex    the same for a site of yours
  crivello search 'city hall' --dir ex")]
struct Cli {
    #[command(flatten)]
    context: Context,
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::answer(&error)),
    };
    match cli.command.run(&cli.context) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::NothingFound) => ExitCode::from(3),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            talk::error(&error);
            ExitCode::from(if is_wrong_usage(&error) { 2 } else { 1 })
        }
    }
}

/// What was asked for cannot be meant, whoever noticed it.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    use crawl::CrawlError::{Address, Config, NoContact, NoSeeds};
    let by_crawl = error.downcast_ref::<crawl::CrawlError>();
    let by_crawl = by_crawl.is_some_and(|error| {
        matches!(error, Address { .. } | Config { .. } | NoContact { .. } | NoSeeds)
    });
    by_crawl || error.is::<Usage>()
}

/// Whoever read our output has had enough: that is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(broken)
}

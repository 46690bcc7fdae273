//! `crivello`: flags and configuration become calls of the crates. Each sub-command has a file in `cmd/`.
//!
//! Data goes to standard output, remarks and progress to standard error. Exit codes: 0 done, 1 failed, 2 wrong
//! usage, 3 nothing found, 130 interrupted.
#![forbid(unsafe_code)]

mod cmd;
mod config;
mod console;
mod context;
mod pipeline;
mod usage;

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use clap::Parser;

use crate::context::{Context, Exit, Usage};

/// A web search engine in one binary: from a URL to an explained result.
#[derive(Parser)]
#[command(version, about, long_about = None, after_help = "Examples:
  crivello up                                 crawls, indexes and serves a sample web
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
            console::error(&error);
            ExitCode::from(if is_wrong_usage(&error) { 2 } else { 1 })
        }
    }
}

/// Returns whether an error is one of usage, from this crate or from the crawler.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    use crawl::CrawlError::{Address, Config, NoContact, NoSeeds};
    let by_crawl = error.downcast_ref::<crawl::CrawlError>();
    let by_crawl = by_crawl.is_some_and(|error| {
        matches!(error, Address { .. } | Config { .. } | NoContact { .. } | NoSeeds)
    });
    by_crawl || error.is::<Usage>()
}

/// Returns whether the reader of our output closed it, which is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(broken)
}

//! The sub-commands. Every command takes the options of [`Context`] and has an example in its help.

mod archive;
mod codes;
mod completions;
mod config;
mod crawl;
mod dedup;
mod doctor;
mod eval;
mod import;
mod index;
mod init;
mod man;
mod rank;
mod sample;
mod search;
mod serve;
mod signals;
mod simweb;
mod status;
mod up;
mod url_arg;
mod why;

use anyhow::Result;
use clap::Subcommand;

use crate::context::{Context, Exit};

/// A sub-command with its arguments.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Crawl, index and serve in one go; without a URL, a built-in sample web
    Up(up::Args),
    /// Make a collection: a folder with a commented crivello.toml
    Init(init::Args),
    /// Fetch pages politely into the archive; continues earlier crawls
    Crawl(crawl::Args),
    /// Import pages from WARC, JSONL or TREC files, or an index from CIFF
    Import(import::Args),
    /// Find near-identical pages and choose one to show
    Dedup(dedup::Args),
    /// Build the search index, after ranks and duplicates; or export it
    Index(index::Args),
    /// Build the link graph, compute PageRank, in-degrees and topics; or import ranks
    Rank(rank::Args),
    /// Search from the command line
    Search(search::Args),
    /// Serve the search page and the API
    Serve(serve::Args),
    /// Measure the order of results by judgements: MAP, P, nDCG, recall, MRR
    Eval(eval::Args),
    /// Show the contents of the collection and the stages that are behind
    Status(status::Args),
    /// Check every file: whole, behind or damaged
    Doctor(doctor::Args),
    /// Explain why a URL was fetched, skipped, merged or not found
    Why(why::Args),
    /// List the archive or print a capture
    #[command(subcommand)]
    Archive(archive::Args),
    /// Compare the codes for the index; encode and decode single numbers
    Codes(codes::Args),
    /// Check, show or describe the configuration
    #[command(subcommand)]
    Config(config::Args),
    /// Serve a deterministic sample web on loopback
    Simweb(simweb::Args),
    /// Print completions for a shell
    Completions(completions::Args),
    /// Print the manual page, or write all pages to a folder
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(self, context: &Context) -> Result<Exit> {
        match self {
            Self::Up(args) => up::run(&args, context),
            Self::Init(args) => init::run(&args, context),
            Self::Crawl(args) => crawl::run(&args, context),
            Self::Import(args) => import::run(&args, context),
            Self::Dedup(args) => dedup::run(&args, context),
            Self::Index(args) => index::run(&args, context),
            Self::Rank(args) => rank::run(&args, context),
            Self::Search(args) => search::run(&args, context),
            Self::Serve(args) => serve::run(&args, context),
            Self::Eval(args) => eval::run(&args, context),
            Self::Status(args) => status::run(&args, context),
            Self::Doctor(args) => doctor::run(&args, context),
            Self::Why(args) => why::run(&args, context),
            Self::Archive(args) => archive::run(&args, context),
            Self::Codes(args) => codes::run(&args, context),
            Self::Config(args) => config::run(&args, context),
            Self::Simweb(args) => simweb::run(&args, context),
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args),
        }
    }
}

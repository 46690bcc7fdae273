//! The sub-commands, one file each.
//!
//! **Invariant.** Every command takes the options of [`Context`] and has an example in its help.

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
mod question;
mod rank;
mod sample;
mod search;
mod serve;
mod signals;
mod simweb;
mod status;
mod up;
mod why;

use anyhow::Result;
use clap::Subcommand;

use crate::context::{Context, Exit};

/// What can be asked for.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Crawl, fold, rank, index and serve in one go; without a URL, a built-in sample web
    Up(up::Args),
    /// Make a collection: a folder with a commented crivello.toml
    Init(init::Args),
    /// Fetch pages politely into the archive; goes on where it was
    Crawl(crawl::Args),
    /// Take pages from WARC files, JSONL documents or TREC collections; an index from CIFF
    Import(import::Args),
    /// Find near-duplicates and choose who represents them
    Dedup(dedup::Args),
    /// Build the search index; brings ranks and duplicates up to date first. Export it
    Index(index::Args),
    /// Build the link graph; compute PageRank, in-degrees and topics; import ranks of your own
    Rank(rank::Args),
    /// Search from the command line
    Search(search::Args),
    /// Serve the search page and the API
    Serve(serve::Args),
    /// How good the order of results is, by judgements: MAP, P, nDCG, recall, MRR
    Eval(eval::Args),
    /// What the collection holds and which stage is behind
    Status(status::Args),
    /// Read everything, and say what is whole, behind or damaged
    Doctor(doctor::Args),
    /// Why a URL was fetched, skipped, folded or not found
    Why(why::Args),
    /// Look into the archive
    #[command(subcommand)]
    Archive(archive::Args),
    /// What the numbers of the index take under every code; codewords of single numbers
    Codes(codes::Args),
    /// Check, show or describe the configuration
    #[command(subcommand)]
    Config(config::Args),
    /// Serve a deterministic sample web on loopback
    Simweb(simweb::Args),
    /// Print completions for a shell
    Completions(completions::Args),
    /// Print the manual page, or write all of them to a folder
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

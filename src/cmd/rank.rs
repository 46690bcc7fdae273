//! `crivello rank`: computes the link graph, PageRank, in-degrees and topics, and imports ranks.

mod import;

use anyhow::Result;
use serde_json::json;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  crivello rank --dir my-web --set rank.damping=0.9
  crivello rank import visits visits.tsv --dir my-web    lines of a URL, a tab and a number

The weight of each rank: search.ranks of crivello.toml; docs/guide/ranking.md"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Import a rank: a number for each URL
    Import(import::Args),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if let Some(Action::Import(args)) = &args.action {
        return import::run(args, context);
    }
    pipeline::run("rank", context, |pipeline| {
        let (link, rank) = pipeline.rank()?;
        Ok(json!({ "graph": link, "pagerank": rank }))
    })
}

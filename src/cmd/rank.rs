//! `crivello rank`: the link graph and PageRank.
//!
//! **Invariant.** Ranks are those of the graph of what the archive holds.

use anyhow::Result;
use serde_json::json;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello rank --dir my-web --set rank.damping=0.9")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    pipeline::run("rank", context, |pipeline| {
        let (link, rank) = pipeline.rank()?;
        Ok(json!({ "graph": link, "pagerank": rank }))
    })
}

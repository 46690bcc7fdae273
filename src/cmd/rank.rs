//! `crivello rank`: the link graph and PageRank.

use anyhow::Result;
use serde_json::json;

use crate::context::{Context, Exit};
use crate::pipeline::Pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello rank --dir my-web --set rank.damping=0.9")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock("rank")?;
    let pipeline = Pipeline::of(&collection, &config, context);
    pipeline.extract()?;
    let (link, rank) = pipeline.rank()?;
    if context.json {
        context.print_json(&json!({ "graph": link, "pagerank": rank }))?;
    }
    Ok(Exit::Done)
}

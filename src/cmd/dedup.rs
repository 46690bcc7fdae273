//! `crivello dedup`: clusters of near-duplicates.

use anyhow::Result;

use crate::context::{Context, Exit};
use crate::pipeline::Pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello dedup --dir my-web --set dedup.distance_max=4")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock("dedup")?;
    let pipeline = Pipeline::of(&collection, &config, context);
    pipeline.extract()?;
    let report = pipeline.fold()?;
    if context.json {
        context.print_json(&report)?;
    }
    Ok(Exit::Done)
}

//! `crivello index`: the search index, and everything before it that is behind: ranks, duplicates.

use anyhow::Result;

use crate::context::{Context, Exit};
use crate::pipeline::Pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello index --dir my-web")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock("index")?;
    let pipeline = Pipeline::of(&collection, &config, context);
    pipeline.extract()?;
    pipeline.rank()?;
    pipeline.fold()?;
    let report = pipeline.index()?;
    if context.json {
        context.print_json(&report)?;
    }
    Ok(Exit::Done)
}

//! `crivello index`: the search index, and everything before it that is behind: ranks, duplicates.
//!
//! **Invariant.** Ranks come before duplicates, and both before the index, which is made of them.

use anyhow::Result;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello index --dir my-web")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    pipeline::run("index", context, |pipeline| {
        pipeline.rank()?;
        pipeline.fold()?;
        pipeline.index()
    })
}

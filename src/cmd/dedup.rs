//! `crivello dedup`: finds clusters of near-duplicates.

use anyhow::Result;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello dedup --dir my-web --set dedup.fold=identical")]
pub(crate) struct Args {}

#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
pub(crate) fn run(_: &Args, context: &Context) -> Result<Exit> {
    pipeline::run("dedup", context, |pipeline| pipeline.fold())
}

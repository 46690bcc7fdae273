//! `crivello index`: the search index, and everything before it that is behind: ranks, duplicates.

use anyhow::Result;
use jobs::Reuse;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  crivello index --dir my-web\n  crivello index --dir my-web --rebuild"
)]
pub(crate) struct Args {
    /// Index every page again, in one order, instead of what is new or changed alone.
    #[arg(long)]
    rebuild: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let reuse = if args.rebuild { Reuse::Nothing } else { Reuse::Unchanged };
    pipeline::run("index", context, |pipeline| {
        pipeline.rank()?;
        pipeline.fold()?;
        pipeline.index(reuse)
    })
}

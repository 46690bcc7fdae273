//! `crivello index`: builds the search index, after ranks and duplicates that are behind, and exports it.
//!
//! **Invariant.** Ranks come before duplicates, and both before the index, which contains them.

mod export;

use anyhow::Result;
use jobs::Reuse;

use crate::context::{Context, Exit};
use crate::pipeline;

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  crivello index --dir my-web
  crivello index --dir my-web --rebuild
  crivello index export my-web.ciff.gz --dir my-web    for other engines"
)]
pub(crate) struct Args {
    /// Index all pages again, instead of only new and changed ones
    #[arg(long)]
    rebuild: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Write one field of the index in the Common Index File Format (CIFF)
    Export(export::Args),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if let Some(Action::Export(args)) = &args.action {
        return export::run(args, context);
    }
    let reuse = if args.rebuild { Reuse::Nothing } else { Reuse::Unchanged };
    pipeline::run("index", context, |pipeline| {
        pipeline.rank()?;
        pipeline.fold()?;
        pipeline.index(reuse)
    })
}

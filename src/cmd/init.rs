//! `crivello init`: a folder with a commented crivello.toml.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use jobs::Collection;
use serde_json::json;

use crate::config::TEMPLATE;
use crate::context::{Context, Exit, Usage};
use crate::talk;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello init my-web && $EDITOR my-web/crivello.toml")]
pub(crate) struct Args {
    /// Folder to make
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if context.has_overrides() {
        let message = "init writes every key with its default; --set is for the other commands";
        return Err(Usage(message.to_owned()).into());
    }
    if let Ok(there) = Collection::open(&args.folder)
        && there.config_file().exists()
    {
        let file = there.config_file();
        return Err(Usage(format!("{} exists already; nothing was changed", file.display())).into());
    }
    let collection = Collection::create(&args.folder)?;
    let file = collection.config_file();
    fs::write(&file, TEMPLATE).with_context(|| format!("cannot write {}", file.display()))?;
    if context.json {
        context.print_json(&json!({ "config": file }))?;
    } else {
        talk::say(context.quiet, &format!("wrote {}", file.display()));
    }
    Ok(Exit::Done)
}

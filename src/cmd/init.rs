//! `crivello init`: makes a folder with a commented crivello.toml.
//!
//! **Invariant.** An existing file is never overwritten.

use std::path::PathBuf;

use anyhow::Result;
use collection::Collection;
use serde_json::json;

use crate::config::{TEMPLATE, write_private};
use crate::context::{Context, Exit, Usage};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello init my-web && $EDITOR my-web/crivello.toml")]
pub(crate) struct Args {
    /// Folder to make [default: --dir]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if context.has_overrides() {
        let message = "init writes every key with its default; use --set with other commands";
        return Err(Usage(message.to_owned()).into());
    }
    let folder = folder(args, context)?;
    if let Ok(there) = Collection::open(&folder)
        && there.config_file().exists()
    {
        let file = there.config_file();
        return Err(Usage(format!("{} exists already; nothing was changed", file.display())).into());
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Usage(format!("{} is not a folder; name another one", folder.display())).into());
    }
    let collection = Collection::create(&folder)?;
    let file = collection.config_file();
    write_private(&file, TEMPLATE)?;
    if context.json {
        context.print_json(&json!({ "config": file }))?;
    } else {
        context.say("Written", file.display().to_string());
    }
    Ok(Exit::Done)
}

/// The folder to make, from the argument or `--dir`.
fn folder(args: &Args, context: &Context) -> Result<PathBuf> {
    let folder = match (&args.folder, context.dir()) {
        // The argument wins over the environment.
        (Some(folder), Some(dir)) if folder != dir && !context.is_dir_of_environment() => {
            let (folder, dir) = (folder.display(), dir.display());
            let message =
                format!("two folders are named: {folder}, and {dir} with --dir; name one");
            return Err(Usage(message).into());
        }
        (Some(folder), _) | (None, Some(folder)) => folder,
        (None, None) => {
            return Err(Usage("name the folder to make: crivello init FOLDER".to_owned()).into());
        }
    };
    if folder.to_str().is_some_and(|text| text.contains("://")) {
        let message = format!(
            "{} is an address, and init makes a folder: crivello init my-web && crivello crawl {0} --dir my-web",
            folder.display()
        );
        return Err(Usage(message).into());
    }
    Ok(folder.to_owned())
}

//! `crivello rank import`: a rank of the user's, as lines of a URL, a tab and a number.
//!
//! **Invariant.** A file with a fault changes nothing, and is told with the line.

use std::io::BufReader;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use archive::Unpacked;
use jobs::{JobsError, RankImport};

use crate::context::{Context, Exit, Usage};
use crate::talk;

#[derive(clap::Args)]
#[command(after_help = "Example:
  crivello rank import visits visits.tsv.gz --dir my-web
  crivello search garden --dir my-web --set 'search.ranks={ pagerank = 0.1, visits = 0.2 }'

A line is a URL of the collection (or the id of a document without one), a tab, and a number, 0 or more.")]
pub(crate) struct Args {
    /// What it is called in search.ranks: small letters, digits, - and _
    name: String,
    /// The file; also with .gz or .zst
    file: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock("rank")?;
    let file = &args.file;
    let input = Unpacked::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let imported = jobs::import_ranks(&collection, &args.name, file, &mut BufReader::new(input));
    let report = imported.map_err(|error| match error {
        JobsError::RankName { .. } => Usage(error.to_string()).into(),
        other => anyhow::Error::from(other),
    })?;
    if context.json {
        context.print_json(&report)?;
        return Ok(Exit::Done);
    }
    let RankImport { name, values, unknown, first_unknown } = report;
    let unknown = match first_unknown {
        None => String::new(),
        Some(first) => format!(
            "; {} of them not in the collection, the first {}",
            unknown,
            talk::plain(&first)
        ),
    };
    talk::say(context.quiet, &format!("imported {}{unknown}", talk::count(values, "value")));
    if config.search.ranks.get(&name).is_none_or(|weight| *weight == 0.0) {
        let said =
            format!("give it a weight: ranks = {{ …, {name} = 0.1 }} in [search] of crivello.toml");
        talk::say(context.quiet, &said);
    }
    Ok(Exit::Done)
}

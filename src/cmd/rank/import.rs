//! `crivello rank import`: imports a rank from lines of a URL, a tab and a number.
//!
//! **Invariant.** An invalid file changes nothing. The error names the line.

use std::io::BufReader;
use std::path::PathBuf;

use anyhow::Result;
use archive::Unpacked;
use jobs::{JobsError, RankImport};

use crate::console;
use crate::context::{Context, Exit, Usage};

#[derive(clap::Args)]
#[command(after_help = "Example:
  crivello rank import visits visits.tsv.gz --dir my-web
  crivello search garden --dir my-web --set 'search.ranks={ pagerank = 0.1, visits = 0.2 }'

Each line has a URL of the collection (or the id of a document without one), a tab, and a number from 0.")]
pub(crate) struct Args {
    /// Its name in search.ranks: small letters, digits, - and _
    name: String,
    /// The file; .gz and .zst are unpacked
    file: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let _lock = collection.lock("rank")?;
    let file = &args.file;
    let input = Unpacked::open(file)?;
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
        Some(first) => {
            let first = console::plain(&first);
            format!("; {} not in the collection, such as {first}", console::thousands(unknown))
        }
    };
    context.say("Imported", format!("{}{unknown}", console::count(values, "value")));
    if config.search.ranks.get(&name).is_none_or(|weight| *weight == 0.0) {
        let key = format!("ranks = {{ …, {name} = 0.1 }}");
        context.say("Next", format!("give it a weight: {key} in [search] of crivello.toml"));
    }
    Ok(Exit::Done)
}

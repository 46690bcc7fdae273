//! `crivello index export`: writes the index in the Common Index File Format, for other engines.
//!
//! **Invariant.** The file gets its name only when it is complete.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use collection::Collection;
use flate2::write::GzEncoder;
use index::{CiffExport, Field};

use crate::console::count;
use crate::context::{Context, Exit, Usage};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello index export my-web.ciff --dir my-web
  crivello index export titles.ciff.gz --field title --dir my-web")]
pub(crate) struct Args {
    /// The file to write: .ciff, or .ciff.gz
    file: PathBuf,
    /// Field to export: title, headings, body, url or anchor
    #[arg(long, default_value = "body", value_parser = field)]
    field: Field,
}

fn field(name: &str) -> Result<Field, String> {
    let names = || Field::ALL.map(Field::name).join(", ");
    Field::from_name(name).ok_or_else(|| format!("the fields are {}", names()))
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let ends = |ending: &str| {
        let name = args.file.as_os_str().as_encoded_bytes();
        name.to_ascii_lowercase().ends_with(ending.as_bytes())
    };
    let packed = ends(".ciff.gz");
    if !packed && !ends(".ciff") {
        let message = format!("{} must end with .ciff or .ciff.gz", args.file.display());
        return Err(Usage(message).into());
    }
    let report = write(args, &collection, packed)?;
    if context.json {
        context.print_json(&report)?;
    } else {
        let (documents, terms) = (count(report.documents, "document"), count(report.terms, "term"));
        let (postings, field) = (count(report.postings, "posting"), args.field.name());
        context.say("Exported", format!("{documents}, {terms}, {postings} of the field {field}"));
        context.say("Note", "the file has no positions and no texts of results");
    }
    Ok(Exit::Done)
}

fn write(args: &Args, collection: &Collection, packed: bool) -> Result<CiffExport> {
    let path = &args.file;
    let export = |out: &mut dyn Write| jobs::export_ciff(collection, args.field, path, out);
    let report = durable::replace_with(path, |file| -> Result<CiffExport> {
        if !packed {
            return Ok(export(file)?);
        }
        let mut out = GzEncoder::new(file, flate2::Compression::default());
        let report = export(&mut out)?;
        out.finish()?;
        Ok(report)
    });
    report.map_err(|error| {
        let is_io = error.is::<io::Error>();
        if is_io { error.context(format!("cannot write {}", path.display())) } else { error }
    })
}

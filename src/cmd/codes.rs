//! `crivello codes`: what the numbers of the index take under every code, and codewords to look at.
//!
//! What lives here: the list of its commands. What does not: the codes (crate `codes`). Each command
//! has a file: [`survey`] of a collection with its picture [`plot`], [`words`] to and fro, and
//! [`tables`] for prefix codes and rANS.
//!
//! **Invariant.** Nothing here changes a collection.

mod plot;
mod survey;
mod tables;
mod words;

use std::path::PathBuf;

use anyhow::Result;

use crate::context::{Context, Exit, Usage};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello codes --dir my-web                        entropy and bits a number, stream by stream
  crivello codes --dir my-web --svg codes.svg        the same, with a picture
  crivello codes encode --code golomb --modulus 3 0 1 2 3 4 5")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Draw what each code is meant for beside what the index holds
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Print the codeword of each number, one a line; numbers begin with 0
    Encode(words::EncodeArgs),
    /// Print the number of each codeword, one a line
    Decode(words::DecodeArgs),
    /// Make a prefix code with codewords of given lengths, if there is one
    Prefix(tables::PrefixArgs),
    /// Share out the slots of a rANS table, and push symbols by it
    Rans(tables::RansArgs),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if args.svg.is_some() && args.what.is_some() {
        return Err(Usage("--svg is for a collection: it takes no command".to_owned()).into());
    }
    match &args.what {
        None => survey::run(args.svg.as_deref(), context),
        Some(What::Encode(args)) => words::encode(args, context),
        Some(What::Decode(args)) => words::decode(args, context),
        Some(What::Prefix(args)) => tables::prefix(args, context),
        Some(What::Rans(args)) => tables::rans(args, context),
    }
}

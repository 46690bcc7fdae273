//! `crivello codes`: the size of the index under every code, and codewords of single numbers.
//!
//! Each command has a file: [`survey`] of a collection with its picture [`plot`], [`words`] to encode and decode, and
//! [`tables`] for prefix codes and rANS. The codes are in the crate `codes`.
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
  crivello codes --dir my-web --svg codes.svg        and draws a picture
  crivello codes encode --code golomb --modulus 3 0 1 2 3 4 5")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Draw the distribution that each code suits and that of the index
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Print the codeword of each number from 0, one a line
    Encode(words::EncodeArgs),
    /// Print the number of each codeword, one a line
    Decode(words::DecodeArgs),
    /// Make a prefix code with codewords of given lengths, if one exists
    Prefix(tables::PrefixArgs),
    /// Assign the slots of a rANS table and push symbols
    Rans(tables::RansArgs),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if args.svg.is_some() && args.what.is_some() {
        return Err(Usage(
            "--svg draws the codes of a collection; leave out the subcommand".to_owned(),
        )
        .into());
    }
    match &args.what {
        None => survey::run(args.svg.as_deref(), context),
        Some(What::Encode(args)) => words::encode(args, context),
        Some(What::Decode(args)) => words::decode(args, context),
        Some(What::Prefix(args)) => tables::prefix(args, context),
        Some(What::Rans(args)) => tables::rans(args, context),
    }
}

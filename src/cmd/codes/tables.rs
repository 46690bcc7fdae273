//! `crivello codes prefix` and `codes rans`: tables of codes for given lengths or weights.
//!
//! **Invariant.** A table that cannot be made is wrong usage. The error has the reason, and nothing is printed.

use std::io::Write as _;

use ::codes::prefix_code;
use ::codes::rans::Frequencies;
use anyhow::Result;
use serde_json::json;

use crate::context::{Context, Exit, Usage};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello codes prefix 1 2 3 3")]
pub(super) struct PrefixArgs {
    /// The length of each codeword in bits
    #[arg(required = true)]
    lengths: Vec<u32>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello codes rans --bits 10 27 1 2               frequencies and starts for 9/10, 1/30, 2/30
  crivello codes rans --bits 10 27 1 2 --push 0,0,1  and the state after each symbol")]
pub(super) struct RansArgs {
    /// The weight of each symbol: how often it occurs, in any unit
    #[arg(required = true)]
    weights: Vec<u64>,
    /// The table has 2 to this power slots
    #[arg(long, default_value_t = 10)]
    bits: u32,
    /// Symbols to push in order, from 0
    #[arg(long, value_delimiter = ',')]
    push: Vec<usize>,
    /// The state before the first push
    #[arg(long, default_value_t = 0)]
    state: u64,
}

/// The codewords in the order of the lengths.
pub(super) fn prefix(args: &PrefixArgs, context: &Context) -> Result<Exit> {
    let codewords = prefix_code(&args.lengths).map_err(|error| Usage(error.to_string()))?;
    let codewords: Vec<String> = codewords.iter().map(::codes::Bits::to_text).collect();
    let sum: f64 = args.lengths.iter().map(|&length| (-f64::from(length)).exp2()).sum();
    if context.json {
        context.print_json(&json!({ "codewords": codewords, "kraft_sum": sum }))?;
    } else {
        let mut out = std::io::stdout().lock();
        codewords.iter().try_for_each(|codeword| writeln!(out, "{codeword}"))?;
    }
    Ok(Exit::Done)
}

/// Symbol, frequency and start, one symbol a line; then the state after each push.
pub(super) fn rans(args: &RansArgs, context: &Context) -> Result<Exit> {
    let table = Frequencies::quantise(&args.weights, args.bits)
        .map_err(|error| Usage(error.to_string()))?;
    let mut states = vec![args.state];
    for &symbol in &args.push {
        let last = states[states.len() - 1];
        let next = table.push(last, symbol).ok_or_else(|| {
            Usage(format!("{symbol} cannot be pushed on {last}: no slot, or beyond 64 bits"))
        })?;
        states.push(next);
    }
    if context.json {
        let (frequencies, starts) = (table.frequencies(), table.starts());
        let answer = json!({ "frequencies": frequencies, "starts": starts, "states": states });
        context.print_json(&answer)?;
        return Ok(Exit::Done);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "symbol frequency  start")?;
    for (symbol, (frequency, start)) in table.frequencies().iter().zip(table.starts()).enumerate() {
        writeln!(out, "{symbol:>6} {frequency:>9} {start:>6}")?;
    }
    for (symbol, pair) in args.push.iter().zip(states.windows(2)) {
        let (popped, before) = table.pop(pair[1]);
        writeln!(out, "push({}, {symbol}) = {}   pop = {popped}, {before}", pair[0], pair[1])?;
    }
    Ok(Exit::Done)
}

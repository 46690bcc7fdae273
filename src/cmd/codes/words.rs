//! `crivello codes encode` and `codes decode`: numbers to codewords of the letters 0 and 1, and back.
//!
//! **Invariant.** `decode` reads every line that `encode` prints. Nothing is printed for an invalid line.

use std::io::{BufRead as _, Write as _};

use ::codes::{
    Bits, Code, Delta, Gamma, Golomb, MinimalBinary, PrefixVByte, Reader, Unary, VByte, Zeta,
    reduced_binary,
};
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde_json::json;

use crate::console;
use crate::context::{Context, Exit, Usage};

/// Longer codewords are not printed.
const BITS_MAX: usize = 1 << 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello codes encode --code gamma 0 1 2 3 4
  crivello codes encode --code golomb --modulus 3 0 1 2 3 4 5
  seq 0 9 | crivello codes encode --code zeta -k 2")]
pub(super) struct EncodeArgs {
    #[command(flatten)]
    choice: Choice,
    /// Numbers from 0 [default: those on standard input]
    numbers: Vec<String>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello codes decode --code gamma 00101 1 010
  crivello codes encode --code delta 7 8 9 | crivello codes decode --code delta")]
pub(super) struct DecodeArgs {
    #[command(flatten)]
    choice: Choice,
    /// Codewords, or concatenated ones [default: the lines of standard input]
    codewords: Vec<String>,
}

#[derive(clap::Args)]
struct Choice {
    /// The code
    #[arg(long)]
    code: Name,
    /// The modulus of golomb; by default the best for the mean of the numbers
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u64).range(1..))]
    modulus: Option<u64>,
    /// The bound of minimal-binary: all numbers are below it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    bound: Option<u64>,
    /// The parameter of zeta, from 1 to 7 [default: 3]
    #[arg(short, value_parser = clap::value_parser!(u8).range(1..=7))]
    k: Option<u8>,
}

/// The codes that have a codeword for a single number.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    Unary,
    ReducedBinary,
    MinimalBinary,
    Gamma,
    Delta,
    Zeta,
    Golomb,
    #[value(name = "vbyte")]
    VByte,
    #[value(name = "prefix-vbyte")]
    PrefixVByte,
}

/// A code for codewords one by one.
enum Words {
    Instantaneous(Box<dyn Code>),
    /// Its codewords cannot be decoded without knowing their ends.
    ReducedBinary,
}

impl Choice {
    /// The code with its parameter. `numbers` is called if the parameter depends on the numbers.
    fn words(&self, numbers: impl FnOnce() -> Option<Golomb>) -> Result<Words> {
        let only = |given: bool, name: Name, flag: &str| {
            let wrong = given && self.code != name;
            if wrong { Err(Usage(format!("{flag} does not go with this code"))) } else { Ok(()) }
        };
        only(self.modulus.is_some(), Name::Golomb, "--modulus")?;
        only(self.bound.is_some(), Name::MinimalBinary, "--bound")?;
        only(self.k.is_some(), Name::Zeta, "-k")?;
        let code: Box<dyn Code> = match self.code {
            Name::ReducedBinary => return Ok(Words::ReducedBinary),
            Name::Unary => Box::new(Unary),
            Name::Gamma => Box::new(Gamma),
            Name::Delta => Box::new(Delta),
            Name::VByte => Box::new(VByte),
            Name::PrefixVByte => Box::new(PrefixVByte),
            Name::Zeta => Box::new(Zeta::new(self.k.unwrap_or(3).into())),
            Name::MinimalBinary => {
                let bound = self.bound.ok_or_else(|| {
                    Usage("minimal-binary needs --bound: all numbers are below it".to_owned())
                })?;
                Box::new(MinimalBinary::new(bound))
            }
            Name::Golomb => {
                let golomb = self.modulus.map(Golomb::new).or_else(numbers);
                Box::new(golomb.ok_or_else(|| Usage("golomb needs --modulus".to_owned()))?)
            }
        };
        Ok(Words::Instantaneous(code))
    }
}

impl Words {
    fn encode(&self, n: u64) -> Result<Bits> {
        let max = match self {
            Words::Instantaneous(code) => code.max(),
            Words::ReducedBinary => reduced_binary::MAX,
        };
        if n > max {
            let cure = self.cure(n);
            let text = format!("{n} has no codeword: the greatest is {max}; {cure} has one");
            return Err(Usage(text).into());
        }
        let Words::Instantaneous(code) = self else { return Ok(reduced_binary::codeword(n)) };
        let length = code.len(n);
        if length > BITS_MAX {
            let name = code.name();
            let cure = self.cure(n);
            let text = format!(
                "the {name} codeword of {n} has {length} bits, too many to print; {cure} has a shorter one"
            );
            return Err(Usage(text).into());
        }
        let mut bits = Bits::default();
        code.write(&mut bits, n);
        Ok(bits)
    }

    /// A code with a codeword of `n` that can be printed.
    fn cure(&self, n: u64) -> String {
        let name = match self {
            _ if n == u64::MAX => return "`--code vbyte`".to_owned(),
            Words::Instantaneous(code) => code.name(),
            Words::ReducedBinary => "",
        };
        match name {
            "golomb" => format!("`--modulus {}` or more", n / (BITS_MAX as u64 - 65) + 1),
            "minimal-binary" => format!("`--bound {}` or more", n + 1),
            _ => "`--code delta`".to_owned(),
        }
    }

    /// Decodes concatenated codewords.
    fn decode(&self, text: &str) -> Result<Vec<u64>> {
        let wrong = |why: String| Usage(format!("{}: {why}", console::plain(text)));
        let bits = Bits::from_text(text)
            .ok_or_else(|| wrong("a codeword has no letters but 0 and 1".to_owned()))?;
        let Words::Instantaneous(code) = self else {
            let n = reduced_binary::number(&bits);
            return Ok(vec![n.ok_or_else(|| wrong("more than 63 bits".to_owned()))?]);
        };
        let mut input = Reader::new(bits.as_bytes());
        let mut numbers = Vec::new();
        if bits.is_empty() && code.len(0) > 0 {
            return Ok(numbers);
        }
        loop {
            let start = input.position();
            // Bits after the last letter pad the last byte. No codeword may end there.
            let n = code.read(&mut input).filter(|_| input.position() <= bits.len());
            let n =
                n.ok_or_else(|| wrong(format!("no {} codeword from bit {start} on", code.name())))?;
            numbers.push(n);
            if input.position() == bits.len() {
                return Ok(numbers);
            }
            if input.position() == start {
                return Err(wrong("the only codeword of this code is empty".to_owned()).into());
            }
        }
    }
}

pub(super) fn encode(args: &EncodeArgs, context: &Context) -> Result<Exit> {
    let from_data = args.choice.code == Name::Golomb && args.choice.modulus.is_none();
    let fitted = if from_data { Some(all_numbers(args)?) } else { None };
    let given = fitted.as_deref().map(Golomb::fitting);
    if let Some(modulus) = given.and_then(|golomb| golomb.parameter()) {
        console::say(context.quiet, &format!("modulus {modulus}, for the mean of the numbers"));
    }
    let words = args.choice.words(|| given)?;
    let mut out = std::io::stdout().lock();
    let mut print = |n: u64| -> Result<()> {
        let bits = words.encode(n)?;
        if context.json {
            let answer = json!({ "number": n, "codeword": bits.to_text(), "bits": bits.len() });
            writeln!(out, "{answer}")?;
        } else {
            writeln!(out, "{}", bits.to_text())?;
        }
        Ok(())
    };
    match fitted {
        Some(numbers) => numbers.into_iter().try_for_each(print)?,
        None => each_word(&args.numbers, |word| print(number(word)?))?,
    }
    Ok(Exit::Done)
}

pub(super) fn decode(args: &DecodeArgs, context: &Context) -> Result<Exit> {
    let words = args.choice.words(|| None)?;
    let mut out = std::io::stdout().lock();
    let mut print = |text: &str| -> Result<()> {
        for n in words.decode(text)? {
            if context.json {
                writeln!(out, "{}", json!({ "number": n }))?;
            } else {
                writeln!(out, "{n}")?;
            }
        }
        Ok(())
    };
    if !args.codewords.is_empty() {
        args.codewords.iter().try_for_each(|text| print(text))?;
        return Ok(Exit::Done);
    }
    // A line may be empty, since some codewords are.
    for line in std::io::stdin().lock().lines() {
        print(line.context("cannot read standard input")?.trim())?;
    }
    Ok(Exit::Done)
}

fn all_numbers(args: &EncodeArgs) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    each_word(&args.numbers, |word| {
        numbers.push(number(word)?);
        Ok(())
    })?;
    Ok(numbers)
}

/// Calls `take` with every argument, or with every word of standard input if no argument is given.
fn each_word(arguments: &[String], mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    if !arguments.is_empty() {
        return arguments.iter().try_for_each(|word| take(word));
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.context("cannot read standard input")?;
        line.split_whitespace().try_for_each(&mut take)?;
    }
    Ok(())
}

fn number(word: &str) -> Result<u64> {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| word.parse().ok()).flatten();
    let wrong = || Usage(format!("{}: not a number from 0 to {}", console::plain(word), u64::MAX));
    Ok(number.ok_or_else(wrong)?)
}

//! Measures the size and speed of each code: bits per number, and nanoseconds of processor time to decode one.
//!
//! ```text
//! cargo run --release -p crivello-codes --example decode [FILE…]
//! ```
//!
//! The numbers are gaps: artificial ones, from a power law with exponent 4/3, and those of each FILE. Without FILE
//! it uses those in `../shared`, if they exist. A FILE is a graph with lines `source TAB target` (`.arcs.gz`),
//! measured by the gaps between successors. Or it is a collection with one document per line (`.jsonl.gz`),
//! measured by the gaps between the documents of a word. Every result is compared with the input before timing.
//! The reported time is that of the fastest round, because other work on the machine only adds.
//!
//! All codes decode the same numbers, as one list.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use codes::pfor::Choice;
use codes::rans::Model;
use codes::{
    Bits, Code, Delta, Gamma, Golomb, Histogram, MinimalBinary, PrefixVByte, Reader, Unary, VByte,
    Zeta, packed, pfor, prefix_vbyte, vbyte,
};
use flate2::read::MultiGzDecoder;

/// Number of decoded numbers: half a megabyte, so that memory speed does not matter.
const COUNT: usize = 1 << 17;
const ROUNDS: usize = 7;
/// A round repeats decoding for this long, because the clock is coarse.
const ROUND_NS: u64 = 40_000_000;
/// Codes that need more are skipped.
const BITS_EACH_MAX: u64 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    show("power law", &power_law())?;
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.extend(shared());
    }
    for path in paths {
        show(&path.file_name().unwrap_or_default().to_string_lossy(), &gaps(&path)?)?;
    }
    Ok(())
}

/// n with a probability like 1/(n + 1)^(4/3), from a fixed seed.
fn power_law() -> Vec<u32> {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let number = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let uniform = ((seed >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut at 2^24")]
        let n = (uniform.powi(-3) - 1.0).min(16_777_216.0) as u32;
        n
    };
    (0..COUNT).map(number).collect()
}

/// The graph and the collection beside the project, if they exist.
fn shared() -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let names = ["graphs/wiki-Vote.arcs.gz", "collections/vaswani/docs.jsonl.gz"];
    names.into_iter().map(move |name| folder.join(name)).filter(|path| path.is_file())
}

fn gaps(path: &Path) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut text = String::new();
    MultiGzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    let is_collection = path.to_string_lossy().contains(".jsonl");
    let mut gaps = if is_collection { document_gaps(&text) } else { successor_gaps(&text)? };
    gaps.truncate(COUNT);
    Ok(gaps)
}

/// Gaps between the successors of each node, less one.
fn successor_gaps(arcs: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let (mut gaps, mut before) = (Vec::new(), (u32::MAX, 0));
    for line in arcs.lines() {
        let (source, target) = line.split_once('\t').ok_or("a line without a tab")?;
        let (source, target): (u32, u32) = (source.parse()?, target.parse()?);
        let next = if source == before.0 { before.1 } else { 0 };
        gaps.push(target.checked_sub(next).ok_or("successors that do not ascend")?);
        before = (source, target + 1);
    }
    Ok(gaps)
}

/// Gaps between the lines with a word, less one, word by word.
fn document_gaps(lines: &str) -> Vec<u32> {
    let mut lists: BTreeMap<&str, (u32, Vec<u32>)> = BTreeMap::new();
    for (document, line) in (0..).zip(lines.lines()) {
        for word in line.split(|letter: char| !letter.is_alphabetic()) {
            let (next, gaps) = lists.entry(word).or_default();
            if document >= *next {
                gaps.push(document - *next);
                *next = document + 1;
            }
        }
    }
    lists.into_values().flat_map(|(_, gaps)| gaps).collect()
}

fn show(name: &str, numbers: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut histogram = Histogram::default();
    histogram.add(numbers);
    let (count, entropy) = (histogram.count(), histogram.entropy());
    println!("{name}: {count} numbers, mean {:.1}, entropy {entropy:.2}", histogram.mean());
    println!("{:<20} {:>9} {:>9} {:>9}", "code", "bits", "ns", "G/s");
    let golomb = Golomb::for_mean(histogram.mean());
    let binary = MinimalBinary::new(u64::from(histogram.max()) + 1);
    bits("unary", &Unary, &histogram, numbers)?;
    bits("gamma", &Gamma, &histogram, numbers)?;
    bits("delta", &Delta, &histogram, numbers)?;
    bits("zeta 2", &Zeta::new(2), &histogram, numbers)?;
    bits("zeta 3", &Zeta::new(3), &histogram, numbers)?;
    bits("golomb", &golomb, &histogram, numbers)?;
    bits("minimal-binary", &binary, &histogram, numbers)?;
    bits("vbyte (bits)", &VByte, &histogram, numbers)?;
    bits("prefix-vbyte (bits)", &PrefixVByte, &histogram, numbers)?;
    bytes(numbers)?;
    blocks(numbers)?;
    let model = Model::new(&histogram);
    let mut coded = Vec::new();
    model.write(numbers, &mut coded);
    measure("rans", coded.len() * 8, numbers, |out| model.read(&mut &coded[..], out))?;
    println!();
    Ok(())
}

fn bits(
    name: &str,
    code: &impl Code,
    histogram: &Histogram,
    numbers: &[u32],
) -> Result<(), Box<dyn Error>> {
    if histogram.bits(code) > BITS_EACH_MAX * histogram.count() {
        println!("{name:<20} {:>9}", "too long");
        return Ok(());
    }
    let mut bits = Bits::default();
    for &n in numbers {
        code.write(&mut bits, u64::from(n));
    }
    measure(name, bits.len(), numbers, |out| {
        let mut input = Reader::new(bits.as_bytes());
        out.iter_mut().try_for_each(|slot| {
            *slot = low(code.read(&mut input)?);
            Some(())
        })
    })
}

fn bytes(numbers: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut coded = Vec::new();
    for &n in numbers {
        vbyte::write(&mut coded, u64::from(n));
    }
    measure("vbyte", coded.len() * 8, numbers, |out| {
        let mut input = &coded[..];
        out.iter_mut().try_for_each(|slot| {
            *slot = low(vbyte::read(&mut input)?);
            Some(())
        })
    })?;
    let mut coded = Vec::new();
    for &n in numbers {
        prefix_vbyte::write(&mut coded, u64::from(n));
    }
    measure("prefix-vbyte", coded.len() * 8, numbers, |out| {
        let mut input = &coded[..];
        out.iter_mut().try_for_each(|slot| {
            *slot = low(prefix_vbyte::read(&mut input)?);
            Some(())
        })
    })
}

fn blocks(numbers: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut coded = Vec::new();
    let (whole, _) = numbers.as_chunks();
    for block in whole {
        packed::write(block, &mut coded);
    }
    let counted = &numbers[..whole.len() * packed::BLOCK];
    measure("packed", coded.len() * 8, counted, |out| {
        let mut input = &coded[..];
        out.as_chunks_mut().0.iter_mut().try_for_each(|block| packed::read(&mut input, block))
    })?;
    let by_share = ("pfor, 90 %", Choice::Coverage { percent: 90 });
    for (name, choice) in [by_share, ("pfor, optimum", Choice::Optimum)] {
        let mut coded = Vec::new();
        numbers.chunks(pfor::BLOCK).for_each(|block| pfor::write(block, choice, &mut coded));
        measure(name, coded.len() * 8, numbers, |out| {
            let mut input = &coded[..];
            out.chunks_mut(pfor::BLOCK).try_for_each(|block| pfor::read(&mut input, block))
        })?;
    }
    Ok(())
}

/// Checks the output of `decode`, then measures it.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure(
    name: &str,
    bits: usize,
    numbers: &[u32],
    decode: impl Fn(&mut [u32]) -> Option<()>,
) -> Result<(), Box<dyn Error>> {
    let mut out = vec![0; numbers.len()];
    decode(&mut out).ok_or("what was coded cannot be decoded")?;
    assert_eq!(out, numbers, "{name} decodes what was coded");
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (before, mut times, mut spent) = (cpu_ns()?, 0.0, 0);
        while spent < ROUND_NS {
            decode(black_box(&mut out)).ok_or("the second time it cannot be decoded")?;
            black_box(&out);
            times += 1.0;
            spent = cpu_ns()? - before;
        }
        fastest = fastest.min(spent as f64 / times);
    }
    let each = |total: f64| total / numbers.len().max(1) as f64;
    let (size, time) = (each(bits as f64), each(fastest));
    println!("{name:<20} {size:>9.3} {time:>9.3} {:>9.2}", time.recip());
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits were written")]
fn low(n: u64) -> u32 {
    n as u32
}

/// Processor time of this thread so far.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().ok_or("no figure in schedstat")?.parse()?)
}

//! Measures the size and speed of static functions: bits per key, and nanoseconds of processor time to build and
//! to look up. The baseline is a map as a finite-state transducer (`fst`).
//!
//! ```text
//! cargo run --release -p crivello-codes --example functions [FILE…]
//! ```
//!
//! The function is the rank among sorted terms: a million artificial words of syllables, and the terms of each
//! FILE. Without FILE it uses the collections in `../shared`, if they exist. A FILE is text, plain or gzipped; its
//! terms are its runs of letters and digits. Every term is looked up, in random order, and the results are
//! compared with the list before timing. "others" is the share of words with an appended letter that are accepted
//! as terms although they are unknown.
//!
//! All structures are built from the same terms and look up the same terms. The reported time is that of the
//! fastest round, because other work on the machine only adds.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use codes::function::{Ranks, Scheme};
use flate2::read::MultiGzDecoder;

const MADE_UP: usize = 1_000_000;
const ROUNDS: usize = 5;
/// A measurement is repeated for this long, because the clock is coarse.
const ROUND_NS: u64 = 100_000_000;

type Terms = Vec<Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    show("made up", &made_up().into_iter().collect())?;
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/collections");
        let names = ["vaswani/docs.jsonl.gz", "scifact/docs.jsonl.gz"];
        paths.extend(names.map(|name| shared.join(name)).into_iter().filter(|path| path.is_file()));
    }
    for path in paths {
        let mut last_two: Vec<_> = path.iter().rev().take(2).collect();
        last_two.reverse();
        let name = PathBuf::from_iter(last_two);
        show(&name.display().to_string(), &terms(&path)?)?;
    }
    Ok(())
}

/// Words of two to six syllables, from a fixed seed.
fn made_up() -> BTreeSet<Vec<u8>> {
    let mut random = random();
    let mut words = BTreeSet::new();
    while words.len() < MADE_UP {
        let mut word = Vec::new();
        for _ in 0..random() % 5 + 2 {
            let mut letter = |of: &[u8]| of[usize::from(random()) % of.len()];
            word.extend([letter(b"bcdfghklmnprstvwz"), letter(b"aeiou")]);
        }
        words.insert(word);
    }
    words
}

fn terms(path: &Path) -> Result<Terms, Box<dyn Error>> {
    let mut bytes = fs::read(path)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = std::mem::take(&mut bytes);
        MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes)?;
    }
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    Ok(words.into_iter().map(|word| word.as_bytes().to_vec()).collect())
}

fn show(name: &str, terms: &Terms) -> Result<(), Box<dyn Error>> {
    println!("{name}: {} terms", terms.len());
    println!("{:<24} {:>9} {:>9} {:>9} {:>9}", "structure", "bits", "build ns", "get ns", "others");
    for signature in [0, 16] {
        for scheme in Scheme::ALL {
            let build = || Ok(Ranks::build(scheme, signature, terms.iter())?);
            let open = |bytes| {
                let ranks = Ranks::open(bytes)?;
                Ok(move |term: &[u8]| ranks.rank(term))
            };
            measure(&format!("{scheme:?}, {signature} signed"), terms, build, open)?;
        }
    }
    let build = || {
        let mut builder = fst::MapBuilder::memory();
        builder.extend_iter(terms.iter().zip(0..))?;
        Ok(builder.into_inner()?)
    };
    let open = |bytes| {
        let map = fst::Map::new(bytes)?;
        Ok(move |term: &[u8]| map.get(term))
    };
    measure("fst 0.4", terms, build, open)?;
    println!();
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure<Get: Fn(&[u8]) -> Option<u64>>(
    name: &str,
    terms: &Terms,
    build: impl Fn() -> Result<Vec<u8>, Box<dyn Error>>,
    open: impl Fn(Vec<u8>) -> Result<Get, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let built = time(|| build().map(drop))?;
    let bytes = build()?;
    let bits = bytes.len() * 8;
    let get = open(bytes)?;
    for (rank, term) in (0..).zip(terms) {
        assert_eq!(get(term), Some(rank), "{name}");
    }
    let unknown: BTreeSet<Vec<u8>> = terms.iter().map(|term| [term, &b"q"[..]].concat()).collect();
    let unknown = unknown.iter().filter(|term| terms.binary_search(term).is_err());
    let (others, taken) = unknown.fold((0_u32, 0_u32), |(others, taken), term| {
        (others + 1, taken + u32::from(get(term).is_some()))
    });
    let mut fastest = f64::INFINITY;
    let asked = shuffled(terms);
    for _ in 0..ROUNDS {
        let round = time(|| {
            let sum = asked.iter().filter_map(|term| get(term)).fold(0, u64::wrapping_add);
            black_box(sum);
            Ok(())
        })?;
        fastest = fastest.min(round);
    }
    let each = |total: f64| total / terms.len().max(1) as f64;
    println!(
        "{name:<24} {:>9.2} {:>9.0} {:>9.1} {:>9.5}",
        each(bits as f64),
        each(built),
        each(fastest),
        f64::from(taken) / f64::from(others.max(1)),
    );
    Ok(())
}

fn shuffled(terms: &Terms) -> Terms {
    let mut random = random();
    let mut order: Vec<(u32, &Vec<u8>)> = terms
        .iter()
        .map(|term| (u32::from_le_bytes([random(), random(), random(), random()]), term))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, term)| term.clone()).collect()
}

/// Random bytes from a fixed seed.
fn random() -> impl FnMut() -> u8 {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.to_le_bytes()[5]
    }
}

/// The processor time of `work` in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn time(work: impl Fn() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let (before, mut times, mut spent) = (cpu_ns()?, 0.0, 0);
    while spent < ROUND_NS {
        work()?;
        times += 1.0;
        spent = cpu_ns()? - before;
    }
    Ok(spent as f64 / times)
}

/// Processor time of this thread so far.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().ok_or("no figure in schedstat")?.parse()?)
}

//! The fuzz targets over their corpus and over seeded random input, so that findings of `fuzz/` are checked by every
//! test run.

use crate::damage::{KIND_COUNT, OPERATIONS, Outcome, REPLACE, Random, SEAL, Size, Target};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Number of random scripts per test.
const SCRIPTS: u64 = 1000;

/// The sorted files of the corpus of a target.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 20, "{} has a corpus", folder.display());
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("reads"))).collect()
}

/// Runs a target. A failure reports its input.
fn run(what: &str, bytes: &[u8], target: impl FnOnce(&[u8]) -> Outcome) -> Outcome {
    let outcome = catch_unwind(AssertUnwindSafe(|| target(bytes)));
    outcome.unwrap_or_else(|_| panic!("{what}: {bytes:?}"))
}

/// Counts indexes that do not open, that answer everything, and that answer some queries.
#[derive(Debug, Default)]
struct Tally {
    closed: u32,
    whole: u32,
    partial: u32,
}

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Closed => self.closed += 1,
            Outcome::Open { refused: 0, .. } => self.whole += 1,
            Outcome::Open { .. } => self.partial += 1,
        }
    }
}

#[test]
fn the_corpus_of_damaged_index_is_replayed() {
    let mut target = Target::build(Size::Long);
    for (path, bytes) in corpus("damaged_index") {
        run(&path.display().to_string(), &bytes, |bytes| target.damaged_index(bytes));
    }
}

#[test]
fn the_corpus_of_forged_file_is_replayed() {
    let mut target = Target::build(Size::Short);
    for (path, bytes) in corpus("forged_file") {
        run(&path.display().to_string(), &bytes, |bytes| target.forged_file(bytes));
    }
}

/// Files of another format would be rejected at once.
#[test]
fn forged_file_seeds_equal_the_intact_index_files() {
    let kept = corpus("forged_file").into_iter().filter(|(path, _)| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with("seed-"))
    });
    let kept: Vec<Vec<u8>> = kept.map(|(_, bytes)| bytes).collect();
    let is_same = kept == Target::build(Size::Short).sound_files();
    assert!(is_same, "write them anew, as fuzz/README.md says");
}

/// Without forged checksums, every answer is right or an error with a place. Half of the damage is one byte of a
/// file that is too long to be verified when it is opened.
#[test]
fn random_damage_never_gives_a_wrong_result() {
    let (mut target, mut tally) = (Target::build(Size::Long), Tally::default());
    let long: Vec<u8> = target
        .sound_files()
        .iter()
        .filter(|file| file.len() > 1 << 16)
        .map(|file| file[0])
        .collect();
    for seed in 0..SCRIPTS {
        let mut random = Random(seed);
        let mut script: Vec<u8> =
            (0..=random.below(3)).flat_map(|_| operation(&mut random)).collect();
        if seed % 2 == 0 {
            script.truncate(5);
            (script[0], script[1]) = (script[0] % 3, long[random.below(2) as usize]);
        }
        tally.count(run(&format!("seed {seed}"), &script, |bytes| target.damaged_index(bytes)));
    }
    assert!(tally.closed > 100 && tally.partial > 100, "{tally:?}");
}

/// Each file is replaced by that of another segment, whose checksums match.
#[test]
fn a_swapped_segment_file_never_gives_a_wrong_result() {
    let mut target = Target::build(Size::Short);
    for file in target.sound_files().iter().map(|file| file[0]) {
        for steps in 1..4 {
            let script = [REPLACE, file, 0, 0, file + steps * KIND_COUNT];
            run("another segment", &script, |bytes| target.damaged_index(bytes));
        }
    }
}

/// With forged checksums, to reach the code behind their verification.
#[test]
fn random_damage_with_matching_checksums_causes_no_panic() {
    let (mut target, mut tally) = (Target::build(Size::Short), Tally::default());
    for seed in 0..SCRIPTS {
        let mut random = Random(seed);
        let mut script: Vec<u8> =
            (0..=random.below(3)).flat_map(|_| operation(&mut random)).collect();
        let files: Vec<u8> = script.chunks(5).map(|operation| operation[1]).collect();
        script.extend(files.into_iter().flat_map(|file| [SEAL, file, 0, 0, 0]));
        tally.count(run(&format!("seed {seed}"), &script, |bytes| target.damaged_index(bytes)));
    }
    assert!(tally.closed > 100 && tally.partial > 100, "{tally:?}");
}

/// A random operation, except updating checksums.
fn operation(random: &mut Random) -> [u8; 5] {
    let mut bytes = [(); 5].map(|()| u8::try_from(random.below(256)).expect("a byte"));
    bytes[0] %= OPERATIONS - 1;
    bytes
}

/// A file forged with its own payload, and then with one byte changed.
#[test]
fn random_payload_bytes_cause_no_panic() {
    let mut target = Target::build(Size::Short);
    for (seed, mut bytes) in (0..).zip(target.sound_files()) {
        let outcome = run("sound", &bytes, |bytes| target.forged_file(bytes));
        assert!(matches!(outcome, Outcome::Open { refused: 0, .. }), "{outcome:?}");
        let mut random = Random(seed);
        let changes = if bytes.len() > 1 { 6 } else { 0 };
        for _ in 0..changes {
            let at = 1 + random.below(u32::try_from(bytes.len() - 1).expect("short")) as usize;
            let sound = bytes[at];
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
            run(&format!("byte {at}"), &bytes, |bytes| target.forged_file(bytes));
            bytes[at] = sound;
        }
    }
}

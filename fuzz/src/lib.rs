//! The fuzz targets of Crivello, for libFuzzer: the same functions that the tests of crate `query` run.
//!
//! What lives here: one index for the life of the process, and what a search begins with. What does not: what is
//! damaged and what is held to be right, which is in `crates/query/tests/it/damage/`.
//!
//! **Invariant.** A run leaves nothing behind that the next one could see.
#![forbid(unsafe_code)]

#[path = "../../crates/query/tests/it/damage/mod.rs"]
mod damage;

use damage::{KIND_COUNT, OPERATIONS, REPLACE, SEAL, Size, Target};
use std::sync::{LazyLock, Mutex, PoisonError};

static LONG: LazyLock<Mutex<Target>> = LazyLock::new(|| Mutex::new(Target::build(Size::Long)));
static SHORT: LazyLock<Mutex<Target>> = LazyLock::new(|| Mutex::new(Target::build(Size::Short)));

/// Takes the bytes as a script of damage to the files of an index.
pub fn damaged_index(bytes: &[u8]) {
    LONG.lock().unwrap_or_else(PoisonError::into_inner).damaged_index(bytes);
}

/// Takes the bytes as one file of an index.
pub fn forged_file(bytes: &[u8]) {
    SHORT.lock().unwrap_or_else(PoisonError::into_inner).forged_file(bytes);
}

/// The first scripts. They change the first and the last byte of every file, or replace a file by that of another
/// segment. They apply every operation to files of every kind, with and without matching checksums.
pub fn scripts() -> Vec<Vec<u8>> {
    let (mut random, mut scripts) = (damage::Random(1), Vec::new());
    for file in sound_files().iter().map(|file| file[0]) {
        scripts.extend([vec![0, file, 0, 0, 0], vec![0, file, 255, 255, 0]]);
        scripts.push(vec![REPLACE, file, 0, 0, file + KIND_COUNT]);
    }
    for operation in (0..OPERATIONS).filter(|&operation| operation != SEAL) {
        let every_third = sound_files().into_iter().skip(usize::from(operation % 3)).step_by(3);
        for file in every_third.map(|file| file[0]) {
            let mut byte = || u8::try_from(random.below(256)).expect("a byte");
            let damage = [operation, file, byte(), byte(), byte()];
            scripts.push(damage.to_vec());
            scripts.push([damage, [SEAL, file, 0, 0, 0]].concat());
        }
    }
    scripts
}

/// Files to begin with: those of the sound index.
pub fn sound_files() -> Vec<Vec<u8>> {
    SHORT.lock().unwrap_or_else(PoisonError::into_inner).sound_files()
}

//! `seeds`: writes what a search begins with into `corpus/damaged_index` and `corpus/forged_file` below a folder.
//!
//! **Invariant.** The same format has the same seeds.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "corpus".to_owned());
    write(&Path::new(&folder).join("damaged_index"), &crivello_fuzz::scripts())?;
    write(&Path::new(&folder).join("forged_file"), &crivello_fuzz::sound_files())
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:03}")), seed)?;
    }
    Ok(())
}

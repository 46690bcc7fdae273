//! Passwords in the configuration: file permissions, and a copy of the configuration without passwords.
//!
//! **Invariant.** Only the owner can read a file that is written here.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Config;

/// Replaces a secret.
const HIDDEN: &str = "…";
/// The rights of a file with secrets.
const OWNER_ALONE: u32 = 0o600;
/// The right of a group or of everybody to read a file.
const OTHERS_READ: u32 = 0o044;

/// Writes a configuration file that only its owner can read.
pub(crate) fn write_private(file: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(OWNER_ALONE);
    let written = options.open(file).and_then(|mut out| out.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

impl Config {
    /// A copy to show, in which every secret value is `…`.
    pub(crate) fn without_secrets(&self) -> Config {
        let mut shown = self.clone();
        let of_hosts = shown.crawl.auth.iter_mut();
        let (passwords, headers): (Vec<_>, Vec<_>) =
            of_hosts.map(|auth| (&mut auth.password, &mut auth.headers)).unzip();
        let headers = headers.into_iter().chain([&mut shown.crawl.headers]);
        let values = headers.flat_map(|headers| headers.values_mut());
        for secret in values.chain(passwords).filter(|secret| !secret.is_empty()) {
            HIDDEN.clone_into(secret);
        }
        shown
    }

    /// Warnings about files with secrets that other users can read. `file` is the configuration file. Secrets from
    /// the environment or from `--set` are in no file.
    pub(crate) fn exposed(&self, file: &Path) -> Vec<String> {
        let written = fs::read_to_string(file).ok().and_then(|text| Self::parse(&text, "").ok());
        let has_secrets = written.is_some_and(|written| written != written.without_secrets());
        let files = [(file, has_secrets), (self.crawl.cookies_file.as_path(), true)];
        let can_be_read = |(file, holds): &(&Path, bool)| {
            *holds
                && fs::metadata(file)
                    .is_ok_and(|about| about.permissions().mode() & OTHERS_READ != 0)
        };
        let warning = |(file, _): (&Path, bool)| {
            let name = file.display();
            format!("other users can read {name}, which holds secrets; run `chmod 600 {name}`")
        };
        files.into_iter().filter(can_be_read).map(warning).collect()
    }
}

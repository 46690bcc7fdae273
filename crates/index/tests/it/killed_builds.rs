//! Builds that are killed or run out of space. They run in another process of this test binary, controlled by
//! environment variables.

use crate::commits::names;
use crate::contents::{Contents, build, contents_of, random_docs, try_build};
use index::{Config, IndexError, IndexWriter};
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FOLDER: &str = "CRIVELLO_INDEX_TEST_FOLDER";

/// The folder to build in for a child process; `None` in the parent.
fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

/// Runs one test of this binary, after some shell commands.
fn child(preparations: &str, test: &str, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{preparations} exec \"$@\"");
    command.args(["-c", &script, "sh"]).arg(env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture"]).env(FOLDER, dir);
    command
}

#[test]
fn child_that_never_ends() {
    let Some(dir) = folder() else { return };
    let mut writer = IndexWriter::create(&dir, &Config { memory_bytes: 0, ..Config::default() })
        .expect("created");
    for doc in (0..).flat_map(|seed| random_docs(seed, 1, 8)) {
        writer.add(&doc.record).expect("added");
        for (field, term, position) in &doc.terms {
            writer.term(*field, term, *position);
        }
        writeln!(std::io::stderr(), "added").expect("the parent listens");
    }
}

#[test]
fn a_killed_build_keeps_the_old_generation_unlocked() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 60, 8);
    build(dir.path(), 1 << 20, &docs, "old");
    let before = names(dir.path());
    for lines in [1, 2, 17, 40] {
        let mut command = child("", "killed_builds::child_that_never_ends", dir.path());
        let mut running =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        let said = BufReader::new(running.stderr.take().expect("piped"));
        // Count lines until the kill; otherwise the child ends by itself.
        let mut added = said.lines().map_while(Result::ok).filter(|line| line == "added");
        assert_eq!(added.by_ref().take(lines).count(), lines);
        let second = IndexWriter::create(dir.path(), &Config::default());
        assert!(matches!(second.err(), Some(IndexError::Locked { .. })));
        running.kill().expect("is killed");
        running.wait().expect("has ended");
        assert!(names(dir.path()).len() > before.len(), "something was left behind");
        assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
    }
    drop(IndexWriter::create(dir.path(), &Config::default()).expect("the lock is free"));
    assert_eq!(names(dir.path()), before);
}

#[test]
fn child_with_too_little_room() {
    let Some(dir) = folder() else { return };
    let error = try_build(&dir, 1 << 20, &random_docs(5, 3000, 40), "too large");
    assert!(matches!(error, Err(IndexError::Io { .. })), "{error:?}");
    let docs = contents_of(&dir).expect("the old generation can be read");
    assert_eq!(docs, Contents::of(&random_docs(1, 60, 8)));
}

/// Limits the length of files to a few blocks of 512 bytes. Then writes are short and fail, as on a full disk.
#[test]
fn a_failed_write_keeps_the_old_generation() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 60, 8);
    build(dir.path(), 1 << 20, &docs, "old");
    let mut command = child(
        "trap '' XFSZ; ulimit -f 20;",
        "killed_builds::child_with_too_little_room",
        dir.path(),
    );
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
    assert_eq!(build(dir.path(), 1 << 20, &docs[1..], "there is room again"), 2);
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs[1..]));
}

/// Reads a number of kilobytes from the kernel's status of this process.
#[cfg(target_os = "linux")]
fn status_bytes(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is one");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("it is in there");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

/// Builds an index of terms that occur once, which take the most memory, and a term in every document. It is more
/// than a batch, so segments are merged.
#[cfg(target_os = "linux")]
#[test]
fn child_that_keeps_its_limit() {
    const LIMIT: usize = 64 << 20;
    let Some(dir) = folder() else { return };
    let config = Config { memory_bytes: LIMIT, ..Config::default() };
    let mut writer = IndexWriter::create(&dir, &config).expect("created");
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak begins anew");
    let before = status_bytes("VmRSS:");
    let mut segments = 0;
    for doc in 0..540_u32 {
        writer.add(&index::DocRecord::default()).expect("added");
        let text: Vec<String> = (0..900)
            .map(|position| (doc * 900 + position).wrapping_mul(2_654_435_769))
            .map(|hash| format!("{hash:08x}{}", "-so-that-it-is-longer".repeat(3)))
            .collect();
        let text = text.concat();
        let as_it_is = |word: &str, term: &mut String| term.push_str(word);
        let mut words = writer.words(index::Field::Body, &text, as_it_is);
        for (position, start) in (0..).zip((0..text.len()).step_by(71)) {
            words.push(start..start + 71, position);
        }
        drop(words);
        writer.term(index::Field::Body, "everywhere", 900);
        segments = segments.max(names(&dir).len());
    }
    writer.commit("").expect("committed");
    let peak = status_bytes("VmHWM:") - before;
    assert!(segments > 2, "it went to disk more than once");
    assert!((LIMIT * 9 / 10..=LIMIT * 11 / 10).contains(&peak), "{peak} of {LIMIT} bytes");
}

#[cfg(target_os = "linux")]
#[test]
fn resident_memory_is_within_ten_percent_of_the_limit() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = child("", "killed_builds::child_that_keeps_its_limit", dir.path());
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

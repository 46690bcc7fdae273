//! Counts prose that a stranger cannot read at once, and compares the counts with those in `prose.toml`.
//!
//! The check reads comments, `#[error]` messages and Markdown. It looks for words of a private vocabulary, for
//! sentences of more than 30 words, and for sentences whose subject is a clause. It knows no grammar, so it
//! also finds some good sentences: the test forbids more findings, not every finding.
//!
//! **Invariant.** No crate or folder has more findings than `prose.toml` records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::files_below;
use crate::tidy::{files, root};

/// The banned words, the limits and the recorded counts.
const RECORD: &str = "tests/it/prose.toml";
/// The documents of the root, which [`files`] leaves out. The changelog is history.
const FRONT: [&str; 2] = ["README.md", "ARCHITECTURE.md"];
/// A shorter sentence may begin with any word.
const CLAUSE_WORDS_MIN: usize = 5;
/// Findings that a failure prints for each folder.
const SHOWN_MAX: usize = 20;

/// The content of [`RECORD`].
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    sentence_words_max: usize,
    guide_page_words_max: usize,
    /// The most modules in one cycle of a crate.
    pub(crate) cycle_modules_max: usize,
    /// Crates with another limit.
    pub(crate) cycles: BTreeMap<String, usize>,
    /// Sequences of words to avoid, with plain words instead. A bar separates words that may be in one place.
    banned: BTreeMap<String, String>,
    /// The findings that each crate or folder may have.
    findings: BTreeMap<String, usize>,
}

impl Limits {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(root().join(RECORD)).expect("the file of limits");
        toml::from_str(&text).expect("valid limits")
    }
}

/// Beginnings of sentences whose subject is a clause or points elsewhere.
const OPENERS: [&str; 6] =
    ["what", "who|whoever", "those", "such", "that which", "of which|whom|what|one|a|the"];

/// One place to look at.
struct Finding {
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.line, self.what)
    }
}

/// A paragraph, a list item, a cell of a table or a message, with the number of its first line.
#[derive(Default)]
struct Block {
    line: usize,
    text: String,
}

/// The blocks of a file. A block grows by [`Blocks::push`] until [`Blocks::end`].
#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    open: Block,
    in_fence: bool,
}

impl Blocks {
    /// Takes one line of Markdown, without the marker of a comment.
    fn push(&mut self, line: usize, text: &str) {
        let trimmed = text.trim();
        if trimmed.starts_with("```") {
            self.in_fence = !self.in_fence;
            return self.end();
        }
        if self.in_fence
            || text.starts_with("    ")
            || trimmed.is_empty()
            || trimmed.starts_with('#')
        {
            return self.end();
        }
        if trimmed.starts_with('|') {
            self.end();
            for cell in trimmed.split('|').filter(|cell| !cell.trim().is_empty()) {
                self.done.push(Block { line, text: cell.trim().to_owned() });
            }
            return;
        }
        let item = list_item(trimmed);
        if item.is_some() {
            self.end();
        }
        if self.open.text.is_empty() {
            self.open.line = line;
        } else {
            self.open.text.push(' ');
        }
        self.open.text.push_str(item.unwrap_or(trimmed));
    }

    fn end(&mut self) {
        let block = std::mem::take(&mut self.open);
        if !block.text.is_empty() {
            self.done.push(block);
        }
    }
}

/// The text of a list item.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").filter(|_| digits.len() < line.len());
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(numbered)
}

fn markdown(text: &str) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for (line, text) in (1..).zip(text.lines()) {
        blocks.push(line, text);
    }
    blocks.end();
    blocks.done
}

fn rust(text: &str) -> Vec<Block> {
    let (mut blocks, mut marker_before) = (Blocks::default(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let markers = ["///", "//!", "//"];
        let marker = markers.into_iter().find(|marker| text.trim_start().starts_with(marker));
        if marker != marker_before {
            blocks.end();
            blocks.in_fence = false;
        }
        if let Some(marker) = marker {
            let comment = &text.trim_start()[marker.len()..];
            blocks.push(line, comment.strip_prefix(' ').unwrap_or(comment));
        }
        marker_before = marker;
    }
    blocks.end();
    let mut done = blocks.done;
    done.extend(messages(text));
    done
}

/// The messages of `#[error("…")]`.
fn messages(text: &str) -> impl Iterator<Item = Block> {
    text.match_indices("#[error(").filter_map(|(at, attribute)| {
        let rest = text[at + attribute.len()..].trim_start().strip_prefix('"')?;
        let ends = |&(at, _): &(usize, &str)| !rest[..at].ends_with('\\');
        let (end, _) = rest.match_indices('"').find(ends)?;
        let line = text[..at].lines().count() + 1;
        Some(Block { line, text: rest[..end].to_owned() })
    })
}

/// The text with every piece of code as one word, and every link as its text.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (at, piece) in text.split('`').enumerate() {
        out.push_str(if at % 2 == 0 { piece } else { "x" });
    }
    let mut pieces = out.split("](");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push(']');
        text.push_str(piece.split_once(')').map_or("", |(_, behind)| behind));
    }
    text.replace(['[', ']'], "")
}

/// The sentences of a text; a colon or a semicolon ends one as well.
fn sentences(text: &str) -> Vec<&str> {
    let is_end = |c: char| ".!?:;".contains(c);
    let (mut sentences, mut begin) = (Vec::new(), 0);
    for (at, _) in text.match_indices(char::is_whitespace) {
        if text[begin..at].ends_with(is_end) {
            sentences.push(text[begin..at].trim());
            begin = at;
        }
    }
    sentences.push(text[begin..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// The words of a sentence in lower case.
fn words(sentence: &str) -> Vec<String> {
    let apart = |c: char| !(c.is_alphanumeric() || "_'’-".contains(c));
    let words = sentence.split(apart).filter(|word| word.contains(char::is_alphanumeric));
    words.map(str::to_lowercase).collect()
}

/// Whether `words` begin with the sequence `pattern`.
fn begins(words: &[String], pattern: &str) -> bool {
    let mut words = words.iter();
    let fits =
        |place: &str| words.next().is_some_and(|word| place.split('|').any(|one| one == word));
    pattern.split(' ').all(fits)
}

/// The findings of one block.
fn judge(block: &Block, limits: &Limits) -> Vec<Finding> {
    let (mut found, text) = (Vec::new(), plain(&block.text));
    let mut add = |what| found.push(Finding { line: block.line, what });
    for sentence in sentences(&text) {
        let words = words(sentence);
        for at in 0..words.len() {
            let begin = &words[at..];
            for (pattern, instead) in limits.banned.iter().filter(|(one, _)| begins(begin, one)) {
                let end = at + pattern.split(' ').count();
                add(format!("\"{}\", say: {instead}", words[at..end].join(" ")));
            }
        }
        let start: String = sentence.chars().take(80).collect();
        if words.len() > limits.sentence_words_max {
            add(format!("{} words in one sentence: {start}", words.len()));
        }
        // A small letter continues a sentence, after a colon or a semicolon.
        let is_clause = sentence.starts_with(char::is_uppercase)
            && OPENERS.iter().any(|opener| begins(&words, opener));
        if is_clause && words.len() >= CLAUSE_WORDS_MIN && !sentence.ends_with('?') {
            add(format!("a clause as subject: {start}"));
        }
    }
    found
}

fn findings(path: &Path, limits: &Limits) -> Vec<Finding> {
    let text = fs::read_to_string(path).expect("text");
    let is_rust = path.extension().is_some_and(|ending| ending == "rs");
    let blocks = if is_rust { rust(&text) } else { markdown(&text) };
    blocks.iter().flat_map(|block| judge(block, limits)).collect()
}

/// A crate, a folder of the root, or a document there.
fn place(path: &Path) -> String {
    let mut parts = path.iter().map(|part| part.to_string_lossy());
    let first = parts.next().expect("a path");
    match parts.next() {
        Some(name) if first == "crates" => format!("{first}/{name}"),
        _ => first.into_owned(),
    }
}

/// Every file with prose, by its place. Results that benchmarks printed are no prose.
fn files_by_place() -> BTreeMap<String, Vec<PathBuf>> {
    let is_prose = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs" || ending == "md")
            && !path.starts_with(root().join("bench/runs"))
    };
    let front = FRONT.map(|name| root().join(name));
    let mut places = BTreeMap::<String, Vec<PathBuf>>::new();
    for path in front.into_iter().chain(files().into_iter().filter(is_prose)) {
        let short = path.strip_prefix(root()).expect("below the root");
        places.entry(place(short)).or_default().push(path);
    }
    places
}

/// The first findings of some files; files that changed last come first.
fn shown(mut paths: Vec<PathBuf>, limits: &Limits) -> String {
    let changed = |path: &PathBuf| fs::metadata(path).and_then(|about| about.modified()).ok();
    paths.sort_by_key(|path| Reverse(changed(path)));
    let line = |path: &Path, finding: &Finding| {
        format!("  {}:{finding}\n", path.strip_prefix(root()).expect("below the root").display())
    };
    let lines = paths.iter().flat_map(|path| {
        let lines = findings(path, limits).into_iter().map(|finding| line(path, &finding));
        lines.collect::<Vec<_>>()
    });
    lines.take(SHOWN_MAX).collect()
}

#[test]
fn prose_does_not_get_worse() {
    let limits = Limits::read();
    let record = &limits.findings;
    let places = files_by_place();
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    for (place, paths) in &places {
        let count: usize = paths.iter().map(|path| findings(path, &limits).len()).sum();
        let recorded = record.get(place).copied().unwrap_or(0);
        if count > recorded {
            worse.push(format!(
                "{place}: {count} findings, {RECORD} allows {recorded}. Rewrite what you added; the files that \
                 changed last are first here:\n{}",
                shown(paths.clone(), &limits)
            ));
        } else if count < recorded {
            better.push(format!("\"{place}\" = {count}"));
        }
    }
    if !better.is_empty() {
        let lines = better.join("\n");
        eprintln!("fewer findings than recorded; write these lines into {RECORD}:\n{lines}");
    }
    assert!(worse.is_empty(), "\n{}", worse.join("\n"));
    let recorded: BTreeSet<_> = record.keys().collect();
    let known: BTreeSet<_> = places.keys().collect();
    assert!(recorded.is_subset(&known), "remove from {RECORD}: {:?}", recorded.difference(&known));
}

#[test]
fn pages_of_the_guide_are_short() {
    let max = Limits::read().guide_page_words_max;
    for page in files_below(&root().join("docs/guide")) {
        let count = fs::read_to_string(&page).expect("text").split_whitespace().count();
        let name = page.display();
        assert!(count <= max, "{name} has {count} words; cut it to {max}");
    }
}

/// The findings of a text, by the words they begin with.
fn check(blocks: &[Block], expected: &[(usize, &str)]) {
    let limits = Limits::read();
    let found: Vec<Finding> = blocks.iter().flat_map(|block| judge(block, &limits)).collect();
    let lines: Vec<String> = found.iter().map(Finding::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{lines:#?}");
    for (finding, (line, what)) in found.iter().zip(expected) {
        assert!(
            finding.line == *line && finding.what.contains(what),
            "{finding}, not {line}: {what}"
        );
    }
}

#[test]
fn private_words_are_found_in_comments_messages_and_markdown() {
    check(
        &rust("//! Good.\n\n/// The error is\n/// told at once.\nlet told = 1;"),
        &[(3, "is told")],
    );
    check(&rust("// Three of them, in vain.\n"), &[(1, "in vain")]);
    check(&rust("#[error(\"the \\\"file\\\" is none\")]\nE,"), &[(1, "is none")]);
    check(&rust("\n#[error(\n    \"mended\",\n)]\nE,"), &[(2, "mended")]);
    check(&markdown("# By now\n\n- good\n- bad by now\n"), &[(4, "by now")]);
    check(&markdown("| a | as good as b |\n|---|---|\n"), &[(1, "as good as")]);
}

#[test]
fn code_is_not_checked_as_prose() {
    check(&rust("let text = \"in vain\";\nfn mend() {}\n"), &[]);
    check(&rust("/// Calls `is none`.\n/// ```\n/// // in vain\n/// ```\n/// Good.\n"), &[]);
    check(&markdown("A.\n\n```\nin vain\n```\n\n    in vain\n"), &[]);
    check(&markdown("See [the page](in vain by now).\n"), &[]);
    check(&rust("/// ```\n/// open\nfn a() {}\n/// In vain.\n"), &[(4, "in vain")]);
}

#[test]
fn sentences_are_counted_in_words() {
    let long = |words: usize| vec!["word"; words].join(" ");
    check(&markdown(&long(30)), &[]);
    check(&markdown(&long(31)), &[(1, "31 words")]);
    check(&markdown(&format!("{}.\n{}; {}\n", long(20), long(20), long(20))), &[]);
    check(&markdown(&format!("{}\n{}\n", long(20), long(20))), &[(1, "40 words")]);
    check(&markdown(&format!("{} `{}` [{}](x y z)", long(20), long(20), long(9))), &[]);
    check(&markdown(&format!("- {}\n- {}\n", long(20), long(20))), &[]);
}

#[test]
fn a_clause_as_subject_is_reported() {
    check(&rust("/// What was read is kept here.\n"), &[(1, "clause")]);
    check(&rust("/// Good. Of the files only one is read.\n"), &[(1, "clause")]);
    check(&markdown("What does it cost you?\n\nThose below.\n"), &[]);
    check(&markdown("Two parts: what was read and what was not.\n"), &[]);
}

//! The rules no compiler checks: every module says what it is, the crates use only what the map
//! allows, every link leads somewhere, and CI runs the command that the README gives.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words that name no idea.
const BANNED: [&str; 9] =
    ["util", "utils", "common", "helper", "helpers", "misc", "core", "new", "manager"];
/// Crates that may wait on the network.
const ASYNC: [&str; 3] = ["crawl", "serve", "simweb"];

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below the folders that hold source and documents.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<_> = ["src", "crates", "tests", "docs", "bench", "fuzz"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".venv") {
                folders.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn rust_files() -> impl Iterator<Item = PathBuf> {
    files().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
}

#[test]
fn every_module_begins_with_its_header() {
    let bare: Vec<_> = rust_files()
        .filter(|path| !fs::read_to_string(path).expect("text").starts_with("//!"))
        .collect();
    assert!(bare.is_empty(), "no `//!` header in {bare:#?}");
}

#[test]
fn no_path_has_a_banned_name() {
    let is_banned = |part: &str| BANNED.contains(&part.trim_end_matches(".rs"));
    let bad: Vec<_> = files()
        .into_iter()
        .filter(|path| {
            let path = path.strip_prefix(root()).expect("below the root");
            path.iter().any(|part| is_banned(&part.to_string_lossy()))
        })
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn no_file_is_longer_than_nine_hundred_lines() {
    let long: Vec<_> = rust_files()
        .filter(|path| fs::read_to_string(path).expect("text").lines().count() > 900)
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// The crates of the table of allowed edges, each with what it may use.
fn allowed_edges() -> BTreeMap<String, BTreeSet<String>> {
    let map = text("ARCHITECTURE.md");
    let (_, table) = map.split_once("| crate | may use |").expect("the table of allowed edges");
    table
        .lines()
        .skip(2)
        .map_while(|line| line.strip_prefix('|'))
        .map(|line| {
            let mut cells = line.split('|').map(str::trim);
            let name = cells.next().expect("a name").trim_matches('`').to_owned();
            let uses = cells.next().expect("what it may use");
            let names = uses.split(',').map(|name| name.trim().trim_matches('`').to_owned());
            (name, names.filter(|name| name != "–").collect())
        })
        .collect()
}

/// The names under `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let text = text(manifest);
    let (_, after) = text.split_once("\n[dependencies]\n").expect("a list of dependencies");
    let names = after.lines().take_while(|line| !line.starts_with('['));
    names.filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned).collect()
}

#[test]
fn the_crates_use_only_what_the_map_allows() {
    let allowed = allowed_edges();
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(allowed.keys().cloned().collect::<BTreeSet<_>>(), folders);
    for (name, may_use) in &allowed {
        let uses = dependencies(&format!("crates/{name}/Cargo.toml"));
        let ours: BTreeSet<_> = uses.intersection(&folders).cloned().collect();
        let forbidden: Vec<_> = ours.difference(may_use).collect();
        assert!(
            forbidden.is_empty(),
            "{name} uses {forbidden:?}, which ARCHITECTURE.md does not allow"
        );
    }
}

#[test]
fn crates_use_only_their_allowed_external_dependencies() {
    for name in allowed_edges().keys() {
        let uses = dependencies(&format!("crates/{name}/Cargo.toml"));
        if !ASYNC.contains(&name.as_str()) {
            assert!(!uses.contains("tokio"), "{name} uses tokio");
        }
        assert!(!uses.contains("anyhow"), "{name} uses anyhow");
        assert!(!uses.contains("clap"), "{name} uses clap");
        assert!(name == "codes" || !uses.contains("dsi-bitstream"), "{name} has bits of its own");
    }
}

#[test]
fn only_codes_and_index_may_use_unsafe_code() {
    for name in allowed_edges().keys() {
        let lib = text(format!("crates/{name}/src/lib.rs"));
        let may = name == "codes" || name == "index";
        assert!(may || lib.contains("#![forbid(unsafe_code)]"), "{name}");
    }
}

#[test]
fn every_link_in_the_documents_has_a_target() {
    let mut dead = Vec::new();
    let front = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name));
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    for path in front.into_iter().chain(files().into_iter().filter(is_page)) {
        let folder = path.parent().expect("a folder").to_owned();
        let text = fs::read_to_string(&path).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !link.is_empty() && !link.contains("://") && !folder.join(link).exists() {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn the_glossary_has_every_key_of_the_configuration() {
    let glossary = text("docs/glossary.md");
    let mut rows = BTreeSet::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| `[")) {
        let (section, rest) = row.split_once(']').expect("the end of a section");
        let keys = rest.split('|').next().expect("a cell").split('`').skip(2).step_by(2);
        rows.extend(keys.map(|key| format!("{section}.{key}")));
    }
    let template: toml::Table = text("src/crivello.toml").parse().expect("valid");
    let keys: BTreeSet<_> = template
        .iter()
        .filter_map(|(section, value)| Some((section, value.as_table()?)))
        .flat_map(|(section, keys)| keys.keys().map(move |key| format!("{section}.{key}")))
        .collect();
    let differ: Vec<_> = keys.symmetric_difference(&rows).collect();
    assert!(differ.is_empty(), "in one of docs/glossary.md and src/crivello.toml: {differ:?}");
}

#[test]
fn the_glossary_names_types_that_exist() {
    let glossary = text("docs/glossary.md");
    let mut missing = Vec::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| `")) {
        let name = row.split('`').next().expect("a name");
        let file = row.rsplit("](").next().and_then(|rest| rest.split(')').next());
        if !name.starts_with(char::is_uppercase) || !name.chars().all(char::is_alphanumeric) {
            continue;
        }
        let code = text(Path::new("docs").join(file.expect("a link")));
        let kinds = ["struct", "enum", "trait", "type"];
        if !kinds.iter().any(|kind| code.contains(&format!("{kind} {name}"))) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "not in the file that docs/glossary.md links: {missing:?}");
}

#[test]
fn ci_runs_the_command_the_readme_gives() {
    let readme = text("README.md");
    let (_, after) = readme.split_once("## Test").expect("a section on testing");
    let command = after.lines().find_map(|line| line.strip_prefix("    ")).expect("a command");
    assert!(text(".ci/run").contains(command.trim()), ".ci/run does not run `{command}`");
}

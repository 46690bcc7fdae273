//! Finds cycles among the top-level modules of each crate.
//!
//! The check reads the source as text: `crate::x` in any file of a module, and `super::x` in a file next to `lib.rs`.
//! A name that `lib.rs` exports again counts as its module. Test modules do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::prose::Limits;
use crate::sandbox::files_below;
use crate::tidy::root;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The code of a file without comments and without the test module at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("text");
    let tests = text.find("mod tests {");
    let lines = text[..tests.unwrap_or(text.len())].lines();
    lines.map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

fn name(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// The first names of a list in braces: `a` and `d` of `{a::{b, c}, d}`.
fn listed(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut names) = (0, 1, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            names.extend(Some(name(list[begin..at].trim_start())).filter(|name| !name.is_empty()));
            begin = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The names behind each `prefix`.
fn paths<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let rests = code.match_indices(prefix).map(|(at, _)| &code[at + prefix.len()..]);
    rests
        .flat_map(|rest| if rest.starts_with('{') { listed(rest) } else { vec![name(rest)] })
        .collect()
}

/// The modules of a crate, and for each the modules that it uses.
fn graph(source: &Path) -> Graph {
    let main = ["lib.rs", "main.rs"].map(|file| source.join(file));
    let main = main.iter().find(|file| file.exists()).expect("lib.rs or main.rs");
    let main_code = code(main);
    let mut graph = Graph::new();
    for line in main_code.lines() {
        if let Some(declared) = line.trim_end().strip_suffix(';')
            && let Some((before, module)) = declared.rsplit_once("mod ")
            && (before.is_empty() || before.ends_with(' '))
        {
            graph.insert(module.to_owned(), BTreeSet::new());
        }
    }
    let mut exported = BTreeMap::new();
    for statement in main_code.split(';').filter(|statement| statement.contains("pub use ")) {
        let path = statement.split("pub use ").nth(1).unwrap_or_default();
        let module = name(path.trim_start_matches("crate::"));
        for word in path.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            exported.insert(word.to_owned(), module.to_owned());
        }
    }
    for file in files_below(source) {
        let below = file.strip_prefix(source).expect("below the source");
        let mut parts = below.iter().map(|part| part.to_string_lossy());
        let module = parts.next().expect("a name").trim_end_matches(".rs").to_owned();
        let is_test = below.ends_with("tests.rs") || below.iter().any(|part| part == "tests");
        if is_test || !graph.contains_key(&module) {
            continue;
        }
        let code = code(&file);
        let mut used = paths(&code, "crate::");
        if parts.next().is_none() {
            used.extend(paths(&code, "super::"));
        }
        let used: Vec<String> = used
            .into_iter()
            .map(|name| {
                if graph.contains_key(name) {
                    name
                } else {
                    exported.get(name).map_or("", String::as_str)
                }
            })
            .filter(|name| *name != module && graph.contains_key(*name))
            .map(str::to_owned)
            .collect();
        graph.get_mut(&module).expect("a module").extend(used);
    }
    graph
}

/// The largest set of modules that reach each other, or nothing if no module reaches itself.
fn largest_cycle(graph: &Graph) -> Vec<String> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|from| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(module) = open.pop() {
                open.extend(graph[module].iter().filter(|next| seen.insert(*next)));
            }
            (from, seen)
        })
        .collect();
    let cycle = |from: &String| -> Vec<String> {
        reach[from].iter().filter(|to| reach[**to].contains(from)).map(|to| (*to).clone()).collect()
    };
    graph.keys().map(cycle).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn modules_do_not_depend_on_each_other_in_large_circles() {
    let limits = Limits::read();
    let mut crates: Vec<_> = fs::read_dir(root().join("crates"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    crates.push(root());
    for folder in crates.iter().filter(|folder| folder.join("src").is_dir()) {
        let name = folder.file_name().expect("a name").to_string_lossy();
        let max = limits.cycles.get(&*name).copied().unwrap_or(limits.cycle_modules_max);
        let cycle = largest_cycle(&graph(&folder.join("src")));
        assert!(cycle.len() <= max, "{name}: more than {max} modules in a cycle: {cycle:?}");
    }
}

#[test]
fn cycles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            graph.entry((*to).to_owned()).or_default();
        }
        graph
    };
    assert!(largest_cycle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let cycle =
        largest_cycle(&graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")]));
    assert_eq!(cycle, ["a", "b", "c"]);
    assert_eq!(
        paths("use crate::a::B; crate::{c, d::{e, f}, g::H,\n}", "crate::"),
        ["a", "c", "d", "g"]
    );
}

//! Compares the text of the trees of html5lib with the text that is read without a tree.
//!
//! Trees move text, for example out of tables, so the test ignores the order of characters. No character may be lost,
//! and no character of a script may appear.

use crate::shared::{self, html_bytes};

/// A case: the markup, and the lines of its tree.
struct Case {
    data: Vec<u8>,
    tree: Vec<String>,
    is_whole_page: bool,
}

#[test]
fn needs_shared_html5lib_trees() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for file in shared::files("html/html5lib-tests/tree-construction", ".dat") {
        for case in cases(&shared::read(&file)) {
            // A fragment begins inside an element that the markup does not contain.
            if !case.is_whole_page || is_beyond_us(&case.data) {
                continue;
            }
            let page = html_bytes(&case.data);
            let (title, text) = expected(&case.tree);
            checked += 1;
            let found = format!("{}{}", page.title, page.text);
            let is_same = letters(&found) == letters(&format!("{title}{text}"));
            if !is_same {
                wrong.push(format!(
                    "{file}: {:?}\n   found {found:?}\n   tree  {:?}",
                    String::from_utf8_lossy(&case.data),
                    format!("{title}{text}")
                ));
            }
        }
    }
    assert!(checked > 1200, "{checked} cases");
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns whether a case requires a tree. This holds for framesets, which drop text, and for `plaintext` where it is
/// not allowed. It holds for text that ends a `noscript` of the head. It also holds for NULs, CDATA and titles in
/// foreign content, because only a tree shows where that ends.
fn is_beyond_us(data: &[u8]) -> bool {
    let data = String::from_utf8_lossy(data).to_ascii_lowercase();
    let has = |part: &str| data.contains(part);
    has("<frameset")
        || has("<plaintext") && (has("<select") || has("<svg"))
        || has("<noscript") && (has("<plaintext") || has("<head><noscript>xxx"))
        || has("<svg") && (has("\0") || has("<div><![cdata[") || has("<title></svg>"))
}

/// The characters except white space and controls, sorted.
fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<_> =
        text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    letters.sort_unstable();
    letters
}

/// The title and the text of a tree. A level is indented by two blanks, and text is in quotes.
fn expected(tree: &[String]) -> (String, String) {
    const HIDDEN: [&str; 8] =
        ["noscript", "script", "style", "template", "iframe", "noembed", "noframes", "textarea"];
    let mut path: Vec<&str> = Vec::new();
    let (mut title, mut text) = (String::new(), String::new());
    let mut has_title = false;
    for line in tree {
        let node = line.trim_start_matches(' ');
        let depth = (line.len() - node.len()) / 2;
        path.truncate(depth);
        if let Some(content) = node.strip_prefix('"') {
            let content = content.strip_suffix('"').unwrap_or(content);
            if path.iter().any(|name| HIDDEN.contains(name) || *name == "svg title") {
                continue;
            }
            if path.last() == Some(&"title") {
                if !has_title {
                    title.push_str(content);
                    has_title = !content.trim().is_empty();
                }
            } else {
                text.push_str(content);
            }
        }
        let name = node.strip_prefix('<').and_then(|node| node.strip_suffix('>'));
        path.push(name.unwrap_or_default());
    }
    (title, text)
}

fn cases(file: &[u8]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut section = Vec::new();
    let mut case: Option<Case> = None;
    for line in file.split(|&byte| byte == b'\n') {
        if line.starts_with(b"#data") {
            cases.extend(case.take());
            case = Some(Case { data: Vec::new(), tree: Vec::new(), is_whole_page: true });
        }
        let is_header = [
            &b"#data"[..],
            b"#errors",
            b"#new-errors",
            b"#document",
            b"#document-fragment",
            b"#script-on",
            b"#script-off",
        ]
        .contains(&line);
        let Some(case) = case.as_mut() else { continue };
        if is_header {
            section = line.to_vec();
            case.is_whole_page &= !matches!(line, b"#document-fragment" | b"#script-on");
            continue;
        }
        match section.as_slice() {
            b"#data" => {
                case.data.extend(line);
                case.data.push(b'\n');
            }
            b"#document" => {
                let line = String::from_utf8_lossy(line);
                match (line.strip_prefix("| "), case.tree.last_mut()) {
                    (Some(node), _) => case.tree.push(node.to_owned()),
                    (None, Some(last)) => {
                        last.push('\n');
                        last.push_str(&line);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    cases.extend(case);
    for case in &mut cases {
        case.data.pop();
        for node in &mut case.tree {
            let kept = node.trim_end_matches('\n').len();
            node.truncate(kept);
        }
    }
    cases
}

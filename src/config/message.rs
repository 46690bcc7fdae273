//! Errors of the TOML parser in plain words.
//!
//! What lives here: messages without the types of a programming language, the line of an error, a suggestion for an
//! unknown key, and a block that contains a key by mistake. What does not: the check of values (`config.rs`).
//!
//! **Invariant.** A message about a value has the value and the valid ones. If the value may be a password, the message
//! has neither the value nor its line.

use std::fmt::Write as _;

use super::{has_key, range_of};

/// Length of the longest line that a message repeats.
const SHOWN_BYTES_MAX: usize = 400;

/// Number of letters of a value that a message repeats.
const VALUE_LETTERS_MAX: usize = 60;

/// Keys whose values, and all values below, may be passwords.
const SECRETS: [[&str; 2]; 2] = [["crawl", "auth"], ["crawl", "headers"]];

/// Returns whether the value at a path, or a value below it, may be a password.
pub(super) fn is_secret(path: &str) -> bool {
    let names = || path.split('.').map(|name| name.trim().trim_matches(['"', '\'']));
    SECRETS.iter().any(|secret| secret.iter().zip(names()).all(|(secret, name)| *secret == name))
}

/// The message with the key, the line and a suggestion.
pub(super) fn explain(error: &toml::de::Error, text: &str, name: &str) -> String {
    let at = error.span().map(|span| text.get(..span.start).unwrap_or(text).matches('\n').count());
    let key = at.and_then(|at| key_of(text, at + 1));
    let range = key.and_then(|(section, key)| range_of(section, key));
    let is_secret = at.is_some_and(|at| has_secret(text, at + 1));
    let words = in_words(error.message(), range.as_deref(), is_secret);
    let mut message = match key {
        Some((section, key)) if words.starts_with("it ") => {
            format!("{name}: the key `{key}` of [{section}] cannot be used: {words}")
        }
        _ => format!("{name}: {words}"),
    };
    if let Some(span) = error.span() {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let shown = show(text, line);
        if shown.is_empty() {
            let _ = write!(message, "\n  in line {line}, column {}", column + 1);
        } else {
            let gutter = line.to_string().len() + " | ".len();
            let _ = write!(message, "{shown}\n  {:1$}^", "", gutter + column);
        }
        if let Some(taken) = taken_in(text, line) {
            let _ = write!(message, "\n{taken}");
        }
    }
    message
}

/// Explains a key that is in a block below its section by mistake. Returns `None` if the line sets no such key.
fn taken_in(text: &str, line: usize) -> Option<String> {
    let (at, header) = header_above(text, line)?;
    let (section, block) = inside(header)?.split_once('.')?;
    let (section, key) = (section.trim(), text.lines().nth(line - 1)?.split_once('=')?.0.trim());
    if !has_key(section, key) {
        return None;
    }
    let header = header.trim();
    Some(format!(
        "`{key}` is a key of [{section}], but the block {header} in line {at} takes in all lines up to the next \
         header: move the block below the other keys of [{section}], or write it as `{} = …` there",
        block.trim()
    ))
}

/// The nearest header at or above a line, with its line number.
fn header_above(text: &str, line: usize) -> Option<(usize, &str)> {
    let is_header = |(_, line): &(usize, &str)| line.trim_start().starts_with('[');
    (1..).zip(text.lines()).take(line).filter(is_header).last()
}

/// The path in a header.
fn inside(header: &str) -> Option<&str> {
    Some(header.trim_start().trim_start_matches('[').split(']').next()?.trim())
}

/// A line to show below a message; empty if it is too long or may hold a password.
pub(super) fn show(text: &str, line: usize) -> String {
    let shown = text.lines().nth(line - 1).filter(|shown| shown.len() <= SHOWN_BYTES_MAX);
    let shown = shown.filter(|_| !has_secret(text, line));
    shown.map(|shown| format!("\n  {line} | {shown}")).unwrap_or_default()
}

/// The number of the line that sets a key.
pub(super) fn line_of(text: &str, section: &str, key: &str) -> Option<usize> {
    (1..=text.lines().count()).find(|&line| key_of(text, line) == Some((section, key)))
}

/// The number of the line where the given block of a key begins.
pub(super) fn block_of(text: &str, section: &str, key: &str, number: usize) -> Option<usize> {
    let is_block = |line: &str| {
        let names = inside(line).into_iter().flat_map(|path| path.split('.'));
        let names = names.map(|name| name.trim().trim_matches(['"', '\'']));
        line.trim_start().starts_with("[[") && names.eq([section, key])
    };
    let blocks = (1..).zip(text.lines()).filter(|(_, line)| is_block(line));
    blocks.map(|(line, _)| line).nth(number - 1)
}

/// Returns whether a line may hold a password: it is in a section of passwords, sets a key for one, or continues the
/// value of such a key.
fn has_secret(text: &str, line: usize) -> bool {
    let mut section = "";
    // The begin of an unfinished value, and whether it is a secret.
    let mut open: Option<(String, bool)> = None;
    let mut last = false;
    for line in text.lines().take(line) {
        let key = line.split('=').next().unwrap_or_default();
        let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        last = is_secret(&path);
        if let Some((value, is_secret)) = &mut open {
            last |= *is_secret;
            value.push('\n');
            value.push_str(line);
            if !is_open(value) {
                open = None;
            }
        } else if let Some(header) = line.trim_start().strip_prefix('[') {
            section = header.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
            last = false;
        } else if is_open(line) {
            open = Some((line.to_owned(), last));
        }
    }
    last
}

/// Returns whether a bracket or a string is still open at the end.
fn is_open(written: &str) -> bool {
    let (mut depth, mut quote) = (0_i32, None);
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('"'), '\\') => {
                letters.next();
            }
            (Some(begun), _) if begun == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '#') => while letters.next().is_some_and(|letter| letter != '\n') {},
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    depth > 0 || quote.is_some()
}

/// The section and the key that a line sets, by the number of the line.
fn key_of(text: &str, line: usize) -> Option<(&str, &str)> {
    let set = text.lines().nth(line - 1)?;
    let inside = inside(header_above(text, line)?.1)?;
    match inside.split_once('.') {
        // A table in a table is a part of the key.
        Some((section, key)) => Some((section.trim(), key.split('.').next()?.trim())),
        None if set.trim_start().starts_with(['#', '[']) => None,
        None => Some((inside, set.split_once('=')?.0.trim())),
    }
}

/// A value for a message, cut if it is long.
pub(super) fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE_LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// The error in plain words: a suggestion instead of all keys, an example or bounds instead of a type, and no value that
/// is a secret.
pub(super) fn in_words(message: &str, range: Option<&str>, is_secret: bool) -> String {
    if let Some(unknown) = message.strip_prefix("unknown field ") {
        let what = format!("unknown key {}", unknown.split(", expected").next().unwrap_or(unknown));
        return match suggestion(message) {
            Some(key) => format!("{what}; did you mean `{key}`?"),
            None => what,
        };
    }
    if message.starts_with("duplicate key") {
        return "this key or section is already set above".to_owned();
    }
    if message.starts_with("cannot extend value of type inline table") {
        return "a line above gives this table a value already, such as `{}`: put the block in the place of that line"
            .to_owned();
    }
    if message.starts_with("string values must be quoted") {
        return "a value is missing, or is a text without quotation marks".to_owned();
    }
    let is_about_value = |(what, _): &(&str, &str)| {
        ["invalid type: ", "invalid value: ", "unknown variant ", "invalid length "]
            .iter()
            .any(|start| what.starts_with(start))
    };
    match message.rsplit_once(", expected ").filter(is_about_value) {
        Some((what, expected)) => {
            let wanted = match range {
                Some(range) if is_integer(expected) => format!("a whole number, {range}"),
                Some(range) if matches!(expected, "f64" | "f32") => format!("a number, {range}"),
                _ => wanted(expected),
            };
            if is_secret {
                return format!("it must be {wanted}");
            }
            format!("it is {}, and must be {wanted}", found(what))
        }
        None if message.contains("socket address") => {
            format!("it must be {}", wanted("socket address"))
        }
        None if message.contains("IP address") => format!("it must be {}", wanted("IP address")),
        None => message.to_owned(),
    }
}

/// The value of an error in words.
fn found(what: &str) -> String {
    let value = what.split_once(": ").map_or(what, |(_, value)| value);
    let quoted = || shortened(value.split('`').nth(1).unwrap_or(value));
    if let Some(text) = value.strip_prefix("string ") {
        let digits = text.trim_matches('"');
        let is_number = digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let kind = if is_number { "a number beyond all bounds" } else { "the text" };
        return format!("{kind}, {}", shortened(text)).replace("text,", "text");
    }
    match value {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        _ if value.starts_with("invalid length") => {
            let length = value.trim_start_matches("invalid length ");
            format!("a list of {}", length.split(',').next().unwrap_or(length))
        }
        _ if value.starts_with("unknown variant") => format!("{:?}", quoted()),
        _ => quoted(),
    }
}

fn is_integer(expected: &str) -> bool {
    matches!(expected, "usize" | "u64" | "u32" | "u16" | "u8" | "i32" | "i64")
}

/// The valid values in words.
fn wanted(expected: &str) -> String {
    let words = match expected {
        "usize" | "u64" => "a whole number, 0 or more",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "i32" | "i64" => "a whole number",
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" | "a path string" => "text in quotation marks",
        "a sequence" => "a list, such as [\"a\", \"b\"]",
        "a map" => "a table, such as { key = \"value\" }",
        "socket address" => "an address and a port, such as \"127.0.0.1:53\"",
        "IP address" => "an address, such as \"127.0.0.1\"",
        _ if expected.starts_with("struct ") => "a table, such as { key = \"value\" }",
        _ => expected.strip_prefix("an array of length").map_or(expected, |_| "a list of two"),
    };
    words.replace('`', "\"")
}

/// The values that a message lists, such as "unknown variant `x`, expected one of `a`, `b`".
pub(super) fn listed(message: &str) -> Vec<&str> {
    let Some(rest) = message.strip_prefix("unknown variant ") else { return Vec::new() };
    rest.split('`').skip(1).step_by(2).skip(1).collect()
}

/// Least likeness of a misspelt key and the suggestion, by Jaro and Winkler.
const LIKENESS_MIN: f64 = 0.7;

/// The key most like the unknown one, if any is, from the list in the message of serde.
fn suggestion(message: &str) -> Option<&str> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&unknown, name);
    let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKENESS_MIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_no_rust_types() {
        for (message, words) in [
            (
                "invalid type: string \"x\", expected usize",
                "it is the text \"x\", and must be a whole number, 0 or more",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "it is -1, and must be a whole number, 0 or more",
            ),
            (
                "invalid value: integer `70000`, expected u16",
                "it is 70000, and must be a whole number from 0 to 65535",
            ),
            (
                "invalid type: map, expected a sequence",
                "it is a table, and must be a list, such as [\"a\", \"b\"]",
            ),
            (
                "invalid type: boolean `true`, expected struct Weights",
                "it is true, and must be a table, such as { key = \"value\" }",
            ),
            (
                "invalid length 1, expected an array of length 2",
                "it is a list of 1, and must be a list of two",
            ),
            (
                "unknown variant `x`, expected `gzip` or `zstd`",
                "it is \"x\", and must be \"gzip\" or \"zstd\"",
            ),
            (
                "unknown variant `x`, expected one of `a`, `b`, `c`",
                "it is \"x\", and must be one of \"a\", \"b\", \"c\"",
            ),
            ("unknown field `x`, expected one of `a`, `b`", "unknown key `x`"),
            (
                "invalid type: string \"99999999999999999999\", expected u64",
                "it is a number beyond all bounds, \"99999999999999999999\", and must be a whole number, 0 or more",
            ),
            (
                "invalid socket address syntax",
                "it must be an address and a port, such as \"127.0.0.1:53\"",
            ),
        ] {
            assert_eq!(in_words(message, None, false), words);
        }
        let long = format!("invalid type: floating point `1{}`, expected u64", "0".repeat(300));
        assert!(in_words(&long, None, false).len() < 150, "{}", in_words(&long, None, false));
        let message = "invalid type: string \"x\", expected usize";
        let words = "it is the text \"x\", and must be a whole number, from 1 to 65536";
        assert_eq!(in_words(message, range_of("crawl", "fetchers").as_deref(), false), words);
        let words = "it is the text \"x\", and must be a number, from 0 to 1";
        let message = "invalid type: string \"x\", expected f64";
        assert_eq!(in_words(message, range_of("search", "b").as_deref(), false), words);
    }

    #[test]
    fn a_misplaced_key_is_reported_with_its_block() {
        let block = "[crawl]\nparsers = 1\n\n[[crawl.auth]] # mine\nhost = \"a\"\n\ndelay_ms = 5\n";
        let said = taken_in(block, 7).expect("it is a key of [crawl]");
        assert!(
            said.starts_with("`delay_ms` is a key of [crawl], but the block [[crawl.auth]]"),
            "{said}"
        );
        assert!(said.contains(" in line 4 ") && said.contains("`auth = …`"), "{said}");
        // Neither what belongs there, nor what belongs nowhere, nor what no block took in.
        for (text, line) in
            [(block, 2), (block, 5), ("[[crawl.auth]]\nx = 1", 2), ("delay_ms = 5", 1)]
        {
            assert_eq!(taken_in(text, line), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_found_in_its_own_section() {
        let text = "# b = 1\n[a]\nb = 1\n[c]\nbb = 0\nb = 2\n[c.d.e]\nx = 1\n";
        let lines =
            [("a", "b"), ("c", "b"), ("c", "d"), ("a", "d")].map(|(s, k)| line_of(text, s, k));
        assert_eq!(lines, [Some(3), Some(6), Some(7), None]);
        assert_eq!(show(text, 6), "\n  6 | b = 2");
        let text = "[[a.b]]\nx = 1\n[[a.c]]\n[a]\n [[ a . 'b' ]] # two\n[[a.b]]\n";
        let blocks = [1, 2, 3, 4].map(|number| block_of(text, "a", "b", number));
        assert_eq!(blocks, [Some(1), Some(5), Some(6), None]);
    }

    #[test]
    fn a_line_that_may_hold_a_password_is_not_repeated() {
        let hidden = [
            "[crawl]\nauth = [{ host = \"a\", password = \"word\" }]",
            "[crawl]\nparsers = 1\nauth = [\n  # the ] first\n  { password = \"word\" },",
            "[[crawl.auth]]\nhost = \"a\"\npassword = \"word\"",
            "[crawl.headers]\nX-Key = \"word\"",
            "[crawl]\nheaders.X-Key = \"word\"",
            "[crawl]\nheaders = { X-Key = \"word\" }",
            "[ \"crawl\" . auth.headers ]\nX-Key = \"word\"",
            "crawl = { headers = { X-Key = \"word\" } }",
            "crawl.auth = \"word\"",
            "[crawl]\nauth = \"\"\"\nword",
            "[serve]\n[[crawl.auth]] # mine\npassword = \"word\"",
            "[crawl]\nkeywords = [\n  [\"a\"],\n]\nauth = \"word\"",
        ];
        for text in hidden {
            assert_eq!(show(text, text.lines().count()), "", "{text}");
        }
        let shown =
            ["[crawl]\nauth = [\n]\nparsers = 0", "[serve]\nheaders = 0", "[crawl]\nauthor = 0"];
        for text in shown {
            assert_ne!(show(text, text.lines().count()), "", "{text}");
        }
        let message = "invalid type: string \"word\", expected a sequence";
        assert!(!in_words(message, None, true).contains("word"));
    }
}

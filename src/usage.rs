//! Messages about a wrong command line, without the words of a programming language.
//!
//! Commands and flags are in `cmd/`, messages about keys in `config/message.rs`.

use clap::error::ErrorKind;

use crate::console::print;

/// Messages of the parsers of numbers and addresses, and their replacements.
const WORDS: [(&str, &str); 8] = [
    ("invalid digit found in string", "it must be a whole number, 0 or more"),
    ("cannot parse integer from empty string", "it must be a whole number, 0 or more"),
    ("number too large to fit in target type", "the number is too great"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "it must be a number"),
    ("cannot parse float from empty string", "it must be a number"),
    ("invalid socket address syntax", "it must be an address and a port, such as 127.0.0.1:7700"),
    ("invalid IP address syntax", "it must be an address, such as 127.0.0.1"),
];

/// Prints an error of the command line, or the help it asked for. Returns the exit code.
pub(crate) fn answer(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::ValueValidation => print(in_words(&error.to_string()).trim_end()),
        ErrorKind::UnknownArgument => print(without_tip(&error.to_string()).trim_end()),
        // A closed standard error is no failure.
        _ => drop(error.print()),
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Removes the tip that an unknown flag may be meant as a value: nobody means it so.
fn without_tip(message: &str) -> String {
    let lines = message.lines().filter(|line| !line.trim_start().starts_with("tip: to pass '"));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace("\n\n\n", "\n\n")
}

/// Replaces the words of a programming language.
fn in_words(message: &str) -> String {
    let mut message = message.to_owned();
    for (theirs, ours) in WORDS {
        message = message.replace(theirs, ours);
    }
    // `0 is not in 1..=1000`
    match message.split_once(" is not in ").zip(message.split_once("..=")) {
        Some(((before, _), (least, most))) => {
            let what = before.rsplit_once(": ").map_or(before, |(what, _)| what);
            let least = least.rsplit(' ').next().unwrap_or_default();
            format!("{what}: it must be from {least} to {most}")
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_flag_has_no_tip_about_values() {
        let theirs = "error: unexpected argument '--limit' found\n\n  tip: to pass '--limit' as a value, use '-- \
                      --limit'\n\nUsage: x";
        assert_eq!(without_tip(theirs), "error: unexpected argument '--limit' found\n\nUsage: x");
    }

    #[test]
    fn bounds_are_written_in_words() {
        let theirs = "error: invalid value '0' for '--k <K>': 0 is not in 1..=1000\n\nFor more";
        let ours = "error: invalid value '0' for '--k <K>': it must be from 1 to 1000\n\nFor more";
        assert_eq!(in_words(theirs), ours);
        assert_eq!(in_words("error: something else"), "error: something else");
    }
}

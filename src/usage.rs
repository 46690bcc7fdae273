//! What reading the command line has to say, in words for people.
//!
//! What lives here: the messages of the parsers of single values without the words of a programming language. What does
//! not: which commands and flags there are (`cmd/`), and messages about keys (`config/message.rs`).
//!
//! **Invariant.** A value that cannot be read is told with the flag that it was given to and with what may stand there.

use clap::error::ErrorKind;

/// What the parsers of numbers and addresses say, and what that means.
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

/// Says what is wrong with the command line, or what it asked to be told (`--help`); the exit code.
pub(crate) fn answer(error: &clap::Error) -> u8 {
    if error.kind() == ErrorKind::ValueValidation {
        crate::talk::print(in_words(&error.to_string()).trim_end());
    } else {
        // Where nobody can hear it there is nobody to tell.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

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
    fn bounds_are_told_in_words() {
        let theirs = "error: invalid value '0' for '--k <K>': 0 is not in 1..=1000\n\nFor more";
        let ours = "error: invalid value '0' for '--k <K>': it must be from 1 to 1000\n\nFor more";
        assert_eq!(in_words(theirs), ours);
        assert_eq!(in_words("error: something else"), "error: something else");
    }
}

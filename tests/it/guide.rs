//! The guide is true: its commands run as printed.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, files_below};

/// The lines of a page of the guide that call the binary, without its name and without comments.
fn commands(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide").join(page);
    let text = fs::read_to_string(path).expect("a page of the guide");
    let lines = text.lines().filter_map(|line| line.strip_prefix("    crivello "));
    lines.map(|line| line.split("  ").next().unwrap_or_default().to_owned()).collect()
}

/// Splits as a shell does, as far as the guide needs it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("one at least").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_first_steps_work_as_printed() {
    let sandbox = Sandbox::new();
    let mut web = sandbox.start(&["simweb", "--port", "0"]);
    let seed = web.first_line();
    let lines = commands("first-steps.md");
    assert!(lines.iter().any(|line| line.starts_with("crawl")), "{lines:?}");
    for line in lines {
        let line = line.replace("http://garden.localhost:7780/", &seed.replace("portal", "garden"));
        let words = words(&line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[0] {
            // The page is asked for elsewhere; here it only has to start.
            "up" | "simweb" => {}
            "serve" => {
                let arguments = [&words[..], &["--listen", "127.0.0.1:0"]].concat();
                assert!(sandbox.start(&arguments).first_line().starts_with("http://"));
            }
            _ => {
                sandbox.done(&words);
            }
        }
    }
}

#[test]
fn every_command_of_the_guide_parses() {
    let sandbox = Sandbox::new();
    let mut count = 0;
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide");
    for page in fs::read_dir(guide).expect("the guide") {
        let page = page.expect("a page").file_name().into_string().expect("a name in UTF-8");
        for line in commands(&page) {
            let words = words(&line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // With --help nothing is done, but flags that do not exist are still an error.
            let ran = sandbox.run(&[&words[..1], &["--help"], &words[1..]].concat());
            assert_eq!(ran.code, 0, "{page}: {line}: {ran:#?}");
            count += 1;
        }
    }
    assert!(count > 15, "only {count} commands");
}

#[test]
fn manual_pages_and_completions_are_printed() {
    let sandbox = Sandbox::new();
    assert!(sandbox.done(&["man"]).contains(".TH crivello"));
    sandbox.done(&["man", "--out", "man"]);
    let pages = files_below(&sandbox.path("man"));
    let of_help = pages.iter().filter(|page| page.to_string_lossy().contains("-help"));
    assert_eq!(of_help.count(), 0, "{pages:?}");
    assert!(
        fs::read_to_string(sandbox.path("man/crivello-crawl.1")).expect("a page").contains("seeds")
    );
    for page in &pages {
        let text = fs::read_to_string(page).expect("a page");
        // Examples have a section of their own, each beginning a line, and every page that is named is there.
        assert!(!text.contains("EXTRA") && !text.contains("Examples:"), "{text}");
        let (_, examples) = text.split_once(".SH EXAMPLES\n").expect("examples");
        assert!(examples.contains(".TP\n\\fBcrivello"), "{text}");
        for named in text.lines().filter_map(|line| line.strip_suffix("(1)")) {
            let named = sandbox.path("man").join(format!("{}.1", named.replace('\\', "")));
            assert!(pages.contains(&named), "{}: {}", page.display(), named.display());
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.done(&["completions", shell]).contains("crivello"), "{shell}");
    }
}

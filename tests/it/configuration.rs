//! Every key of `crivello.toml` at, below and beyond its bounds.
//!
//! What lives here: the keys by the schema that the binary prints, each value given with `--set`, and crawls
//! with the least and the greatest of each.

use std::fs;

use serde_json::{Map, Value};

use crate::sandbox::{Ran, Sandbox, small_web};

fn check(sandbox: &Sandbox, assignment: &str) -> Ran {
    sandbox.run(&["config", "check", "--dir", "web", "--set", assignment])
}

/// The keys of a section, with their schemas.
fn keys(sandbox: &Sandbox, section: &str) -> Map<String, Value> {
    let schema: Value = serde_json::from_str(&sandbox.done(&["config", "schema"])).expect("JSON");
    let keys = schema["properties"][section]["properties"].as_object();
    keys.unwrap_or_else(|| panic!("no section {section}")).clone()
}

fn integers(sandbox: &Sandbox) -> Vec<(String, i64, i64)> {
    let keys = keys(sandbox, "crawl");
    let integers = keys.iter().filter(|(_, about)| about["type"] == "integer");
    let bound =
        |about: &Value, which: &str| about[which].as_i64().unwrap_or_else(|| panic!("{about}"));
    integers
        .map(|(key, about)| (key.clone(), bound(about, "minimum"), bound(about, "maximum")))
        .collect()
}

#[test]
fn numbers_out_of_bounds_are_refused_with_the_bounds() {
    let sandbox = Sandbox::with_collection();
    let integers = integers(&sandbox);
    assert!(integers.len() > 50, "{integers:?}");
    for (key, least, most) in integers {
        for value in [least.checked_sub(1), most.checked_add(1)].into_iter().flatten() {
            let ran = check(&sandbox, &format!("crawl.{key}={value}"));
            let says = |bound: i64| ran.stderr.contains(&bound.to_string());
            assert!(ran.code == 2 && says(value), "{key}={value}: {ran:#?}");
            assert!(says(least) && (says(most) || most == i64::MAX), "{key}={value}: {ran:#?}");
            assert!(!ran.stderr.contains("crivello.toml"), "{key}={value}: {ran:#?}");
            assert!(ran.stderr.contains(&format!("--set crawl.{key}={value}")), "{ran:#?}");
        }
    }
}

/// Every number has bounds, the same in the schema and in the check.
#[test]
fn every_number_has_bounds_that_the_check_enforces() {
    let sandbox = Sandbox::with_collection();
    let schema: Value = serde_json::from_str(&sandbox.done(&["config", "schema"])).expect("JSON");
    let mut numbers = Vec::new();
    for (section, about) in schema["properties"].as_object().expect("sections") {
        collect_numbers(section, about, &mut numbers);
    }
    let has = |path: &str| numbers.iter().any(|(other, _)| other == path);
    for path in ["analysis.term_bytes_max", "search.k1", "search.weights.anchor", "search.b"] {
        assert!(has(path), "{path}: {numbers:?}");
    }
    assert!(has("crawl.calendar_years") && has("crawl.weights.off_site"), "{numbers:?}");
    for (path, about) in numbers {
        let bounds = ["minimum", "maximum"].map(|bound| about[bound].as_f64());
        let [Some(least), Some(most)] = bounds else { panic!("{path}: {about}") };
        // The test above checks the keys of [crawl].
        if path.starts_with("crawl.") {
            continue;
        }
        let shown = |value: f64| {
            if about["type"] == "integer" { format!("{value:.0}") } else { format!("{value:?}") }
        };
        for (value, is_right) in
            [(least, true), (most, true), (least - 1.0, false), (most + 1.0, false)]
        {
            let assignment = match path.split('.').collect::<Vec<_>>()[..] {
                [section, table, key] => {
                    format!("{section}.{table}={{ {key} = {} }}", shown(value))
                }
                _ => format!("{path}={}", shown(value)),
            };
            let ran = check(&sandbox, &assignment);
            assert_eq!(ran.code, if is_right { 0 } else { 2 }, "{assignment}: {ran:#?}");
            let says = |bound: f64| ran.stderr.contains(&bound.to_string());
            assert!(is_right || says(least) && says(most), "{assignment}: {ran:#?}");
        }
    }
}

/// The numbers of a part of the schema, with their paths.
fn collect_numbers(path: &str, about: &Value, out: &mut Vec<(String, Value)>) {
    if about["type"] == "integer" || about["type"] == "number" {
        out.push((path.to_owned(), about.clone()));
    }
    if about["items"].is_object() {
        collect_numbers(path, &about["items"], out);
    }
    for (key, inner) in about["properties"].as_object().into_iter().flatten() {
        collect_numbers(&format!("{path}.{key}"), inner, out);
    }
}

/// A crawl with any valid number fetches its page.
#[test]
fn the_minimum_and_maximum_of_every_number_work() {
    let server = small_web();
    let seed = &server.web().seeds()[0];
    let sandbox = Sandbox::new();
    sandbox.init(&server);
    for (key, least, most) in integers(&sandbox) {
        for value in [least, most] {
            // Another key that the tested one depends on.
            let other = match key.as_str() {
                // These wait for a day before the first page.
                "delay_ms" | "ip_delay_ms" if value == most => continue,
                "relative_ms_min" => "crawl.relative_ms_max=86400000",
                "relative_ms_max" => "crawl.relative_ms_min=0",
                "dns_ttl_s_max" => "crawl.dns_ttl_s_min=1",
                "dns_ttl_s_min" => "crawl.dns_ttl_s_max=2147483647",
                "recrawl_max_s" => "crawl.recrawl_min_s=0",
                "recrawl_min_s" => "crawl.recrawl_max_s=315360000",
                "agent" => "crawl.agents=256",
                "sieve_capacity" => "crawl.sieve_precision=1",
                _ if key.starts_with("sieve_") => "crawl.sieve=offline",
                _ => "crawl.sieve=memory",
            };
            for name in ["archive", "frontier"] {
                let _ = fs::remove_dir_all(sandbox.path("web").join(name));
            }
            let set = format!("crawl.{key}={value}");
            let flags = ["crawl", "--dir", "web", "--list", seed, "--set", other, "--set", &set];
            let ran = sandbox.run(&flags);
            // The page may be too large or too slow; the crawl reports it.
            let is_told = match key.as_str() {
                "body_bytes_max" => ran.stderr.contains("too large"),
                // The robots.txt may be too slow as well.
                _ if key.ends_with("timeout_ms") && value == least => {
                    ran.code == 1 && ran.stderr.contains("no page could be fetched")
                }
                _ => false,
            };
            assert!(ran.code == 0 || is_told, "{set}: {ran:#?}");
        }
    }
}

#[test]
fn invalid_settings_are_refused_with_a_remedy() {
    let sandbox = Sandbox::with_collection();
    for (assignment, words) in [
        ("crawl.fetchers=x", "it is the text \"x\", and must be a whole number, from 1 to 65536"),
        ("crawl.fetchers=1.5", "it is 1.5, and must be a whole number, from 1 to 65536"),
        ("crawl.agent=1", "it is 1, and must be less than `agents`, which is 1"),
        ("crawl.relative_ms_min=70000", "must not be more than `relative_ms_max`, which is 60000"),
        ("crawl.calendar_years=[2000, 1999]", "the first year, 2000, comes after the last, 1999"),
        ("crawl.skip_extensions=['tar.gz']", "follows the last dot"),
        ("crawl.keywords=[' ']", "blank"),
        ("crawl.contact=me", "write an e-mail address, or a web page"),
        ("crawl.user_agent=-1", "a name of letters"),
        ("search.k1=x", "it is the text \"x\", and must be a number"),
        ("crawl.resolve={ 'http://a/' = '127.0.0.1' }", "is no host"),
        ("crawl.resolve={ 'a.test' = '127.0.0.1', 'A.test' = '127.0.0.2' }", "twice"),
        ("crawl.dns_servers=['127.0.0.1:0']", "the usual one is 53"),
        ("crawl.cookies_file=missing", "`cookies_file`"),
        ("crawl.tls_roots=missing", "`tls_roots`"),
        ("search.b=nan", "must be a number from 0 to 1"),
        ("dedup.fold=all", "one of"),
        ("crawl.order=depth-first", "never comes back"),
        ("crawl.fetch_filter=hots = a", "did you mean `host`?"),
    ] {
        let ran = check(&sandbox, assignment);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{assignment}: {ran:#?}");
    }
}

/// An error names the source of the wrong value: file, environment or command line.
#[test]
fn an_invalid_setting_is_reported_with_its_source() {
    let sandbox = Sandbox::with_collection();
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text");
    let line = text.lines().position(|line| line == "parsers = 1").expect("a line") + 1;
    fs::write(&file, text.replace("\nparsers = 1\n", "\nparsers = 0\n")).expect("written");
    let ran = sandbox.run(&["config", "check", "--dir", "web"]);
    assert!(ran.code == 2 && ran.stderr.contains(&format!("{line} | parsers = 0")), "{ran:#?}");
    assert!(ran.stderr.contains("web/crivello.toml: the key `parsers` of [crawl]"), "{ran:#?}");
    // Corrected on the command line, it is no error.
    assert_eq!(check(&sandbox, "crawl.parsers=2").code, 0);
    fs::write(&file, text).expect("written");
    let mut command = sandbox.command(&["config", "check", "--dir", "web"]);
    let output = command.env("CRIVELLO_CRAWL_PARSERS", "0").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("CRIVELLO_CRAWL_PARSERS=0: the key `parsers`"), "{said}");
    // The key that does not fit was not changed itself.
    let ran = check(&sandbox, "crawl.relative_ms_max=1");
    assert!(ran.stderr.contains("with --set crawl.relative_ms_max: "), "{ran:#?}");
    assert!(!ran.stderr.contains("crivello.toml"), "{ran:#?}");
}

/// No error about a password, a header or a key beside them prints their value.
#[test]
fn no_message_repeats_a_password() {
    let sandbox = Sandbox::with_collection();
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text");
    for assignment in [
        "crawl.auth=[{ host = '', user = 'me', password = 'swordfish' }]",
        "crawl.auth=[{ host = 'a.test', user = 'me:swordfish' }]",
        "crawl.auth=swordfish",
        "crawl.auth=[{ host = 'a.test', pasword = 'swordfish' }]",
        "crawl.headers={ Host = 'swordfish' }",
        "crawl.headers=['swordfish']",
        "headers={ X-Key = 'swordfish' }",
    ] {
        let ran = check(&sandbox, assignment);
        assert!(ran.code == 2 && !ran.stderr.contains("swordfish"), "{assignment}: {ran:#?}");
    }
    for lines in [
        "[[crawl.auth]]\nhost = \"\"\nuser = \"me\"\npassword = \"swordfish\"\n",
        "[[crawl.auth]]\nhost = \"a.test\"\npasword = \"swordfish\"\n",
        "[[crawl.auth]]\nhost = \"a.test\"\npassword = \"swordfish\n",
        "[[crawl.auth]]\nhost = \"a.test\"\nheaders = \"swordfish\"\n",
        "[crawl]\nauth = [{ host = \"\", user = \"me\", password = \"swordfish\" }]\n",
        "[crawl]\nauth = [\n  { host = \"a.test\", password = [\"swordfish\"] },\n]\n",
        "[crawl]\nheaders = { Host = \"swordfish\" }\n",
        "[crawl.headers]\nHost = \"swordfish\"\n",
    ] {
        fs::write(&file, lines).expect("written");
        let ran = sandbox.run(&["config", "check", "--dir", "web"]);
        assert!(ran.code == 2 && !ran.stderr.contains("swordfish"), "{lines}: {ran:#?}");
    }
    fs::write(&file, text).expect("written");
    // A variable that is not part of the error.
    let flags = ["config", "check", "--dir", "web", "--set", "crawl.relative_ms_max=1"];
    let mut command = sandbox.command(&flags);
    let output = command.env("CRIVELLO_CRAWL_HEADERS", "{ X-Key = 'swordfish' }").output();
    let said = String::from_utf8_lossy(&output.expect("it runs").stderr).into_owned();
    assert!(said.contains("with CRIVELLO_CRAWL_HEADERS, --set crawl.relative_ms_max: "), "{said}");
    assert!(!said.contains("swordfish"), "{said}");
}

/// The block of passwords from the guide, in the middle of the file that `init` writes.
#[test]
fn keys_misplaced_below_a_block_are_reported_with_it() {
    let sandbox = Sandbox::with_collection();
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text");
    let block =
        "[[crawl.auth]]\nhost = \"wiki.example.org\"\nuser = \"me\"\npassword = \"swordfish\"\n";
    let run = || sandbox.run(&["config", "check", "--dir", "web"]);
    fs::write(&file, text.replace("\nauth = []\n", &format!("\n{block}"))).expect("written");
    let ran = run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    // The first key, by name, that the block took in.
    assert!(ran.stderr.contains("unknown key `agent`"), "{ran:#?}");
    let said = "`agent` is a key of [crawl], but the block [[crawl.auth]] in line ";
    assert!(ran.stderr.contains(said) && ran.stderr.contains("move the block"), "{ran:#?}");
    assert!(!ran.stderr.contains("swordfish"), "{ran:#?}");
    // The remedy of the message works; so does the other syntax.
    let moved = text
        .replace("\nauth = []\n", "\n")
        .replace("\n[analysis]\n", &format!("\n{block}\n[analysis]\n"));
    let inline = text
        .replace("\nauth = []\n", "\nauth = [{ host = \"wiki.example.org\", user = \"me\" }]\n");
    let last = format!("{}\n{block}", text.replace("\nauth = []\n", "\n"));
    for text in [moved, inline, last] {
        fs::write(&file, &text).expect("written");
        assert_eq!(run().code, 0, "{:#?}", run());
    }
}

/// The check accepts exactly the choices of the schema.
#[test]
fn the_schema_lists_the_allowed_values_of_keys() {
    let sandbox = Sandbox::with_collection();
    let schema: Value = serde_json::from_str(&sandbox.done(&["config", "schema"])).expect("JSON");
    let of = |path: &str| {
        let (section, key) = path.split_once('.').expect("a path");
        let about = &schema["properties"][section]["properties"][key];
        let about = if about["type"] == "array" { &about["items"] } else { about };
        let words = about["enum"].as_array().unwrap_or_else(|| panic!("{path}: {about}")).iter();
        words.map(|word| word.as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    for (path, count) in [
        ("index.docs_code", 12),
        ("index.freqs_code", 12),
        ("index.positions_code", 12),
        ("analysis.stemmer", 19),
        ("crawl.order", 3),
        ("crawl.scope", 5),
        ("crawl.politeness", 2),
        ("crawl.normalise", 5),
        ("crawl.sieve", 5),
        ("crawl.assignment", 2),
        ("crawl.recrawl", 4),
        ("crawl.archive_compression", 2),
        ("rank.dead_ends", 2),
        ("rank.solver", 2),
    ] {
        let words = of(path);
        assert_eq!(words.len(), count, "{path}: {words:?}");
        for word in &words {
            let word =
                if path.ends_with("normalise") { format!("['{word}']") } else { word.clone() };
            let ran = check(&sandbox, &format!("{path}={word}"));
            // A scope that needs more keys says which.
            assert!(ran.code == 0 || ran.stderr.contains("`scope_"), "{path}={word}: {ran:#?}");
        }
        assert_eq!(check(&sandbox, &format!("{path}=x")).code, 2, "{path}");
    }
    let free = &schema["properties"]["crawl"]["properties"];
    assert!(free["contact"]["enum"].is_null() && free["keywords"]["items"].is_null(), "{free}");
}

//! `crivello codes`: the tables of the specification, errors, and statistics of an index.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Checks the codewords of 0, 1, 2, …, and that they decode to these numbers.
fn check_table(flags: &str, table: &[&str]) {
    let sandbox = Sandbox::new();
    let flags: Vec<&str> = flags.split(' ').collect();
    let numbers: Vec<String> = (0..table.len()).map(|n| n.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let encoded = sandbox.done(&[&["codes", "encode"], &flags[..], &numbers].concat());
    assert_eq!(encoded.lines().collect::<Vec<_>>(), table, "{flags:?}");
    let decoded = piped(&sandbox, &[&["codes", "decode"], &flags[..]].concat(), &encoded);
    assert_eq!(decoded.lines().collect::<Vec<_>>(), numbers, "{flags:?}");
}

/// Runs a command with text on standard input; it must succeed.
fn piped(sandbox: &Sandbox, arguments: &[&str], input: &str) -> String {
    let mut command = sandbox.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("it listens");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn codewords_match_the_specification() {
    check_table("--code unary", &["1", "01", "001", "0001", "00001"]);
    check_table("--code reduced-binary", &["", "0", "1", "00", "01", "10", "11", "000"]);
    check_table("--code gamma", &["1", "010", "011", "00100", "00101", "00110"]);
    check_table("--code delta", &["1", "0100", "0101", "01100", "01101", "01110", "01111"]);
    check_table("--code golomb --modulus 3", &["10", "110", "111", "010", "0110", "0111"]);
    check_table("--code zeta", &["100", "1010", "1011", "1100", "1101", "1110", "1111"]);
    check_table("--code zeta -k 2", &["10", "110", "111", "01000", "01001", "01010"]);
    check_table("--code minimal-binary --bound 5", &["00", "01", "10", "110", "111"]);
    check_table("--code minimal-binary --bound 1", &[""]);
    check_table("--code vbyte", &["00000000", "00000001", "00000010"]);
    check_table("--code prefix-vbyte", &["00000000", "00000001", "00000010"]);
}

/// Lengths 2λ(x+1)+1 and 2λ(λ(x+1)+1)+1+λ(x+1).
#[test]
fn gamma_and_delta_lengths_match_the_specification() {
    let sandbox = Sandbox::new();
    let lambda = |x: u64| u64::from(x.ilog2());
    for x in [0, 1, 6, 7, 1000, 65_535, (1 << 40) - 1, u64::MAX - 1] {
        let text = x.to_string();
        let bits = |code: &str| {
            let answer = sandbox.json(&["codes", "encode", "--code", code, &text]);
            assert_eq!(answer["number"], x);
            let codeword = answer["codeword"].as_str().expect("text").len() as u64;
            assert_eq!(answer["bits"], codeword);
            codeword
        };
        assert_eq!(bits("gamma"), 2 * lambda(x + 1) + 1, "{x}");
        let delta = 2 * lambda(lambda(x + 1) + 1) + 1 + lambda(x + 1);
        assert_eq!(bits("delta"), delta, "{x}");
    }
}

#[test]
fn byte_codes_encode_and_decode_numbers_of_any_size() {
    let sandbox = Sandbox::new();
    let encode = |code: &str, n: &str| sandbox.done(&["codes", "encode", "--code", code, n]);
    assert_eq!(encode("vbyte", "300"), "1010110000000010\n");
    assert_eq!(encode("prefix-vbyte", "300"), "1000000010101100\n");
    for code in ["vbyte", "prefix-vbyte"] {
        let all = "0 127 128 16511 16512 4294967295 18446744073709551615";
        let words = piped(&sandbox, &["codes", "encode", "--code", code], all);
        let back = piped(&sandbox, &["codes", "decode", "--code", code], &words);
        assert_eq!(back.lines().collect::<Vec<_>>(), all.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn golomb_chooses_its_modulus_from_the_numbers() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["codes", "encode", "--code", "golomb", "9", "11"]);
    // A mean of 10: 0.69 times that is 7.
    assert!(ran.stderr.contains("modulus 7"), "{ran:#?}");
    let given = sandbox.done(&["codes", "encode", "--code", "golomb", "--modulus", "7", "9", "11"]);
    assert_eq!((ran.code, ran.stdout), (0, given));
}

/// The greatest number of every code survives encoding and decoding. For the next number, the error names a
/// remedy.
#[test]
fn too_large_numbers_are_refused_with_a_remedy() {
    let sandbox = Sandbox::new();
    let check = |flags: &str, greatest: &str, beyond: &str, cure: &str| {
        let flags: Vec<&str> = flags.split(' ').collect();
        let words = sandbox.done(&[&["codes", "encode"], &flags[..], &[greatest]].concat());
        // `encode` chooses a parameter by the number; `decode` needs it as a flag.
        let modulus = ["--modulus", "12786308645202655232"];
        let fitted = flags.ends_with(&["golomb"]);
        let parameter: &[&str] = if fitted { &modulus } else { &[] };
        let back = [&["codes", "decode"], &flags[..], parameter].concat();
        assert_eq!(piped(&sandbox, &back, &words), format!("{greatest}\n"), "{flags:?}");
        let ran = sandbox.run(&[&["codes", "encode"], &flags[..], &[beyond]].concat());
        assert!(ran.code == 2 && ran.stderr.contains(cure), "{flags:?} {beyond}: {ran:#?}");
    };
    let (last, after) = ("18446744073709551614", "18446744073709551615");
    for flags in ["gamma", "delta", "zeta -k 1", "zeta", "zeta -k 7", "golomb", "reduced-binary"] {
        check(&format!("--code {flags}"), last, after, "`--code vbyte` has one");
    }
    for modulus in ["9223372036854775808", "12786308645202655232", after] {
        let flags = format!("--code golomb --modulus {modulus}");
        check(&flags, last, after, "`--code vbyte` has one");
    }
    for code in ["vbyte", "prefix-vbyte"] {
        check(&format!("--code {code}"), after, "18446744073709551616", "not a number from 0 to");
    }
    let bound = format!("--code minimal-binary --bound {after}");
    check(&bound, last, after, "`--code vbyte` has one");
    check("--code minimal-binary --bound 5", "4", "5", "`--bound 6` or more has one");
    check("--code unary", "1000000", "1048576", "`--code delta` has a shorter one");
    check("--code unary", "1048575", "4294967296", "`--code delta` has one");
    // Of some 2²⁰ bits at most.
    let shorter = "`--modulus 17593276631061` or more has a shorter one";
    check(
        "--code golomb --modulus 3",
        "3000000",
        last,
        "`--modulus 17593276631061` or more has one",
    );
    check("--code golomb --modulus 92233720368547", last, after, "`--code vbyte` has one");
    check("--code golomb --modulus 4294967296", "12884901887", last, shorter);
}

#[test]
fn several_codewords_decode_to_several_numbers() {
    let sandbox = Sandbox::new();
    let run = |word: &str| sandbox.done(&["codes", "decode", "--code", "gamma", word]);
    assert_eq!(run("001011010"), "4\n0\n1\n");
    assert_eq!(piped(&sandbox, &["codes", "decode", "--code", "gamma"], "1\n\n011 \n"), "0\n2\n");
    let lines = sandbox.done(&["codes", "decode", "--code", "gamma", "011", "1", "--json"]);
    assert_eq!(lines, "{\"number\":2}\n{\"number\":0}\n");
}

#[test]
fn invalid_numbers_and_codewords_are_wrong_usage() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        ("encode --code gamma x", "not a number"),
        ("encode --code minimal-binary 1", "--bound"),
        ("encode --code zeta -k 8 1", "-k"),
        ("encode --code gamma --modulus 3 1", "--modulus does not go"),
        ("decode --code golomb 10", "needs --modulus"),
        ("decode --code gamma 02", "0 and 1"),
        ("decode --code gamma 1001", "no gamma codeword from bit 1"),
        ("decode --code minimal-binary --bound 1 0", "empty"),
        ("prefix 1 2 2 2", "Kraft sum is 1.25"),
        ("rans 0 0", "no symbol has a weight"),
        ("rans 1 1 --push 2", "cannot be pushed"),
        ("--svg x.svg encode --code gamma 1", "--svg"),
    ] {
        let words: Vec<&str> = ["codes"].into_iter().chain(arguments.split(' ')).collect();
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, 2, "{arguments}: {ran:#?}");
        assert!(ran.stderr.contains(message), "{arguments}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments}");
    }
}

#[test]
fn the_rans_table_matches_the_specification() {
    let sandbox = Sandbox::new();
    let answer = sandbox.json(&["codes", "rans", "--bits", "10", "27", "1", "2"]);
    assert_eq!(answer["frequencies"], serde_json::json!([922, 34, 68]));
    assert_eq!(answer["starts"], serde_json::json!([0, 922, 956]));
    let text = sandbox.done(&["codes", "rans", "--bits", "10", "27", "1", "2"]);
    let rows: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows, [["0", "922", "0"], ["1", "34", "922"], ["2", "68", "956"]]);
    let flags = ["--state", "1000", "--push", "1,0", "27", "1", "2"];
    let answer = sandbox.json(&[&["codes", "rans"], &flags[..]].concat());
    // (⌊1000/34⌋ << 10) + 922 + 1000 mod 34, and likewise for 922 slots from 0 on.
    let first = (29 << 10) + 922 + 14;
    let second = ((first / 922) << 10) + first % 922;
    assert_eq!(answer["states"], serde_json::json!([1000, first, second]));
}

#[test]
fn a_prefix_code_is_built_from_its_lengths() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.done(&["codes", "prefix", "1", "2", "3", "3"]), "0\n10\n110\n111\n");
    let answer = sandbox.json(&["codes", "prefix", "3", "1", "2"]);
    assert_eq!(answer["codewords"], serde_json::json!(["110", "0", "10"]));
    assert_eq!(answer["kraft_sum"], 0.875);
}

fn stream<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let streams = answer["streams"].as_array().expect("streams");
    streams.iter().find(|stream| stream["stream"] == name).expect("a stream of that name")
}

fn bits(stream: &Value, code: &str) -> f64 {
    let codes = stream["codes"].as_array().expect("codes");
    let code = codes.iter().find(|entry| entry["code"] == code).expect("a code of that name");
    code["bits_per_number"].as_f64().expect("a number")
}

#[test]
fn an_empty_index_has_no_numbers_to_survey() {
    let sandbox = Sandbox::with_collection();
    sandbox.done(&["index", "--dir", "web"]);
    let ran = sandbox.run(&["codes", "--dir", "web"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:#?}");
}

/// Three documents that can be counted by hand.
#[test]
fn an_index_is_surveyed() {
    let sandbox = Sandbox::with_collection();
    let lines: Vec<String> = ["rose", "rose tulip tulip", "rose rose rose tulip"]
        .iter()
        .enumerate()
        .map(|(id, text)| {
            format!("{{\"id\":\"{id}\",\"url\":\"http://a.example/{id}\",\"title\":\"\",\"text\":\"{text}\"}}")
        })
        .collect();
    std::fs::write(sandbox.path("docs.jsonl"), lines.join("\n")).expect("a file");
    sandbox.done(&["import", "--dir", "web", "docs.jsonl"]);
    let ran = sandbox.run(&["codes", "--dir", "web"]);
    assert_eq!(ran.code, 1, "no index yet: {ran:#?}");
    sandbox.done(&["index", "--dir", "web"]);

    let answer = sandbox.json(&["codes", "--dir", "web", "--svg", "codes.svg"]);
    assert_eq!(answer["documents"], 3);
    for name in ["gaps", "frequencies", "positions"] {
        let stream = stream(&answer, name);
        assert_eq!(stream["codes"].as_array().expect("codes").len(), 20, "{name}");
        let entropy = stream["entropy"].as_f64().expect("a number");
        for code in ["unary", "gamma", "delta", "zeta", "golomb", "minimal-binary", "vbyte"] {
            assert!(bits(stream, code) >= entropy - 1e-9, "{name}: {code} is below the entropy");
        }
        // The printed recommendation is valid configuration.
        let recommended = stream["recommended"].as_str().expect("text");
        let key = stream["key"].as_str().expect("text");
        let choice = format!("index.{key}={recommended}");
        sandbox.done(&["config", "check", "--dir", "web", "--set", &choice]);
        for code in stream["codes"].as_array().expect("codes") {
            let (name, choose) = (code["code"].as_str().expect("text"), &code["choose"]);
            let is_odd = name == "unary" || name == "zeta" && code["parameter"] != 3;
            assert_eq!(choose.is_null(), is_odd, "{code}");
            let choose = choose.as_str().unwrap_or(name);
            assert!(name.starts_with(choose), "{code}");
        }
    }
    let (gaps, frequencies) = (stream(&answer, "gaps"), stream(&answer, "frequencies"));
    assert_eq!(gaps["numbers"], frequencies["numbers"]);
    // Lists as short as these are vbytes, a byte a number.
    assert!((bits(gaps, "packed") - 8.0).abs() < 1e-9);
    assert!(
        ["packed", "pfor", "pfor-optimum", "pfor-unary"]
            .contains(&gaps["recommended"].as_str().expect("text"))
    );
    // The smallest is one that an index has for each list, under another name.
    let positions = stream(&answer, "positions");
    let (smallest, recommended) = (&positions["smallest"], &positions["recommended"]);
    let bare = smallest.as_str().expect("text").split([' ', '-']).next().expect("a word");
    // Unary is Golomb with a modulus of one.
    let bare = if bare == "unary" { "golomb" } else { bare };
    assert!(recommended.as_str().expect("text").starts_with(bare), "{positions:#}");

    let picture = std::fs::read_to_string(sandbox.path("codes.svg")).expect("a picture");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert_eq!(picture.matches("<g ").count(), 3);
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    let text = sandbox.done(&["codes", "--dir", "web"]);
    assert_eq!(text.matches("recommended:").count(), 3, "{text}");
    let line = text.lines().find(|line| line.contains("positions_code = ")).expect("a line");
    let written = line.trim().trim_start_matches("recommended: ").split(" (").next();
    let settings = format!("[index]\n{}\n", written.expect("a setting"));
    std::fs::write(sandbox.path("web/crivello.toml"), settings).expect("written");
    sandbox.done(&["config", "check", "--dir", "web"]);
}

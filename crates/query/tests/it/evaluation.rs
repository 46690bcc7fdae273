//! Figures against examples calculated by hand, and invalid files.

use query::evaluation::{Measure, Qrels, Run, Topics, compare, evaluate};

const QRELS: &str = "\
1 0 a 2
1 0 b 1
1 0 c 0
1 0 d -1
1 0 e 1
2 0 a 1
3 0 a 0
";
/// For topic 1: x, a, d, b. Of its other two relevant documents, one is missing from the run, the other does not
/// exist.
const RUN: &str = "\
1 Q0 b 1 0.5 t
1 Q0 a 9 2.5 t
1 Q0 x 3 3.5e0 t
1 Q0 d 2 1 t
4 Q0 a 1 1 t
";

#[track_caller]
fn check(measure: &str, expected: [f64; 3]) {
    let measure: Measure = measure.parse().expect("a measure");
    let (qrels, run) = (Qrels::parse(QRELS).expect("sound"), Run::parse(RUN).expect("sound"));
    let figures = evaluate(measure, &run, &qrels);
    let found: Vec<f64> = figures.of_topics.values().copied().collect();
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{measure}: {found} is not {expected}");
    }
    assert_eq!(found.len(), 3, "a topic without results counts, one without judgements does not");
    assert!((figures.mean - expected.iter().sum::<f64>() / 3.0).abs() < 1e-15, "{measure}");
}

#[test]
fn measures_match_hand_computation() {
    check("MAP", [(1.0 / 2.0 + 2.0 / 4.0) / 3.0, 0.0, 0.0]);
    check("map@3", [1.0 / 2.0 / 3.0, 0.0, 0.0]);
    check("P@2", [1.0 / 2.0, 0.0, 0.0]);
    check("P@10", [2.0 / 10.0, 0.0, 0.0]);
    check("Recall@3", [1.0 / 3.0, 0.0, 0.0]);
    check("Recall@100", [2.0 / 3.0, 0.0, 0.0]);
    check("MRR", [1.0 / 2.0, 0.0, 0.0]);
    check("MRR@1", [0.0; 3]);
    let log = |rank: f64| (rank + 1.0).log2();
    let ideal = 2.0 / log(1.0) + 1.0 / log(2.0) + 1.0 / log(3.0);
    check("nDCG", [(2.0 / log(2.0) + 1.0 / log(4.0)) / ideal, 0.0, 0.0]);
    check("nDCG@2", [2.0 / log(2.0) / (2.0 / log(1.0) + 1.0 / log(2.0)), 0.0, 0.0]);
}

/// Ordered by falling 32-bit score, then by falling name. The ranks in the file are ignored.
#[test]
fn equal_scores_are_ordered_by_name() {
    let run = "1 Q0 a 1 1.00000001 t\n1 Q0 c 2 1.0 t\n1 Q0 b 3 1 t\n1 Q0 d 4 2 t\n";
    let run = Run::parse(run).expect("sound");
    let names: Vec<&str> = run.ranking("1").iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["d", "c", "b", "a"]);
}

/// A written run is read in the same order, also with equal scores.
#[test]
fn a_written_run_keeps_its_order() {
    let scores = [3.0, 3.0, 3.0 - 1e-12, 2.0, 2.5, 0.0, 0.0];
    let names = ["b", "z", "a", "y", "c", "q", "p"];
    let ranking = names.iter().map(|name| (*name).to_owned()).zip(scores).collect();
    let run = Run::of_rankings([("7", ranking)]);
    let text = run.lines("us").fold(String::new(), |text, line| text + &format!("{line}\n"));
    assert!(text.starts_with("7 Q0 b 1 3 us\n7 Q0 z 2 2.9999998 us\n"), "{text}");
    let again = Run::parse(&text).expect("sound");
    assert_eq!(again, run);
    let found: Vec<&str> = again.ranking("7").iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(found, names);
}

#[test]
fn topics_are_read_from_both_formats() {
    let lines = Topics::parse("1\tsolar panels \n\n x7 \t\"1/2000\"\r\n").expect("sound");
    let of = |topics: &Topics| -> Vec<(String, String)> {
        topics.topics().iter().map(|it| (it.name.clone(), it.text.clone())).collect()
    };
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(of(&lines), [pair("1", "solar panels"), pair("x7", "\"1/2000\"")]);
    let trec = "\n<top>\n<head> Tipster\n<num> Number:  301\n<dom> x\n<title> Topic: International\nCrime \n\
                <desc> Description:\nIdentify.\n</top>\n\n<TOP><NUM>é2<TITLE>Ärger</TITLE></TOP>";
    let trec = Topics::parse(trec).expect("sound");
    assert_eq!(of(&trec), [pair("301", "International Crime"), pair("é2", "Ärger")]);
}

#[test]
fn unreadable_lines_are_reported() {
    let no = |error: query::evaluation::BadLine, line: usize, what: &str| {
        assert!(error.line == line && error.what.contains(what), "{error}");
    };
    no(Qrels::parse("1 0 a 1\n1 0 a\n").expect_err("short"), 2, "topic 0 document relevance");
    no(Qrels::parse("1 0 a x").expect_err("no number"), 1, "\"x\"");
    no(Qrels::parse("1 0 a 1\n\n1 0 a 0").expect_err("twice"), 3, "judged twice");
    no(Run::parse("1 Q0 a 1 x t").expect_err("no number"), 1, "\"x\"");
    no(Run::parse("1 Q0 a 1 NaN t").expect_err("no number"), 1, "\"NaN\"");
    no(Run::parse("1 Q0 a 1 2").expect_err("short"), 1, "topic Q0 document rank score name");
    no(Run::parse("1 Q0 a 1 2 t\n1 Q0 a 2 1 t").expect_err("twice"), 2, "occurs twice");
    no(Topics::parse("1 solar").expect_err("no tab"), 1, "tab");
    no(Topics::parse("1\ta\n1\tb").expect_err("twice"), 2, "occurs twice");
    no(Topics::parse("a b\tc").expect_err("spaces"), 1, "spaces");
    no(Topics::parse("<top>\n<num> 1\n</top>").expect_err("no title"), 1, "<title>");
    let open = "<top><num>1<title>a</top>\n<top><num>2<title>b\n<top><num>3<title>c</top>";
    no(Topics::parse(open).expect_err("no end"), 2, "</top>");
    no(Topics::parse("<top><num>1 2<title>a</top>").expect_err("spaces"), 1, "spaces");
    for name in ["", "P", "Recall", "P@0", "P@x", "F1", "nDCG@"] {
        assert!(name.parse::<Measure>().is_err(), "{name}");
    }
    for name in ["MAP", "P@5", "nDCG@10", "MRR", "Recall@100"] {
        assert_eq!(name.parse::<Measure>().expect("a measure").to_string(), name);
    }
}

#[test]
fn two_runs_are_compared_topic_by_topic() {
    let qrels = Qrels::parse("1 0 a 1\n2 0 a 1\n3 0 a 1").expect("sound");
    let run = |ranks: [usize; 3]| {
        let lines = (1..).zip(ranks).map(|(topic, rank)| {
            let others = (1..rank).map(|n| format!("{topic} Q0 x{n} 0 9 t"));
            others.chain([format!("{topic} Q0 a 0 1 t\n")]).collect::<Vec<_>>().join("\n")
        });
        Run::parse(&lines.collect::<String>()).expect("sound")
    };
    let measure: Measure = "MRR".parse().expect("a measure");
    let of = |ranks| evaluate(measure, &run(ranks), &qrels);
    let found = compare(&of([1, 1, 2]), &of([2, 1, 1]));
    assert_eq!((found.topics, found.better, found.worse), (3, 1, 1));
    assert!(found.difference.abs() < 1e-15 && (found.student - 1.0).abs() < 1e-12, "{found:?}");
    let found = compare(&of([1, 1, 1]), &of([2, 4, 3]));
    // Differences 1/2, 3/4, 2/3: t = 8.693, two degrees of freedom.
    let mean: f64 = (0.5 + 0.75 + 2.0 / 3.0) / 3.0;
    let square = |value: f64| (value - mean) * (value - mean);
    let variance = (square(0.5) + square(0.75) + square(2.0 / 3.0)) / 2.0;
    let t = mean / (variance / 3.0).sqrt();
    assert!((found.student - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-9, "{found:?}");
    assert!((found.randomisation - 0.25).abs() < 0.02, "{found:?}");
}

//! `crivello eval`: measures the order of results by relevance judgements.
//!
//! What lives here: reading files and printing figures. What does not: computing them (`query::evaluation`).
//!
//! **Invariant.** A run that is written and read again has the same figures. The collection is not changed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ::search::Engine;
use anyhow::{Context as _, Result};
use query::evaluation::{
    BadLine, Comparison, Figures, Measure, Qrels, Run, Topics, compare, evaluate,
};
use serde_json::{Map, Value, json};

use crate::console::{self, Fact, Line, count, thousands};
use crate::context::{Context, Exit, Usage};

/// The name of our runs.
const NAME: &str = "crivello";
/// The largest file of topics, judgements or results.
const FILE_BYTES_MAX: u64 = 1 << 30;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello eval --topics topics.tsv --qrels qrels.txt --run ours.run --dir my-web
  crivello eval --qrels qrels.txt ours.run theirs.run
  crivello eval --qrels qrels.txt ours.run --measures MAP,nDCG@20 --each")]
pub(crate) struct Args {
    /// Runs to judge, in TREC's format. Two runs are also compared; a search counts as one
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Queries to search for: lines of a name, a tab and a text; or TREC's `<top> <num> <title>`
    #[arg(long, value_name = "FILE")]
    topics: Option<PathBuf>,
    /// Judgements: lines of `topic 0 document relevance`
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// File to write the results of the search to, in TREC's format
    #[arg(long, value_name = "FILE", requires = "topics")]
    run: Option<PathBuf>,
    /// Number of results for each topic
    #[arg(long, default_value_t = 1000, requires = "topics", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,
    /// Measures to print
    #[arg(long, value_delimiter = ',', default_value = "MAP,P@10,nDCG@10,Recall@100,MRR")]
    measures: Vec<Measure>,
    /// Print the figures of each topic as well
    #[arg(long)]
    each: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if args.topics.is_none() && args.runs.is_empty() {
        let what = "nothing to judge; name a file of results or `--topics`";
        return Err(Usage(what.to_owned()).into());
    }
    let qrels = parsed(&args.qrels, Qrels::parse)?;
    if qrels.topics().next().is_none() {
        return Err(Usage(format!("{} has no judgements", args.qrels.display())).into());
    }
    let inputs = args.runs.iter().chain(&args.topics).chain([&args.qrels]);
    if let Some(out) = &args.run
        && inputs.into_iter().any(|input| is_same(input, out))
    {
        let what = format!("`--run {}` would overwrite what is read", out.display());
        return Err(Usage(what).into());
    }
    let mut runs = Vec::new();
    if let Some(path) = &args.topics {
        let topics = parsed(path, Topics::parse)?;
        let run = search(&topics, args, context)?;
        if let Some(path) = &args.run {
            write(&run, path).with_context(|| format!("cannot write {}", path.display()))?;
        }
        runs.push((NAME.to_owned(), run));
    }
    for path in &args.runs {
        runs.push((path.display().to_string(), parsed(path, Run::parse)?));
    }
    warn_of_strangers(&runs, &qrels, context);
    let figures = runs.iter().map(|(_, run)| {
        args.measures.iter().map(|&measure| evaluate(measure, run, &qrels)).collect()
    });
    let figures: Vec<Vec<Figures>> = figures.collect();
    if context.json {
        context.print_json(&told(args, &runs, &figures))?;
    } else {
        print(args, &runs, &figures)?;
    }
    Ok(Exit::Done)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| fs::canonicalize(path).ok();
    whole(one).is_some_and(|one| Some(one) == whole(other))
}

/// Reads and parses a file. An invalid line is wrong usage.
fn parsed<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, BadLine>) -> Result<T> {
    let told = || format!("cannot read {}", path.display());
    if fs::metadata(path).with_context(told)?.len() > FILE_BYTES_MAX {
        return Err(
            Usage(format!("{} has more than {FILE_BYTES_MAX} bytes", path.display())).into()
        );
    }
    let text = fs::read(path).with_context(told)?;
    let text = String::from_utf8_lossy(&text);
    parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|BadLine { line, what }| {
        Usage(format!("{}:{line}: {}", path.display(), console::plain(&what))).into()
    })
}

fn search(topics: &Topics, args: &Args, context: &Context) -> Result<Run> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let engine = Engine::open(&collection, config.search)?;
    let line = Line::start(context.quiet);
    let (mut rankings, mut said) = (Vec::new(), BTreeSet::new());
    for (done, topic) in topics.topics().iter().enumerate() {
        let topics = count(topics.topics().len() as u64, "topic");
        line.show(&[Fact::new("Searching", format!("{} of {topics}", thousands(done as u64)))]);
        let found = match engine.rank(&topic.text, args.depth as usize) {
            Err(error) if error.is_users() => {
                said.insert(format!("topic {} has no results: {error}", topic.name));
                Ok((Vec::new(), Vec::new()))
            }
            found => found,
        };
        let (ranking, notes) =
            found.with_context(|| format!("cannot search for topic {}", topic.name))?;
        let named =
            |(url, score): (String, f64)| (collection::document_name(&url).to_owned(), score);
        rankings.push((topic.name.clone(), ranking.into_iter().map(named).collect()));
        said.extend(notes);
    }
    line.clear();
    for note in &said {
        context.say("Note", console::plain(note));
    }
    Ok(Run::of_rankings(rankings))
}

fn write(run: &Run, path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    for line in run.lines(NAME) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Warns if results and judgements have nothing in common, probably since they are of different collections.
fn warn_of_strangers(runs: &[(String, Run)], qrels: &Qrels, context: &Context) {
    for (name, run) in runs {
        let mut answered = qrels.topics().filter(|topic| !run.ranking(topic).is_empty()).peekable();
        let said = if answered.peek().is_none() {
            format!("{name} has results for none of the judged topics")
        } else if answered.all(|topic| !qrels.has_any(topic, run.ranking(topic))) {
            format!("none of the documents of {name} is judged; do the names differ?")
        } else {
            continue;
        };
        context.say("Warning", console::plain(&said));
    }
}

/// Compares two runs under each measure. Empty if there are not two.
fn comparisons(figures: &[Vec<Figures>]) -> Vec<Comparison> {
    match figures {
        [first, second] => first.iter().zip(second).map(|(a, b)| compare(a, b)).collect(),
        _ => Vec::new(),
    }
}

fn told(args: &Args, runs: &[(String, Run)], figures: &[Vec<Figures>]) -> Value {
    let run = |((name, run), figures): (&(String, Run), &Vec<Figures>)| {
        let named = args.measures.iter().zip(figures);
        let means: Map<String, Value> =
            named.clone().map(|(measure, it)| (measure.to_string(), json!(it.mean))).collect();
        let mut told = json!({ "run": name, "topics": run.topic_count(), "figures": means });
        if args.each {
            let each = named.map(|(measure, it)| (measure.to_string(), json!(it.of_topics)));
            told["each"] = Value::Object(each.collect());
        }
        told
    };
    let runs: Vec<Value> = runs.iter().zip(figures).map(run).collect();
    let compared = args.measures.iter().zip(comparisons(figures)).map(|(measure, it)| {
        let Comparison { topics, difference, better, worse, student, randomisation } = it;
        let told = json!({
            "topics": topics, "difference": difference, "better": better, "worse": worse,
            "p_student": student, "p_randomisation": randomisation,
        });
        (measure.to_string(), told)
    });
    json!({ "runs": runs, "compared": Value::Object(compared.collect()) })
}

fn print(args: &Args, runs: &[(String, Run)], figures: &[Vec<Figures>]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for ((name, _), figures) in runs.iter().zip(figures) {
        for (measure, figures) in args.measures.iter().zip(figures) {
            for (topic, value) in figures.of_topics.iter().filter(|_| args.each) {
                writeln!(out, "{measure}\t{topic}\t{value:.4}\t{}", console::plain(name))?;
            }
            writeln!(out, "{measure}\tall\t{:.4}\t{}", figures.mean, console::plain(name))?;
        }
    }
    let names: Vec<String> = runs.iter().map(|(name, _)| console::plain(name)).collect();
    for (measure, it) in args.measures.iter().zip(comparisons(figures)) {
        let (first, second) = (&names[0], &names[1]);
        writeln!(
            out,
            "{measure}\tdifference\t{:+.4}\t{first} minus {second}: better on {}, worse on {} of {} topics; by chance with probability \
             {:.4} (Student's paired test), {:.4} (randomisation)",
            it.difference, it.better, it.worse, it.topics, it.student, it.randomisation
        )?;
    }
    Ok(())
}

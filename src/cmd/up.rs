//! `crivello up`: from URLs to a search page in one go.
//!
//! **Invariant.** A second run continues the work of the first and never starts again.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, Result};
use archive::Archive;
use collection::Collection;
use jobs::Reuse;
use serde_json::json;
use simweb::Server;

use super::crawl::{check_arguments, fetch};
use super::sample::{options, port_of};
use super::serve::{listen, serve};
use super::signals::{Stop, runtime};
use crate::config::{Config, TEMPLATE, write_private};
use crate::console;
use crate::context::{Context, Exit, Usage};
use crate::pipeline::Pipeline;

/// The folder of the collection without `--dir`.
const DIR: &str = "crivello-data";
/// The port of a new sample web.
const SAMPLE_PORT: u16 = 7780;
/// Settings of the sample. Its hosts are our own, so the delays are short. It has an endless calendar, so the number of
/// pages is small.
const SAMPLE: [(&str, &str); 5] = [
    ("delay_ms = 1000", "delay_ms = 50"),
    ("ip_delay_ms = 100", "ip_delay_ms = 0"),
    ("scope = \"host\"", "scope = \"any\""),
    ("pages_per_host_max = 10000", "pages_per_host_max = 60"),
    ("retry_ms = 5000", "retry_ms = 200"),
];

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello up                                    a built-in sample web on loopback
  crivello up https://example.org --dir example --set crawl.contact=me@example.org
  crivello up --dir example                      again: continues, updates all stages, serves")]
pub(crate) struct Args {
    /// Addresses to begin with [default: those of the first run, else the sample web]
    urls: Vec<String>,
    /// Address and port of the search page; port 0 takes a free one [default: serve.listen]
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Stop crawling when the collection has N pages
    #[arg(long, value_name = "N")]
    max_pages: Option<u64>,
    /// Port of the sample web [default: that of the first run, else 7780]
    #[arg(long, value_name = "PORT")]
    sample_port: Option<u16>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    check_arguments(&args.urls)?;
    let (collection, is_new) = prepare(args, context)?;
    let result = run_in(args, context, collection.clone());
    let has_nothing = holds_records(&collection).is_ok_and(|holds| !holds);
    if is_new && result.is_err() && has_nothing {
        // An empty folder lets the user correct the arguments and begin again. The first error is the one to report.
        let _ = empty(collection.root());
    }
    result
}

/// Removes the files of a new collection.
fn empty(root: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

/// Crawls, runs the stages and serves.
fn run_in(args: &Args, context: &Context, collection: Collection) -> Result<Exit> {
    let mut config = context.config(&collection)?;
    let lock = collection.lock("up")?;
    let runtime = runtime()?;
    let listener = listen(&runtime, args.listen.unwrap_or(config.serve.listen))?;
    if let Some(pages_max) = args.max_pages {
        config.crawl.pages_max = pages_max;
    }
    if args.urls.is_empty() {
        crawl::check_seeds(&collection.frontier_dir())?;
    }
    let begun = crawl::read_seeds(&collection.frontier_dir())?;
    let (sample, seeds) = choose(args, &collection, &begun, &mut config)?;
    if sample.is_some() {
        console::say(context.quiet, "This is the built-in sample web. Its faults are on purpose.");
    }
    let stop = Stop::catch(&runtime)?;
    // An imported collection has no seeds, so there is nothing to crawl.
    let imported = sample.is_none() && seeds.is_empty() && begun.is_empty();
    let crawled = if imported {
        None
    } else {
        let told = fetch(&collection, &config.crawl, &seeds, &runtime, stop.flag(), context)?;
        told.check()?;
        Some(told)
    };
    if crawled.as_ref().is_some_and(|told| told.report.interrupted) {
        return Ok(Exit::Interrupted);
    }
    let report = stop.during_stages(|| {
        let pipeline = Pipeline::of(&collection, &config, context);
        let read = pipeline.extract()?;
        let (linked, ranked) = pipeline.rank()?;
        let folded = pipeline.fold()?;
        let indexed = pipeline.index(Reuse::Unchanged)?;
        anyhow::Ok(json!({
            "crawl": crawled, "extract": read, "graph": linked, "pagerank": ranked,
            "dedup": folded, "index": indexed,
        }))
    })?;
    if context.json {
        context.print_json(&report)?;
    }
    drop(lock);
    let exit = serve(runtime, listener, collection, config, context);
    drop(sample);
    exit
}

/// Opens the collection, or creates it in a missing or empty folder. Returns whether it is new.
fn prepare(args: &Args, context: &Context) -> Result<(Collection, bool)> {
    let dir = context.dir_or(DIR);
    let holds_others = fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some());
    if holds_others {
        return Ok((Collection::open(&dir)?, false));
    }
    let collection = Collection::create(&dir)?;
    let settings = if args.urls.is_empty() { sample_settings() } else { TEMPLATE.to_owned() };
    let file = collection.config_file();
    write_private(&file, &settings)?;
    Ok((collection, true))
}

/// The commented configuration with the values of the sample.
fn sample_settings() -> String {
    let line = |text: &str| format!("\n{text}\n");
    let change = |text: String, (from, to): &(&str, &str)| text.replace(&line(from), &line(to));
    SAMPLE.iter().fold(TEMPLATE.to_owned(), change)
}

/// Starts the sample web if there is nothing else to crawl. Returns it with the seeds.
fn choose(
    args: &Args,
    collection: &Collection,
    begun: &[page::Url],
    config: &mut Config,
) -> Result<(Option<Server>, Vec<String>)> {
    let imported = begun.is_empty() && holds_records(collection)?;
    if !args.urls.is_empty() || imported || !begun.is_empty() && port_of(begun).is_none() {
        return Ok((None, args.urls.clone()));
    }
    if config.crawl.scope != crawl::Scope::Any {
        let message = "no URL was given, and this folder is not set up for the sample web: name URLs to \
            crawl, or another --dir";
        return Err(Usage(message.to_owned()).into());
    }
    let port = args.sample_port.or(port_of(begun)).unwrap_or(SAMPLE_PORT);
    let server = Server::start(options(port)).context(
        "the sample web cannot start; choose another port with --sample-port, or name URLs to crawl",
    )?;
    config.crawl.resolve = server.web().resolve();
    let seeds = server.web().seeds();
    Ok((Some(server), seeds))
}

fn holds_records(collection: &Collection) -> Result<bool> {
    let dir = collection.archive_dir();
    Ok(dir.is_dir() && !Archive::open(&dir)?.files().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_the_sample_are_lines_of_the_template() {
        let settings = sample_settings();
        for (from, to) in SAMPLE {
            let has = |text: &str, line: &str| text.lines().any(|other| other == line);
            assert!(has(TEMPLATE, from) && has(&settings, to) && !has(&settings, from), "{from}");
        }
        Config::parse(&settings, "the sample's").expect("valid");
    }
}

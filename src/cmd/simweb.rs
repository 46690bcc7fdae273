//! `crivello simweb`: serves the sample web alone, to judge crawls.
//!
//! **Invariant.** The output depends only on the flags, except for a free port and the log.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::simweb::{LogLine, Options, Server, Web};
use anyhow::{Context as _, Result};
use serde_json::json;

use super::signals::{Signals, runtime};
use crate::console;
use crate::context::{Context, Exit};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello simweb --hosts 1000 --addresses 200 --pages 50 --latency-ms 20
  crivello simweb --port 7780 --truth > truth.json           the expected result of a polite crawl
  crivello simweb --port 7780 --log log.jsonl                serves, and writes the log at the end
  crivello simweb --port 7780 --judge log.jsonl --delay-ms 50  lists the faults of a crawl")]
pub(crate) struct Args {
    /// Seed of the random numbers
    #[arg(long, default_value_t = Options::default().seed)]
    seed: u64,
    /// Number of ordinary hosts
    #[arg(long, default_value_t = Options::default().hosts)]
    hosts: u32,
    /// Number of pages of each ordinary host
    #[arg(long, default_value_t = Options::default().pages_per_host)]
    pages: u32,
    /// Number of loopback addresses that the hosts share
    #[arg(long, default_value_t = Options::default().addresses)]
    addresses: u32,
    /// Name the hosts by their addresses, for crawlers that cannot map names to addresses
    #[arg(long, requires = "plain")]
    numeric: bool,
    /// Least number of bytes of a page
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    page_bytes_min: usize,
    /// Port of all addresses; 0 takes a free one
    #[arg(long, default_value_t = 7780)]
    port: u16,
    /// Mean time before an answer, in milliseconds
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Share of requests to ordinary hosts that fail, from 0 to 1
    #[arg(long, default_value_t = 0.0)]
    error_rate: f64,
    /// Edition of the web: each changes, deletes and adds a few pages
    #[arg(long, default_value_t = 0)]
    edition: u32,
    /// Print the changes since this edition as JSON instead of serving
    #[arg(long, value_name = "EDITION", conflicts_with = "truth")]
    changes_since: Option<u32>,
    /// Serve no host that misbehaves
    #[arg(long)]
    plain: bool,
    /// Print the expected result of a crawl as JSON instead of serving
    #[arg(long)]
    truth: bool,
    /// Compare a log with the expected result instead of serving
    #[arg(long, value_name = "LOG", conflicts_with = "truth")]
    judge: Option<PathBuf>,
    /// Most pages of one host that the crawl may fetch, for the endless calendar
    #[arg(long, default_value_t = 60)]
    pages_per_host_max: u64,
    /// Delay between requests to a host that the crawl promised, in milliseconds
    #[arg(long, default_value_t = 1000)]
    delay_ms: u64,
    /// Write every request to this file at the end, one JSON object a line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            seed: self.seed,
            hosts: self.hosts,
            pages_per_host: self.pages,
            addresses: self.addresses,
            numeric: self.numeric,
            page_bytes_min: self.page_bytes_min,
            port: self.port,
            latency_ms: self.latency_ms,
            error_rate: self.error_rate,
            oddities: !self.plain,
            edition: self.edition,
            log_lines_max: if self.log.is_some() { usize::MAX } else { 0 },
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    if args.truth {
        let web = Web::new(args.options(), args.port)?;
        context.print_json(&web.truth(args.pages_per_host_max))?;
        return Ok(Exit::Done);
    }
    if let Some(since) = args.changes_since {
        let web = Web::new(args.options(), args.port)?;
        context.print_json(&web.changes(since))?;
        return Ok(Exit::Done);
    }
    if let Some(log) = &args.judge {
        return judge(args, log, context);
    }
    // Before the work, so that an error loses nothing.
    let log = args.log.as_deref().map(create_log).transpose()?;
    let runtime = runtime()?;
    let mut signals = Signals::catch(&runtime)?;
    let server = Server::start(args.options())?;
    let seeds = server.web().seeds();
    if context.json {
        let hosts = server.web().hosts().len();
        let resolve = server.web().resolve();
        context.print_json(&json!({ "seeds": seeds, "hosts": hosts, "resolve": resolve }))?;
    } else {
        let mut out = std::io::stdout().lock();
        for seed in &seeds {
            writeln!(out, "{seed}")?;
        }
        drop(out);
        let hosts = console::count(server.web().hosts().len() as u64, "host");
        let addresses = console::count(args.addresses.into(), "address");
        context.say("Ready", format!("{hosts} on {addresses}   Ctrl-C stops"));
    }
    runtime.block_on(signals.next());
    if let (Some(out), Some(file)) = (log, &args.log) {
        write_log(out, &server.log())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Exit::Done)
}

fn create_log(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("cannot write {}", file.display()))
}

fn write_log(file: File, lines: &[LogLine]) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    for line in lines {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn judge(args: &Args, file: &Path, context: &Context) -> Result<Exit> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut log: Vec<LogLine> = Vec::new();
    for (number, line) in (1_u64..).zip(BufReader::new(open).lines()) {
        let place = || format!("{}:{number}", file.display());
        let read = serde_json::from_str(&line.with_context(place)?).ok();
        let read = read.context("not a line of a log of `crivello simweb --log`");
        log.push(read.with_context(place)?);
    }
    let web = Web::new(args.options(), args.port)?;
    let verdict = ::simweb::judge(&web.truth(args.pages_per_host_max), &log, args.delay_ms);
    if context.json {
        context.print_json(&verdict)?;
    } else {
        writeln!(std::io::stdout().lock(), "{verdict}")?;
    }
    anyhow::ensure!(verdict.is_clean(), "the crawl has faults");
    Ok(Exit::Done)
}

//! `crivello serve`: the search page and the API.
//!
//! **Invariant.** The server accepts connections before its address is printed. The process ends within 5 seconds of
//! the first signal, and at once at the second.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;

use ::serve::Site;
use anyhow::{Context as _, Result};
use collection::Collection;
use index::{Index, IndexError};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::sample::port_of;
use super::signals::{Signals, runtime};
use crate::config::Config;
use crate::context::{Context, Exit};
use crate::pipeline::empty;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello serve --dir my-web --listen 127.0.0.1:8080")]
pub(crate) struct Args {
    /// Address and port to listen on; port 0 takes a free one [default: serve.listen]
    #[arg(long)]
    listen: Option<SocketAddr>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let runtime = runtime()?;
    let listener = listen(&runtime, args.listen.unwrap_or(config.serve.listen))?;
    serve(runtime, listener, collection, config, context)
}

/// Listens on an address. The error names the flag for another one.
pub(crate) fn listen(runtime: &Runtime, address: SocketAddr) -> Result<TcpListener> {
    runtime.block_on(TcpListener::bind(address)).with_context(|| {
        format!("cannot listen on {address}; choose another address or port with --listen")
    })
}

/// Prints the address and serves until a signal comes. The end does not wait for work on threads of `runtime`.
pub(crate) fn serve(
    runtime: Runtime,
    listener: TcpListener,
    collection: Collection,
    config: Config,
    context: &Context,
) -> Result<Exit> {
    let address = listener.local_addr().context("the address of the listener")?;
    let is_empty = match Index::open(&collection.index_dir()) {
        Ok(index) => index.live_count() == 0,
        Err(error) => matches!(error, IndexError::NotAnIndex { .. }),
    };
    if is_empty {
        context.say("Empty", empty(&collection));
    }
    let is_sample = port_of(&crawl::read_seeds(&collection.frontier_dir())?).is_some();
    let site = Site::open(collection, config.serve, config.search)?;
    let mut signals = Signals::catch(&runtime)?;
    if context.json {
        context.print_json(&json!({ "listening": format!("http://{address}/") }))?;
    } else {
        let mut out = std::io::stdout().lock();
        // On a terminal the remark has the address.
        if context.quiet || !out.is_terminal() {
            writeln!(out, "http://{address}/")?;
        }
        let example = if is_sample { "   Try: garden" } else { "" };
        context.say("Ready", format!("http://{address}/{example}   Ctrl-C stops"));
    }
    let served = runtime.block_on(site.serve(listener, async move {
        signals.next().await;
        // Open requests get some seconds to end; a second signal ends the process at once.
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(130);
        });
    }));
    // Dropping the runtime would wait for every search and file access.
    runtime.shutdown_background();
    served?;
    Ok(Exit::Done)
}

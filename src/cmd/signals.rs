//! Ctrl-C and the like: a flag for threads, a future for the server.
//!
//! **Invariant.** The first signal asks for an orderly end; the second ends the process at once, which
//! loses nothing either, since everything on disk survives a kill.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::talk;

/// A runtime for what must wait on the network.
pub(crate) fn runtime() -> Result<Runtime> {
    Runtime::new().context("cannot start the network runtime")
}

/// Set once the user has asked to stop.
pub(crate) fn stop_flag(runtime: &Runtime) -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let mut signals = Signals::catch(runtime)?;
    runtime.spawn(async move {
        signals.next().await;
        raised.store(true, Ordering::Relaxed);
        talk::print("stopping; once more to stop at once");
        signals.next().await;
        std::process::exit(130);
    });
    Ok(flag)
}

/// Ctrl-C and a polite kill.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn catch(runtime: &Runtime) -> Result<Self> {
        let _inside = runtime.enter();
        let catch = |kind| signal(kind).context("cannot catch signals");
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

//! Ctrl-C and SIGTERM: a flag for threads, a future for the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::console::{self, Fact};

/// The exit code of a command that a signal ended.
const INTERRUPTED: i32 = 130;

/// Starts a runtime for network tasks.
pub(crate) fn runtime() -> Result<Runtime> {
    Runtime::new().context("cannot start the network runtime")
}

/// A user's request to stop. The first signal sets a flag, so that the work ends in order. The second signal ends the
/// process at once. A kill loses nothing, because all files survive one.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    requested: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
}

impl Stop {
    /// Catches the signals of this process.
    pub(crate) fn catch(runtime: &Runtime) -> Result<Self> {
        let stop = Self::default();
        let seen = stop.clone();
        let mut signals = Signals::catch(runtime)?;
        runtime.spawn(async move {
            signals.next().await;
            seen.requested.store(true, Ordering::SeqCst);
            if seen.at_once.load(Ordering::SeqCst) {
                console::last(&Fact::new("Stopped", "the next run continues from here"));
                std::process::exit(INTERRUPTED);
            }
            console::fact(
                false,
                &Fact::new("Stopping", "when open requests are done; Ctrl-C again stops now"),
            );
            signals.next().await;
            std::process::exit(INTERRUPTED);
        });
        Ok(stop)
    }

    /// The flag that the first signal sets.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.requested
    }

    /// Runs stages that do not look at the flag: the first signal ends the process at once.
    pub(crate) fn during_stages<T>(&self, stages: impl FnOnce() -> T) -> T {
        self.at_once.store(true, Ordering::SeqCst);
        if self.requested.load(Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        let result = stages();
        self.at_once.store(false, Ordering::SeqCst);
        result
    }
}

/// Ctrl-C and SIGTERM.
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

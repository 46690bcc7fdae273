//! The server: sockets, threads, the log and the memory of failed requests.
//!
//! What lives here: listening on every address of the web, and stopping. What does not: HTTP
//! (`connection.rs`) and what is answered (`web.rs`).
//!
//! **Invariant.** When [`Server::start`] has returned, every address accepts connections, and when
//! the server is stopped or dropped none does and the port is free again. The server runs on
//! threads of its own, so that it may be used, and dropped, inside any async runtime or outside.

use crate::{
    LogLine, Options, SimwebError, Web,
    answer::ATTEMPTS_FAILING_MAX,
    connection::serve,
    log::Log,
    random::{key, text_key},
};
use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::Runtime,
    sync::{Semaphore, oneshot},
    time::{Instant, sleep},
};

/// Connections that one listening socket keeps waiting.
const BACKLOG: u32 = 1024;
/// Connections that are open at once.
const CONNECTIONS_MAX: usize = 16_384;
/// URLs whose failures are remembered; those beyond never fail for a passing reason.
const FAILING_URLS_MAX: usize = 1 << 20;
/// How many ports are tried when the choice is free.
const PORTS_TRIED_MAX: usize = 64;
/// How long accepting pauses when the system has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// Threads that answer; more would only take cores from the crawler.
const THREADS_MAX: usize = 4;

/// A web that answers over HTTP until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// Dropping it is the signal to stop.
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Makes the web of these options and answers for it.
    pub fn start(options: Options) -> Result<Self, SimwebError> {
        options.check()?;
        let (ready, outcome) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("simweb".to_owned())
            .spawn(move || run(options, &ready, stopped))
            .map_err(|source| SimwebError::Threads { source })?;
        let shared = outcome.recv().unwrap_or_else(|_| {
            let source = io::Error::other("its first thread ended at once");
            Err(SimwebError::Threads { source })
        })?;
        Ok(Self { shared, running: Some(Running { stop, thread }) })
    }

    /// The web that is served; its port is the real one.
    pub fn web(&self) -> &Web {
        &self.shared.web
    }

    /// The port of all addresses.
    pub fn port(&self) -> u16 {
        self.shared.web.port()
    }

    /// All requests that the log has kept so far, in the order of their answers. A request is
    /// logged before the first byte of its answer goes out.
    pub fn log(&self) -> Vec<LogLine> {
        self.shared.log.lines()
    }

    /// The number of requests that came when the log was full.
    pub fn log_dropped(&self) -> u64 {
        self.shared.log.dropped()
    }

    /// Closes all connections and frees the port. Returns when that is done.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(Running { stop, thread }) = self.running.take() {
            drop(stop);
            // A panic there has been reported by its thread; there is nobody to hand it to.
            let _ = thread.join();
        }
    }
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) web: Web,
    pub(crate) log: Log,
    failures: Mutex<BTreeMap<u64, u32>>,
    start: Instant,
}

impl Shared {
    fn new(web: Web) -> Self {
        let log = Log::new(web.options().log_lines_max);
        Self { web, log, failures: Mutex::default(), start: Instant::now() }
    }

    /// Time since the start.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How many requests for a URL have failed; 0 where the answer does not depend on it.
    pub(crate) fn attempt(&self, host: &str, path: &str) -> u32 {
        if !self.web.host(host).is_some_and(|host| self.web.counts_attempts(host)) {
            return 0;
        }
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.get(&url_key(host, path)) {
            Some(&failed) => failed,
            None if failures.len() >= FAILING_URLS_MAX => ATTEMPTS_FAILING_MAX,
            None => 0,
        }
    }

    /// Remembers that a request for a URL has failed.
    pub(crate) fn add_failure(&self, host: &str, path: &str) {
        if !self.web.host(host).is_some_and(|host| self.web.counts_attempts(host)) {
            return;
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, full) = (url_key(host, path), failures.len() >= FAILING_URLS_MAX);
        match failures.get_mut(&key) {
            Some(failed) => *failed = failed.saturating_add(1),
            None if full => {}
            None => {
                failures.insert(key, 1);
            }
        }
    }
}

fn url_key(host: &str, path: &str) -> u64 {
    key(&[text_key(host), text_key(path)])
}

/// The life of the server's first thread: listen, report, and wait for the end.
fn run(
    options: Options,
    ready: &mpsc::SyncSender<Result<Arc<Shared>, SimwebError>>,
    stopped: oneshot::Receiver<()>,
) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("simweb-worker")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(source) => {
            let _ = ready.send(Err(SimwebError::Threads { source }));
            return;
        }
    };
    match listen(options, &runtime) {
        Ok(shared) => {
            if ready.send(Ok(shared)).is_ok() {
                // An error says that the sender is gone, which is the signal.
                let _ = runtime.block_on(stopped);
            }
        }
        Err(error) => {
            // The listeners are closed before the caller hears of it.
            drop(runtime);
            let _ = ready.send(Err(error));
        }
    }
}

/// Listens on all addresses and begins to accept.
fn listen(options: Options, runtime: &Runtime) -> Result<Arc<Shared>, SimwebError> {
    let _guard = runtime.enter();
    let wanted = options.port;
    let web = Web::new(options.clone(), wanted)?;
    let addresses: Vec<_> = web.addresses().into_iter().collect();
    let (port, listeners) = match wanted {
        0 => listen_anywhere(&addresses)?,
        port => (port, listen_at(&addresses, port)?),
    };
    let web = if port == wanted { web } else { Web::new(options, port)? };
    let shared = Arc::new(Shared::new(web));
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    for listener in listeners {
        runtime.spawn(accept(listener, Arc::clone(&shared), Arc::clone(&permits)));
    }
    Ok(shared)
}

/// A port that is free at every address.
fn listen_anywhere(addresses: &[Ipv4Addr]) -> Result<(u16, Vec<TcpListener>), SimwebError> {
    let mut tried = 0;
    loop {
        tried += 1;
        let first = addresses[0];
        let port = open(first, 0)
            .and_then(|listener| Ok(listener.local_addr()?.port()))
            .map_err(|source| fault(first, 0, source))?;
        match listen_at(addresses, port) {
            Ok(listeners) => return Ok((port, listeners)),
            Err(SimwebError::Listen { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse && tried < PORTS_TRIED_MAX => {}
            Err(error) => return Err(error),
        }
    }
}

fn listen_at(addresses: &[Ipv4Addr], port: u16) -> Result<Vec<TcpListener>, SimwebError> {
    let listeners = addresses
        .iter()
        .map(|&address| open(address, port).map_err(|source| fault(address, port, source)));
    listeners.collect()
}

fn open(address: Ipv4Addr, port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // A port whose last connections are still closing may be taken again; one in use may not.
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::V4(SocketAddrV4::new(address, port)))?;
    socket.listen(BACKLOG)
}

fn fault(address: Ipv4Addr, port: u16, source: io::Error) -> SimwebError {
    SimwebError::Listen { address: SocketAddr::V4(SocketAddrV4::new(address, port)), source }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, permits: Arc<Semaphore>) {
    loop {
        let accepted = listener.accept().await;
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        match accepted {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    // The client has hung up, or was too slow: its loss.
                    let _ = serve(stream, &shared).await;
                    drop(permit);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

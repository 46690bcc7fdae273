//! A pool of threads for the tasks of requests, with a short queue and a time limit.
//!
//! The number of threads limits memory: each search needs some megabytes, and each thread has its own heap.
//! The pool has more threads than processors, so a light search can run beside heavy ones.
//!
//! **Invariant.** The numbers of running and waiting tasks are bounded. The [`Stop`] of a task is set at its
//! time limit, when its client hangs up, and by [`Pool::stop_all`].

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use query::Stop;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::ServeError;

/// The number of threads for each processor.
const THREADS: usize = 8;
/// The maximum number of waiting requests for each thread.
const WAITING: usize = 4;

/// Runs the tasks of requests.
pub(crate) struct Pool {
    /// A permit for each task that runs or waits.
    places: Arc<Semaphore>,
    /// A permit for each task that runs.
    threads: Arc<Semaphore>,
    /// The time limit for waiting, and again for running.
    time_max: Option<Duration>,
    is_ending: watch::Sender<bool>,
}

impl Pool {
    /// A pool sized for the processors of this machine. `time_ms_max` is the time limit; 0 means no limit.
    pub(crate) fn of_machine(time_ms_max: u64) -> Pool {
        let threads = THREADS * available_parallelism().map_or(1, NonZero::get);
        Pool::new(threads, threads * WAITING, time_ms_max)
    }

    fn new(threads: usize, waiting: usize, time_ms_max: u64) -> Pool {
        Pool {
            places: Arc::new(Semaphore::new(threads + waiting)),
            threads: Arc::new(Semaphore::new(threads)),
            time_max: (time_ms_max > 0).then(|| Duration::from_millis(time_ms_max)),
            is_ending: watch::Sender::new(false),
        }
    }

    /// Runs `task` on a thread that may block. [`ServeError::Busy`]: no thread was free in time.
    /// [`ServeError::Stopped`]: `task` panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, ServeError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| ServeError::Busy)?;
        let thread = self.in_time(Arc::clone(&self.threads).acquire_owned()).await;
        let thread = thread.and_then(Result::ok).ok_or(ServeError::Busy)?;
        let stop = Stop::default();
        let hung_up = SetWhenDropped(stop.clone());
        let mut done = spawn_blocking(move || {
            // Released at the end of the task, even if its client has left.
            let _held = (place, thread);
            task(&stop)
        });
        let result = if let Some(result) = self.in_time(&mut done).await {
            result
        } else {
            hung_up.0.set();
            done.await
        };
        result.map_err(|_| ServeError::Stopped)
    }

    /// The output of `future`. `None` if the time limit or the end of the pool comes first.
    async fn in_time<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut is_ending = self.is_ending.subscribe();
        let time_over = async {
            match self.time_max {
                Some(time) => sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            given = future => Some(given),
            () = time_over => None,
            _ = is_ending.wait_for(|is_ending| *is_ending) => None,
        }
    }

    /// Stops all running, waiting and later tasks.
    pub(crate) fn stop_all(&self) {
        self.is_ending.send_replace(true);
    }
}

/// Sets the [`Stop`] of a task when its request is dropped, for example because the client hung up.
struct SetWhenDropped(Stop);

impl Drop for SetWhenDropped {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use tokio::runtime::Runtime;

    fn until_stopped(stop: &Stop) {
        while !stop.is_set() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_task_is_stopped_at_its_time_limit() {
        let pool = Pool::new(1, 0, 1);
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async { pool.run(until_stopped).await.expect("it ends") });
    }

    #[test]
    fn an_abandoned_task_is_stopped() {
        let pool = Pool::new(1, 1, 0);
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            let task = pool.run(move |stop| {
                begun.send(()).expect("somebody listens");
                until_stopped(stop);
            });
            tokio::select! {
                _ = task => panic!("it does not end by itself"),
                _ = has_begun => {}
            }
            // The only thread is free again.
            assert_eq!(pool.run(|_| 7).await.expect("run"), 7);
        });
    }

    #[test]
    fn tasks_beyond_the_queue_limit_are_refused() {
        let pool = Arc::new(Pool::new(1, 1, 0));
        let runtime = Runtime::new().expect("a runtime");
        let (go, wait) = channel::<()>();
        let first = Arc::clone(&pool);
        let first = runtime.spawn(async move { first.run(move |_| wait.recv().is_ok()).await });
        runtime.block_on(async {
            while pool.threads.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            let waiting = pool.run(|_| 2);
            tokio::pin!(waiting);
            let refused = tokio::select! {
                biased;
                _ = &mut waiting => panic!("there is no thread"),
                refused = pool.run(|_| 3) => refused,
            };
            assert!(matches!(refused, Err(ServeError::Busy)));
            go.send(()).expect("the first waits");
            assert_eq!(waiting.await.expect("its turn came"), 2);
            assert!(first.await.expect("joined").expect("run"));
            assert_eq!(pool.run(|_| 4).await.expect("all is free"), 4);
        });
    }

    #[test]
    fn a_task_that_waits_too_long_is_refused() {
        let pool = Pool::new(1, 1, 1);
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let thread = pool.threads.acquire().await.expect("free");
            assert!(matches!(pool.run(|_| 1).await, Err(ServeError::Busy)));
            drop(thread);
        });
    }

    #[test]
    fn stopping_the_pool_stops_all_tasks() {
        let pool = Arc::new(Pool::new(1, 1, 0));
        let runtime = Runtime::new().expect("a runtime");
        let running = Arc::clone(&pool);
        let running = runtime.spawn(async move { running.run(until_stopped).await });
        runtime.block_on(async {
            while pool.threads.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            pool.stop_all();
            running.await.expect("joined").expect("it ended");
        });
    }

    #[test]
    fn a_panic_leaves_the_thread_free() {
        let pool = Pool::new(1, 0, 0);
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let panicked = pool.run(|_| panic!("on purpose")).await;
            assert!(matches!(panicked, Err::<(), _>(ServeError::Stopped)));
            assert_eq!(pool.run(|_| 7).await.expect("run"), 7);
        });
    }

    /// The only thread runs an endless task for a client that leaves.
    #[test]
    fn a_client_disconnect_stops_its_task() {
        let pool = Arc::new(Pool::new(1, 1, 0));
        let runtime = Runtime::new().expect("a runtime");
        let worker = Arc::clone(&pool);
        let handler = move || async move {
            worker.run(until_stopped).await.expect("run");
        };
        let router = axum::Router::new().route("/", axum::routing::get(handler));
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(crate::connections::accept(listener, router, std::future::pending()));
            let mut client = tokio::net::TcpStream::connect(address).await.expect("a server");
            let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
            tokio::io::AsyncWriteExt::write_all(&mut client, request).await.expect("sent");
            while pool.threads.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            drop(client);
            assert_eq!(pool.run(|_| 7).await.expect("run"), 7);
        });
    }
}

//! The shared state of all requests. It replaces its engine when the index, its files or the ranks change.
//!
//! **Invariant.** A request keeps the engine it began with. An index that cannot be opened never replaces a
//! working one. The damage found last is reported until the bytes are as written again.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use collection::Collection;
use query::Stop;
use search::{Change, Engine, SearchError};

use crate::cached_copy::Copies;
use crate::pool::Pool;
use crate::{Config, ServeError};

/// The interval between checks for a changed index.
const RELOAD_MS: u64 = 1000;

/// The state shared by all requests.
pub(crate) struct State {
    pub(crate) config: Config,
    collection: Collection,
    pub(crate) query: query::Config,
    pub(crate) pool: Pool,
    engine: RwLock<Arc<Engine>>,
    /// The damage found last.
    damage: Mutex<Option<Damage>>,
    pub(crate) copies: Copies,
}

/// Damage of the index that prevented an answer. It is kept here because a newly opened engine has no record of it.
#[derive(Clone, PartialEq, Eq)]
struct Damage {
    file: PathBuf,
    offset: u64,
    what: String,
}

impl State {
    pub(crate) fn open(
        collection: Collection,
        config: Config,
        query: query::Config,
    ) -> Result<Self, ServeError> {
        let engine = Engine::open(&collection, query.clone())?;
        let engine = RwLock::new(Arc::new(engine));
        let pool = Pool::of_machine(query.time_ms_max);
        let (damage, copies) = (Mutex::default(), Copies::default());
        Ok(Self { config, collection, query, pool, engine, damage, copies })
    }

    /// The current engine.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work` on a thread of the pool.
    pub(crate) async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &Stop) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let engine = self.engine();
        let worker = Arc::clone(&engine);
        let result = match self.pool.run(move |stop| work(&worker, stop)).await {
            // The task panicked. Bytes that change during a read can cause that.
            Err(ServeError::Stopped) => {
                let looked = self.pool.run(move |_| engine.intact()).await;
                match looked {
                    Ok(Err(error)) => Err(error.into()),
                    _ => Err(ServeError::Stopped),
                }
            }
            result => result.and_then(|made| made.map_err(ServeError::from)),
        };
        if let Err(ServeError::Search(error)) = &result {
            self.note(error);
        }
        result
    }

    /// Records the damage if `error` reports damage of the index.
    fn note(&self, error: &SearchError) {
        if let Some((file, offset)) = error.damage() {
            let damage = Damage { file: file.to_path_buf(), offset, what: error.to_string() };
            *self.damage() = Some(damage);
        }
    }

    /// Locks the damage record. The lock is never held during file access.
    fn damage(&self) -> MutexGuard<'_, Option<Damage>> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The damage found in the index so far, if it persists. Reads files.
    pub(crate) fn fault(&self) -> Option<String> {
        let engine = self.engine();
        if let Err(error) = engine.intact() {
            self.note(&error);
            return Some(error.to_string());
        }
        let known = self.damage().clone()?;
        if !engine.is_whole_at(&known.file, known.offset) {
            return Some(known.what);
        }
        // Another request may have recorded different damage.
        self.damage().take_if(|damage| *damage == known);
        None
    }

    /// Checks for a newer index periodically, without end.
    pub(crate) async fn keep_fresh(self: Arc<Self>) {
        let mut interval = tokio::time::interval(Duration::from_millis(RELOAD_MS));
        loop {
            interval.tick().await;
            let state = Arc::clone(&self);
            let reload = tokio::task::spawn_blocking(move || state.reload()).await;
            drop(reload);
        }
    }

    fn reload(&self) {
        match self.engine().change(&self.collection) {
            Change::None => return,
            Change::Newer => {}
            Change::Fault(error) => self.note(&error),
        }
        if let Ok(engine) = Engine::open(&self.collection, self.query.clone()) {
            *self.engine.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(engine);
        }
    }
}

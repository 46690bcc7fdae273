//! The engine behind the server, exchanged when the collection has another index or other ranks, or when the files of its
//! index were changed.
//!
//! **Invariant.** A request keeps the engine it began with; an index that cannot be opened never
//! replaces one that works. The damage that was found last is known until the bytes there are what was written.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use jobs::Collection;
use query::Stop;

use crate::copy::Copies;
use crate::engine::Change;
use crate::pool::Pool;
use crate::{Config, Engine, ServeError};

/// How often the index is looked at.
const RELOAD_MS: u64 = 1000;

/// What every request sees.
pub(crate) struct State {
    pub(crate) config: Config,
    collection: Collection,
    pub(crate) query: query::Config,
    pub(crate) pool: Pool,
    engine: RwLock<Arc<Engine>>,
    /// What was found last.
    damage: Mutex<Option<Damage>>,
    pub(crate) copies: Copies,
}

/// Damage of the index that kept an answer back: an engine that is opened anew knows nothing of it.
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

    /// The engine of now.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work` on a thread of the pool.
    pub(crate) async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &Stop) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let engine = self.engine();
        let worker = Arc::clone(&engine);
        let result = match self.pool.run(move |stop| work(&worker, stop)).await {
            // Bytes that change while they are read may make their reader panic.
            Err(ServeError::Stopped) => {
                let looked = self.pool.run(move |_| engine.intact()).await;
                Err(looked.ok().and_then(Result::err).unwrap_or(ServeError::Stopped))
            }
            result => result.flatten(),
        };
        result.inspect_err(|error| self.note(error))
    }

    /// Keeps what damage was found, if an error is of that.
    fn note(&self, error: &ServeError) {
        if let Some((file, offset)) = error.damage() {
            let damage = Damage { file: file.to_path_buf(), offset, what: error.to_string() };
            *self.damage() = Some(damage);
        }
    }

    /// Never locked while anything is read.
    fn damage(&self) -> MutexGuard<'_, Option<Damage>> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wrong with the index, as far as anybody has come across it, and it still is. Reads files.
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
        // Unless something else was found meanwhile.
        self.damage().take_if(|damage| *damage == known);
        None
    }

    /// Looks for a newer index for ever.
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

//! The engine behind the server, exchanged when the collection has another index or other ranks, or when the files of its
//! index were changed.
//!
//! **Invariant.** A request keeps the engine it began with; an index that cannot be opened never
//! replaces one that works.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jobs::Collection;

use crate::{Config, Engine, ServeError};

/// How often the index is looked at.
const RELOAD_MS: u64 = 1000;

/// What every request sees.
pub(crate) struct State {
    pub(crate) config: Config,
    collection: Collection,
    query: query::Config,
    engine: RwLock<Arc<Engine>>,
}

impl State {
    pub(crate) fn open(
        collection: Collection,
        config: Config,
        query: query::Config,
    ) -> Result<Self, ServeError> {
        let engine = Engine::open(&collection, query.clone())?;
        let engine = RwLock::new(Arc::new(engine));
        Ok(Self { config, collection, query, engine })
    }

    /// The engine of now.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work` on a thread that may block.
    pub(crate) async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<T, ServeError> {
        let engine = self.engine();
        let worker = Arc::clone(&engine);
        let result = tokio::task::spawn_blocking(move || work(&worker)).await;
        // Bytes that change while they are read may break off whatever reads them.
        result.unwrap_or_else(|_| Err(engine.intact().err().unwrap_or(ServeError::Stopped)))
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
        if !self.engine().is_outdated(&self.collection) {
            return;
        }
        if let Ok(engine) = Engine::open(&self.collection, self.query.clone()) {
            *self.engine.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(engine);
        }
    }
}

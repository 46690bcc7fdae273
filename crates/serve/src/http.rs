//! Routes: the page at `/` and `/search`, cached copies, and JSON under `/api`.
//!
//! **Invariant.** Every answer has a content security policy that forbids loading from other hosts. Only requests
//! to a known host are answered. No request ranks more than [`DEPTH_MAX`] results. Long work and file access run
//! in the [`Pool`](crate::pool::Pool).

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query as Parameters, Request, State as Shared};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use collection::Collection;
use query::Stop;
use search::{Engine, SearchRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use tokio::net::TcpListener;

use crate::allowed_hosts::{AllowedHosts, Refused};
use crate::connections::accept;
use crate::state::State;
use crate::{Config, ServeError, page};

/// The maximum number of results on one page or in one answer of the API.
pub const RESULTS_MAX: usize = 100;
/// The maximum number of ranked results.
pub(crate) const DEPTH_MAX: usize = 10_000;
/// The content security policy: no scripts and no other hosts. Style, frames and forms come from this host.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
    frame-src 'self'; form-action 'self'; base-uri 'none'";

/// The parameters of a search.
#[derive(Deserialize)]
struct Asked {
    #[serde(default, deserialize_with = "without_controls")]
    q: String,
    #[serde(default)]
    page: usize,
    #[serde(default)]
    offset: usize,
    k: Option<usize>,
    /// The topic; blank for no topic.
    #[serde(default, deserialize_with = "without_controls")]
    topic: String,
    #[serde(default)]
    explain: u8,
}

impl Asked {
    fn question(&self, offset: usize, k: usize, stop: &Stop) -> SearchRequest<'_> {
        let topic = Some(self.topic.trim()).filter(|topic| !topic.is_empty());
        let explain = self.explain != 0;
        SearchRequest { text: &self.q, offset, k, topic, explain, stop: stop.clone() }
    }
}

#[derive(Deserialize)]
struct AskedText {
    #[serde(default, deserialize_with = "without_controls")]
    q: String,
}

/// Reads a text without its control characters, since the answer repeats it.
fn without_controls<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let text = Cow::<'de, str>::deserialize(text)?;
    Ok(::page::without_controls(&text).into_owned())
}

#[derive(Deserialize)]
struct AskedUrl {
    url: String,
}

/// Extracts the parameters of an address. Invalid parameters produce an error page, or a JSON error under `/api/`.
struct Asking<T>(T);

impl<T: DeserializeOwned> FromRequestParts<Arc<State>> for Asking<T> {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &Arc<State>,
    ) -> Result<Self, Self::Rejection> {
        let read = Parameters::<T>::from_request_parts(parts, state).await;
        read.map(|Parameters(asked)| Self(asked)).map_err(|rejection| {
            let text = format!("A parameter is not valid: {}", reason(&rejection));
            let body = if parts.uri.path().starts_with("/api/") {
                Json(json!({ "error": text })).into_response()
            } else {
                page::notice(&state.config.title, &text).into_response()
            };
            (StatusCode::BAD_REQUEST, body).into_response()
        })
    }
}

/// Describes an error in the parameters for users, without internal type names.
fn reason(rejection: &QueryRejection) -> String {
    let text = rejection.body_text();
    let text = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, reason)| reason);
    let (name, what) = text.split_once(": ").unwrap_or(("", text));
    let of = |start| what.strip_prefix(start);
    if let Some(field) = of("missing field ") {
        return format!("{field} is missing");
    }
    if let Some(field) = of("duplicate field ") {
        return format!("{field} is there twice");
    }
    match what {
        "number too large to fit in target type" => format!("`{name}` is too great"),
        _ if !name.is_empty() => format!("`{name}` must be a whole number, 0 or more"),
        _ => what.to_owned(),
    }
}

impl AskedUrl {
    /// The URL in the normalised form that the archive uses.
    fn normalised(&self) -> String {
        ::page::normalise(&self.url, None, &::page::Limits::default())
            .map_or_else(|_| self.url.clone(), String::from)
    }
}

/// A collection that is ready to be served.
pub struct Site {
    state: Arc<State>,
}

impl Site {
    /// Opens the index and the files that results need.
    pub fn open(
        collection: Collection,
        config: Config,
        query: query::Config,
    ) -> Result<Self, ServeError> {
        Ok(Self { state: Arc::new(State::open(collection, config, query)?) })
    }

    /// Answers requests on `listener` until `shutdown` completes.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let hosts = Arc::new(AllowedHosts::new(listener.local_addr()?, &self.state.config.hosts));
        let fresh = tokio::spawn(Arc::clone(&self.state).keep_fresh());
        let state = Arc::clone(&self.state);
        let shutdown = async move {
            shutdown.await;
            state.pool.stop_all();
        };
        accept(listener, router(self.state, hosts), shutdown).await;
        fresh.abort();
        Ok(())
    }
}

fn router(state: Arc<State>, hosts: Arc<AllowedHosts>) -> Router {
    let title = state.config.title.clone();
    let only_known = move |request: Request, next: Next| {
        let (hosts, title) = (Arc::clone(&hosts), title.clone());
        async move { check_host(&hosts, &title, request, next).await }
    };
    Router::new()
        .route("/", get(home))
        .route("/search", get(search))
        .route("/cached", get(cached))
        .route("/cached/raw", get(cached_raw))
        .route("/copies", get(copies))
        .route("/style.css", get(style))
        .route("/icon.svg", get(icon))
        .route("/favicon.ico", get(icon))
        .route("/opensearch.xml", get(opensearch))
        .route("/health", get(health))
        .route("/api/search", get(api_search))
        .route("/api/complete", get(api_complete))
        .fallback(not_found)
        .layer(middleware::from_fn(only_known))
        .layer(middleware::from_fn(guard))
        .with_state(state)
}

/// The checked host of a request.
#[derive(Clone)]
struct Host(String);

/// Refuses requests for an unknown host.
async fn check_host(
    hosts: &AllowedHosts,
    title: &str,
    mut request: Request,
    next: Next,
) -> Response {
    match hosts.host(request.uri(), request.headers(), request.version()) {
        Ok(host) => {
            request.extensions_mut().insert(Host(host));
            next.run(request).await
        }
        Err(Refused { status, why }) => {
            let is_api = request.uri().path().starts_with("/api/");
            let body = if is_api {
                Json(json!({ "error": why })).into_response()
            } else {
                page::notice(title, &why).into_response()
            };
            (status, body).into_response()
        }
    }
}

/// Adds the security headers that an answer does not set itself.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

type AppState = Shared<Arc<State>>;

async fn home(Shared(state): AppState) -> Response {
    let engine = state.engine();
    let form = page::Form { topics: &engine.topics(), ..page::Form::default() };
    page::home(&state.config.title, &form, engine.document_count()).into_response()
}

async fn search(Shared(state): AppState, Asking(asked): Asking<Asked>) -> Response {
    if asked.q.trim().is_empty() {
        return home(Shared(state)).await;
    }
    let per_page = state.config.results_per_page.clamp(1, RESULTS_MAX);
    let number = asked.page.clamp(1, DEPTH_MAX / per_page);
    let offset = (number - 1) * per_page;
    let asked = Arc::new(asked);
    let question = Arc::clone(&asked);
    let search = move |engine: &Engine, stop: &Stop| {
        engine.search(&question.question(offset, per_page, stop))
    };
    let answer = state.with_engine(search).await;
    let engine = state.engine();
    let title = &state.config.title;
    let form = page::Form { query: &asked.q, topics: &engine.topics(), topic: asked.topic.trim() };
    match answer {
        Ok(results) => {
            let (explain, time_ms_max) = (asked.explain != 0, state.query.time_ms_max);
            let view = page::View { title, form, number, per_page, explain, time_ms_max };
            page::results(&view, &results).into_response()
        }
        Err(error) => refuse(&error, page::failure(title, &form, &error)),
    }
}

async fn cached(Shared(state): AppState, Asking(asked): Asking<AskedUrl>) -> Response {
    let url = asked.normalised();
    let title = state.config.title.clone();
    match state.with_engine(move |engine, _| engine.captured(&url)).await {
        Ok(Some(captured)) => page::cached(&title, &captured).into_response(),
        Ok(None) => missing(&title, &asked.url),
        Err(error) => refuse(&error, page::failure(&title, &page::Form::default(), &error)),
    }
}

async fn cached_raw(Shared(state): AppState, Asking(asked): Asking<AskedUrl>) -> Response {
    let url = asked.normalised();
    let title = state.config.title.clone();
    let read = state.with_engine(move |engine, _| engine.copy(&url));
    match state.copies.read(read).await {
        Ok(Some(copy)) => state.copies.answer(copy).unwrap_or_else(|| {
            let text = "Too many large copies are being sent; try again in some seconds.";
            let wait = [(header::RETRY_AFTER, HeaderValue::from_static("5"))];
            (StatusCode::SERVICE_UNAVAILABLE, wait, page::notice(&title, text)).into_response()
        }),
        Ok(None) => missing(&title, &asked.url),
        Err(error) => refuse(&error, page::failure(&title, &page::Form::default(), &error)),
    }
}

async fn copies(Shared(state): AppState, Asking(asked): Asking<AskedUrl>) -> Response {
    let url = asked.normalised();
    let title = state.config.title.clone();
    match state.with_engine(move |engine, _| Ok(engine.copies(&url))).await {
        Ok(copies) => {
            let url = ::page::without_controls(&asked.url);
            page::copies(&title, &url, &copies).into_response()
        }
        Err(error) => refuse(&error, page::failure(&title, &page::Form::default(), &error)),
    }
}

async fn api_search(Shared(state): AppState, Asking(asked): Asking<Asked>) -> Response {
    if asked.k == Some(0) {
        let body = json!({ "error": format!("k is 0, and must be from 1 to {RESULTS_MAX}") });
        return (StatusCode::BAD_REQUEST, Json(body)).into_response();
    }
    let offset = asked.offset;
    if offset >= DEPTH_MAX {
        let most = DEPTH_MAX - 1;
        let body = json!({ "error": format!("offset is {offset}, and must be from 0 to {most}: the best {DEPTH_MAX} are ranked") });
        return (StatusCode::BAD_REQUEST, Json(body)).into_response();
    }
    let k = asked.k.unwrap_or(state.config.results_per_page).clamp(1, RESULTS_MAX);
    let k = k.min(DEPTH_MAX - offset);
    let search =
        move |engine: &Engine, stop: &Stop| engine.search(&asked.question(offset, k, stop));
    match state.with_engine(search).await {
        Ok(results) => Json(results).into_response(),
        Err(error) => api_failure(&error),
    }
}

async fn api_complete(Shared(state): AppState, Asking(asked): Asking<AskedText>) -> Response {
    match state.with_engine(move |engine, stop| engine.complete(&asked.q, stop)).await {
        Ok(completions) => Json(completions).into_response(),
        Err(error) => api_failure(&error),
    }
}

fn api_failure(error: &ServeError) -> Response {
    let body = json!({ "error": error.to_string(), "column": error.column() });
    refuse(error, Json(body))
}

/// Reports that the server runs and whether the index is intact. The status is 200 even for a damaged index.
/// A busy server answers 503.
async fn health(Shared(state): AppState) -> Response {
    let engine = state.engine();
    let (documents, generation) = (engine.document_count(), engine.generation());
    let looker = Arc::clone(&state);
    let fault = match state.pool.run(move |_| looker.fault()).await {
        Err(busy @ ServeError::Busy) => return api_failure(&busy),
        fault => fault.unwrap_or_else(|error| Some(error.to_string())),
    };
    let status = if fault.is_none() { "ok" } else { "fault" };
    let mut body = json!({ "status": status, "documents": documents, "generation": generation });
    if let Some(fault) = fault {
        body["fault"] = fault.into();
    }
    Json(body).into_response()
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE).into_response()
}

async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], page::ICON).into_response()
}

async fn opensearch(Shared(state): AppState, Extension(Host(host)): Extension<Host>) -> Response {
    let body = page::opensearch(&state.config.title, &host);
    ([(header::CONTENT_TYPE, "application/opensearchdescription+xml")], body).into_response()
}

async fn not_found(Shared(state): AppState) -> Response {
    let body = page::notice(&state.config.title, "There is no such page here.");
    (StatusCode::NOT_FOUND, body).into_response()
}

fn missing(title: &str, url: &str) -> Response {
    let url = ::page::without_controls(url);
    let text = format!("There is no copy of {url} in this collection.");
    (StatusCode::NOT_FOUND, page::notice(title, &text)).into_response()
}

/// A response with the status for `error`. A busy server adds `Retry-After`.
fn refuse(error: &ServeError, body: impl IntoResponse) -> Response {
    let status = match error {
        ServeError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        _ if error.is_users() => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = (status, body).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

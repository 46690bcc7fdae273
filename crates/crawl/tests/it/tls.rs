//! TLS with an authority of our own: HTTP/2 and HTTP/1.1, and certificates that are refused.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use archive::{Archive, Kind};
use bytes::Bytes;
use crawl::{Config, PolitenessKind, Report};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::hostile::links_to;
use crate::support::crawl;

fn openssl<I: AsRef<OsStr>>(dir: &Path, arguments: impl IntoIterator<Item = I>) {
    let made = Command::new("openssl").current_dir(dir).args(arguments).output();
    let made = made.expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

const AUTHORITY: &str = "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nserial=serial\n\
    new_certs_dir=.\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n";

/// Creates an authority, and a certificate signed by it for `name`, valid until the given year.
pub(crate) fn server_config(dir: &Path, name: &str, until: u32) -> ServerConfig {
    fs::write(dir.join("ca.cnf"), AUTHORITY).expect("room for a file");
    fs::write(dir.join("index.txt"), "").expect("room for a file");
    fs::write(dir.join("serial"), "01\n").expect("room for a file");
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["-subj", "/CN=Authority", "-keyout", "ca.key", "-out", "ca.pem"];
    openssl(dir, ["req", "-x509"].iter().chain(&curve).chain(&authority));
    let names = format!("subjectAltName=DNS:{name}");
    let request = ["-subj", "/CN=x", "-keyout", "key.pem", "-out", "csr.pem", "-addext", &names];
    openssl(dir, ["req"].iter().chain(&curve).chain(&request));
    let dates = ["-startdate", "20200101000000Z", "-enddate", &format!("{until}0101000000Z")];
    let files = ["-cert", "ca.pem", "-keyfile", "ca.key", "-in", "csr.pem", "-out", "own.pem"];
    let sign = ["ca", "-batch", "-notext", "-config", "ca.cnf"];
    openssl(dir, sign.iter().chain(&dates).chain(&files));
    let certificate = CertificateDer::from_pem_file(dir.join("own.pem")).expect("openssl wrote it");
    let key = PrivateKeyDer::from_pem_file(dir.join("key.pem")).expect("openssl wrote it");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together")
}

/// Uses the certificate of the authority itself, or one that is not valid yet.
fn wrong_certificate(dir: &Path, is_authority: bool) -> ServerConfig {
    let mut config = server_config(dir, "localhost", 2049);
    let (certificate, key) = if is_authority {
        ("ca.pem", "ca.key")
    } else {
        let dates = ["-startdate", "20480101000000Z", "-enddate", "20490101000000Z"];
        let files = ["-cert", "ca.pem", "-keyfile", "ca.key", "-in", "csr.pem", "-out", "late.pem"];
        fs::write(dir.join("index.txt"), "").expect("room for a file");
        let sign = ["ca", "-batch", "-notext", "-config", "ca.cnf"];
        openssl(dir, sign.iter().chain(&dates).chain(&files));
        ("late.pem", "key.pem")
    };
    let certificate = CertificateDer::from_pem_file(dir.join(certificate)).expect("it is there");
    let key = PrivateKeyDer::from_pem_file(dir.join(key)).expect("it is there");
    let key = config.crypto_provider().key_provider.load_private_key(key).expect("a key");
    let certified = rustls::sign::CertifiedKey::new(vec![certificate], key);
    config.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(certified));
    config
}

/// The record of a server.
#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    requests: Mutex<Vec<(Version, String)>>,
}

/// Starts a server with five pages; returns its port.
fn serve(mut config: ServerConfig, protocols: &[&str]) -> (u16, Arc<Seen>) {
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let seen: Arc<Seen> = Arc::default();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    listener.set_nonblocking(true).expect("it may be");
    let own = Arc::clone(&seen);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(accept(listener, acceptor, own));
    });
    (port, seen)
}

async fn accept(listener: std::net::TcpListener, acceptor: TlsAcceptor, seen: Arc<Seen>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
    while let Ok((stream, _)) = listener.accept().await {
        seen.connections.fetch_add(1, Ordering::Relaxed);
        let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let stream = TokioIo::new(stream);
            let service = service_fn(move |request| {
                let answer = answer(&request, &seen);
                async { Ok::<_, Infallible>(answer) }
            });
            // A crawler that closes the connection does not fail the test.
            let _ = if is_http2 {
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                server.serve_connection(stream, service).await
            } else {
                hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await
            };
        });
    }
}

fn answer(request: &Request<hyper::body::Incoming>, seen: &Seen) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let status = if path == "/robots.txt" { 404 } else { 200 };
    let links = links_to(&["/1", "/2", "/3", "/4"]);
    seen.requests.lock().expect("no panic").push((request.version(), path));
    let response = Response::builder().status(status).header("Content-Type", "text/html");
    response.body(Full::from(links)).expect("its parts are sound")
}

fn check(dir: &Path, config: Config, port: u16) -> Report {
    let config = Config {
        politeness: PolitenessKind::Relative,
        slice_ms: 60_000,
        ip_delay_ms: 0,
        retry_ms: 5,
        ..config
    };
    crawl(dir, &config, &[format!("https://localhost:{port}/")]).expect("it runs")
}

/// Checks that five pages and a robots.txt are fetched in one slice, on one connection.
fn check_good(protocols: &[&str], http2: bool, version: Version) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (port, seen) = serve(server_config(dir.path(), "localhost", 2049), protocols);
    let config = Config { tls_roots: dir.path().join("ca.pem"), http2, ..Config::default() };
    let report = check(dir.path(), config, port);
    assert_eq!((report.pages, report.requests), (5, 6), "{:?}", report.aside);
    let requests = seen.requests.lock().expect("no panic");
    assert!(requests.iter().all(|(spoken, _)| *spoken == version), "{requests:?}");
    assert_eq!((requests.len(), seen.connections.load(Ordering::Relaxed)), (6, 1));
    for record in Archive::open(&dir.path().join("archive")).expect("it is there").records() {
        let record = record.expect("it is whole");
        if record.kind == Kind::Response {
            let wanted = (version == Version::HTTP_2).then_some("h2");
            assert_eq!(record.header("WARC-Protocol"), wanted);
            assert!(record.block.starts_with(b"HTTP/1.1 "), "as tools expect it");
        }
    }
}

#[test]
fn needs_openssl_http2_is_used_if_offered() {
    check_good(&["h2", "http/1.1"], true, Version::HTTP_2);
}

#[test]
fn needs_openssl_http1_is_used_without_http2() {
    check_good(&["http/1.1"], true, Version::HTTP_11);
    check_good(&["h2", "http/1.1"], false, Version::HTTP_11);
}

#[test]
fn needs_openssl_refused_certificates_are_reported_with_a_reason() {
    for (name, until, is_trusted, why) in [
        ("localhost", 2049, false, &["unknown issuer", "`tls_roots`"][..]),
        ("localhost", 2021, true, &["has expired, on 2021-01-01"]),
        ("other.test", 2049, true, &["is not for localhost, but for other.test"]),
    ] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (port, seen) = serve(server_config(dir.path(), name, until), &["h2"]);
        let ca = dir.path().join("ca.pem");
        let tls_roots = if is_trusted { ca } else { Config::default().tls_roots };
        let report = check(dir.path(), Config { tls_roots, ..Config::default() }, port);
        assert_eq!(report.failures.get("tls"), Some(&1), "{name} {until}: {:?}", report.failures);
        let said = &report.aside[0].why;
        assert!(why.iter().all(|word| said.contains(word)), "{said}");
        assert!(seen.requests.lock().expect("no panic").is_empty());
    }
}

#[test]
fn needs_openssl_authority_and_future_certificates_are_reported() {
    for (is_authority, why) in
        [(true, "an authority (CA:TRUE)"), (false, "not valid before 2048-01-01")]
    {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (port, _) = serve(wrong_certificate(dir.path(), is_authority), &["h2"]);
        let tls_roots = dir.path().join("ca.pem");
        let report = check(dir.path(), Config { tls_roots, ..Config::default() }, port);
        assert!(report.aside[0].why.contains(why), "{:?}", report.aside);
    }
}

//! Trusted certificates, and readable messages for TLS failures.
//!
//! What lives here: the root certificates of the browsers and of `tls_roots`, and descriptions of certificate
//! errors. What does not: connections (`connect.rs`).
//!
//! **Invariant.** An error in the file is reported with its line. The messages for common errors have no names of
//! Rust types: unknown issuer, wrong name, wrong date, an authority in place of a server.
//!
//! Reference: D. Cooper et al., RFC 5280 §6, 2008; J. Hodges, P. Saint-Andre, RFC 9525, 2023.

use std::error::Error;
use std::path::Path;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{AlertDescription, CertificateError, RootCertStore};

use super::config_files::read_config_file;
use crate::config::Config;
use crate::error::CrawlError;

/// The first line of a certificate in a PEM file.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
/// The advice about an unknown issuer.
const TRUST: &str =
    "if it is yours, name a PEM file with the certificate of its authority in `tls_roots`";

/// Returns the trusted root certificates.
pub(super) fn roots(config: &Config) -> Result<RootCertStore, CrawlError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if !config.tls_roots.as_os_str().is_empty() {
        add_roots(&mut roots, &config.tls_roots)?;
    }
    Ok(roots)
}

/// Adds the root certificates of a PEM file.
fn add_roots(roots: &mut RootCertStore, path: &Path) -> Result<(), CrawlError> {
    let wrong = |why: String| CrawlError::Config { key: "tls_roots", why };
    let name = path.display();
    let bytes = read_config_file(path).map_err(wrong)?;
    let before = roots.len();
    for (number, certificate) in CertificateDer::pem_slice_iter(&bytes).enumerate() {
        let fault = |what: &str| {
            let line = line_of(&bytes, number).map_or_else(String::new, |line| format!("{line}:"));
            wrong(format!("{name}:{line} the certificate that begins here {what}"))
        };
        let certificate = certificate.map_err(|_| {
            fault("is not whole: it must be base 64, and end with -----END CERTIFICATE-----")
        })?;
        roots.add(certificate).map_err(|_| fault("cannot be read: it is none of X.509"))?;
    }
    if roots.len() == before {
        let why = "there is no certificate in it; one begins with the line";
        return Err(wrong(format!("{name}: {why} {BEGIN}")));
    }
    Ok(())
}

/// Returns the line on which the certificate with this number begins.
fn line_of(bytes: &[u8], number: usize) -> Option<usize> {
    let text = String::from_utf8_lossy(bytes);
    let begins = text.lines().enumerate().filter(|(_, line)| line.contains(BEGIN));
    begins.map(|(line, _)| line + 1).nth(number)
}

/// Describes a TLS failure, and what to do.
pub(super) fn in_words(error: &rustls::Error) -> String {
    let fault = match error {
        rustls::Error::InvalidCertificate(fault) => fault,
        rustls::Error::InvalidMessage(_) => {
            return "what answers at this port does not speak TLS; is it http?".to_owned();
        }
        rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)
        | rustls::Error::PeerIncompatible(_) => {
            return "the server speaks no TLS that is accepted: it must be version 1.2 or 1.3, with a cipher of today"
                .to_owned();
        }
        rustls::Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            return "the server broke off the handshake: it has no version of TLS, no cipher or no certificate that \
                    fits"
                .to_owned();
        }
        rustls::Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            return "the server has no site of this name".to_owned();
        }
        rustls::Error::AlertReceived(alert) => {
            return format!("the server broke off the secure connection ({alert:?})");
        }
        other => return format!("the secure connection failed: {other}"),
    };
    match fault {
        CertificateError::UnknownIssuer => format!(
            "the certificate is signed by an authority that is not known (unknown issuer), or by itself; {TRUST}"
        ),
        CertificateError::Expired => "the certificate has expired".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the certificate has expired, on {}", date(*not_after))
        }
        CertificateError::NotValidYet => "the certificate is not valid yet".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("the certificate is not valid before {}; is the clock right?", date(*not_before))
        }
        CertificateError::NotValidForName => "the certificate is for another name".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            format!("the certificate is not for {}, but for {}", expected.to_str(), names(presented))
        }
        CertificateError::Revoked => "the certificate was revoked".to_owned(),
        CertificateError::BadSignature => "the signature of the certificate is wrong".to_owned(),
        CertificateError::BadEncoding => "the certificate cannot be read".to_owned(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the certificate is not for servers".to_owned()
        }
        // The library reports this error only by its own name.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "the certificate is that of an authority (CA:TRUE) and not of a server; the server needs one that the \
             authority has signed, and then the authority may be named in `tls_roots`"
                .to_owned()
        }
        other => format!("the certificate cannot be accepted: {other}"),
    }
}

/// Describes a broken connection, without the library's advice for programmers.
pub(super) fn of_connection(cause: &(dyn Error + 'static)) -> String {
    let text = cause.to_string();
    if text.contains("close_notify") {
        return "the secure connection ended without being closed, so that something may be missing"
            .to_owned();
    }
    text
}

/// Returns the names of a certificate, which the library formats as `DnsName("localhost")`.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')'));
        inner.unwrap_or(name).trim_matches('"').to_owned()
    };
    let names: Vec<String> = presented.iter().map(bare).collect();
    if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") }
}

fn date(moment: UnixTime) -> String {
    archive::date_text(i64::try_from(moment.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::{fs, io};

    use super::*;

    #[test]
    fn connection_errors_are_reported_without_documentation_urls() {
        let eof = io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/",
        );
        let said = of_connection(&eof);
        assert!(said.contains("without being closed") && !said.contains("://"), "{said}");
        assert_eq!(of_connection(&io::Error::other("broken pipe")), "broken pipe");
        let alert = rustls::Error::AlertReceived;
        for (error, words) in [
            (
                rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
                "does not speak TLS",
            ),
            (alert(AlertDescription::ProtocolVersion), "version 1.2 or 1.3"),
            (
                rustls::Error::PeerIncompatible(
                    rustls::PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
                ),
                "version 1.2 or 1.3",
            ),
            (alert(AlertDescription::HandshakeFailure), "broke off the handshake"),
            (alert(AlertDescription::UnrecognisedName), "no site of this name"),
        ] {
            let said = in_words(&error);
            assert!(said.contains(words), "{error:?}: {said}");
        }
    }

    #[test]
    fn an_error_in_the_file_names_its_line() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("roots.pem");
        let end = "-----END CERTIFICATE-----";
        for (text, words) in [
            ("nothing\n".to_owned(), &["roots.pem: there is no certificate"][..]),
            (format!("# ours\n\n{BEGIN}\n!!!\n{end}\n"), &["roots.pem:3: ", "base 64"]),
            (format!("\n{BEGIN}\naGVsbG8=\n{end}\n"), &["roots.pem:2: ", "X.509"]),
            (format!("{BEGIN}\naGVsbG8=\n"), &["roots.pem:1: ", "END CERTIFICATE"]),
        ] {
            fs::write(&path, &text).expect("room for a file");
            let config = Config { tls_roots: path.clone(), ..Config::default() };
            let error = roots(&config).expect_err("no authority").to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{text:?}: {error}");
        }
        let config = Config { tls_roots: dir.path().join("none.pem"), ..Config::default() };
        let error = roots(&config).expect_err("no file").to_string();
        assert!(error.contains("none.pem cannot be read"), "{error}");
    }
}

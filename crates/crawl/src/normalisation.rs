//! Rules that merge URLs to which a server gives the same answer, each to be chosen.
//!
//! What lives here: [`Normalisation`], the rules, applied to a URL that is already normalised by the WHATWG
//! standard (`page::normalise`). What does not: whether a URL is wanted (`rules.rs`).
//!
//! **Invariant.** Applying the rules a second time changes nothing.

use page::{Url, upper_case_escapes};
use serde::{Deserialize, Serialize};

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// Removes session ids: `?sid=…`, `;jsessionid=…`, `/(S(…))/` and similar.
    SessionIds,
    /// Removes parameters that only say where a visitor comes from: `utm_…`, `gclid`, `fbclid`.
    Tracking,
    /// `/a/index.html` becomes `/a/`.
    Index,
    /// `www.example.org` becomes `example.org`.
    Www,
    /// `/%7Eme?` becomes `/~me`: removes escapes of unreserved characters, and a question mark with an empty query
    /// (RFC 3986, 6.2.2.2 and 6.2.3). A `%` in the path that begins no escape becomes `%25`: browsers leave it,
    /// and servers answer 400.
    Escapes,
}

/// Parameters of session ids, in lower case.
const SESSION_NAMES: [&str; 14] = [
    "sid",
    "phpsessid",
    "jsessionid",
    "sessionid",
    "session_id",
    "sessid",
    "sess",
    "aspsessionid",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
    "xtcsid",
    "phpsession",
];

const TRACKING_NAMES: [&str; 13] = [
    "gclid", "fbclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "igshid",
    "mc_cid", "mc_eid", "_ga", "_gl",
];

const INDEX_NAMES: [&str; 10] = [
    "index.html",
    "index.htm",
    "index.php",
    "index.asp",
    "index.aspx",
    "index.jsp",
    "index.shtml",
    "default.html",
    "default.asp",
    "default.aspx",
];

impl Normalisation {
    /// Applies `rules` to a URL.
    pub fn apply(rules: &[Normalisation], url: Url) -> Url {
        if rules.is_empty() { url } else { apply(rules, url) }
    }

    /// Returns the `rules` that change a URL: without each of them it would be different.
    pub fn changing(rules: &[Normalisation], url: &Url) -> Vec<Normalisation> {
        let whole = Normalisation::apply(rules, url.clone());
        let counts = |rule: &Normalisation| {
            let others: Vec<_> = rules.iter().copied().filter(|other| other != rule).collect();
            Normalisation::apply(&others, url.clone()) != whole
        };
        rules.iter().copied().filter(counts).collect()
    }

    /// Returns the name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Normalisation::SessionIds => "session-ids",
            Normalisation::Tracking => "tracking",
            Normalisation::Index => "index",
            Normalisation::Www => "www",
            Normalisation::Escapes => "escapes",
        }
    }

    /// Returns whether `rules` may change a URL; `false` is certain.
    pub(crate) fn may_change(rules: &[Normalisation], url: &str) -> bool {
        let is_plain = |rule: &Normalisation| {
            matches!(rule, Self::SessionIds | Self::Tracking | Self::Escapes)
        };
        !rules.iter().all(is_plain) || url.contains(['?', ';', '(', '%'])
    }

    /// Returns the URL to follow after a redirect of `from` to `target`. A server that redirects to its session
    /// id, its `index.html` or its `www` is followed there.
    pub fn apply_to_redirect(rules: &[Normalisation], from: &Url, target: Url) -> Url {
        let shorter = Normalisation::apply(rules, target.clone());
        if shorter == *from { target } else { shorter }
    }
}

fn apply(rules: &[Normalisation], mut url: Url) -> Url {
    let has = |rule| rules.contains(&rule);
    if has(Normalisation::Escapes) {
        url = with_plain_escapes(url);
    }
    if has(Normalisation::SessionIds) && session_in_path(&url) {
        let path: Vec<String> =
            url.path().split('/').map(without_session).filter(|s| !is_session_segment(s)).collect();
        let path = path.join("/");
        url.set_path(if path.is_empty() { "/" } else { &path });
    }
    let is_noise = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        has(Normalisation::SessionIds) && is_session_name(name)
            || has(Normalisation::Tracking) && is_tracking_name(name)
    };
    if let Some(query) = url.query()
        && query.split('&').any(is_noise)
    {
        let kept: Vec<&str> = query.split('&').filter(|pair| !is_noise(pair)).collect();
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(&kept));
    }
    if has(Normalisation::Index) && url.query().is_none() {
        let (folder, name) = url.path().rsplit_once('/').unwrap_or_default();
        if INDEX_NAMES.iter().any(|index| name.eq_ignore_ascii_case(index)) {
            let folder = format!("{folder}/");
            url.set_path(&folder);
        }
    }
    if has(Normalisation::Www) {
        while let Some(bare) = url.host_str().and_then(without_www).map(str::to_owned) {
            if url.set_host(Some(&bare)).is_err() {
                break;
            }
        }
    }
    url
}

/// Normalises the escapes of a URL.
fn with_plain_escapes(mut url: Url) -> Url {
    if let Some(path) = with_whole_bytes(url.path()) {
        url.set_path(&path);
    }
    if let Some(path) = undo_escapes(url.path()) {
        url.set_path(&path);
    }
    if let Some(query) = url.query().and_then(undo_escapes) {
        url.set_query(Some(&query));
    }
    if url.query() == Some("") {
        url.set_query(None);
    }
    url
}

/// Decodes the escapes of unreserved characters; `None` if nothing changes. Decoding can complete another escape,
/// as in `%%374`, so the end is checked again.
fn undo_escapes(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut plain = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        plain.push(byte);
        while let Some(letter) = escaped_at_end(&plain) {
            plain.truncate(plain.len() - 3);
            plain.push(letter);
        }
    }
    let plain = String::from_utf8(plain).ok().filter(|plain| plain.len() < text.len())?;
    Some(upper_case_escapes(&plain).into_owned())
}

/// Returns the unreserved character whose escape is at the end.
fn escaped_at_end(bytes: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = bytes.last_chunk()? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let letter = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    let is_unreserved =
        letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'.' | b'_' | b'~');
    is_unreserved.then_some(letter)
}

/// Escapes every `%` of a path that begins no escape; `None` if nothing changes.
fn with_whole_bytes(path: &str) -> Option<String> {
    let begins_byte = |at: usize| {
        let digits = path.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let strays = path.match_indices('%').map(|(at, _)| at).filter(|&at| !begins_byte(at));
    let mut whole = String::new();
    let mut copied = 0;
    for at in strays {
        whole.push_str(&path[copied..=at]);
        whole.push_str("25");
        copied = at + 1;
    }
    (copied > 0).then(|| whole + &path[copied..])
}

/// Returns whether the path has a session id, which makes a new URL of every visit.
pub(crate) fn session_in_path(url: &Url) -> bool {
    url.path().contains([';', '('])
        && url
            .path()
            .split('/')
            .any(|segment| without_session(segment) != segment || is_session_segment(segment))
}

fn is_session_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SESSION_NAMES.contains(&name.as_str()) || name.starts_with("aspsessionid")
}

fn is_tracking_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TRACKING_NAMES.contains(&name.as_str()) || name.starts_with("utm_")
}

/// Removes session ids from the parameters of a segment: `a;jsessionid=1;b=2` is `a;b=2`.
fn without_session(segment: &str) -> String {
    let is_session =
        |part: &str| part.split_once('=').is_some_and(|(name, _)| is_session_name(name));
    let mut parts = segment.split(';');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|part| !is_session(part)) {
        kept.push(';');
        kept.push_str(part);
    }
    kept
}

/// Returns whether a segment is a session id as ASP.NET writes it, such as `(S(abc))`.
fn is_session_segment(segment: &str) -> bool {
    segment.strip_prefix("(S(").is_some_and(|rest| rest.ends_with("))"))
        || segment.starts_with("(X(1)S(") && segment.ends_with("))")
}

fn without_www(host: &str) -> Option<&str> {
    host.strip_prefix("www.").filter(|bare| bare.contains('.'))
}

//! An explanation of what a robots.txt says about one URL, for `crivello why`.
//!
//! What lives here: [`explain_robots`]. What does not: finding the record of the robots.txt (`crivello why`).
//!
//! **Invariant.** The explanation agrees with the behaviour of a crawl.

use page::Url;

use super::{Robots, line_text, text};
use crate::answer::{Purpose, is_temporary};
use crate::config::agent_name;
use crate::site::Site;

/// The result of a robots.txt for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsExplanation {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// Whether a robots.txt is available. Until it is, nothing is fetched.
    pub is_had: bool,
    /// The explanation.
    pub why: String,
}

/// Explains what the robots.txt in `record` says to `user_agent` about `url`; `None` if the record is not an
/// answer.
pub fn explain_robots(
    record: &archive::Record,
    url: &Url,
    user_agent: &str,
) -> Option<RobotsExplanation> {
    let say = |allowed, why: String| Some(RobotsExplanation { allowed, is_had: true, why });
    let http = archive::parse_http(&record.block).ok()?;
    match http.status {
        200..=299 => {}
        status if is_temporary(Purpose::Robots, status) => {
            let why = format!("its robots.txt cannot be had (it answered {status})");
            return Some(RobotsExplanation { allowed: false, is_had: false, why });
        }
        status => {
            return say(true, format!("robots.txt answered {status}, so everything is allowed"));
        }
    }
    let Some(body) = text(&http) else {
        return say(false, "robots.txt cannot be decoded, so nothing is allowed".to_owned());
    };
    let (_, path) = Site::split(url.as_str())?;
    let verdict = Robots::parse(&body, agent_name(user_agent)).allows(path);
    let why = match (verdict.allowed, verdict.line) {
        (true, Some(line)) => format!("allowed by line {line}{}", line_text(&body, line)),
        (false, Some(line)) => {
            format!("forbidden by line {line}{}", line_text(&body, line))
        }
        (_, None) => "no line speaks of it, so it is allowed".to_owned(),
    };
    say(verdict.allowed, why)
}

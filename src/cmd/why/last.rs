//! What keeps a URL waiting that the configuration of now would let in.
//!
//! What lives here: what a crawl that runs, or the last one, was told otherwise (`crawl::Settings`), then the counts of the
//! last one. What does not: what bars a URL now (`bar.rs`), and the limits themselves (`limit.rs`).
//!
//! **Invariant.** What a run left out by a flag of its own is said of that run, and with it that one without the
//! flag goes there.

use anyhow::Result;
use archive::Archive;
use collection::Collection;
use crawl::{Report, Rules, Settings};
use page::Url;

use super::bar::Bar;
use super::found;
use super::limit::Limits;
use super::{Why, captures};
use crate::config::Config;
use crate::talk;

/// What became of `url`, which was found, which nothing bars, and which was not visited.
pub(super) fn verdict(
    why: &Why,
    url: &Url,
    collection: &Collection,
    archive: &Archive,
    report: &Report,
    config: &Config,
) -> Result<String> {
    let frontier = &collection.frontier_dir();
    let limits = Limits { archive, frontier, report, config: &config.crawl };
    let run = if why.is_crawling() { "the crawl that is running" } else { "the last crawl" };
    let settings = Settings::read(frontier);
    if let Some(settings) =
        settings.as_ref().filter(|kept| !kept.other_than(&config.crawl).is_empty())
        && let Some(told) = settings.put_into(&config.crawl)
    {
        let told = Config { crawl: told, ..config.clone() };
        let limits = Limits { archive, frontier, report, config: &told.crawl };
        if let Some(left_out) = left_out(why, url, collection, &limits, &told)? {
            let keys: Vec<String> =
                settings.other_than(&config.crawl).iter().map(|key| format!("`{key}`")).collect();
            return Ok(format!(
                "waiting: {run} did not come to it, by settings of its own ({}): {left_out}; with those of now \
                 `crivello crawl` would",
                keys.join(", ")
            ));
        }
    }
    if why.is_crawling() {
        return Ok(format!("waiting, by what is on disk: {run} has not come to it yet"));
    }
    let verdict = limits.left_by_last(url)?;
    let until_s = why.not_before_s.filter(|_| verdict.starts_with("waiting"));
    let verdict = verdict + &captures::not_before(until_s);
    // Who cannot know what a run was told says what is known.
    let caveat =
        "; that is by the configuration of now, and the last crawl may have had other flags";
    let is_unsure = settings.is_none() && report.finished_s > 0;
    Ok(if is_unsure { verdict + caveat } else { verdict })
}

/// Whether it is given, or another agent found it by a way that is not too long.
pub(super) fn is_given(why: &Why, config: &Config) -> bool {
    why.seed || why.inbox_hops.is_some_and(|hops| hops <= config.crawl.redirects_max)
}

/// Why only another agent's way leads to it, and is too long; `None` if that is not so.
pub(super) fn too_far(why: &Why, config: &Config) -> Option<String> {
    let hops = why.inbox_hops.filter(|_| !is_given(why, config) && why.found_on.is_empty())?;
    let redirects = talk::count(hops.into(), "redirect");
    let redirects_max = config.crawl.redirects_max;
    Some(format!(
        "{redirects} led to it where another agent found it, and `redirects_max` is {redirects_max}"
    ))
}

/// Why a run that was `told` this would not visit `url`; `None` if it would.
fn left_out(
    why: &Why,
    url: &Url,
    collection: &Collection,
    limits: &Limits<'_>,
    told: &Config,
) -> Result<Option<String>> {
    let seeds = crawl::read_seeds(&collection.frontier_dir())?;
    let refusal = why.refusal(url, &Rules::new(&told.crawl, &seeds)?);
    if let Some(refused) = refusal.filter(|_| !why.seed) {
        return Ok(Some(format!("refused: {refused}")));
    }
    if let Some(far) = too_far(why, told) {
        return Ok(Some(Bar::Dropped(far).verdict()));
    }
    let given = is_given(why, told);
    let found_on = found::found_on(url, collection, told)?;
    if !given && !found_on.iter().any(|found| found.how.is_followed(&told.crawl)) {
        return Ok(Some(found::unfollowed(&found_on, &told.crawl).verdict()));
    }
    let dropped = limits.dropped_by(url, given, &found_on)?;
    Ok(dropped.map(|dropped| Bar::Dropped(dropped).verdict()))
}

//! Why a URL without a bar was not fetched yet.
//!
//! What lives here: the flags of the running or last crawl (`crawl::Settings`), then the counts of the last crawl. What
//! does not: present bars (`blockers.rs`) and the limits (`limit.rs`).
//!
//! **Invariant.** If a flag of the last run excluded the URL, the verdict names that flag.

use anyhow::Result;
use archive::Archive;
use collection::Collection;
use crawl::{Report, Rules, Settings};
use page::Url;

use super::blockers::Blocker;
use super::found;
use super::limit::Limits;
use super::{Why, captures};
use crate::config::Config;
use crate::console;

/// Returns the verdict about `url`, which was found, has no bar, and was not visited.
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
    let run = if why.is_crawling() { "the running crawl" } else { "the last crawl" };
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
                "waiting: {run} left it out by its own settings ({}): {left_out}; `crivello crawl` with the \
                 present settings fetches it",
                keys.join(", ")
            ));
        }
    }
    if why.is_crawling() {
        return Ok(format!("waiting: by the data on disk, {run} has not reached it yet"));
    }
    let verdict = limits.left_by_last(url)?;
    let until_s = why.not_before_s.filter(|_| verdict.starts_with("waiting"));
    let verdict = verdict + &captures::not_before(until_s);
    // Without settings.json, the flags of the last run are not known.
    let caveat = "; that is by the present settings, and the last crawl may have had other flags";
    let is_unsure = settings.is_none() && report.finished_s > 0;
    Ok(if is_unsure { verdict + caveat } else { verdict })
}

/// Returns whether it is a seed, or another agent found it within `redirects_max`.
pub(super) fn is_given(why: &Why, config: &Config) -> bool {
    why.seed || why.inbox_hops.is_some_and(|hops| hops <= config.crawl.redirects_max)
}

/// Returns a sentence if only another agent found it, after too many redirects.
pub(super) fn too_far(why: &Why, config: &Config) -> Option<String> {
    let hops = why.inbox_hops.filter(|_| !is_given(why, config) && why.found_on.is_empty())?;
    let redirects = console::count(hops.into(), "redirect");
    let redirects_max = config.crawl.redirects_max;
    Some(format!(
        "another agent found it after {redirects}, and `redirects_max` is {redirects_max}"
    ))
}

/// Returns why a run with the configuration `told` left out `url`; `None` if it did not.
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
        return Ok(Some(Blocker::Dropped(far).verdict()));
    }
    let given = is_given(why, told);
    let found_on = found::found_on(url, collection, told)?;
    if !given && !found_on.iter().any(|found| found.how.is_followed(&told.crawl)) {
        return Ok(Some(found::unfollowed(&found_on, &told.crawl).verdict()));
    }
    let dropped = limits.dropped_by(url, given, &found_on)?;
    Ok(dropped.map(|dropped| Blocker::Dropped(dropped).verdict()))
}

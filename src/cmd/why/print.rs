//! The answer about a URL as text.
//!
//! What lives here: the lines. What does not: their content (`why.rs`).
//!
//! **Invariant.** Text from a server is printed without control characters. No line repeats a fact of the verdict.

use std::io::Write;

use anyhow::Result;
use crawl::Reference;

use super::captures::Said;
use super::found::{FOUND_MAX, Found};
use super::{Gone, SEEDS, Why, sitemap};
use crate::cmd::crawl::aside_fate;
use crate::console;

/// The most duplicates that are listed.
const COPIES_SHOWN_MAX: usize = 10;

pub(super) fn print(why: &Why) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", why.url)?;
    writeln!(out, "  {}", console::plain(&why.verdict))?;
    if let Some(writer) = &why.running {
        writeln!(out, "  {writer} is running right now; this answer is from the data on disk")?;
    }
    print_crawl(&mut out, why)?;
    print_visits(&mut out, why)?;
    for cut in &why.cuts {
        writeln!(out, "  {}", console::plain(cut))?;
    }
    print_standing(&mut out, why)?;
    if why.seed {
        writeln!(out, "  it is a seed")?;
    }
    if why.inbox {
        writeln!(out, "  another agent found it")?;
    }
    if let Some(namer) = &why.named_as_sitemap_by {
        let who = match namer.as_str() {
            SEEDS => "given as a sitemap".to_owned(),
            namer => format!("named as a sitemap by {}", console::plain(namer)),
        };
        writeln!(out, "  {who}, but it answered with a page; a recrawl fetches it as a sitemap")?;
    }
    for Found { url, date_s, how, .. } in &why.found_on {
        let how = match how {
            Reference::Link => "linked from",
            Reference::Nofollow => "linked with nofollow from",
            Reference::Beyond => "linked, after the limit on links, from",
            Reference::BeyondBytes => "named, after the limit on bytes of URLs, by",
            Reference::Filtered => "linked, but excluded by a filter, from",
            Reference::Redirect => "redirected to from",
            Reference::Sitemap => "in the sitemap",
            Reference::Index => "in the sitemap index",
            Reference::Robots => "a sitemap named in",
            Reference::Canonical => "named as the canonical URL by",
        };
        writeln!(out, "  {how} {url}, {}", archive::date_text(*date_s))?;
    }
    if why.found_on.len() >= FOUND_MAX {
        writeln!(out, "  … only {FOUND_MAX} places are listed")?;
    }
    Ok(())
}

/// Prints the visits, lost ones included.
fn print_visits(out: &mut impl Write, why: &Why) -> Result<()> {
    for capture in &why.captures {
        let file = &capture.file;
        let date = archive::exact_date_text(capture.date_s, capture.date_us);
        let what = match &capture.failure {
            Some(failure) if capture.inconclusive.is_some() => {
                format!("failed {date}, {}, with noindex in its headers", console::plain(failure))
            }
            Some(failure) => format!("failed {date}, {}", console::plain(failure)),
            None if capture.unreadable => {
                format!("captured {date}, status {}, but the record cannot be read", capture.status)
            }
            None if capture.unstored => format!("visited {date}, status {}", capture.status),
            None if capture.inconclusive == Some(Said::Condition) => {
                let what = "the condition of the request failed; one without a condition follows";
                format!("visited {date}, status {}: {what}", capture.status)
            }
            None if capture.inconclusive.is_some() => {
                format!(
                    "visited {date}, status {}, with headers that change the page",
                    capture.status
                )
            }
            None if capture.unchanged => {
                format!("visited {date}, status {}, unchanged", capture.status)
            }
            None => format!("captured {date}, status {}", capture.status),
        };
        writeln!(out, "  {what}, in {file} at {}", capture.offset)?;
    }
    for Gone { date_s, file, fate, .. } in &why.gone {
        let date = archive::date_text(*date_s);
        if !why.verdict.contains(&date) {
            writeln!(out, "  visited {date}, in {file}, which {fate}")?;
        }
    }
    Ok(())
}

/// Prints its state in the page table and among the duplicates.
fn print_standing(out: &mut impl Write, why: &Why) -> Result<()> {
    let is_told = |standing: &&String| {
        let redirect = standing.strip_prefix("a redirect to ");
        let status = standing.strip_prefix("no page: status ");
        let reason = standing.strip_prefix("no page: ");
        redirect.is_some_and(|target| why.verdict.contains(target))
            || status.is_some_and(|status| why.verdict.contains(&format!("answered {status}")))
            || reason.is_some_and(|reason| why.cuts.iter().any(|cut| cut.contains(reason)))
    };
    let is_page = sitemap::is_page(&why.captures) && !why.verdict.contains("index");
    let place = Some(&why.place).filter(|_| is_page);
    if let Some(standing) = why.standing.as_ref().filter(|standing| !is_told(standing)) {
        let place = if standing == "a page" && why.folded_behind.is_none() { place } else { None };
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        writeln!(out, "  it is {}{place}", console::plain(standing))?;
    } else if let Some(place) = place.filter(|_| why.standing.is_none()) {
        writeln!(out, "  {place}")?;
    }
    let visited = why.visited_as.as_ref().unwrap_or(&why.url);
    if let Some(canonical) = why.canonical.as_ref().filter(|canonical| *canonical != visited) {
        writeln!(out, "  its canonical URL is {}", console::plain(canonical))?;
    }
    if let Some(head) = &why.folded_behind {
        // Rounded down, so that 1.00 means equal.
        let similarity = why.similarity.map(|similarity| (similarity * 100.0).floor() / 100.0);
        let similarity = similarity.map(|similarity| format!(", similarity {similarity:.2}"));
        writeln!(out, "  duplicate of {head}{}", similarity.unwrap_or_default())?;
    }
    for copy in why.copies.iter().take(COPIES_SHOWN_MAX) {
        writeln!(out, "  represents {copy}")?;
    }
    if let Some(more @ 1..) = why.copies.len().checked_sub(COPIES_SHOWN_MAX) {
        writeln!(out, "  … and {} (`--json` has all)", console::count(more as u64, "more page"))?;
    }
    Ok(())
}

/// Prints refusals and the state of its host, unless the verdict has them.
fn print_crawl(out: &mut impl Write, why: &Why) -> Result<()> {
    let is_new = |text: &&String| !why.verdict.contains(text.as_str());
    if let Some(refused) = why.refused.as_ref().filter(is_new) {
        writeln!(out, "  a crawl refuses it: {}", console::plain(refused))?;
    }
    if let Some(robots) = why.robots.as_ref().filter(is_new) {
        writeln!(out, "  robots.txt: {}", console::plain(robots))?;
    }
    // The line about the host below says the same.
    if let Some(unheard) = why.unheard.as_ref().filter(is_new).filter(|_| why.aside.is_none()) {
        writeln!(out, "  {}", console::plain(unheard))?;
    }
    if let Some(agent) = why.agent.filter(|_| !why.verdict.starts_with("left to agent")) {
        writeln!(out, "  agent {agent} crawls its host")?;
    }
    if let Some(aside) = why.aside.as_ref().filter(|aside| is_new(&&aside.why)) {
        let (why, fate) = (console::plain(&aside.why), aside_fate(aside));
        writeln!(out, "  host set aside: {why}; {fate}")?;
    }
    Ok(())
}

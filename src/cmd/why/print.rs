//! How the answer about a URL is told to people.
//!
//! What lives here: lines of text. What does not: what they say (`why.rs`).
//!
//! **Invariant.** What comes from a server is shown without anything that moves the cursor. Nothing is said twice.

use std::io::Write;

use anyhow::Result;
use crawl::Mention;

use super::captures::Said;
use super::found::Found;
use super::{Gone, SEEDS, Why};
use crate::cmd::crawl::aside_fate;
use crate::talk;

/// Pages behind it that are shown.
const COPIES_SHOWN_MAX: usize = 10;

pub(super) fn print(why: &Why) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", why.url)?;
    writeln!(out, "  {}", talk::plain(&why.verdict))?;
    if let Some(writer) = &why.running {
        writeln!(out, "  {writer} is running right now: what it has not written yet is not told")?;
    }
    print_crawl(&mut out, why)?;
    print_visits(&mut out, why)?;
    for cut in &why.cuts {
        writeln!(out, "  {}", talk::plain(cut))?;
    }
    print_standing(&mut out, why)?;
    if why.seed {
        writeln!(out, "  a crawl began with it")?;
    }
    if why.inbox {
        writeln!(out, "  another agent found it")?;
    }
    if let Some(namer) = &why.named_as_sitemap_by {
        let who = match namer.as_str() {
            SEEDS => "given as a sitemap".to_owned(),
            namer => format!("named as a sitemap by {}", talk::plain(namer)),
        };
        writeln!(
            out,
            "  {who}, so a recrawl asks for it as one; it is a page while it answers with one"
        )?;
    }
    for Found { url, date_s, date_us, how } in &why.found_on {
        let how = match how {
            Mention::Link => "linked from",
            Mention::Nofollow => "linked with nofollow from",
            Mention::Beyond => "linked, after more links than are kept, from",
            Mention::BeyondBytes => "named, after more bytes of URLs than are kept, by",
            Mention::Filtered => "linked, where a filter keeps it from being followed, from",
            Mention::Redirect => "redirected to from",
            Mention::Sitemap => "in the sitemap",
            Mention::Index => "in the index of sitemaps",
            Mention::Robots => "a sitemap named in",
            Mention::Canonical => "named as the canonical address by",
        };
        let date = archive::exact_date_text(*date_s, date_us.unwrap_or(0));
        writeln!(out, "  {how} {url}, {date}")?;
    }
    Ok(())
}

/// The visits, and those of which only is left that there were some.
fn print_visits(out: &mut impl Write, why: &Why) -> Result<()> {
    for capture in &why.captures {
        let file = &capture.file;
        let date = archive::exact_date_text(capture.date_s, capture.date_us);
        let what = match &capture.failure {
            Some(failure) if capture.inconclusive.is_some() => {
                format!("failed {date}, {}, with noindex in its head", talk::plain(failure))
            }
            Some(failure) => format!("failed {date}, {}", talk::plain(failure)),
            None if capture.unreadable => {
                format!("captured {date}, status {}, but it cannot be read", capture.status)
            }
            None if capture.unstored => format!("visited {date}, status {}", capture.status),
            None if capture.inconclusive == Some(Said::Condition) => {
                let what = "the condition of the request does not hold, so the page is asked for without one";
                format!("visited {date}, status {}: {what}", capture.status)
            }
            None if capture.inconclusive.is_some() => {
                format!("visited {date}, status {}, with the head of another page", capture.status)
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

/// What it is to the index.
fn print_standing(out: &mut impl Write, why: &Why) -> Result<()> {
    let is_told = |standing: &&String| {
        let redirect = standing.strip_prefix("a redirect to ");
        let status = standing.strip_prefix("no page: status ");
        let reason = standing.strip_prefix("no page: ");
        redirect.is_some_and(|target| why.verdict.contains(target))
            || status.is_some_and(|status| why.verdict.contains(&format!("answered {status}")))
            || reason.is_some_and(|reason| why.cuts.iter().any(|cut| cut.contains(reason)))
    };
    if let Some(standing) = why.standing.as_ref().filter(|standing| !is_told(standing)) {
        writeln!(out, "  it is {}", talk::plain(standing))?;
    }
    let visited = why.visited_as.as_ref().unwrap_or(&why.url);
    if let Some(canonical) = why.canonical.as_ref().filter(|canonical| *canonical != visited) {
        writeln!(out, "  it names {} as its canonical address", talk::plain(canonical))?;
    }
    if let Some(head) = &why.folded_behind {
        // Rounded down: 1.00 is equal.
        let similarity = why.similarity.map(|similarity| (similarity * 100.0).floor() / 100.0);
        let similarity = similarity.map(|similarity| format!(", similarity {similarity:.2}"));
        writeln!(out, "  folded into {head}{}", similarity.unwrap_or_default())?;
    }
    for copy in why.copies.iter().take(COPIES_SHOWN_MAX) {
        writeln!(out, "  represents {copy}")?;
    }
    if let Some(more @ 1..) = why.copies.len().checked_sub(COPIES_SHOWN_MAX) {
        writeln!(out, "  … and {} (`--json` has all)", talk::count(more as u64, "more page"))?;
    }
    Ok(())
}

/// What a crawl has to say to it, as far as the verdict does not say it.
fn print_crawl(out: &mut impl Write, why: &Why) -> Result<()> {
    let is_new = |text: &&String| !why.verdict.contains(text.as_str());
    if let Some(refused) = why.refused.as_ref().filter(is_new) {
        writeln!(out, "  a crawl refuses it: {}", talk::plain(refused))?;
    }
    if let Some(robots) = why.robots.as_ref().filter(is_new) {
        writeln!(out, "  robots.txt: {}", talk::plain(robots))?;
    }
    // That its host was set aside says the same.
    if let Some(unheard) = why.unheard.as_ref().filter(is_new).filter(|_| why.aside.is_none()) {
        writeln!(out, "  {}", talk::plain(unheard))?;
    }
    if let Some(agent) = why.agent.filter(|_| !why.verdict.starts_with("left to agent")) {
        writeln!(out, "  its host is crawled by agent {agent}")?;
    }
    if let Some(aside) = why.aside.as_ref().filter(|aside| is_new(&&aside.why)) {
        let (why, fate) = (talk::plain(&aside.why), aside_fate(aside));
        writeln!(out, "  its host was set aside: {why}; {fate}")?;
    }
    Ok(())
}

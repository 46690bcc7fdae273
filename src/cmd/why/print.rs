//! How the answer about a URL is told to people.
//!
//! What lives here: lines of text. What does not: what they say (`why.rs`).
//!
//! **Invariant.** What comes from a server is shown without anything that moves the cursor.

use std::io::Write as _;

use anyhow::Result;
use crawl::Mention;

use super::Why;
use super::found::Found;
use crate::cmd::crawl::aside_fate;
use crate::talk;

pub(super) fn print(why: &Why) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", why.url)?;
    writeln!(out, "  {}", talk::plain(&why.verdict))?;
    if let Some(refused) = &why.refused {
        writeln!(out, "  a crawl refuses it: {}", talk::plain(refused))?;
    }
    if let Some(visited) = &why.visited_as {
        writeln!(out, "  a crawl visits it as {visited} (`normalise`)")?;
    }
    if let Some(robots) = &why.robots {
        writeln!(out, "  robots.txt: {}", talk::plain(robots))?;
    }
    if let Some(agent) = why.agent {
        writeln!(out, "  its host is crawled by agent {agent}")?;
    }
    if let Some(aside) = &why.aside {
        let (why, fate) = (talk::plain(&aside.why), aside_fate(aside));
        writeln!(out, "  its host was set aside: {why}; {fate}")?;
    }
    for capture in &why.captures {
        let (file, date) = (&capture.file, archive::date_text(capture.date_s));
        let what = match &capture.failure {
            Some(failure) => format!("failed {date}, {}", talk::plain(failure)),
            None if capture.unstored => format!("visited {date}, status {}", capture.status),
            None if capture.unchanged => {
                format!("visited {date}, status {}, unchanged", capture.status)
            }
            None => format!("captured {date}, status {}", capture.status),
        };
        writeln!(out, "  {what}, in {file} at {}", capture.offset)?;
    }
    for cut in &why.cuts {
        writeln!(out, "  {}", talk::plain(cut))?;
    }
    if let Some(standing) = &why.standing {
        writeln!(out, "  it is {}", talk::plain(standing))?;
    }
    if let Some(head) = &why.folded_behind {
        writeln!(out, "  folded behind {head}")?;
    }
    for copy in &why.copies {
        writeln!(out, "  represents {copy}")?;
    }
    if why.seed {
        writeln!(out, "  a crawl began with it")?;
    }
    if why.inbox {
        writeln!(out, "  another agent found it")?;
    }
    for Found { url, date_s, how } in &why.found_on {
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
        };
        writeln!(out, "  {how} {url}, {}", archive::date_text(*date_s))?;
    }
    Ok(())
}

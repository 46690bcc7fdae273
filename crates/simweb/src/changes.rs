//! The differences between two editions of a web.
//!
//! What lives here: the list of URLs that a recrawl must find changed, gone or new. What does not: how
//! pages change (`ordinary.rs`). A page that links to a new one is changed.
//!
//! **Invariant.** A URL is changed, gone or new, never two of these.

use crate::{Kind, Options, Web, ordinary::Site};
use serde::Serialize;

/// The pages that differ between two editions, by URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Pages with other content.
    pub changed: Vec<String>,
    /// Pages that were deleted.
    pub deleted: Vec<String>,
    /// Pages that were added.
    pub added: Vec<String>,
}

impl Web {
    /// The differences between an earlier edition of the same web and this one.
    pub fn changes(&self, since: u32) -> Changes {
        Changes::of(self, since)
    }
}

impl Changes {
    fn of(web: &Web, since: u32) -> Self {
        let mut changes = Self::default();
        let options =
            Options { edition: since.min(web.options().edition), ..web.options().clone() };
        let Ok(earlier) = Web::new(options, web.port()) else { return changes };
        let hosts = web.hosts().iter().zip(earlier.hosts());
        for (host, was) in
            hosts.filter(|(host, _)| matches!(host.kind, Kind::Ordinary | Kind::Mirror))
        {
            let (site, was) = (Site::new(web, host), Site::new(&earlier, was));
            for page in 0..site.pages() {
                let before = page < was.pages() && was.is_there(page);
                let list = match (before, site.is_there(page)) {
                    (true, true) if site.revision(page) > was.revision(page) => {
                        &mut changes.changed
                    }
                    (true, false) => &mut changes.deleted,
                    (false, true) => &mut changes.added,
                    _ => continue,
                };
                list.push(web.url(host, &site.path(page)));
            }
        }
        for list in [&mut changes.changed, &mut changes.deleted, &mut changes.added] {
            list.sort_unstable();
        }
        changes
    }
}

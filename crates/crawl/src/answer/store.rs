//! Which answers are archived: `store_filter`.
//!
//! What lives here: applying the filter, and the signatures of bodies that make another one a duplicate. What does
//! not: the filter language (`filter/`), and writing (`journal.rs`).
//!
//! **Invariant.** An answer is judged once; its body counts as known as soon as it is accepted.

use std::sync::PoisonError;

use archive::HttpResponse;
use page::parse_normal;
use xxhash_rust::xxh3::xxh3_64;

use super::{Answers, Context, Links, Purpose, ReadPage, answered, is_temporary};
use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::filter::{Facts, Filter};
use crate::outcome::Answered;

impl Answers {
    /// Parses a page and applies the filter. Call it once per answer: a second call would see a duplicate.
    pub(crate) fn judge(
        &self,
        url: &str,
        http: &HttpResponse<'_>,
        date: Moment,
        depth: u16,
    ) -> Answered {
        let mut answered = answered(http, date);
        if let Some(url) = parse_normal(url) {
            let context = Context { url: &url, http, depth, links: Links::All };
            let page = self.read_into(Purpose::Page, &context, &mut answered.harvest);
            if self.refuses_to_store(&context, page.as_ref()) {
                *answered.harvest.refused.entry("store-filter".into()).or_default() += 1;
                answered.is_unstored = true;
                // The journal keeps a wait only if the status asks for another attempt.
                answered.retry_after_ms.take_if(|_| !is_temporary(Purpose::Page, http.status));
            }
        }
        answered
    }

    /// Returns whether the filter applies to answers of this kind.
    pub(crate) fn may_refuse_to_store(&self, purpose: Purpose) -> bool {
        purpose == Purpose::Page && self.rules.filters().store.is_some()
    }

    /// Returns whether the filter refuses to archive an answer.
    fn refuses_to_store(&self, context: &Context<'_>, page: Option<&ReadPage>) -> bool {
        let Some(filter) = self.rules.filters().store.as_ref() else { return false };
        let facts = ReadPage::facts(page, context.facts());
        let Some(bodies) = self.bodies.as_ref().filter(|_| context.http.status == 200) else {
            return !filter.accepts(&facts);
        };
        let body = xxh3_64(context.http.body);
        let mut bodies = bodies.lock().unwrap_or_else(PoisonError::into_inner);
        let accepts = filter.accepts(&Facts { duplicate: bodies.contains(&body), ..facts });
        if accepts {
            bodies.insert(body);
        }
        !accepts
    }

    /// Records the body of an archived page; the same bytes again are a duplicate.
    pub(crate) fn know_body(&self, settled: &Settled) {
        let is_page = settled.entry.purpose == Purpose::Page
            && settled.answered.as_ref().is_some_and(Answered::is_page);
        if let Some(bodies) = self.bodies.as_ref().filter(|_| is_page && settled.payload != 0) {
            bodies.lock().unwrap_or_else(PoisonError::into_inner).insert(settled.payload);
        }
    }

    /// Returns whether `store_filter` uses facts that only parsing gives.
    pub(super) fn store_needs_page(&self) -> bool {
        self.rules.filters().store.as_ref().is_some_and(Filter::needs_page)
    }
}

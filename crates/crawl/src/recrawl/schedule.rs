//! When a page is due again: by how often it was found changed.
//!
//! What lives here: the history of every URL, drawn from the visits of the archive; the estimate of how
//! often it changes; and [`LastCaptures`], which finds the last capture of a URL that is due. What does not:
//! politeness, which decides when in a run it is visited.
//!
//! A page that a filter kept out of the archive is compared by what the archive has of it: its status, its
//! length, its links.
//!
//! **Invariant.** The schedule depends on the visits in the archive, the bounds and the moment only. About
//! 80 bytes are kept for a URL, and only in a run that recrawls.
//!
//! Reference: J. Cho, H. Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003: of n visits
//! at intervals of I, of which X found no change, the rate is −ln((X + ½)/(n + ½))/I, less biased than
//! the share of visits that found one, since a page may change more than once between two visits.

use std::collections::HashMap;
use std::io;

use archive::{Archive, ArchiveError, Kind, Location, Record, is_exhausted};
use page::StatusClass;
use xxhash_rust::xxh3::xxh3_64;

use super::{Due, Earlier, Extent, Reading, Validator};
use crate::answer::Purpose;
use crate::checkpoint::Settled;
use crate::clock::Moment;
use crate::outcome::{Answered, Harvest};

/// The shortest and the longest time after which a page is due again, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min_s: u64,
    pub(crate) max_s: u64,
}

/// What was seen of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct History {
    first_s: i64,
    last_s: i64,
    /// Microseconds of that second.
    last_us: u32,
    /// Visits after the first, and how many of them found no change.
    visits: u32,
    same: u32,
    status: u16,
    payload: u64,
    /// Where the last answer with a body is.
    last: Place,
    /// The newest validator, and where it is: there, or in an answer that was the same.
    validator: Validator,
    validated: Place,
}

/// Where a record is, with the number of its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    file: u32,
    length: u32,
    offset: u64,
}

impl History {
    /// When the last visit took place.
    fn last(&self) -> Moment {
        Moment { s: self.last_s, us: self.last_us }
    }

    /// Seconds after the last visit until the next one.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn interval_s(&self, bounds: Bounds) -> u64 {
        let span_s = u64::try_from(self.last_s - self.first_s).unwrap_or(0);
        if self.visits == 0 || span_s == 0 {
            return bounds.min_s;
        }
        let visits = f64::from(self.visits);
        let rate = -((f64::from(self.same) + 0.5) / (visits + 0.5)).ln() * visits / span_s as f64;
        // A page that was never seen to change has told that for as long as it was watched, not for ever.
        let watched_s = span_s.saturating_mul(2).max(bounds.min_s);
        let interval_s = std::time::Duration::try_from_secs_f64(1.0 / rate);
        let interval_s = interval_s.map_or(u64::MAX, |interval| interval.as_secs());
        interval_s.min(watched_s).clamp(bounds.min_s, bounds.max_s)
    }

    /// Takes the validator of an answer that is the same: by a 304 without one the old one stands.
    fn adopt(&mut self, status: u16, validator: Validator, place: Place) {
        let is_newer = status != 304 || validator.replaces(self.validator);
        if is_newer && validator != self.validator {
            (self.validator, self.validated) = (validator, place);
        }
    }
}

/// The histories of all URLs, by the hash of the URL.
#[derive(Debug)]
pub(crate) struct Schedule {
    extent: Extent,
    histories: HashMap<u64, History>,
}

impl Schedule {
    /// An empty one.
    pub(crate) fn new(extent: Extent) -> Schedule {
        Schedule { extent, histories: HashMap::new() }
    }

    /// Takes note of a visit from before the recrawl, by the number of its file.
    pub(crate) fn note(&mut self, file: usize, settled: &Settled) {
        let Some(answered) = &settled.answered else { return };
        let &Settled { date_s, date_us, offset, length, validator, .. } = settled;
        let (Ok(file), Ok(length)) = (u32::try_from(file), u32::try_from(length)) else { return };
        let place = Place { file, length, offset };
        let before = self.histories.get(&key(&settled.url));
        if settled.entry.is_inconclusive {
            return;
        }
        if settled.entry.purpose == Purpose::Robots || !is_telling(answered.status, before) {
            return;
        }
        let payload = if answered.is_unstored { trace(answered) } else { settled.payload };
        let status = answered.status;
        let fresh = History {
            first_s: date_s,
            last_s: date_s,
            last_us: date_us,
            visits: 0,
            same: 0,
            status,
            payload,
            last: place,
            validator,
            validated: place,
        };
        let Some(history) = self.histories.get_mut(&key(&settled.url)) else {
            if !answered.unchanged {
                self.histories.insert(key(&settled.url), fresh);
            }
            return;
        };
        let first_s = history.first_s.min(date_s);
        if settled.date() < history.last() {
            history.first_s = first_s;
            return;
        }
        let is_same = answered.unchanged || (history.status, history.payload) == (status, payload);
        let (visits, same) = (history.visits + 1, history.same + u32::from(is_same));
        if answered.unchanged {
            (history.last_s, history.last_us) = (date_s, date_us);
            history.adopt(status, validator, place);
        } else {
            *history = fresh;
        }
        (history.first_s, history.visits, history.same) = (first_s, visits, same);
    }

    /// Whether a URL is to be asked for again. A sitemap always is: it names the pages that are new; and so
    /// is what never had an answer but that its host is busy or broken.
    pub(crate) fn is_due(&self, settled: &Settled) -> bool {
        if let Extent::Given(urls) = &self.extent {
            return urls.contains(&settled.url);
        }
        let Some(history) = self.histories.get(&key(&settled.url)) else { return true };
        let &Extent::Due(Due { at_s, bounds }) = &self.extent else { return true };
        if settled.entry.purpose == Purpose::Sitemap {
            return true;
        }
        let interval_s = i64::try_from(history.interval_s(bounds)).unwrap_or(i64::MAX);
        // Both moments are cut to seconds, the earlier one as well: only in the second after is it never too soon.
        interval_s == 0 || history.last_s.saturating_add(interval_s) < at_s
    }

    /// Whether a URL has had an answer after a visit that was in vain.
    pub(crate) fn has_answered_since(&self, vain: &Settled) -> bool {
        self.histories.get(&key(&vain.url)).is_some_and(|history| history.last() > vain.date())
    }

    /// The captures themselves, for the run that is to come.
    pub(crate) fn into_captures(self, archive: Archive, reading: Reading) -> LastCaptures {
        LastCaptures { archive, histories: self.histories, reading }
    }
}

/// Finds the last capture of a URL.
#[derive(Debug)]
pub(crate) struct LastCaptures {
    archive: Archive,
    histories: HashMap<u64, History>,
    reading: Reading,
}

impl LastCaptures {
    /// The last answer with a body that came from `url`; `None` if there is none. Of one that cannot be read it is known
    /// what it was, and that nothing is the same again; it is taken for what is asked for now. An error only if there is
    /// no descriptor left to read it.
    pub(crate) fn earlier(&self, url: &str, is_sitemap: bool) -> io::Result<Option<Earlier>> {
        let Some(&History { last, validated, status, .. }) = self.histories.get(&key(url)) else {
            return Ok(None);
        };
        let unreadable = || Earlier::unreadable(status, !is_sitemap, &self.reading);
        let Some(record) = self.read(last, url)? else { return Ok(Some(unreadable())) };
        // What a filter kept out of the archive is not compared.
        if record.kind == Kind::Metadata {
            return Ok(None);
        }
        let newest = if validated == last { None } else { self.read(validated, url)? };
        let earlier = Earlier::of(&record, newest.as_ref(), &self.reading);
        Ok(Some(earlier.unwrap_or_else(unreadable)))
    }

    /// The record at a place, if it is about `url`.
    fn read(&self, place: Place, url: &str) -> io::Result<Option<Record>> {
        let Some(location) = self.location(place) else { return Ok(None) };
        match self.archive.read(&location) {
            Err(ArchiveError::Io { source, .. }) if is_exhausted(&source) => Err(source),
            Err(_) => Ok(None),
            Ok(record) => Ok(Some(record).filter(|record| record.target.as_deref() == Some(url))),
        }
    }

    fn location(&self, Place { file, length, offset }: Place) -> Option<Location> {
        let file = self.archive.files().get(usize::try_from(file).ok()?)?.clone();
        Some(Location { file, offset, length: length.into() })
    }
}

/// Whether a status tells of a URL what the one before did not: a busy server never does, and an odd answer only where
/// there was no better one.
fn is_telling(status: u16, before: Option<&History>) -> bool {
    match StatusClass::of(status) {
        StatusClass::Temporary => false,
        // A 304 that is not to a condition is no answer.
        StatusClass::Odd if status != 304 => {
            before.is_none_or(|before| StatusClass::of(before.status) == StatusClass::Odd)
        }
        _ => true,
    }
}

/// What stands for the payload of an answer that a filter kept out of the archive: all that the archive
/// has of it, its length and what it leads to.
fn trace(answered: &Answered) -> u64 {
    let Harvest { redirect, links, sitemaps, .. } = &answered.harvest;
    let urls: Vec<&str> =
        redirect.iter().chain(links).chain(sitemaps).map(String::as_str).collect();
    xxh3_64(format!("{} {}", answered.bytes, urls.join(" ")).as_bytes())
}

fn key(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Entry;

    const DAY_S: u64 = 24 * 3600;
    const BOUNDS: Bounds = Bounds { min_s: DAY_S, max_s: 100 * DAY_S };

    #[track_caller]
    fn check(visits: u32, same: u32, days: u64, wanted_days: u64) {
        let last_s = i64::try_from(days * DAY_S).expect("a few days");
        let (status, payload, last) = (200, 0, Place::default());
        let (validator, validated) = (Validator::default(), last);
        let history = History {
            first_s: 0,
            last_s,
            last_us: 0,
            visits,
            same,
            status,
            payload,
            last,
            validator,
            validated,
        };
        assert_eq!(history.interval_s(BOUNDS) / DAY_S, wanted_days, "{visits} {same} {days}");
    }

    #[test]
    fn what_changes_often_is_due_soon() {
        check(0, 0, 0, 1); // seen once
        check(10, 10, 10, 20); // never changed in ten days
        check(10, 10, 1000, 100); // nor in a thousand: the bound
        check(10, 0, 100, 3); // changed at each of ten visits, ten days apart: 10 / ln 21
        check(10, 5, 100, 15); // at every other one: 10 / ln(10.5 / 5.5)
        check(10, 9, 100, 99); // once: 10 / ln(10.5 / 9.5)
        check(10, 0, 1, 1); // the bound
    }

    /// Visits of one second come in any order, as from files that were imported.
    #[test]
    fn of_visits_in_one_second_the_last_one_counts() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            let mut schedule = Schedule::new(Extent::All);
            for us in order {
                let mut visit = unstored(0, us.into(), "/a");
                visit.date_us = us;
                schedule.note(usize::try_from(us).expect("a few"), &visit);
            }
            let history = schedule.histories[&key("http://a/")];
            assert_eq!((history.last.file, history.last_us), (3, 3), "{order:?}");
            let mut vain = unstored(0, 0, "/a");
            vain.date_us = 2;
            assert!(schedule.has_answered_since(&vain));
        }
    }

    /// A visit a day after the one before, of a page that was not archived.
    fn unstored(day: i64, bytes: u64, link: &str) -> Settled {
        let entry = Entry {
            purpose: Purpose::Page,
            attempts: 0,
            hops: 0,
            depth: 0,
            robots_for: None,
            failure: None,
            is_inconclusive: false,
            blames_host: false,
        };
        let harvest = Harvest { links: vec![link.to_owned()], ..Harvest::default() };
        let answered =
            Answered { status: 200, bytes, is_unstored: true, harvest, ..Answered::default() };
        let date_s = day * i64::try_from(DAY_S).expect("a day");
        Settled::plain("http://a/".to_owned(), entry, date_s, (0, 0), 0, Some(answered))
    }

    /// The archive has seconds, and so has the moment: between them is at least the shortest time, never less.
    #[test]
    fn nothing_is_due_before_its_time() {
        let visit = unstored(0, 5, "/a");
        for (min_s, at_s, is_due) in
            [(3, 2, false), (3, 3, false), (3, 4, true), (0, 0, true), (1, 1, false), (1, 2, true)]
        {
            let bounds = Bounds { min_s, max_s: 100 };
            let mut schedule = Schedule::new(Extent::Due(Due { at_s, bounds }));
            schedule.note(0, &visit);
            assert_eq!(schedule.is_due(&visit), is_due, "{min_s} {at_s}");
        }
    }

    #[test]
    fn what_was_not_archived_is_compared_by_what_is_known_of_it() {
        // After ten days one that is the same every day is left for twenty, one that changes is due.
        for (bytes, link, is_due) in [
            ([5; 10], ["/a"; 10], false),
            ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], ["/a"; 10], true),
            ([5; 10], ["/a", "/b", "/a", "/b", "/a", "/b", "/a", "/b", "/a", "/b"], true),
        ] {
            let at_s = 12 * i64::try_from(DAY_S).expect("a day");
            let mut schedule = Schedule::new(Extent::Due(Due { at_s, bounds: BOUNDS }));
            for (day, (bytes, link)) in bytes.into_iter().zip(link).enumerate() {
                let day = i64::try_from(day).expect("a few days");
                schedule.note(0, &unstored(day, bytes, link));
            }
            assert_eq!(schedule.is_due(&unstored(10, 5, "/a")), is_due, "{bytes:?} {link:?}");
        }
    }
}

//! What went with archive files that are gone, or that have become shorter.
//!
//! What lives here: the captures that such files had, by the CDXJ files that are left of them, and by the logs of visits,
//! until the next crawl makes these anew; and [`GoneFile`], what of that the archive has in no other file. What does not: the
//! pages of which only is left that a visit found them as before (`gaps.rs`), and asking again (`replay.rs`).
//!
//! **Invariant.** A URL is told as lost with a file only if no capture that is left is of the same or a later answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use archive::{Archive, CdxLine, Location, surt};

use crate::answer::{Purpose, leaves_standing};
use crate::checkpoint::{Settled, each_lost, lost_files};
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::site::Site;

/// The type of a capture that is no answer.
const FIELDS: &str = "application/warc-fields";

/// An archive file that is gone, or has become shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoneFile {
    /// Its name.
    pub name: String,
    /// Whether it is there, and shorter than it was.
    pub is_shorter: bool,
    /// Whether anything is left that tells what it had.
    pub is_known: bool,
    /// How many URLs were lost with it, robots.txt files aside.
    pub urls: usize,
    /// Those that are in no other file.
    pub only: Vec<String>,
    /// Those whose newest capture it had: the others have older ones.
    pub newest: Vec<String>,
    /// Those that later visits found as they were, which nothing tells any more.
    pub bodies: Vec<String>,
}

impl GoneFile {
    /// Whether something is missed for want of it, or nobody knows.
    pub fn is_missed(&self) -> bool {
        let lost = [&self.only, &self.newest, &self.bodies];
        !self.is_known || lost.iter().any(|urls| !urls.is_empty())
    }
}

/// Whether a capture has an answer of its own that tells what its URL is.
pub fn is_answer(line: &CdxLine) -> bool {
    let tells = |status| !leaves_standing(Purpose::Page, status);
    !line.is_revisit() && line.mime != FIELDS && line.status.is_none_or(tells)
}

/// What has become of an archive file that has lost captures.
pub fn fate(archive: &Archive, name: &str) -> &'static str {
    let is_there = archive.files().iter().any(|file| file == name);
    if is_there { "has become shorter" } else { "is gone" }
}

/// The captures of a URL that went with archive files, oldest first.
pub fn gone_captures(
    frontier: &Path,
    archive: &Archive,
    url: &str,
) -> Result<Vec<CdxLine>, CrawlError> {
    let mut found = archive.gone_captures(url)?;
    for name in lost_files(frontier, archive)? {
        each_lost(frontier, archive, &name, &mut |settled| {
            found.extend((settled.url == url).then(|| line_of(&name, settled)));
        })?;
    }
    found.sort_by_key(moment);
    // The CDXJ file tells more.
    found.dedup_by_key(|line| moment(line));
    Ok(found)
}

/// The archive files that are gone or have become shorter, with what the archive misses for want of each, in the order of
/// their names.
pub fn gone_files(frontier: &Path, archive: &Archive) -> Result<Vec<GoneFile>, CrawlError> {
    let names = lost_files(frontier, archive)?;
    let mut files: Vec<GoneFile> = Vec::new();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (place, name) in names.into_iter().enumerate() {
        let mut is_known = false;
        let mut take = |line: CdxLine| {
            is_known = true;
            let is_robots =
                || Site::split(&line.url).is_some_and(|(_, path)| path == "/robots.txt");
            if !line.url.is_empty() && !is_robots() {
                known.entry(line.url.clone()).or_default().lose(place, &line);
            }
        };
        // The CDXJ file tells more, so that it has the last word.
        each_lost(frontier, archive, &name, &mut |settled| take(line_of(&name, settled)))?;
        archive.each_gone(&name, &mut take)?;
        let is_shorter = archive.files().contains(&name);
        files.push(GoneFile { name, is_shorter, is_known, ..GoneFile::default() });
    }
    if known.is_empty() {
        return Ok(files);
    }
    archive.each_capture(&mut |line| {
        if let Some(known) = known.get_mut(&line.url) {
            known.find(line);
        }
    })?;
    for (url, known) in known {
        for &place in &known.places {
            files[place].urls += 1;
            if known.is_only() {
                files[place].only.push(url.clone());
            }
        }
        match known.loss() {
            Some((place, true)) => files[place].bodies.push(url),
            Some((place, false)) => files[place].newest.push(url),
            None => {}
        }
    }
    Ok(files)
}

/// The line of a visit, as far as its log tells.
fn line_of(name: &str, settled: Settled) -> CdxLine {
    let Settled { url, date_s, date_us, offset, length, answered, .. } = settled;
    let answered = answered.filter(|answered| !answered.is_unstored);
    let mime = match &answered {
        Some(answered) if answered.unchanged => CdxLine::REVISIT,
        Some(_) => "unk",
        None => FIELDS,
    };
    let (key, mime, digest) = (surt(&url), mime.to_owned(), None);
    let location = Location { file: name.to_owned(), offset, length };
    let status = answered.map(|answered| answered.status);
    CdxLine { key, date_s, date_us, url, mime, status, digest, location }
}

fn moment(line: &CdxLine) -> Moment {
    Moment { s: line.date_s, us: line.date_us }
}

/// What is known of a URL that went with a file.
#[derive(Default)]
struct Known {
    /// The places of the files that had it among those that are gone.
    places: BTreeSet<usize>,
    /// The newest answer that is gone, in which of them, and its digest.
    gone: Option<(Moment, usize, Option<String>)>,
    /// Of what is left: whether there is anything; the last visit that found it as before, with the digest of that; the newest
    /// answer.
    is_left: bool,
    same: Option<(Moment, Option<String>)>,
    answer: Option<(Moment, Option<String>)>,
    /// The digests of all answers that are left.
    digests: BTreeSet<String>,
}

impl Known {
    /// Takes note of a capture that is gone.
    fn lose(&mut self, place: usize, line: &CdxLine) {
        self.places.insert(place);
        if is_answer(line) && self.gone.as_ref().is_none_or(|(date, ..)| *date <= moment(line)) {
            self.gone = Some((moment(line), place, line.digest.clone()));
        }
    }

    /// Takes note of a capture that is left.
    fn find(&mut self, line: CdxLine) {
        let date = moment(&line);
        self.is_left = true;
        let of_kind = if line.is_revisit() {
            &mut self.same
        } else if is_answer(&line) {
            self.digests.extend(line.digest.clone());
            &mut self.answer
        } else {
            return;
        };
        if of_kind.as_ref().is_none_or(|(last, _)| *last <= date) {
            *of_kind = Some((date, line.digest));
        }
    }

    /// Whether nothing is left of it, or visits in vain beside an answer that is gone.
    fn is_only(&self) -> bool {
        !self.is_left || self.gone.is_some() && self.answer.is_none() && self.same.is_none()
    }

    /// In which file its newest answer was, if that is lost, and whether a later visit found it as it was then.
    fn loss(&self) -> Option<(usize, bool)> {
        let (date, place, digest) = self.gone.as_ref()?;
        if self.is_only() {
            return None;
        }
        if self.answer.as_ref().is_some_and(|(answer, _)| answer >= date) {
            return None;
        }
        if let Some((_, same)) = self.same.as_ref().filter(|(same, _)| same > date) {
            let is_left = same.as_ref().is_some_and(|same| self.digests.contains(same));
            return (!is_left).then_some((*place, true));
        }
        let newest = self.answer.as_ref().and_then(|(_, digest)| digest.as_ref());
        let is_same = digest.is_some() && digest.as_ref() == newest;
        (!is_same).then_some((*place, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use archive::Location;

    fn line(date_s: i64, status: u16, digest: &str) -> CdxLine {
        CdxLine {
            key: String::new(),
            date_s,
            date_us: 0,
            url: "http://a.test/".to_owned(),
            mime: "text/html".to_owned(),
            status: Some(status),
            digest: Some(digest.to_owned()),
            location: Location { file: "a.warc.gz".to_owned(), offset: 0, length: 1 },
        }
    }

    /// What was in a file that is gone at moment 5, and what is left.
    fn known(left: &[CdxLine]) -> Known {
        let mut known = Known::default();
        known.lose(3, &line(5, 200, "NEW"));
        for line in left {
            known.find(line.clone());
        }
        known
    }

    #[test]
    fn visits_in_vain_bring_nothing_back() {
        let nothing = known(&[]);
        assert_eq!((nothing.is_only(), nothing.loss()), (true, None));
        let failed = known(&[line(7, 503, "BUSY")]);
        assert_eq!((failed.is_only(), failed.loss()), (true, None));
        let older = known(&[line(2, 200, "OLD"), line(7, 503, "BUSY")]);
        assert_eq!((older.is_only(), older.loss()), (false, Some((3, false))));
        let same = known(&[line(2, 200, "NEW"), line(7, 503, "BUSY")]);
        assert_eq!((same.is_only(), same.loss()), (false, None));
        let newer = known(&[line(2, 200, "OLD"), line(7, 200, "NEWER")]);
        assert_eq!((newer.is_only(), newer.loss()), (false, None));
    }
}

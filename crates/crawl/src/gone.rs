//! What went with archive files that are gone, or that have become shorter.
//!
//! What lives here: the captures that such files had, by the CDXJ files that are left of them, and by the logs of visits,
//! until the next crawl makes these anew; and [`MissingFile`], what of that the archive has in no other file. What does not: the
//! pages of which only is left that a visit found them as before (`gaps.rs`), and asking again (`replay.rs`).
//!
//! **Invariant.** A URL is told as lost with a file only if no capture that is left is of the same or a later answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use archive::{Archive, ArchiveError, CdxLine, Location, surt};

use crate::answer::{Purpose, keeps_previous};
use crate::checkpoint::{Settled, each_logged, each_lost, lost_files};
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::journal::refers_to;
use crate::site::Site;

/// The type of a capture that is no answer.
const FIELDS: &str = "application/warc-fields";

/// An archive file that is gone, or has become shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingFile {
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

impl MissingFile {
    /// Whether something is missed for want of it, or nobody knows.
    pub fn is_missed(&self) -> bool {
        let lost = [&self.only, &self.newest, &self.bodies];
        !self.is_known || lost.iter().any(|urls| !urls.is_empty())
    }
}

/// Whether a capture has an answer of its own that tells what its URL is.
pub fn is_answer(line: &CdxLine) -> bool {
    let tells = |status| !keeps_previous(Purpose::Page, status);
    !line.is_revisit() && line.mime != FIELDS && line.status.is_none_or(tells)
}

/// What has become of an archive file that has lost captures.
pub fn fate(archive: &Archive, name: &str) -> &'static str {
    let is_there = archive.files().iter().any(|file| file == name);
    if is_there { "has become shorter" } else { "is gone" }
}

/// The captures of a URL that went with archive files, oldest first.
pub fn missing_captures(
    frontier: &Path,
    archive: &Archive,
    url: &str,
) -> Result<Vec<CdxLine>, CrawlError> {
    let mut found = archive.missing_captures(url)?;
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

/// The captures of a URL that cannot be read, under http and https alike, and without a URL those places of which nobody
/// knows what they had. What a CDXJ file does not know, since it was made anew behind the damage, the log of visits may.
pub fn unreadable_captures(
    frontier: &Path,
    archive: &Archive,
    url: &str,
) -> Result<Vec<CdxLine>, CrawlError> {
    let lines = archive.unreadable(url)?.into_iter();
    let (unknown, mut found): (Vec<_>, Vec<_>) = lines.partition(|line| line.url.is_empty());
    let mut files: BTreeMap<String, BTreeMap<u64, CdxLine>> = BTreeMap::new();
    for line in unknown {
        files.entry(line.location.file.clone()).or_default().insert(line.location.offset, line);
    }
    let key = surt(url);
    for (name, mut places) in files {
        let mut told = BTreeSet::new();
        each_logged(frontier, &name, &mut |settled| {
            // Records that lie side by side make one place.
            let place = places.range(..=settled.offset).next_back();
            let place =
                place.filter(|(start, line)| settled.offset - *start < line.location.length);
            told.extend(place.map(|(start, _)| *start));
            if place.is_some() && surt(&settled.url) == key {
                found.push(line_of(&name, settled));
            }
        })?;
        places.retain(|start, _| !told.contains(start));
        found.extend(places.into_values());
    }
    Ok(found)
}

/// The archive files that are gone or have become shorter, with what the archive misses for want of each, in the order of
/// their names.
pub fn missing_files(frontier: &Path, archive: &Archive) -> Result<Vec<MissingFile>, CrawlError> {
    let names = lost_files(frontier, archive)?;
    let mut files: Vec<MissingFile> = Vec::new();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (place, name) in names.into_iter().enumerate() {
        let mut is_known = false;
        let mut take = |line: CdxLine| {
            // A place that could not be read tells nothing.
            is_known |= !line.url.is_empty();
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
        files.push(MissingFile { name, is_shorter, is_known, ..MissingFile::default() });
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
        let loss = match known.revisit_since() {
            Some(revisit) => known.loss_before(body_of(archive, revisit)?),
            None => known.loss(),
        };
        match loss {
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
    /// Of what is left: whether there is anything; the last visit that found it as before, and where; the newest answer.
    is_left: bool,
    same: Option<(Moment, Location)>,
    answer: Option<(Moment, Option<String>)>,
    /// When all answers came that are left.
    answers: BTreeSet<Moment>,
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
        if line.is_revisit() {
            if self.same.as_ref().is_none_or(|(last, _)| *last <= date) {
                self.same = Some((date, line.location));
            }
        } else if is_answer(&line) {
            self.answers.insert(date);
            if self.answer.as_ref().is_none_or(|(last, _)| *last <= date) {
                self.answer = Some((date, line.digest));
            }
        }
    }

    /// Whether nothing is left of it, or visits in vain beside an answer that is gone.
    fn is_only(&self) -> bool {
        !self.is_left || self.gone.is_some() && self.answer.is_none() && self.same.is_none()
    }

    /// The newest answer that is gone, if there is another visit and none has brought a later one.
    fn newest_gone(&self) -> Option<(Moment, usize, Option<&String>)> {
        let &(date, place, ref digest) = self.gone.as_ref().filter(|_| !self.is_only())?;
        let is_newest = self.answer.as_ref().is_none_or(|(answer, _)| *answer < date);
        is_newest.then_some((date, place, digest.as_ref()))
    }

    /// The last visit since the newest answer that is gone, if it found the same as before.
    fn revisit_since(&self) -> Option<&Location> {
        let (date, ..) = self.newest_gone()?;
        self.same.as_ref().filter(|(same, _)| *same > date).map(|(_, location)| location)
    }

    /// In which file its newest answer was, if that is lost, and a later visit found it as it was at a moment: that the
    /// same came at another one does not help.
    fn loss_before(&self, body: Option<Moment>) -> Option<(usize, bool)> {
        let (_, place, _) = self.newest_gone()?;
        // Some know of no microseconds.
        let is_of =
            |answer: &Moment, body: Moment| *answer == body || body.us == 0 && answer.s == body.s;
        let is_lost = body.is_some_and(|body| !self.answers.iter().any(|it| is_of(it, body)));
        is_lost.then_some((place, true))
    }

    /// The same without such a visit: an older answer that is left may be the same.
    fn loss(&self) -> Option<(usize, bool)> {
        let (_, place, digest) = self.newest_gone()?;
        let newest = self.answer.as_ref().and_then(|(_, digest)| digest.as_ref());
        let is_same = digest.is_some() && digest == newest;
        (!is_same).then_some((place, false))
    }
}

/// When the answer came that a record says nothing has changed since; `None` if it does not say, or cannot be read.
fn body_of(archive: &Archive, revisit: &Location) -> Result<Option<Moment>, CrawlError> {
    match archive.read(revisit) {
        Err(error @ ArchiveError::Io { .. }) => Err(error.into()),
        read => Ok(read.ok().as_ref().and_then(refers_to)),
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

    #[test]
    fn a_visit_that_found_it_unchanged_needs_the_answer_of_that_moment() {
        let mut same = line(7, 200, "NEW");
        same.mime = CdxLine::REVISIT.to_owned();
        let at = |s| Some(Moment { s, us: 0 });
        for left in [&[same.clone()][..], &[line(2, 200, "NEW"), same.clone()]] {
            let known = known(left);
            assert!(known.revisit_since().is_some());
            assert_eq!(known.loss_before(at(5)), Some((3, true)));
            let is_left = left.len() > 1;
            assert_eq!(known.loss_before(at(2)).is_none(), is_left);
            assert_eq!(known.loss_before(None), None);
        }
        same.date_s = 4;
        assert!(known(&[line(2, 200, "NEW"), same]).revisit_since().is_none());
    }
}

//! What hosts asked for in answers that went with archive files: the file `frontier/rests`.
//!
//! What lives here: [`Rests`], the last visit of each host that only logs of visits know, for its archive file has it no more: its
//! Retry-After, and when it had a robots.txt, with which Crawl-delay. Those logs are made anew without it by the run that misses the file. Where
//! logs are lost as well, the report of the last run tells which hosts rest, and until when. What does not: the logs (`checkpoint/`), and how long a host is left alone (`politeness.rs`).
//!
//! **Invariant.** What a host asked for, and is still to be kept, is in the file before the log goes that tells of it. It
//! counts as the visit would: a later one that the archive has comes before it. Nobody is asked before the moment that
//! `crivello status` tells.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use archive::Archive;
use durable::{read_sealed, replace, seal};

use crate::answer::{Answers, Purpose, is_temporary};
use crate::checkpoint::{Settled, each_lost, lost_files, tells_all};
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::politeness::Politeness;
use crate::report::{AsideHost, known_report};
use crate::site::Site;

const NAME: &str = "rests";

/// How long a robots.txt is known to have been there: as long as it, or an older one, would be believed.
const ROBOTS_S_MAX: i64 = 24 * 3600;

/// What a host asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// When its last visit began, or was over if that is known, and how long a wait that asked for from then on.
    pub(crate) date: Moment,
    pub(crate) retry_after_ms: Option<u64>,
    /// When its robots.txt was asked for, if it was, and the Crawl-delay of that; 0 if it has none.
    pub(crate) robots: Option<Moment>,
    delay_ms: u64,
}

impl Rest {
    /// The Crawl-delay, if there is one.
    pub(crate) fn crawl_delay_ms(&self) -> Option<u64> {
        Some(self.delay_ms).filter(|&ms| ms > 0)
    }

    /// Before which second, since 1970, it does not want to be asked.
    pub(crate) fn not_before_s(&self) -> Option<i64> {
        self.retry_after_ms.map(|ms| self.date.second_after(Politeness::asked_ms(ms)))
    }

    /// The same for a run that begins now, by which the second may not be over that a report tells: what is left of it is to
    /// be waited for as well. A moment that is further ahead is that of a clock that was put back.
    pub(crate) fn as_of(&self, now: Moment) -> Rest {
        let date = Moment { us: now.us - now.us % 1000, ..now };
        let ahead_ms = date.ms_until(self.date);
        if self.date <= now || ahead_ms > 1000 {
            return *self;
        }
        let retry_after_ms = self.retry_after_ms.map(|ms| ms.saturating_add(ahead_ms));
        Rest { date, retry_after_ms, ..*self }
    }

    /// Whether something of it is still to be kept.
    fn holds(&self, now: Moment) -> bool {
        let is_robots =
            self.robots.is_some_and(|robots| now.s < robots.s.saturating_add(ROBOTS_S_MAX));
        let since_ms = now.ms_since(self.date);
        is_robots || self.retry_after_ms.is_some_and(|ms| since_ms < Politeness::asked_ms(ms))
    }

    fn line(&self, site: &str) -> String {
        let text = |Moment { s, us }| format!("{s}.{us:06}");
        let (date, robots) = (text(self.date), text(self.robots.unwrap_or_default()));
        let (retry_after_ms, delay_ms) = (self.retry_after_ms.unwrap_or(0), self.delay_ms);
        format!("{date} {retry_after_ms} {robots} {delay_ms} {site}\n")
    }

    fn parse(line: &str) -> Option<(String, Rest)> {
        let mut words = line.splitn(5, ' ');
        let moment = |word: &str| {
            let (s, us) = word.split_once('.')?;
            Some(Moment { s: s.parse().ok()?, us: us.parse().ok()? })
        };
        let date = moment(words.next()?)?;
        let retry_after_ms = Some(words.next()?.parse().ok()?).filter(|&ms| ms > 0);
        let robots = Some(moment(words.next()?)?).filter(|robots| robots.s > 0);
        let delay_ms = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), Rest { date, retry_after_ms, robots, delay_ms }))
    }
}

/// What all of them asked for, by their sites.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rests(BTreeMap<String, Rest>);

impl Rests {
    /// What is in the file, what the logs tell of that archive files have lost, and the last report, if there may have been
    /// more; with Crawl-delays, if there is somebody who reads these.
    pub(crate) fn read(
        frontier: &Path,
        archive: &Archive,
        answers: Option<&Answers>,
    ) -> Result<Rests, CrawlError> {
        let mut rests = Rests::believed(frontier)?;
        for name in lost_files(frontier, archive)? {
            each_lost(frontier, archive, &name, &mut |settled| rests.note(settled, answers))?;
        }
        if !tells_all(frontier, archive)? {
            let report = known_report(frontier)?;
            report.aside.iter().for_each(|aside| rests.note_aside(aside, report.finished_s));
        }
        Ok(rests)
    }

    /// The same, kept for later runs as far as it still holds.
    pub(crate) fn keep(
        frontier: &Path,
        archive: &Archive,
        answers: &Answers,
        now: Moment,
    ) -> Result<Rests, CrawlError> {
        let mut rests = Rests::read(frontier, archive, Some(answers))?;
        rests.0.retain(|_, rest| rest.holds(now));
        if Rests::kept(frontier)?.as_ref() != Some(&rests) {
            rests.write(frontier).map_err(CrawlError::io(&frontier.join(NAME)))?;
        }
        Ok(rests)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Rest)> {
        self.0.iter().map(|(site, rest)| (site.as_str(), rest))
    }

    /// That of the site of a URL.
    pub(crate) fn of(&self, url: &str) -> Option<&Rest> {
        self.0.get(Site::split(url)?.0)
    }

    /// Takes note of a visit.
    fn note(&mut self, mut settled: Settled, answers: Option<&Answers>) {
        let Some((site, _)) = Site::split(&settled.url) else { return };
        let (site, date, purpose) = (site.to_owned(), settled.date(), settled.entry.purpose);
        let status = settled.answered.as_ref().map_or(0, |answered| answered.status);
        let retry_after_ms = settled.answered.as_ref().and_then(|answered| answered.retry_after_ms);
        let retry_after_ms = retry_after_ms.filter(|&ms| ms > 0 && is_temporary(purpose, status));
        let rest = self.0.entry(site.clone()).or_default();
        let over = date.later(settled.answered.as_ref().map_or(0, |answered| answered.took_ms));
        if rest.date <= over {
            (rest.date, rest.retry_after_ms) = (over, retry_after_ms);
        }
        if purpose != Purpose::Robots {
            return;
        }
        if let Some(answers) = answers {
            settled.read_robots(answers);
        }
        let Some(answered) = settled.answered.filter(|_| !is_temporary(purpose, status)) else {
            return;
        };
        let asker = settled.entry.robots_for.unwrap_or(site);
        let rest = self.0.entry(asker).or_default();
        if answered.harvest.redirect.is_none() && rest.robots <= Some(date) {
            let delay_ms = answered.harvest.robots.and_then(|robots| robots.crawl_delay_ms());
            (rest.robots, rest.delay_ms) = (Some(date), delay_ms.unwrap_or(0));
        }
    }

    /// Takes note of a host that rested when the last run ended, in that second: until the end of the one that it told.
    fn note_aside(&mut self, aside: &AsideHost, finished_s: i64) {
        let Some(until_s) = aside.until_s else { return };
        let date = Moment { s: finished_s, us: 999_999 };
        let rest = self.0.entry(aside.host.clone()).or_default();
        let left_s = u64::try_from(until_s.saturating_sub(finished_s)).unwrap_or(0);
        if left_s > 0 && rest.date <= date && rest.not_before_s() < Some(until_s) {
            let retry_after_ms = Some(left_s.saturating_mul(1000) - 1);
            (rest.date, rest.retry_after_ms) = (date, retry_after_ms);
        }
    }

    /// What is in the file; nothing if it is not as it was written.
    fn believed(frontier: &Path) -> Result<Rests, CrawlError> {
        Ok(Rests::kept(frontier)?.unwrap_or_default())
    }

    /// What is in the file; `None` if it is not as it was written.
    fn kept(frontier: &Path) -> Result<Option<Rests>, CrawlError> {
        let path = frontier.join(NAME);
        let lines = read_sealed(&path).map_err(CrawlError::io(&path))?;
        Ok(lines.map(|lines| Rests(lines.lines().filter_map(Rest::parse).collect())))
    }

    fn write(&self, frontier: &Path) -> io::Result<()> {
        let path = frontier.join(NAME);
        if self.0.is_empty() {
            return fs::remove_file(path);
        }
        let lines: String = self.iter().map(|(site, rest)| rest.line(site)).collect();
        replace(&path, seal(&lines))
    }
}

/// The robots.txt files that went with files of the archive: an older one that it still has does not count.
#[derive(Debug)]
pub struct LostRobots(Rests);

impl LostRobots {
    /// Those of a collection, by its logs of visits and by what is kept of them.
    pub fn read(frontier: &Path, archive: &Archive) -> Result<LostRobots, CrawlError> {
        Rests::read(frontier, archive, None).map(LostRobots)
    }

    /// When the last one for the site of `url` was asked for, if it is lost.
    pub fn of(&self, url: &str) -> Option<Moment> {
        self.0.of(url)?.robots
    }
}

/// Fails if what the folder `frontier` keeps of hosts is not as it was written.
pub fn check_cooldowns(frontier: &Path) -> Result<(), CrawlError> {
    Rests::kept(frontier)?.map(|_| ()).ok_or(CrawlError::Note { path: frontier.join(NAME) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_with_a_wrong_bit_nothing_is() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dir = dir.path();
        let date = Moment { s: 1_800_000_000, us: 42 };
        let busy = Rest { date, retry_after_ms: Some(3_600_000), ..Rest::default() };
        let robots = Some(Moment { s: 1_799_999_000, us: 7 });
        let slow = Rest { date, robots, delay_ms: 3_000, ..Rest::default() };
        let sites = [("http://[::1]:81", busy), ("https://a.test", slow)];
        let rests = Rests(sites.map(|(site, rest)| (site.to_owned(), rest)).into());
        rests.write(dir).expect("room");
        assert_eq!(Rests::kept(dir).expect("a file"), Some(rests));
        let rests = Rests::believed(dir).expect("a file");
        assert_eq!(rests.of("http://[::1]:81/a?b"), Some(&busy));
        assert_eq!(rests.of("http://a.test/"), None);
        let whole = fs::read(dir.join(NAME)).expect("it is there");
        fs::write(dir.join(NAME), &whole[1..]).expect("room");
        assert_eq!(Rests::kept(dir).expect("a file"), None);
        assert_eq!(Rests::believed(dir).expect("a file"), Rests::default());
        Rests::default().write(dir).expect("it is there");
        assert_eq!(Rests::kept(dir).expect("no file"), Some(Rests::default()));
        // The end of a second that is not over is waited for, but not that of a clock that went wrong.
        let ended =
            Rest { date: Moment { us: 999_999, ..date }, retry_after_ms: Some(1_999), ..slow };
        for us in [0, 1, 377_000, 377_500, 999_000, 999_998] {
            let left = ended.as_of(Moment { us, ..date });
            assert_eq!(left.date, Moment { us: us / 1000 * 1000, ..date });
            assert_eq!(left.retry_after_ms, Some(1_000 - u64::from(us / 1000) + 1_999), "{us}");
            assert_eq!(left.not_before_s(), ended.not_before_s(), "{us}");
        }
        let others = [(date.s, 999_999), (date.s + 1, 0), (date.s - 1, 377_000)];
        for now in others.map(|(s, us)| Moment { s, us }) {
            assert_eq!(ended.as_of(now), ended, "{now:?}");
        }
        // Each holds for its own time.
        let at = |s| Moment { s, us: 0 };
        assert_eq!(busy.not_before_s(), Some(date.s + 3_600));
        assert!(busy.holds(at(date.s + 3_600)) && !busy.holds(at(date.s + 3_601)));
        let end_s = 1_799_999_000 + ROBOTS_S_MAX;
        for robots in [slow, Rest { delay_ms: 0, ..slow }] {
            assert!(robots.holds(at(end_s - 1)) && !robots.holds(at(end_s)));
        }
    }
}

//! The judge against logs that are right but for one thing.

use simweb::{
    GAP_TOLERANCE_MS, Kind, LogLine, Options, Request, Truth, Verdict, Web, address_gaps, judge,
};

const DELAY_MS: u64 = 50;

struct Case {
    web: Web,
    truth: Truth,
    log: Vec<LogLine>,
}

/// A web and the log of a correct crawl of it: robots.txt first, then every page, one request after
/// another.
fn good() -> Case {
    let options = Options { hosts: 3, pages_per_host: 8, ..Options::default() };
    let web = Web::new(options, 8080).expect("good options");
    let truth = web.truth(20);
    let mut case = Case { web, truth, log: Vec::new() };
    for host in case.web.hosts().to_vec() {
        if host.kind != Kind::Dead {
            case.ask(&host.name, "/robots.txt", 0);
        }
        let prefix = case.web.url(&host, "");
        for page in case.truth.pages.clone() {
            let Some(path) = page.url.strip_prefix(&prefix) else { continue };
            if case.ask(&host.name, path, 0) == 503 {
                case.ask(&host.name, path, 1);
            }
        }
    }
    case
}

impl Case {
    /// Asks for a path 200 ms after the last answer, and is answered after 10 ms.
    fn ask(&mut self, host: &str, path: &str, attempt: u32) -> u16 {
        let at_ms = self.log.last().map_or(0, |line| line.answered_ms + 200);
        let status = self.web.respond(&Request { attempt, ..Request::get(host, path) }).status;
        self.log.push(LogLine {
            at_ms,
            answered_ms: at_ms + 10,
            host: host.to_owned(),
            path: path.to_owned(),
            status,
            agent: "tester".to_owned(),
        });
        status
    }

    fn verdict(&self) -> Verdict {
        judge(&self.truth, &self.log, DELAY_MS)
    }

    fn name(&self, kind: Kind) -> String {
        self.web.special(kind).expect("a special host").name.clone()
    }
}

/// Breaks a good log, and expects the verdict to show what `fault` takes out of it, and no more.
fn check_fault(
    spoil: impl FnOnce(&mut Case),
    fault: impl FnOnce(&mut Verdict) -> usize,
    word: &str,
) {
    let mut case = good();
    assert!(case.verdict().is_clean(), "{}", case.verdict());
    spoil(&mut case);
    let mut verdict = case.verdict();
    assert!(!verdict.is_clean());
    let text = verdict.to_string();
    assert!(text.contains(word), "{word:?} is not in: {text}");
    assert_eq!(fault(&mut verdict), 1, "{text}");
    assert!(verdict.is_clean(), "more than was broken: {verdict}");
}

#[test]
fn a_good_log_has_no_faults() {
    let verdict = good().verdict();
    assert!(verdict.is_clean(), "{verdict}");
    assert!(verdict.to_string().contains("nothing missed"), "{verdict}");
}

#[test]
fn a_page_never_requested_is_a_miss() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Gzip);
        case.log.retain(|line| line.host != host || line.path != "/two.html");
    };
    check_fault(spoil, |verdict| verdict.misses.drain(..).count(), "gzip.localhost:8080/two.html");
}

#[test]
fn a_page_that_only_failed_is_a_miss() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Flaky);
        let page = |line: &LogLine| line.host == host && line.path == "/at-first/one.html";
        case.log.retain(|line| !page(line) || line.status != 200);
    };
    check_fault(spoil, |verdict| verdict.misses.drain(..).count(), "at-first/one.html");
}

#[test]
fn a_repeated_fetch_is_reported() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Gzip);
        case.ask(&host, "/two.html", 0);
    };
    check_fault(spoil, |verdict| verdict.twice.drain(..).count(), "2 times, at most 1");
}

#[test]
fn retries_of_failures_are_excused() {
    let mut case = good();
    let (flaky, broken) = (case.name(Kind::Flaky), case.name(Kind::Broken));
    for _ in 0..3 {
        case.ask(&flaky, "/always-500.html", 0);
        case.ask(&flaky, "/closes.html", 0);
        case.ask(&broken, "/truncated.html", 0);
        case.ask(&broken, "/endless.html", 0);
        case.ask(&broken, "/huge-header.html", 0);
    }
    assert!(case.verdict().is_clean(), "{}", case.verdict());
    case.ask(&flaky, "/gone.html", 0);
    case.ask(&flaky, "/gone.html", 0);
    assert_eq!(case.verdict().twice.len(), 1, "gone is gone");
}

#[test]
fn a_forbidden_page_is_reported() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Robots);
        case.ask(&host, "/private/diary.html", 0);
    };
    check_fault(spoil, |verdict| verdict.forbidden.drain(..).count(), "/private/diary.html");
}

#[test]
fn an_unlinked_url_is_reported_as_stray() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Spelling);
        case.ask(&host, "/tar%0Aget.html", 0);
        case.ask(&host, "/sitemap.xml", 0);
    };
    check_fault(spoil, |verdict| verdict.strays.drain(..).count(), "/tar%0Aget.html");
}

#[test]
fn a_fetch_before_robots_txt_is_reported() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Slow);
        let first = case.log.iter().position(|line| line.host == host).expect("in the log");
        let (robots_ms, page_ms) = (case.log[first].at_ms, case.log[first + 1].at_ms);
        for (place, at_ms) in [(first, page_ms), (first + 1, robots_ms)] {
            case.log[place].at_ms = at_ms;
            case.log[place].answered_ms = at_ms + 10;
        }
    };
    check_fault(spoil, |verdict| verdict.early.drain(..).count(), "slow.localhost");
}

#[test]
fn a_page_beyond_the_calendar_cap_is_reported() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Calendar);
        case.ask(&host, "/2001/08", 0);
    };
    check_fault(spoil, |verdict| verdict.caps.drain(..).count(), "21 times, 20 would be right");
}

/// Two requests to a host of its own, so far apart.
fn check_silence(kind: Kind, silence_ms: u64, gaps: usize) {
    let mut case = good();
    let host = case.name(kind);
    let place = case.log.iter().rposition(|line| line.host == host).expect("in the log");
    case.log[place].at_ms = case.log[place - 1].answered_ms + silence_ms;
    let verdict = case.verdict();
    assert_eq!(verdict.gaps.len(), gaps, "{verdict}");
    if let Some(gap) = verdict.gaps.first() {
        assert_eq!((gap.target.as_str(), gap.silence_ms), (host.as_str(), silence_ms));
    }
}

#[test]
fn the_delay_is_measured_from_the_response() {
    check_silence(Kind::Gzip, DELAY_MS, 0);
    check_silence(Kind::Gzip, DELAY_MS - GAP_TOLERANCE_MS, 0);
    check_silence(Kind::Gzip, DELAY_MS - GAP_TOLERANCE_MS - 1, 1);
    check_silence(Kind::Gzip, 0, 1);
}

#[test]
fn a_longer_crawl_delay_is_required() {
    check_silence(Kind::Robots, 100, 0);
    check_silence(Kind::Robots, 90, 1);
}

#[test]
fn simultaneous_requests_are_reported_as_too_soon() {
    let spoil = |case: &mut Case| {
        let host = case.name(Kind::Gzip);
        let place = case.log.iter().rposition(|line| line.host == host).expect("in the log");
        case.log[place].at_ms = case.log[place - 1].at_ms + 1;
    };
    check_fault(spoil, |verdict| verdict.gaps.drain(..).count(), "0 ms of silence");
}

#[test]
fn hosts_of_one_address_share_its_delay() {
    let mut case = good();
    let (one, two) = (case.name(Kind::Gzip), case.name(Kind::Meta));
    case.ask(&one, "/", 0);
    case.ask(&two, "/", 0);
    let last = case.log.len() - 1;
    case.log[last].at_ms = case.log[last - 1].answered_ms + 5;
    assert_eq!(
        address_gaps(&case.truth, &case.log, DELAY_MS),
        [],
        "they have addresses of their own"
    );
    let shared = case.truth.addresses[&one];
    case.truth.addresses.insert(two, shared);
    let gaps = address_gaps(&case.truth, &case.log, DELAY_MS);
    assert_eq!(gaps.len(), 1);
    assert_eq!((gaps[0].target.clone(), gaps[0].silence_ms), (shared.to_string(), 5));
}

#[test]
fn a_long_fault_list_is_shortened() {
    let mut case = good();
    case.log.clear();
    let text = case.verdict().to_string();
    assert!(text.contains("more") && text.lines().count() < 20, "{text}");
}

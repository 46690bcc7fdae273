//! The answer of a web to each request, as a pure function.
//!
//! **Invariant.** Each request computes the page from the seed, the number of the host and the number of the page.

use crate::{
    Host, Kind, Reply, Request, Web,
    ordinary::Site,
    portal,
    random::{Random, key, text_key},
    special::{self, calendar},
};

/// From this attempt on an answer is never one of the random errors.
pub(crate) const ATTEMPTS_FAILING_MAX: u32 = 2;

impl Web {
    /// The answer to a request.
    pub fn respond(&self, request: &Request<'_>) -> Reply {
        let Some(host) = self.host(request.host) else { return Reply::status(421) };
        let mut reply = match self.random_error(host, request) {
            Some(error) => error,
            None => self.answer(host, request),
        };
        reply.delay_ms += self.latency_ms(host, request);
        reply
    }

    fn answer(&self, host: &Host, request: &Request<'_>) -> Reply {
        match host.kind {
            Kind::Portal => portal::answer(self, host, request),
            Kind::Ordinary | Kind::Mirror => Site::new(self, host).answer(request),
            Kind::Calendar => calendar::answer(self, host, request),
            Kind::Dead => Reply::silence(),
            _ => match self.table(host) {
                Some(table) => special::answer(self, host, table, request),
                None => Reply::status(404),
            },
        }
    }

    fn random_error(&self, host: &Host, request: &Request<'_>) -> Option<Reply> {
        let exempt = host.kind != Kind::Ordinary
            || request.attempt >= ATTEMPTS_FAILING_MAX
            || request.path == "/robots.txt";
        if exempt || self.options().error_rate <= 0.0 {
            return None;
        }
        let draw = Random::new(self.request_key(host, request) ^ 1).below(1 << 32);
        let draw = u32::try_from(draw).expect("below 2^32");
        let fails = f64::from(draw) < self.options().error_rate * f64::from(u32::MAX);
        fails.then(|| Reply::status(503))
    }

    fn latency_ms(&self, host: &Host, request: &Request<'_>) -> u64 {
        match self.options().latency_ms {
            0 => 0,
            mean => mean / 2 + Random::new(self.request_key(host, request)).below(mean + 1),
        }
    }

    fn request_key(&self, host: &Host, request: &Request<'_>) -> u64 {
        let path = text_key(request.path);
        key(&[self.options().seed, u64::from(host.number), path, u64::from(request.attempt)])
    }
}

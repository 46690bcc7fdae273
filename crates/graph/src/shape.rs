//! [`Shape`]: the parameters needed to read a `BVGraph`, and the `.properties` file that contains them.
//!
//! The keys are those of `WebGraph`. The codes are fixed: γ for outdegrees, blocks and intervals, unary for
//! references, and ζ₃ for residuals. They are the defaults of `WebGraph`. A graph in other codes is refused.
//!
//! **Invariant.** `Shape::parse` of `Shape::properties` gives an equal shape.

use std::fmt::Write;
use std::path::Path;

use codes::Zeta;

use crate::GraphError;

/// The code of the residuals.
pub(crate) const RESIDUALS: Zeta = Zeta::new(3);

/// The parameters of a `BVGraph`, and the numbers of its nodes and arcs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) nodes: u32,
    pub(crate) arcs: u64,
    /// The maximum distance of a reference, in lists; 0 for a graph without references.
    pub(crate) window: u32,
    /// The maximum number of references from a list to a list without a reference.
    pub(crate) chain_max: u32,
    /// The minimum length of an interval; 0 for a graph without intervals.
    pub(crate) interval_min: u32,
}

/// The maximum window. Each list of the window is held in memory.
const WINDOW_MAX: u32 = 1024;

impl Shape {
    /// The default parameters of `WebGraph`, which this program writes.
    pub(crate) fn new(nodes: u32, arcs: u64) -> Self {
        Shape { nodes, arcs, window: 7, chain_max: 3, interval_min: 4 }
    }

    /// The text of the `.properties` file of a graph of `bits` bits.
    #[expect(clippy::cast_precision_loss, reason = "the ratios are for people")]
    pub(crate) fn properties(&self, bits: u64) -> String {
        let mut text = format!(
            "#BVGraph properties\n\
             graphclass=it.unimi.dsi.webgraph.BVGraph\n\
             version=0\n\
             endianness=big\n\
             nodes={}\n\
             arcs={}\n\
             windowsize={}\n\
             maxrefcount={}\n\
             minintervallength={}\n\
             compressionflags=\n\
             zetak=3\n\
             length={bits}\n",
            self.nodes, self.arcs, self.window, self.chain_max, self.interval_min
        );
        for (key, count) in [("bitspernode", u64::from(self.nodes)), ("bitsperlink", self.arcs)] {
            if count > 0 {
                writeln!(text, "{key}={:.3}", bits as f64 / count as f64)
                    .expect("a string takes any text");
            }
        }
        text
    }

    /// Reads the text of the `.properties` file at `path`.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> Result<Self, GraphError> {
        // The values of all relevant keys are plain digits and letters, so they have no escapes.
        let text = String::from_utf8_lossy(bytes);
        let value = |wanted: &str| {
            let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
            let mut pairs = lines.filter_map(|line| line.split_once('='));
            pairs.find(|(key, _)| key.trim_end() == wanted).map(|(_, value)| value.trim())
        };
        let expected: [(&'static str, &[&str]); 4] = [
            ("version", &["0", "1"]),
            ("endianness", &["big"]),
            ("compressionflags", &[""]),
            ("zetak", &["3"]),
        ];
        for (key, allowed) in expected {
            if let Some(value) = value(key)
                && !allowed.contains(&value)
            {
                return Err(GraphError::Unsupported {
                    file: path.to_owned(),
                    key,
                    value: value.to_owned(),
                });
            }
        }
        let number = |key: &'static str, default: Option<u64>, max: u64| {
            let found = match value(key) {
                Some(value) => value.parse().ok(),
                None => default,
            };
            found.filter(|&n| n <= max).and_then(|n: u64| u32::try_from(n).ok()).ok_or_else(|| {
                GraphError::damaged(path, 0, format!("no number up to {max} for {key}"))
            })
        };
        let shape = Shape {
            nodes: number("nodes", None, u64::from(u32::MAX))?,
            arcs: value("arcs")
                .and_then(|value| value.parse().ok())
                .ok_or_else(|| GraphError::damaged(path, 0, "no number for arcs"))?,
            window: number("windowsize", Some(7), u64::from(WINDOW_MAX))?,
            // Java writes the maximum int for an unlimited chain.
            chain_max: number("maxrefcount", Some(3), u64::from(u32::MAX))?,
            interval_min: number("minintervallength", Some(4), u64::from(u32::MAX))?,
        };
        if shape.interval_min == 1 {
            return Err(GraphError::damaged(path, 0, "intervals of length one"));
        }
        Ok(shape)
    }
}

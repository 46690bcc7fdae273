//! A picture of the distribution that each code suits, and of that of the index.
//!
//! Each stream has a panel. The x axis is the number plus one, by powers of two; the y axis is bits, downwards. A dot is
//! –log₂ of the share of a number in the data, averaged over quarters of an octave. A line is the length of the codewords
//! of a code, which is –log₂ of the distribution that it suits. The nearer a line is to the dots, the fewer bits are
//! wasted.
//!
//! **Invariant.** The file is SVG 1.1 and refers to nothing outside itself.

use std::fmt::Write as _;

use ::codes::{Code, Histogram, Survey};

use super::survey::name;

const PANEL_WIDTH: f64 = 880.0;
const PANEL_HEIGHT: f64 = 360.0;
/// The frame inside a panel: left, top, width, height.
const FRAME: [f64; 4] = [60.0, 40.0, 620.0, 270.0];
/// Points per octave.
const STEPS: u32 = 4;
/// Bits at the bottom of a panel.
const BITS_MAX: f64 = 32.0;
/// Codes that are drawn, and their colours.
const DRAWN: [(&str, &str); 8] = [
    ("unary", "#999999"),
    ("gamma", "#0072b2"),
    ("delta", "#56b4e9"),
    ("zeta 3", "#009e73"),
    ("golomb", "#d55e00"),
    ("vbyte", "#cc79a7"),
    ("prefix-vbyte", "#b58900"),
    ("minimal-binary", "#6c71c4"),
];
const MODEL_COLOUR: &str = "#000000";
const DATA_COLOUR: &str = "#e00000";

/// The picture of these streams, from the top down.
pub(super) fn svg<'a>(streams: impl Iterator<Item = (&'static str, &'a Survey)>) -> String {
    let mut panels = String::new();
    let mut top = 0.0;
    for (stream, survey) in streams {
        let _ = write!(panels, "<g transform=\"translate(0 {top})\">");
        panel(&mut panels, stream, survey);
        panels.push_str("</g>\n");
        top += PANEL_HEIGHT;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {PANEL_WIDTH} {top}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Intended distributions of the codes against the numbers of the index</title>\n\
         <rect width=\"{PANEL_WIDTH}\" height=\"{top}\" fill=\"#ffffff\"/>\n{panels}</svg>\n"
    )
}

fn panel(out: &mut String, stream: &str, survey: &Survey) {
    let histogram = survey.histogram();
    let octaves = f64::from((u64::from(histogram.max()) + 1).ilog2() + 1);
    let place = |x: f64, bits: f64| {
        let [left, top, width, height] = FRAME;
        (left + width * x / octaves, top + height * (bits / BITS_MAX).min(1.0))
    };
    frame(out, stream, octaves, histogram);
    let mut key = Key { out: String::new(), line: 0 };
    key.entry("data", DATA_COLOUR, true);
    for code in survey.instantaneous() {
        let label = name(code.name(), code.parameter());
        let drawn = |&&(wanted, _): &&(&str, &str)| wanted == label || wanted == code.name();
        let Some((_, colour)) = DRAWN.iter().find(drawn) else { continue };
        line(out, colour, lengths(&*code, octaves).map(|(x, bits)| place(x, bits)));
        key.entry(&label, colour, false);
    }
    let model = points(octaves).map(|(x, n)| place(x, survey.model().bits(n)));
    line(out, MODEL_COLOUR, model);
    key.entry("rans", MODEL_COLOUR, false);
    for (x, bits) in data(histogram) {
        let (x, y) = place(x, bits);
        let _ = write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{DATA_COLOUR}\"/>");
    }
    out.push_str(&key.out);
}

/// The axes with their marks.
fn frame(out: &mut String, stream: &str, octaves: f64, histogram: &Histogram) {
    let [left, top, width, height] = FRAME;
    let _ = write!(
        out,
        "<text x=\"{left}\" y=\"24\" font-size=\"15\">{stream}: {} numbers, entropy {:.2} bits\
         </text><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
         fill=\"none\" stroke=\"#333333\"/>",
        histogram.count(),
        histogram.entropy()
    );
    for bits in [0, 8, 16, 24, 32] {
        let y = top + height * f64::from(bits) / BITS_MAX;
        let (x, middle) = (left - 6.0, y + 4.0);
        let _ = write!(out, "<text x=\"{x}\" y=\"{middle}\" text-anchor=\"end\">{bits}</text>");
    }
    for octave in (0..=32).step_by(4).filter(|&octave| f64::from(octave) <= octaves) {
        let (x, y) = (left + width * f64::from(octave) / octaves, top + height + 18.0);
        let power = format!("2<tspan dy=\"-4\" font-size=\"9\">{octave}</tspan>");
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{power}</text>");
    }
    let (x, y) = (left + width / 2.0, top + height + 36.0);
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">number + 1</text>");
    let y = top + height / 2.0;
    let _ = write!(
        out,
        "<text x=\"18\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {y})\">\
         bits = –log₂ p</text>"
    );
}

/// The legend.
struct Key {
    out: String,
    line: u32,
}

impl Key {
    fn entry(&mut self, label: &str, colour: &str, dot: bool) {
        let [left, top, width, _] = FRAME;
        let (x, y) = (left + width + 16.0, top + 12.0 + 22.0 * f64::from(self.line));
        let (end, text, base) = (x + 24.0, x + 32.0, y + 4.0);
        let mark = if dot {
            format!("<circle cx=\"{}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"/>", x + 12.0)
        } else {
            format!("<path d=\"M{x} {y}H{end}\" stroke=\"{colour}\" stroke-width=\"2\"/>")
        };
        let _ = write!(self.out, "{mark}<text x=\"{text}\" y=\"{base}\">{label}</text>");
        self.line += 1;
    }
}

fn line(out: &mut String, colour: &str, places: impl Iterator<Item = (f64, f64)>) {
    let mut path = String::new();
    for (x, y) in places {
        let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { 'M' } else { 'L' });
    }
    let _ =
        write!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>");
}

/// The lengths of codewords, up to the first one outside the panel.
fn lengths(code: &dyn Code, octaves: f64) -> impl Iterator<Item = (f64, f64)> {
    let length = move |(x, n): (f64, u32)| {
        #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
        (u64::from(n) <= code.max()).then(|| (x, code.len(n.into()) as f64))
    };
    let mut outside = false;
    points(octaves).map_while(length).take_while(move |&(_, bits)| {
        let was = outside;
        outside = bits >= BITS_MAX;
        !was
    })
}

/// log₂(n + 1) and n, in even steps.
fn points(octaves: f64) -> impl Iterator<Item = (f64, u32)> {
    let mut last = None;
    let steps = (0..=32 * STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    steps.take_while(move |&x| x <= octaves).filter_map(move |x| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let n = (x.exp2() - 1.0).round() as u32;
        let again = last.replace(n) == Some(n);
        (!again).then(|| ((f64::from(n) + 1.0).log2(), n))
    })
}

/// –log₂ of the share of a number, averaged over quarters of an octave.
fn data(histogram: &Histogram) -> Vec<(f64, f64)> {
    let quarter = |n: u32| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 129")]
        let quarter = ((f64::from(n) + 1.0).log2() * f64::from(STEPS)) as u32;
        quarter
    };
    let mut quarters: Vec<(u32, u64)> = Vec::new();
    for (n, count) in histogram.iter() {
        match quarters.last_mut() {
            Some((last, sum)) if *last == quarter(n) => *sum += count,
            _ => quarters.push((quarter(n), count)),
        }
    }
    let edge = |quarter: u32| (f64::from(quarter) / f64::from(STEPS)).exp2().ceil();
    let dot = |(quarter, sum): (u32, u64)| {
        let (first, beyond) = (edge(quarter), edge(quarter + 1));
        #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
        let share = sum as f64 / histogram.count() as f64 / (beyond - first).max(1.0);
        (((first + beyond - 1.0) / 2.0).log2(), -share.log2())
    };
    quarters.into_iter().map(dot).collect()
}

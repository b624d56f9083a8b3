//! A picture of bandwidths: rates over sizes, both on logarithmic axes.

use crate::bandwidth::{Kind, Line};
use crate::table::{bytes, rate};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
/// Left, top, right, bottom.
const MARGIN: [f64; 4] = [70.0, 50.0, 210.0, 55.0];
const FONT: &str = "font-family=\"system-ui, sans-serif\"";

fn colour(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::H2dPinned => ("#1f6feb", ""),
        Kind::H2dPageable => ("#1f6feb", "6 4"),
        Kind::D2hPinned => ("#d29922", ""),
        Kind::D2hPageable => ("#d29922", "6 4"),
        Kind::D2d => ("#2da44e", ""),
        Kind::Peer => ("#8250df", ""),
    }
}

/// The picture, as SVG.
pub(crate) fn bandwidth(title: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| line.rates.iter().copied());
    let sizes = points().map(|(size, _)| (size as f64).log2());
    let rates = points().map(|(_, rate)| rate.max(1e-6).log10());
    let (left, right) = range(sizes, 1.0);
    let (low, high) = range(rates, 0.3);
    let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
    let x = |size: f64| MARGIN[0] + (size.log2() - left) / (right - left) * (WIDTH - MARGIN[0] - MARGIN[2]);
    let y = |rate: f64| {
        HEIGHT - MARGIN[3] - (rate.max(1e-6).log10() - low) / (high - low) * (HEIGHT - MARGIN[1] - MARGIN[3])
    };

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" {FONT}>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{}\" y=\"22\" font-size=\"16\" fill=\"#1f2328\">{}</text>\n",
        MARGIN[0],
        escape(title)
    );
    grid(&mut svg, (left, right), (low, high), &x, &y);
    for (index, line) in lines.iter().enumerate() {
        let (colour, dash) = colour(line.kind);
        let path: Vec<String> =
            line.rates.iter().map(|(size, rate)| format!("{:.1},{:.1}", x(*size as f64), y(*rate))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>",
            path.join(" ")
        );
        for (size, gigabytes) in &line.rates {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}, {}: {} GB/s</title></circle>",
                x(*size as f64),
                y(*gigabytes),
                line.kind.name(),
                bytes(*size as f64),
                rate(*gigabytes)
            );
        }
        let (at, row) = (WIDTH - MARGIN[2] + 20.0, MARGIN[1] + 10.0 + 24.0 * index as f64);
        let _ = writeln!(
            svg,
            "<line x1=\"{at}\" y1=\"{row}\" x2=\"{}\" y2=\"{row}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"#1f2328\">{}</text>",
            at + 24.0,
            at + 30.0,
            row + 4.0,
            line.kind.name()
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn grid(svg: &mut String, sizes: (f64, f64), rates: (f64, f64), x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) {
    let (top, bottom, end) = (MARGIN[1], HEIGHT - MARGIN[3], WIDTH - MARGIN[2]);
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#d8dee4\"/>");
    };
    let step = ((sizes.1 - sizes.0) / 8.0).ceil().max(1.0) as usize;
    let powers = || (sizes.0.ceil() as i32..=sizes.1.floor() as i32).step_by(step).map(|power| 2f64.powi(power));
    let decades = || (rates.0 as i32..=rates.1 as i32).map(|power| 10f64.powi(power));
    powers().for_each(|size| line(x(size), top, x(size), bottom));
    decades().for_each(|rate| line(MARGIN[0], y(rate), end, y(rate)));
    let mut text = |x: f64, y: f64, anchor: &str, words: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"12\" fill=\"#59636e\" text-anchor=\"{anchor}\">{words}</text>"
        );
    };
    powers().for_each(|size| text(x(size), bottom + 20.0, "middle", &bytes(size)));
    decades().for_each(|rate| text(MARGIN[0] - 8.0, y(rate) + 4.0, "end", &rate.to_string()));
    text(MARGIN[0], top - 8.0, "start", "GB/s");
    text((MARGIN[0] + end) / 2.0, bottom + 42.0, "middle", "bytes of a copy");
}

/// From the least to the greatest, at least `least` apart.
fn range(values: impl Iterator<Item = f64>, least: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, least);
    }
    if high - low < least { (low - least / 2.0, high + least / 2.0) } else { (low, high) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

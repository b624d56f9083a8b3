//! Tables and quantities as people read them.

use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Lines of cells under a heading; numbers stand to the right.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// How many columns stand to the left; the others are numbers.
    text: usize,
}

impl Table {
    /// A table whose first `text` columns are words.
    pub(crate) fn new(heading: &[&'static str], text: usize) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new(), text }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, indented by two; its heading is bold where that shows.
    pub(crate) fn text(&self) -> String {
        let mut widths: Vec<usize> = self.heading.iter().map(|cell| cell.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (index, (cell, width)) in cells.zip(&widths).enumerate() {
                let room = width - cell.chars().count().min(*width);
                let (before, after) = if index < self.text { (0, room) } else { (room, 0) };
                let _ = write!(text, "  {:before$}{cell}{:after$}", "", "");
            }
            text.trim_end().to_owned()
        };
        let mut text = format!("\x1b[1m{}\x1b[0m\n", line(&mut self.heading.iter().copied()));
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
            text.push('\n');
        }
        text
    }
}

/// Prints to standard output, in colours where it is a terminal.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// `1.5 GiB`.
pub(crate) fn bytes(count: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut count, mut unit) = (count, 0);
    while count >= 1024.0 && unit + 1 < UNITS.len() {
        (count, unit) = (count / 1024.0, unit + 1);
    }
    let digits = if count.fract() == 0.0 || count >= 100.0 { 0 } else { 1 };
    format!("{count:.digits$} {}", UNITS[unit])
}

/// `12.3 us`, from nanoseconds.
pub(crate) fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if value >= 100.0 || unit == "ns" {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// Gigabytes a second: with the digits that mean something.
pub(crate) fn rate(gigabytes: f64) -> String {
    let digits = if gigabytes >= 100.0 {
        0
    } else if gigabytes >= 10.0 {
        1
    } else {
        2
    };
    format!("{gigabytes:.digits$}")
}

/// `12.3 %`, of a part in a whole.
pub(crate) fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_suits_them() {
        assert_eq!(
            [0.0, 1000.0, 1024.0, 1536.0, 268_435_456.0].map(bytes),
            ["0 B", "1000 B", "1 KiB", "1.5 KiB", "256 MiB"]
        );
        assert_eq!(
            [15.0, 1_234.0, 45_600.0, 7_890_000.0, 2e9].map(time),
            ["15 ns", "1.23 us", "45.6 us", "7.89 ms", "2.00 s"]
        );
        assert_eq!([0.5, 12.34, 4640.0].map(rate), ["0.50", "12.3", "4640"]);
        assert_eq!((share(1.0, 8.0), share(1.0, 0.0)), ("12.5 %".into(), String::new()));
    }

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = Table::new(&["name", "count"], 1);
        table.row(["a".into(), "12345678".into()]);
        table.row(["longer".into(), "1".into()]);
        assert_eq!(table.text(), "\u{1b}[1m  name       count\u{1b}[0m\n  a       12345678\n  longer         1\n");
    }
}

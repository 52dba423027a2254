//! A page in HTML with a picture in SVG: one file, no scripts.

use std::fmt::Write as _;

use super::drawing::{Diagram, Lane, State};

impl Diagram {
    /// Returns a page with `title` and the text of a `report`.
    pub(crate) fn html(&self, title: &str, report: &str) -> String {
        let mut page = String::new();
        let _ = writeln!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n\
             <pre>{1}</pre>\n<p class=\"legend\">{LEGEND}</p>",
            escaped(title),
            escaped(report)
        );
        let (cut, rows, beyond) = (self.cut, self.rows.len(), self.beyond);
        let _ = match (cut, beyond) {
            (0, 0) => Ok(()),
            (cut, 0) => writeln!(
                page,
                "<p>The first {cut} steps are not shown, only the last {rows}.</p>"
            ),
            (cut, beyond) => writeln!(
                page,
                "<p>The first {cut} steps and the last {beyond} are not shown.</p>"
            ),
        };
        page.push_str(&self.svg());
        page.push_str("</body>\n</html>\n");
        page
    }

    fn svg(&self) -> String {
        let x = |lane: usize| LEFT + lane * LANE;
        let y = |row: usize| TOP + row * ROW;
        let texts = x(self.lanes.len()) + 4;
        let letters = self.rows.iter().map(|row| self.label(row).chars().count());
        let width = texts + letters.max().unwrap_or(0).max(20) * LETTER;
        let height = y(self.rows.len()) + 2 * ROW;
        let mut svg = String::new();
        let _ = writeln!(
            svg,
            "<svg role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<defs><marker id=\"tip\" \
             viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
        );
        for (index, row) in self.rows.iter().enumerate() {
            if row.instead_of.is_some() {
                let top = y(index) - ROW / 2;
                let _ = writeln!(
                    svg,
                    "<rect class=\"deviation\" x=\"0\" y=\"{top}\" width=\"{width}\" \
                     height=\"{ROW}\"/>"
                );
            }
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            let at = x(index);
            let Lane { fiber, spawned, .. } = lane;
            let _ = writeln!(
                svg,
                "<text class=\"head\" x=\"{at}\" y=\"{}\">{fiber}<title>fiber {fiber}, \
                 {}</title></text>",
                TOP - ROW,
                escaped(spawned)
            );
            let mut from = 0;
            for part in lane.states.chunk_by(|one, other| one == other) {
                let to = from + part.len();
                let class = match part[0] {
                    State::Absent => "",
                    State::Runs => "runs",
                    State::Ready => "ready",
                    State::Waits => "waits",
                };
                if !class.is_empty() {
                    let (top, bottom) = (y(from), y(to));
                    let _ = writeln!(
                        svg,
                        "<line class=\"{class}\" x1=\"{at}\" y1=\"{top}\" x2=\"{at}\" \
                         y2=\"{bottom}\"/>"
                    );
                }
                from = to;
            }
            if lane.is_stuck {
                cross(&mut svg, at, y(self.rows.len()), "waits indefinitely");
            }
        }
        for (index, row) in self.rows.iter().enumerate() {
            let (from, top) = (x(row.lane), y(index));
            let arrows = row.woken.iter().map(|to| ("wake", *to));
            let arrows = arrows.chain(row.spawned.iter().map(|to| ("spawn", *to)));
            for (class, to) in arrows {
                let (to, bottom) = (x(to), y(index + 1));
                let _ = writeln!(
                    svg,
                    "<path class=\"{class}\" marker-end=\"url(#tip)\" d=\"M{from} {top}L{to} \
                     {bottom}\"/>"
                );
            }
            let label = escaped(&self.label(row));
            let _ = writeln!(
                svg,
                "<circle cx=\"{from}\" cy=\"{top}\" r=\"5\"><title>{label}</title></circle>\n\
                 <text x=\"{texts}\" y=\"{}\">{label}</text>",
                top + 4
            );
            if let Some(failure) = &row.failure {
                cross(&mut svg, from, top + ROW / 2, failure);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Draws the mark of a failure.
fn cross(svg: &mut String, x: usize, y: usize, title: &str) {
    let (left, right, top, bottom) = (x - 5, x + 5, y - 5, y + 5);
    let _ = writeln!(
        svg,
        "<path class=\"failure\" d=\"M{left} {top}L{right} {bottom}M{right} {top}L{left} \
         {bottom}\"><title>{}</title></path>",
        escaped(title)
    );
}

/// Sizes in pixels. Arbitrary, but for the width of a letter: 12 pixels of a monospaced font.
const LEFT: usize = 20;
const TOP: usize = 40;
const LANE: usize = 28;
const ROW: usize = 20;
const LETTER: usize = 8;

/// Colors for light and dark pages.
const STYLE: &str = "
:root { color-scheme: light dark; --back: #fff; --ink: #1b1f24; --dim: #8b949e; --run: #0969da;
  --mark: #fff1b8; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --ink: #e6edf3; --dim: #6e7681;
  --run: #58a6ff; --mark: #4d3800; --bad: #ff7b72; } }
body { background: var(--back); color: var(--ink); font: 14px sans-serif; margin: 1.5em; }
h1 { font-size: 18px; } pre { overflow-x: auto; } .legend { color: var(--dim); }
svg { display: block; } svg text { fill: var(--ink); font: 12px monospace; white-space: pre; }
svg .head { text-anchor: middle; font-weight: bold; } circle { fill: var(--run); }
line { stroke: var(--run); } .runs { stroke-width: 4; } .ready { stroke-width: 1; }
.waits { stroke: var(--dim); stroke-width: 2; stroke-dasharray: 3 4; }
.deviation { fill: var(--mark); } .wake, .spawn { stroke: var(--ink); fill: none; }
.spawn { stroke-dasharray: 1 3; } marker path { fill: var(--ink); }
.failure { stroke: var(--bad); stroke-width: 3; }
";

const LEGEND: &str = "One line for each fiber, one row for each step. Thick: the fiber runs; thin: \
                      it is ready; dashed: it waits. Arrows: it wakes or (dotted) spawns another. \
                      Highlighted: a step that differs from the canonical schedule. A cross: the \
                      failure.";

/// Escapes text for a page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            // Not allowed in XML.
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(
            escaped("a<b> & \"c\"\u{1b}"),
            "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}"
        );
    }
}

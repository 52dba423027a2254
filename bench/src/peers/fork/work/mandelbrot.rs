//! A Mandelbrot set: rows are halved by join down to one. Those through the set take a hundred
//! times as long as those beside it.

use super::super::library::Library;
use super::Work;

/// Steps on each row, and the expected ones.
pub(in crate::peers::fork) struct Mandelbrot {
    size: usize,
    steps: Vec<u64>,
    expected: Vec<u64>,
}

impl Mandelbrot {
    /// Returns a square picture of `rows` rows.
    pub(in crate::peers::fork) fn new(rows: u64) -> Mandelbrot {
        let size = rows as usize;
        Mandelbrot {
            size,
            steps: vec![0; size],
            expected: (0..size).map(|at| row(size, at)).collect(),
        }
    }
}

impl Work for Mandelbrot {
    fn prepare(&mut self) {
        self.steps.fill(0);
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        rows::<L>(scope, self.size, 0, &mut self.steps);
    }

    fn check(&self) {
        assert_eq!(self.steps, self.expected, "steps on each row");
    }
}

/// Fills in the rows from `first` on.
fn rows<L: Library>(
    scope: &mut L::Scope<'_>,
    size: usize,
    first: usize,
    steps: &mut [u64],
) {
    if let [steps] = steps {
        *steps = row(size, first);
        return;
    }
    let half = steps.len() / 2;
    let (upper, lower) = steps.split_at_mut(half);
    L::join(
        scope,
        |scope| rows::<L>(scope, size, first, upper),
        |scope| rows::<L>(scope, size, first + half, lower),
    );
}

/// Returns the steps of all points of one row. Never inlined: the same code for every library.
#[inline(never)]
fn row(size: usize, at: usize) -> u64 {
    let place = |at: usize| at as f64 / size as f64 * 2.5;
    let points = (0..size).map(|column| point(place(column) - 2.0, place(at) - 1.25));
    points.sum()
}

/// Returns the number of steps until the point is far away, at most `MOST`.
fn point(re: f64, im: f64) -> u64 {
    let (mut x, mut y) = (0.0, 0.0);
    for step in 0..MOST {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return step;
        }
        (x, y) = (xx - yy + re, 2.0 * x * y + im);
    }
    MOST
}

/// Arbitrary: a picture of 512 rows takes some tens of milliseconds.
const MOST: u64 = 200;

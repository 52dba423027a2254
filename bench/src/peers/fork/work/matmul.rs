//! The product of two matrices: rows are halved by join down to a few.

use super::super::library::Library;
use super::Work;

/// Two square matrices of small whole numbers with an exact product, and the product.
pub(in crate::peers::fork) struct Matmul {
    size: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    product: Vec<f64>,
}

impl Matmul {
    /// Creates matrices of `rows` rows.
    pub(in crate::peers::fork) fn new(rows: u64) -> Matmul {
        let size = rows as usize;
        let fill = |factor: usize, modulus: usize| {
            let cell = |at: usize| (at * factor % modulus) as f64;
            (0..size * size).map(cell).collect()
        };
        Matmul {
            size,
            a: fill(7, 31),
            b: fill(11, 29),
            product: vec![0.0; size * size],
        }
    }
}

impl Work for Matmul {
    fn prepare(&mut self) {
        self.product.fill(f64::NAN);
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        rows::<L>(scope, self.size, &self.a, &self.b, &mut self.product);
    }

    /// By Freivalds: for a vector `x`, the product times `x` is `a` times (`b` times `x`).
    fn check(&self) {
        let times = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
            let row = |row: &[f64]| row.iter().zip(vector).map(|(m, v)| m * v).sum();
            matrix.chunks(self.size).map(row).collect()
        };
        let vector: Vec<f64> = (0..self.size).map(|at| (at % 13) as f64).collect();
        let expected = times(&self.a, &times(&self.b, &vector));
        let right = times(&self.product, &vector) == expected;
        assert!(right, "the product is that of the matrices");
    }
}

/// Computes the rows of `product` from those of `a` and all of `b`.
fn rows<L: Library>(
    scope: &mut L::Scope<'_>,
    size: usize,
    a: &[f64],
    b: &[f64],
    product: &mut [f64],
) {
    let count = product.len() / size;
    if count <= LEAF {
        return block(size, a, b, product);
    }
    let half = count / 2 * size;
    let (a_upper, a_lower) = a.split_at(half);
    let (upper, lower) = product.split_at_mut(half);
    L::join(
        scope,
        |scope| rows::<L>(scope, size, a_upper, b, upper),
        |scope| rows::<L>(scope, size, a_lower, b, lower),
    );
}

/// Never inlined: the same code for every library.
#[inline(never)]
fn block(size: usize, a: &[f64], b: &[f64], product: &mut [f64]) {
    product.fill(0.0);
    for (at, from) in b.chunks_exact(size).enumerate() {
        let rows = a.chunks_exact(size).zip(product.chunks_exact_mut(size));
        for (a, to) in rows {
            let factor = a[at];
            for (to, from) in to.iter_mut().zip(from) {
                *to += factor * from;
            }
        }
    }
}

/// Half a millisecond for matrices of 512 rows; the rows of the product that are computed
/// stay in the nearest cache.
const LEAF: usize = 4;

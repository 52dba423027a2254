//! The workloads: each divides by the joins of a `Library` and checks its own answer.

mod mandelbrot;
mod matmul;
mod numbers;
mod piece;
mod queens;
mod sort;
#[cfg(test)]
mod tests;

pub(super) use mandelbrot::Mandelbrot;
pub(super) use matmul::Matmul;
pub(super) use numbers::{Fib, Frame, Sum, Tree};
use piece::Count;
pub(super) use piece::{Counted, Work};
pub(super) use queens::Queens;
pub(super) use sort::Sort;

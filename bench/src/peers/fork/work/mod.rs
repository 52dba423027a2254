//! The workloads: each divides by the joins of a `Library` and checks its own answer.

mod fib;
mod frame;
mod mandelbrot;
mod matmul;
mod piece;
mod queens;
mod sort;
mod sum;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use fib::Fib;
pub(super) use frame::Frame;
pub(super) use mandelbrot::Mandelbrot;
pub(super) use matmul::Matmul;
pub(super) use piece::Work;
pub(super) use queens::Queens;
pub(super) use sort::Sort;
pub(super) use sum::Sum;
pub(super) use tree::Tree;

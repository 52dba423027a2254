//! Sums the numbers up to N (first argument, default 1,000,000) in one fiber for each of
//! sixteen parts, and prints the sum.
//!
//! Checked: `cargo run --example parallel_sum -- 1000` ends with `500500`.

fn main() {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000_000);
    let parts = 16;
    let sum: u64 = pirn::scope(|s| {
        let fibers: Vec<_> = (0..parts)
            .map(|i| {
                s.spawn(move || (n * i / parts + 1..=n * (i + 1) / parts).sum::<u64>())
            })
            .collect();
        fibers
            .into_iter()
            .map(|fiber| fiber.join().expect("adding does not panic"))
            .sum()
    });
    println!("{sum}");
}

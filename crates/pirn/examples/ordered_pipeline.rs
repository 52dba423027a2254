//! Work done in parallel, results in order: pieces of different size are summed by fibers, at
//! most eight at a time, and received as they were submitted.
//!
//! Checked: `cargo run --example ordered_pipeline -- 50`
//! ends with `50 pieces in order, sum 1225000`.

use pirn::channel;

fn main() {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(500);
    let (work, results) = channel::ordered(8);
    pirn::spawn(move || {
        for piece in 0..n {
            work.spawn(move || {
                // The pieces that are submitted last end first.
                for _ in piece..n {
                    pirn::yield_now();
                }
                (piece, (0..1_000).map(|_| piece).sum::<u64>())
            })
            .expect("the receiver exists");
        }
    });
    let (mut next, mut total) = (0, 0);
    for result in results {
        let (piece, sum) = result.expect("no piece panics");
        assert_eq!(piece, next, "in the order of submission");
        next += 1;
        total += sum;
    }
    println!("{next} pieces in order, sum {total}");
}

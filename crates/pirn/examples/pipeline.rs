//! Three stages joined by bounded channels: numbers, their squares, their sum. The stages
//! end one after the other as the channels close.
//!
//! Checked: `cargo run --example pipeline -- 100` ends with `338350`.

use pirn::channel;

fn main() {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000);
    let (numbers, to_square) = channel::bounded(16);
    let (squares, to_add) = channel::bounded(16);
    pirn::spawn(move || {
        (1..=n).for_each(|i| numbers.send(i).expect("a squarer listens"));
    });
    pirn::spawn(move || {
        for i in to_square.iter() {
            squares.send(i * i).expect("the adder listens");
        }
    });
    let sum: u64 = pirn::run(move || to_add.iter().sum());
    println!("{sum}");
}

//! Two fibers hand a number to and fro over rendezvous channels, N rounds (first argument,
//! default 10,000), and print the last number.
//!
//! Checked: `cargo run --example ping_pong -- 100` ends with `100`.

use pirn::channel;

fn main() {
    let rounds: u32 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(10_000);
    let (ping, pinged) = channel::bounded::<u32>(0);
    let (pong, ponged) = channel::bounded::<u32>(0);
    pirn::spawn(move || {
        for n in pinged.iter() {
            pong.send(n + 1).expect("the main fiber listens");
        }
    });
    let last = pirn::run(move || {
        (0..rounds).fold(0, |n, _| {
            ping.send(n).expect("the other fiber listens");
            ponged.recv().expect("the other fiber answers")
        })
    });
    println!("{last}");
}

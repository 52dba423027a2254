//! Several sources, one consumer: a select over a channel of fast values, one of slow values,
//! and one that says stop. A source that has ended is switched off by a channel on which
//! nothing comes.
//!
//! Checked: `cargo run --example fan_in_select -- 100`
//! ends with `100 fast, 50 slow, 2 sources ended`.

use pirn::channel::{self, Receiver};

fn main() {
    let n: u32 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000);
    let fast = source(n);
    let slow = source(n / 2);
    let never = channel::never();
    let (stop, stopped) = channel::bounded::<()>(0);

    let (mut from_fast, mut from_slow) = (&fast, &slow);
    let (mut fasts, mut slows, mut ended) = (0, 0, 0);
    loop {
        pirn::select! {
            recv(from_fast) -> value => match value {
                Ok(_) => fasts += 1,
                Err(_) => { from_fast = &never; ended += 1 }
            },
            recv(from_slow) -> value => match value {
                Ok(_) => slows += 1,
                Err(_) => { from_slow = &never; ended += 1 }
            },
            recv(stopped) -> _ => break,
        }
        if ended == 2 {
            stop.close();
        }
    }
    println!("{fasts} fast, {slows} slow, {ended} sources ended");
}

/// Starts a fiber that sends `n` numbers.
fn source(n: u32) -> Receiver<u32> {
    let (tx, rx) = channel::bounded(4);
    pirn::spawn(move || (0..n).for_each(|i| tx.send(i).expect("the receiver exists")));
    rx
}

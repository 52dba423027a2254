//! A deadlock between two transfers, found, shrunk and explained.
//!
//! Each transfer locks the account that it takes from, and then the other one. Two transfers in
//! opposite directions can wait for each other. On threads that happens rarely; here one choice of
//! the schedule suffices. Prints the report, and writes a diagram of the run to a page.
//!
//! Checked: `cargo run -p pirn-sim --example transfers` ends with
//! `the corrected one passes 1,000 schedules`.

use std::env;
use std::error::Error;
use std::fs;

use pirn::diag::name_object;
use pirn::sync::Mutex;
use pirn_sim::{Verdict, campaign};

fn main() -> Result<(), Box<dyn Error>> {
    let failure = campaign().find(|| {
        let (ann, bob) = (Mutex::new(100), Mutex::new(100));
        name_object(&ann, "Ann's account");
        name_object(&bob, "Bob's account");
        pirn::scope(|s| {
            s.spawn(|| transfer(&ann, &bob, 10));
            s.spawn(|| transfer(&bob, &ann, 20));
        });
        assert_eq!(*ann.lock() + *bob.lock(), 200);
    });
    let failure = failure.ok_or("no schedule failed")?;
    println!("{failure}\n");
    assert!(matches!(failure.verdict(), Verdict::Deadlock(_)));
    let page = env::temp_dir().join("pirn-sim-transfers.html");
    fs::write(&page, failure.to_html())?;
    println!("a diagram of it is in {}", page.display());
    // In one order for all transfers no cycle is possible.
    campaign().runs(1_000).check(|| {
        let accounts = [Mutex::new(100), Mutex::new(100)];
        pirn::scope(|s| {
            s.spawn(|| ordered(&accounts, 0, 1, 10));
            s.spawn(|| ordered(&accounts, 1, 0, 20));
        });
    });
    println!("the corrected one passes 1,000 schedules");
    Ok(())
}

fn transfer(from: &Mutex<i64>, to: &Mutex<i64>, amount: i64) {
    let mut from = from.lock();
    let mut to = to.lock();
    *from -= amount;
    *to += amount;
}

/// Locks the account of the lower number first.
fn ordered(accounts: &[Mutex<i64>; 2], from: usize, to: usize, amount: i64) {
    let mut first = accounts[from.min(to)].lock();
    let mut second = accounts[from.max(to)].lock();
    let (from, to) = match from < to {
        true => (&mut *first, &mut *second),
        false => (&mut *second, &mut *first),
    };
    *from -= amount;
    *to += amount;
}

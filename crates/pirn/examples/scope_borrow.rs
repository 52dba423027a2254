//! Fibers of a scope borrow local variables, mutably, without any `Arc`.
//!
//! Checked: `cargo run --example scope_borrow`
//! ends with `[["fig", "pear"], ["date", "plum"], ["kiwi", "lime"]]`.

fn main() {
    let mut words = vec![
        vec!["pear", "fig"],
        vec!["plum", "date"],
        vec!["lime", "kiwi"],
    ];
    pirn::scope(|s| {
        for part in &mut words {
            s.spawn(|| part.sort_unstable());
        }
    });
    println!("{words:?}");
}

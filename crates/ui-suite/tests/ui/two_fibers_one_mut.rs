//! Two children of a scope cannot both change the same local.

fn main() {
    let mut count = 0;
    pirn::scope(|s| {
        s.spawn(|| count += 1);
        s.spawn(|| count += 1);
    });
}

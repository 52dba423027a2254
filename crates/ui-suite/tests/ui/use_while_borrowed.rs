//! While a child may change a local, the body of the scope cannot read it.

fn main() {
    let mut count = 0;
    pirn::scope(|s| {
        s.spawn(|| count += 1);
        assert_eq!(count, 0);
    });
}

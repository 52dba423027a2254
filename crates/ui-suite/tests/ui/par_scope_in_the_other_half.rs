//! A half has the scope of the fiber that it runs on; it cannot use that of the other half.

fn main() {
    pirn::par::scope(|outer| {
        pirn::par::join(|| (), || outer.join(|_| (), |_| ()));
    });
}

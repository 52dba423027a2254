//! A half has the scope of the fiber that it runs on; that of the other one stays where it is.

fn main() {
    pirn::par::scope(|outer| {
        pirn::par::join(|| (), || outer.join(|_| (), |_| ()));
    });
}

//! A key of a fiber-local stands for one type: no subtype of it.

use pirn::FiberLocal;

fn look(_: &u8) {}

pirn::fiber_local! {
    static KEY: for<'a> fn(&'a u8) = look;
}

fn main() {
    let key: &'static FiberLocal<fn(&'static u8)> = &KEY;
    key.with(|look| look(&1));
}

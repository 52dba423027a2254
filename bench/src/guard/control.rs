//! An operation without pirn: if its count changes, the compiler or the counter has changed.

use std::hint::black_box;

use corosensei::Coroutine;

use super::Operation;

pub(super) const SWITCH: Operation = Operation {
    name: "control",
    title: "resume and suspend of a bare coroutine, nothing of pirn",
    home: |body| body(),
    repeat: switch,
};

fn switch(times: u64) {
    let mut coroutine = Coroutine::new(|yielder, mut go_on: bool| {
        while go_on {
            go_on = yielder.suspend(());
        }
    });
    for _ in 0..times {
        black_box(coroutine.resume(true));
    }
    coroutine.resume(false);
}

//! Seven ways to hand work to pirn: with borrows and without, waited for and not.
//!
//! Checked: `cargo run --example task_handles` ends with `7: 1275 and 3775 make 5050`.

use pirn::scope::TaskGroup;

fn main() {
    let runtime = pirn::Runtime::new().expect("a runtime starts");

    // 1. Nothing is borrowed and no code waits; dropping the runtime would.
    runtime.spawn(|| println!("1: fire and forget")).detach();

    // 2. Nothing is borrowed; several tasks on one handle, waited for together.
    let group = TaskGroup::new();
    for part in ["first", "second"] {
        let task = move || println!("2: {part} task of a group");
        runtime.enter(|| group.spawn(task)).expect("not cancelled");
    }
    group.wait().expect("no token is cancelled");

    // 3. A task that borrows, and that no code waits for, does not compile: it might outlive
    //    what it borrows. 4. Nor does one that is waited for, in a way that the compiler
    //    cannot see: tasks of a group borrow nothing.
    let local = String::from("borrowed");

    // 5. The same with the programmer's promise to wait is `TaskGroup::spawn_unchecked`, which
    //    is unsafe; 6 and 7 need no promise.

    // 6. A borrow, run and waited for in one.
    let length = runtime.run(|| local.len());
    println!("6: {length} letters");

    // 7. Borrows in a scope, mutable ones too; it ends when they have ended.
    let mut halves = [0_u64; 2];
    runtime.scope(|s| {
        for (i, half) in (0_u64..).zip(&mut halves) {
            s.spawn(move || *half = (i * 50 + 1..=i * 50 + 50).sum());
        }
    });
    println!("7: {} and {} make 5050", halves[0], halves[1]);
    runtime.wait_idle().expect("no token is cancelled");
}

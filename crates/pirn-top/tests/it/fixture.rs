//! An answer to draw: all variants, and text that must not reach a terminal.

use pirn_top::model::App;
use pirn_top::wire::{Fiber, Snapshot, read};

/// Returns one answer. `more` is the increase of its counters since the previous one.
fn answer(more: u64) -> String {
    let uptime = 65_000_000_000_u64 + more * 1_000_000_000;
    let mut text = format!(
        r#"{{"kind":"runtime","version":1,"name":"shop","pid":4242,"uptime_ns":{uptime},"workers":2,"injected":7,"waiting_for_stack":3,"stacks":1520,"stack_size":262144,"stack_touched":225280,"stack_size_suggested":524288,"pressure":12,"aged_wakes":0,"slow_fibers":1,"counters":{{"completed":{},"dispatched":{},"spawned":{},"steals":5}}}}
{{"kind":"worker","worker":0,"state":"awake","member":true,"answered":false,"started":4,"ready":0,"fresh":5,"running":"4294967296","running_spawned_at":"src/bin/server/accept.rs:101:20","counters":{{"spawned":12,"stolen":3}}}}
{{"kind":"worker","worker":1,"state":"asleep","member":true,"answered":true,"started":1500,"ready":2,"fresh":0,"counters":{{"spawned":1500,"stolen":1234567}}}}
{{"kind":"worker","worker":2,"state":"gone","member":false,"answered":false,"started":0,"ready":0,"fresh":0}}
{{"kind":"something new","of":"a later version"}}
{{"kind":"tally","state":"parked","reason":"Recv","fibers":1490}}
{{"kind":"tally","state":"running","fibers":1}}
{{"kind":"tally","state":"ready","fibers":2}}
{{"kind":"tally","state":"parked","reason":"Sleep","fibers":11}}
{{"kind":"scale","reason":"no_work","times":1234}}
{{"kind":"scale","reason":"started","times":{}}}
{{"kind":"scale","reason":"of_a_later_version","times":1}}
"#,
        1_000 + 10 * more,
        5_000 + 1_500 * more,
        2_504 + 10 * more,
        2 * more,
    );
    text.push_str(concat!(
        r#"{"kind":"fiber","id":"4294967296","name":"acceptor","state":"running","waited_ns":0,"limited":false,"spawned_at":"src/bin/server/accept.rs:101:20","worker":0}"#,
        "\n",
        r#"{"kind":"fiber","id":"4294967297","name":"clerk \u001b[31m\u0007\nred","state":"parked","reason":"Recv","object":"channel 'orders' at 0x7f12: 0 of 8 values, 0 send, 1490 receive","waited_ns":4200000000,"limited":false,"spawned_at":"src/bin/server/main.rs:12:9","waits_at":"src/bin/server/orders.rs:33:17","worker":1,"stack_used":1312,"stack_size":262144,"stack_touched":45056}"#,
        "\n",
        r#"{"kind":"fiber","id":"8589934594","name":"纤程纤程纤程纤程纤程","state":"parked","reason":"Sleep","waited_ns":65000000,"limited":true,"spawned_at":"src/timer.rs:7:1","waits_at":"src/timer.rs:9:5","worker":1,"stack_used":70000,"stack_size":262144}"#,
        "\n",
        r#"{"kind":"fiber","id":"4294967299","state":"ready","waited_ns":0,"limited":false,"spawned_at":"src/a/very/long/path/that/does/not/fit/anywhere/in/a/narrow/table.rs:1000:10","worker":1,"stack_used":512,"stack_size":262144}"#,
        "\n",
        r#"{"kind":"fiber","id":"4294967300","name":"mixed é \u202e evil","state":"parked","reason":"Mutex","object":"mutex 'till' at 0x7f30: held by 4294967296, 1 wait","waited_ns":3600000000000,"limited":false,"spawned_at":"src/bin/server/main.rs:20:9","waits_at":"src/till.rs:1:1","worker":1,"stack_used":900,"stack_size":262144}"#,
        "\n",
        r#"{"kind":"end"}"#,
        "\n",
    ));
    text
}

/// The answer as text.
pub(crate) fn text() -> String {
    answer(0)
}

fn snapshot(more: u64) -> Snapshot {
    read(&mut answer(more).as_bytes()).expect("an answer")
}

/// Returns a program with two answers, two seconds apart.
pub(crate) fn app() -> App {
    let mut app = App::new("/run/shop");
    app.take_snapshot(Ok(snapshot(0)));
    app.take_snapshot(Ok(snapshot(2)));
    app
}

/// The clerk, with frames.
pub(crate) fn clerk() -> Fiber {
    let mut clerk = snapshot(0).fibers.swap_remove(1);
    let frames = [
        "pirn::channel::receiver::Receiver<T>::recv at ./crates/pirn/src/channel/receiver.rs:52:9",
        "server::orders::next_order at ./src/bin/server/orders.rs:33:17",
        "server::main::{{closure}} at ./src/bin/server/main.rs:14:13",
    ];
    clerk.frames = frames.map(pirn_top::wire::Text::clean).to_vec();
    clerk
}

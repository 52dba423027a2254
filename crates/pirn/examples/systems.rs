//! The systems of a game, as a graph: each declares its reads and writes, and runs beside
//! those that it does not conflict with. Prints which of them have run at the same time.
//!
//! Checked: `cargo run --example systems -- 100`
//! ends with `100 frames, height 4950, as one after another`.

use std::collections::BTreeSet;

use pirn::par::graph::{Access, Cycle, Graph};
use pirn::sync::{Mutex, RwLock};

/// What systems share. Their types are the names of these resources, too.
struct Speed(u64);
struct Height(u64);

/// Which systems run at the moment, and which pairs have met.
type Stage = Mutex<(Vec<&'static str>, BTreeSet<[&'static str; 2]>)>;

/// Runs `f` as `system`. It yields first, so that others run meanwhile on one worker too.
fn on(stage: &Stage, system: &'static str, f: impl FnOnce()) {
    {
        let (running, met) = &mut *stage.lock();
        met.extend(
            running
                .iter()
                .map(|other| [system.min(other), system.max(other)]),
        );
        running.push(system);
    }
    pirn::yield_now();
    f();
    stage.lock().0.retain(|other| *other != system);
}

fn main() -> Result<(), Cycle> {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let n: u64 = n.unwrap_or(1_000);
    let stage = Stage::default();
    let (speed, height) = (RwLock::new(Speed(0)), RwLock::new(Height(0)));
    let (mut drawn, mut hits) = (Vec::new(), 0);

    let mut frame = Graph::new();
    let moves = Access::new().read::<Speed>().write::<Height>();
    frame.add("movement", moves, || {
        on(&stage, "movement", || height.write().0 += speed.read().0);
    });
    frame.add("gravity", Access::new().write::<Speed>(), || {
        on(&stage, "gravity", || speed.write().0 += 1);
    });
    frame.add("collision", Access::new().read::<Height>(), || {
        on(&stage, "collision", || {
            hits += u64::from(height.read().0 % 10 == 0);
        });
    });
    frame.add("render", Access::new().read::<Height>(), || {
        on(&stage, "render", || drawn.push(height.read().0));
    });
    (0..n).try_for_each(|_| frame.run())?;
    drop(frame);

    for [one, other] in &stage.lock().1 {
        println!("{one} beside {other}");
    }
    // Frame i moves by i: it comes before gravity, which changes what it reads.
    let serial: Vec<u64> = (0..n).map(|i| (0..=i).sum()).collect();
    assert_eq!(drawn, serial);
    let height = height.read().0;
    println!("{n} frames, height {height}, as one after another");
    Ok(())
}

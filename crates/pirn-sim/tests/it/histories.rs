//! Histories: the checker decides as a search of all orders does, and campaigns use it.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use pirn::sync::Mutex;
use pirn_sim::history::{
    History, Map, MapOp, Model, Queue, QueueOp, QueueRet, Register, RegisterOp,
    RegisterRet,
};
use pirn_sim::{Strategy, campaign};

/// An operation for a generated history: its events are numbers of one sequence.
struct Planned<M: Model> {
    op: M::Op,
    invoked: usize,
    returned: Option<(usize, M::Ret)>,
}

/// Returns true if some order of operations explains the events before `until`. It tries each order
/// that respects time, of each subset of the operations without a result, with each outcome.
fn has_order<M: Model>(plan: &[Planned<M>], until: usize) -> bool {
    let plan: Vec<_> = plan.iter().filter(|it| it.invoked < until).collect();
    let mut order = Vec::new();
    let mut used = vec![false; plan.len()];
    extend(&plan, until, &mut order, &mut used)
}

fn extend<M: Model>(
    plan: &[&Planned<M>],
    until: usize,
    order: &mut Vec<usize>,
    used: &mut [bool],
) -> bool {
    let is_done = |it: &Planned<M>| it.returned.as_ref().is_some_and(|it| it.0 < until);
    let is_whole = (0..plan.len()).all(|index| used[index] || !is_done(plan[index]));
    if is_whole && explains(plan, until, order, &M::init()) {
        return true;
    }
    for index in 0..plan.len() {
        let is_before = |other: &usize| {
            let returned = plan[*other].returned.as_ref().map(|it| it.0);
            let returned = returned.filter(|at| *at < until);
            !used[*other] && returned.is_some_and(|at| at < plan[index].invoked)
        };
        if used[index] || (0..plan.len()).any(|other| is_before(&other)) {
            continue;
        }
        used[index] = true;
        order.push(index);
        let found = extend(plan, until, order, used);
        order.pop();
        used[index] = false;
        if found {
            return true;
        }
    }
    false
}

/// Returns true if the operations have their results in this order, from `state` on.
fn explains<M: Model>(
    plan: &[&Planned<M>],
    until: usize,
    order: &[usize],
    state: &M::State,
) -> bool {
    let Some((first, rest)) = order.split_first() else {
        return true;
    };
    let planned = plan[*first];
    let returned = planned.returned.as_ref().filter(|it| it.0 < until);
    M::step(state, &planned.op)
        .into_iter()
        .filter(|(ret, _)| returned.is_none_or(|it| it.1 == *ret))
        .any(|(_, after)| explains(plan, until, rest, &after))
}

/// Records the events before `until`.
fn record<M: Model>(plan: &[Planned<M>], until: usize) -> History<M>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let history = History::<M>::new();
    let mut pending: Vec<_> = plan.iter().map(|_| None).collect();
    for event in 0..until {
        for (index, it) in plan.iter().enumerate() {
            if it.invoked == event {
                pending[index] = Some(history.invoke(it.op.clone()));
            }
            if let Some((at, ret)) = &it.returned
                && *at == event
            {
                pending[index].take().unwrap().done(ret.clone());
            }
        }
    }
    history
}

/// The most events of a generated history.
const END: usize = 12;

/// Returns up to six operations of which at most three overlap at a time, with arbitrary results.
fn generate<M: Model>(
    rng: &mut Rng,
    draw: impl Fn(&mut Rng) -> (M::Op, M::Ret),
) -> Vec<Planned<M>> {
    let mut plan: Vec<Planned<M>> = Vec::new();
    let (mut open, mut rets) = (Vec::new(), Vec::new());
    let count = rng.usize(1..=6);
    for event in 0.. {
        let can_begin = plan.len() < count && open.len() < 3;
        if can_begin && (open.is_empty() || rng.bool()) {
            let (op, ret) = draw(rng);
            open.push(plan.len());
            rets.push(Some(ret));
            plan.push(Planned {
                op,
                invoked: event,
                returned: None,
            });
        } else if !open.is_empty() {
            let index = open.swap_remove(rng.usize(..open.len()));
            let ret = rets[index].take().filter(|_| rng.u8(..5) > 0);
            plan[index].returned = ret.map(|ret| (event, ret));
        } else {
            break;
        }
    }
    plan
}

/// Compares the checker with the search of all orders on 5,000 histories.
fn compare<M: Model>(seed: u64, draw: impl Fn(&mut Rng) -> (M::Op, M::Ret) + Copy)
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut rng = Rng::with_seed(seed);
    let (mut linearizable, mut not) = (0, 0);
    for _ in 0..5_000 {
        let plan = generate::<M>(&mut rng, draw);
        let result = record(&plan, END).check();
        let until = (0..=END).find(|until| !has_order(&plan, *until));
        let Some(until) = until else {
            assert_eq!(result, Ok(()));
            linearizable += 1;
            continue;
        };
        // The report is about the smallest prefix.
        let prefix = record(&plan, until).check();
        assert_eq!(result, prefix);
        assert!(prefix.is_err());
        assert_eq!(record(&plan, until - 1).check(), Ok(()));
        not += 1;
    }
    assert!(linearizable > 1_000 && not > 1_000, "{linearizable}, {not}");
}

// Proves: U20.
#[test]
fn registers_are_decided_as_by_a_search_of_all_orders() {
    compare::<Register<u8>>(1, |rng| {
        let op = match rng.u8(..3) {
            0 => RegisterOp::Read,
            1 => RegisterOp::Write(rng.u8(..3)),
            _ => RegisterOp::CompareAndSet(rng.u8(..3), rng.u8(..3)),
        };
        let ret = match op {
            RegisterOp::Read => RegisterRet::Value(rng.u8(..3)),
            RegisterOp::Write(_) => RegisterRet::Written,
            RegisterOp::CompareAndSet(..) => RegisterRet::Set(rng.bool()),
        };
        (op, ret)
    });
}

// Proves: U20.
#[test]
fn queues_are_decided_as_by_a_search_of_all_orders() {
    compare::<Queue<u8>>(2, |rng| match rng.bool() {
        true => (QueueOp::Enqueue(rng.u8(..2)), QueueRet::Enqueued),
        false => {
            let value = Some(rng.u8(..3)).filter(|value| *value < 2);
            (QueueOp::Dequeue, QueueRet::Dequeued(value))
        }
    });
}

// Proves: U20.
#[test]
fn maps_are_decided_as_by_a_search_of_all_orders() {
    let draw = |rng: &mut Rng| {
        let key = rng.u8(..2);
        let op = match rng.u8(..3) {
            0 => MapOp::Get(key),
            1 => MapOp::Insert(key, rng.u8(..2)),
            _ => MapOp::Remove(key),
        };
        let ret = Some(rng.u8(..4)).filter(|value| *value < 2);
        (op, ret)
    };
    compare::<WholeMap>(3, draw);
    // Parts have the same smallest prefix as the whole.
    let mut rng = Rng::with_seed(4);
    for _ in 0..5_000 {
        let plan = generate::<WholeMap>(&mut rng, draw);
        let parts = plan.iter().map(|it| Planned::<Map<u8, u8>> {
            op: it.op.clone(),
            invoked: it.invoked,
            returned: it.returned,
        });
        let parts: Vec<_> = parts.collect();
        let result = record(&parts, END).check();
        match (0..=END).find(|until| !has_order(&plan, *until)) {
            None => assert_eq!(result, Ok(())),
            Some(until) => {
                assert_eq!(result, record(&parts, until).check());
                assert!(result.is_err());
                assert_eq!(record(&parts, until - 1).check(), Ok(()));
            }
        }
    }
}

/// A map of two keys, as one part.
struct WholeMap;

impl Model for WholeMap {
    type Op = MapOp<u8, u8>;
    type Ret = Option<u8>;
    type State = [Option<u8>; 2];

    fn init() -> [Option<u8>; 2] {
        [None, None]
    }

    fn step(
        state: &[Option<u8>; 2],
        op: &MapOp<u8, u8>,
    ) -> impl IntoIterator<Item = (Option<u8>, [Option<u8>; 2])> {
        let mut after = *state;
        let (MapOp::Get(key) | MapOp::Insert(key, _) | MapOp::Remove(key)) = op;
        let entry = &mut after[usize::from(*key)];
        let before = *entry;
        match op {
            MapOp::Get(_) => {}
            MapOp::Insert(_, value) => *entry = Some(*value),
            MapOp::Remove(_) => *entry = None,
        }
        [(before, after)]
    }
}

/// Permits, of which an acquisition waits, and an attempt may fail without a reason.
struct Permits;

#[derive(Debug, Clone, Copy)]
enum PermitOp {
    Acquire,
    TryAcquire,
    Release,
}

impl Model for Permits {
    type Op = PermitOp;
    type Ret = bool;
    type State = u32;

    fn init() -> u32 {
        0
    }

    fn step(free: &u32, op: &PermitOp) -> impl IntoIterator<Item = (bool, u32)> {
        let acquired = free.checked_sub(1).map(|left| (true, left));
        match op {
            PermitOp::Acquire => acquired.into_iter().collect(),
            PermitOp::TryAcquire => {
                acquired.into_iter().chain([(false, *free)]).collect()
            }
            PermitOp::Release => vec![(true, free + 1)],
        }
    }
}

// Proves: U20.
#[test]
fn choices_and_waits_are_decided_as_by_a_search_of_all_orders() {
    compare::<Permits>(5, |rng| match rng.u8(..5) {
        0 => (PermitOp::Acquire, true),
        1 | 2 => (PermitOp::TryAcquire, rng.bool()),
        _ => (PermitOp::Release, true),
    });
}

/// Returns a history of 1,000 operations of four clients, of which each takes effect at its own
/// return, and the last read has a wrong result if `is_wrong`.
fn long_history(seed: u64, is_wrong: bool) -> History<Register<u32>> {
    let mut rng = Rng::with_seed(seed);
    let history = History::<Register<u32>>::new();
    let mut clients: Vec<_> = (0..4).map(|_| None).collect();
    let (mut value, mut begun, mut ended) = (0, 0, 0);
    while ended < 999 {
        let client = &mut clients[rng.usize(..4)];
        match client.take() {
            None if begun < 999 => {
                begun += 1;
                let op = match rng.u8(..3) {
                    0 => RegisterOp::Read,
                    1 => RegisterOp::Write(rng.u32(..5)),
                    _ => RegisterOp::CompareAndSet(rng.u32(..5), rng.u32(..5)),
                };
                *client = Some((history.invoke(op.clone()), op));
            }
            None => {}
            Some((pending, op)) => {
                ended += 1;
                pending.done(match op {
                    RegisterOp::Read => RegisterRet::Value(value),
                    RegisterOp::Write(new) => {
                        value = new;
                        RegisterRet::Written
                    }
                    RegisterOp::CompareAndSet(old, new) => {
                        let is_set = value == old;
                        value = if is_set { new } else { value };
                        RegisterRet::Set(is_set)
                    }
                });
            }
        }
    }
    let last = if is_wrong { value + 1 } else { value };
    history
        .invoke(RegisterOp::Read)
        .done(RegisterRet::Value(last));
    history
}

// Proves: U20-speed.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_thousand_operations_are_checked_in_time() {
    for seed in 0..5 {
        for is_wrong in [false, true] {
            let history = long_history(seed, is_wrong);
            let begun = Instant::now();
            let result = history.check();
            let took = begun.elapsed();
            assert_eq!(result.is_err(), is_wrong, "seed {seed}: {result:?}");
            let limit = if cfg!(debug_assertions) { 10 } else { 1 };
            assert!(took < Duration::from_secs(limit), "seed {seed}: {took:?}");
        }
    }
}

/// Runs two fibers that compare and set the same register, by `compare_and_set`.
fn two_clients(compare_and_set: fn(&Mutex<u32>, u32, u32) -> bool) {
    let (register, history) = (Arc::new(Mutex::new(0)), History::<Register<u32>>::new());
    let client = |new: u32| {
        let (register, history) = (Arc::clone(&register), history.clone());
        pirn::spawn(move || {
            let pending = history.invoke(RegisterOp::CompareAndSet(0, new));
            let is_set = compare_and_set(&register, 0, new);
            pending.done(RegisterRet::Set(is_set));
            let pending = history.invoke(RegisterOp::Read);
            let value = *register.lock();
            pending.done(RegisterRet::Value(value));
        })
    };
    let fibers = [client(1), client(2)];
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    history.check().unwrap();
}

// Proves: U20-campaign.
#[test]
fn a_campaign_finds_a_register_that_is_not_linearizable() {
    let failure = campaign().find(|| {
        two_clients(|register, old, new| {
            let is_equal = *register.lock() == old;
            if is_equal {
                *register.lock() = new;
            }
            is_equal
        });
    });
    let report = failure.unwrap().to_string();
    let parts = [
        "not linearizable",
        "client 1  [",
        "client 2  ",
        "-> Set(true)",
    ];
    for part in parts {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
    assert!(report.contains("PIRN_SIM_TRACE='1:"), "{report}");
}

// Proves: U20-campaign.
#[test]
fn a_linearizable_register_passes() {
    campaign().runs(500).check(|| {
        two_clients(|register, old, new| {
            let mut value = register.lock();
            let is_equal = *value == old;
            if is_equal {
                *value = new;
            }
            is_equal
        });
    });
}

/// Recording is no choice: fibers that only record have the schedules of fibers that do nothing.
// Proves: U20-campaign.
#[test]
fn recording_is_no_choice() {
    let schedules = |body: fn(&History<Register<u32>>)| {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let search = campaign().strategy(Strategy::Exhaustive { preemptions: 9 });
        search.check(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let history = History::new();
            let fiber = || {
                let history = history.clone();
                pirn::spawn(move || body(&history))
            };
            let fibers = [fiber(), fiber()];
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            history.check().unwrap();
        });
        runs.load(Ordering::Relaxed)
    };
    let recorded = schedules(|history| {
        history
            .invoke(RegisterOp::Write(7))
            .done(RegisterRet::Written);
        history.invoke(RegisterOp::Read).unknown();
    });
    assert_eq!(recorded, schedules(|_| ()));
}

/// The picture of a prefix: what comes after it is left out, and an operation that has not returned
/// in it is open.
// Proves: U20-report.
#[test]
fn a_report_shows_the_smallest_prefix() {
    let history = History::<Map<&str, u32>>::new();
    let other = history.clone();
    history.invoke(MapOp::Insert("b", 1)).done(None);
    let insert = history.invoke(MapOp::Insert("a", 7));
    thread::spawn(move || {
        other.invoke(MapOp::Get("a")).done(Some(7));
        let get = other.invoke(MapOp::Get("a"));
        other.invoke(MapOp::Remove("a")).unknown();
        get.done(None);
        other.invoke(MapOp::Get("a")).done(Some(7));
        other.invoke(MapOp::Get("a")).done(Some(8));
    })
    .join()
    .unwrap();
    insert.done(None);
    let expected = r#"
not linearizable: no order of these operations explains Get("a") -> Some(7)
    client 1  [Insert("a", 7) ...............................................
    client 2   [Get("a") -> Some(7)] [Get("a") -> None] [Get("a") -> Some(7)]
    client 2                          [Remove("a") .........................."#;
    let report = history.check().unwrap_err().to_string();
    assert_eq!(report, expected.trim_start(), "\n{report}");
}

/// Only the last operations of a long prefix are shown.
// Proves: U20-report.
#[test]
fn a_report_of_a_long_history_is_short() {
    let report = long_history(1, true).check().unwrap_err().to_string();
    assert!(report.lines().count() <= 8, "{report}");
    assert!(report.contains("after 988 operations"), "{report}");
}

/// Recording works on plain threads and on fibers of several workers at a time.
// Proves: U20-campaign.
#[test]
fn threads_and_fibers_share_a_history() {
    fn write<T: Debug + Send + Sync>(history: &History<Register<T>>, values: [T; 3])
    where
        Register<T>: Model<Op = RegisterOp<T>, Ret = RegisterRet<T>>,
    {
        for value in values {
            history
                .invoke(RegisterOp::Write(value))
                .done(RegisterRet::Written);
        }
    }
    let history = History::<Register<u32>>::new();
    let begin = |number| {
        let history = history.clone();
        move || write(&history, [number, number + 1, number + 2])
    };
    let threads: Vec<_> = [10, 20].map(|it| thread::spawn(begin(it))).into();
    let fibers: Vec<_> = [30, 40].map(|it| pirn::spawn(begin(it))).into();
    threads.into_iter().for_each(|it| it.join().unwrap());
    fibers.into_iter().for_each(|it| it.join().unwrap());
    assert!(history.check().is_ok());
    history.invoke(RegisterOp::Read).done(RegisterRet::Value(1));
    let report = history.check().unwrap_err().to_string();
    for client in 1..=5 {
        assert!(report.contains(&format!("client {client}  ")), "{report}");
    }
}

//! What the library promises, tested through its public face. One module a promise.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "fibers are tested beside plain threads and against the real clock"
)]

/// Traffic on channels that ends in the middle, for storms short and long.
mod channel_games;
/// The same jobs as fibers, as threads, as both: what the other modules run on.
mod crew;
/// Trees of joins drawn by a seed, halves that wait for each other, runtimes that end meanwhile.
mod par_games;
/// Numbers to be sorted.
mod par_patterns;
/// Runtimes of every shape, parts of tests in processes of their own, what the system says.
mod rig;
/// Games in which some of the players are cancelled at random.
mod strike;
/// Fibers with names, and what reports say of them.
mod told;
/// What a trace must be so that viewers show all of it.
mod trace_format;
/// Connections over the loopback, and what goes through them.
#[cfg(unix)]
mod wires;

/// Futures that fibers and threads wait for, and waits inside polls.
mod futures;

/// Where polls run.
mod futures_aside;

/// Channels and fibers awaited by whatever polls.
mod futures_async;

/// Receivers of other kinds of channels, awaited.
mod futures_kinds;

/// hyper's servers and clients on fibers.
#[cfg(all(unix, not(any(pirn_asan, pirn_tsan))))]
mod futures_hyper;

/// Parts that the tests of futures share.
mod futures_rig;

/// Channels as streams.
mod futures_streams;

/// Moments as futures.
mod futures_sleep;

/// Streams that are polled.
#[cfg(unix)]
mod futures_sockets;

/// tokio's futures on fibers, and the other way round.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
mod futures_tokio;

/// Barriers: all wait for all, and one leads.
mod barrier;
/// Calls that block, off the workers.
mod blocking;
/// Runtimes without workers: the thread that drives them is the one that runs their fibers.
mod by_hand;
/// Tokens form a tree; cancelling one interrupts what is under it.
mod cancel;
/// Values arrive once, in order, or come back; what close and disconnect mean.
mod channel;
/// What goes in comes out, counted, whoever is at either end.
mod channel_counts;
/// How channels end, who sees what of it, and where values go.
mod channel_ends;
/// Each kind of channel is what its name says.
mod channel_kinds;
/// Channels and selects beside the simplest thing that does the same.
mod channel_oracle;
/// Channels under load: nothing lost, nothing twice, whatever the capacity and the crew.
mod channel_storm;
/// What is counted, and what the numbers must agree on.
mod counters;
/// A deadline ends the waits of the code that it was set for, and no others.
mod deadline;
/// One seed, one trace; time that passes is virtual and takes none.
mod deterministic;
/// Closures go where they are sent, within the bounds, and nothing is lost on the way.
mod dispatcher;
/// So many at a time and no more, each for as long as it counts.
mod dispatcher_bounds;
/// What a dump says, and who may ask for one.
mod dumps;
/// More threads while workers are stuck, and no more than that; fewer when asked for.
mod elastic;
/// Events: for all who wait, or for one.
mod event;
/// No source of work shuts another one out.
mod fairness;
/// A value belongs to its fiber and goes with it.
mod fiber_local;
/// How soon, in figures.
mod figures;
/// The same where threads block.
mod figures_elastic;
/// Files and directories: as `std` has them, off the workers.
#[cfg(unix)]
mod files;
/// Files that are not in memory, read by the system itself or by a thread.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "has the system forget files and refuse calls")]
mod files_queued;
/// Code that knows nothing of fibers waits behind a channel, and is ended in time.
mod foreign_code;
#[expect(unsafe_code, reason = "lets fibers migrate")]
mod free;
/// Graphs of tasks that say what they read and write.
mod graph;
/// Random graphs beside the definition of what they do.
mod graph_random;
/// Fibers that belong to a value.
mod groups;
/// Virtual time is held for what takes real time.
#[cfg(unix)]
mod held_time;
/// What runs on a worker's thread before its first fiber and after its last.
mod hooks;
/// What a runtime answers on its socket, whom, and until when.
#[cfg(unix)]
mod inspect;
/// Snapshots of many fibers: in pieces, each fiber once, and marked if something is left out.
#[cfg(unix)]
#[expect(unsafe_code, reason = "promises that fibers may migrate")]
mod inspect_walk;
/// Ticks at equal distances, and what becomes of those that nobody took.
mod interval;
/// The result is there when a join returns, for however many that wait.
mod join;
/// Waiting on a number, which anybody may build on.
mod keyed;
/// Signals are received from a channel.
mod listen;
/// A fiber that finds no stack runs on that of one that waits for its end.
mod loans;
/// What is done once, whoever comes first and however it goes.
mod once;
/// Reader-writer locks and semaphores against the simplest thing that does the same.
mod oracles;
/// Joins, loops and sorts on a runtime that ends.
mod par_ends;
/// Two halves, in parallel if somebody has nothing to do.
mod par_join;
/// Fibers of parallel work are told by the line that asked for it.
mod par_lines;
/// A panic in parallel work comes out where it was asked for; nothing is lost or dropped twice.
mod par_panics;
/// What holds for the code of a join, and for whom.
mod par_regions;
/// Parallel work comes to what a loop comes to.
mod par_results;
/// Lengths of parallel work, and work that takes a while or panics.
mod par_rig;
/// Sorted is sorted, and equal items stay in order.
mod par_sorts;
/// Trees of joins in which halves panic, wait, are shielded and cancelled.
mod par_storm;
/// Parallel work among fibers: it may wait, be interrupted, nest, come from threads.
mod par_waits;
/// Which worker starts a fiber: stealing, staying together.
mod placement;
/// Things that are lent and come back.
mod pool;
/// Child processes: their ends, their pipes, and who waits for them.
#[cfg(unix)]
mod process;
/// Reports on fibers: who they are, where they wait, what for.
mod reports;
/// Runtimes side by side, of every shape, and how they end.
mod runtimes;
/// Reader-writer locks: who is inside together, who goes on next, who gives up.
mod rwlock;
/// No thread to be had: the others do the work.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
mod scarcity;
/// Children may borrow; a scope ends when all of them have.
mod scope;
/// Planted bugs that a sanitizer must report.
#[cfg(any(pirn_asan, pirn_tsan))]
mod seeded;
/// One of several things, and nothing of the others.
mod select;
/// Which case wins, what becomes of the others, what may be in a select.
mod select_rules;
/// Semaphores: never more than there are, in order, whatever the size of a request.
mod semaphore;
/// In time, with everything ended that can be, and the rest named.
mod shutdown;
/// A signal cancels, for as long as that is wanted.
mod signals;
/// A fiber that holds others up is named, once.
mod slow_fiber;
/// No descriptor to be had: who accepts waits, and goes on as soon as there is one.
#[cfg(unix)]
mod socket_starved;
/// Many sockets at once: deadlines, numbers that are used again, workers that are stuck.
#[cfg(unix)]
mod socket_storms;
/// Each source of work is served within a bound.
mod sources;
/// Where fibers settle, by what those of their spawn line have done.
mod spread;
mod spread_ordered;
mod spread_stuck;
/// Fibers that keep their worker while others wait are reported, with the reason and the remedy.
#[cfg(all(target_os = "linux", not(pirn_free)))]
mod stalls;
/// What fibers and workers do, by name, and in which order.
mod states;
/// Standard input and output, and copying.
#[cfg(unix)]
mod stdio;
/// Channels and selects whose users are cancelled at random.
mod storm_channels;
/// Joins, sleeps, scopes, groups, calls elsewhere: the same.
mod storm_ends;
/// Locks, permits and meeting points: the same.
mod storm_locks;
/// Runtimes, dispatchers and scopes that end amid everything.
mod storm_shapes;
/// Scopes that fail, are supervised, are raced; groups that are values.
mod structure;
/// Mutex, condition variable and wait group: who goes on, when, and in which order.
mod sync;
/// The same under load: nobody inside twice, nobody forgotten.
mod sync_storm;
/// No wait ends early, and none much too late.
mod timers;
/// Tokens form a tree; who is under one is told of its end.
mod tokens;
/// The trace of a run: all of it, once, connected.
mod trace;
/// Tests that cannot end fail with their seed.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
mod trials;
/// Reader-writer locks, semaphores, cells, events and keys under load.
mod turns_storm;
/// Tests that cannot measure on this machine.
mod unmeasured;
/// A panic that nobody sees is told.
mod unseen_panics;
/// The ways to hand work to a task system.
mod use_cases;
/// Waiting for things of one's own, and what tickets may do.
mod waitable;
/// Work that comes is taken, whenever it comes; nobody is woken in vain.
mod wakes;

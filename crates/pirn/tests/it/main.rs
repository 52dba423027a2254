//! The promises of the library, tested through its public interface. One module for each promise.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "fibers are tested beside plain threads and against the real clock"
)]

/// Games in which some of the players are cancelled at random.
mod cancel_fuzz;
/// Channels that close in the middle of traffic, for storms short and long.
mod channel_games;
/// The same jobs as fibers, as threads, as both: used by the other modules.
mod executor_kind;
/// Trees of joins drawn by a seed, halves that wait for each other, runtimes that end meanwhile.
mod par_games;
/// Numbers to sort.
mod par_patterns;
/// Fibers with names, and their lines in reports.
mod report_util;
/// Connections over the loopback, and the data on them.
#[cfg(unix)]
mod sockets_util;
/// The rules of the trace format, so that viewers show all of a trace.
mod trace_format;
/// Runtimes of every shape, parts of tests in processes of their own, the system's statistics.
mod util;

/// Futures that fibers and threads wait for, and waits inside polls.
mod futures;

/// Where polls run.
mod futures_aside;

/// Channels and fibers awaited by any poller.
mod futures_async;

/// Receivers of other kinds of channels, awaited.
mod futures_kinds;

/// hyper's servers and clients on fibers.
#[cfg(all(unix, not(any(pirn_asan, pirn_tsan))))]
mod futures_hyper;

/// Parts that the tests of futures share.
mod futures_fixture;

/// Channels as streams.
mod futures_streams;

/// Sleeps and deadlines as futures.
mod futures_sleep;

/// Streams that are polled.
#[cfg(unix)]
mod futures_sockets;

/// tokio's futures on fibers, and fibers in tokio's tasks.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
mod futures_tokio;

/// Barriers: all wait for all, and one leads.
mod barrier;
/// Blocking calls, off the workers.
mod blocking;
/// Fibers that never have to wait.
mod busy_loops;
/// Runtimes without workers: the thread that drives them runs their fibers.
mod by_hand;
/// Tokens form a tree; cancelling one interrupts the code under it.
mod cancel;
/// Values arrive once, in order, or are returned; the meaning of close and disconnect.
mod channel;
/// Broadcasts and watched values.
mod channel_broadcast;
/// A bounded channel is closed by a call, or by the end of one side.
mod channel_close;
/// Senders that wait until nothing more can be sent.
mod channel_closed;
/// Each value that is sent is received, counted, at all kinds of ends.
mod channel_counts;
/// How channels end, what each side sees, and where values go.
mod channel_ends;
/// Each kind of channel behaves as its name says.
mod channel_kinds;
/// Channels and selects compared with the simplest equivalent.
mod channel_oracle;
/// Results of ordered work come in the order of submission.
mod channel_ordered;
/// Channels under load: no value lost or doubled, with any capacity and any kinds of parties.
mod channel_storm;
/// The counters, and the equations between them.
mod counters;
/// A deadline ends the waits of the code that it was set for, and no others.
mod deadline;
/// The default runtime is created once, or installed before its first use.
mod default_runtime;
/// One seed, one trace; virtual time passes without real time.
mod deterministic;
/// Closures run where they are sent, within the bounds, and none is lost.
mod dispatcher;
/// Limits on concurrent fibers, and how long each is counted.
mod dispatcher_bounds;
/// The content of a dump, and where it may be requested.
mod dumps;
/// More threads while workers are stuck, up to the bound; fewer on request.
mod elastic;
/// Errors of this library as errors of I/O.
mod error_kinds;
/// Events: for all waiters, or for one.
mod event;
/// No source of work starves another one.
mod fairness;
/// A value belongs to its fiber and is dropped with it.
mod fiber_local;
/// Delays, in figures.
mod figures;
/// The same with blocked threads.
mod figures_elastic;
/// Files and directories: as in `std`, off the workers.
#[cfg(unix)]
#[expect(unsafe_code, reason = "makes a file of a raw descriptor")]
mod files;
/// Locks of files: as in `std`, with waits off the workers.
#[cfg(unix)]
mod files_lock;
/// Uncached files, read by the system itself or by a thread.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "has the system forget files and refuse calls")]
mod files_queued;
/// Reads of files, also of data in memory.
#[cfg(unix)]
mod files_reads;
/// The threads on which file operations run.
#[cfg(unix)]
mod files_threads;
/// Code without knowledge of fibers waits behind a channel, and is ended in time.
mod foreign_code;
/// Children of `fork` that run no other program.
#[cfg(all(unix, not(any(pirn_asan, pirn_tsan))))]
#[expect(unsafe_code, reason = "forks")]
mod forks;
#[expect(unsafe_code, reason = "lets fibers migrate")]
mod free;
/// Fibers that may migrate: waits amid a panic, joins, borrowed stacks.
mod free_waits;
/// Graphs of tasks that declare their reads and writes.
mod graph;
/// Panics, interrupts and shutdowns during the run of a graph.
mod graph_ends;
/// Random graphs compared with their definition.
mod graph_random;
/// Fibers that belong to a value.
mod groups;
/// Virtual time is held during waits for real events.
#[cfg(unix)]
mod held_time;
/// Code on a worker's thread before its first fiber and after its last.
mod hooks;
/// Answers of a runtime on its socket, the allowed clients, and the end.
#[cfg(unix)]
mod inspect;
/// The path of the socket, the allowed clients, and those that misbehave.
#[cfg(unix)]
mod inspect_access;
/// Runtimes with a socket come and go.
#[cfg(unix)]
mod inspect_ends;
/// A snapshot of a hundred thousand fibers: the delay of the others.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
mod inspect_many;
/// Snapshots of many fibers: in pieces, each fiber once, and with omissions marked.
#[cfg(unix)]
#[expect(unsafe_code, reason = "promises that fibers may migrate")]
mod inspect_walk;
/// Every call that waits, under everything that interrupts.
#[cfg(unix)]
#[expect(unsafe_code, reason = "promises that fibers may migrate")]
mod interrupts;
/// The calls that wait.
#[cfg(unix)]
mod interrupts_calls;
/// What interrupts them.
#[cfg(unix)]
mod interrupts_sources;
/// Ticks at equal distances, and the policy for missed ones.
mod interval;
/// The result is available when a join returns, for any number of joiners.
mod join;
/// The order of children and of the fiber that joins them.
mod join_siblings;
/// Waiting on a number, as a base for primitives of the user.
mod keyed;
/// Signals are received from a channel.
mod listen;
/// A fiber without a stack runs on that of a fiber that waits for its end.
mod loans;
/// Stacks beyond the bound: their size, number and end.
mod loans_stacks;
/// Which waits borrow a stack for a fiber, and how they end.
mod loans_waits;
/// Guards of parts of locked values; what notifications, permits and `Once` return.
mod lock_parts;
/// The attributes `main` and `test`.
mod macros;
/// Initialization that happens once, in any order of callers and with any outcome.
mod once;
/// Reader-writer locks and semaphores compared with the simplest equivalent.
mod oracles;
/// Chunks of the same length, and chunks from the end.
mod par_chunks;
/// Halves that know whether they have moved to another thread.
mod par_context;
/// The places at which loops cut their items.
mod par_cuts;
/// Joins, loops and sorts on a runtime that ends.
mod par_ends;
/// Lengths of parallel work, and work that takes a while or panics.
mod par_fixture;
/// Two halves, in parallel if a worker is idle.
mod par_join;
/// Fibers of parallel work are reported with the line that requested it.
mod par_lines;
/// A panic in parallel work propagates to the caller; nothing is lost or dropped twice.
mod par_panics;
/// The regions of the code of a join, and to which half they apply.
mod par_regions;
/// Parallel work has the result of the equivalent loop.
mod par_results;
/// The result is sorted, and equal items stay in order.
mod par_sorts;
/// Trees of joins in which halves panic, wait, are shielded and cancelled.
mod par_storm;
/// Parallel work among fibers: it may wait, be interrupted, nest, and be called on threads.
mod par_waits;
/// Workers that are pinned to a processor each.
#[cfg(target_os = "linux")]
mod pinned;
/// Which worker starts a fiber: stealing, locality.
mod placement;
/// Objects that are lent and returned.
mod pool;
/// Child processes: their ends, their pipes, and waits for them.
#[cfg(unix)]
mod process;
/// Handles of child processes: pipes by value, pipes from elsewhere, and kills on drop.
#[cfg(unix)]
mod process_handles;
/// Settings of commands that exist on Unix, and the replacement of this process.
#[cfg(unix)]
mod process_unix;
/// The line of a wait in a report, for each reason.
#[cfg(all(unix, not(any(pirn_asan, pirn_tsan))))]
mod report_lines;
/// Reports on fibers: their names, where they wait, and what for.
mod reports;
/// Runtimes side by side, of every shape, and how they end.
mod runtimes;
/// Reader-writer locks: concurrent holders, the next holder, waiters that give up.
mod rwlock;
/// No thread can be created: the others do the work.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
mod scarcity;
/// Children may borrow; a scope ends when all of them have.
mod scope;
mod scope_edges;
/// Planted bugs that a sanitizer must report.
#[cfg(any(pirn_asan, pirn_tsan))]
mod seeded;
/// One of several operations, and no effect of the others.
mod select;
/// Which case wins, the effect on the others, and allowed contents of a select.
mod select_rules;
/// Semaphores: never more permits than exist, in order, with requests of any size.
mod semaphore;
/// In time, with every fiber ended that can be, and the rest named.
mod shutdown;
/// A signal cancels, as long as its guard lives.
mod signals;
/// A fiber that delays others is named, once.
mod slow_fiber;
/// Connections to addresses of the system, which need not be paths.
#[cfg(unix)]
mod socket_addresses;
/// Operations on sockets that do not wait find what is there.
#[cfg(unix)]
mod socket_looks;
/// Sockets that do not wait for their user.
#[cfg(unix)]
mod socket_modes;
/// No descriptor is available: `accept` waits, and resumes as soon as there is one.
#[cfg(unix)]
mod socket_starved;
/// Many sockets at once: deadlines, reused descriptors, stuck workers.
#[cfg(unix)]
mod socket_storms;
/// Each source of work is served within a bound.
mod sources;
/// Where fibers settle, by the history of their spawn line.
mod spread;
/// Fibers that compute or block start apart.
mod spread_apart;
mod spread_ordered;
/// Pools of fibers are spread over the workers.
mod spread_pools;
mod spread_stuck;
/// Fibers that keep their worker while others wait are reported, with the reason and the remedy.
#[cfg(all(target_os = "linux", not(pirn_free)))]
mod stalls;
/// States of fibers and workers, by name, and their order.
mod states;
/// Standard input and output, and copying.
#[cfg(unix)]
mod stdio;
/// Channels and selects with users that are cancelled at random.
mod storm_channels;
/// The same for joins, sleeps, scopes, groups, calls elsewhere.
mod storm_ends;
/// The same for locks, permits and meeting points.
mod storm_locks;
/// Runtimes, dispatchers and scopes that end amid activity.
mod storm_shapes;
/// Scopes that fail, are supervised, are raced; groups that are values.
mod structure;
/// Mutex, condition variable and wait group: which waiter proceeds, when, and in which order.
mod sync;
/// The same under load: never two holders, no waiter forgotten.
mod sync_storm;
/// No wait ends early, and none much too late.
mod timers;
/// Tokens form a tree; the code under one is notified of its cancellation.
mod tokens;
/// The trace of a run: complete, without duplicates, connected.
mod trace;
/// Tests that cannot end fail with their seed.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
mod trials;
/// Reader-writer locks, semaphores, cells, events and keys under load.
mod turns_storm;
/// Sockets within the machine.
#[cfg(unix)]
mod unix_edges;
/// Tests that cannot measure on this machine.
#[path = "../../src/base/tests/unmeasured.rs"]
mod unmeasured;
/// An unobserved panic is reported.
mod unseen_panics;
/// Files, sockets and children cross `catch_unwind`, as those of `std` do.
#[cfg(unix)]
mod unwind_safety;
/// Readers with the right to upgrade.
mod upgradable;
/// The ways to submit work to a task system.
mod use_cases;
/// Code that runs on another fiber than its caller.
mod visits;
/// Waiting with primitives of the user, and rules for tickets.
mod waitable;
/// Work is taken whenever it arrives; no worker is woken in vain.
mod wakes;

//! Runtimes: creating, configuring and ending a set of workers.
//!
//! A [`Runtime`] is a set of workers as a value; a [`Builder`] configures one. A [`Handle`] spawns
//! fibers on it. [`run`] and [`spawn`](crate::spawn()) use the default runtime, which is created
//! when it is first needed. [`test()`] runs a test on a runtime of its own, with virtual time.
//!
//! # Examples
//! ```
//! let runtime = pirn::Runtime::builder().name("web").workers(2).build()?;
//! let sum = runtime.run(|| {
//!     let half = pirn::spawn(|| (1..=50).sum::<u32>());
//!     (51..=100).sum::<u32>() + half.join().unwrap()
//! });
//! assert_eq!(sum, 5_050);
//! # Ok::<(), std::io::Error>(())
//! ```

#[expect(unsafe_code, reason = "a method with a contract that the caller keeps")]
mod builder;
mod by_hand;
mod diagnostics;
mod environment;
mod global;
mod handle;
mod instance;
mod overflow;
mod settings;
mod size;
mod testing;
#[cfg(all(feature = "tokio", not(pirn_modelled)))]
mod tokio;
mod watching;

pub use crate::fiber::panic_payload::PanicInfo;
pub use crate::observe::Deadlock;
pub use crate::sched::config::Scheduler;
pub use crate::sched::placement::lines::Spread;
pub use builder::Builder;
pub(crate) use environment::MOST_WORKERS;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) use environment::set_hooks_linked;
pub use global::{InstallError, run, shutdown_default};
pub use handle::Handle;
pub(crate) use handle::visit;
pub use instance::{Runtime, Unfinished};
pub use testing::test;

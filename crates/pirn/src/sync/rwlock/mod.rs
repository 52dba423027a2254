//! The reader-writer lock and its guards.

mod guard;
mod lock;
mod upgradable;

pub use guard::{RwLockReadGuard, RwLockWriteGuard};
pub use lock::RwLock;
pub use upgradable::RwLockUpgradableReadGuard;

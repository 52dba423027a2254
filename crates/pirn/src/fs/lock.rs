//! Locks of files, which exclude other processes and other handles.

// Owns: which calls for a lock are handed over, and to which threads. A call for a free lock is
// made like any other call on a file. Only if the lock is taken is a second call, which waits,
// handed to the threads of `blocking`. So however many fibers wait, the holder's calls on files,
// and calls for other locks that are free, find a thread. A release is made in place, so it needs
// none. Does not own: the threads (`blocking`).
//
// Rejected: repeated attempts at intervals, as in `pirn-hooks`. They can be interrupted. But each
// attempt wakes the worker, and processes that block in the system call get the lock first.

use std::fs;
use std::io;

use super::{File, TryLockError};
use crate::blocking::{file_call, lock_call};

impl File {
    /// Waits until the file's lock is free and takes it exclusively, like
    /// [`std::fs::File::lock`].
    ///
    /// The lock belongs to the open file: other processes are excluded, and so are other fibers
    /// with a handle of their own. A [clone](File::try_clone) shares the lock. The lock is
    /// advisory: reads and writes do not check it. [`unlock`](File::unlock) releases it, and so
    /// does the drop of the last handle.
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made. The wait itself cannot be interrupted, not
    /// even by a [`timeout`](crate::timeout()) around it: the system has no call that removes a
    /// waiter. For a wait with a limit, or one that can be cancelled, repeat
    /// [`try_lock`](File::try_lock). Each attempt is handed to a thread, so sleep in between:
    ///
    /// ```
    /// use std::{io, time::Duration};
    /// use pirn::fs::{File, TryLockError};
    ///
    /// fn lock_within(file: &File, limit: Duration) -> io::Result<()> {
    ///     pirn::timeout(limit, || {
    ///         while let Err(error) = file.try_lock() {
    ///             match error {
    ///                 TryLockError::WouldBlock => pirn::sleep(Duration::from_millis(5))?,
    ///                 TryLockError::Error(error) => return Err(error),
    ///             }
    ///         }
    ///         io::Result::Ok(())
    ///     })? // of kind `TimedOut`
    /// }
    /// # let path = std::env::temp_dir().join(format!("pirn-doc-within-{}", std::process::id()));
    /// # let (one, other) = (File::create(&path)?, File::open(&path)?);
    /// # one.lock()?;
    /// # let refused = pirn::run(|| lock_within(&other, Duration::from_millis(10)));
    /// # assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::TimedOut);
    /// # one.unlock()?;
    /// # lock_within(&other, Duration::from_secs(10))?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), io::Error>(())
    /// ```
    ///
    /// # Blocking
    /// Waits without a limit. Parks a fiber, blocks a plain thread. While a fiber waits, it
    /// occupies one of the 64 threads of [`blocking`](crate::blocking()). So with 64 waiters, calls
    /// of `blocking` wait until one of them has its lock. If that many may wait, the holder must
    /// neither call `blocking` nor wait for code that does. Its calls on files have threads of
    /// their own.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-lock-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let count = pirn::run(|| {
    ///     fs::write(&path, "0")?;
    ///     pirn::scope::try_scope(|s| {
    ///         for _ in 0..4 {
    ///             drop(s.spawn(|| {
    ///                 let file = File::open(&path)?;
    ///                 file.lock()?;
    ///                 let count: u32 = fs::read_to_string(&path)?.parse().expect("a number");
    ///                 fs::write(&path, (count + 1).to_string())?;
    ///                 file.unlock()
    ///             }));
    ///         }
    ///         Ok::<(), std::io::Error>(())
    ///     })?;
    ///     fs::read_to_string(&path)
    /// })?;
    /// assert_eq!(count, "4");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "flock")]
    #[doc(alias = "lock_exclusive")]
    #[doc(alias = "LockFileEx")]
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        self.lock_by(fs::File::try_lock, fs::File::lock)
    }

    /// Waits until the file has no exclusive lock and takes a shared one, like
    /// [`std::fs::File::lock_shared`]. Any number of handles may have one.
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// As for [`lock`](File::lock).
    ///
    /// # Blocking
    /// As for [`lock`](File::lock).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-lock-shared-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let (one, other) = (File::open(&path)?, File::open(&path)?);
    /// one.lock_shared()?;
    /// other.lock_shared()?;
    /// assert_eq!(fs::read(&path)?, b"some text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        self.lock_by(fs::File::try_lock_shared, fs::File::lock_shared)
    }

    /// Takes the file's lock exclusively if it is free, like [`std::fs::File::try_lock`].
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`]: another handle has a lock. [`TryLockError::Error`]: the errors
    /// of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File, TryLockError};
    ///
    /// let name = format!("pirn-doc-file-try-lock-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let (one, other) = (File::create(&path)?, File::open(&path)?);
    /// one.try_lock()?;
    /// assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        let attempt = file_call(|| Ok(self.as_std().try_lock()));
        attempt.unwrap_or_else(|error| Err(TryLockError::Error(error)))
    }

    /// Takes a shared lock if the file has no exclusive one, like
    /// [`std::fs::File::try_lock_shared`].
    ///
    /// # Errors
    /// As for [`try_lock`](File::try_lock).
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File, TryLockError};
    ///
    /// let name = format!("pirn-doc-file-try-shared-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let (one, other) = (File::create(&path)?, File::open(&path)?);
    /// one.try_lock_shared()?;
    /// other.try_lock_shared()?;
    /// assert!(matches!(one.try_lock(), Err(TryLockError::WouldBlock)));
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        let attempt = file_call(|| Ok(self.as_std().try_lock_shared()));
        attempt.unwrap_or_else(|error| Err(TryLockError::Error(error)))
    }

    /// Releases the lock that this handle or a clone has taken, like [`std::fs::File::unlock`].
    ///
    /// The call is made in place, like the close of a dropped file.
    ///
    /// # Errors
    /// The errors of the `std` function.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-unlock-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let (one, other) = (File::create(&path)?, File::open(&path)?);
    /// one.lock()?;
    /// one.unlock()?;
    /// other.try_lock()?;
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn unlock(&self) -> io::Result<()> {
        self.as_std().unlock()
    }

    /// Calls `attempt`, and `wait` if the lock is not free.
    #[track_caller]
    fn lock_by(
        &self,
        attempt: fn(&fs::File) -> Result<(), TryLockError>,
        wait: fn(&fs::File) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.as_std();
        match file_call(|| Ok(attempt(file)))? {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => lock_call(|| wait(file)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

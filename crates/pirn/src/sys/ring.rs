//! Reads that the system makes while the calling fiber waits: io_uring.
//!
//! Owns: one ring, that is two queues shared with the system. Does not own: when to look for
//! completions, and what waits for one (`sched::io::queued`).
//!
//! Only the thread that created the ring submits. Completions wait until that thread fetches them
//! (`DEFER_TASKRUN`), so the system interrupts no thread. When the first completion is pending, the
//! system writes to an eventfd. (Polling the ring's own descriptor is not enough: in this mode
//! Linux 6.18 does not report pending completions there.)
//!
//! A read is submitted at once, so the queue of submissions is empty between calls; a system call
//! for each is cheap compared with a disk. The queue of completions has a place for each read that
//! is under way.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::{IoUring, opcode, types};

use crate::shim;

/// The most reads under way: twice the number that Linux gives to a disk at once, and 4 KiB for
/// their completions.
const MOST: u32 = 256;

/// One ring, for the thread that created it.
pub(crate) struct Ring {
    ring: RefCell<IoUring>,
    under_way: Cell<u32>,
    /// The system accepts no more reads: a filter has been installed since.
    is_closed: Cell<bool>,
}

impl Ring {
    /// Creates a ring that writes to the eventfd `bell`, which stays open as long as the ring.
    ///
    /// # Errors
    /// The system does not support it (Linux before 6.1), a filter forbids it, or there is no
    /// memory or descriptor for it.
    pub(crate) fn new(bell: RawFd) -> io::Result<Ring> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .dontfork()
            .setup_cqsize(MOST)
            .build(1)?;
        ring.submitter().register_eventfd(bell)?;
        Ok(Ring {
            ring: RefCell::new(ring),
            under_way: Cell::new(0),
            is_closed: Cell::new(false),
        })
    }

    /// Returns the number of reads without a completion.
    pub(crate) fn under_way(&self) -> u32 {
        self.under_way.get()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.under_way.get() < MOST && !self.is_closed.get()
    }

    /// Submits a read at this position of the file. The caller has checked that there is room.
    /// False if the system refuses: then it touches nothing.
    ///
    /// # Safety
    /// The bytes of `into` must stay valid, and only the system may touch them, until
    /// [`reap`](Self::reap) has named the read, or indefinitely if it never does: also after the
    /// ring is dropped.
    pub(crate) unsafe fn read(
        &self,
        file: &File,
        into: &mut [u8],
        at: u64,
        name: u64,
    ) -> bool {
        let len = u32::try_from(into.len()).unwrap_or(u32::MAX);
        let file = types::Fd(file.as_raw_fd());
        let read = opcode::Read::new(file, into.as_mut_ptr(), len).offset(at);
        let read = read.build().user_data(name);
        let mut ring = self.ring.borrow_mut();
        // SAFETY: the caller's promise.
        unsafe { ring.submission().push(&read) }
            .expect("the queue is empty between calls");
        loop {
            match ring.submit() {
                Ok(1) => break,
                // Lack of memory, as at the first touch of a page. That touch also waits in place
                // until there is memory or the system ends the process.
                Ok(_) => {}
                Err(error) if is_passing(&error) => {}
                Err(_) => {
                    self.is_closed.set(true);
                    return false;
                }
            }
            shim::thread::yield_now();
        }
        self.under_way.set(self.under_way.get() + 1);
        true
    }

    /// Passes each completed read to `done`: its name, and the number of bytes or a negative error.
    /// `done` must not call this.
    pub(crate) fn reap(&self, mut done: impl FnMut(u64, i32)) {
        let mut ring = self.ring.borrow_mut();
        /// `IORING_ENTER_GETEVENTS`: puts pending completions into the queue.
        const FETCH: u32 = 1;
        let mut in_vain = 0;
        while in_vain < VAIN {
            in_vain += 1;
            // SAFETY: nothing is submitted, and no mask is passed. The call does not fail.
            let _ =
                unsafe { ring.submitter().enter::<libc::sigset_t>(0, 0, FETCH, None) };
            for complete in ring.completion() {
                in_vain = 0;
                self.under_way.set(self.under_way.get() - 1);
                done(complete.user_data(), complete.result());
            }
            // LIVENESS: since Linux 6.13 one call processes a part of the pending work, and while a
            // part is left the bell may stay silent. The flag alone proves nothing. The system sets
            // it after it has queued a part, which may be done by then, and clears it only when it
            // finds a part.
            if !ring.submission().taskrun() {
                break;
            }
        }
    }
}

/// Calls in a row without a completion after which the flag counts as stale. One call processes at
/// least 20 parts; arbitrary otherwise.
const VAIN: u32 = 16;

/// Returns whether the same call may succeed a moment later.
fn is_passing(error: &io::Error) -> bool {
    let passing = [libc::EAGAIN, libc::EBUSY, libc::EINTR, libc::ENOMEM];
    error
        .raw_os_error()
        .is_some_and(|code| passing.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::tests::unmeasured::unmeasured;
    use crate::sys::calls;
    use std::io::{Read, Write, pipe};
    use std::os::fd::OwnedFd;

    /// A read is under way until its bytes are there; then it is named once.
    // Proves: N5-X-queued.
    #[test]
    fn a_read_is_named_when_it_is_complete() {
        let bell = bell();
        let Ok(ring) = Ring::new(bell.as_raw_fd()) else {
            return unmeasured("the system refuses io_uring");
        };
        let (reader, mut writer) = pipe().expect("a pipe");
        let reader = File::from(OwnedFd::from(reader));
        let mut buffer = [0; 4];
        // SAFETY: the buffer stays until the read is named, below.
        assert!(unsafe { ring.read(&reader, &mut buffer, 0, 7) });
        let reaped = || {
            let mut reaped = Vec::new();
            ring.reap(|name, result| reaped.push((name, result)));
            reaped
        };
        assert_eq!((reaped(), ring.under_way()), (vec![], 1));
        assert!(!has_rung(&bell));
        writer.write_all(b"abc").expect("a pipe");
        assert!(has_rung(&bell));
        assert_eq!((reaped(), ring.under_way()), (vec![(7, 3)], 0));
        assert_eq!((reaped(), &buffer), (vec![], b"abc\0"));
    }

    /// One call to the system may process a part of the completions. The rest is fetched all the
    /// same, since no bell reports it.
    #[test]
    fn all_that_is_complete_is_reported() {
        const MANY: usize = 60;
        let bell = bell();
        let Ok(ring) = Ring::new(bell.as_raw_fd()) else {
            return unmeasured("the system refuses io_uring");
        };
        let (reader, mut writer) = pipe().expect("a pipe");
        let reader = File::from(OwnedFd::from(reader));
        let mut buffers = [[0]; MANY];
        for (name, buffer) in buffers.iter_mut().enumerate() {
            // SAFETY: the buffers stay until all reads are named, below.
            assert!(unsafe { ring.read(&reader, buffer, 0, name as u64) });
        }
        for _ in 0..2 {
            // This thread reads the byte first, so all reads still wait.
            writer.write_all(&[0]).expect("a pipe");
            (&reader).read_exact(&mut [0]).expect("a pipe");
            assert!(has_rung(&bell));
            ring.reap(|_, _| panic!("nothing is there"));
        }
        writer.write_all(&[7; MANY]).expect("a pipe");
        let mut reaped = 0;
        while has_rung(&bell) {
            ring.reap(|_, result| {
                assert_eq!(result, 1);
                reaped += 1;
            });
        }
        assert_eq!((reaped, ring.under_way()), (MANY, 0));
        assert_eq!(buffers, [[7]; MANY]);
    }

    fn bell() -> OwnedFd {
        calls::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK).expect("an eventfd")
    }

    fn has_rung(bell: &OwnedFd) -> bool {
        let mut bell = File::from(bell.try_clone().expect("a descriptor"));
        bell.read(&mut [0; 8]).is_ok()
    }
}

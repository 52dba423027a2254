//! The allocator of headers: per-thread magazines over one process-wide store per class.
//!
//! Owns: the memory of all headers. Blocks are cut from chunks, are never returned to the system,
//! and keep their class, so a stale ticket always points to a header (H1). A magazine serves its
//! thread without atomics. Magazines exchange blocks with the store in batches. So fibers that
//! start on one thread and end on another cost one lock for each batch.
//!
//! # Invariants
//! * B1. A free block is in exactly one list: a magazine or the store of its class.

use std::alloc::{self as system, Layout, handle_alloc_error};
use std::panic::Location;
use std::ptr::{self, NonNull};

use super::current::{self, Local};
use super::end_hook::{EndHook, Ending};
use super::fiber_ptr::{FiberHead, FiberPtr};
use super::header::{Header, PAYLOAD_OFFSET};
pub(crate) use super::magazines::CLASSES;
#[cfg(all(test, pirn_parts))]
use super::magazines::Magazines;
use super::magazines::Pair;
use super::schedule::Schedule;
use crate::base::list::Fifo;
use crate::base::mutant::mutant;
use crate::base::prefetch::prefetch;
use crate::shim::{self, RunLock, run_static, thread_local_const};

/// Classes of blocks, by size in bytes.
const BLOCKS: [usize; CLASSES] = [longer(256), longer(512), longer(1024)];

/// Returns `size`, plus the bytes by which a header exceeds the usual 192: under a model checker,
/// headers are longer.
const fn longer(size: usize) -> usize {
    size + PAYLOAD_OFFSET.saturating_sub(192)
}

/// The number of blocks in a full magazine, which is what one exchange with the store moves: 32 KiB
/// of the smallest class. The choice is arbitrary; the effect of magazines is measured in
/// docs/design/03-queues-and-wakes.md#an-injector-of-pointers. One in a
/// small model.
const BATCH: u32 = if shim::SMALL { 1 } else { 128 };

/// The first chunk of a class is small, so that a process with few fibers stays small; later
/// ones are huge pages (2 MiB on x86-64). The first size is arbitrary.
const FIRST_CHUNK: usize = 64 << 10;
const CHUNK: usize = 2 << 20;

/// Returns the size of a block of `class`, in bytes.
#[inline(always)]
pub(crate) const fn block_size(class: u8) -> usize {
    BLOCKS[class as usize]
}

#[cfg(all(test, pirn_parts))]
impl Magazines {
    /// Returns the block that the next fiber of `class` would get without the store.
    pub(super) fn first(&self, class: u8) -> Option<FiberPtr> {
        // SAFETY: the thread's own magazine.
        unsafe { &*self.0[class as usize].get() }.loaded.front()
    }
}

/// The blocks that all threads share, for one class.
struct Store {
    /// Whole magazines: no code walks a list of blocks that have left the caches.
    free: Vec<Fifo<FiberHead>>,
    /// The rest of the newest chunk.
    chunk: Option<(NonNull<u8>, usize)>,
    chunks: u32,
}

// SAFETY: blocks have no ties to a thread.
unsafe impl Send for Store {}

/// All classes, and the number of the next block.
struct Stores {
    classes: [Store; CLASSES],
    next_index: u32,
}

run_static! {
    static STORES: RunLock<Stores> = RunLock::new(Stores::new());
}

/// Allocates a block of `class` and initializes its header for a fiber with `refs` references.
#[inline]
pub(crate) fn alloc(
    local: &Local,
    class: u8,
    location: &'static Location<'static>,
    refs: u32,
) -> FiberPtr {
    // SAFETY: `local` is the record of this thread (C2), so the magazine is its own, and nothing
    // below re-enters it.
    let pair = unsafe { &mut *local.magazines.0[class as usize].get() };
    let block = match pair.loaded.pop_front() {
        Some(block) => block,
        None => refill(pair, class),
    };
    if let Some(next) = pair.loaded.front() {
        // PERF: in a burst of spawns the next block is not in the cache, and it is needed some tens
        // of nanoseconds later.
        prefetch(next.as_ptr(), block_size(0));
    }
    // B1: it was in the magazine and is now in no list.
    block.header().renew(location, refs);
    block
}

/// Frees the block of a fiber that has no references left.
#[inline]
pub(crate) fn free(local: &Local, fiber: FiberPtr) {
    let class = fiber.header().class();
    // SAFETY: `local` is the record of this thread (C2), so the magazine is its own, and nothing
    // below re-enters it.
    let pair = unsafe { &mut *local.magazines.0[class as usize].get() };
    match pair.loaded.len() {
        // This may be the first block of a thread that never allocates one.
        0 => at_thread_exit(),
        BATCH => spill(pair, class),
        _ => {}
    }
    pair.loaded.push_front(fiber);
}

#[cold]
fn refill(pair: &mut Pair, class: u8) -> FiberPtr {
    std::mem::swap(&mut pair.loaded, &mut pair.spare);
    if pair.loaded.is_empty() {
        at_thread_exit();
        pair.loaded = STORES.lock().take(class);
    }
    pair.loaded
        .pop_front()
        .expect("a magazine from the store is never empty")
}

#[cold]
fn spill(pair: &mut Pair, class: u8) {
    std::mem::swap(&mut pair.loaded, &mut pair.spare);
    if !pair.loaded.is_empty() {
        let full = match mutant!("slab_magazine_kept") {
            // SAFETY: none: this is the bug.
            true => unsafe { ptr::read(&raw const pair.loaded) },
            false => std::mem::take(&mut pair.loaded),
        };
        STORES.lock().classes[class as usize].free.push(full);
    }
}

/// Registers the return of the thread's blocks to the store when the thread ends.
pub(super) fn at_thread_exit() {
    // A thread that is past its destructors keeps the blocks that it takes from now on: a thread
    // that allocates in a destructor loses a batch of headers.
    let _ = FLUSH.try_with(|_| ());
}

/// Returns the thread's blocks to the store when it is dropped.
struct Flush;

thread_local_const! {
    static FLUSH: Flush = Flush
}

impl Drop for Flush {
    fn drop(&mut self) {
        let local = current::local();
        return_identity(local);
        for (class, magazine) in local.magazines.0.iter().enumerate() {
            // SAFETY: the thread's own magazines; nothing below re-enters them.
            let pair = unsafe { &mut *magazine.get() };
            for blocks in [
                std::mem::take(&mut pair.loaded),
                std::mem::take(&mut pair.spare),
            ] {
                if !blocks.is_empty() {
                    STORES.lock().classes[class].free.push(blocks);
                }
            }
        }
    }
}

/// Takes back the header that stands for the thread, if it has one, after its end hook
/// (`current::identity`).
fn return_identity(local: &Local) {
    let Some(thread) = local.plain_thread() else {
        return;
    };
    if let Some(EndHook { table, data }) = thread.header().on_end() {
        let ending = Ending {
            panicked: false,
            detached: true,
        };
        // SAFETY: the hook of a plain thread's header has no data, and is called by that thread.
        unsafe { (table.ended)(data, thread, ending) };
    }
    // H4: the thread owns one reference.
    if thread.header().give_reference_back() {
        free(local, thread);
    }
}

impl Stores {
    const fn new() -> Stores {
        Stores {
            classes: [const {
                Store {
                    free: Vec::new(),
                    chunk: None,
                    chunks: 0,
                }
            }; CLASSES],
            // Numbered from 1, so that no identity is zero.
            next_index: 1,
        }
    }

    /// Returns a magazine with at least one block.
    fn take(&mut self, class: u8) -> Fifo<FiberHead> {
        let store = &mut self.classes[class as usize];
        if let Some(magazine) = store.free.last()
            && mutant!("slab_magazine_taken_twice")
        {
            // SAFETY: none: this is the bug.
            return unsafe { ptr::read(magazine) };
        }
        if let Some(magazine) = store.free.pop() {
            return magazine;
        }
        let mut batch = Fifo::new();
        for _ in 0..BATCH {
            let start = store.carve(block_size(class));
            let header = start.cast::<Header>();
            // SAFETY: the block is used nowhere else, large enough and aligned to 64.
            unsafe { header.write(Header::vacant(class, self.next_index)) };
            self.next_index += 1;
            // SAFETY: H1: the block is never freed.
            batch.push_back(unsafe { FiberPtr::to(header) });
        }
        batch
    }
}

impl Store {
    /// Cuts the next block off the newest chunk.
    fn carve(&mut self, block: usize) -> NonNull<u8> {
        let (start, left) = match self.chunk {
            Some((start, left)) if left >= block => (start, left),
            _ => self.grow(),
        };
        // SAFETY: `left >= block`, so this stays within the chunk or one past its end.
        self.chunk = Some((unsafe { start.add(block) }, left - block));
        start
    }

    fn grow(&mut self) -> (NonNull<u8>, usize) {
        let size = if self.chunks == 0 { FIRST_CHUNK } else { CHUNK };
        self.chunks += 1;
        let layout = Layout::from_size_align(size, size).expect("powers of two");
        // SAFETY: the size is not zero.
        let Some(start) = NonNull::new(unsafe { system::alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        if size == CHUNK {
            crate::sys::advise_huge(start, size);
        }
        (start, size)
    }
}

impl Header {
    /// Returns a header of `class` for a party that is not a fiber: it waits, and `home` is
    /// notified when it is woken. The caller owns its one reference.
    pub(crate) fn alone(
        local: &Local,
        class: u8,
        location: &'static Location<'static>,
        home: &'static dyn Schedule,
    ) -> FiberPtr {
        let fiber = alloc(local, class, location, 1);
        // H2: just allocated, so it is the caller's.
        let header = fiber.header();
        header.life.exempt();
        header.set_home(home);
        fiber
    }

    /// Returns the number of payload bytes in blocks of this class.
    #[inline(always)]
    pub(crate) const fn payload_size(class: u8) -> usize {
        block_size(class) - PAYLOAD_OFFSET
    }
}

//! The end of a thread by the list of destructors that glibc keeps for each thread.
//!
//! `std` and C++ register each thread-local with a destructor in that list at its first use by the
//! thread. At the end of the thread, and in `exit` for the calling thread, glibc calls the entries,
//! the last one first. So a hook runs before all destructors if it is registered after them, and
//! again whenever another one is registered. No call removes an entry or shows the list, and an
//! entry stays until the thread ends: a hook that is registered each time would leak. So this file
//! reads the head of the list. Its place is the same in each thread, relative to `errno`, which is
//! in the same block of thread-local memory. It is found once, by registering the hook twice and
//! comparing the block before and after. If it is not found, the hook is registered each time.
//!
//! Invariants:
//! * TE1. `HEAD` is the place of a word of the C library's thread-local memory that each thread
//!   has, and that only the thread itself writes.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use crate::shim::thread_local_const;

unsafe extern "C" {
    /// Registers a call at the end of the thread; `library` is an address inside of the code's
    /// library.
    fn __cxa_thread_atexit_impl(
        call: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

/// An entry of the list, as glibc has had them since 2.18.
#[repr(C)]
struct Entry {
    /// Scrambled.
    call: usize,
    argument: usize,
    library: usize,
    next: usize,
}

/// What this file has registered for the thread. Without a destructor.
struct Entered {
    hook: Cell<Option<fn()>>,
    /// The head of the list after that; 0 if the hook has been called since.
    head: Cell<usize>,
}

thread_local_const! {
    static ENTERED: Entered = Entered { hook: Cell::new(None), head: Cell::new(0) }
}

/// Bytes from `errno` to the head of the list.
static HEAD: OnceLock<Option<isize>> = OnceLock::new();

/// Distinguishes the entries of this file from others.
static ARGUMENT: u8 = 0;

/// Registers `hook` to be called at the end of the calling thread, before the destructors of all
/// thread-locals that it has used so far. One hook for each thread.
#[must_use = "elsewhere the hook may not be called"]
pub(crate) fn at_thread_end(hook: fn()) -> bool {
    if !is_first() {
        enter_hook(hook, || *HEAD.get_or_init(find_head));
    }
    true
}

/// Registers `hook`, and records the head of the list, if its place is known.
pub(in crate::sys) fn enter_hook(hook: fn(), place: impl FnOnce() -> Option<isize>) {
    ENTERED.with(|entered| entered.hook.set(Some(hook)));
    enter();
    // The search may register it again.
    let head = place().map_or(0, read_head);
    ENTERED.with(|entered| entered.head.set(head));
}

/// Returns whether the hook is known to be the first call at the end of the thread.
pub(in crate::sys) fn is_first() -> bool {
    let entered = ENTERED.with(|entered| entered.head.get());
    let head = HEAD.get().copied().flatten();
    entered != 0 && head.map(read_head) == Some(entered)
}

fn enter() {
    let argument = (&raw const ARGUMENT).cast_mut().cast();
    // SAFETY: a function that lives as long as its library, in which the argument is, too.
    let entered = unsafe { __cxa_thread_atexit_impl(call, argument, argument) };
    assert_eq!(entered, 0, "the C library takes each entry, or aborts");
}

unsafe extern "C" fn call(_: *mut c_void) {
    let hook = ENTERED.with(|entered| {
        // Another entry may get the address of this one from now on.
        entered.head.set(0);
        entered.hook.get()
    });
    if let Some(hook) = hook {
        hook();
    }
}

fn errno() -> *mut u8 {
    // SAFETY: it has no preconditions.
    unsafe { libc::__errno_location() }.cast()
}

fn read_head(place: isize) -> usize {
    let head = errno().wrapping_offset(place).cast::<usize>();
    // SAFETY: TE1.
    unsafe { head.read_volatile() }
}

/// Searches for the head of the list; registers the hook twice.
fn find_head() -> Option<isize> {
    let (start, words) = block_of_errno()?;
    let before = copy(start, words);
    enter();
    let between = copy(start, words);
    enter();
    let after = copy(start, words);
    let mut heads = (0..words).filter(|&word| {
        let changed = before[word] != between[word] && between[word] != after[word];
        changed
            && is_entry(after[word], between[word])
            && is_entry(between[word], before[word])
    });
    let head = start + heads.next()? * size_of::<usize>();
    let is_alone = heads.next().is_none();
    is_alone.then(|| head.wrapping_sub(errno().addr()).cast_signed())
}

fn copy(start: usize, words: usize) -> Vec<usize> {
    let start = ptr::with_exposed_provenance::<usize>(start);
    let word = |at: usize| {
        let word = start.wrapping_add(at);
        // SAFETY: the block has more than `at` words, as `block_of_errno` says, and is this
        // thread's.
        unsafe { word.read_volatile() }
    };
    (0..words).map(word).collect()
}

/// Returns whether an entry of this file is at `address`, with `next` after it. `address` was a
/// word of the C library's memory that has changed when an entry was made.
fn is_entry(address: usize, next: usize) -> bool {
    // Small numbers are no pointers.
    if address < 1 << 16 || !address.is_multiple_of(align_of::<Entry>()) {
        return false;
    }
    let entry = ptr::with_exposed_provenance::<Entry>(address);
    // SAFETY: the block belongs to the C library alone (`look`). Its words that change with each
    // entry are pointers to its records, which are longer than an entry.
    let entry = unsafe { entry.read_volatile() };
    entry.argument == (&raw const ARGUMENT).addr() && entry.next == next
}

/// Returns where the block of thread-local memory with this thread's `errno` begins, and its whole
/// words.
fn block_of_errno() -> Option<(usize, usize)> {
    let mut search = Search {
        errno: errno().addr(),
        found: None,
    };
    // SAFETY: `look` takes a `Search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

struct Search {
    errno: usize,
    found: Option<(usize, usize)>,
}

/// Looks at the thread-local memory of one library.
unsafe extern "C" fn look(
    library: *mut libc::dl_phdr_info,
    _: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the C library passes a description that it does not change meanwhile.
    let library = unsafe { &*library };
    // SAFETY: `block_of_errno` passes a `Search` of its own.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the name is null or ends with a zero byte.
    let is_program = library.dlpi_name.is_null() || unsafe { *library.dlpi_name } == 0;
    // In a static program the block also has the program's own thread-locals, which may be any
    // numbers.
    if is_program || library.dlpi_tls_data.is_null() {
        return 0;
    }
    // SAFETY: the headers of the library, which is loaded.
    let headers = unsafe {
        slice::from_raw_parts(library.dlpi_phdr, usize::from(library.dlpi_phnum))
    };
    let start = library.dlpi_tls_data.expose_provenance();
    for header in headers
        .iter()
        .filter(|header| header.p_type == libc::PT_TLS)
    {
        let Ok(length) = usize::try_from(header.p_memsz) else {
            continue;
        };
        let is_aligned = start.is_multiple_of(align_of::<usize>());
        if is_aligned && (start..start + length).contains(&search.errno) {
            search.found = Some((start, length / size_of::<usize>()));
            return 1;
        }
    }
    0
}

//! One function that runs before std's start-up.
//!
//! std opens the null device where a standard stream is closed. After that a closed stream cannot
//! be distinguished from the null device. The function is safe code: it does not panic and does
//! not depend on std's start-up.

#[used]
// SAFETY: the loader calls each entry of this section once, on the main thread, before
// `main`; the entry is a function of the expected signature that does not unwind.
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = early;

extern "C" fn early() {
    pirn_top::tool::look();
}

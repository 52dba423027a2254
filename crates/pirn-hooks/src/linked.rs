//! A function before `main` that records that this crate is linked.

#[used]
// SAFETY: the loader calls each entry of this section once, on the main thread, before `main`; the
// entry is a function of the expected signature that does not unwind.
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = early;

extern "C" fn early() {
    pirn::dev::hooks::set_linked();
}

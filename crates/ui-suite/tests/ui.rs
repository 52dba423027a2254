//! Code that must not compile: borrows that could outlive their frame, values that could change
//! threads, guards that could move. Beside each case is the expected compiler output.

// Proves: O3, O7, O9-send.
#[test]
fn unsound_programs_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

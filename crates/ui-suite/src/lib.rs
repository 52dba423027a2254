//! Only tests: programs on pirn that must not compile.

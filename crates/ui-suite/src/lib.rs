//! Compile-fail tests of pirn. The library is empty.

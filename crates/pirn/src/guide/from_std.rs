//! pirn for users of threads: the same program with `std` and here.

#![doc = include_str!("../../guide/from_std.md")]

//! pirn for users of crossbeam: the same program there and here.

#![doc = include_str!("../../guide/from_crossbeam.md")]

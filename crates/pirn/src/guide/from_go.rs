//! pirn for users of Go: the same program there and here.

#![doc = include_str!("../../guide/from_go.md")]

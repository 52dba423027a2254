//! pirn for users of tokio: the same program there and here.

#![doc = include_str!("../../guide/from_tokio.md")]

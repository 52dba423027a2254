//! pirn for users of rayon: the same program there and here, and the meaning of the same words.

#![doc = include_str!("../../guide/from_rayon.md")]

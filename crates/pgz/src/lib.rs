//! pgz: gzip on all cores.
//!
//! The program is `pgz`. This library contains its parts, for the program itself, its tests and
//! `bench/`. **It is not an API**: names change without notice.
//!
//! | module       | owns                                                          |
//! |--------------|---------------------------------------------------------------|
//! | [`gzip`]     | the file format: headers, trailers, marks of `-i`, damage      |
//! | [`deflate`]  | compressing and inflating single blocks, reusable states       |
//! | [`older`]    | decoders of `compress` and `pack`                             |
//! | [`pipeline`] | reader → blocks → writer, over an executor                     |
//! | [`files`]    | inputs, outputs that appear when complete, suffixes, signals   |
//! | [`tool`]     | the command line                                               |
//!
//! Each imports only from those above it.

#![forbid(unsafe_code)]

pub mod gzip;

pub mod deflate;

pub mod older;

pub mod pipeline;

pub mod files;

pub mod tool;

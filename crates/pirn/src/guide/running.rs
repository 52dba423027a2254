//! Workers, spawn lines and dispatchers; where a fiber starts, and what delays it.
//!
//! [README.md]: crate::guide
//! [cpu.md]: crate::guide::cpu
//! [migration.md]: crate::guide::migration
//! [structure.md]: crate::guide::structure

// The first definition of a link counts, so these replace the ones of the text, which are for the
// view of the repository.
#![doc = concat!("[fiber.svg]: ", include_str!("../../guide/fiber.svg.uri"))]
#![doc = concat!("[threads.svg]: ", include_str!("../../guide/threads.svg.uri"))]
#![doc = include_str!("../../guide/running.md")]

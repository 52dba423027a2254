//! Tests of this module.

mod pools;

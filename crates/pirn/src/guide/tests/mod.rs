//! Tests of this module.

mod figures;

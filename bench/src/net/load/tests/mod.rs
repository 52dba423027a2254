//! Tests of the load with servers that answer wrongly, each in another way.

mod dialect;
mod wrong;

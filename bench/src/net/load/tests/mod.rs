//! A load is only as good as its doubt: servers that answer wrongly, each in its own way.

mod dialect;
mod wrong;

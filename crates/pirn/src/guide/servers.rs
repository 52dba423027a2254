//! Servers: connections, limits, a clean end, and what runs out.

#![doc = include_str!("../../guide/servers.md")]

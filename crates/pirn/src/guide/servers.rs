//! Servers: connections, limits, graceful shutdown, exhausted resources.

#![doc = include_str!("../../guide/servers.md")]

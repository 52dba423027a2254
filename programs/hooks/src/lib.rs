//! Crates and C libraries that block, unchanged, on fibers of one worker.
//!
//! The tests run each of them against a real server. `bin/service` is a service of blocking code
//! that runs on threads, or on fibers; `bin/jobs` is a worker of a job queue in Redis; `bin/etl` loads
//! a file into a database.

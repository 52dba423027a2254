//! std's own tests of sockets, processes, threads and locks, each on a fiber inside of `within`.
//!
//! `build.rs` makes them of Rust's sources; without these there is none.
#![cfg(std_tests)]
#![feature(
    core_io_borrowed_buf,
    io_error_uncategorized,
    once_cell_try,
    read_buf,
    tcp_linger,
    unix_socket_ancillary_data,
    unix_socket_peek
)]
#![allow(warnings, unsafe_code, reason = "std's tests")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pirn_hooks::within;

fn on_fiber<T: std::process::Termination + Send + 'static>(body: fn() -> T) -> T {
    let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    runtime.run(move || within(body))
}

/// A directory for one test.
struct TempDir(PathBuf);

impl TempDir {
    fn path(&self) -> &Path {
        &self.0
    }

    fn join(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn tmpdir() -> TempDir {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("pirn-std-{}-{number}", std::process::id());
    let path = env::temp_dir().join(name);
    fs::create_dir(&path).unwrap();
    TempDir(path)
}

include!(concat!(env!("OUT_DIR"), "/std_tests.rs"));

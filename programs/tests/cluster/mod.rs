//! A PostgreSQL server for one test: on a socket in a directory of its own, accessible to all users
//! that can reach it, and ended with the test.
//!
//! The server refuses to run as the superuser, so there it runs as `nobody`. It is started by a
//! shell that reads its input to the end before it ends the server: so the server ends with the
//! test that holds the other end of the pipe, also when the test is killed.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, process, thread};

use crate::peers::{peer, run};

/// A running server; ended when dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    shell: Child,
    directory: PathBuf,
}

/// The user that connects.
pub(crate) const USER: &str = "pirn";

/// Debian's `nobody`.
const NOBODY: u32 = 65534;

const SHELL: &str = r#""$0" "$@" & cat > /dev/null; kill -QUIT $!; wait $!"#;

impl Cluster {
    /// Starts a server with an empty database. `None`, for a test that is skipped, if PostgreSQL is
    /// missing.
    ///
    /// # Panics
    /// If it is missing otherwise, or does not start.
    pub(crate) fn start(test: &str) -> Option<Cluster> {
        let (initdb, server) = (tool("initdb")?, tool("postgres")?);
        // A socket's path may be 107 bytes long, and the user `nobody` must have access.
        let directory = env::temp_dir().join(format!("pirn-{test}-{}", process::id()));
        fs::create_dir_all(&directory).expect("a directory that can be made");
        if is_superuser() {
            std::os::unix::fs::chown(&directory, Some(NOBODY), Some(NOBODY))
                .expect("the superuser may do that");
        }
        let data = directory.join("data");
        let mut init = unprivileged(Command::new(initdb), &directory);
        init.args(["--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8"]);
        init.arg(format!("--username={USER}"))
            .arg("--pgdata")
            .arg(&data);
        run(&mut init, "");
        let mut shell = unprivileged(Command::new("sh"), &directory);
        shell.args(["-c", SHELL]).arg(server).arg("-D").arg(&data);
        shell.arg("-k").arg(&directory);
        shell.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        let started = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut cluster = Cluster {
            shell: started.expect("a shell that starts"),
            directory,
        };
        cluster.await_ready();
        Some(cluster)
    }

    /// Returns the directory with the server's socket.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads the server's output until it accepts; later output is discarded.
    fn await_ready(&mut self) {
        let log = self.shell.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(log).lines().map_while(Result::ok);
        let mut said = Vec::new();
        loop {
            let Some(line) = lines.next() else {
                panic!("PostgreSQL does not start:\n{}", said.join("\n"));
            };
            if line.contains("ready to accept connections") {
                break;
            }
            said.push(line);
        }
        thread::spawn(move || lines.for_each(drop));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns the path of one of PostgreSQL's programs; Debian may have several versions.
fn tool(name: &str) -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok();
    let newest = versions
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin").join(name)))
        .filter(|path| path.is_file())
        .max_by_key(|path| version(path));
    newest.or_else(|| Some(peer(name, "postgresql")?.get_program().into()))
}

fn version(program: &Path) -> u32 {
    let directory = program.ancestors().nth(2).and_then(Path::file_name);
    let name = directory.and_then(|name| name.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or_default()
}

fn unprivileged(mut command: Command, directory: &Path) -> Command {
    if is_superuser() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(directory);
    command
}

fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

//! A server as a child: starts it, reads its port, ends it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Complaint, Processors, clear_environment, pin};

/// Timeout of a server's end; arbitrary.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listening server; killed when dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    port: u16,
    complaint: Complaint,
}

impl Server {
    /// Starts `command` on the last `workers` processors, in a cleared environment, and
    /// waits for its port.
    pub(super) fn start(mut command: Command, workers: usize) -> Result<Server, String> {
        clear_environment(&mut command);
        pin(&mut command, Processors::Last(workers));
        let (complaint, said) = Complaint::new()
            .map_err(|error| format!("no room for what the server may say: {error}"))?;
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .map_err(|error| format!("the server does not start: {error}"))?;
        let mut server = Server {
            child,
            port: 0,
            complaint,
        };
        let stdout = server
            .child
            .stdout
            .take()
            .expect("standard output is a pipe");
        let mut line = String::new();
        // A server that dies before it has a port ends this line, too.
        let _ = BufReader::new(stdout).read_line(&mut line);
        let port = line.trim().strip_prefix("port ");
        server.port = port
            .and_then(|port| port.parse().ok())
            .ok_or_else(|| format!("the server has no port{}", server.complaint()))?;
        Ok(server)
    }

    /// Returns its address.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Returns its process id.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns its output on standard error, after a colon; nothing if there is none.
    pub(super) fn complaint(&self) -> String {
        self.complaint.first_line()
    }

    /// Closes its standard input and waits for its end.
    pub(super) fn end(mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    let complaint = self.complaint();
                    return Err(format!("the server ended with {status}{complaint}"));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("the server does not end with its input".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already can neither be killed nor waited for again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::strays;

    /// A2. A server gets no variable of its parent that might affect it.
    #[test]
    fn a_server_starts_with_an_empty_environment() {
        let mut command = Command::new("sh");
        // The names in one line, then a port, then a wait for the end of the input.
        let print = "env | sed 's/=.*/=/' | tr '\\n' ' ' >&2; echo port 1; cat";
        command.args(["-c", print]);
        let server = Server::start(command, 1).expect("it has a port");
        let names = server.complaint().replace(' ', "\n");
        server.end().expect("it ends");
        assert!(names.contains("PATH="), "{names}");
        assert_eq!(strays(&names), [""; 0], "{names}");
    }
}

//! The path of a Unix socket: how its file is created and removed.
//!
//! A socket is created in a directory of its own that only this user may enter. It gets its
//! permissions there, and is linked to its path when it listens. So no process can connect before
//! the permissions are right, whatever the process's mask is. (The mask belongs to all threads of
//! the process, so it is not changed.) And a file at the path that refuses connections is a dead
//! process's, never one that does not listen yet.
//!
//! Such a file is first moved to that directory and checked again there: if two processes find it
//! at the same time, one gets it. If the file is another process's live socket after all, it is put
//! back. A third process may have linked its own socket meanwhile: then two listen, and the first
//! one has no path. Runtimes of one process take paths in turn, so among them one wins.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::shim::StaticLock;

/// Held while a socket is linked to its path.
static TURN: StaticLock<()> = StaticLock::new(());

/// A socket's file. Dropping it removes the file, unless another file has replaced it.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Device and number of the file.
    identity: (u64, u64),
}

impl Place {
    /// Creates a socket that listens at `path`, for this user alone.
    ///
    /// # Errors
    /// * Kind `AddrInUse`: a process listens there.
    /// * Kind `AlreadyExists`: the file there is not a socket, or another user's.
    /// * The system's error for the path or the socket.
    pub(super) fn take(path: &Path) -> io::Result<(UnixListener, Place)> {
        // Without this check, no client could connect.
        SocketAddr::from_pathname(path)?;
        // An absolute path does not change with the process's directory.
        let absolute = std::path::absolute(path)?;
        let room = Room::make(&absolute)?;
        let new = room.0.join("s");
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        let file = fs::symlink_metadata(&new)?;
        let _turn = TURN.lock();
        room.link(&new, file.uid(), &absolute)?;
        let identity = (file.dev(), file.ino());
        let path = absolute;
        Ok((listener, Place { path, identity }))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let there = fs::symlink_metadata(&self.path);
        if there.is_ok_and(|file| (file.dev(), file.ino()) == self.identity) {
            // If it stays, the next process removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A directory that only this user may enter, beside the path of a socket. Dropping it removes it
/// with its contents.
struct Room(PathBuf);

impl Room {
    fn make(path: &Path) -> io::Result<Room> {
        static ROOMS: StaticLock<u64> = StaticLock::new(0);
        let parent = path.parent();
        let parent = parent.filter(|_| path.file_name().is_some());
        let Some(parent) = parent else {
            return Err(Error::new(ErrorKind::InvalidInput, "names no file"));
        };
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        loop {
            let number = {
                let mut rooms = ROOMS.lock();
                *rooms += 1;
                *rooms
            };
            // Short: the path of a socket has about a hundred bytes.
            let dir = parent.join(format!(".p{}-{number}", process::id()));
            match builder.create(&dir) {
                Ok(()) => return Ok(Room(dir)),
                // Left by a process that had this number before.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Links the socket `new` to `path`, and first removes the socket of a dead process of the same
    /// user from there.
    fn link(&self, new: &Path, user: u32, path: &Path) -> io::Result<()> {
        loop {
            match fs::hard_link(new, path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                done => return done,
            }
            match fs::symlink_metadata(path) {
                Ok(file) if !file.file_type().is_socket() => {
                    let said = "something that is no socket is there";
                    return Err(Error::new(ErrorKind::AlreadyExists, said));
                }
                Ok(file) if file.uid() != user => {
                    let said = "another user's socket is there";
                    return Err(Error::new(ErrorKind::AlreadyExists, said));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            refuse_living(path)?;
            let old = self.0.join("o");
            match fs::rename(path, &old) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                moved => moved?,
            }
            if let Err(living) = refuse_living(&old) {
                // The live socket came between the two checks. If there is another one by now, that
                // one stays.
                let _ = fs::hard_link(&old, path);
                return Err(living);
            }
            fs::remove_file(&old)?;
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for name in ["s", "o"] {
            let _ = fs::remove_file(self.0.join(name));
        }
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns an error if a process listens at `path`, or may.
fn refuse_living(path: &Path) -> io::Result<()> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // The owner may be stopped, with a full queue of clients: then this fails with `WouldBlock`.
    socket.set_nonblocking(true)?;
    match socket.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
        _ => {
            let said = "another runtime listens there";
            Err(Error::new(ErrorKind::AddrInUse, said))
        }
    }
}

//! Files, sockets and children cross `catch_unwind`, as those of `std` do.

use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};

use pirn::{fs, net, process};

const fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

/// Checked by the compiler. Types of `std` that are not unwind-safe, such as `Command`, are left
/// out.
const _: () = {
    is_unwind_safe::<fs::File>();
    is_unwind_safe::<fs::OpenOptions>();
    is_unwind_safe::<fs::DirBuilder>();
    is_unwind_safe::<fs::ReadDir>();
    is_unwind_safe::<fs::DirEntry>();
    is_unwind_safe::<net::TcpListener>();
    is_unwind_safe::<net::TcpStream>();
    is_unwind_safe::<net::UdpSocket>();
    is_unwind_safe::<net::UnixDatagram>();
    is_unwind_safe::<net::UnixListener>();
    is_unwind_safe::<net::UnixStream>();
    is_unwind_safe::<net::Incoming<'_>>();
    is_unwind_safe::<net::UnixIncoming<'_>>();
    is_unwind_safe::<process::Child>();
    is_unwind_safe::<process::ChildStdin>();
    is_unwind_safe::<process::ChildStdout>();
    is_unwind_safe::<process::ChildStderr>();
};

/// A socket works after a panic of code that used it.
#[test]
fn a_socket_outlives_a_panic() {
    use std::io::{Read, Write};
    let (mut one, mut other) = net::UnixStream::pair().unwrap();
    let caught = catch_unwind(|| {
        (&one).write_all(b"ping").unwrap();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(caught.is_err());
    one.write_all(b"pong").unwrap();
    let mut both = [0; 8];
    other.read_exact(&mut both).unwrap();
    assert_eq!(&both, b"pingpong");
}

//! Files, sockets, children and the ends of channels cross `catch_unwind`, as those of `std` do;
//! runtimes do, too.

use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};

use pirn::dispatcher::Dispatcher;
use pirn::{Runtime, channel, fs, net, process, runtime};

type NotUnwindSafe = std::cell::Cell<&'static mut u8>;

const fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

/// Checked by the compiler. Types that hold closures of the caller, such as `Command` of `std` and
/// `runtime::Builder`, are not unwind-safe, and are left out.
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
    is_unwind_safe::<channel::Sender<NotUnwindSafe>>();
    is_unwind_safe::<channel::Receiver<NotUnwindSafe>>();
    is_unwind_safe::<channel::WeakSender<NotUnwindSafe>>();
    is_unwind_safe::<channel::WeakReceiver<NotUnwindSafe>>();
    is_unwind_safe::<Runtime>();
    is_unwind_safe::<runtime::Handle>();
    is_unwind_safe::<Dispatcher>();
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

/// A runtime works after a panic of code that used it.
#[test]
fn a_runtime_outlives_a_panic() {
    fn fails() -> u32 {
        std::panic::resume_unwind(Box::new(()))
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let caught = catch_unwind(|| runtime.run(fails));
    assert!(caught.is_err());
    assert_eq!(runtime.run(|| 7), 7);
}

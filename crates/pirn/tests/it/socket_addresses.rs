//! Connections to addresses of the system, which need not be paths.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{SocketAddr, UnixStream as Plain};

use pirn::net::{UnixListener, UnixStream};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};
use crate::util::Directory;

/// Connections to any address of a listener, as in `std`.
// Proves: N5-X-std.
#[test]
fn streams_connect_to_addresses() {
    fn meet(address: &SocketAddr) {
        let listener = UnixListener::bind_addr(address).unwrap();
        let bound = listener.local_addr().unwrap();
        let mut client = UnixStream::connect_addr(&bound).unwrap();
        let mut server = listener.accept().unwrap().0;
        client.write_all(b"ping").unwrap();
        let mut word = [0; 4];
        server.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"ping");
        let peer = client.peer_addr().unwrap();
        assert_eq!(peer.as_pathname(), address.as_pathname());
        drop(listener);
        let error = UnixStream::connect_addr(&bound).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let directory = Directory::new();
            let path = directory.at("socket");
            meet(&SocketAddr::from_pathname(&path).unwrap());
            let absent = SocketAddr::from_pathname(directory.at("none")).unwrap();
            let error = UnixStream::connect_addr(&absent).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);

            let (one, _other) = UnixStream::pair().unwrap();
            let unnamed = one.local_addr().unwrap();
            let ours = UnixStream::connect_addr(&unnamed).unwrap_err();
            let theirs = Plain::connect_addr(&unnamed).unwrap_err();
            assert_eq!(ours.raw_os_error(), theirs.raw_os_error());
            #[cfg(target_os = "linux")]
            {
                use std::os::linux::net::SocketAddrExt;
                let name = format!("pirn-it-{}\0{:?}", std::process::id(), path);
                let address = SocketAddr::from_abstract_name(name).unwrap();
                meet(&address);
            }
        });
        jobs.run(executor, 2);
    }
}

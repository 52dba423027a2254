//! Addresses by name: known ones at once, others by way of a thread that may block.

use std::io;
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6,
    ToSocketAddrs as _,
};

use crate::blocking::file_call;

/// What can be turned into addresses: those of `std`'s own types that `std::net::ToSocketAddrs`
/// takes. A name that has to be looked up is, on a thread that may block, not on the caller's
/// worker, which is why this is a trait of its own.
pub trait ToSocketAddrs: Addresses {}

impl<T: Addresses + ?Sized> ToSocketAddrs for T {}

pub(super) mod sealed {
    use std::io;
    use std::net::SocketAddr;

    /// Addresses, or where to ask for them.
    #[expect(unnameable_types, reason = "sealed")]
    #[derive(Debug)]
    pub enum Addressee<'a> {
        Known(Vec<SocketAddr>),
        /// A name and a port, perhaps in one.
        Named(&'a str, Option<u16>),
    }

    /// What has addresses.
    #[expect(unnameable_types, reason = "sealed")]
    pub trait Addresses {
        fn addressee(&self) -> io::Result<Addressee<'_>>;
    }
}

use sealed::{Addressee, Addresses};

/// Returns the addresses of `host`, a name and a port with a colon between them, as the system
/// knows them.
///
/// # Errors
/// What the system says of the name; of kind `InvalidInput`: there is no port.
///
/// # Cancellation
/// An interruption point, before it begins to ask: that takes as long as it takes. Parks a
/// fiber, and asks on one of the threads that calls on [files](crate::fs) are made on.
#[track_caller]
pub fn lookup_host(host: &str) -> io::Result<Vec<SocketAddr>> {
    resolve(host)
}

/// The addresses of `whom`.
#[track_caller]
pub(super) fn resolve<A: Addresses + ?Sized>(whom: &A) -> io::Result<Vec<SocketAddr>> {
    match whom.addressee()? {
        Addressee::Known(addresses) => Ok(addresses),
        Addressee::Named(name, port) => {
            let ask = || match port {
                Some(port) => (name, port).to_socket_addrs().map(Iterator::collect),
                None => name.to_socket_addrs().map(Iterator::collect),
            };
            // Not with what users block on, which may wait for a fiber that asks here.
            file_call(ask)
        }
    }
}

/// Tries one address after the other; the last error, if none is good.
pub(super) fn first_of<T>(
    addresses: &[SocketAddr],
    mut attempt: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = None;
    for &address in addresses {
        match attempt(address) {
            Ok(done) => return Ok(done),
            Err(error) if crate::Interrupt::of(&error).is_some() => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "no address to go to")
    }))
}

macro_rules! known {
    ($($kind:ty),*) => {
        $(impl Addresses for $kind {
            fn addressee(&self) -> io::Result<Addressee<'_>> {
                Ok(Addressee::Known(vec![SocketAddr::from(*self)]))
            }
        })*
    };
}

known! {
    SocketAddr, SocketAddrV4, SocketAddrV6,
    (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16)
}

impl Addresses for [SocketAddr] {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        Ok(Addressee::Known(self.to_vec()))
    }
}

impl Addresses for str {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        Ok(match self.parse() {
            Ok(address) => Addressee::Known(vec![address]),
            Err(_) => Addressee::Named(self, None),
        })
    }
}

impl Addresses for (&str, u16) {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        Ok(named(self.0, self.1))
    }
}

impl Addresses for (String, u16) {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        Ok(named(&self.0, self.1))
    }
}

impl Addresses for String {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        self.as_str().addressee()
    }
}

impl<T: Addresses + ?Sized> Addresses for &T {
    fn addressee(&self) -> io::Result<Addressee<'_>> {
        (**self).addressee()
    }
}

fn named(host: &str, port: u16) -> Addressee<'_> {
    match host.parse::<IpAddr>() {
        Ok(address) => Addressee::Known(vec![SocketAddr::new(address, port)]),
        Err(_) => Addressee::Named(host, Some(port)),
    }
}

//! Addresses by name: literal ones are parsed in place, others are looked up on a thread that may
//! block.

use std::io;
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6,
    ToSocketAddrs as _,
};

use crate::blocking::file_call;

/// A value that converts to socket addresses. Implemented for the types of `std` that implement
/// [`std::net::ToSocketAddrs`]. A separate trait, because a name is looked up on a thread that may
/// block, not on the caller's worker.
///
/// # Examples
/// ```
/// use std::net::Ipv4Addr;
///
/// use pirn::net::{TcpListener, ToSocketAddrs};
///
/// fn listen(address: impl ToSocketAddrs) -> std::io::Result<TcpListener> {
///     TcpListener::bind(address)
/// }
///
/// assert!(listen("127.0.0.1:0").is_ok());
/// assert!(listen((Ipv4Addr::LOCALHOST, 0)).is_ok());
/// ```
pub trait ToSocketAddrs: Addresses {}

impl<T: Addresses + ?Sized> ToSocketAddrs for T {}

pub(super) mod sealed {
    use std::io;
    use std::net::SocketAddr;

    /// Addresses, or the name to look up.
    #[expect(unnameable_types, reason = "sealed")]
    #[derive(Debug)]
    pub enum Addressee<'a> {
        Known(Vec<SocketAddr>),
        /// A name and a port, possibly in one string.
        Named(&'a str, Option<u16>),
    }

    /// A value that names one or more addresses.
    #[expect(unnameable_types, reason = "sealed")]
    pub trait Addresses {
        fn addressee(&self) -> io::Result<Addressee<'_>>;
    }
}

use sealed::{Addressee, Addresses};

/// Returns the addresses of `host`, a name and a port separated by a colon, from the system's
/// resolver.
///
/// # Errors
/// The operating system's error for the name. Kind `InvalidInput`: the port is missing.
///
/// # Cancellation
/// An interruption point before the lookup starts; a lookup in progress is not interrupted. Parks a
/// fiber. The lookup runs on one of the threads for [file](crate::fs) calls.
///
/// # Examples
/// ```
/// use std::io::ErrorKind;
///
/// use pirn::net::lookup_host;
///
/// let addresses = lookup_host("127.0.0.1:80")?;
/// assert_eq!(addresses[0].port(), 80);
/// let error = lookup_host("127.0.0.1").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "LookupIP")]
#[doc(alias = "ResolveTCPAddr")]
#[doc(alias = "getaddrinfo")]
#[track_caller]
pub fn lookup_host(host: &str) -> io::Result<Vec<SocketAddr>> {
    resolve(host)
}

/// Returns the addresses of the argument.
#[track_caller]
pub(super) fn resolve<A: Addresses + ?Sized>(target: &A) -> io::Result<Vec<SocketAddr>> {
    match target.addressee()? {
        Addressee::Known(addresses) => Ok(addresses),
        Addressee::Named(name, port) => {
            let ask = || match port {
                Some(port) => (name, port).to_socket_addrs().map(Iterator::collect),
                None => name.to_socket_addrs().map(Iterator::collect),
            };
            // Not on the threads for user closures, which may wait for a fiber that looks up here.
            file_call(ask)
        }
    }
}

/// Tries the addresses in order; returns the last error if all fail.
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

//! No such sockets.

use std::convert::Infallible;
use std::io::{self, Error, ErrorKind, Write};
use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

/// Does not exist here.
#[derive(Debug)]
pub(crate) struct LocalListener(Infallible);

/// Does not exist here.
#[derive(Debug)]
pub(crate) struct Alarm;

/// Does not exist here.
#[derive(Debug)]
pub(crate) struct LocalClient<'a>(Infallible, PhantomData<&'a ()>);

impl LocalListener {
    /// Returns an error.
    ///
    /// # Errors
    /// Kind `Unsupported`, always.
    pub(crate) fn bind(_path: &Path) -> io::Result<(LocalListener, Alarm)> {
        let said = "there are no Unix sockets on this system";
        Err(Error::new(ErrorKind::Unsupported, said))
    }

    /// Cannot be called: there is no listener.
    pub(crate) fn accept(
        &mut self,
        _limit: Duration,
        _longest: usize,
    ) -> io::Result<Option<(LocalClient<'_>, Vec<u8>)>> {
        match self.0 {}
    }

    /// Cannot be called: there is no listener.
    pub(crate) fn pause(&self, _length: Duration) -> bool {
        match self.0 {}
    }
}

impl LocalClient<'_> {
    /// Cannot be called: there is no client.
    pub(crate) fn is_friend(&self) -> io::Result<bool> {
        match self.0 {}
    }

    /// Cannot be called: there is no client.
    pub(crate) fn limit(&mut self, _limit: Duration) {
        match self.0 {}
    }
}

impl Write for LocalClient<'_> {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

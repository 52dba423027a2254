//! A request: a command and its arguments.

use std::ops::Range;

use crate::blob::Blob;

/// The place of one argument.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// In the bytes of the request.
    Within(Range<usize>),
    /// In memory of its own, which a value can share: a large argument is never copied.
    Apart(Blob),
}

/// An argument that becomes a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Given<'a> {
    Bytes(&'a [u8]),
    Shared(&'a Blob),
}

/// A request: a command and its arguments, at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    bytes: &'a [u8],
    args: &'a [Place],
}

/// A copy of a request, for a transaction. Large arguments are shared with the original.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    args: Vec<Place>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(bytes: &'a [u8], args: &'a [Place]) -> Request<'a> {
        Request { bytes, args }
    }

    pub(crate) fn len(&self) -> usize {
        self.args.len()
    }

    /// The command for 0, and its arguments.
    pub(crate) fn arg(&self, n: usize) -> &'a [u8] {
        self.at(&self.args[n])
    }

    /// The arguments from the `n`th.
    pub(crate) fn args(self, n: usize) -> impl Iterator<Item = &'a [u8]> {
        self.args[n..].iter().map(move |place| self.at(place))
    }

    /// The argument as a value that may share its memory.
    pub(crate) fn value(&self, n: usize) -> Given<'a> {
        match &self.args[n] {
            Place::Within(range) => Given::Bytes(&self.bytes[range.clone()]),
            Place::Apart(bytes) => Given::Shared(bytes),
        }
    }

    /// The bytes of all arguments together.
    pub(crate) fn size(&self) -> usize {
        self.args(0).map(<[u8]>::len).sum()
    }

    /// Copies the request.
    pub(crate) fn keep(&self) -> Kept {
        let mut bytes = Vec::new();
        let args = self.args.iter().map(|place| match place {
            Place::Within(range) => {
                let start = bytes.len();
                bytes.extend_from_slice(&self.bytes[range.clone()]);
                Place::Within(start..bytes.len())
            }
            Place::Apart(shared) => Place::Apart(shared.clone()),
        });
        let args = args.collect();
        Kept { bytes, args }
    }

    fn at(&self, place: &'a Place) -> &'a [u8] {
        match place {
            Place::Within(range) => &self.bytes[range.clone()],
            Place::Apart(bytes) => bytes,
        }
    }
}

impl Kept {
    pub(crate) fn request(&self) -> Request<'_> {
        Request::new(&self.bytes, &self.args)
    }

    /// The memory that the copy takes.
    pub(crate) fn size(&self) -> usize {
        self.request().size() + self.args.len() * size_of::<Place>()
    }
}

//! Values. A large one is shared: it is stored, answered and queued without a copy.

use super::garbage::Garbage;
use crate::blob::Blob;
use crate::request::Given;

/// The bytes of a key.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Below [`LARGE`]. Copied whenever it is read, keeps its memory when it is overwritten.
    Small(Vec<u8>),
    Large(Blob),
}

/// The least length of a large value. As in Redis, an argument of this length is received into
/// memory of its own.
pub(crate) const LARGE: usize = 32 << 10;

impl Value {
    pub(crate) fn new(given: Given<'_>) -> Value {
        match given {
            Given::Bytes(bytes) => Value::from(bytes.to_vec()),
            Given::Shared(bytes) => Value::Large(bytes.clone()),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Value::Small(bytes) => bytes,
            Value::Large(bytes) => bytes,
        }
    }

    /// The memory behind the value, without that of the value itself.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Value::Small(bytes) => bytes.capacity(),
            Value::Large(bytes) => bytes.memory(),
        }
    }

    /// Overwrites the value; returns a large old one, to be dropped without a lock.
    pub(super) fn set(&mut self, given: Given<'_>) -> Option<Garbage> {
        if let (Value::Small(old), Given::Bytes(new)) = (&mut *self, given)
            && new.len() < LARGE
        {
            old.clear();
            old.extend_from_slice(new);
            if old.len() < old.capacity() / 4 {
                old.shrink_to_fit();
            }
            return None;
        }
        std::mem::replace(self, Value::new(given)).garbage()
    }

    /// Returns the value if it must be freed without a lock: a large one.
    pub(super) fn garbage(self) -> Option<Garbage> {
        match self {
            Value::Small(_) => None,
            Value::Large(bytes) => Some(Garbage::Value(bytes)),
        }
    }

    /// Changes the bytes in place; copies a large value that is being sent.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        match self {
            Value::Small(bytes) => {
                let result = change(bytes);
                if bytes.len() >= LARGE {
                    *self = Value::Large(Blob::new(std::mem::take(bytes)));
                }
                result
            }
            Value::Large(bytes) => bytes.change(change),
        }
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Value {
        if bytes.len() < LARGE {
            Value::Small(bytes)
        } else {
            Value::Large(Blob::new(bytes))
        }
    }
}

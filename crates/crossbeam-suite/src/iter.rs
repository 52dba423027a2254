//! Receiving as iteration.

use crate::receiver::Receiver;

/// Receives until the channel is closed and drained.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// Receives while the channel is not empty.
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// Receives like [`Iter`], and owns its receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<'a, T> Iter<'a, T> {
    pub(crate) fn new(receiver: &'a Receiver<T>) -> Self {
        Iter(receiver)
    }
}

impl<'a, T> TryIter<'a, T> {
    pub(crate) fn new(receiver: &'a Receiver<T>) -> Self {
        TryIter(receiver)
    }
}

impl<T> IntoIter<T> {
    pub(crate) fn new(receiver: Receiver<T>) -> Self {
        IntoIter(receiver)
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

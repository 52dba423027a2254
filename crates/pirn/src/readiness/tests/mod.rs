//! What a site knows, event by event; the models of its waits are in `tests/model`.

#[cfg(not(any(loom, shuttle)))]
mod events;

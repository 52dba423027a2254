//! Each rule gets a bad snippet and must report it.

mod comments;
mod layers;
mod unsafe_list;

//! Each rule is shown a bad snippet and must complain.

mod comments;
mod layers;
mod unsafe_list;

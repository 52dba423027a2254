//! pirn-top: what a running pirn program does, on a terminal.
//!
//! The program is `pirn-top`; this library holds its parts, for the program itself and its
//! tests. **It is not an API**: names change without notice.
//!
//! | module    | owns                                                               |
//! |-----------|--------------------------------------------------------------------|
//! | [`wire`]  | asking a runtime over its socket, and what it answers              |
//! | [`model`] | what is on the screen, and what each key does; knows no terminal   |
//! | [`view`]  | drawing the model                                                  |
//! | [`tool`]  | the command line, the terminal, the loop between them              |
//!
//! Each imports only from those above it.

#![forbid(unsafe_code)]

pub mod wire;

pub mod model;

pub mod view;

pub mod tool;

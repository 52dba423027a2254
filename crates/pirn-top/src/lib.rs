//! pirn-top: a view of a running pirn program, on a terminal or in a browser.
//!
//! The program is `pirn-top`. This library contains its parts, for the program itself and its
//! tests. **It is not an API**: names change without notice.
//!
//! | module    | owns                                                               |
//! |-----------|--------------------------------------------------------------------|
//! | [`wire`] | requests to a runtime over its socket, and the answers |
//! | [`model`] | what is on the screen, and what each key does; knows no terminal   |
//! | [`view`]  | drawing the model                                                  |
//! | [`web`]   | the page in a browser, its server, and recordings                  |
//! | [`tool`]  | the command line, the terminal, the loop between them              |
//!
//! Each imports only from those above it.

#![forbid(unsafe_code)]

pub mod wire;

pub mod model;

pub mod view;

pub mod web;

pub mod tool;

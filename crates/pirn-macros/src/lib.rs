//! The attributes [`macro@main`] and [`macro@test`] of the crate `pirn`, which re-exports them.
//!
//! Owns: reading an attribute's options and its function, and the code that replaces both. Does not
//! own: what that code calls, which is the public interface of `pirn`.
//!
//! Both attributes keep the function as it is, inside of a new one with its name. The new function
//! starts a fiber that calls the old one. Errors of use are compile errors at the token that is
//! wrong.

mod entry;
mod function;
mod misuse;
mod options;
mod testing;

use proc_macro::TokenStream;

/// The expansion names `::pirn`: the calling crate needs `pirn` as a dependency under this name.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(options.into(), item.into()).into()
}

/// The expansion names `::pirn`: the calling crate needs `pirn` as a dependency under this name.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    testing::expand(options.into(), item.into()).into()
}

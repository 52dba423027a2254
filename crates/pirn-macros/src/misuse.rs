//! Compile errors for the wrong use of an attribute.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

/// The errors found in one use of an attribute. All of them are reported at once.
#[derive(Default)]
pub(crate) struct Misuse(Option<Error>);

impl Misuse {
    /// Adds an error at the tokens that are wrong.
    pub(crate) fn report(&mut self, tokens: impl ToTokens, text: impl Display) {
        self.add(Error::new_spanned(tokens, text));
    }

    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the compile errors, if there are any.
    pub(crate) fn into_code(self) -> Option<TokenStream> {
        self.0.map(Error::into_compile_error)
    }
}

//! The function below an attribute, and the checks that both attributes share.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Result, ReturnType, Signature, Type, Visibility};

use crate::misuse::Misuse;

/// A function with a body. The body is not parsed, so it may use syntax that is newer than `syn`.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Function> {
        Ok(Function {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl Function {
    /// Reads the function below `attribute`.
    pub(crate) fn read(
        item: TokenStream,
        attribute: &str,
        misuse: &mut Misuse,
    ) -> Option<Function> {
        match syn::parse2::<Function>(item) {
            Ok(function) => {
                function.check(attribute, misuse);
                Some(function)
            }
            Err(error) => {
                let text = format!("`#[pirn::{attribute}]` needs a function: {error}");
                misuse.add(Error::new(error.span(), text));
                None
            }
        }
    }

    /// Reports qualifiers and generic parameters, which a fiber's function cannot have.
    fn check(&self, attribute: &str, misuse: &mut Misuse) {
        let signature = &self.signature;
        if let Some(word) = &signature.asyncness {
            let text = format!(
                "`async fn` under `#[pirn::{attribute}]`: remove `async`, and wait for futures \
                 with `pirn::future::wait`"
            );
            misuse.report(word, text);
        }
        let qualifiers = [
            signature.constness.to_token_stream(),
            signature.safety.to_token_stream(),
            signature.abi.to_token_stream(),
        ];
        for word in qualifiers.iter().filter(|word| !word.is_empty()) {
            let text = format!(
                "`{word}` under `#[pirn::{attribute}]`: remove it, a fiber runs an ordinary \
                 function"
            );
            misuse.report(word, text);
        }
        let generic = format!(
            "generics under `#[pirn::{attribute}]`: remove them, the attribute calls the \
             function without type arguments"
        );
        if !signature.generics.params.is_empty() {
            misuse.report(&signature.generics, &generic);
        }
        if let Some(clause) = &signature.generics.where_clause {
            misuse.report(clause, generic);
        }
    }

    /// Returns the return type, if there is one other than `()`.
    pub(crate) fn result(&self) -> Option<&Type> {
        match &self.signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, output) => match bare(output) {
                Type::Tuple(tuple) if tuple.elems.is_empty() => None,
                output => Some(output),
            },
        }
    }

    /// Returns code that converts the result of `call` to an exit code. If the result is not a
    /// `Termination`, the compiler reports the return type.
    pub(crate) fn exit_code(&self, call: &TokenStream) -> TokenStream {
        let span = self.result().map_or_else(Span::call_site, Spanned::span);
        quote_spanned! {span=> ::std::process::Termination::report(#call) }
    }
}

/// Returns the type without the invisible group in which a `macro_rules!` passes it on.
pub(crate) fn bare(of: &Type) -> &Type {
    match of {
        Type::Group(group) => bare(&group.elem),
        of => of,
    }
}

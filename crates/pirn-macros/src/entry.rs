//! `#[pirn::main]`: the program's `main`, on a fiber.

use proc_macro2::TokenStream;
use quote::quote;

use crate::function::Function;
use crate::misuse::Misuse;
use crate::options::{self, Known, Setting};

const ATTRIBUTE: &str = "main";

const KNOWN: &[Known] = &[
    options::WORKERS,
    options::MAX_THREADS,
    options::STACK_SIZE,
    options::NAME,
];

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut misuse = Misuse::default();
    let settings = options::read(options, ATTRIBUTE, KNOWN, &mut misuse);
    let function = Function::read(item, ATTRIBUTE, &mut misuse);
    if let Some(function) = &function {
        check(function, &mut misuse);
    }
    match (function, misuse.into_code()) {
        (Some(function), None) => on_a_fiber(&function, &settings),
        // A program without `main` would be one more error.
        (_, errors) => quote! { #errors fn main() {} },
    }
}

/// Reports errors that only a `main` can have.
fn check(function: &Function, misuse: &mut Misuse) {
    let signature = &function.signature;
    let name = &signature.ident;
    if name != "main" {
        let text = format!(
            "`#[pirn::main]` on `{name}`: it is for `main` alone, call `pirn::run` here"
        );
        misuse.report(name, text);
    }
    if !signature.inputs.is_empty() {
        let text = "`main` takes no arguments: remove them, `pirn::runtime::Handle::current()` \
                    returns the runtime's handle";
        misuse.report(&signature.inputs, text);
    }
}

/// Returns a `main` that calls `function` on a fiber.
///
/// The exit code is made on the fiber, so the result of `function` need not be `Send`.
fn on_a_fiber(function: &Function, settings: &[Setting]) -> TokenStream {
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = function;
    let exit_code = function.exit_code(&quote! { main() });
    let run = if settings.is_empty() {
        quote! { ::pirn::run(|| #exit_code) }
    } else {
        let names = settings.iter().map(|setting| &setting.name);
        let values = settings.iter().map(|setting| &setting.value);
        quote! {
            match ::pirn::runtime::Builder::new() #(.#names(#values))* .build() {
                ::std::result::Result::Ok(runtime) => runtime.run(|| #exit_code),
                ::std::result::Result::Err(error) => {
                    ::std::eprintln!("pirn: the runtime of `main` could not be made: {error}");
                    ::std::process::ExitCode::FAILURE
                }
            }
        }
    };
    quote! {
        #(#attributes)*
        #visibility fn main() -> ::std::process::ExitCode {
            #signature #body
            #run
        }
    }
}

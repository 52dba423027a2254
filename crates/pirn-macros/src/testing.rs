//! `#[pirn::test]`: a test on a fiber of a runtime of its own.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Type};

use crate::function::{Function, bare};
use crate::misuse::Misuse;
use crate::options::{self, Known, Setting};

const ATTRIBUTE: &str = "test";

const KNOWN: &[Known] = &[options::SEED, options::WORKERS, options::STACK_SIZE];

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut misuse = Misuse::default();
    let settings = options::read(options, ATTRIBUTE, KNOWN, &mut misuse);
    if let (Some(seed), Some(workers)) =
        (find(&settings, "seed"), find(&settings, "workers"))
    {
        let text = "`seed` and `workers` exclude each other: a seed orders the fibers of one \
                    worker, remove one of the two";
        misuse.report(&seed.name, text);
        misuse.report(&workers.name, text);
    }
    let function = Function::read(item, ATTRIBUTE, &mut misuse);
    if let Some(function) = &function {
        check(function, &mut misuse);
    }
    match (function, misuse.into_code()) {
        (Some(function), None) => on_a_fiber(&function, &settings),
        (_, errors) => quote! { #errors },
    }
}

fn find<'a>(settings: &'a [Setting], name: &str) -> Option<&'a Setting> {
    settings.iter().find(|setting| setting.name == name)
}

/// Reports errors that only a test can have.
fn check(function: &Function, misuse: &mut Misuse) {
    let doubled = function
        .attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("test"));
    for attribute in doubled {
        let text = "`#[test]` beside `#[pirn::test]`: remove it, or the test runs twice";
        misuse.report(attribute, text);
    }
    let inputs = &function.signature.inputs;
    let is_shared_reference = |input: &FnArg| match input {
        FnArg::Typed(input) => {
            matches!(bare(&input.ty), Type::Reference(of) if of.mutability.is_none())
        }
        FnArg::Receiver(_) => false,
    };
    if inputs.len() > 1 || !inputs.iter().all(is_shared_reference) {
        let text = "a test takes no argument, or one of type `&pirn::runtime::Handle`";
        misuse.report(inputs, text);
    }
}

/// Returns a test that calls `function` on a fiber.
///
/// The exit code is made on the fiber, so the result of `function` need not be `Send`. A failure
/// becomes a panic there: the other fibers are cancelled and the seed is printed, as for a failed
/// assertion.
fn on_a_fiber(function: &Function, settings: &[Setting]) -> TokenStream {
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = function;
    let name = &signature.ident;
    // Names with this span do not collide with the user's, such as a test named `handle`.
    let here = Span::mixed_site();
    // Each argument has the span of its parameter, so the compiler reports a type mismatch there.
    let arguments = signature.inputs.iter().map(|input| {
        quote_spanned! {here.located_at(input.span())=> handle}
    });
    let call = quote! { #name(#(#arguments)*) };
    // Without a result the new function has none either: `#[should_panic]` needs that.
    let (output, call) = if function.result().is_none() {
        (quote! { () }, call)
    } else {
        let exit_code = function.exit_code(&call);
        let judged = quote_spanned! {here=> {
            let code = #exit_code;
            ::std::assert!(
                code == ::std::process::ExitCode::SUCCESS,
                "the test returned a failure",
            );
            code
        }};
        (quote! { ::std::process::ExitCode }, judged)
    };
    let calls = settings.iter().map(|Setting { name, value }| {
        if name == "seed" {
            let deterministic = quote_spanned! {name.span()=> deterministic};
            quote! { .#deterministic(#value) }
        } else {
            quote! { .#name(#value) }
        }
    });
    let builder = quote! {
        ::pirn::runtime::Builder::new().name("pirn-test") #(#calls)*
    };
    let run = if find(settings, "workers").is_some() {
        quote_spanned! {here=>
            let runtime = #builder
                .build()
                .unwrap_or_else(|error| ::std::panic!("no runtime for the test: {error}"));
            let handle = &runtime.handle();
            handle.run(|| #call)
        }
    } else {
        quote_spanned! {here=> #builder.test(|handle| #call) }
    };
    quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() -> #output {
            #signature #body
            #run
        }
    }
}

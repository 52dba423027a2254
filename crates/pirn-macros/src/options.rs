//! The options of an attribute: `workers = 4, name = "web"`.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Ident, Lit, Result, Token};

use crate::misuse::Misuse;

/// An option that an attribute takes.
pub(crate) struct Known {
    name: &'static str,
    takes: Takes,
    /// A correct use, for messages.
    example: &'static str,
}

enum Takes {
    Integer,
    Text,
}

pub(crate) const WORKERS: Known = integer("workers", "workers = 4");
pub(crate) const MAX_THREADS: Known = integer("max_threads", "max_threads = 8");
pub(crate) const STACK_SIZE: Known = integer("stack_size", "stack_size = 65536");
pub(crate) const SEED: Known = integer("seed", "seed = 7");
pub(crate) const NAME: Known = Known {
    name: "name",
    takes: Takes::Text,
    example: "name = \"web\"",
};

const fn integer(name: &'static str, example: &'static str) -> Known {
    Known {
        name,
        takes: Takes::Integer,
        example,
    }
}

/// An option as it is written, with a value of the right type.
pub(crate) struct Setting {
    pub(crate) name: Ident,
    pub(crate) value: Lit,
}

/// Reads the options of `attribute`, which takes those of `known`.
pub(crate) fn read(
    options: TokenStream,
    attribute: &str,
    known: &[Known],
    misuse: &mut Misuse,
) -> Vec<Setting> {
    let mut names: Vec<Ident> = Vec::new();
    let mut settings = Vec::new();
    let all = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let (name, value) = one(input, attribute, known)?;
            if names.contains(&name) {
                misuse.report(&name, format!("`{name}` is given twice: remove one"));
            }
            names.push(name.clone());
            match value {
                Ok(value) => settings.push(Setting { name, value }),
                Err(error) => misuse.add(error),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = all.parse2(options) {
        misuse.add(error);
    }
    settings
}

/// Reads one option: its name, and its value or the error of a value of the wrong type.
///
/// # Errors
/// If the name is missing or unknown, or if the value is missing or does not parse. The start of
/// the next option is then unknown.
fn one(
    input: ParseStream<'_>,
    attribute: &str,
    known: &[Known],
) -> Result<(Ident, Result<Lit>)> {
    let takes = format!("`#[pirn::{attribute}]` takes {}", listed(known));
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format!("expected an option: {takes}")));
    }
    let name = Ident::parse_any(input)?;
    let Some(option) = known.iter().find(|option| name == option.name) else {
        let text = format!("unknown option `{name}`: {takes}");
        return Err(Error::new(name.span(), text));
    };
    let example = option.example;
    if !input.peek(Token![=]) {
        let text = format!("`{name}` has no value: write `{example}`");
        return Err(Error::new(name.span(), text));
    }
    input.parse::<Token![=]>()?;
    let value = input.parse()?;
    let kind = match option.takes {
        Takes::Integer => "an integer",
        Takes::Text => "a string",
    };
    let text = format!("`{name}` takes {kind} as a literal: write `{example}`");
    let wrong = Error::new_spanned(&value, text);
    let value = match (literal(value), &option.takes) {
        (Some(value @ Lit::Int(_)), Takes::Integer) => Ok(value),
        (Some(value @ Lit::Str(_)), Takes::Text) => Ok(value),
        _ => Err(wrong),
    };
    Ok((name, value))
}

/// Returns the literal in `value`, if it is one. A literal that a macro has passed on is in a
/// group.
fn literal(value: Expr) -> Option<Lit> {
    match value {
        Expr::Lit(value) => Some(value.lit),
        Expr::Group(group) => literal(*group.expr),
        _ => None,
    }
}

/// Returns the names of `known` as text: "`a`, `b` and `c`".
fn listed(known: &[Known]) -> String {
    let names: Vec<_> = known
        .iter()
        .map(|known| format!("`{}`", known.name))
        .collect();
    let (last, others) = names.split_last().expect("an attribute has options");
    format!("{} and {last}", others.join(", "))
}

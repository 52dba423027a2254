//! The values of attributes.

use syn::{Attribute, Expr, ExprLit, ItemMod, Lit, Meta};

/// Returns the string of `#[name = "string"]`.
pub(super) fn string(attribute: &Attribute, name: &str) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) if meta.path.is_ident(name) => Some(text.value()),
        _ => None,
    }
}

/// Returns the name of a module's file without `.rs`, if a path attribute sets it.
pub(super) fn file(module: &ItemMod) -> Option<String> {
    let mut attributes = module.attrs.iter();
    let path = attributes.find_map(|attribute| string(attribute, "path"))?;
    Some(path.trim_end_matches(".rs").to_owned())
}

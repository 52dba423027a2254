//! The page: one text without references to others.

/// The page.
pub(super) const PAGE: &str = concat!(
    include_str!("page.html"),
    "<style>",
    include_str!("page.css"),
    "</style><script>",
    include_str!("page.js"),
    "</script>",
);

#[cfg(test)]
mod tests {
    use super::PAGE;

    #[test]
    fn it_is_self_contained() {
        for reference in ["http:", "https:", "src=", "@import", "url(", "innerHTML"] {
            assert!(!PAGE.contains(reference), "{reference}");
        }
    }
}

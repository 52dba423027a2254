//! Prints samples of a child, which `Answer` parses.

/// Prints one sample.
pub fn sample(series: &str, value: f64) {
    println!("{series} {value}");
}

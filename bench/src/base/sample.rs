//! How a child gives a sample, which `Answer` reads.

/// Prints one sample.
pub fn sample(series: &str, value: f64) {
    println!("{series} {value}");
}

//! How a child answers.

/// Why a peer has no such case.
#[derive(Debug)]
pub struct Skip(pub &'static str);

/// Either all samples were printed, or the peer has no such case.
pub type Outcome = Result<(), Skip>;

/// Prints one sample.
pub fn sample(series: &str, value: f64) {
    println!("{series} {value}");
}

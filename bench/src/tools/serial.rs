//! A gzip of one thread, with the deflate that pgz uses: what the parallel ones divide.

use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Compresses the file named, or standard input, to standard output.
///
/// # Errors
/// Those of reading and writing.
pub fn gzip(level: u32, file: Option<&str>) -> io::Result<()> {
    let mut input: Box<dyn Read> = match file {
        Some(path) => Box::new(File::open(path)?),
        None => Box::new(io::stdin().lock()),
    };
    let mut output = GzEncoder::new(io::stdout().lock(), Compression::new(level));
    let mut block = vec![0; 128 << 10];
    loop {
        let length = input.read(&mut block)?;
        if length == 0 {
            return output.finish()?.flush();
        }
        output.write_all(&block[..length])?;
    }
}

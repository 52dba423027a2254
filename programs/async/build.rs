//! Generates the code of the service `Numbers`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["numbers.proto"], ["proto"])?;
    tonic_prost_build::configure()
        // The client is given a connection; it does not make one by tonic's transport.
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}

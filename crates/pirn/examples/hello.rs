//! One fiber greets, the main thread waits for it.
//!
//! Checked: `cargo run --example hello` ends with `hello from fiber 'greeter'`.

fn main() {
    let greeter = pirn::spawn::Builder::new()
        .name("greeter")
        .spawn(|| {
            format!(
                "hello from fiber '{}'",
                pirn::current().name().unwrap_or("?")
            )
        })
        .expect("the runtime takes fibers");
    println!("{}", greeter.join().expect("the greeter does not panic"));
}

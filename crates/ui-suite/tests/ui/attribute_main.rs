//! `#[pirn::main]` is for an ordinary `fn main()`: what else it stands on is named, with the
//! remedy.

mod is_async {
    #[pirn::main]
    async fn main() {}
}

mod has_arguments {
    #[pirn::main]
    fn main(arguments: Vec<String>) {}
}

mod is_generic {
    #[pirn::main]
    fn main<T>()
    where
        T: Send,
    {
    }
}

mod is_qualified {
    #[pirn::main]
    const unsafe extern "C" fn main() {}
}

mod is_no_main {
    #[pirn::main]
    fn server() {}
}

mod is_no_function {
    #[pirn::main]
    struct Main;
}

fn main() {}

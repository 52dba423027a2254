//! `#[pirn::test]` is for an ordinary function that takes a handle at most.

mod is_async {
    #[pirn::test]
    async fn test() {}
}

mod is_generic {
    #[pirn::test]
    fn test<T>() {}
}

mod has_arguments {
    #[pirn::test]
    fn two(one: &pirn::runtime::Handle, other: &pirn::runtime::Handle) {}

    #[pirn::test]
    fn by_value(runtime: pirn::runtime::Handle) {}
}

mod is_doubled {
    #[pirn::test]
    #[test]
    fn test() {}
}

fn main() {}

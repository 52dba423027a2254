//! Options of the attributes: a wrong one is named, with the right ones.

mod unknown {
    #[pirn::main(worker_threads = 4)]
    fn main() {}

    #[pirn::test(name = "x")]
    fn test() {}
}

mod of_the_wrong_type {
    #[pirn::main(workers = "4", stack_size = -1, max_threads = 64 * 1024, name = 7)]
    fn main() {}

    #[pirn::test(seed = "7")]
    fn test() {}
}

mod given_twice {
    #[pirn::main(workers = 4, workers = 5)]
    fn main() {}
}

mod without_a_value {
    #[pirn::main(workers)]
    fn main() {}
}

mod without_a_name {
    #[pirn::main(4)]
    fn main() {}
}

mod both {
    #[pirn::test(seed = 7, workers = 2)]
    fn test() {}
}

fn main() {}

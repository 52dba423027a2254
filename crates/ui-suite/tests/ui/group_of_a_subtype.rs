//! A group gives out what was put in: a group of a subtype is not a group of the type.

use pirn::scope::TaskGroup;

fn main() {
    let any: TaskGroup<for<'a> fn(&'a str)> = TaskGroup::new();
    let _narrow: &TaskGroup<fn(&'static str)> = &any;
}

//! Which steps are about the same object, and which of them change it.

use pirn::dev::sim::{Operation, Step};

/// Returns true if the order of two steps matters to their object: it is the same one, and at least
/// one of them changes it. A step without a known object has no such conflict.
pub(super) fn conflicts(one: Step, other: Step) -> bool {
    let same = one.object == other.object && one.object != 0;
    same && !(only_reads(one.operation) && only_reads(other.operation))
}

/// Returns true if two such operations on one object may change places.
fn only_reads(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Read | Operation::Look | Operation::Load | Operation::Check
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_one_object_do_not_conflict() {
        let step = |operation, object| Step { operation, object };
        let (lock, read) = (Operation::Lock, Operation::Read);
        assert!(conflicts(step(lock, 1), step(lock, 1)));
        assert!(conflicts(step(lock, 1), step(read, 1)));
        assert!(!conflicts(step(read, 1), step(read, 1)));
        assert!(!conflicts(step(read, 1), step(Operation::Look, 1)));
        assert!(!conflicts(step(lock, 1), step(lock, 2)));
        assert!(!conflicts(step(lock, 0), step(lock, 0)));
    }
}

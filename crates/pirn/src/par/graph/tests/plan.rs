//! Plans of random graphs, compared with the definition of which node waits for which.

use crate::base::rng::Rng;
use crate::par::graph::access::{Access, Use};
use crate::par::graph::node_id::NodeId;
use crate::par::graph::plan::Plan;

struct Declared {
    accesses: Vec<Access>,
    orders: Vec<(u32, u32)>,
}

/// Returns up to 60 nodes that use up to eight resources, named in either way, and orders
/// along a random ranking.
fn random(rng: &mut Rng) -> Declared {
    struct R<const N: usize>;
    let n = 1 + rng.below(60);
    let mut rank: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rank.swap(i, rng.below(i + 1));
    }
    let (resources, uses, orders) = (1 + rng.below(8), rng.below(4), rng.below(n));
    let mut accesses = vec![Access::new(); n];
    for place in &mut accesses {
        for _ in 0..uses {
            let access = std::mem::take(place);
            *place = match (rng.below(resources), rng.below(3)) {
                (0, 0) => access.write::<R<0>>(),
                (0, _) => access.read::<R<0>>(),
                (1, 0) => access.write::<R<1>>(),
                (1, _) => access.read::<R<1>>(),
                (r, 0) => access.write_named(format!("{r}")),
                (r, _) => access.read_named(format!("{r}")),
            };
        }
    }
    let mut pairs = Vec::new();
    for _ in 0..orders {
        let (a, b) = (rng.below(n), rng.below(n));
        let (front, back) = if rank[a] < rank[b] { (a, b) } else { (b, a) };
        match front == back {
            true => {}
            false if rng.below(2) == 0 => pairs.push((front as u32, back as u32)),
            false => {
                let access = std::mem::take(&mut accesses[back]);
                accesses[back] = access.after(NodeId(front as u32));
            }
        }
    }
    Declared {
        accesses,
        orders: pairs,
    }
}

/// Returns the order by definition: explicit orders, then conflicts down the line.
fn defined(declared: &Declared) -> (Vec<u32>, Vec<Vec<bool>>) {
    let n = declared.accesses.len();
    let mut said = vec![vec![false; n]; n];
    for &(front, back) in &declared.orders {
        said[front as usize][back as usize] = true;
    }
    for (node, access) in declared.accesses.iter().enumerate() {
        access
            .after
            .iter()
            .for_each(|id| said[id.0 as usize][node] = true);
    }
    let mut line: Vec<u32> = Vec::new();
    while line.len() < n {
        let placed = |node: usize| line.contains(&(node as u32));
        let next = (0..n).find(|node| {
            !placed(*node) && (0..n).all(|front| !said[front][*node] || placed(front))
        });
        line.push(next.expect("ranked") as u32);
    }
    let mut before = said;
    for (i, a) in line.iter().map(|node| *node as usize).enumerate() {
        for b in line[i + 1..].iter().map(|node| *node as usize) {
            before[a][b] |= conflict(&declared.accesses[a], &declared.accesses[b]);
        }
    }
    (line, before)
}

fn conflict(a: &Access, b: &Access) -> bool {
    a.uses.iter().any(|(left, how)| {
        b.uses.iter().any(|(right, other)| {
            left == right && (*how == Use::Write || *other == Use::Write)
        })
    })
}

/// Returns the transitive closure of `before`.
fn closed(mut before: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for via in 0..before.len() {
        let behind = before[via].clone();
        for row in before.iter_mut().filter(|row| row[via]) {
            for (reached, from_via) in row.iter_mut().zip(&behind) {
                *reached |= from_via;
            }
        }
    }
    before
}

/// In a plan a node waits for its predecessors, direct and indirect, and for no others.
// Proves: O14.
#[test]
fn plans_are_what_is_defined() {
    for seed in 1..=1_000 {
        let declared = random(&mut Rng::new(seed));
        let plan = Plan::new(&declared.accesses, &declared.orders).expect("no cycle");
        let (line, before) = defined(&declared);
        assert_eq!(plan.line, line, "seed {seed}");
        let n = line.len();
        let mut planned = vec![vec![false; n]; n];
        let mut needs = vec![0; n];
        for position in 0..n {
            for &behind in plan.behind(position as u32) {
                planned[line[position] as usize][line[behind as usize] as usize] = true;
                needs[behind as usize] += 1;
            }
        }
        assert_eq!(plan.needs, needs, "seed {seed}");
        assert_eq!(closed(planned), closed(before), "seed {seed}");
    }
}

/// A resource that many nodes read between two writes has one edge for each reader on
/// either side, and none between the writers.
// Proves: O14.
#[test]
fn what_follows_is_left_out() {
    let mut accesses = vec![Access::new().write::<u8>()];
    accesses.extend(vec![Access::new().read::<u8>(); 10]);
    accesses.push(Access::new().write::<u8>());
    let plan = Plan::new(&accesses, &[]).expect("no cycle");
    assert_eq!(plan.behind(0), (1..=10).collect::<Vec<u32>>());
    (1..=10).for_each(|reader| assert_eq!(plan.behind(reader), [11]));
    assert_eq!(plan.needs[11], 10);
}

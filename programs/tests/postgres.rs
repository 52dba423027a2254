//! sqlx with its pool, unchanged, from fibers, against PostgreSQL.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod cluster;
mod peers;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pirn::future::tokio::{compat, enter};
use pirn::future::wait;
use pirn::{Interrupt, Runtime};
use sqlx::postgres::{
    PgArguments, PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres,
};
use sqlx::query::Query;
use sqlx::{Connection as _, query, query_as, query_scalar};

use cluster::{Cluster, USER};
use peers::LIMIT;

/// Connections of the pool.
const POOL: u32 = 5;

/// Longer than any timeout that interrupts it.
const SLOW: &str = "SELECT pg_sleep(0.05)";

type Outcome<T = ()> = anyhow::Result<T>;

/// Waits for a future of sqlx.
fn sql<T>(work: impl Future<Output = sqlx::Result<T>>) -> Outcome<T> {
    Ok(wait(compat(work))??)
}

/// Returns the options of a connection.
fn options(cluster: &Cluster) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(cluster.directory())
        .username(USER)
        .database("postgres")
}

/// Runs `test` on fibers with a pool that has no connection yet.
fn with_pool(name: &str, test: impl FnOnce(&PgPool) -> Outcome + Send) {
    let Some(cluster) = Cluster::start(name) else {
        return;
    };
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let builder = Runtime::builder().workers(2).tokio(tokio.handle().clone());
    let runtime = builder.build().unwrap();
    let pool = PgPoolOptions::new()
        .max_connections(POOL)
        .acquire_timeout(LIMIT);
    let tested = runtime.run(|| {
        let pool = enter(|| pool.connect_lazy_with(options(&cluster)));
        test(&pool)?;
        check_whole(&pool)?;
        wait(compat(pool.close()))?;
        let mut alone = sql(PgConnection::connect_with(&options(&cluster)))?;
        eventually("its connections have gone", || {
            Ok(activity(&mut alone)?.0 == 1)
        })?;
        sql(alone.close())
    });
    tested.unwrap();
}

fn eventually(what: &str, mut condition: impl FnMut() -> Outcome<bool>) -> Outcome {
    let start = Instant::now();
    while !condition()? {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        pirn::sleep(Duration::from_millis(1))?;
    }
    Ok(())
}

/// Returns the number of client connections, and of those but the querying one that are active or
/// in a transaction.
fn activity(connection: &mut PgConnection) -> Outcome<(i64, i64)> {
    let counts = query_as(
        "SELECT count(*), count(*) FILTER (WHERE state <> 'idle' AND pid <> pg_backend_pid())
         FROM pg_stat_activity WHERE usename = $1 AND backend_type = 'client backend'",
    );
    sql(counts.bind(USER).fetch_one(connection))
}

/// Checks that the pool has all its connections, each works, and the server knows of no other.
fn check_whole(pool: &PgPool) -> Outcome {
    eventually("all come back", || {
        assert!(pool.size() <= POOL);
        Ok(pool.num_idle() == pool.size() as usize)
    })?;
    let mut connections = Vec::new();
    let mut servers = HashSet::new();
    for _ in 0..POOL {
        let mut connection = sql(pool.acquire())?;
        servers
            .insert(sql(query_scalar::<_, i32>("SELECT pg_backend_pid()")
                .fetch_one(&mut *connection))?);
        connections.push(connection);
    }
    assert_eq!((servers.len(), pool.num_idle()), (POOL as usize, 0));
    eventually("the server knows of no other", || {
        Ok(activity(&mut connections[0])? == (i64::from(POOL), 0))
    })?;
    assert!(enter(|| pool.try_acquire()).is_none());
    // Dropping a connection spawns a task that returns it.
    enter(|| drop(connections));
    eventually("all are idle", || Ok(pool.num_idle() == POOL as usize))?;
    let answer: i32 = sql(query_scalar("SELECT 6 * 7").fetch_one(pool))?;
    assert_eq!(answer, 42);
    Ok(())
}

/// Checks that `limit` interrupts `work`.
fn cut<T>(limit: Duration, work: impl FnOnce() -> T) {
    assert!(pirn::timeout(limit, work).is_err(), "not cut at {limit:?}");
}

/// One request of many: every tenth is interrupted, at any point.
fn request(pool: &PgPool, number: i64) -> Outcome {
    let limit = Duration::from_micros(number as u64 % 97 * 100);
    match number % 30 {
        // At any point: while it waits for a connection, opens one, sends, or receives.
        0 => cut(limit, || wait(compat(query(SLOW).execute(pool)))),
        // With a connection: mostly while the server executes it.
        10 => {
            let mut connection = sql(pool.acquire())?;
            cut(limit, || {
                wait(compat(query(SLOW).execute(&mut *connection)))
            });
            enter(|| drop(connection));
        }
        // Amid a transaction.
        20 => cut(Duration::from_millis(20), || {
            wait(compat(async {
                let mut transaction = pool.begin().await?;
                insertion(number).execute(&mut *transaction).await?;
                query(SLOW).execute(&mut *transaction).await?;
                transaction.commit().await
            }))
        }),
        1 => sql(async {
            let mut transaction = pool.begin().await?;
            insertion(number).execute(&mut *transaction).await?;
            transaction.commit().await
        })?,
        _ => {
            let double = query_scalar::<_, i64>("SELECT $1 * 2::int8").bind(number);
            assert_eq!(sql(double.fetch_one(pool))?, number * 2);
        }
    }
    Ok(())
}

/// Returns the insertion of `number`; the row remains if its transaction commits.
fn insertion(number: i64) -> Query<'static, Postgres, PgArguments> {
    query("INSERT INTO kept VALUES ($1)").bind(number)
}

// Proves: S14.
#[test]
fn a_pool_is_whole_after_a_tenth_of_the_requests_were_cut() {
    with_pool("cuts", |pool| {
        sql(query("CREATE TABLE kept (number int8 PRIMARY KEY)").execute(pool))?;
        pirn::try_scope(|scope| {
            for fiber in 0..40 {
                scope.spawn(move || {
                    (0..25).try_for_each(|i| request(pool, fiber + 40 * i))
                });
            }
            Ok(())
        })?;
        let kept = query_scalar("SELECT number FROM kept ORDER BY number");
        let kept: Vec<i64> = sql(kept.fetch_all(pool))?;
        assert_eq!(kept, Vec::from_iter((1..1000).step_by(30)));
        Ok(())
    });
}

// Proves: S14.
#[test]
fn a_pool_is_whole_after_fibers_were_cancelled() {
    with_pool("cancels", |pool| {
        for round in 0..10 {
            pirn::scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(|| {
                        while let Ok(done) = wait(compat(query(SLOW).execute(pool))) {
                            done.unwrap();
                        }
                        assert_eq!(pirn::cancel::reason(), Some(Interrupt::Cancelled));
                    });
                }
                let moment = Duration::from_millis(round * 7);
                pirn::sleep(moment).unwrap();
                scope.cancel();
            });
        }
        Ok(())
    });
}

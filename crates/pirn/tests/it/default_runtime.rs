//! The default runtime: created on first use, or installed before that.

use pirn::Runtime;
use pirn::dispatcher::Dispatcher;
use pirn::runtime::{Builder, Handle, InstallError, shutdown_default};

use crate::util::{LONG, apart};

/// The default runtime is created on first use; after that `install` fails.
// Proves: A5, L1.
#[test]
fn the_default_runtime_is_made_on_first_use() {
    let ended = apart(
        "default_runtime::the_default_runtime_is_made_on_first_use",
        &[],
        || {
            assert!(Handle::try_current().is_none());
            assert_eq!(pirn::run(|| 1), 1);
            let installed = Builder::new().install();
            assert!(matches!(installed, Err(InstallError::Exists)));
            shutdown_default(LONG).unwrap();
            assert_eq!(pirn::spawn(|| 2).join().unwrap(), 2, "a new one is made");
            shutdown_default(LONG).unwrap();
            shutdown_default(LONG).unwrap();
            // Another dispatcher creates none.
            assert_eq!(Dispatcher::single().unwrap().run(|| 3), 3);
            Builder::new().install().expect("there is none yet");
            shutdown_default(LONG).unwrap();
            assert_eq!(Dispatcher::default().run(|| 4), 4);
            let installed = Builder::new().install();
            assert!(matches!(installed, Err(InstallError::Exists)));
        },
    );
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A5. An installed runtime is the default one, until it is shut down.
#[test]
fn an_installed_runtime_is_the_default() {
    let ended = apart(
        "default_runtime::an_installed_runtime_is_the_default",
        &[],
        || {
            Runtime::builder()
                .name("mine")
                .workers(1)
                .install()
                .unwrap();
            let name = pirn::run(thread_name);
            assert_eq!(name.as_deref(), Some("mine-0"));
            shutdown_default(LONG).unwrap();
            Runtime::builder()
                .name("next")
                .workers(1)
                .install()
                .unwrap();
            let name = pirn::run(thread_name);
            assert_eq!(name.as_deref(), Some("next-0"));
        },
    );
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// The functions of a builder that cannot be installed are dropped where the default runtime can be
/// used.
#[test]
fn a_failed_install_leaves_the_default_runtime_usable() {
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            assert_eq!(pirn::run(|| 1), 1);
        }
    }
    let name = "default_runtime::a_failed_install_leaves_the_default_runtime_usable";
    let ended = apart(name, &[], || {
        let uses = Uses;
        let builder = Builder::new()
            .max_stacks(0)
            .on_thread_start(move || _ = &uses);
        let failed = builder.install();
        assert!(matches!(failed, Err(InstallError::Io(_))), "{failed:?}");
        let failed = Builder::new().install();
        assert!(matches!(failed, Err(InstallError::Exists)), "{failed:?}");
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// In its start hook the runtime that is being installed is the current one: the hook creates no
/// other default one.
#[test]
fn a_start_hook_uses_the_runtime_that_is_installed() {
    let name = "default_runtime::a_start_hook_uses_the_runtime_that_is_installed";
    let ended = apart(name, &[], || {
        let (tx, rx) = pirn::channel::unbounded();
        let hook = move || {
            let tx = tx.clone();
            assert!(Handle::try_current().is_some());
            pirn::spawn(move || tx.send(thread_name()).unwrap()).detach();
        };
        let builder = Builder::new().name("mine").workers(1).prewarm(4_096);
        let installed = builder.on_thread_start(hook).install();
        installed.expect("no other runtime is made");
        assert_eq!(pirn::run(thread_name).as_deref(), Some("mine-0"));
        assert_eq!(rx.recv().unwrap().as_deref(), Some("mine-0"));
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

fn thread_name() -> Option<String> {
    std::thread::current().name().map(str::to_owned)
}

/// Of several threads that install a runtime, one succeeds, and its runtime is the default one.
#[test]
fn one_of_several_installs_succeeds() {
    let name = "default_runtime::one_of_several_installs_succeeds";
    let ended = apart(name, &[], || {
        for _ in 0..50 {
            let installed: usize = std::thread::scope(|s| {
                let threads = [0, 1, 2, 3].map(|n| {
                    s.spawn(move || {
                        let builder = Builder::new().workers(1).name(format!("n{n}"));
                        match builder.install() {
                            Ok(()) => Some(n),
                            Err(InstallError::Exists) => None,
                            Err(error) => panic!("{error}"),
                        }
                    })
                });
                let names = threads.map(|thread| thread.join().unwrap());
                let mut names = names.into_iter().flatten();
                let first = names.next().expect("one is installed");
                assert_eq!(names.next(), None, "more than one is installed");
                first
            });
            assert_eq!(pirn::run(thread_name), Some(format!("n{installed}-0")));
            shutdown_default(LONG).unwrap();
        }
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

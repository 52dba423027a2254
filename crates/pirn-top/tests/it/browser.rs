//! The page of `--web` in a browser: clicks, filters, orders, and its layout at two widths.
//!
//! [`Browser`] drives a headless chromium over the DevTools protocol: JSON objects, each followed
//! by a NUL, on two pipes. Every wait has a deadline, and its panic names the step of the test.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::diag::State;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::once::{printed, section};
use crate::sandbox::{Directory, LONG, Shop, eventually, quarrel, run};
use crate::unmeasured::unmeasured;
use crate::web::{Served, text};

/// JavaScript: the rows of the list of fibers that the page holds.
const ROWS: &str = "$$('#space .row')";

/// A headless browser with one page. It ends on drop.
pub(crate) struct Browser {
    program: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    /// Its standard error stream.
    log: PathBuf,
    /// The start of an incomplete message.
    begun: Vec<u8>,
    messages: VecDeque<Value>,
    /// The number of requests.
    sent: u64,
    /// The page's session.
    session: Option<String>,
    step: &'static str,
}

impl Browser {
    pub(crate) fn is_installed() -> bool {
        Command::new("chromium").arg("--version").output().is_ok()
    }

    /// Starts a browser with its files in `directory`, and opens the page at `url`.
    pub(crate) fn open(directory: &Directory, url: &str) -> Browser {
        let (profile, log) = (directory.at("profile"), directory.at("log"));
        let mut command = Command::new("sh");
        // The browser reads requests from descriptor 3 and writes answers to descriptor 4.
        command.args([
            "-c",
            r#"exec chromium "$@" 3<&0 4>&1 </dev/null >/dev/null"#,
            "sh",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
            &format!("--user-data-dir={}", text(&profile)),
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(&log).expect("a new file"));
        let mut program = command.spawn().expect("it runs");
        let mut browser = Browser {
            requests: program.stdin.take().expect("a pipe"),
            answers: program.stdout.take().expect("a pipe"),
            program,
            log,
            begun: Vec::new(),
            messages: VecDeque::new(),
            sent: 0,
            session: None,
            step: "the page opens",
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        browser.call("Runtime.enable", &json!({}));
        browser.call("Page.enable", &json!({}));
        browser.resize(1_300);
        browser.call("Page.navigate", &json!({"url": url}));
        browser
            .until("location.protocol === 'http:' && document.readyState === 'complete'");
        browser
    }

    /// Names the next step of the test for panics.
    fn step(&mut self, step: &'static str) {
        self.step = step;
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        panic!("{}: {what}\nstderr of the browser:\n{log}", self.step)
    }

    /// Sends a request; returns its result.
    #[track_caller]
    fn call(&mut self, method: &str, arguments: &Value) -> Value {
        self.sent += 1;
        let mut request = json!({"id": self.sent, "method": method, "params": arguments});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let sent = self.requests.write_all(format!("{request}\0").as_bytes());
        if let Err(error) = sent {
            self.fail(&format!("{method} was not sent: {error}"));
        }
        let deadline = Instant::now() + LONG;
        loop {
            let mut message = self.receive(method, deadline);
            if message["method"] == "Runtime.exceptionThrown" {
                self.fail(&format!("the page failed: {message}"));
            }
            if message["id"] == self.sent {
                if !message["error"].is_null() {
                    self.fail(&format!("{request}: {message}"));
                }
                return message["result"].take();
            }
        }
    }

    /// Returns the next answer or event.
    #[track_caller]
    fn receive(&mut self, method: &str, deadline: Instant) -> Value {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return message;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a valid time");
            let mut answers = [PollFd::new(&self.answers, PollFlags::IN)];
            if poll(&mut answers, Some(&left)).expect("it can be polled") == 0 {
                self.fail(&format!("no answer to {method} within {LONG:?}"));
            }
            let mut bytes = vec![0; 1 << 16];
            let length = self.answers.read(&mut bytes).expect("it can be read");
            if length == 0 {
                self.fail(&format!("the browser has ended before {method}"));
            }
            for part in bytes[..length].split_inclusive(|byte| *byte == 0) {
                self.begun.extend(part);
                if self.begun.pop_if(|byte| *byte == 0).is_some() {
                    let message = serde_json::from_slice(&self.begun);
                    self.messages.push_back(message.expect("JSON"));
                    self.begun.clear();
                }
            }
        }
    }

    /// Returns the value of a JavaScript expression, in which `$` and `$$` select elements.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let arguments = json!({
            "expression": expression,
            "returnByValue": true,
            "includeCommandLineAPI": true,
        });
        let mut result = self.call("Runtime.evaluate", &arguments);
        if !result["exceptionDetails"].is_null() {
            self.fail(&format!("{expression}: {result}"));
        }
        result["result"]["value"].take()
    }

    /// Polls until a JavaScript expression is true.
    #[track_caller]
    pub(crate) fn until(&mut self, condition: &str) {
        let deadline = Instant::now() + LONG;
        while self.eval(condition) != true {
            if Instant::now() > deadline {
                let page = self.eval("document.body.innerText");
                let page = page.as_str().unwrap_or_default();
                self.fail(&format!("not within {LONG:?}: {condition}\n{page}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Scrolls to an element, and returns its centre once it has stopped and nothing covers it.
    #[track_caller]
    fn find(&mut self, element: &str) -> Value {
        let find = format!(
            "(() => {{
              const element = {element};
              if (!element) return null;
              element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
              const {{ x, y, width, height }} = element.getBoundingClientRect();
              const centre = {{ x: x + width / 2, y: y + height / 2 }};
              const top = document.elementFromPoint(centre.x, centre.y);
              return element.contains(top) ? centre : null;
            }})()"
        );
        let deadline = Instant::now() + LONG;
        let mut before = Value::Null;
        loop {
            let centre = self.eval(&find);
            if !centre.is_null() && centre == before {
                return centre;
            }
            if Instant::now() > deadline {
                self.fail(&format!("not within {LONG:?} in sight: {element}"));
            }
            before = centre;
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses or releases the left button of the mouse.
    #[track_caller]
    fn mouse(&mut self, action: &str, centre: &Value) {
        let mut arguments = centre.clone();
        arguments["type"] = json!(action);
        arguments["button"] = json!("left");
        arguments["clickCount"] = json!(1);
        self.call("Input.dispatchMouseEvent", &arguments);
    }

    #[track_caller]
    fn click(&mut self, element: &str) {
        let centre = self.find(element);
        self.mouse("mousePressed", &centre);
        self.mouse("mouseReleased", &centre);
    }

    /// Sets the value of a field, as typing or a choice does.
    #[track_caller]
    fn set(&mut self, id: &str, value: &str) {
        let value = json!(value);
        self.eval(&format!(
            "(() => {{
              const field = $('#{id}');
              field.value = {value};
              for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind));
            }})()"
        ));
    }

    /// Returns the ids of the fibers in the list, in order. The list must be short: the page has
    /// only the rows that are visible.
    #[track_caller]
    fn listed(&mut self) -> Vec<String> {
        let ids = self.eval(&format!("{ROWS}.map((row) => row.firstChild.textContent)"));
        serde_json::from_value(ids).expect("texts")
    }

    fn resize(&mut self, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Writes a picture of the whole page.
    fn take_picture(&mut self, path: &Path) {
        let clip = "scrollTo(0, 0), ({ x: 0, y: 0, scale: 1, width: innerWidth,
            height: document.documentElement.scrollHeight })";
        let clip = self.eval(clip);
        let arguments = json!({"captureBeyondViewport": true, "clip": clip});
        let picture = self.call("Page.captureScreenshot", &arguments);
        let mut decoder = Command::new("base64");
        decoder.arg("-d").stdin(Stdio::piped());
        decoder.stdout(File::create(path).expect("a new file"));
        let mut decoder = decoder.spawn().expect("it runs");
        let mut input = decoder.stdin.take().expect("a pipe");
        let data = picture["data"].as_str().expect("a picture");
        input.write_all(data.as_bytes()).expect("it reads");
        drop(input);
        assert!(decoder.wait().expect("a status").success());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({"id": self.sent + 1, "method": "Browser.close"});
        let _ = self.requests.write_all(format!("{close}\0").as_bytes());
        let deadline = Instant::now() + Duration::from_secs(10);
        while matches!(self.program.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Between two snapshots.
const INTERVAL: Duration = Duration::from_millis(100);
const READERS: usize = 20;
const SLEEPERS: usize = 4;
/// So few that the page holds a row for each.
const ALL: usize = READERS + SLEEPERS + 2;

/// Spawns [`ALL`] fibers that wait, two of them for each other. The readers wait as long as the
/// returned sender exists.
fn spawn_few(runtime: &Runtime) -> pirn::channel::Sender<u8> {
    let (sender, receiver) = pirn::channel::bounded(0);
    let named = |name: String| pirn::spawn::Builder::new().name(name);
    runtime.enter(|| {
        for i in 0..READERS {
            let receiver = receiver.clone();
            let reader = named(format!("reader-{i}")).spawn(move || receiver.recv());
            drop(reader.expect("a fiber"));
        }
        for i in 0..SLEEPERS {
            let sleep = || pirn::sleep(Duration::from_secs(3_600));
            let sleeper = named(format!("Sleeper \u{c4}\u{202e}-{i}")).spawn(sleep);
            drop(sleeper.expect("a fiber"));
        }
    });
    quarrel(runtime);
    eventually("all wait", || {
        let fibers = runtime.fibers();
        let parked = fibers.iter().filter(|fiber| fiber.state == State::Parked);
        parked.count() == ALL
    });
    sender
}

/// Returns, as JavaScript, the row of the fiber with this name.
fn row(name: &str) -> String {
    format!("{ROWS}.find((row) => row.children[1].textContent === '{name}')")
}

/// Waits until the page lists the fibers that `--once` prints with `args`; returns their number.
#[track_caller]
fn agree(page: &mut Browser, socket: &Path, args: &[&str]) -> usize {
    let deadline = Instant::now() + LONG;
    loop {
        let once = printed(&run(socket, &[&["--once"], args].concat()));
        let lines = section(&once, "fibers").into_iter().skip(1);
        let printed: Vec<_> = lines
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let listed = page.listed();
        if listed == printed {
            return listed.len();
        }
        if Instant::now() > deadline {
            page.fail(&format!(
                "{args:?}: the page lists {listed:?}, `--once` {printed:?}"
            ));
        }
    }
}

/// A click on a row of the groups sets the filter to the group.
fn click_a_group(page: &mut Browser) {
    page.step("a group is clicked");
    let group = "$$('#groups tr.link')
        .find((row) => row.cells[2].textContent === 'Recv')";
    page.until(&format!("{group}?.cells[0].textContent === '{READERS}'"));
    let line = page.eval(&format!("{group}.cells[4].textContent"));
    page.click(group);
    let filter = format!("state:parked reason:Recv {}", line.as_str().expect("text"));
    page.until(&format!("$('#filter').value === {}", json!(filter)));
    page.until(&format!("$('#shown').textContent === '{READERS} of {ALL}'"));
    page.until(&format!("{ROWS}.length === {READERS}"));
    for i in 0..READERS {
        page.until(&format!("!!{}", row(&format!("reader-{i}"))));
    }
}

/// The page and `--once` agree on each filter.
fn type_filters(page: &mut Browser, socket: &Path) {
    page.step("a filter is typed");
    page.set("order", "id");
    let mut count = |filter: &str| {
        page.set("filter", filter);
        agree(page, socket, &["--sort", "fiber", "--filter", filter])
    };
    for (filter, fibers) in [
        ("state:parked", ALL),
        ("state:running", 0),
        ("state:park", 0),
        ("reason:Recv", READERS),
        (" STATE:parked  reason:mutex ", 2),
        ("name:READER-1", 11),
        ("name:", ALL),
        ("reason:", 0),
        ("recv reader-", READERS),
        ("recv sleeper", 0),
        ("clerk", 1),
        ("parked", ALL),
        ("browser.rs:", READERS + SLEEPERS),
        ("name:\u{e4}", SLEEPERS),
        // A character that changes the direction is not shown as it is.
        (r"ä\u{202e}-", SLEEPERS),
        ("\u{202e}", 0),
        ("no:key", 0),
        ("", ALL),
    ] {
        assert_eq!(count(filter), fibers, "{filter}");
    }
    assert_eq!(count("worker:0") + count("worker:1"), ALL);
}

/// The page and `--once` agree on the order by each column but the age, which changes.
fn choose_orders(page: &mut Browser, socket: &Path) {
    page.step("an order is chosen");
    page.set("filter", "");
    for (order, column) in [
        ("id", "fiber"),
        ("name", "name"),
        ("state", "state"),
        ("reason", "reason"),
        ("worker", "w"),
        ("stack", "stack"),
        ("object", "waits-for"),
        ("waits", "waits-at"),
        ("spawned", "spawned-at"),
    ] {
        page.set("order", order);
        agree(page, socket, &["--sort", column]);
        let mut forward = page.listed();
        page.click("$('#reverse')");
        agree(page, socket, &["--sort", column, "--reverse"]);
        if order == "id" || order == "name" {
            forward.reverse();
            assert_eq!(page.listed(), forward, "{order}");
        }
        page.click("$('#reverse')");
    }
}

/// Waits until the page shows the details of the fiber, with these words.
#[track_caller]
fn detail(page: &mut Browser, name: &str, words: &[&str]) {
    let title = "$('#detail-title').textContent";
    page.until(&format!("{title}.endsWith(\"'{name}'\")"));
    let shown = "$('#detail')";
    page.until(&format!("!{shown}.hidden"));
    for words in words {
        page.until(&format!("{shown}.innerText.includes({})", json!(words)));
    }
    page.until(&format!("{}?.classList.contains('chosen')", row(name)));
}

fn close(page: &mut Browser) {
    page.click("$('#close')");
    page.until("$('#detail').hidden");
    page.until("!$('.chosen')");
}

/// A click on a row of the list opens the details of its fiber.
fn click_a_fiber(page: &mut Browser) {
    page.step("a fiber is clicked");
    page.click(&row("clerk"));
    let words = ["Waits for", "mutex", "Frames", "sandbox.rs", "quarrel"];
    detail(page, "clerk", &words);
    page.click(&row("reader-3"));
    detail(page, "reader-3", &["channel", "recv", "spawn_few"]);
    close(page);
    page.step("a press is longer than an interval");
    let centre = page.find(&row("reader-4"));
    page.mouse("mousePressed", &centre);
    std::thread::sleep(5 * INTERVAL);
    page.mouse("mouseReleased", &centre);
    detail(page, "reader-4", &[]);
    close(page);
}

/// The graph of waits marks the cycle; a click on a box opens the details of its fiber.
fn click_the_graph(page: &mut Browser) {
    page.step("the graph is clicked");
    let cycle = "$('#cycles li')";
    for words in ["'clerk' waits for mutex", "'manager' waits for mutex"] {
        page.until(&format!("{cycle}?.textContent.includes({})", json!(words)));
    }
    // The cycle is in two snapshots.
    page.until(&format!(
        "{cycle}?.textContent.includes('so far') === false"
    ));
    for (begin, name) in [("", "manager"), ("held by ", "clerk"), ("", "clerk")] {
        page.click(&format!(
            "$$('#waits g').find((box) =>
                /^{begin}\\d+ '{name}'$/.test(box.querySelector('title').textContent)
                && box.querySelector('rect.bad'))"
        ));
        detail(page, name, &["Waits for", "mutex", "quarrel"]);
        close(page);
    }
}

/// The button stops the updates, and starts them again.
fn pause(page: &mut Browser) {
    page.step("the updates are paused");
    const SHOWN: &str = "$('#runtime').textContent";
    const BUTTON: &str = "$('#pause')";
    let begin = page.eval(SHOWN);
    page.until(&format!("{SHOWN} !== {begin}"));
    page.click(BUTTON);
    page.until(&format!("{BUTTON}.textContent === 'Resume'"));
    // The uptime is shown in seconds. One update may be under way.
    let stopped = (0..3).any(|_| {
        let before = page.eval(SHOWN);
        std::thread::sleep(Duration::from_millis(1_500));
        page.eval(SHOWN) == before
    });
    assert!(stopped, "the page is still updated");
    page.step("the updates are resumed");
    let stopped = page.eval(SHOWN);
    page.click(BUTTON);
    page.until(&format!("{BUTTON}.textContent === 'Pause'"));
    page.until(&format!("{SHOWN} !== {stopped}"));
}

/// The page fits two widths, without and with the details of a fiber. Pictures of it are written
/// to the directory `PIRN_TOP_SCREENSHOTS`, if it is set.
fn measure(page: &mut Browser) {
    page.step("the page is measured");
    let pictures = std::env::var_os("PIRN_TOP_SCREENSHOTS").map(PathBuf::from);
    for width in [1_300, 400] {
        page.resize(width);
        for name in ["page", "detail"] {
            if name == "detail" {
                page.click(&row("clerk"));
                detail(page, "clerk", &[]);
            }
            page.until(&format!("innerWidth === {width}"));
            page.until(
                "[document.documentElement, $('#list')]
                    .every((element) => element.scrollWidth <= element.clientWidth)",
            );
            if let Some(directory) = &pictures {
                fs::create_dir_all(directory).expect("a directory");
                page.take_picture(&directory.join(format!("{name}-{width}.png")));
            }
        }
        close(page);
    }
}

/// A click on a group, a fiber or a box of the graph shows it. The page and `--once` have the same
/// filters and orders.
// Proves: P15-web.
#[test]
#[ignore = "alone: a browser"]
fn alone_clicks_lead_to_fibers() {
    if !Browser::is_installed() {
        return unmeasured("no chromium on this machine");
    }
    let directory = Directory::new();
    let socket = directory.at("socket");
    // Two of its fibers will never end: a shutdown would wait for them.
    let runtime = ManuallyDrop::new(Shop::open(2, &socket));
    let sender = spawn_few(&runtime);
    let interval = INTERVAL.as_secs_f64().to_string();
    let served = Served::start(&[text(&socket), "--interval", &interval]);
    let mut page = Browser::open(&directory, &served.url());
    page.until(&format!("{ROWS}.length === {ALL}"));
    click_a_group(&mut page);
    type_filters(&mut page, &socket);
    choose_orders(&mut page, &socket);
    click_a_fiber(&mut page);
    click_the_graph(&mut page);
    pause(&mut page);
    measure(&mut page);
    drop(sender);
}

//! Finds and ends everything that a program started, even if it detached itself.
//!
//! Tools run in separate process groups and sessions, ignore `SIGTERM`, and leave programs running, so a signal to one
//! process or group does not reach them all. Each program that must end with everything it started gets a mark in its
//! environment, which its children inherit. On Linux `/proc` shows the mark and the parent of each process. A process
//! is opened as a descriptor (pidfd) before it is checked a second time and signalled, so that a reused id harms no
//! other process. If this process adopts the orphans of its children, a process without any environment is recognised
//! too. On macOS `ps` shows the same, less reliably: programs of the system hide their environment, and ids are
//! signalled. On other Unix systems the process group is ended, on Windows what `taskkill /T` finds.
//!
//! The mark is the variable `GSD_PROCESS`. `adopt_orphans` makes this process the parent of orphans; once no other
//! program runs, that finds even a process that cleared its environment. `Mark::end_all` ends what a call that was
//! killed had started.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The variable with the mark. Our own program, when it runs inside such a program, adds its mark to the one it was
/// given.
pub(super) const MARK: &str = "GSD_PROCESS";

/// Separates the marks of nested programs.
const WITHIN: char = ':';

/// The mark of programs that this process starts and leaves running while it adopts orphans: they do not count as
/// orphans.
const LEFT_ALONE: &str = "none";

/// What this process has started and not yet seen the end of.
static RUNNING: Mutex<Running> = Mutex::new(Running { children: BTreeSet::new(), trees: 0, adopts: false });

struct Running {
    children: BTreeSet<u32>,
    /// How many running programs must end with everything they started.
    trees: usize,
    /// Whether every child of this process that is not in `children` is an orphan of a program it started.
    adopts: bool,
}

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program's mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// A new mark, for a caller that must record it before the program starts.
    pub(crate) fn new() -> Self {
        use std::hash::BuildHasher;
        Self(format!("{:016x}", std::hash::RandomState::new().hash_one(std::process::id())))
    }

    /// The mark for this name, the same in every process.
    pub(crate) fn of(name: &str) -> Self {
        use std::hash::{DefaultHasher, Hasher};
        let mut hasher = DefaultHasher::new();
        hasher.write(name.as_bytes());
        Self(format!("{:016x}", hasher.finish()))
    }

    /// Parses a mark, for example from a note written before this process began.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_mark = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_mark.then(|| Self(text.to_owned()))
    }

    /// True if the value of [`MARK`] contains this mark.
    #[cfg(unix)]
    fn is_in(&self, value: &str) -> bool {
        value.split(WITHIN).any(|mark| mark == self.0)
    }

    /// True if a process with this mark runs. False if the system does not show marks.
    pub(crate) fn is_in_use(&self) -> bool {
        system::is_in_use(&ProcessTree { mark: self.clone(), known: BTreeSet::new(), is_counted: false })
    }

    /// Ends every process with this mark; returns the ids of those that remain.
    pub(crate) fn end_all(&self) -> Vec<u32> {
        system::end(&ProcessTree { mark: self.clone(), known: BTreeSet::new(), is_counted: false }, None)
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a program is started with so that everything it starts can be ended.
#[derive(Debug)]
pub(super) struct ProcessTree {
    pub(super) mark: Mark,
    /// Processes that certainly belong to it, by id and start time.
    known: BTreeSet<(u32, String)>,
    is_counted: bool,
}

impl ProcessTree {
    pub(super) fn of(mark: Mark) -> Self {
        running().trees += 1;
        Self { mark, known: BTreeSet::new(), is_counted: true }
    }

    /// The value of [`MARK`] for the program; `outer` is the value in this process.
    pub(super) fn value(&self, outer: Option<&str>) -> String {
        outer.map_or_else(|| self.mark.to_string(), |outer| format!("{outer}{WITHIN}{}", self.mark))
    }

    /// Remembers its current processes: once the program has ended, the origin of its children may not be visible.
    pub(super) fn remember(&mut self, root: u32) {
        self.known.extend(system::members(self, root));
    }

    /// True if any of its processes other than `root` runs; `root` may have ended.
    pub(super) fn has_others(&self, root: u32) -> bool {
        system::members(self, root).iter().any(|(id, _)| *id != root)
    }

    /// The processor time of all its running processes, including the time they waited for a processor: on a busy
    /// machine a working program gets little.
    pub(super) fn processor_time(&self, root: u32) -> Option<std::time::Duration> {
        system::processor_time(self, root)
    }

    /// Ends everything with `SIGKILL`: the process `root`, which must not have been waited for, everything it started,
    /// and their children. Returns what still exists after some seconds, such as a process that waits for a disk.
    pub(super) fn end(&self, root: Option<u32>) -> Vec<u32> {
        system::end(self, root)
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if self.is_counted {
            running().trees -= 1;
        }
    }
}

/// The value of [`MARK`] for a program that need not end with everything it starts, if it needs one.
pub(super) fn left_alone(outer: impl FnOnce() -> Option<String>) -> Option<String> {
    running().adopts.then(|| outer().unwrap_or_else(|| LEFT_ALONE.to_owned()))
}

/// Starts a program. The lock prevents a search for orphans before the new child is registered.
pub(super) fn spawn(command: &mut std::process::Command) -> std::io::Result<std::process::Child> {
    let mut running = running();
    let child = command.spawn()?;
    running.children.insert(child.id());
    Ok(child)
}

/// Removes a child that was waited for.
pub(super) fn forget(child: u32) {
    running().children.remove(&child);
}

/// From now on, orphans of what this process starts become its children. False if the system does not support it.
pub(crate) fn adopt_orphans() -> bool {
    system::adopt_orphans()
}

#[cfg(unix)]
mod system {
    use std::collections::BTreeSet;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal};

    use super::{ProcessTree, Running, running};

    /// How long killed processes may take to disappear.
    const PATIENCE: Duration = Duration::from_secs(10);

    pub(super) fn end(tree: &ProcessTree, root: Option<u32>) -> Vec<u32> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        let mut killed = Vec::new();
        let mut quiet = 0;
        if let Some(group) = root.and_then(pid) {
            // Ends only the group that the program leads; if it leads none, no group has its id.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        loop {
            let left = kill(tree, root, &mut killed);
            reap(&killed);
            // Processes born while the list was read are in the next one.
            quiet = if left.is_empty() { quiet + 1 } else { 0 };
            if quiet == 2 || started.elapsed() >= PATIENCE {
                return left.into_iter().collect();
            }
            if !left.is_empty() {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
        }
    }

    /// Sends `SIGKILL` to all its current processes.
    fn kill(tree: &ProcessTree, root: Option<u32>, killed: &mut Vec<Held>) -> BTreeSet<u32> {
        // Locked while orphans are searched, so that nothing is started meanwhile.
        let running = running();
        let members = find(tree, root, &running);
        for process in &members {
            killed.extend(Held::of(process).filter(Held::kill));
        }
        members.iter().map(|process| process.id).collect()
    }

    pub(super) fn is_in_use(tree: &ProcessTree) -> bool {
        let is_marked = |process: &SeenProcess| process.marks.as_ref().is_some_and(|marks| tree.mark.is_in(marks));
        seen().iter().any(is_marked)
    }

    pub(super) fn members(tree: &ProcessTree, root: u32) -> BTreeSet<(u32, String)> {
        let members = find(tree, Some(root), &running());
        members.into_iter().map(|process| (process.id, process.began)).collect()
    }

    pub(super) fn processor_time(tree: &ProcessTree, root: u32) -> Option<Duration> {
        let members = find(tree, Some(root), &running());
        let worked = |process: &SeenProcess| Some(process.worked? + waited(process.id));
        members.iter().map(worked).try_fold(Duration::ZERO, |sum, worked| Some(sum + worked?))
    }

    /// Finds its current processes.
    fn find(tree: &ProcessTree, root: Option<u32>, running: &Running) -> Vec<SeenProcess> {
        let mut seen = seen();
        let is_stranger = |process: &SeenProcess| {
            let is_orphan = process.parent == std::process::id() && !running.children.contains(&process.id);
            running.adopts && running.trees <= 1 && is_orphan && process.marks.is_none()
        };
        let is_first = |process: &&SeenProcess| {
            let is_marked = process.marks.as_ref().is_some_and(|marks| tree.mark.is_in(marks));
            let is_known = || tree.known.contains(&(process.id, process.began.clone()));
            is_marked || Some(process.id) == root || is_known() || is_stranger(process)
        };
        let mut members: BTreeSet<u32> = seen.iter().filter(is_first).map(|process| process.id).collect();
        loop {
            let is_child = |process: &&SeenProcess| members.contains(&process.parent);
            let children: Vec<u32> = seen.iter().filter(is_child).map(|process| process.id).collect();
            let before = members.len();
            members.extend(children);
            if members.len() == before {
                break;
            }
        }
        members.remove(&std::process::id());
        seen.retain(|process| members.contains(&process.id));
        seen
    }

    fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    /// A process as it was seen; zombies are left out.
    struct SeenProcess {
        id: u32,
        parent: u32,
        /// The value of [`super::MARK`], if it is visible and set.
        marks: Option<String>,
        /// When it started: this distinguishes two processes with the same id.
        began: String,
        /// The processor time it used, if the system reports it.
        worked: Option<Duration>,
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) use linux::adopt_orphans;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    use linux::{Held, reap, seen, waited};
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) use other::adopt_orphans;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    use other::{Held, reap, seen, waited};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    mod linux {
        use std::fs::File;
        use std::io::Read;
        use std::os::fd::{AsFd, OwnedFd};
        use std::path::Path;
        use std::time::{Duration, Instant};

        use rustix::process::{PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid};

        use super::super::{MARK, running};
        use super::{SeenProcess, pid};

        /// The milliseconds of one tick of processor time, whatever the system's own clock is.
        const TICK: u64 = 10;

        /// More than the system allows for arguments and environment together.
        const MOST: u64 = 8 << 20;

        /// A process whose id cannot be reused while this value exists.
        pub(super) struct Held {
            id: u32,
            descriptor: Option<OwnedFd>,
        }

        impl Held {
            /// `None` if the process is gone, or its id now belongs to another one.
            pub(super) fn of(process: &SeenProcess) -> Option<Self> {
                // A kernel before 5.3, or a sandbox, does not support it.
                let descriptor = pidfd_open(pid(process.id)?, PidfdFlags::empty()).ok();
                let now = stat(process.id)?;
                (now.began == process.began).then_some(Self { id: process.id, descriptor })
            }

            /// False if the process is gone or we may not end it.
            pub(super) fn kill(&self) -> bool {
                match &self.descriptor {
                    Some(descriptor) => pidfd_send_signal(descriptor, Signal::KILL).is_ok(),
                    None => pid(self.id).is_some_and(|id| rustix::process::kill_process(id, Signal::KILL).is_ok()),
                }
            }
        }

        /// Waits for the processes that became our children and have ended.
        pub(super) fn reap(killed: &[Held]) {
            for held in killed {
                if running().children.contains(&held.id) {
                    continue;
                }
                if let Some(descriptor) = &held.descriptor {
                    // For children of other processes this is an error, which is ignored.
                    let _ = waitid(WaitId::PidFd(descriptor.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
                }
            }
        }

        pub(in super::super) fn adopt_orphans() -> bool {
            let mut running = running();
            let me = std::process::id();
            let knows_all = || seen().iter().all(|other| other.parent != me || running.children.contains(&other.id));
            let (knows_all, myself) = (knows_all(), pid(me));
            let is_set = rustix::process::set_child_subreaper(myself).is_ok();
            // A shell that became this program with exec may have left it unknown children.
            running.adopts = is_set && (running.adopts || knows_all);
            is_set
        }

        /// How long to wait for processes that are between two programs. Under load that takes milliseconds.
        const REPLACED: Duration = Duration::from_secs(1);

        pub(super) fn seen() -> Vec<SeenProcess> {
            let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
            let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
            let until = Instant::now() + REPLACED;
            let look = |id: u32| {
                let mark = format!("{MARK}=");
                let (mut empty, path) = (0, Path::new("/proc").join(id.to_string()).join("environ"));
                let (stat, environment) = loop {
                    let (stat, environment) = (stat(id)?, read(&path));
                    let is_empty = stat.has_memory && environment.as_ref().is_some_and(Vec::is_empty);
                    // It may have been replaced after its status was read: twice is certain.
                    empty = if is_empty && !stat.is_replaced { empty + 1 } else { 0 };
                    if !is_empty || empty == 2 || Instant::now() >= until {
                        break (stat, environment.unwrap_or_default());
                    }
                    if stat.is_replaced {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                };
                let mut variables = environment.split(|byte| *byte == 0);
                let marks = variables.find_map(|variable| variable.strip_prefix(mark.as_bytes()));
                let marks = marks.map(|marks| String::from_utf8_lossy(marks).into_owned());
                Some(SeenProcess { id, parent: stat.parent, marks, began: stat.began, worked: stat.worked })
            };
            ids.filter_map(look).collect()
        }

        struct Stat {
            parent: u32,
            began: String,
            worked: Option<Duration>,
            /// Threads of the kernel have none, and never an environment.
            has_memory: bool,
            /// The process is between two programs: the system has no environment for it yet.
            is_replaced: bool,
        }

        /// `None` for a process that is gone, or has ended and was not waited for.
        fn stat(id: u32) -> Option<Stat> {
            let bytes = read(&Path::new("/proc").join(id.to_string()).join("stat"))?;
            let text = String::from_utf8_lossy(&bytes);
            // The name before it may contain anything, even brackets.
            let (_, rest) = text.rsplit_once(')')?;
            let mut fields = rest.split_whitespace();
            if matches!(fields.next()?, "Z" | "X" | "x") {
                return None;
            }
            let parent = fields.next()?.parse().ok()?;
            let mut rest = fields.skip(9);
            // Its own time and that of the children it waited for, in user and system mode.
            let times: Vec<u64> = rest.by_ref().take(4).filter_map(|time| time.parse().ok()).collect();
            let worked = times.into_iter().fold(0, u64::saturating_add).saturating_mul(TICK);
            let (began, worked) = (rest.nth(4)?.to_owned(), Some(Duration::from_millis(worked)));
            let has_memory = rest.next()? != "0";
            let is_replaced = has_memory && rest.nth(26) == Some("0");
            Some(Stat { parent, began, worked, has_memory, is_replaced })
        }

        /// How long the first thread of a process could have run but did not; zero if the kernel does not count it.
        pub(super) fn waited(id: u32) -> Duration {
            let told = read(&Path::new("/proc").join(id.to_string()).join("schedstat")).unwrap_or_default();
            let told = String::from_utf8_lossy(&told).into_owned();
            let waited = told.split(' ').nth(1).and_then(|nanoseconds| nanoseconds.parse().ok());
            Duration::from_nanos(waited.unwrap_or(0))
        }

        fn read(path: &Path) -> Option<Vec<u8>> {
            // The system reports no size for such a file, and the default buffer starts small, which would take half a
            // dozen calls per file.
            let mut bytes = Vec::with_capacity(16 << 10);
            File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    mod other {
        use std::process::Command;

        use rustix::process::Signal;

        use super::super::MARK;
        use super::{SeenProcess, pid};

        /// A process by its id: such systems have no safer handle.
        pub(super) struct Held(u32);

        impl Held {
            #[expect(clippy::unnecessary_wraps, reason = "on Linux it can be told that the process is gone")]
            pub(super) fn of(process: &SeenProcess) -> Option<Self> {
                let _ = &process.began;
                Some(Self(process.id))
            }

            pub(super) fn kill(&self) -> bool {
                pid(self.0).is_some_and(|id| rustix::process::kill_process(id, Signal::KILL).is_ok())
            }
        }

        pub(super) fn waited(_id: u32) -> std::time::Duration {
            std::time::Duration::ZERO
        }

        /// Orphans are the children of the system's first process, which waits for them.
        pub(super) fn reap(_killed: &[Held]) {}

        pub(in super::super) fn adopt_orphans() -> bool {
            false
        }

        /// The output of `ps`, with the environment if it shows that.
        #[expect(clippy::disallowed_methods, reason = "the room that starts programs, below what waits for them")]
        pub(super) fn seen() -> Vec<SeenProcess> {
            let columns = "pid=,ppid=,stat=,lstart=,command=";
            let with_environment: &[&str] = if cfg!(target_os = "macos") { &["-E"] } else { &[] };
            let shown = Command::new("ps").args(["-A", "-ww"]).args(with_environment).args(["-o", columns]).output();
            let Ok(shown) = shown else { return Vec::new() };
            let look = |line: &str| {
                let mut words = line.split_whitespace();
                let (id, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                if words.next()?.starts_with('Z') {
                    return None;
                }
                let mark = format!("{MARK}=");
                let began = words.by_ref().take(5).collect::<Vec<_>>().join(" ");
                let marks = words.filter_map(|word| word.strip_prefix(mark.as_str())).last().map(str::to_owned);
                Some(SeenProcess { id, parent, marks, began, worked: None })
            };
            String::from_utf8_lossy(&shown.stdout).lines().filter_map(look).collect()
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    use super::ProcessTree;

    /// Children of a process that has ended cannot be assigned to it.
    pub(super) fn members(_tree: &ProcessTree, _root: u32) -> BTreeSet<(u32, String)> {
        BTreeSet::new()
    }

    /// Ends what the system considers to be below the process. Detached processes are not found, because marks are not
    /// visible.
    #[expect(clippy::disallowed_methods, reason = "the room that starts programs, below what waits for them")]
    pub(super) fn end(_tree: &ProcessTree, root: Option<u32>) -> Vec<u32> {
        if let Some(root) = root {
            let mut command = Command::new("taskkill");
            command.args(["/T", "/F", "/PID", &root.to_string()]);
            // It may be gone already, which is fine.
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        Vec::new()
    }

    pub(super) fn adopt_orphans() -> bool {
        false
    }

    pub(super) fn is_in_use(_tree: &ProcessTree) -> bool {
        false
    }

    pub(super) fn processor_time(_tree: &ProcessTree, _root: u32) -> Option<std::time::Duration> {
        None
    }
}

//! Tests the guarantees of this module for programs that misbehave, with real ones.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests prepare by hand, and one of them speaks to another"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::output::{LONGEST_LINE, Line, Stream};
use super::process::{Ask, Ended, Next, Process};
use super::signals::Requests;
use super::tree::{MARK, Mark, adopt_orphans};
use super::{Program, World};

/// Longer than any of these tests takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

fn shell(line: &str) -> Program {
    Program::new("sh").arguments(["-c", line])
}

fn start(line: &str) -> Process {
    World::real().start(&shell(line)).unwrap()
}

/// The remaining lines of a program, and its end.
fn rest(process: &mut Process) -> (Vec<Line>, Ended) {
    let mut lines = Vec::new();
    loop {
        match process.next(Instant::now() + LONG).unwrap() {
            Next::Line(line) => lines.push(line),
            Next::Ended(ended) => return (lines, ended),
            Next::Nothing => panic!("it does not end"),
        }
    }
}

/// The next line, as text.
fn line(process: &mut Process) -> String {
    match process.next(Instant::now() + LONG).unwrap() {
        Next::Line(line) => String::from_utf8(line.bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The running processes with this text in their environment or command line.
fn alive(text: &str) -> BTreeMap<u32, String> {
    let read = |path: &Path, name: &str| {
        let mut bytes = Vec::new();
        let _ = std::fs::File::open(path.join(name)).map(|mut file| std::io::Read::read_to_end(&mut file, &mut bytes));
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let look = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let id: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let told = read(&path, "cmdline");
        let is_it = id != std::process::id() && (told.contains(text) || read(&path, "environ").contains(text));
        is_it.then_some((id, told))
    };
    std::fs::read_dir("/proc").unwrap().filter_map(look).collect()
}

/// Waits until this many run: a program that just started may not show its name or environment yet.
fn live(text: &str, count: usize) {
    let since = Instant::now();
    while alive(text).len() < count {
        assert!(since.elapsed() < LONG, "{count} of {text}: {:?}", alive(text));
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn nothing_lives(text: &str) {
    assert_eq!(alive(text), BTreeMap::new(), "{text}");
}

#[test]
fn lines_arrive_as_they_are_written_followed_by_the_end() {
    let mut process = start(r"printf 'one\n\ntwo\r\n\377\000x'; exec >&-; printf 'oops\n' >&2; exit 3");
    let (lines, ended) = rest(&mut process);
    let of = |wanted| lines.iter().filter(move |line| line.stream == wanted).map(|line| line.bytes.as_slice());
    assert_eq!(of(Stream::Stdout).collect::<Vec<_>>(), [&b"one"[..], b"", b"two\r", b"\xff\0x"]);
    assert_eq!(of(Stream::Stderr).collect::<Vec<_>>(), [b"oops"]);
    assert_eq!(ended, Ended::Code(3));
    assert_eq!(process.next(Instant::now()).unwrap(), Next::Ended(Ended::Code(3)), "as often as one asks");
}

#[test]
fn a_program_that_dies_at_once_is_reported_as_ended() {
    for (line, expected) in [("exit 0", Ended::Code(0)), ("kill -9 $$", Ended::Signal(9))] {
        assert_eq!(rest(&mut start(line)), (Vec::new(), expected));
    }
    let error = World::real().start(&Program::new("gsd-no-such-program")).unwrap_err();
    assert_eq!(error.to_string(), "`gsd-no-such-program` is not installed or not in PATH");
}

#[test]
fn a_program_that_ends_when_asked_is_not_killed() {
    for (ask, signal) in [(Ask::Terminate, "TERM"), (Ask::Interrupt, "INT")] {
        let line_of_shell = format!("trap 'echo bye; exit 7' {signal}; echo ready; while :; do sleep 0.05; done");
        // The parent of the tests may ignore SIGINT, as a shell does for programs in the background.
        let program = Program::new("env").arguments(["--default-signal=INT", "sh", "-c", &line_of_shell]);
        let mut process = World::real().start(&program).unwrap();
        assert_eq!(line(&mut process), "ready");
        let stopped = process.stop(ask, LONG).unwrap();
        assert_eq!((stopped.ended, stopped.survivors), (Ended::Code(7), Vec::new()));
        let (lines, _) = rest(&mut process);
        assert!(lines.iter().any(|line| line.bytes == b"bye"), "what it says last is heard");
        nothing_lives(&process.mark().to_string());
    }
}

#[test]
fn a_program_that_ignores_the_request_is_killed_with_its_children() {
    let mut process = start("trap '' TERM INT HUP; sleep 600 & echo ready; while :; do sleep 1; done");
    assert_eq!(line(&mut process), "ready");
    live(&process.mark().to_string(), 2);
    let stopped = process.stop(Ask::Terminate, Duration::from_millis(100)).unwrap();
    assert_eq!((stopped.ended, stopped.survivors), (Ended::Signal(9), Vec::new()));
    nothing_lives(&process.mark().to_string());
}

#[test]
fn a_child_that_left_its_group_session_and_parent_is_killed_too() {
    let daemon = "setsid sh -c 'trap \"\" TERM; (setsid sleep 600 > /dev/null 2>&1 &) ; sleep 600' > /dev/null 2>&1 &";
    // The last one has no mark and, once the shell has ended as asked, no known parent.
    let mut process = start(&format!("{daemon} env -i setsid sleep 7100 & sleep 0.2; echo ready; sleep 600"));
    assert_eq!(line(&mut process), "ready");
    let mark = process.mark().to_string();
    live(&mark, 4);
    assert_eq!(process.stop(Ask::Terminate, LONG).unwrap().survivors, [0; 0]);
    nothing_lives(&mark);
    nothing_lives("sleep 7100");
}

#[test]
fn programs_that_a_program_leaves_running_end_with_it() {
    let mut process = start("setsid sh -c '(setsid sleep 600 &); sleep 600' & sleep 0.2; echo done");
    let mark = process.mark().to_string();
    let (lines, ended) = rest(&mut process);
    assert_eq!((lines[0].bytes.as_slice(), ended), (&b"done"[..], Ended::Code(0)));
    nothing_lives(&mark);
    assert!(process.ran_for() < Duration::from_secs(500));
}

#[test]
fn a_dropped_program_is_killed() {
    let mut process = start("trap '' TERM; setsid sleep 600 & echo ready; sleep 600");
    let mark = process.mark().to_string();
    assert_eq!(line(&mut process), "ready");
    drop(process);
    nothing_lives(&mark);
}

#[test]
fn a_flood_of_lines_waits_for_room_and_is_complete_until_it_is_stopped() {
    let mut process = start("i=0; yes 0123456789012345678901234567890123456789 | cat -n");
    let mut next = 1;
    let mut check = |process: &mut Process, lines: usize| {
        for _ in 0..lines {
            let told = line(process);
            assert_eq!(told.split_whitespace().next().unwrap(), next.to_string());
            next += 1;
        }
    };
    check(&mut process, 10);
    // It has written as much as there is room for, and does not count as idle.
    let filled = Instant::now();
    while process.idle() > Duration::ZERO {
        assert!(filled.elapsed() < LONG, "it is not held up");
        std::thread::sleep(Duration::from_millis(10));
    }
    check(&mut process, 1000);
    assert_eq!(process.lost_lines(), 0);
    let stopped = process.stop(Ask::Terminate, LONG).unwrap();
    assert_eq!(stopped.survivors, [0; 0]);
    let (lines, _) = rest(&mut process);
    assert!(lines.len() < 16 << 20, "{}", lines.len());
    assert!(lines.iter().map(|line| line.bytes.len()).sum::<usize>() <= 16 << 20);
    nothing_lives(&process.mark().to_string());
}

#[test]
fn a_line_without_end_is_cut_and_its_length_is_known() {
    let (lines, ended) = rest(&mut start("head -c 9000000 /dev/zero; echo; echo after"));
    assert_eq!(ended, Ended::Code(0));
    assert_eq!((lines[0].bytes.len(), lines[0].cut), (LONGEST_LINE, 9_000_000 - LONGEST_LINE as u64));
    assert_eq!((lines[1].bytes.as_slice(), lines[1].cut), (&b"after"[..], 0));
}

#[test]
fn output_without_a_line_end_keeps_a_program_from_being_idle() {
    let mut process = start("for i in 1 2 3 4 5 6 7 8; do printf x; sleep 0.1; done; sleep 600");
    let begun = Instant::now();
    // The last drop came long after the start: the idle time counts from there.
    while begun.elapsed() < LONG {
        assert_eq!(process.next(Instant::now() + Duration::from_millis(50)).unwrap(), Next::Nothing);
        if process.ran_for() > process.idle() + Duration::from_millis(600) {
            break;
        }
    }
    assert!(process.ran_for() > process.idle() + Duration::from_millis(600));
    let before = process.idle();
    std::thread::sleep(Duration::from_secs(2));
    assert!(process.idle() > before, "a program that says nothing is idle");
    process.stop(Ask::Terminate, LONG).unwrap();
    assert_eq!(line(&mut process), "xxxxxxxx");
}

#[test]
fn a_program_within_a_program_has_both_marks() {
    let outer = World::with([("PATH", &World::real().variable("PATH").unwrap()), (MARK, "0123")], Path::new("/"));
    let mut process = outer.start(&shell("echo $GSD_PROCESS")).unwrap();
    let expected = format!("0123:{}", process.mark());
    assert_eq!(line(&mut process), expected);
}

#[test]
fn a_limit_ends_everything_that_a_call_started() {
    let path = std::env::temp_dir().join(format!("gsd-limit-{}", std::process::id()));
    let line = format!("setsid sh -c 'sleep 600; : {}' & sleep 600", path.display());
    let error = World::real().run(&shell(&line).timeout(Duration::from_millis(300))).unwrap_err();
    assert!(matches!(error, super::WorldError::TimedOut { .. }), "{error}");
    nothing_lives(&path.display().to_string());
}

/// This test program again, as the second process that a test needs.
fn again(role: &str) -> Process {
    let test = ["--exact", "--nocapture", "world::process_tests::plays_a_role"];
    let program = Program::new(std::env::current_exe().unwrap()).arguments(test).variable("GSD_ROLE", role);
    World::real().start(&program).unwrap()
}

/// The message of a role, without the output of the test program.
fn said(process: &mut Process) -> String {
    loop {
        let line = line(process);
        if let Some((_, said)) = line.split_once("says ") {
            return said.to_owned();
        }
    }
}

/// Not a real test: the second process of a test.
#[test]
fn plays_a_role() {
    let world = World::real();
    match world.variable("GSD_ROLE").as_deref() {
        // It is asked to end, and ends what it started.
        Some("in-order") => {
            let requests = Requests::watch().unwrap();
            let mut process = start("trap '' TERM INT; setsid sleep 600 & echo ready; while :; do sleep 1; done");
            assert_eq!(line(&mut process), "ready");
            println!("says {}", process.mark());
            let ask = loop {
                if let Some(ask) = requests.asked() {
                    break ask;
                }
                assert_eq!(process.next(Instant::now() + Duration::from_millis(20)).unwrap(), Next::Nothing);
            };
            let stopped = process.stop(ask, Duration::from_millis(50)).unwrap();
            println!("says {ask:?} {:?}", stopped.survivors);
        }
        // It is killed in the middle.
        Some("killed") => {
            let mut process = start("setsid sleep 600 & echo ready; sleep 600");
            assert_eq!(line(&mut process), "ready");
            println!("says {}", process.mark());
            std::thread::sleep(LONG);
        }
        Some("adopting") => {
            assert!(adopt_orphans());
            world.start_beside(&shell("exec sleep 7001")).unwrap();
            world.run(&shell("setsid sleep 7002 > /dev/null 2>&1 &")).unwrap();
            let mut process = start("env -i setsid sh -c 'sleep 7003 & sleep 7004' > /dev/null 2>&1 & sleep 0.2");
            assert_eq!(rest(&mut process).1, Ended::Code(0));
            nothing_lives("sleep 7003");
            nothing_lives("sleep 7004");
            live("sleep 7001", 1);
            live("sleep 7002", 1);
            let me = std::process::id().to_string();
            let zombies = world.run(&Program::new("ps").arguments(["--ppid", &me, "-o", "stat="])).unwrap().text();
            assert_eq!(zombies.matches('Z').count(), 0, "{zombies}");
            println!("says good");
        }
        _ => {}
    }
}

#[test]
fn a_process_that_is_asked_to_end_can_first_end_its_children() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, ask) in [(Signal::TERM, "Terminate"), (Signal::INT, "Interrupt"), (Signal::HUP, "Terminate")] {
        let mut process = again("in-order");
        let inner = said(&mut process);
        live(&inner, 2);
        kill_process(Pid::from_raw(process.id().cast_signed()).unwrap(), signal).unwrap();
        assert_eq!(said(&mut process), format!("{ask} []"));
        nothing_lives(&inner);
        assert_eq!(rest(&mut process).1, Ended::Code(0));
    }
}

#[test]
fn children_of_a_process_that_died_can_be_ended_later() {
    use rustix::process::{Pid, Signal, kill_process};
    let mut process = again("killed");
    let inner = said(&mut process);
    kill_process(Pid::from_raw(process.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
    live(&inner, 2);
    assert_eq!(Mark::parse(&inner).unwrap().end_all(), [0; 0]);
    nothing_lives(&inner);
    assert_eq!(Mark::parse("../x"), None);
}

#[test]
fn orphans_without_an_environment_are_recognised_by_their_adopter() {
    let mut process = again("adopting");
    assert_eq!(said(&mut process), "good");
    assert_eq!(rest(&mut process).1, Ended::Code(0));
    nothing_lives("sleep 700");
}

#[test]
fn a_program_that_does_not_wait_for_a_pipe_loses_no_output_with_a_file() {
    // With a pipe, it would write only as much as the pipe takes at once.
    let line = "dd if=/dev/zero bs=3000000 count=1 oflag=nonblock 2>/dev/null; echo; echo last";
    let mut process = World::real().start(&shell(line).through_file()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let (lines, ended) = rest(&mut process);
    let sizes: Vec<u64> = lines.iter().map(|line| line.bytes.len() as u64 + line.cut).collect();
    assert_eq!((sizes, ended), (vec![3_000_000, 4], Ended::Code(0)));
    let mut process = World::real().start(&shell("echo one; sleep 1; echo two; sleep 60").through_file()).unwrap();
    assert_eq!((self::line(&mut process), self::line(&mut process)), ("one".to_owned(), "two".to_owned()));
    process.stop(Ask::Terminate, Duration::from_secs(1)).unwrap();
    assert_eq!(process.next(Instant::now() + LONG).unwrap(), Next::Ended(Ended::Signal(15)));
}

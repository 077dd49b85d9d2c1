//! Actors: good and bad behaviour that needs no script.

use crate::ideal::{self, Manner};
use crate::probed;
use crate::script;
use crate::speak::{Say, Voice};
use crate::world::{self, Call};

/// Acts, and returns the exit code.
pub fn play(call: Call) -> Result<u8, String> {
    if call.actor == "probed" {
        return Ok(probed::play(&call));
    }
    let mut voice = Voice::new(&call.dialect, &call.session);
    let code = match &call.script {
        Some(rows) => script::play(rows, &call, &mut voice)?,
        None => act(&call, &mut voice)?,
    };
    if let Some(path) = &call.usage_file {
        let usage = format!(r#"{{"inputTokens":{},"outputTokens":{}}}"#, voice.input, voice.output);
        world::write(path, &format!(r#"{{"totalNanoAiu":1000000000,"modelMetrics":{{"fake":{{"usage":{usage}}}}}}}"#))?;
    }
    Ok(code)
}

fn act(call: &Call, voice: &mut Voice) -> Result<u8, String> {
    let tool = |name: &str| Say::Tool { name: name.to_owned(), end: "finished" };
    let text = |text: &str| Say::Text(text.to_owned());
    let number = call.argument.parse::<u64>().ok();
    if call.actor == "stubborn" || call.actor == "hang-hard" {
        world::ignore_signals();
    }
    voice.say(&Say::Start);
    match call.actor.as_str() {
        "ideal" => work(call, voice, Manner::Whole)?,
        "thin" => work(call, voice, Manner::Thin)?,
        "hollow" => work(call, voice, Manner::Hollow)?,
        "partial" => work(call, voice, Manner::Half)?,
        "empty-planner" => work(call, voice, Manner::Empty)?,
        // Fails its own check in the first attempts.
        "flaky" if u64::from(call.attempt) <= number.unwrap_or(1) => work(call, voice, Manner::Broken)?,
        "flaky" => work(call, voice, Manner::Whole)?,
        // The verification of a phase finds something missing.
        "gaps" => work(call, voice, if call.kind == "execute-phase" { Manner::Blocked } else { Manner::Whole })?,
        // Amends a commit made before its session.
        "rewriter" => {
            let _ = std::process::Command::new("git").args(["commit", "--amend", "--message=other"]).output();
            work(call, voice, Manner::Whole)?;
        }
        // Leaves a key in a file of the project: in the first so many attempts, or in all of them.
        "leaker" => {
            work(call, voice, Manner::Whole)?;
            if call.kind.starts_with("execute-") {
                if number.is_none_or(|attempts| u64::from(call.attempt) <= attempts) {
                    world::write("src/settings.txt", &format!("# Settings\ntoken = ghp_{}\n", "0123456789abcdefABCDEF"))?;
                } else {
                    world::write("src/settings.txt", "# Settings\n")?;
                }
            }
        }
        // Weakens a test of the project.
        "cheater" => {
            work(call, voice, Manner::Whole)?;
            if call.kind == "execute-task" {
                world::write("tests/test_a.py", "def test_a():\n    assert True\n")?;
            }
        }
        // Writes a key into a plan.
        "note-taker" => {
            work(call, voice, Manner::Whole)?;
            if call.kind == "plan-milestone" && u64::from(call.attempt) <= number.unwrap_or(1) {
                let path = format!(".gsd/milestones/{0}/{0}-ROADMAP.md", call.parts()[0]);
                world::edit(&path, "# ", &format!("# ghp_{} ", "0123456789abcdefABCDEF"))?;
            }
        }
        "blocker" => {
            let is_it = call.kind == "execute-task" && (call.argument.is_empty() || call.id.ends_with(&call.argument));
            work(call, voice, if is_it { Manner::Blocked } else { Manner::Whole })?;
        }
        // Finds that the task cannot be done as planned, and changes nothing.
        "untrue" => {
            let is_it = call.kind == "execute-task" && call.id.ends_with(&call.argument);
            work(call, voice, if is_it { Manner::Untrue } else { Manner::Whole })?;
        }
        // Asks a person before it does this task, and does it once there is an answer.
        "asks" if call.kind == "execute-task" && call.id.ends_with(&call.argument) => {
            voice.say(&tool("Write"));
            ideal::ask(call)?;
            voice.say(&text("I ask which store it is to be."));
        }
        "asks" => work(call, voice, Manner::Whole)?,
        "lazy" => {
            voice.say(&tool("Read"));
            voice.say(&text("Everything is done."));
        }
        "liar" => {
            voice.say(&tool("Write"));
            voice.say(&tool("Bash"));
            voice.say(&text("I wrote the files and ran the checks: all pass."));
        }
        "standby" => voice.say(&text("I am ready when you are.")),
        // Writes what it may not: a note and, once, for a second task, the preferences that set the checks.
        "careless" => {
            work(call, voice, Manner::Whole)?;
            if call.kind == "execute-task" {
                world::write(".gsd/notes.md", "a note\n")?;
                if call.attempt == 1 && call.id.ends_with("T02") {
                    world::write(".gsd/PREFERENCES.md", "---\nverification_commands: [\"true\"]\n---\n")?;
                }
            }
        }
        "vandal" => {
            work(call, voice, Manner::Whole)?;
            let _ = world::write("../fake-vandal.txt", "outside\n");
            let _ = world::write(".gsd/STATE.md", "# State\n\nEverything is complete.\n");
            let _ = world::write("README.md", "nothing\n");
        }
        "denied" => {
            voice.say(&Say::Tool { name: "Bash".to_owned(), end: "denied" });
            voice.say(&text("I was not allowed to run it."));
        }
        "question" => voice.say(&Say::Question("Shall I go on?".to_owned())),
        "churn" => {
            for _ in 0..3 {
                world::write("src/churn.txt", "the same\n")?;
                voice.say(&tool("Write"));
            }
            voice.say(&text("I improved it."));
        }
        // The first session of a task sleeps; the one that continues it does not.
        "sleeper" => {
            if call.kind == "execute-task" && !call.resumed {
                world::sleep(number.unwrap_or(1000));
            }
            work(call, voice, Manner::Whole)?;
        }
        // Makes this many tool calls, each a step of real work.
        "steps" => {
            for step in 1..=number.unwrap_or(200) {
                if call.kind == "execute-task" {
                    world::write("src/steps.txt", &format!("{} step {step}\n", call.id))?;
                }
                voice.say(&tool("Bash"));
            }
            work(call, voice, Manner::Whole)?;
        }
        // Its checks take this many milliseconds, and leave a program running.
        "slow-check" => {
            work(call, voice, Manner::Whole)?;
            if call.kind == "execute-task" {
                let parts = call.parts();
                let name = parts[1..].join("_").to_lowercase();
                let left = "(trap '' TERM HUP; setsid sleep 600 > /dev/null 2>&1 &)";
                let wait = format!("{left}\necho run >> checked.txt\nsleep {}", number.unwrap_or(5000) as f64 / 1e3);
                world::edit(&format!("checks/{name}.sh"), "#!/bin/sh", &format!("#!/bin/sh\n{wait}\nrm checked.txt"))?;
            }
        }
        // Fills the disk after the work on a task, so that nothing more can be written.
        "filler" => {
            work(call, voice, Manner::Whole)?;
            if call.kind == "execute-task" {
                world::fill("../fill");
            }
        }
        // Cannot write its file, and reports it on standard error.
        "full" => {
            let error = std::io::Error::from_raw_os_error(28);
            return Err(format!("src/large.txt: {error}"));
        }
        // The first session uses up a quota that resets after so many seconds; the session that continues has quota
        // again.
        "quota" if call.kind == "execute-task" && !call.resumed => {
            let reset = world::now() + number.unwrap_or(3600);
            voice.say(&tool("Read"));
            voice.say(&Say::Quota { resets_at: reset });
            voice.say(&Say::Failure { status: 429, text: "usage limit reached".to_owned() });
            return Ok(1);
        }
        "quota" => work(call, voice, Manner::Whole)?,
        // Spends a dollar a call, without end.
        "spender" => {
            for dollars in 1.. {
                voice.say(&tool("Read"));
                voice.line(&format!(r#"{{"event":"money","scope":"session","amount":{dollars},"unit":"dollars"}}"#));
                world::sleep(150);
            }
        }
        "daemon" => {
            world::spawn_daemon()?;
            work(call, voice, Manner::Whole)?;
        }
        "worker" => {
            world::work(number.unwrap_or(2000));
            work(call, voice, Manner::Whole)?;
        }
        "stubborn" => {
            world::spawn_daemon()?;
            work(call, voice, Manner::Whole)?;
            voice.say(&Say::Success);
            world::hang();
        }
        "hang" | "hang-hard" => {
            world::spawn_daemon()?;
            world::hang();
        }
        "mute" => world::hang(),
        "crash" if u64::from(call.attempt) > number.unwrap_or(u64::MAX) => work(call, voice, Manner::Whole)?,
        "crash" => {
            voice.say(&tool("Write"));
            ideal::work_in(call, Manner::Half)?;
            std::process::abort();
        }
        "flood" => loop {
            voice.say(&text(&"much ado about nothing ".repeat(40)));
        },
        "drip" => loop {
            voice.line(r#"{"type":"heartbeat","event":"heartbeat"}"#);
            world::sleep(50);
        },
        "chatter" => loop {
            voice.say(&text("Let me think about that."));
            world::sleep(5);
        },
        "retry-storm" => loop {
            voice.say(&Say::Retry { status: 500, wait_ms: 10 });
            world::sleep(10);
        },
        "refused" => loop {
            voice.say(&Say::Retry { status: 401, wait_ms: 500 });
            world::sleep(500);
        },
        "patient" => {
            voice.say(&Say::Retry { status: 429, wait_ms: 3 * 3600 * 1000 });
            world::hang();
        }
        "rate-limited" => {
            voice.say(&Say::Quota { resets_at: number.unwrap_or(4_000_000_000) });
            voice.say(&Say::Failure { status: 429, text: "usage limit reached".to_owned() });
            return Ok(1);
        }
        "dead" => {
            let status = number.unwrap_or(500) as u16;
            voice.say(&Say::Failure { status, text: format!("the server gave {status}") });
            return Ok(1);
        }
        // Reports success without a word.
        "ghost" => {}
        // Ends without a final message.
        "silent" => {
            voice.say(&text("I will now"));
            return Ok(number.unwrap_or(0) as u8);
        }
        // Reports success, and exits with a failure code.
        "two-faced" => {
            work(call, voice, Manner::Whole)?;
            voice.say(&Say::Success);
            return Ok(number.unwrap_or(1) as u8);
        }
        "noisy" => {
            use std::io::Write;
            voice.line("npm warn deprecated: something");
            let _ = std::io::stdout().write_all(b"\xff\xfe\x00\n[1,2]\n{\"open\": \n");
            eprintln!("Warning: colours");
            work(call, voice, Manner::Whole)?;
        }
        other => return Err(format!("`{other}` is no actor")),
    }
    voice.say(&Say::Success);
    Ok(0)
}

/// Does the work and reports one tool call.
fn work(call: &Call, voice: &mut Voice, manner: Manner) -> Result<(), String> {
    voice.say(&Say::Tool { name: "Read".to_owned(), end: "finished" });
    if !call.kind.is_empty() {
        ideal::work_in(call, manner)?;
    }
    voice.say(&Say::Tool { name: "Write".to_owned(), end: "finished" });
    voice.say(&Say::Text("The unit is done.".to_owned()));
    Ok(())
}

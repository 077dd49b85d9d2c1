//! `review-lane`: reviewers get only the prompt of the session, cannot write to the project, and a project can choose
//! only among those we know. Each is played by a script that records its input.

use serde_json::Value;

use crate::kit::{Ran, TestContext};
use crate::notes::Notes;

/// Records its arguments, its folder and its input, and tries to write to the project; then runs the script that
/// follows.
const KEEPS: &str = "#!/bin/bash\n{ echo \"$(basename \"$0\") in $PWD\"; for a in \"$@\"; do echo \"<$a>\"; done; \
                     echo \"inside ${CLAUDECODE-nothing}\"; cat; } > /dev/tcp/127.0.0.1/$NOTES\ntouch written 2>/dev/null\n";

/// Sends the request given by the settings on its standard input, and records them.
const CURL: &str = r#"#!/bin/sh
settings=$(cat)
printf '%s\n' "$settings" >> "$TMPDIR/asked"
case "$settings" in
  *example.com*) echo "curl: (6) Could not resolve host" >&2; exit 6;;
  *:9/*) echo "curl: (7) Failed to connect" >&2; exit 7;;
  */v1/models*) printf '{"data": [{"id": "first"}, {"id": "second"}]}\n200';;
  *bad*) printf '{"error": {"message": "no such model"}}\n404';;
  *) printf '{"model": "served", "choices": [{"message": {"content": "It is wrong at src/a.rs:4"}}]}\n200';;
esac
"#;

struct Room {
    context: TestContext,
    path: String,
    notes: Notes,
}

impl Room {
    fn new(config: &str) -> Self {
        let context = TestContext::on_disk();
        context.write(".planning/config.json", config);
        context.write("run/gsd-review-prompt.md", "Review this.\n");
        let path = format!("{}:{}", context.project().join("bin").display(), std::env::var("PATH").unwrap_or_default());
        Self { context, path, notes: Notes::new() }
    }

    fn program(self, name: &str, script: &str) -> Self {
        let path = format!("bin/{name}");
        self.context.write(&path, script);
        let path = self.context.project().join(path);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        self
    }

    fn reviewer(self, name: &str, then: &str) -> Self {
        self.program(name, &format!("{KEEPS}{then}\n"))
    }

    fn call(&self, arguments: &[&str], input: &str) -> Ran {
        self.context.gsd_with(
            arguments.iter().copied(),
            &[("PATH", &self.path), ("CLAUDECODE", "1"), ("NOTES", &self.notes.port())],
            input,
        )
    }

    /// Calls `invoke`; returns its exit code and its answer.
    fn invoke(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.call(&[&["review-lane", "invoke", "--run-dir", "run"][..], arguments].concat(), "");
        (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr)))
    }

    fn review(&self, name: &str) -> String {
        self.context.read(&format!("run/gsd-review-{name}.md"))
    }

    /// A file that an unfenced program left in the folder for temporary files.
    fn left(&self, name: &str) -> String {
        std::fs::read_to_string(self.context.project().join("../tmp").join(name)).unwrap_or_default()
    }
}

#[test]
fn reviewers_are_selected_by_the_settings() {
    let room = Room::new(
        r#"{"review": {"max_prompt_tokens": 5000, "max_prompt_tokens_per_reviewer": {"codex": 7000},
          "reviewer_instances": {"fast": {"cli": "claude", "model": "haiku"}, "shell": {"cli": "sh"}}}}"#,
    );
    let ran = room.call(&["review-lane", "plan", "--selected", "codex,cursor,fast", "--run-dir", "run"], "").json();
    assert_eq!((&ran[0]["promptBudget"], &ran[0]["promptPath"]), (&7000.into(), &"run/gsd-review-prompt.md".into()));
    assert_eq!((&ran[1]["promptBudget"], &ran[1]["promptPath"]), (&5000.into(), &Value::Null));
    assert_eq!((&ran[2]["section"], &ran[2]["ok"]), (&"fast (Claude)".into(), &true.into()));

    let ran = room.call(&["review-lane", "plan", "--selected", "codx,shell,gemini"], "");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let lanes: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&lanes[0]["reason"], &lanes[0]["hint"]), (&"malformed_lane".into(), &"did you mean `codex`?".into()));
    assert!(lanes[1]["detail"].as_str().unwrap().contains("names `sh`"), "{lanes}");
    assert_eq!(lanes[2]["ok"], true);

    assert_eq!(
        room.call(&["review-lane", "sections", "--selected", "lm_studio,fast"], "").success(),
        "lm_studio\tLM Studio\nfast\tfast (Claude)\n"
    );
    let error = room.call(&["review-lane", "sections", "--selected", "gemini,nobody"], "").failure(1);
    assert!(error.contains("`nobody` is not a reviewer") && error.contains("choose one of gemini, claude"), "{error}");
    let flags = |selected: &[&str]| room.call(&[&["review-lane", "flags"], selected].concat(), "").success();
    assert!(flags(&[]).contains("\n--agy\n--ollama\n"));
    assert_eq!(flags(&["--selected", "codex, gemini,nobody"]), "--codex\n--gemini\n");
    assert_eq!(flags(&["--selected", "nobody"]), "");
    assert_eq!(flags(&["--selected", ""]), flags(&[]));
    let asked =
        room.call(&["review-lane", "explicit-from-argv", "--", "4 --agy", "--gemini", "--force", "--gemini"], "");
    assert_eq!(asked.success(), "antigravity,gemini");
    assert_eq!(room.call(&["review-lane", "explicit-from-argv"], "").success(), "");
    room.call(&["review-lane", "invoke"], "").failure(1);
}

#[test]
fn a_reviewer_gets_the_prompt_and_its_review_is_kept() {
    let set = r#"{"review": {"models": {"claude": "opus"}, "effort": {"claude": "low"}}}"#;
    let room = Room::new(set).reviewer("claude", "echo 'see `src/main.rs:7`'; echo note >&2");
    let (code, answer) = room.invoke(&["--slug", "claude"]);
    assert_eq!((code, &answer["ok"], &answer["stubbed"]), (0, &true.into(), &false.into()), "{answer}");
    assert_eq!(answer["model"], serde_json::json!({"value": "opus (reasoning=low)", "source": "pinned"}));
    assert_eq!(room.review("claude"), "see `src/main.rs:7`\n");
    assert_eq!(room.context.read("run/gsd-review-claude.err"), "note\n");
    let seen = room.notes.told();
    assert!(seen.starts_with(&format!("claude in {}\n", room.context.project().display())), "{seen}");
    assert!(seen.contains("<--model>\n<opus>\n<--effort>\n<low>\n"), "{seen}");
    assert!(seen.ends_with("inside nothing\nReview this.\n"), "a session's mark reached it: {seen}");
    if answer["fenced"] == true {
        assert!(!room.context.project().join("written").exists());
    }

    room.context.write("run/other.md", "Another one.\n");
    let (code, answer) =
        room.invoke(&["--slug", "claude", "--as", "fast", "--model", "haiku", "--prompt-file", "run/other.md"]);
    assert_eq!((code, &answer["slug"]), (0, &"claude".into()), "{answer}");
    assert!(room.notes.told().ends_with("Another one.\n"));
    assert!(room.context.project().join("run/gsd-review-fast.md").exists());
}

#[test]
fn a_review_without_lines_of_files_is_marked() {
    let room = Room::new("{}").reviewer("gemini", "echo all good").reviewer("coderabbit", "echo all good");
    assert_eq!(room.invoke(&["--slug", "gemini"]).0, 0);
    let review = room.review("gemini");
    assert!(
        review.starts_with("> [reviewed-without-source-citations] ") && review.ends_with("\n\nall good\n"),
        "{review}"
    );
    assert_eq!(room.invoke(&["--slug", "coderabbit"]).0, 0);
    assert_eq!(room.review("coderabbit"), "all good\n");
    assert!(room.notes.told().ends_with("<review>\n<--prompt-only>\ninside nothing\n"), "it takes no prompt");
}

#[test]
fn streams_of_events_are_read() {
    let done = r#"{"type":"item.completed","item":{"type":"agent_message","text":"TEXT"}}"#;
    let said = |text: &str| format!("echo '{}'\n", done.replace("TEXT", text));
    let room = Room::new("{}")
        .reviewer(
            "codex",
            &(said("I look at it") + &said("wrong: a.rs:3") + "echo '{\"type\":\"turn.completed\",\"usage\":{}}'"),
        )
        .reviewer(
            "opencode",
            "echo '{\"type\":\"error\",\"error\":{\"name\":\"X\",\"data\":{\"message\":\"no key\"}}}'",
        );
    let (code, answer) = room.invoke(&["--slug", "codex"]);
    assert_eq!((code, room.review("codex")), (0, "wrong: a.rs:3\n".to_owned()), "{answer}");
    assert!(room.notes.told().contains("<--sandbox>\n<read-only>\n"));
    let (code, answer) = room.invoke(&["--slug", "opencode"]);
    assert_eq!((code, &answer["reason"]), (1, &"failed".into()));
    assert_eq!(answer["detail"], "`opencode` reports: no key");
}

#[test]
fn a_review_that_is_missing_says_why() {
    let room = Room::new(r#"{"review": {"timeouts": {"claude": 1}, "max_prompt_tokens_per_reviewer": {"cursor": 2}}}"#)
        .reviewer("gemini", "echo partial; echo boom >&2; exit 3")
        .reviewer("qwen", "exit 0")
        .reviewer("claude", "echo begun; (sleep 30; touch \"$TMPDIR/late\") & sleep 30")
        .reviewer("cursor-agent", "echo fine")
        .reviewer("kimi", "echo usage");
    for (slug, reason, detail) in [
        ("gemini", "failed", "`gemini` exited with 3"),
        ("qwen", "empty", "`qwen` exited with 0 and printed no review"),
        ("claude", "timed_out", "`claude` did not end within 1 s and was stopped"),
        ("kimi-code", "probe_failed", "the help of `kimi` does not have `--output-format`: it is another program"),
        ("cursor", "prompt_over_budget", "the prompt has about 4 tokens; `cursor` may be sent 2"),
        ("antigravity", "missing_binary", "`agy` is not installed or not in PATH"),
    ] {
        let (code, answer) = room.invoke(&["--slug", slug]);
        assert_eq!((code, &answer["ok"], &answer["stubbed"]), (1, &false.into(), &true.into()), "{answer}");
        assert_eq!((&answer["reason"], &answer["detail"]), (&reason.into(), &detail.into()));
        assert!(!answer["hint"].as_str().unwrap().is_empty());
        assert!(room.review(slug).starts_with("> [no-review] "), "{}", room.review(slug));
    }
    let review = room.review("gemini");
    assert!(review.contains("```\nboom\n```") && review.ends_with("Printed before that:\n\npartial\n"), "{review}");
    assert!(room.invoke(&["--slug", "claude"]).1["seconds"].as_f64().unwrap() < 15.0);
    assert!(!room.notes.told().contains("cursor-agent"));

    let ran = room.call(&["review-lane", "invoke", "--slug", "qwen", "--run-dir", "run", "--explicit"], "");
    assert!(ran.failure(1).contains("there is no review by `qwen`: "));
    let (code, answer) = room.invoke(&["--slug", "gemini", "--prompt-file", "run/none.md"]);
    assert_eq!((code, &answer["reason"]), (1, &"missing_prompt".into()));
    let error = room.call(&["review-lane", "invoke", "--slug", "gemini", "--run-dir", "nowhere"], "").failure(1);
    assert!(error.contains("nowhere` does not exist"), "{error}");
    let error = room.call(&["review-lane", "invoke", "--slug", "gemini", "--run-dir", "/etc"], "").failure(77);
    assert!(error.contains("outside the project"), "{error}");
}

#[test]
fn a_reviewer_that_reads_the_prompt_itself_gets_its_path() {
    let set = r#"{"review": {"unfenced": ["cursor"]}}"#;
    let room = Room::new(set).reviewer("cursor-agent", "echo 'a.rs:1 is fine'");
    let (code, answer) = room.invoke(&["--slug", "cursor"]);
    if code != 0 {
        // The system has a fence, it is unknown where this client writes, and a project may not lift the fence for it.
        assert_eq!(answer["reason"], "not_fenced", "{answer}");
        assert!(answer["hint"].as_str().unwrap().contains("review.unfenced"), "{answer}");
        assert_eq!(room.left("seen"), "");
    }
    std::fs::create_dir_all(room.context.home().join(".gsd")).unwrap();
    std::fs::write(room.context.home().join(".gsd/defaults.json"), set).unwrap();
    assert_eq!(room.invoke(&["--slug", "cursor"]).0, 0);
    let seen = room.notes.told();
    let prompt = room.context.project().join("run/gsd-review-prompt.md");
    assert!(seen.contains(&format!("Read all of the file {}", prompt.display())), "{seen}");
    assert!(!seen.contains("Review this."), "{seen}");
}

#[test]
fn a_project_can_choose_reviewers_but_no_programs_or_flags() {
    let set = r#"{"review": {"models": {"gemini": "--yolo", "claude": "a b"},
      "reviewer_instances": {"own": {"cli": "./bin/own"}, "arch": {"cli": "opencode", "agent": "--x"}}}}"#;
    let room =
        Room::new(set).reviewer("gemini", "").reviewer("claude", "").reviewer("own", "").reviewer("opencode", "");
    for (slug, reason) in [
        ("gemini", "invalid_setting"),
        ("claude", "invalid_setting"),
        ("arch", "invalid_setting"),
        ("own", "malformed_lane"),
        ("./bin/own", "malformed_lane"),
    ] {
        let (code, answer) = room.invoke(&["--slug", slug]);
        assert_eq!((code, &answer["ok"], &answer["reason"]), (1, &false.into(), &reason.into()), "{answer}");
    }
    assert_eq!(room.invoke(&["--slug", "opencode", "--as", "../up"]).1["reason"], "invalid_setting");
    assert_eq!(room.notes.told(), "");
}

#[test]
fn a_local_server_may_review_and_another_computer_may_not() {
    let room = Room::new("{}").program("curl", CURL);
    let (code, answer) = room.invoke(&["--slug", "ollama"]);
    assert_eq!((code, room.review("ollama")), (0, "It is wrong at src/a.rs:4\n".to_owned()), "{answer}");
    assert_eq!(answer["model"], serde_json::json!({"value": "served", "source": "served"}));
    let asked = room.left("asked");
    assert!(
        asked.contains("url = \"http://localhost:11434/v1/chat/completions\"") && asked.contains("noproxy"),
        "{asked}"
    );
    assert!(asked.contains(r#"\"model\":\"first\""#) && asked.contains(r"Review this.\\n"), "{asked}");

    let set = |host: &str, model: &str| {
        let text = serde_json::json!({"review": {"lm_studio_host": host, "models": {"lm_studio": model}}});
        room.context.write(".planning/config.json", &text.to_string());
        room.invoke(&["--slug", "lm_studio"]).1
    };
    let answer = set("http://127.0.0.1:9/v1/", "");
    assert_eq!(answer["reason"], "host_unreachable");
    assert!(answer["detail"].as_str().unwrap().starts_with("`http://127.0.0.1:9/v1/models`: "), "{answer}");
    assert_eq!(set("localhost:1234", "bad")["detail"], "`http://localhost:1234` answered with 404: no such model");
    assert_eq!(set("file:///etc/passwd", "")["reason"], "invalid_setting");
    assert_eq!(set("http://llm.example.com", "")["reason"], "host_not_allowed");
    assert!(!room.left("asked").contains("llm.example.com"));
    std::fs::create_dir_all(room.context.home().join(".gsd")).unwrap();
    let own = r#"{"review": {"lm_studio_host": "http://llm.example.com"}}"#;
    std::fs::write(room.context.home().join(".gsd/defaults.json"), own).unwrap();
    assert_eq!(set("http://llm.example.com", "")["reason"], "host_unreachable");
}

#[test]
fn a_code_review_calls_the_requested_reviewers() {
    let room = Room::new(r#"{"review": {"parallel_lanes": 2, "default_reviewers": ["qwen"]}}"#)
        .reviewer("gemini", "echo 'a.txt:2 is wrong'")
        .reviewer("codex", "exit 4");
    let git = |line: &[&str]| {
        let ran = room.context.command("git").args(line).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    room.context.write("a.txt", "one\n");
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "one"]);
    let step = |more: &[&str], input: &str| {
        let usual =
            ["review-lane", "dispatch-step", "--cap-id", "code-review", "--point", "execute:post", "--run-dir", "run"];
        let ran = room.call(&[&usual[..], more].concat(), input);
        (
            ran.code,
            serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr)),
        )
    };
    let (code, answer) = step(&["--base-sha", "HEAD", "--explicit", "gemini"], "a.txt\n");
    assert_eq!((code, &answer["dispatched"], &answer["ok"]), (0, &true.into(), &true.into()), "{answer}");
    assert_eq!((&answer["results"][0]["slug"], &answer["results"][0]["ok"]), (&"gemini".into(), &true.into()));
    assert_eq!(answer["selection"]["resolvedInstances"][0]["kind"], "builtin");
    assert_eq!(room.review("gemini"), "a.txt:2 is wrong\n");
    let prompt = room.context.read("run/gsd-review-prompt.md");
    assert!(prompt.contains("Depth: standard\n") && prompt.contains("\n- a.txt\n"), "{prompt}");

    let (code, answer) = step(&["--base-sha", "HEAD", "--explicit", "gemini,codex,nobody"], "a.txt\n");
    assert_eq!((code, &answer["dispatched"], &answer["ok"]), (1, &true.into(), &false.into()), "{answer}");
    assert_eq!(answer["results"].as_array().unwrap().len(), 2);
    assert!(answer["selection"]["errors"][0].as_str().unwrap().contains("`nobody` is not a reviewer"));

    for (more, input, code, reason) in [
        (&["--base-sha", "HEAD"][..], "a.txt\n", 0, "no_lanes_selected"),
        (&["--explicit", "nobody"], "a.txt\n", 1, "no_lanes_selected"),
        (&["--explicit", "gemini"], "a.txt\n", 1, "missing_provenance"),
        (&["--explicit", "gemini", "--base-sha", "nothing"], "a.txt\n", 1, "unknown_base"),
        (&["--explicit", "gemini", "--base-sha", "HEAD"], "", 1, "invalid_paths"),
        (&["--explicit", "gemini", "--base-sha", "HEAD"], "a.txt\0b\n", 1, "invalid_paths"),
        (&["--explicit", "gemini", "--base-sha", "HEAD"], "../x\n", 1, "path_escapes_repo_root"),
        (&["--explicit", "gemini", "--base-sha", "HEAD"], "/etc/passwd\n", 1, "path_escapes_repo_root"),
    ] {
        let (exit, answer) = step(more, input);
        assert_eq!((exit, &answer["reason"], &answer["dispatched"]), (code, &reason.into(), &false.into()), "{answer}");
    }
    let elsewhere = room
        .call(&["review-lane", "dispatch-step", "--cap-id", "code-review", "--point", "execute:wave:post"], "")
        .json();
    assert_eq!((&elsewhere["reason"], &elsewhere["ok"]), (&"trait_not_enabled".into(), &true.into()));
}

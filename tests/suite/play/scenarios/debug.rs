//! A bug from a person's report to the archive: `/gsd-debug`, its session manager, and the debugger.

use super::Stage;
use super::agents;
use crate::play::actor::{Actor, DROPPED};

const TRIGGER: &str = "An empty name greets nobody: it prints `Hello, !`";
const SLUG: &str = "empty-name-greets-nobody";
const SESSION: &str = ".planning/debug/empty-name-greets-nobody.md";
const RESOLVED: &str = ".planning/debug/resolved/empty-name-greets-nobody.md";
const KNOWN: &str = ".planning/debug/knowledge-base.md";
const REPRODUCTION: &str = "python3 greet.py ''";

const CAUSE: &str = "greet.py:11 asks whether there is an argument, not whether it names somebody";
const WRONG: &str = "name = arguments[0] if arguments else \"world\"";
const RIGHT: &str = "name = \" \".join(arguments[:1]).strip() or \"world\"";
const TEST: &str = "\n\n    def test_who_has_no_name_is_the_world(self):\n        \
    with contextlib.redirect_stdout(io.StringIO()) as output:\n            greet.main([\"\"])\n        \
    self.assertEqual(output.getvalue(), \"Hello, world!\\n\")\n\n\nif __name__";

/// The questions that the manager passes up, and the person's answers.
const FIX: (&str, &str) = ("The cause is known.\n1. Fix now\n2. Plan it\n3. By hand", "1. Fix now");
const TRY: (&str, &str) = ("Try `python3 greet.py ''`.\n1. Works\n2. Still wrong\n3. Something else broke", "1. Works");

pub(crate) fn debug(stage: &mut Stage) {
    stage.has("greet");
    assert_eq!(stage.shell(REPRODUCTION), "Hello, !");
    stage.types("debug", TRIGGER, |it| {
        begin(it);
        let returned = hand_over(it, None);
        let returned = put_to_the_person(it, &returned, FIX);
        let returned = put_to_the_person(it, &returned, TRY);
        assert!(returned.contains("## DEBUG SESSION COMPLETE") && returned.contains("Outcome: fixed"), "{returned}");
        it.by("Show its summary: cause, fix, commits, what would have caught it");
        it.by("| fixed | none; name `{debug_dir}/resolved/{slug}.md` |");
        format!("Fixed; the session is {RESOLVED}")
    });
    assert_eq!(stage.shell(REPRODUCTION), "Hello, world!");
    stage.shell("python3 -m unittest 2>&1");
    let log = stage.shell("git log -2 --format=%s");
    assert_eq!(log, format!("docs: resolve debug {SLUG}\nfix({SLUG}): greet the world where a name is empty"));
    assert_eq!(stage.shell("ls .planning/debug"), "knowledge-base.md\nresolved");
    let session = stage.context.read(RESOLVED);
    for fact in ["status: resolved", TRIGGER, CAUSE, "## Prevention"] {
        assert!(session.contains(fact), "{fact} is not in the archive: {session}");
    }
    assert!(stage.context.read(KNOWN).contains(&format!("## {SLUG}")));
    assert_eq!(stage.asks_program("audit-open --json")["counts"]["debug_sessions"], 0);
    stage.expect_tidy();
    stage.expect_agreement();
}

/// Steps 1 and 2 of `/gsd-debug`: the person's report, in a file.
fn begin(it: &mut Actor) {
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init debug", &[]).is("tdd_mode", false).done();
    let model = it.runs("gsd-tools resolve-model gsd-debug-session-manager --raw", &[]).text.trim().to_owned();
    it.knows("model", &model);
    it.even_if_it_fails().runs("grep -H -E", &[]).lacks(".md:status").done();
    it.by("| text | an open session is about the same thing").by("Otherwise step 2");
    it.by("one question at a time: what should happen").asks("What should happen?", "The world is greeted.");
    it.by("since when, and what changed then").asks("Since when?", "I don't know.");
    let slug = it.runs("gsd-tools generate-slug", &[("bug in a few words", "Empty name greets nobody")]);
    assert_eq!(slug.text.trim(), SLUG);
    it.reads("templates/debug.md").done();
    it.by("write `{file}`: `status: investigating`").writes(SESSION, &Session::default().text());
}

/// Step 3: the manager in its own context, with an answer from its second run on; returns what the manager returned.
fn hand_over(it: &mut Actor, answer: Option<&str>) -> String {
    it.knows("slug", SLUG);
    let folder = it.field("debug_dir");
    it.knows("file", &format!("{folder}/{SLUG}.md"));
    let resume = if answer.is_some() { "true" } else { "false" };
    let fills = [
        ("true | false", resume),
        ("find_root_cause_only with --diagnose", "find_and_fix"),
        ("if any", if answer.is_some() { "" } else { DROPPED }),
        ("the user's answer", answer.unwrap_or_default()),
    ];
    let answered = answer.map(str::to_owned);
    let spawn = it.spawn("=\"gsd-debug-session-manager\"", &fills, move |it| manager(it, answered.as_deref()));
    it.sends(spawn).text
}

/// The person answers what the manager asks, and the manager runs again.
fn put_to_the_person(it: &mut Actor, returned: &str, (question, answer): (&str, &str)) -> String {
    assert!(returned.contains("## CONTINUE_REQUIRED") && returned.contains("Question:"), "{returned}");
    it.by("| `## CONTINUE_REQUIRED` with `Question:` | put it to the user, spawn again").asks(question, answer);
    it.by("Keep the goal when you spawn it again");
    hand_over(it, Some(&format!("{answer} (to: {})", question.lines().next().unwrap())))
}

/// gsd-debug-session-manager, from the state of the session's file.
fn manager(it: &mut Actor, answer: Option<&str>) -> String {
    it.by("Read `session` first").reads_file(SESSION).done();
    match answer {
        None => {
            it.by("| else | step 2 |");
            let returned = debugger(it, "find_root_cause_only", "", finds_the_cause);
            assert!(returned.contains("## ROOT CAUSE FOUND"), "{returned}");
            it.by("After every return Read `session` again").reads_file(SESSION).expects(CAUSE).done();
            it.by("`Specialist Hint` is not none");
            it.by("Otherwise ask, with cause and fix direction in two lines").by("**Fix now** (recommended");
            asks_by_its_caller(it, FIX.0)
        }
        Some(answer) if answer.starts_with(FIX.1) => {
            it.by("| `answer` was given | the row or option that asked the question |");
            let more = "tdd_mode: false\nThe cause is in the session; continue with the fix";
            it.by("spawn as in step 2 with `goal: find_and_fix`");
            let returned = debugger(it, "find_and_fix", more, fixes);
            assert!(returned.contains("## CHECKPOINT REACHED") && returned.contains("human-verify"), "{returned}");
            it.by("After every return Read `session` again").reads_file(SESSION).done();
            it.by("| `## CHECKPOINT REACHED`, human-verify | show what to try");
            asks_by_its_caller(it, TRY.0)
        }
        Some(_) => {
            it.by("| `answer` was given |").by("Works: step 5");
            closes(it)
        }
    }
}

/// An agent cannot ask: its caller asks instead.
fn asks_by_its_caller(it: &mut Actor, question: &str) -> String {
    it.by("return `## CONTINUE_REQUIRED` with the question");
    format!("## CONTINUE_REQUIRED\nSession: {SESSION}   Next: wait for the answer\nQuestion: {question}")
}

/// gsd-debugger with this goal: a separate agent, or the manager itself if it has no tool to spawn one.
fn debugger(it: &mut Actor, goal: &str, more: &str, part: fn(&mut Actor) -> String) -> String {
    it.knows("slug", SLUG);
    it.knows("session", SESSION);
    let project = it.project();
    it.knows("project", &project);
    if !it.can_spawn() {
        it.by("**No spawn tool**: read the file of `gsd-debugger` in `agents_dir` and do its work yourself");
        let folder = it.told("agents_dir:");
        it.by("**No spawn tool**").reads_agent(&folder, "gsd-debugger");
        return part(it);
    }
    let model = it.told("debugger_model:");
    it.knows("debugger_model", &model);
    let fills = [("if any", DROPPED), ("answer to its checkpoint", "")];
    let mut spawn = it.spawn("=\"gsd-debugger\"", &fills, part).with_words("find_root_cause_only", goal);
    if !more.is_empty() {
        spawn = spawn.with(more);
    }
    it.sends(spawn).text
}

/// gsd-debugger with `find_root_cause_only`.
fn finds_the_cause(it: &mut Actor) -> String {
    starts(it);
    let mut session = Session::default();
    let reproduced = it.by("**Reproduce** with the smallest input").shell(REPRODUCTION);
    reproduced.expects("Hello, !").done();
    it.by("**Read** whole functions along the failing path").reads_file("greet.py").done();
    it.by("and what changed: `git log -p --since`").shell("git log -p -2 -- greet.py").done();
    it.by("| General | wrong result, unclear where |");
    session.hypothesis = "greeting drops the name it is given";
    it.by("Write hypothesis, test and both expected outcomes").writes(SESSION, &session.text());
    let call = "python3 -c \"import greet; print(greet.greeting('Ada'))\"";
    it.by("then run the one experiment that separates them").shell(call).expects("Hello, Ada!").done();
    session.eliminated = "- hypothesis: greeting drops the name it is given\n  evidence: it prints the name\n  timestamp: 2026-01-06T10:05:00Z\n";
    session.hypothesis = "main takes an empty argument for a name";
    it.by("Refuted: to Eliminated with its evidence").writes(SESSION, &session.text());
    let call = "python3 -c \"import greet; greet.main([]); greet.main([''])\"";
    let shown = it.by("then run the one experiment that separates them").shell(call);
    shown.expects("Hello, world!").expects("Hello, !").done();
    session.evidence = "- checked: main with no argument and with an empty one\n  found: only the first is the world\n  \
                        implication: the condition is wrong\n  timestamp: 2026-01-06T10:10:00Z\n";
    session.root_cause = CAUSE;
    it.by("file status `investigating` with `root_cause` filled, return").writes(SESSION, &session.text());
    format!(
        "## ROOT CAUSE FOUND\nDebug Session: {SESSION}\nRoot Cause: {CAUSE}\nEvidence: an empty argument is a name to it\n\
         Files Involved: greet.py: main\nSuggested Fix Direction: take a name without letters for none\nSpecialist Hint: none"
    )
}

/// gsd-debugger with `find_and_fix`, after the cause is found.
fn fixes(it: &mut Actor) -> String {
    starts(it);
    it.by("check that it still reproduces, then go on here").shell(REPRODUCTION).expects("Hello, !").done();
    let mut session =
        Session { hypothesis: "the condition is wrong", root_cause: CAUSE, status: "fixing", ..Session::default() };
    it.by("Before you edit, write a reasoning checkpoint").writes(SESSION, &session.text());
    it.by("A failing test that reproduces the bug comes first").edits("test_greet.py", "\n\n\nif __name__", TEST);
    it.by("A failing test that reproduces the bug comes first").edits(
        "test_greet.py",
        "import unittest\n\nimport greet",
        "import contextlib\nimport io\nimport unittest\n\nimport greet",
    );
    let failed = it.by("The reproduction failed on the unfixed code").even_if_it_fails().shell("python3 -m unittest");
    failed.expects("FAILED (failures=1)").done();
    it.by("Then the smallest change that removes the cause").edits("greet.py", WRONG, RIGHT);
    it.by("and passes now, for the reason meant").shell(REPRODUCTION).expects("Hello, world!").done();
    it.by("Neighbouring cases pass: boundary, empty").shell("python3 greet.py ' '").expects("Hello, world!").done();
    it.by("Neighbouring cases pass").shell("python3 greet.py Ada").expects("Hello, Ada!").done();
    it.by("The existing tests pass, none skipped").shell("python3 -m unittest").expects("OK").done();
    it.reads("references/commit-rules.md").done();
    it.by("and commit with the scope the prompt names, else the slug");
    let message = format!("fix({SLUG}): greet the world where a name is empty");
    let hash = agents::commit(it, &["greet.py", "test_greet.py"], &message);
    session.status = "awaiting_human_verify";
    session.fix = "a name without letters is none";
    it.by("fill Resolution and Prevention").writes(SESSION, &session.text());
    format!(
        "## CHECKPOINT REACHED\nType: human-verify\nDebug Session: {SESSION}\nRoot Cause: {CAUSE}\nFix: {hash}\n\
         Needed: run `{REPRODUCTION}`; it greets the world"
    )
}

/// How every debugger begins.
fn starts(it: &mut Actor) {
    it.by("Start in one batch: Read the session file").reads_file(SESSION).done();
    it.by("the project instruction file").reads_file("CLAUDE.md").done();
    it.was_not_told("# Debug knowledge base");
}

/// Step 5 of the manager: the confirmed fix goes to the archive.
fn closes(it: &mut Actor) -> String {
    it.reads("templates/debug.md").done();
    it.by("Resolution and Prevention are filled").reads_file(SESSION).expects(CAUSE).done();
    it.by("`status: resolved`, `updated`").edits(SESSION, "status: awaiting_human_verify", "status: resolved");
    it.by("move the file to `{debug}/resolved/`").shell("mkdir -p .planning/debug/resolved").done();
    it.by("move the file to `{debug}/resolved/`").shell(&format!("mv {SESSION} {RESOLVED}")).done();
    let entry = format!(
        "# Debug knowledge base\n\n## {SLUG}\n- **Symptoms:** empty name, `Hello, !`\n- **Cause:** {CAUSE}\n- **Fix:** a name \
         without letters is none\n- **Files:** greet.py\n- **Prevention:** a test of the empty name\n- **Resolved:** 2026-01-06\n"
    );
    it.by("append one entry to `{debug}/knowledge-base.md`").writes(KNOWN, &entry);
    it.by("`{debug}` is the folder of `session`").knows("slug", SLUG);
    let session = it.told("session:");
    let folder = session.rsplit_once('/').expect("the session is in a folder").0;
    it.knows("debug", folder);
    it.runs("gsd-tools commit \"docs: resolve debug {slug}\"", &[]).is("committed", true).done();
    let left = it.runs("git status --short", &[]).text;
    assert!(!left.contains(".py") && !left.contains(".planning"), "leftovers of the hunt: {left}");
    it.even_if_it_fails().runs("git grep -n GSD-DEBUG", &[]).lacks(".py:").done();
    let fix = it.by("cause, with path:line").shell("git log -1 --format=%h --grep '^fix'").text;
    format!(
        "## DEBUG SESSION COMPLETE\nSession: {RESOLVED}   Outcome: fixed\nRoot Cause: {CAUSE}\nFix: {}\nPrevention: a test of the \
         empty name",
        fix.trim()
    )
}

/// The session's file, in the form of `templates/debug.md`.
struct Session {
    status: &'static str,
    hypothesis: &'static str,
    eliminated: &'static str,
    evidence: &'static str,
    root_cause: &'static str,
    fix: &'static str,
}

impl Default for Session {
    fn default() -> Self {
        Self { status: "investigating", hypothesis: "", eliminated: "", evidence: "", root_cause: "", fix: "" }
    }
}

impl Session {
    fn text(&self) -> String {
        let Self { status, hypothesis, eliminated, evidence, root_cause, fix } = self;
        let prevention = if fix.is_empty() { "" } else { "A test of the empty name; no other place takes a name.\n" };
        format!(
            "---\nstatus: {status}\ntrigger: \"{TRIGGER}\"\ncreated: 2026-01-06T10:00:00Z\nupdated: 2026-01-06T10:00:00Z\n---\n\n\
             ## Current Focus\nhypothesis: {hypothesis}\ntest: run it\nexpecting: both words\nnext_action: reproduce\n\
             bug_class: General\n\n## Symptoms\nexpected: the world is greeted\nactual: `Hello, !`\nerrors: none\n\
             reproduction: {REPRODUCTION}\nstarted: unknown\n\n## Eliminated\n{eliminated}\n## Evidence\n{evidence}\n\
             ## Resolution\nroot_cause: {root_cause}\nfix: {fix}\nverification: python3 -m unittest\noracle_type: test\n\
             files_changed: [greet.py, test_greet.py]\n\n## Prevention\n{prevention}"
        )
    }
}

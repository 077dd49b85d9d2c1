//! What a person sees at a terminal; piped output stays as it is.

use unicode_width::UnicodeWidthStr as _;

use crate::answers::project;
use crate::kit::{TestContext, binary};

/// The commands that have a view for people.
const VIEWS: &[&str] = &[
    "",
    "progress",
    "stats",
    "state",
    "roadmap analyze",
    "list-todos",
    "find-phase 2",
    "phase-plan-index 2",
    "audit-uat",
    "audit-open",
    "smart-entry",
    "progress bar",
    "progress table",
    "stats table",
    "validate health",
    "validate consistency",
];

fn seen(context: &TestContext, call: &str, columns: usize, variables: &[(&str, &str)]) -> String {
    let output = context.at_a_terminal_of(columns, call, variables, "");
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

/// The text without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[test]
fn every_view_fits_a_narrow_and_a_usual_terminal() {
    every_view_fits(&[30, 80]);
}

#[test]
#[ignore = "slow: minutes"]
fn every_view_fits_other_terminals() {
    every_view_fits(&[60, 105, 120, 200]);
}

fn every_view_fits(terminals: &[usize]) {
    // The agents of a host exist without a project too.
    let calls: Vec<&str> = VIEWS.iter().copied().chain(["validate agents", "config list --all"]).collect();
    let between = format!("; printf '\\036'; '{}' ", binary().display());
    for name in ["attic", "clinic", "garden", "ledger", "notes", "pocket", "workshop"] {
        let context = project(name);
        for &columns in terminals {
            // All in one terminal: creating one takes longer than a view.
            let pages = seen(&context, &calls.join(&between), columns, &[]);
            let pages: Vec<&str> = pages.split('\u{1e}').collect();
            assert_eq!(pages.len(), calls.len(), "{name}: {pages:#?}");
            for (call, page) in calls.iter().zip(pages) {
                assert!(!page.trim().is_empty() && !page.trim_start().starts_with('{'), "{name}: `{call}`: {page}");
                let fits = |line: &str| plain(line).width() <= columns || !line.trim().contains(' ');
                assert!(page.lines().all(fits), "{name}: `{call}` at {columns} columns:\n{page}");
            }
        }
    }
}

#[test]
fn colour_follows_the_environment_and_the_flag() {
    let context = project("notes");
    let is_colored = |call: &str, variables: &[(&str, &str)]| seen(&context, call, 80, variables).contains('\u{1b}');
    assert!(is_colored("progress", &[]));
    assert!(!is_colored("progress", &[("NO_COLOR", "1")]) && !is_colored("progress", &[("TERM", "dumb")]));
    assert!(!is_colored("progress --color never", &[]) && is_colored("progress --color=always", &[("NO_COLOR", "1")]));
    let dumb = seen(&context, "progress", 80, &[("TERM", "dumb")]);
    assert!(dumb.is_ascii() || !dumb.contains('█'), "{dumb}");
}

#[test]
fn programs_and_agents_get_json_at_a_terminal_too() {
    let context = project("notes");
    let piped = context.gsd(["progress"]).stdout;
    for (call, variables) in [("progress --json", &[][..]), ("progress", &[("CLAUDECODE", "1")])] {
        assert_eq!(seen(&context, call, 80, variables).trim_end(), piped.trim_end(), "{call} {variables:?}");
    }
    assert_eq!(context.gsd(["progress", "--json"]).stdout, piped);
}

#[test]
fn a_person_without_a_project_is_shown_what_to_do() {
    let context = TestContext::new();
    let welcome = seen(&context, "", 80, &[]);
    assert!(welcome.contains("gsd-tools install") && welcome.contains("gsd-tools help"), "{welcome}");
    for call in VIEWS.iter().filter(|call| !call.is_empty()) {
        let told = seen(&context, call, 80, &[]);
        assert!(told.contains("Error:") && told.contains("hint:"), "`{call}`: {told}");
    }
    assert!(context.gsd([]).failure(1).contains("no command given"), "a script that forgot its words");
}

#[test]
fn a_mistyped_format_gets_a_suggestion_at_a_terminal_and_json_in_a_script() {
    let context = project("notes");
    let told = seen(&context, "progress tabel", 80, &[]);
    assert!(told.contains("`tabel` is not a format") && told.contains("did you mean `table`?"), "{told}");
    assert!(seen(&context, "stats foo", 80, &[]).contains("the formats are"));
    assert!(context.gsd(["progress", "tabel"]).success().starts_with('{'));
    assert!(seen(&context, "progress json", 80, &[]).starts_with('{'));
}

#[test]
fn a_missing_workstream_is_reported_with_the_existing_ones() {
    let context = project("notes");
    assert!(seen(&context, "--ws nope progress", 80, &[]).contains("this project has no workstreams"));
    context.write(".planning/workstreams/api/STATE.md", "# S\n");
    context.write(".planning/workstreams/web/STATE.md", "# S\n");
    for call in VIEWS {
        let told = seen(&context, &format!("--ws wep {call}"), 80, &[]);
        assert!(told.contains("there is no workstream `wep`") && told.contains("api, web"), "`{call}`: {told}");
    }
}

#[test]
fn without_a_project_no_answer_says_that_it_is_safe_to_proceed() {
    let context = TestContext::new();
    let told = seen(&context, "audit-open", 80, &[]);
    assert!(told.contains("there is no project") && !told.contains("Safe"), "{told}");
    assert!(context.gsd(["audit-open"]).success().contains("Safe to proceed"), "a script gets the page it knows");
}

#[test]
fn open_items_are_listed_in_plain_words() {
    let context = project("workshop");
    let page = plain(&seen(&context, "audit-open", 80, &[]));
    assert!(page.starts_with("6 open items\n") && page.contains("\nTodos 2\n"), "{page}");
    assert!(page.contains("phase 1  1 test pending  partial"), "{page}");
    for internal in ["null", "##", "🔴", "[dormant]", "1 phases"] {
        assert!(!page.contains(internal), "{internal}: {page}");
    }
    assert!(context.gsd(["audit-open"]).success().contains("🔴"), "a script gets the page it knows");
}

#[test]
fn one_progress_is_shown_by_every_view() {
    let context = project("workshop");
    let shown =
        ["", "progress", "progress bar", "progress table", "stats", "stats table", "roadmap analyze"].map(|call| {
            let page = plain(&seen(&context, call, 120, &[]));
            let line = page.lines().find(|line| line.contains(" plans")).unwrap_or_default().to_owned();
            line[line.find(['█', '░']).unwrap_or_else(|| panic!("`{call}`: {page}"))..].to_owned()
        });
    assert!(shown.iter().all(|line| *line == shown[0]), "{shown:?}");
}

#[test]
fn a_view_names_commands_as_the_host_spells_them_and_no_internal_names() {
    let context = project("workshop");
    let page = plain(&seen(&context, "smart-entry", 80, &[("GSD_RUNTIME", "codex")]));
    assert!(page.contains("$gsd-execute-phase 2") && !page.contains("/gsd-"), "{page}");
    assert!(!page.contains("progress-next"), "{page}");
}

#[test]
fn dashboard_smart_entry_and_status_line_name_the_same_next_command() {
    for name in ["attic", "clinic", "notes", "pocket", "workshop"] {
        let context = project(name);
        let next = |call: &str| {
            let page = plain(&seen(&context, call, 80, &[]));
            let line = page.lines().find_map(|line| line.strip_prefix("Next  ")).map(str::trim);
            line.unwrap_or_else(|| panic!("{name} `{call}`: {page}")).to_owned()
        };
        let shown = next("");
        assert_eq!(next("smart-entry"), shown, "{name}");
        let event = serde_json::json!({ "cwd": context.project() }).to_string();
        let line = context.gsd_with(["hook", "standard", "status-line"], &[], &event).success();
        // An open acceptance test comes before the next step of a phase.
        let is_step = line.contains(&format!("→ {shown}")) || shown.contains("verify-work") || shown == "/gsd-progress";
        assert!(is_step, "{name}: {shown} and {line}");
    }
}

#[test]
fn a_dashboard_names_a_plan_that_is_half_done() {
    let context = project("workshop");
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let ran = context.command("git").current_dir(context.project()).args(identity).args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    };
    git(&["commit", "-q", "--allow-empty", "-m", "feat(02-01): lend"]);
    let page = plain(&seen(&context, "", 80, &[]));
    assert!(page.contains("Unfinished  02-01 has no SUMMARY (1 commit)"), "{page}");
}

#[test]
fn an_answer_at_a_terminal_ends_in_a_line_break() {
    let context = project("notes");
    for call in ["progress --json", "smart-entry --json", "generate-slug A", "current-timestamp date --raw"] {
        let output = context.at_a_terminal_of(80, call, &[], "");
        assert!(output.stdout.ends_with(b"\n"), "`{call}`: {:?}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_json_flag_for_another_program_is_passed_on() {
    let context = TestContext::new();
    let echoed = context.gsd(["run-with-timeout", "5", "echo", "a", "--json", "b"]).success();
    assert_eq!(echoed, "a --json b\n");
    assert_eq!(
        context.gsd(["--json", "generate-slug", "A b"]).success(),
        context.gsd(["generate-slug", "A b"]).success()
    );
}

#[test]
fn help_comes_in_two_steps() {
    let context = TestContext::new();
    let short = context.gsd(["help"]).success();
    assert_eq!(short, context.gsd(["--help"]).success());
    assert!(short.lines().count() < 60 && short.contains("help --all") && short.contains("Example"), "{short}");
    let all = context.gsd(["help", "--all"]).success();
    assert!(all.contains("generate-slug") && !short.contains("generate-slug"));
    assert_eq!(context.gsd(["help", "phase", "add"]).success(), context.gsd(["phase", "add", "--help"]).success());
    assert_eq!(context.gsd(["version"]).success(), context.gsd(["--version"]).success());
}

#[test]
fn an_uninstall_removes_the_only_install_and_asks_if_there_are_two() {
    let context = TestContext::new();
    let install = |scope| context.gsd(["install", "--claude", scope]).success();
    install("--local");
    assert!(context.gsd(["uninstall", "--claude", "--json"]).success().contains("\"local\""));
    install("--local");
    install("--global");
    let told = context.gsd(["uninstall", "--claude"]).failure(2);
    assert!(told.contains("--global") && told.contains("--local"), "{told}");
    assert!(context.gsd(["status", "--claude", "--json"]).success().contains("\"global\""), "nothing was removed");
}

#[test]
fn the_status_of_a_host_can_be_asked_in_the_home_folder() {
    let context = TestContext::new();
    let home = context.home();
    let home = home.to_str().unwrap();
    let told = context.gsd(["status", "--claude", "--cwd", home]);
    assert!(!told.stderr.contains("--local"), "{}", told.stderr);
}

#[test]
fn an_answer_about_a_failure_is_an_error_with_a_hint_at_a_terminal() {
    let context = project("clinic");
    for (call, message, hint) in [
        ("state get Nope", "has no field, key or section `Nope`", "gsd-tools state get"),
        ("frontmatter get nope.md", "there is no file `nope.md`", "check the path"),
        ("frontmatter get .planning/STATE.md --field nope", "has no field `nope`", "lists its fields"),
        ("summary-extract nope.md", "there is no file `nope.md`", "check the path"),
        ("roadmap get-phase 77", "there is no phase `77`", "gsd-tools roadmap analyze"),
        ("init plan-phase 99", "there is no such phase", "gsd-tools roadmap analyze"),
        ("workstream switch nope", "there is no workstream `nope`", "workstream create"),
        ("workstream archive nope --yes", "there is no workstream `nope`", "workstream create"),
        ("refactor status", "proposals are disabled", "config-set refactor.trigger_enabled true"),
        ("state update Nope x", "has no field `Nope`", "gsd-tools help state update"),
    ] {
        let page = plain(&seen(&context, call, 200, &[]));
        assert!(page.contains(message) && page.contains("hint:") && page.contains(hint), "`{call}`: {page}");
        let output = context.at_a_terminal_of(200, call, &[], "");
        assert!(!output.status.success(), "`{call}`");
    }
    // Programs get the JSON that they expect.
    assert_eq!(context.gsd(["roadmap", "get-phase", "77"]).json()["found"], false);
    assert_eq!(context.gsd(["frontmatter", "get", "nope.md"]).json()["error"], "File not found");
}

#[test]
fn version_and_help_are_data_with_json() {
    let context = project("clinic");
    for arguments in [&["version", "--json"][..], &["--json", "--version"], &["--version", "--json"]] {
        let told = context.gsd_with(arguments, &[], "").json();
        assert_eq!(told["version"], env!("CARGO_PKG_VERSION"), "{arguments:?}");
    }
    let all = context.gsd(["help", "--json"]).json();
    assert_eq!(all["commands"], context.gsd(["schema"]).json()["commands"]);
    let one = context.gsd(["help", "phase", "add", "--json"]).json();
    assert_eq!(one["commands"].as_array().unwrap().len(), 1);
    assert_eq!(one["page"], context.gsd(["help", "phase", "add"]).success());
    assert_eq!(context.gsd(["--json"]).json(), context.gsd(["progress"]).json());
    let told = TestContext::new().gsd(["--json"]).failure(1);
    assert!(told.contains("there is no project"), "{told}");
}

#[test]
fn a_mistyped_help_topic_or_flag_gets_a_hint() {
    let context = TestContext::new();
    for (arguments, hint) in [
        (&["help", "state", "updte"][..], "did you mean `update`?"),
        (&["help", "stats2"], "did you mean `stats`?"),
        (&["help", "nonsense"], "`gsd-tools help --all` lists the commands"),
        (&["versoin"], "did you mean `version`?"),
        (&["--vesrion"], "did you mean `--version`?"),
        (&["-v"], "`gsd-tools --version` prints the version"),
    ] {
        let told = context.gsd_with(arguments, &[], "").failure(1);
        assert!(told.contains(hint), "{arguments:?}: {told}");
    }
    for topic in ["help", "version", "exit-codes"] {
        assert!(!context.gsd(["help", topic]).success().is_empty());
    }
}

#[test]
fn the_usage_of_a_missing_argument_shows_it_as_required() {
    let context = project("clinic");
    for (call, usage) in [
        ("find-phase", "find-phase [OPTIONS] <PHASE>"),
        ("roadmap get-phase", "roadmap get-phase [OPTIONS] <PHASE>"),
        ("workstream set", "workstream set [OPTIONS] <NAME>"),
        ("phase add-batch", "phase add-batch [OPTIONS] <NAME>"),
    ] {
        let told = context.gsd_with(call.split(' '), &[], "").failure(1);
        assert!(told.contains(&format!("usage: gsd-tools {usage}")), "{told}");
    }
    let told = context.gsd(["package", "../x"]).failure(2);
    assert!(told.contains("usage: gsd-tools package [OPTIONS] <--host <NAME>|--managed> <FOLDER>"), "{told}");
    assert_eq!(context.gsd(["find-phase", "--phase", "1"]).json(), context.gsd(["find-phase", "1"]).json());
    assert_eq!(context.gsd(["find-phase", "2", "--phase", "1"]).json(), context.gsd(["find-phase", "1"]).json());
}

#[test]
fn a_flag_of_another_command_is_named_with_it() {
    let context = TestContext::new();
    let told = context.gsd(["update", "--claude", "--profile=full"]).failure(2);
    assert!(told.contains("hint: only `install` and `cost` take `--profile`; usage: gsd-tools update"), "{told}");
    assert!(!told.contains("name a host"), "{told}");
}

/// Verbs that people type and that have no special view.
const PAGES: &[&str] = &[
    "phases list",
    "roadmap get-phase 2",
    "list-seeds",
    "windows status",
    "verification status 1",
    "workstream progress",
    "workstream get",
    "capability list",
    "history-digest",
    "gate show test",
    "resolve-model gsd-planner",
    "frontmatter get .planning/STATE.md",
    "planning inspect",
    "phase add Search --dry-run",
    "phase insert 1 Search --dry-run",
    "phase remove 2 --force --yes --dry-run",
];

#[test]
fn answers_without_a_view_are_pages_at_a_terminal_and_json_in_a_pipe() {
    let context = project("workshop");
    let between = format!("; printf '\\036'; '{}' ", binary().display());
    for columns in [60, 80] {
        let pages = seen(&context, &PAGES.join(&between), columns, &[]);
        let pages: Vec<&str> = pages.split('\u{1e}').collect();
        assert_eq!(pages.len(), PAGES.len(), "{pages:#?}");
        for (call, page) in PAGES.iter().zip(pages) {
            assert!(!page.trim().is_empty() && !page.trim_start().starts_with(['{', '[']), "`{call}`: {page}");
            assert!(!page.contains("Error:"), "`{call}`: {page}");
            // The lines of a diff are those of the document.
            let is_of_diff = |line: &str| plain(line).starts_with(['+', '-', ' ', '@', '\\']);
            // A path stays whole.
            let has_path = |line: &str| line.contains(&*context.project().to_string_lossy());
            let fits = |line: &str| plain(line).width() <= columns || !line.trim().contains(' ') || has_path(line);
            let mut lines = page.lines().filter(|line| !call.contains("--dry-run") || !is_of_diff(line));
            assert!(lines.all(fits), "`{call}` at {columns} columns:\n{page}");
        }
    }
    for call in PAGES {
        let piped = context.gsd_with(call.split(' '), &[], "").success();
        assert!(serde_json::from_str::<serde_json::Value>(&piped).is_ok(), "`{call}`: {piped}");
    }
    for call in ["phases list --json", "init progress", "state json", "schema progress", "progress json", "stats json"]
    {
        assert!(seen(&context, call, 80, &[]).starts_with('{'), "`{call}` is data");
    }
}

#[test]
fn what_a_person_changes_is_said_in_a_line() {
    let context = project("workshop");
    let said = |call: &str| plain(&seen(&context, call, 120, &[]));
    assert!(said("phase insert 1 Search").starts_with("Inserted phase 1.1 after phase 1: Search\n"));
    assert!(said("phase remove 1.1 --force --yes").starts_with("Removed phase 1.1\n"));
    assert!(said("todo complete 2026-01-05-refactor.md").starts_with("Completed 2026-01-05-refactor.md\n"));
    assert!(said("find-phase 2").starts_with("Phase 2  Lending\n"), "the name that the roadmap has");
    let page = said("roadmap get-phase 2");
    assert!(page.contains("\nRequirements\n") && !page.contains("\\n"), "{page}");
    let folder = context.home().join("man1");
    let page = said(&format!("man-pages {}", folder.display()));
    assert!(page.starts_with("wrote ") && page.contains(" man pages") && page.lines().count() <= 3, "{page}");
}

#[test]
fn text_prints_the_view_in_a_pipe() {
    let context = project("workshop");
    for call in ["", "stats", "progress", "phases list", "list-todos", "phase add Search --dry-run"] {
        let words: Vec<&str> = call.split(' ').chain(["--text"]).filter(|word| !word.is_empty()).collect();
        let page = context.gsd_with(words, &[], "").success();
        assert!(!page.starts_with('{') && page.ends_with('\n') && !page.contains('\u{1b}'), "`{call}`: {page}");
        let shown = plain(&seen(&context, call, 80, &[("GSD_TEST_MODE", "1")]));
        let first = |page: &str| page.lines().next().unwrap_or_default().to_owned();
        assert_eq!(first(&page), first(&shown), "`{call}`");
    }
    for other in [&["--json"][..], &["--pick", "percent"], &["--raw"]] {
        let told = context.gsd_with([&["stats", "--text"][..], other].concat(), &[], "").failure(1);
        assert!(told.contains(&format!("`--text` and `{}` exclude each other", other[0])), "{told}");
    }
    let told = context.gsd([]).failure(1);
    assert!(told.contains("no command given") && told.contains("gsd-tools --text"), "{told}");
}

#[test]
fn a_command_with_its_own_text_flag_keeps_it() {
    let context = project("workshop");
    assert_eq!(context.gsd(["state", "add-blocker", "--text", "no key", "--raw"]).success(), "true");
    let answer = context.gsd(["agent", "classify-failure", "--text", "quota"]).json();
    assert_eq!(answer["class"], "quota-exceeded");
    // Workflows pass the words of a person.
    assert!(context.gsd(["init", "progress", "--text"]).success().starts_with('{'));
}

#[test]
fn a_page_in_a_pipe_does_not_act_on_the_terminal_that_shows_it_later() {
    let context = project("workshop");
    let todo = "---\ncreated: 2026-01-07\ntitle: \"\u{1b}[2Jgone\"\narea: ui\n---\n";
    context.write(".planning/todos/pending/2026-01-07-x.md", todo);
    let page = context.gsd(["list-todos", "--text"]).success();
    assert!(page.contains("gone") && !page.contains('\u{1b}'), "{page:?}");
}

#[test]
fn a_percentage_and_the_reason_for_none_exclude_each_other() {
    // Its roadmap has no milestones: all phases are those of v1.0.
    let context = project("workshop");
    let page = plain(&seen(&context, "stats", 80, &[]));
    assert!(page.contains(" 33%  1/3 plans") && !page.contains("No percentage"), "{page}");
    assert_eq!(context.gsd(["stats"]).json()["percent"], serde_json::Value::Null, "programs get what they know");
    assert_eq!(context.gsd(["progress", "bar", "--raw"]).success(), "[███░░░░░░░] 1/3 plans, 1/2 phases (33%)");
    // Two milestones, and the version is neither.
    let roadmap = context.project().join(".planning/ROADMAP.md");
    let text = std::fs::read_to_string(&roadmap).unwrap();
    std::fs::write(&roadmap, format!("{text}\n## v2.0 Later\n\n### Phase 3: Rent\n\n## v3.0 Much later\n")).unwrap();
    let page = plain(&seen(&context, "stats", 80, &[]));
    assert!(page.contains("No percentage") && !page.contains('%') && !page.contains('█'), "{page}");
}

#[test]
fn the_table_to_share_has_every_phase_of_the_roadmap() {
    let context = project("pocket");
    let table = context.gsd(["progress", "table", "--raw"]).success();
    for phase in ["| 01 | Storage | 1/1 | Complete |", "| 02 | Writing Notes | 0/0 |", "| 03 | Sync | 0/0 |"] {
        assert!(table.contains(phase), "{phase}: {table}");
    }
}

#[test]
fn mistakes_in_a_call_are_said_in_plain_words() {
    let context = project("workshop");
    let told = |call: &str| seen(&context, call, 120, &[]);
    assert!(told("stats --jsn").contains("did you mean `--json`?"));
    assert!(told("auto run --budget abc").contains("it is not a number"));
    assert!(told("help hook").contains("gsd-tools hooks status"));
    let page = told("uninstall --all");
    assert!(page.lines().count() < 8, "{page}");
}

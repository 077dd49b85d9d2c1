//! Install profiles and what an install costs a session, and the options that decide about other people's settings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::kit::{TestContext, repository};
use crate::lived::{HOSTS, Lived, put};
use crate::tree::{difference, tree};

/// The names of the commands that are installed for Claude Code, without routers.
fn commands(root: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root.join("skills")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    names
        .filter_map(|name| name.strip_prefix("gsd-").map(str::to_owned))
        .filter(|name| !name.starts_with("ns-"))
        .collect()
}

fn claude(context: &TestContext) -> PathBuf {
    context.home().join(".claude")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn profile_of(context: &TestContext) -> Value {
    context.gsd(["status", "--claude", "--global", "--json"]).json()["installs"][0]["profile"].clone()
}

#[test]
fn a_profile_installs_a_part_and_full_brings_the_rest() {
    let context = TestContext::new();
    let root = claude(&context);
    let before = tree(&context.home());
    let said = context.gsd(["install", "--claude", "--global", "--profile=core"]).success();
    assert!(said.contains("profile core") && said.contains("--profile=full` adds them"), "{said}");
    let core = commands(&root);
    for name in ["new-project", "discuss-phase", "plan-phase", "execute-phase", "phase", "help", "update", "surface"] {
        assert!(core.contains(name), "{name}: {core:?}");
    }
    assert!(core.contains("verify-work"), "what a command requires comes with it");
    assert!(!core.contains("ship") && !core.contains("sketch"));
    assert!(root.join("agents/gsd-planner.md").exists() && !root.join("agents/gsd-doc-writer.md").exists());
    assert!(!root.join("skills/gsd-ns-context").exists(), "a router without a command");
    let router = read(root.join("skills/gsd-ns-manage/SKILL.md"));
    assert!(router.contains("gsd-core/workflows/update.md") && !router.contains("workflows/ship.md"), "{router}");
    for file in ["skills/gsd-help/SKILL.md", "skills/gsd-ns-manage/SKILL.md"] {
        let text = read(root.join(file));
        assert!(text.contains("`/gsd-verify-work`") && !text.contains("`/gsd-ship`"), "{file}: {text}");
        assert!(text.contains("install --claude --global --profile=full` installs it"), "{file}: {text}");
    }
    assert!(root.join("gsd-core/workflows/ship.md").exists(), "texts that nobody names cost nothing");
    assert_eq!(profile_of(&context), "core");
    context.gsd(["status", "--claude", "--global"]).success();

    // Later installs and updates keep it.
    let again = context.gsd(["install", "--claude", "--global", "--json"]).json();
    assert_eq!((&again["hosts"][0]["outcome"], &again["hosts"][0]["profile"]), (&"unchanged".into(), &"core".into()));
    context.gsd(["update", "--yes"]).success();
    assert_eq!(commands(&root), core);

    let standard = context.gsd(["install", "--claude", "--global", "--profile", "standard", "--json"]).json();
    assert_eq!(standard["hosts"][0]["profile"], "standard");
    let more = commands(&root);
    assert!(core.is_subset(&more) && more.contains("workspace") && !more.contains("ship"), "{more:?}");
    context.gsd(["install", "--claude", "--global", "--profile=full"]).success();
    let full = commands(&root);
    assert!(more.is_subset(&full) && full.contains("ship") && full.len() > 60);
    assert_eq!(profile_of(&context), "full");
    assert!(!root.join("gsd-core/.gsd-profile").exists());
    assert!(!read(root.join("gsd-file-manifest.json")).contains("\"profile\""));

    context.gsd(["undo", "--yes"]).success();
    assert_eq!((commands(&root), profile_of(&context)), (more, "standard".into()));
    context.gsd(["uninstall", "--claude", "--global"]).success();
    let mut after = tree(&context.home());
    after.retain(|path, _| !path.contains("/.local"));
    assert_eq!(difference(&before, &after), [""; 0]);
}

#[test]
fn every_host_installs_and_uninstalls_each_profile() {
    let lived = Lived::new();
    let old = lived.tree();
    for profile in ["core", "standard,ui"] {
        lived.gsd(["install", "--all", "--global", "--profile", profile]).success();
        let report = lived.gsd(["status", "--json"]).json();
        let installs = report["installs"].as_array().unwrap();
        assert!(
            installs.len() > HOSTS.len() / 2 && installs.iter().all(|install| install["profile"] == profile),
            "{report}"
        );
        assert!(installs.iter().all(|install| install["drift"] == json!([])), "{report}");
        lived.gsd(["uninstall", "--all", "--yes"]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0], "{profile}");
    }
}

#[test]
fn nested_skills_and_a_project_have_profiles_too() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--local", "--minimal", "--skills", "nested"]).success();
    let root = context.project().join(".claude/skills");
    assert!(root.join("gsd-ns-workflow/skills/plan-phase/SKILL.md").exists());
    assert!(!root.join("gsd-ns-manage/skills/ship").exists() && !root.join("gsd-ship").exists());
    assert!(read(root.join("gsd-ns-workflow/SKILL.md")).contains("install --claude --local --profile=full"));
    context.gsd(["uninstall", "--claude", "--local"]).success();
    assert!(!context.project().join(".claude").exists());
}

#[test]
fn a_wrong_profile_is_refused_with_the_nearest_and_the_list() {
    let context = TestContext::new();
    for (words, wanted) in [
        (&["--profile=cor"] as &[&str], "did you mean `--profile=core`? the profiles are core, standard, full, "),
        (&["--profile=core,nope"], "the profiles are core, standard, full, "),
        (&["--profile=full,nope"], "unknown profile `nope`"),
        (&["--profile=tdd"], "`tdd` has no commands"),
        (&["--profile="], "profile"),
        (&["--minimal", "--profile=core"], "--minimal"),
        (&["--core-only", "--profile", "core"], "cannot be used with"),
    ] {
        let call = [&["install", "--claude", "--global"], words].concat();
        let error = context.gsd_with(&call, &[], "").failure(2);
        assert!(error.contains(wanted), "{words:?}: {error}");
    }
    assert!(!claude(&context).exists(), "nothing was written");
    let refused = ["--profile=core", "--minimal", "--force-statusline", "--portable-hooks", "--no-legacy-cleanup"];
    for (verb, flag) in ["uninstall", "update"].into_iter().flat_map(|verb| refused.map(|flag| (verb, flag))) {
        let error = context.gsd([verb, "--claude", flag]).failure(2);
        assert!(error.contains(flag.split('=').next().unwrap()), "{verb} {flag}: {error}");
    }
    context.gsd(["--claude", "--core-only"]).success();
    assert_eq!(profile_of(&context), "core");
}

#[test]
fn a_plan_keeps_the_profile_and_options() {
    let context = TestContext::new();
    let file = context.project().join("team.plan");
    let plan = file.to_str().unwrap();
    context.gsd(["install", "--claude", "--global", "--profile=core", "--portable-hooks", "--plan", plan]).success();
    assert!(read(&file).contains("\"core\""));
    context.gsd(["apply", plan]).success();
    assert_eq!(profile_of(&context), "core");
    assert!(read(claude(&context).join("settings.json")).contains("$HOME/.claude/gsd-core/bin/gsd-tools"));
}

#[test]
fn an_install_without_its_manifest_is_recognised_with_its_profile() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global", "--profile=core,ui"]).success();
    let files = tree(&claude(&context));
    std::fs::remove_file(claude(&context).join("gsd-file-manifest.json")).unwrap();
    let report = context.gsd(["install", "--claude", "--global", "--json"]).json();
    assert_eq!(report["hosts"][0]["profile"], "core,ui", "{report}");
    assert_eq!(report["hosts"][0]["unlisted"]["uncertain"], json!([]), "{report}");
    let is_manifest = |line: &String| line.contains("/gsd-file-manifest.json");
    assert!(difference(&files, &tree(&claude(&context))).iter().all(is_manifest));
}

/// GSD Core as it leaves a folder, with this profile.
fn lay_gsd_core(root: &Path, profile: &str) {
    put(&root.join("agents/gsd-gone.md"), "old");
    let old = "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4";
    let manifest = json!({
        "manifestVersion": 2, "version": "1.14.0", "timestamp": "2026-01-02T03:04:05.678Z", "mode": "full",
        "runtime": "claude", "scope": "global", "files": {"agents/gsd-gone.md": old},
    });
    put(&root.join("gsd-file-manifest.json"), &serde_json::to_string_pretty(&manifest).unwrap());
    put(&root.join("gsd-install-state.json"), "{\n  \"schemaVersion\": 1,\n  \"appliedMigrations\": []\n}\n");
    put(&root.join(".gsd-profile"), profile);
}

#[test]
fn the_profile_of_a_program_that_is_replaced_is_kept_if_its_names_are_known() {
    for (theirs, asked, ours, said) in [
        ("core\n", "", "core", "its profile stays: core"),
        ("standard,ui\n", "", "standard,ui", "its profile stays: standard,ui"),
        ("full\n", "", "full", ""),
        ("everything\n", "", "full", "its profile `everything` has no equal here: the profile is full"),
        ("core\n", "--profile=standard", "standard", ""),
    ] {
        let context = TestContext::new();
        lay_gsd_core(&claude(&context), theirs);
        let mut call = vec!["install", "--claude", "--global"];
        call.extend((!asked.is_empty()).then_some(asked));
        let text = context.gsd_with(&call, &[], "").success();
        assert!(text.contains("replaced gsd-core 1.14.0") && text.contains(said), "{theirs}: {text}");
        assert!(!said.is_empty() || !text.contains("its profile"), "{theirs}: {text}");
        assert_eq!(profile_of(&context), ours, "{theirs}");
        assert!(!claude(&context).join(".gsd-profile").exists());
    }
}

#[test]
fn an_install_of_another_program_stays_if_asked() {
    let context = TestContext::new();
    let root = claude(&context);
    lay_gsd_core(&root, "core\n");
    let theirs = read(root.join("agents/gsd-gone.md"));
    let report = context.gsd(["install", "--claude", "--global", "--no-legacy-cleanup", "--json"]).json();
    let host = &report["hosts"][0];
    assert_eq!(
        (&host["taken_over"], &host["left_in_place"][0]["program"]),
        (&json!([]), &"gsd-core".into()),
        "{report}"
    );
    assert_eq!(host["profile"], "full");
    assert_eq!(read(root.join("agents/gsd-gone.md")), theirs);
    assert!(root.join(".gsd-profile").exists() && root.join("skills/gsd-help/SKILL.md").exists());
    context.gsd(["update", "--yes"]).success();
    assert!(root.join("agents/gsd-gone.md").exists(), "an update keeps it");
    let said = context.gsd(["install", "--claude", "--global"]).success();
    assert!(said.contains("replaced gsd-core") && !root.join("agents/gsd-gone.md").exists(), "{said}");
}

#[test]
fn a_status_line_is_replaced_if_asked_and_comes_back() {
    for scope in ["--global", "--local"] {
        let context = TestContext::new();
        let mine = "{\n  // mine\n  \"statusLine\": { \"type\": \"command\", \"command\": \"mine.sh\" }\n}\n";
        put(&claude(&context).join("settings.json"), mine);
        let file = match scope {
            "--global" => claude(&context).join("settings.json"),
            _ => context.project().join(".claude/settings.local.json"),
        };
        let kept = context.gsd(["install", "--claude", scope, "--json"]).json();
        assert_eq!(kept["hosts"][0]["status_line"], "kept", "{kept}");
        let call = ["install", "--claude", scope, "--force-statusline", "--json"];
        assert_eq!(context.gsd(call).json()["hosts"][0]["status_line"], "ours");
        assert!(read(&file).contains("status-line") && !read(&file).contains("mine.sh"), "{}", read(&file));
        let again = context.gsd(["install", "--claude", scope, "--json"]).json();
        assert_eq!(
            (&again["hosts"][0]["outcome"], &again["hosts"][0]["status_line"]),
            (&"unchanged".into(), &"ours".into())
        );
        context.gsd(["update", "--yes"]).success();
        assert!(read(&file).contains("status-line"));
        context.gsd(["uninstall", "--claude", scope]).success();
        assert_eq!(read(claude(&context).join("settings.json")), mine, "{scope}");
        assert!(scope == "--global" || !file.exists());
    }
    let context = TestContext::new();
    let said = context.gsd(["install", "--codex", "--global", "--force-statusline", "--portable-hooks"]).success();
    assert!(said.contains("`--force-statusline` changes nothing"), "{said}");
}

#[test]
fn hooks_name_the_program_by_the_home_if_asked() {
    for (flag, variables) in [(true, &[] as &[(&str, &str)]), (false, &[("GSD_PORTABLE_HOOKS", "1")])] {
        let lived = Lived::new();
        let old = lived.tree();
        let mut call = vec!["install", "--all", "--global"];
        call.extend(flag.then_some("--portable-hooks"));
        lived.gsd_with(&call, variables).success();
        let home = lived.context.home();
        for (file, command) in [
            (".claude/settings.json", "\\\"$HOME/.claude/gsd-core/bin/gsd-tools\\\" hook standard session-start"),
            (".codex/hooks.json", "\\\"$HOME/.codex/gsd-core/bin/gsd-tools\\\" hook"),
            (".copilot/hooks/gsd.json", "& \\\"$HOME/.copilot/gsd-core/bin/gsd-tools\\\" hook"),
            (".hermes/config.yaml", &format!("{}/.hermes/gsd-core/bin/gsd-tools hook", home.display())),
        ] {
            let text = read(home.join(file));
            assert!(text.contains(command), "{file}: {text}");
        }
        for module in [".config/opencode/plugins/gsd-tools.js", ".cline/hooks/PreToolUse"] {
            assert!(!read(home.join(module)).contains(&home.display().to_string()), "{module}");
        }
        // The shell that runs it finds the program.
        let settings: Value = json5(&read(home.join(".claude/settings.json")));
        let hook = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        let mut shell = lived.context.command("sh");
        shell.args(["-c", &format!("echo '{{}}' | {hook}")]).env("XDG_STATE_HOME", lived.state());
        let ran = shell.output().unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        let listed = lived.gsd(["install", "--claude", "--global", "--json"]).json();
        assert_eq!(listed["hosts"][0]["outcome"], "unchanged", "later installs keep it: {listed}");
        lived.gsd(["uninstall", "--all", "--yes"]).success();
        assert_eq!(difference(&old, &lived.tree()), [""; 0]);
    }
}

/// JSON with comments.
fn json5(text: &str) -> Value {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
}

#[test]
fn an_answer_that_names_a_command_left_out_says_how_to_add_it() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global", "--profile=core"]).success();
    let program = claude(&context).join("gsd-core/bin/gsd-tools");
    let guide = |topic: &str| {
        let ran = context.command(&program).args(["guide", topic]).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let (page, note) = guide("ship");
    assert!(page.contains("/gsd-ship"), "{page}");
    let wanted = "not installed here (profile core): `gsd-tools install --claude --global --profile=full` adds all";
    assert!(note.contains("`/gsd-ship`") && note.contains(wanted), "{note}");
    assert_eq!(guide("install").1, "");
    // The note of a folder that came with a repository is not printed as a command.
    let noted = claude(&context).join("gsd-core/.gsd-profile");
    let text = read(&noted);
    put(&noted, &text.replace("--claude", "; rm -rf x #"));
    assert_eq!(guide("ship").1, "");
    put(&noted, &text);
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: A** - x\n");
    let missing = context.gsd(["init", "phase-op"]).json();
    assert_eq!(missing["missing_agents"], json!([]), "an agent that the profile leaves out is not missing: {missing}");
    context.gsd(["install", "--claude", "--global", "--profile=full"]).success();
    assert_eq!(guide("ship").1, "");
}

fn bill(context: &TestContext, words: &[&str]) -> Value {
    let call = [&["cost", "--claude", "--global", "--json"], words].concat();
    context.gsd_with(&call, &[], "").json()["hosts"][0].clone()
}

fn bytes(value: &Value) -> u64 {
    value["bytes"].as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// The row of the model's list for a file, as it is counted.
fn row(path: &Path) -> u64 {
    let text = read(path);
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: "))).unwrap();
        line.trim_matches('"').to_owned()
    };
    u64::try_from(format!("- {}: {}\n", value("name"), value("description")).len()).unwrap()
}

#[test]
fn the_bill_of_an_install_is_that_of_the_files_on_the_disk() {
    let context = TestContext::new();
    let root = claude(&context);
    put(&root.join("CLAUDE.md"), "Be brief.\n");
    put(&root.join("skills/own/SKILL.md"), "---\nname: own\ndescription: My skill\n---\nMine.\n");
    put(&root.join("skills/typed/SKILL.md"), "---\nname: typed\ndescription: x\ndisable-model-invocation: true\n---\n");
    put(&root.join("agents/reviewer.md"), "---\nname: reviewer\ndescription: Reviews\n---\nMine.\n");
    put(&root.join("commands/hello.md"), "Say hello.\n");
    let own = ["- own: My skill\n", "- reviewer: Reviews\n", "- hello: Say hello.\n"].concat().len() as u64;

    let before = bill(&context, &[]);
    assert_eq!((&before["installed"], &before["profile"]), (&false.into(), &"full".into()));
    let mut seen: Vec<(u64, u64, u64)> = Vec::new();
    for profile in ["core", "standard", "full"] {
        let promised = bill(&context, &["--profile", profile]);
        context.gsd(["install", "--claude", "--global", "--profile", profile]).success();
        let found = bill(&context, &[]);
        assert_eq!((&found["installed"], &found["profile"]), (&true.into(), &profile.into()));
        for key in ["files", "always", "commands", "agents", "yours"] {
            assert_eq!(promised[key], found[key], "{profile}: {key}");
        }
        assert_eq!(bytes(&found["yours"]["listing"]), own, "{}", found["rows"]);
        assert_eq!(bytes(&found["yours"]["instructions"]), "Be brief.\n".len() as u64);

        let ours = |folder: &str| {
            let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("gsd-")).collect::<Vec<_>>()
        };
        let skills: Vec<PathBuf> = ours("skills").into_iter().map(|folder| folder.join("SKILL.md")).collect();
        let is_listed = |path: &&PathBuf| !read(path).contains("\ndisable-model-invocation: true\n");
        let listing: u64 = skills.iter().filter(is_listed).chain(&ours("agents")).map(|path| row(path)).sum();
        assert_eq!(bytes(&found["always"]["listing"]), listing, "{profile}");
        assert_eq!(found["agents"].as_array().unwrap().len(), ours("agents").len());
        assert_eq!(found["commands"].as_array().unwrap().len(), skills.len());

        let body = |path: &Path| read(path).split_once("\n---\n").unwrap().1.len() as u64;
        let help = found["commands"].as_array().unwrap().iter().find(|command| command["name"] == "gsd-help").unwrap();
        let at_once =
            body(&root.join("skills/gsd-help/SKILL.md")) + read(root.join("gsd-core/workflows/help.md")).len() as u64;
        assert_eq!(bytes(&help["at_once"]), at_once, "{profile}");
        let plan =
            found["commands"].as_array().unwrap().iter().find(|command| command["name"] == "gsd-plan-phase").unwrap();
        let files = ["workflows/plan-phase.md", "references/ui.md"]
            .map(|path| read(root.join("gsd-core").join(path)).len() as u64);
        assert_eq!(bytes(&plan["at_once"]), body(&root.join("skills/gsd-plan-phase/SKILL.md")) + files[0] + files[1]);
        assert!(bytes(&plan["later"]) > 0, "{plan}");
        let current: Vec<&Value> =
            found["profiles"].as_array().unwrap().iter().filter(|row| row["current"] == true).collect();
        assert_eq!(current.len(), 1);
        assert_eq!(
            (&current[0]["profile"], bytes(&current[0]["always"])),
            (&profile.into(), bytes(&found["always"]["total"]))
        );
        let count = |key: &str| current[0][key].as_u64().unwrap();
        seen.push((count("files"), count("commands"), bytes(&current[0]["always"])));
    }
    for pair in seen.windows(2) {
        assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1 && pair[0].2 < pair[1].2, "{seen:?}");
    }
}

#[test]
fn the_bill_says_what_is_measured_and_counts_blocks_of_instructions() {
    let context = TestContext::new();
    let page = context.gsd(["cost", "--claude", "--codex"]).success();
    assert!(page.contains("not installed: as an install would write it"), "{page}");
    assert!(page.contains("Install: `gsd-tools install --claude --global`"), "{page}");
    let of = |host: &str| context.gsd(["cost", "--host", host, "--json"]).json()["hosts"][0].clone();
    assert_eq!((&of("claude")["measured"], &of("claude")["verified"]["by"]), (&true.into(), &"client".into()));
    assert_eq!(of("trae")["measured"], false);
    let said = context.gsd(["cost", "--trae"]).success();
    assert!(said.contains("Not measured: what "), "{said}");
    let instructions = context.home().join(".copilot/copilot-instructions.md");
    put(&instructions, "# Mine\n");
    context.gsd(["install", "--copilot", "--global"]).success();
    let found = of("copilot");
    let block = bytes(&found["always"]["instructions"]);
    let yours = bytes(&found["yours"]["instructions"]);
    assert!(block > 100 && yours >= 7, "{found}");
    assert_eq!(block + yours, read(&instructions).len() as u64);
    // What is edited on the disk is counted as it is there.
    let help = context.home().join(".copilot/skills/gsd-help/SKILL.md");
    let before = of("copilot");
    put(&help, &(read(&help) + "\nMore.\n"));
    let at = |bill: &Value| {
        let help =
            bill["commands"].as_array().unwrap().iter().find(|command| command["name"] == "gsd-help").unwrap().clone();
        bytes(&help["at_once"])
    };
    assert_eq!(at(&of("copilot")), at(&before) + 7);
    let all = context.gsd(["cost", "--json"]).json();
    assert_eq!(all["hosts"].as_array().unwrap().len(), 1, "without a host, what is installed: {all}");
    assert!(context.gsd(["cost", "--profile=cor"]).failure(2).contains("did you mean `--profile=core`?"));
}

/// The numbers of times are measured elsewhere: `benches/compare.py`.
#[test]
fn the_numbers_in_readme_are_those_of_an_install() {
    let (context, readme) = (TestContext::new(), read(repository().join("README.md")));
    let rehearsed = context.gsd(["install", "--claude", "--global", "--dry-run"]).success();
    let installed = context.gsd(["install", "--claude", "--global"]).success();
    let bill = bill(&context, &[]);
    let files = bill["files"].as_u64().unwrap();
    let is_below = |entry: &walkdir::DirEntry| entry.file_type().is_file() && !entry.path().ends_with("settings.json");
    let on_disk = walkdir::WalkDir::new(claude(&context)).into_iter().map(Result::unwrap).filter(is_below).count();
    assert!(rehearsed.contains(&format!("{files} new files, 7 hooks")), "{rehearsed}");
    assert!(installed.contains(&format!("{files} files, 7 hooks")), "{installed}");
    let mut wanted = vec![
        format!("~/.claude  {files} new files, 7 hooks, status line"),
        format!("~/.claude  {files} files, 7 hooks, status line"),
        format!("| files in the folder of the host | {on_disk} ({files} and their list) | "),
    ];
    for name in ["plan-phase", "execute-phase"] {
        let command = bill["commands"].as_array().unwrap().iter().find(|row| row["name"] == format!("gsd-{name}"));
        let kilobytes = (bytes(&command.unwrap()["at_once"]) + 500) / 1000;
        wanted.push(format!("| text loaded at once by `/gsd-{name}` | {kilobytes} KB, "));
    }
    // What the history keeps: the page on installs says it too.
    let source = read(repository().join("src/disk/history.rs"));
    let constant = |name: &str| {
        let line = source.lines().find_map(|line| line.strip_prefix(&format!("const {name}: "))).unwrap();
        line.split_once(" = ").unwrap().1.split([' ', ';']).next().unwrap().to_owned()
    };
    let (calls, megabytes) = (constant("MOST"), constant("MOST_BYTES"));
    assert!(source.contains(&format!("const MOST_BYTES: u64 = {megabytes} << 20;")));
    let kept = [format!("the last {calls} "), format!("at most {megabytes} MB of ")];
    let installs = read(repository().join("docs/installs.md")).replace('\n', " ");
    assert!(installs.contains(&format!("The last {calls} calls are kept")), "docs/installs.md: {calls} calls");
    assert!(installs.contains(&kept[1]), "docs/installs.md: {}", kept[1]);
    wanted.extend(kept);
    let readme = readme.replace('\n', " ");
    let wrong: Vec<&String> = wanted.iter().filter(|text| !readme.contains(text.as_str())).collect();
    assert_eq!(wrong, Vec::<&String>::new(), "README.md has other numbers");
}

#[test]
fn a_session_in_a_project_costs_what_the_hook_says() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    assert_eq!(bytes(&bill(&context, &[])["always"]["session_start"]), 0);
    context.write(".planning/config.json", "{\"hooks\": {\"community\": true}}\n");
    context.write(".planning/STATE.md", "# State\n\nPhase: 1 of 2\n");
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: A** - x\n");
    let before = tree(&context.everything());
    let counted = bytes(&bill(&context, &[])["always"]["session_start"]);
    assert_eq!(difference(&before, &tree(&context.everything())), [""; 0], "it reads only");
    let event = json!({"hook_event_name": "SessionStart", "cwd": context.project(), "session_id": "s"}).to_string();
    let said = context.gsd_with(["hook", "standard", "session-start"], &[], &event).success();
    let said: Value = serde_json::from_str(&said).unwrap();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(counted > 0 && counted == text.len() as u64, "{counted}: {text}");
}

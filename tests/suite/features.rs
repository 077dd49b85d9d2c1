//! Features from folders: only a person installs one, a feature runs only with this user's consent, and one that was
//! changed afterwards is neither used nor removed.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext};
use crate::tree::tree;

/// A feature with one text for the planner.
pub(crate) fn declaration(id: &str, version: &str, text: &str) -> String {
    json!({
        "id": id, "version": version, "role": "feature", "title": "Demo", "description": "A demo", "tier": "full",
        "requires": [], "runtimeCompat": {"supported": ["*"], "unsupported": []}, "engines": {"gsd": ">=1.0.0"},
        "skills": ["look"], "agents": [], "hooks": [], "commands": [],
        "config": {"demo.enabled": {"type": "boolean", "default": true, "description": "The demo"}},
        "steps": [],
        "contributions": [{
            "point": "plan:pre", "into": "planner", "fragment": {"inline": text}, "when": "demo.enabled",
            "produces": [], "consumes": [],
        }],
        "gates": [],
    })
    .to_string()
}

const TEXT: &str = "Look at the demo first.";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    context.write(".planning/ROADMAP.md", "# Roadmap\n");
    write_source(&context, "1.0.0", TEXT);
    context
}

/// The folder that a feature is installed from, outside the project.
fn source(context: &TestContext) -> PathBuf {
    context.home().join("downloads/demo")
}

fn write_source(context: &TestContext, version: &str, text: &str) {
    let folder = source(context);
    std::fs::create_dir_all(folder.join("skills/look")).unwrap();
    std::fs::write(folder.join("capability.json"), declaration("demo", version, text)).unwrap();
    std::fs::write(folder.join("skills/look/SKILL.md"), "Look.\n").unwrap();
}

fn run(context: &TestContext, call: &str) -> Ran {
    context.gsd_with(call.split(' '), &[], "")
}

fn install(context: &TestContext, flags: &str) -> Ran {
    let source = source(context);
    let mut call = vec!["capability", "install", source.to_str().unwrap()];
    call.extend(flags.split(' ').filter(|flag| !flag.is_empty()));
    context.gsd_with(call, &[], "")
}

/// The text that the loop gives the planner for the feature.
fn texts(context: &TestContext) -> String {
    run(context, "loop enter plan:pre").json()["contributions"]["planner"].to_string()
}

fn row(context: &TestContext) -> Value {
    let rows = run(context, "capability list").json();
    rows.as_array().unwrap().iter().find(|row| row["id"] == "demo").cloned().unwrap_or_default()
}

fn installed(context: &TestContext, scope: &str) -> PathBuf {
    match scope {
        "global" => context.home().join(".gsd/capabilities/demo"),
        _ => context.project().join(".planning/capabilities/demo"),
    }
}

/// Everything a call may change: the user's folders and the project, recorded for comparison.
fn outside(context: &TestContext) -> [crate::tree::Tree; 2] {
    [tree(&context.project()), tree(&context.home())]
}

#[test]
fn a_feature_is_installed_used_updated_and_removed() {
    for scope in ["global", "project"] {
        let context = project();
        assert!(!texts(&context).contains(TEXT));
        let told = install(&context, &format!("--scope {scope} --yes")).json();
        assert_eq!((&told["status"], &told["version"]), (&"installed".into(), &"1.0.0".into()));
        assert!(told["disclosure"].to_string().contains("plan:pre for the prompt of `planner`"), "{told}");
        let folder = installed(&context, scope);
        assert_eq!(std::fs::read(folder.join("skills/look/SKILL.md")).unwrap(), b"Look.\n");
        assert!(texts(&context).contains(TEXT));
        let listed = row(&context);
        assert_eq!((&listed["status"], &listed["scope"]), (&"active".into(), &scope.into()), "{listed}");
        let again = install(&context, &format!("--scope {scope}")).json();
        assert_eq!(again["status"], "current", "what is trusted as it is needs no second consent");

        write_source(&context, "1.1.0", "Look twice.");
        std::fs::remove_dir_all(source(&context).join("skills")).unwrap();
        assert_eq!(run(&context, "capability outdated --json").json()[0]["status"], "outdated");
        let refused = run(&context, &format!("capability update demo --scope {scope}")).failure(77);
        assert!(refused.contains("needs your consent") && texts(&context).contains(TEXT), "{refused}");
        let told = run(&context, &format!("capability update --all --scope {scope} --yes")).json();
        let told = &told["updated"][0];
        assert_eq!((&told["status"], &told["fromVersion"]), (&"upgraded".into(), &"1.0.0".into()), "{told}");
        assert!(!folder.join("skills").exists() && texts(&context).contains("Look twice."));
        assert_eq!(run(&context, "capability outdated --json").json()[0]["status"], "current");

        let told = run(&context, &format!("capability remove demo --scope {scope}")).json();
        assert_eq!((&told["status"], &told["removedFiles"]), (&"removed".into(), &json!(["capability.json"])));
        assert!(!folder.exists() && row(&context).is_null() && !texts(&context).contains("Look"));
        let refused = run(&context, &format!("capability remove demo --scope {scope}")).failure(1);
        assert!(refused.contains("is not installed"), "{refused}");
    }
}

#[test]
fn only_a_person_can_consent() {
    let context = project();
    let before = outside(&context);
    let refused = install(&context, "").failure(77);
    assert!(refused.contains("--yes") && refused.contains("--dry-run"), "{refused}");
    let source = source(&context);
    let call = ["capability", "install", source.to_str().unwrap(), "--yes"];
    let refused = context.gsd_with(call, &[("CLAUDECODE", "1")], "").failure(77);
    assert!(refused.contains("needs a person"), "{refused}");
    let told = install(&context, "--dry-run").json();
    assert_eq!((&told["status"], &told["dry_run"]), (&"rehearsed".into(), &true.into()));
    assert!(told["disclosure"].to_string().contains(TEXT), "{told}");
    assert!(before == outside(&context), "something was written without consent");
    let call = format!("capability install {}", source.display());
    let no = context.at_a_terminal(&call, &[], "n");
    assert!(!no.status.success() && String::from_utf8_lossy(&no.stdout).contains(TEXT));
    assert!(row(&context).is_null());
    assert!(context.at_a_terminal(&call, &[], "y").status.success());
    assert_eq!(row(&context)["status"], "active");
}

#[test]
fn a_feature_in_a_clone_is_not_used_before_this_user_installs_it() {
    let context = project();
    let _ = install(&context, "--scope project --yes").json();
    let ledger = context.home().join(".local/state");
    std::fs::remove_dir_all(&ledger).unwrap();
    let listed = row(&context);
    assert_eq!(listed["status"], "not trusted", "{listed}");
    let cure = listed["cure"].as_str().unwrap();
    assert!(cure.contains("gsd-tools capability install .planning/capabilities/demo --scope project"), "{cure}");
    assert!(!texts(&context).contains(TEXT));
    let state = run(&context, "capability state").json();
    let of_demo = state["capabilities"].as_array().unwrap().iter().find(|row| row["id"] == "demo").unwrap().clone();
    assert_eq!((&of_demo["active"], &of_demo["hooks"]), (&false.into(), &json!([])));
    let refused = run(&context, "capability enable demo").failure(1);
    assert!(refused.contains("not trusted"), "{refused}");
    let refused = run(&context, "capability remove demo --scope project").failure(1);
    assert!(refused.contains("you did not install") && installed(&context, "project").is_dir(), "{refused}");
    let before = tree(&context.project());
    let told = run(&context, "capability install .planning/capabilities/demo --scope project --yes").json();
    assert_eq!(told["status"], "installed");
    assert!(before == tree(&context.project()) && texts(&context).contains(TEXT));
    assert_eq!(run(&context, "capability outdated --json").json()[0]["status"], "current");
}

#[test]
fn a_changed_feature_is_not_used_and_stays() {
    let context = project();
    let _ = install(&context, "--yes").json();
    let folder = installed(&context, "global");
    std::fs::write(folder.join("capability.json"), declaration("demo", "1.0.0", "Obey me.")).unwrap();
    std::fs::write(folder.join("notes.md"), "mine\n").unwrap();
    let entered = run(&context, "loop enter plan:pre");
    assert!(entered.stderr.contains("capability.json, notes.md"), "{}", entered.stderr);
    assert!(!texts(&context).contains("Obey"));
    assert_eq!(row(&context)["status"], "modified");
    let refused = run(&context, "capability update demo --yes").failure(1);
    assert!(refused.contains("capability.json, notes.md") && refused.contains("hint:"), "{refused}");
    let told = run(&context, "capability remove demo");
    assert!(told.stderr.contains("kept in"), "{}", told.stderr);
    let told = told.json();
    assert_eq!(told["keptFiles"], json!(["capability.json", "notes.md"]));
    assert_eq!(told["removedFiles"], json!(["skills/look/SKILL.md"]));
    assert!(folder.join("notes.md").is_file() && !folder.join("skills").exists());
    assert_eq!(row(&context)["status"], "not trusted");
}

#[test]
fn trust_is_listed_and_revoked() {
    let context = project();
    let _ = install(&context, "--yes").json();
    let trusted = run(&context, "capability trust list").json();
    assert_eq!((trusted.as_array().unwrap().len(), &trusted[0]["id"]), (1, &"demo".into()), "{trusted}");
    assert_eq!(run(&context, "capability trust revoke demo").json()["status"], "revoked");
    assert!(!texts(&context).contains(TEXT) && installed(&context, "global").is_dir());
    assert_eq!(row(&context)["status"], "not trusted");
    assert_eq!(run(&context, "capability trust list").json(), json!([]));
    assert_eq!(run(&context, "capability trust revoke demo").json()["status"], "not_trusted");
    assert!(run(&context, "capability trust revoke none").failure(1).contains("is not installed"));
    assert_eq!(install(&context, "--yes").json()["status"], "upgraded");
    assert!(texts(&context).contains(TEXT));
}

#[test]
fn a_feature_is_disabled_as_a_whole_or_by_its_settings() {
    let context = project();
    let _ = install(&context, "--yes").json();
    let told = run(&context, "capability disable demo").json();
    assert_eq!((&told["enabled"], &told["installed"]), (&false.into(), &true.into()));
    assert!(!texts(&context).contains(TEXT));
    let _ = run(&context, "capability enable demo").json();
    assert!(texts(&context).contains(TEXT));
    let _ = run(&context, "capability set demo --gate demo.enabled=false").json();
    assert_eq!(context.read(".planning/config.json"), "{\n  \"demo\": {\n    \"enabled\": false\n  }\n}");
    assert!(!texts(&context).contains(TEXT));
    let _ = run(&context, "config-set demo.enabled true").json();
    assert!(texts(&context).contains(TEXT));
    let refused = run(&context, "config-set demo.enabled maybe").failure(1);
    assert!(refused.contains("`true` or `false`"), "{refused}");
    assert!(run(&context, "config-set demo.other true").failure(1).contains("unknown config key"));
}

#[test]
fn a_step_follows_the_skill_that_the_feature_brings() {
    let context = project();
    let mut declared: Value = serde_json::from_str(&declaration("demo", "1.0.0", TEXT)).unwrap();
    let step = |skill: &str| json!({"point": "plan:post", "ref": {"skill": skill}, "produces": ["LOOK.md"], "consumes": [], "onError": "skip"});
    declared["steps"] = json!([step("look"), step("none")]);
    declared["commands"] = json!([{"family": "demo", "module": "run.cjs"}]);
    std::fs::write(source(&context).join("capability.json"), declared.to_string()).unwrap();
    let told = install(&context, "--yes").json();
    let not_used = told["notUsed"].to_string();
    assert!(not_used.contains("never run") && not_used.contains("`none`"), "{told}");
    let entered = run(&context, "loop enter plan:post").json();
    let file = installed(&context, "global").join("skills/look/SKILL.md");
    assert_eq!((&entered["steps"][0]["skill"], &entered["steps"][0]["file"]), (&"look".into(), &json!(file)));
    assert_eq!(entered["inactive"]["none"], "none is not installed");
}

/// Turns the folder into one that is refused.
type Spoil = fn(&Path);

#[test]
fn a_folder_that_is_not_a_feature_changes_nothing() {
    let cases: &[(Spoil, &str)] = &[
        (|at| std::fs::remove_file(at.join("capability.json")).unwrap(), "there is no `capability.json`"),
        (|at| std::fs::write(at.join("capability.json"), "{\n\"id\": }").unwrap(), "at line 2"),
        (|at| std::fs::write(at.join("capability.json"), [0xff, 0x00]).unwrap(), "not UTF-8"),
        (|at| std::fs::write(at.join("capability.json"), declaration("ui", "1.0.0", "x")).unwrap(), "already has"),
        (|at| std::fs::write(at.join("capability.json"), declaration("codex", "1.0.0", "x")).unwrap(), "already has"),
        (|at| std::fs::write(at.join("capability.json"), declaration("../x", "1.0.0", "x")).unwrap(), "`id` has to be"),
        (
            |at| {
                let text = declaration("demo", "1.0.0", "x").replace("\"requires\":[]", "\"requires\":[\"none\"]");
                std::fs::write(at.join("capability.json"), text).unwrap();
            },
            "requires the feature `none`",
        ),
        (|at| std::fs::write(at.join("big"), vec![0; (1 << 20) + 1]).unwrap(), "larger than 1 MB"),
        (
            |at| (0..9).for_each(|file| std::fs::write(at.join(file.to_string()), vec![0; 1 << 20]).unwrap()),
            "more than 8 MB",
        ),
        (|at| (0..300).for_each(|file| std::fs::write(at.join(file.to_string()), "").unwrap()), "more than 256"),
        #[cfg(unix)]
        (|at| std::os::unix::fs::symlink("/etc/passwd", at.join("link")).unwrap(), "is a link"),
        #[cfg(unix)]
        (|at| std::os::unix::fs::symlink(at, at.join("skills/circle")).unwrap(), "is a link"),
        #[cfg(unix)]
        (
            |at| {
                let pipe = at.join("pipe");
                assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
            },
            "is a pipe",
        ),
    ];
    for (spoil, why) in cases {
        let context = project();
        spoil(&source(&context));
        let home = context.home();
        let refused = install(&context, "--yes").failure(1);
        assert!(refused.contains(why) && refused.contains("hint:"), "{why}: {refused}");
        assert!(!home.join(".gsd").exists() && row(&context).is_null(), "{why}");
        assert_eq!(install(&context, "--dry-run").code, 1, "{why}");
    }
    let context = project();
    for (call, why) in [
        ("capability install nowhere", "there is no folder"),
        ("capability install git@example.com:a/b.git", "is not a folder"),
        ("capability install .planning/ROADMAP.md", "is a file"),
    ] {
        let refused = run(&context, &format!("{call} --yes")).failure(1);
        assert!(refused.contains(why) && refused.contains("hint:"), "{call}: {refused}");
    }
    assert_ne!(run(&context, "capability install").code, 0);
}

#[cfg(unix)]
#[test]
fn links_in_the_folder_of_the_features_are_not_followed() {
    let context = project();
    let _ = install(&context, "--scope project --yes").json();
    let (folder, elsewhere) = (installed(&context, "project"), context.home().join("elsewhere"));
    std::fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    assert_eq!(row(&context)["status"], "unusable");
    assert!(!texts(&context).contains(TEXT));
    let before = tree(&elsewhere);
    let _ = run(&context, "capability remove demo --scope project");
    write_source(&context, "2.0.0", "x");
    let _ = install(&context, "--scope project --yes");
    assert!(before == tree(&elsewhere), "a link was followed out of the project");
}

#[test]
fn two_features_do_not_share_a_setting_and_an_invalid_ledger_is_refused() {
    let context = project();
    let _ = install(&context, "--yes").json();
    std::fs::write(source(&context).join("capability.json"), declaration("other", "1.0.0", "x")).unwrap();
    let refused = install(&context, "--yes").failure(1);
    assert!(refused.contains("`demo.enabled` is a setting of the feature `demo`"), "{refused}");
    let ledger = context.home().join(".local/state/gsd-tools/capabilities.json");
    std::fs::write(&ledger, "[]").unwrap();
    let entered = run(&context, "loop enter plan:pre");
    assert!(entered.code == 0 && entered.stderr.contains("is not a ledger"), "{}", entered.stderr);
    assert!(!texts(&context).contains(TEXT));
    assert!(run(&context, "capability remove demo").failure(1).contains("delete the file"));
    assert_eq!(std::fs::read_to_string(&ledger).unwrap(), "[]");
}

//! Hosts that a user describes: the example of the guide is installed as it stands there, and what is wrong with a
//! descriptor is told with its place and a cure, while the other hosts go on.

use crate::kit::{TestContext, repository};
use crate::lived::{Lived, put};
use crate::tree::difference;

/// The descriptor in the guide.
fn example() -> String {
    let guide = std::fs::read_to_string(repository().join("docs/own-host.md")).unwrap();
    let block = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_else(|| panic!("the guide has no example")).to_owned()
}

/// A home with this descriptor of a host named Lantern.
fn with(descriptor: &str) -> Lived {
    let lived = Lived { context: TestContext::new() };
    put(&file(&lived), descriptor);
    lived
}

fn file(lived: &Lived) -> std::path::PathBuf {
    lived.context.home().join(".config/gsd-tools/runtimes/lantern.toml")
}

#[test]
fn the_example_of_the_guide_installs_lists_and_goes_without_a_trace() {
    let lived = with(&example());
    let home = lived.context.home();
    let settings = "{\n  // mine\n  \"allow\": [\"shell(ls)\"],\n  \"hooks\": {}\n}";
    put(&home.join(".lantern/settings.json"), settings);
    put(&home.join(".lantern/skills/own/SKILL.md"), "mine");
    let old = lived.tree();

    let table = lived.gsd(["runtimes"]).success();
    let row: Vec<&str> = table.lines().find(|line| line.starts_with("lantern ")).unwrap().split_whitespace().collect();
    assert_eq!(row[1..], ["yes", "yes", "yes", "yes", "~", "yes", "yes", "-", "-", "-", "yes", "yes", "-", "maker"]);
    let page = lived.gsd(["runtimes", "lantern-cli"]).success();
    for words in ["Told by a descriptor of your own.", "the screen has no line for a program", "LANTERN_HOME"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for scope in ["--global", "--local"] {
        assert!(lived.gsd(["install", "--lantern", scope]).success().contains("type /gsd-help"));
        assert!(lived.gsd(["install", "--lantern", scope]).success().contains("is up to date"));
        lived.gsd(["status", "--lantern", scope]).success();
    }
    let skill = std::fs::read_to_string(home.join(".lantern/skills/gsd-help/SKILL.md")).unwrap();
    assert!(
        skill.starts_with("---\nname: gsd-help\n") && skill.contains("\ndisable-model-invocation: true\n"),
        "{skill}"
    );
    let edited = std::fs::read_to_string(home.join(".lantern/settings.json")).unwrap();
    for words in
        ["// mine", "shell(ls)", "hook standard before-tool", "hook standard session-start", "\"shell|save_file\""]
    {
        assert!(edited.contains(words), "{words}: {edited}");
    }
    lived.gsd(["uninstall", "--lantern", "--local"]).success();
    lived.gsd(["uninstall", "--lantern", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

#[test]
fn a_broken_descriptor_is_told_with_its_place_and_stops_no_other_host() {
    let broken = example().replace("instruction-file =", "instructions-file =");
    let line = broken.lines().position(|line| line.starts_with("instructions-file")).unwrap() + 1;
    let lived = with(&broken);
    let old = lived.tree();
    let place = format!("lantern.toml` cannot be used: line {line}, column 1: unknown field `instructions-file`");
    for call in [["install", "--lantern", "--global"], ["uninstall", "lantern", "--local"]] {
        let told = lived.gsd(call);
        assert_eq!(told.code, 65, "{}", told.stderr);
        assert!(
            told.stderr.contains(&place) && told.stderr.contains("did you mean `instruction-file`?"),
            "{}",
            told.stderr
        );
    }
    assert!(lived.gsd(["runtimes", "lantern"]).failure(65).contains(&place));

    let all = lived.gsd(["install", "--all", "--global"]);
    assert!(all.stderr.contains(&place), "{}", all.stderr);
    assert!(!all.success().contains("Lantern"));
    let status = lived.gsd(["status"]);
    assert!(status.stderr.contains(&place), "{}", status.stderr);
    status.success();
    lived.gsd(["uninstall", "--all", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);

    let table = lived.gsd(["runtimes"]).success();
    assert!(
        table.contains(&format!("line {line}, column 1: unknown field")) && !table.contains("\nlantern "),
        "{table}"
    );
    let report = lived.gsd(["runtimes", "--json"]).json();
    assert_eq!((&report["broken"][0]["line"], &report["broken"][0]["column"]), (&line.into(), &1.into()));

    std::fs::write(file(&lived), b"\xff\xfe").unwrap();
    assert!(lived.gsd(["install", "--lantern"]).failure(65).contains("UTF-8"));
}

#[test]
fn a_descriptor_takes_the_place_of_ours() {
    let lived = Lived { context: TestContext::new() };
    let ours = std::fs::read_to_string(repository().join("src/runtime/descriptors/trae.toml")).unwrap();
    let theirs = ours.replace("~/.trae", "~/.trae-elsewhere");
    put(&lived.context.home().join(".config/gsd-tools/runtimes/trae.toml"), &theirs);
    let old = lived.tree();
    lived.gsd(["install", "--trae", "--global"]).success();
    assert!(lived.context.home().join(".trae-elsewhere/skills/gsd-help/SKILL.md").is_file());
    assert!(!lived.context.home().join(".trae").exists());
    lived.gsd(["uninstall", "--trae", "--global"]).success();
    assert_eq!(difference(&old, &lived.tree()), [""; 0]);
}

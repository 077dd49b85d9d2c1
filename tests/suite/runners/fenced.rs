//! Each client at full auto within a fence: it works inside, with its edit tool and its shell, and whatever it is
//! ordered to write outside stays unchanged.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::drive::{Desk, Order};
use super::each_subject;
use super::script::{Act, Script};
use super::table::{self, FENCE};

#[test]
#[ignore = "slow: a client"]
fn each_client_at_full_auto_writes_only_inside_its_fence() {
    let cells = Mutex::new(BTreeMap::new());
    let failures = each_subject("fence", &["claude", "codex"], |subject| {
        let desk = Desk::new(subject)?;
        assert!(subject.daemon.is_empty() || desk.use_by_hand(), "it leaves no daemon any more");
        let (project, outside) = (desk.context.project(), desk.context.home().with_file_name("outside"));
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("kept"), "kept\n").unwrap();
        let (out, inside) = (outside.display(), |name: &str| project.join(name));
        let acts = [
            Act::shell("echo shell > by-shell"),
            Act::Write(inside("by-tool").display().to_string(), "tool".to_owned()),
            Act::Shell(format!("echo leak > {out}/by-shell")),
            Act::Write(format!("{out}/by-tool"), "leak".to_owned()),
            Act::Shell(format!("rm {out}/kept; mv by-shell {out}/moved; git init {out}/repository")),
        ];
        let order = Order { fence: Some(Vec::new()), ..Order::default() };
        let report = desk.give(Script::new(subject.hands, &acts), &order);
        let left = walkdir::WalkDir::new(&outside).min_depth(1).into_iter().map(|entry| entry.unwrap().into_path());
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let holds = left.eq([outside.join("kept")]) && read(outside.join("kept")) == "kept\n";
        let works = read(inside("by-shell")) == "shell\n" && read(inside("by-tool")).starts_with("tool ");
        for (row, is_so) in FENCE.into_iter().zip([works && report.verdict() == "ran", holds]) {
            cells.lock().unwrap().insert((subject.name, row), if is_so { "✓" } else { "✗" }.to_owned());
        }
        assert!(holds && works && report.verdict() == "ran", "held {holds}, works {works}: {}", report.text());
        Ok(())
    });
    table::expect_in_document("fence", &cells.into_inner().unwrap(), &failures);
}

//! Each client at full auto within a fence: it does its work inside, by its edit tool and by its shell, and whatever it is
//! told to write outside stays as it was.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::script::{Act, PROMPT, Script};
use super::subjects::Subject;
use super::{NotRun, each_subject};
use crate::clients::process::{Finished, end_processes_of, run_bounded};
use crate::clients::server::ModelServer;
use crate::kit::{TestContext, binary, repository};

/// The command line of a client at full auto, as the table of runners has it.
fn arguments(subject: &Subject, folder: &Path) -> Vec<String> {
    let table = std::env::var("GSD_RUNNERS_TABLE")
        .map_or_else(|_| repository().join("src/auto/runner/runners.toml"), Into::into);
    let table: toml_edit::DocumentMut = std::fs::read_to_string(table).unwrap().parse().unwrap();
    let row = &table[subject.name];
    let words = |item: &toml_edit::Item| -> Vec<String> {
        let words = item.as_array().into_iter().flatten();
        words.map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let folder = folder.to_string_lossy();
    let fill = |part: String| match &*part {
        "{prompt}" => vec![PROMPT.to_owned()],
        "{profile}" => words(&row["profiles"]["unattended"]),
        "{folder}" => row.get("choose_folder").map(&words).unwrap_or_default(),
        "{model}" if subject.model.is_some() => words(&row["choose_model"]),
        "{session}" | "{usage-file}" | "{extra}" | "{model}" => Vec::new(),
        _ => vec![part],
    };
    let filled = words(&row["arguments"]).into_iter().flat_map(fill);
    let model = subject.model.unwrap_or_default();
    filled.map(|word| word.replace("{folder}", &folder).replace("{model}", model)).collect()
}

/// Runs the client with these folders to write to.
fn run(
    subject: &Subject,
    context: &TestContext,
    writable: &[std::path::PathBuf],
    acts: &[Act],
) -> Result<Finished, NotRun> {
    let program = subject.program()?;
    let server = ModelServer::start(Script::new(subject.hands, acts));
    let mut command: Command = context.command(binary());
    subject.set_up(&mut command, context, &server.url(), &program);
    command.env("IS_SANDBOX", "1").arg("__fence");
    for folder in writable {
        std::fs::create_dir_all(folder).unwrap();
        command.arg("--write").arg(folder);
    }
    command.arg("--").arg(&program).args(arguments(subject, &context.project()));
    let finished = run_bounded(&mut command, Duration::from_secs(120), &context.home().with_file_name("tmp"));
    end_processes_of(&context.home());
    Ok(finished)
}

#[test]
fn each_client_at_full_auto_writes_inside_its_fence_and_nowhere_else() {
    each_subject("fence", &["claude", "codex"], |subject| {
        let context = TestContext::new();
        let outside = context.home().with_file_name("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("kept"), "kept\n").unwrap();
        let (out, project) = (outside.to_string_lossy().into_owned(), context.project().to_string_lossy().into_owned());
        let acts = [
            Act::shell("echo shell > by-shell"),
            Act::Write(format!("{project}/by-tool"), "tool".to_owned()),
            Act::shell(&format!("echo leak > {out}/by-shell")),
            Act::Write(format!("{out}/by-tool"), "leak".to_owned()),
            Act::shell(&format!("rm {out}/kept; mv by-shell {out}/moved; git init {out}/repository")),
        ];
        let folders = if std::env::var_os("GSD_FENCE_HOME").is_some() {
            vec![context.home()]
        } else {
            subject.folders.iter().map(|folder| context.home().join(folder)).collect::<Vec<_>>()
        };
        let writable = [vec![context.project(), context.home().with_file_name("tmp")], folders].concat();
        let finished = run(subject, &context, &writable, &acts)?;
        let said = || format!("{:?} {}\n{}", finished.code, finished.stdout, finished.stderr);
        let left: Vec<String> = walkdir::WalkDir::new(&outside)
            .min_depth(1)
            .into_iter()
            .map(|entry| entry.unwrap().path().display().to_string())
            .collect();
        let inside = |name: &str| std::fs::read_to_string(context.project().join(name)).unwrap_or_default();
        assert_eq!(left, [format!("{out}/kept")], "{}", said());
        assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "kept\n");
        assert_eq!(inside("by-shell"), "shell\n", "{}", said());
        assert!(inside("by-tool").starts_with("tool "), "{}", said());
        assert!(!finished.timed_out, "{}", said());
        assert!(finished.stdout.contains("The unit is done."), "{}", said());
        Ok(())
    });
}

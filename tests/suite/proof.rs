//! `auto proof`: what a landing leaves for others, whether an outdated proof is detected, and whether the lines of
//! `docs/proof.md` give the same result without this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::auto::compile;
use crate::kit::{Ran, TestContext, binary, repository};

/// The check of the project: it counts two tests; variables make it count one, or fail.
const CHECK: &str = "echo ok 1 - a\n[ -n \"$FEWER\" ] || echo ok 2 - b\n[ -z \"$BROKEN\" ]\n";

/// A value that no statement may contain.
const VALUE: &str = "a-value-that-is-nobodys";

/// A repository with one commit, whose preferences name the check, and a brief.
fn project(format: &str) -> TestContext {
    let context = TestContext::new();
    context.write("check.sh", CHECK);
    context.write(".gsd/PREFERENCES.md", "---\nverification_commands:\n  - \"sh check.sh\"\n---\n");
    git(&context, &["init", "--quiet", "--initial-branch=main", &format!("--object-format={format}")]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    context
}

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs a milestone to its landing; returns the commit and the messages of the run.
fn land(context: &TestContext) -> (String, String) {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent, "--model", "small"];
    let variables = [
        ("FAKE_SHAPE", "1x1"),
        ("FAKE_ACTOR", "ideal"),
        ("SOMETHING", VALUE),
        ("LC_ALL", "C.UTF-8"),
        ("SSH_AUTH_SOCK", &socket(context)),
    ];
    let ran = context.gsd_with(words, &variables, "");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}\n{}", ran.stderr);
    (report["landed"].as_str().unwrap().to_owned(), ran.stderr)
}

fn socket(context: &TestContext) -> String {
    context.home().join("agent.sock").display().to_string()
}

/// `auto proof --check`, fenced if the system supports it.
fn check(context: &TestContext, words: &[&str], variables: &[(&str, &str)]) -> (i32, Value, String) {
    let fence = context.command(binary()).args(["__fence", "--", "true"]).output().unwrap();
    let unfenced = if fence.status.success() { None } else { Some("--no-fence") };
    let words = ["auto", "proof"].iter().chain(words).copied().chain(["--check"]).chain(unfenced);
    let Ran { code, stdout, stderr, .. } = context.gsd_with(words, variables, "");
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert_eq!(report["holds"], Value::Bool(code == 0), "{report:#}");
    let problems: Vec<&str> = report["statements"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|statement| statement["problems"].as_array().unwrap())
        .map(|problem| problem.as_str().unwrap())
        .collect();
    let problems = problems.join("\n");
    (code, report, problems)
}

/// The note of a commit, one line.
fn envelope(context: &TestContext, commit: &str) -> String {
    git(context, &["notes", "--ref=gsd", "show", commit])
}

/// Replaces the note of a commit.
fn replace(context: &TestContext, commit: &str, note: &str) {
    git(context, &["notes", "--ref=gsd", "add", "--force", "-m", note, commit]);
}

/// The envelope with a changed statement, under the same signature.
fn changed(envelope: &str, from: &str, to: &str) -> String {
    let mut value: Value = serde_json::from_str(envelope).unwrap();
    let statement = decoded(value["payload"].as_str().unwrap());
    assert!(statement.contains(from), "{from}: {statement}");
    value["payload"] = Value::String(encoded(&statement.replace(from, to)));
    value.to_string()
}

fn base64(option: &[&str], input: &str) -> String {
    use std::io::Write;
    let mut child = Command::new("base64")
        .args(option)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn decoded(text: &str) -> String {
    base64(&["-d"], text)
}

fn encoded(text: &str) -> String {
    base64(&[], text).split_whitespace().collect()
}

#[test]
fn a_landing_leaves_a_statement_of_what_landed_and_how_it_was_checked() {
    let context = project("sha1");
    let base = git(&context, &["rev-parse", "main"]);
    let (commit, told) = land(&context);
    assert!(told.contains(", with an unsigned proof: git does not sign commits here"), "{told}");
    let report = context.gsd(["auto", "proof"]).json();
    assert_eq!((&report["commit"], &report["holds"]), (&Value::from(commit.clone()), &Value::from(true)), "{report:#}");
    let shown = &report["statements"][0];
    let statement: Value = serde_json::from_str(&decoded(
        serde_json::from_str::<Value>(&envelope(&context, &commit)).unwrap()["payload"].as_str().unwrap(),
    ))
    .unwrap();
    assert_eq!(shown["statement"], statement);
    let tree = git(&context, &["rev-parse", "main^{tree}"]);
    assert_eq!(statement["subject"][0]["digest"]["gitCommit"], commit);
    assert_eq!(statement["subject"][1]["digest"]["gitTree"], tree);
    let predicate = &statement["predicate"];
    assert_eq!((&predicate["landing"]["base"], &predicate["landing"]["target"]), (&base.into(), &"main".into()));
    let checks = &predicate["checks"];
    assert_eq!((&checks["tree"], &checks["source"]), (&tree.into(), &"preference".into()), "{checks:#}");
    let one = &checks["commands"][0];
    assert_eq!((&one["command"], &one["exitCode"]), (&"sh check.sh".into(), &0.into()));
    assert_eq!(one["tests"], serde_json::json!({ "ran": 2, "failed": 0, "skipped": 0 }));
    assert_eq!(one["output"]["sha256"].as_str().unwrap().len(), 64);
    let environment = &predicate["environment"];
    assert_eq!(environment["locale"], "C.UTF-8");
    let version = git(&context, &["--version"]);
    let tools = environment["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["program"] == "git" && tool["version"] == version.as_str()), "{tools:?}");
    assert!(tools.iter().any(|tool| tool["program"] == "sh"), "{tools:?}");
    assert_eq!(
        (&predicate["heldOut"], &predicate["unsigned"]),
        (&Value::Null, &"git does not sign commits here".into())
    );
    let units = predicate["run"]["units"].as_array().unwrap();
    let is_task = |unit: &&Value| unit["unit"] == "execute-task M001/S01/T01";
    let task = units.iter().find(is_task).unwrap();
    assert_eq!((&task["client"], &task["sessions"]), (&"fake".into(), &1.into()));
    assert!(task["models"].as_array().is_some_and(|models| models.len() == 1), "{task}");
    let text = statement.to_string();
    assert!(!text.contains(VALUE) && !text.contains(&context.home().display().to_string()), "{text}");
    assert_eq!(git(&context, &["status", "--porcelain"]), "");
    assert_eq!(git(&context, &["for-each-ref", "--format=%(refname)", "refs/notes"]), "refs/notes/gsd");
}

#[test]
fn an_outdated_proof_is_detected() {
    let context = project("sha1");
    let (commit, _) = land(&context);
    let (kept, good) = (git(&context, &["rev-parse", "refs/notes/gsd"]), envelope(&context, &commit));
    let again = || git(&context, &["update-ref", "refs/notes/gsd", &kept]);
    let before = (git(&context, &["status", "--porcelain"]), git(&context, &["for-each-ref"]));
    let (code, report, problems) = check(&context, &[], &[]);
    assert_eq!((code, problems.as_str()), (0, ""), "{report:#}");
    assert_eq!(
        report["statements"][0]["checks"][0]["now"],
        serde_json::json!({ "exit_code": 0, "tests": { "ran": 2, "failed": 0, "skipped": 0 } })
    );
    assert_eq!((git(&context, &["status", "--porcelain"]), git(&context, &["for-each-ref"])), before);
    // The check fails now, or counts fewer tests.
    let found = |variable| check(&context, &[&commit], &[(variable, "1")]).2;
    assert_eq!(found("BROKEN"), "`sh check.sh` exits 1, and 0 is recorded");
    assert_eq!(found("FEWER"), "`sh check.sh` counts 1 tests, 0 failed, and 2 tests, 0 failed is recorded");
    // Moved to another commit, even to one with the same tree.
    git(&context, &["commit", "--quiet", "--allow-empty", "--message=next"]);
    replace(&context, "HEAD", &good);
    let (code, _, problems) = check(&context, &["HEAD"], &[]);
    assert!(code == 1 && problems.contains("it is about another commit: "), "{problems}");
    again();
    // Changed.
    for (from, to, word) in [
        ("\"models\":[", "\"models\":[\"large\",", "not the statement that the log of the run has"),
        ("\"exitCode\":0", "\"exitCode\":1", "exits 0, and 1 is recorded"),
        ("\"ran\":2", "\"ran\":200", "and 200 tests, 0 failed is recorded"),
        ("\"base\":\"", "\"base\":\"0", "not the parent of the commit"),
        ("sh check.sh", "sh check.sh | tee x", "needs a shell"),
        ("#landing-v1", "#landing-v0", "not a statement of the type"),
        ("\"unsigned\":\"git does not sign commits here\"", "\"other\":0", "its signature is missing"),
    ] {
        replace(&context, &commit, &changed(&good, from, to));
        // Only this computer has the log of the run.
        let elsewhere = context.home().join("elsewhere").display().to_string();
        let variables: &[(&str, &str)] =
            if word.contains("log of the run") { &[] } else { &[("XDG_STATE_HOME", &elsewhere)] };
        let (code, _, problems) = check(&context, &[&commit], variables);
        assert!(code == 1 && problems.contains(word), "{word}: {problems}");
    }
    // A valid statement together with an invalid one.
    replace(&context, &commit, &format!("{good}\n{}", changed(&good, "\"exitCode\":0", "\"exitCode\":1")));
    assert_eq!(check(&context, &[&commit], &[]).0, 1);
    // Without a statement.
    replace(&context, &commit, "Reviewed by A");
    assert!(context.gsd(["auto", "proof", &commit]).failure(1).contains("git fetch origin refs/notes/gsd"));
    assert!(context.gsd(["auto", "proof"]).failure(1).contains("no commit of this branch has a proof"));
    assert!(context.gsd(["auto", "proof", "nothing"]).failure(1).contains("there is no commit `nothing` here"));
    again();
    assert_eq!(check(&context, &[], &[]).0, 0);
}

#[test]
fn a_proof_in_a_sha256_repository_is_valid_in_a_clone_too() {
    let context = project("sha256");
    let (commit, _) = land(&context);
    assert_eq!(commit.len(), 64);
    assert_eq!(check(&context, &[], &[]).0, 0);
    let clone = clone(&context);
    git(&context, &["-C", clone.to_str().unwrap(), "checkout", "--quiet", "--detach", &commit]);
    let program = context.command(binary()).current_dir(&clone).args(["auto", "proof", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&program.stdout).unwrap();
    assert_eq!((&report["commit"], &report["holds"]), (&commit.into(), &true.into()));
}

/// A clone of the project with its proofs.
fn clone(context: &TestContext) -> PathBuf {
    let folder = context.home().join("clone");
    let _ = std::fs::remove_dir_all(&folder);
    git(context, &["clone", "--quiet", &context.project().display().to_string(), folder.to_str().unwrap()]);
    git(context, &["-C", folder.to_str().unwrap(), "fetch", "--quiet", "origin", "refs/notes/gsd:refs/notes/gsd"]);
    folder
}

/// The lines of the page that check a proof.
fn lines() -> String {
    let page = std::fs::read_to_string(repository().join("docs/proof.md")).unwrap();
    let (_, rest) = page.split_once("```bash\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Runs the lines in a clone, in an empty home, without this program.
fn run_lines(context: &TestContext, clone: &Path, words: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let home = tempfile::tempdir().unwrap();
    let script = context.home().join("check.sh");
    std::fs::write(&script, lines()).unwrap();
    let output = Command::new("bash")
        .arg(&script)
        .args(words)
        .current_dir(clone)
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn the_lines_of_the_page_are_about_twenty_and_do_not_use_gsd_tools() {
    let lines = lines();
    let count = lines.lines().count();
    assert!((20..=30).contains(&count), "{count}");
    assert!(!lines.contains("gsd-tools"), "{lines}");
}

/// Makes git sign with a new key; returns the file of allowed signers.
fn sign_commits(context: &TestContext) -> String {
    let key = context.home().join("key");
    make_key(context, &key);
    for (name, value) in [("commit.gpgsign", "true"), ("gpg.format", "ssh"), ("user.signingkey", key.to_str().unwrap())]
    {
        git(context, &["config", "--global", name, value]);
    }
    signers_of(&key)
}

fn make_key(context: &TestContext, key: &Path) {
    let words = ["-q", "-t", "ed25519", "-N", "", "-C", "a@example.com", "-f"];
    assert!(context.command("ssh-keygen").args(words).arg(key).status().unwrap().success());
}

fn signers_of(key: &Path) -> String {
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = key.with_extension("signers");
    std::fs::write(&signers, format!("a@example.com namespaces=\"git,gsd-proof\" {public}")).unwrap();
    signers.display().to_string()
}

#[test]
#[ignore = "slow: another program"]
fn the_lines_of_the_page_check_proofs_signed_and_unsigned_in_both_formats() {
    for (format, is_signed) in [("sha1", true), ("sha256", false), ("sha256", true), ("sha1", false)] {
        let context = project(format);
        let signers = is_signed.then(|| sign_commits(&context));
        let (commit, told) = land(&context);
        assert_eq!(told.contains(", with a signed proof"), is_signed, "{told}");
        let good = envelope(&context, &commit);
        let words: Vec<&str> = [commit.as_str()].into_iter().chain(signers.as_deref()).collect();
        let flags: Vec<&str> =
            [commit.as_str()].into_iter().chain(signers.iter().flat_map(|file| ["--signers", file])).collect();
        let both = |words: &[&str], flags: &[&str], variables: &[(&str, &str)]| {
            let (is_good, told) = run_lines(&context, &clone(&context), words, variables);
            let (code, _, problems) = check(&context, flags, variables);
            assert_eq!(is_good, code == 0, "{format} {is_signed}: the lines: {told}\nthe program: {problems}");
            (is_good, told + &problems)
        };
        let (is_good, told) = both(&words, &flags, &[]);
        assert!(is_good && told.contains("The proof of "), "{told}");
        assert_eq!(told.contains("not signed: git does not sign commits here"), !is_signed, "{told}");
        let (is_good, told) = both(&words, &flags, &[("BROKEN", "1")]);
        assert!(!is_good && told.contains("`sh check.sh` exits 1, and 0 is recorded"), "{told}");

        replace(&context, &commit, &changed(&good, "\"exitCode\":0", "\"exitCode\":3"));
        assert!(!both(&words, &flags, &[]).0);
        let envelope: Value = serde_json::from_str(&good).unwrap();
        let told: Value = serde_json::from_str(&decoded(envelope["payload"].as_str().unwrap())).unwrap();
        let commands = &told["predicate"]["checks"]["commands"];
        replace(&context, &commit, &changed(&good, &format!("\"commands\":{commands}"), "\"commands\":[]"));
        assert!(!both(&words, &flags, &[]).0, "a statement without checks");
        replace(&context, &commit, &changed(&good, "#landing-v1", "#landing-v9"));
        assert!(!both(&words, &flags, &[]).0);
        replace(&context, &commit, &changed(&good, "\"sessions\":1", "\"sessions\":7"));
        if is_signed {
            let (is_good, told) = both(&words, &flags, &[]);
            assert!(!is_good && told.contains("does not fit"), "{told}");
            // This shows even without allowed signers.
            assert!(!both(&words[..1], &flags[..1], &[]).0);
            // A removed signature is noticed, with allowed signers and without.
            let mut bare: Value = serde_json::from_str(&good).unwrap();
            bare["signatures"] = Value::Array(Vec::new());
            replace(&context, &commit, &bare.to_string());
            assert!(!both(&words, &flags, &[]).0 && !both(&words[..1], &flags[..1], &[]).0);
            // Another key than the expected one.
            replace(&context, &commit, &good);
            let other = context.home().join("other");
            make_key(&context, &other);
            let signers = signers_of(&other);
            assert!(!both(&[&commit, &signers], &[&commit, "--signers", &signers], &[]).0);
        } else {
            // A required signature is missing.
            replace(&context, &commit, &good);
            std::fs::write(context.home().join("signers"), "").unwrap();
            let signers = context.home().join("signers").display().to_string();
            assert!(!both(&[&commit, &signers], &[&commit, "--signers", &signers], &[]).0);
        }
        git(&context, &["commit", "--quiet", "--allow-empty", "--message=next"]);
        replace(&context, "HEAD", &good);
        let next = git(&context, &["rev-parse", "HEAD"]);
        let moved: Vec<&str> = [next.as_str()].into_iter().chain(signers.as_deref()).collect();
        let flags: Vec<&str> = [next.as_str()].into_iter().chain(flags[1..].iter().copied()).collect();
        let (is_good, told) = both(&moved, &flags, &[]);
        assert!(!is_good && told.contains("is not about"), "{told}");
    }
}

#[test]
#[ignore = "slow: another program"]
fn a_proof_is_signed_with_gits_own_signing_setup_and_a_key_that_fails_is_reported() {
    // A key in an agent, named by its public half.
    let context = project("sha1");
    let signers = sign_commits(&context);
    let key = context.home().join("key");
    let mut agent = context
        .command("ssh-agent")
        .args(["-D", "-a", &socket(&context)])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let add =
        || context.command("ssh-add").arg("-q").arg(&key).env("SSH_AUTH_SOCK", socket(&context)).status().unwrap();
    for _ in 0..100 {
        if Path::new(&socket(&context)).exists() && add().success() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::fs::remove_file(&key).unwrap();
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    git(&context, &["config", "--global", "user.signingkey", &format!("key::{}", public.trim())]);
    let (commit, told) = land(&context);
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert!(told.contains(", with a signed proof"), "{told}");
    git(&context, &["config", "--global", "gpg.ssh.allowedSignersFile", &signers]);
    let (code, report, problems) = check(&context, &[&commit], &[]);
    assert_eq!((code, &report["statements"][0]["signer"]), (0, &"a@example.com".into()), "{problems}");

    // A program that signs only commits.
    let context = project("sha1");
    sign_commits(&context);
    let program = context.home().join("signer");
    std::fs::write(
        &program,
        "#!/bin/sh\ncase \"$*\" in *gsd-proof*) echo no hand free >&2; exit 1;; esac\nexec ssh-keygen \"$@\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&context, &["config", "--global", "gpg.ssh.program", program.to_str().unwrap()]);
    let (commit, told) = land(&context);
    assert!(told.contains(", with an unsigned proof: ") && told.contains("could not sign: no hand free"), "{told}");
    let (code, report, problems) = check(&context, &[&commit], &[]);
    let unsigned = &report["statements"][0]["statement"]["predicate"]["unsigned"];
    assert_eq!((code, unsigned), (0, &"the key that git signs commits with could not sign it".into()), "{problems}");
}

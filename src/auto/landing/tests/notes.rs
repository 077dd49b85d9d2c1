//! Tests of notes about landings, next to notes of others.

use super::super::notes::NOTES;
use super::*;

const LINE: &str = "{\"payload\":\"\"}";

fn noted(bench: &Bench, commit: &Commit) -> String {
    bench.git("r", &["notes", "--ref", NOTES, "show", commit.as_str()])
}

fn note(repository: &Repository, commit: &Commit, line: &str) {
    repository.note(commit, line, NOW, |note| note.contains(line)).unwrap();
}

#[test]
fn a_note_is_kept_once_and_nothing_else_changes() {
    let bench = Bench::new();
    let (repository, commit) = (bench.open(), bench.head("r"));
    bench.write("r/b.txt", "staged\n");
    bench.git("r", &["add", "b.txt"]);
    let before = (bench.seen("r"), bench.git("r", &["status", "--porcelain"]), bench.git("r", &["worktree", "list"]));
    note(&repository, &commit, LINE);
    note(&repository, &commit, LINE);
    assert_eq!(noted(&bench, &commit), LINE);
    assert_eq!(bench.git("r", &["rev-list", "--count", NOTES]), "1");
    let after = (bench.seen("r"), bench.git("r", &["status", "--porcelain"]), bench.git("r", &["worktree", "list"]));
    assert_eq!(before, after);
    assert_eq!(bench.git("r", &["fsck", "--no-dangling"]), "");
}

#[test]
fn notes_of_others_stay() {
    let bench = Bench::new();
    let (repository, first) = (bench.open(), bench.head("r"));
    bench.git("r", &["notes", "--ref", NOTES, "add", "-m", "Reviewed by A"]);
    bench.write("r/b.txt", "two\n");
    let second = bench.commit_all("r", "second");
    bench.git("r", &["notes", "--ref", NOTES, "add", "-m", "of the second"]);
    note(&repository, &first, LINE);
    assert_eq!(noted(&bench, &first), format!("Reviewed by A\n\n{LINE}"));
    assert_eq!(noted(&bench, &second), "of the second");
    // A second statement is added to the first.
    note(&repository, &first, "{\"payload\":\"e30=\"}");
    assert_eq!(noted(&bench, &first), format!("Reviewed by A\n\n{LINE}\n\n{{\"payload\":\"e30=\"}}"));
}

#[test]
fn notes_that_git_has_split_into_folders_are_found_and_kept() {
    let bench = Bench::new();
    let repository = bench.open();
    let one = |number: u32| {
        let by = format!("committer U <u@x.invalid> {number} +0000");
        let commit = format!("commit refs/heads/many\nmark :{}\n{by}\ndata 1\nx\n", number + 1);
        let note = format!("commit {NOTES}\n{by}\ndata 1\nn\nN inline :{}\ndata 3\nold\n", number + 1);
        commit + &note
    };
    let lines: Vec<String> = (0..300).map(one).collect();
    let mut import = bench.command("git", "r");
    import.args(["fast-import", "--quiet"]).stdin(std::process::Stdio::piped());
    let mut child = import.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.concat().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(bench.git("r", &["ls-tree", "--name-only", NOTES]).lines().all(|name| name.len() == 2), "spread by git");
    let many = Commit::parse(&bench.git("r", &["rev-parse", "many"])).unwrap();
    note(&repository, &many, LINE);
    assert_eq!(noted(&bench, &many), format!("old\n\n{LINE}"));
    let other = bench.head("r");
    note(&repository, &other, LINE);
    assert_eq!(noted(&bench, &other), LINE);
    assert_eq!(bench.git("r", &["notes", "--ref", NOTES, "list"]).lines().count(), 301);
    // Git can append to them.
    bench.git("r", &["notes", "--ref", NOTES, "append", "-m", "later", other.as_str()]);
    assert_eq!(noted(&bench, &other), format!("{LINE}\n\nlater"));
}

#[test]
fn the_key_is_the_one_that_git_signs_with() {
    let bench = Bench::new();
    let key = |bench: &Bench| bench.open().signing_key().unwrap();
    let set = |name: &str, value: &str| drop(bench.git("r", &["config", name, value]));
    assert_eq!(key(&bench).unwrap_err(), "git does not sign commits here");
    set("commit.gpgsign", "true");
    assert_eq!(key(&bench).unwrap_err(), "git signs commits with openpgp here, not with an SSH key");
    set("gpg.format", "ssh");
    assert_eq!(key(&bench).unwrap_err(), "git does not know which SSH key to sign with");
    set("gpg.ssh.defaultKeyCommand", "echo 'key::ssh-ed25519 AAAA'");
    let found = key(&bench).unwrap();
    assert_eq!((found.key.as_str(), found.is_literal()), ("ssh-ed25519 AAAA", true));
    set("user.signingkey", "~/.ssh/id.pub");
    set("gpg.ssh.program", "~/bin/sign");
    let found = key(&bench).unwrap();
    let home = bench.path("home");
    assert_eq!((found.key, found.program), (format!("{home}/.ssh/id.pub"), format!("{home}/bin/sign")));
    for literal in ["key::sk-ssh-ed25519@openssh.com AAAA", "ssh-rsa AAAA"] {
        set("user.signingkey", literal);
        let found = key(&bench).unwrap();
        assert!(found.is_literal() && literal.ends_with(&found.key), "{found:?}");
    }
}

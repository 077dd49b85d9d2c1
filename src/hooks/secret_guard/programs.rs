//! What programs do with the files passed to them.

use crate::text::shell::{Argument, Run};
use crate::text::words::word_list;

/// Programs that show nothing of a file's contents, or only show them to the person.
const HARMLESS: &[&str] = word_list!(
    "ls dir exa eza lsd tree stat test [ [[ touch rm rmdir unlink shred trash mkdir mktemp chmod chown chgrp setfacl
     chattr echo printf true false : cd pushd popd basename dirname realpath readlink file wc du df md5sum md5 sha1sum
     sha256sum sha512sum shasum cksum b2sum which command export local declare typeset readonly unset read mapfile
     readarray tee truncate find locate code subl idea open xdg-open explorer set-content out-file new-item remove-item
     test-path get-item get-childitem dotenv-linter bfg ssh-add ssh-copy-id gitleaks trufflehog detect-secrets husky
     prettier fallocate inotifywait entr wait-for-it"
);

/// True if a program, or none, shows nothing of a file's contents, or only shows them to the person.
pub(super) fn is_harmless(program: &str) -> bool {
    program.is_empty() || HARMLESS.contains(&program)
}

/// Those among them that show their standard input.
pub(super) const SHOW_INPUT: &[&str] = &["", "tee"];

/// Programs that pass their standard input to a place made for secrets, to a person's clipboard or to a key's public
/// half.
pub(super) const SWALLOW: &[&str] =
    word_list!("pbcopy xclip xsel clip wl-copy wg passwd chpasswd read mapfile readarray docker-credential-pass");

/// Programs that run a script, which is judged separately.
pub(super) const RUN_SCRIPTS: &[&str] = &["eval", "script", "ssh", "su", "watch", "wsl"];

/// Programs whose first word is what they search for or do.
pub(super) const SCRIPT_FIRST: &[&str] =
    word_list!("grep egrep fgrep zgrep ggrep rg ag ack sed gsed awk gawk mawk nawk jq yq findstr select-string");

/// Programs that copy or move a file.
const COPIES: &[&str] = &["cp", "mv", "ln", "install", "rsync", "scp", "copy-item", "move-item"];

/// Programs that run code.
pub(super) const INTERPRETERS: &[&str] = word_list!(
    "python python3 python2 pypy pypy3 uv node nodejs deno bun tsx ts-node perl ruby php lua rscript osascript"
);

/// Programs that only print what they are given: the ones that matter if a whole folder is passed to them.
pub(super) const DISPLAYS: &[&str] = word_list!(
    "cat bat batcat head tail less more nl tac strings xxd od hexdump base64 sort uniq cut paste column fold rev type
     get-content gc awk sed grep egrep rg"
);

/// Programs that start others with the values of a file: `-e` and `-f` name it.
const RUNNERS: &[&str] = word_list!(
    "dotenv dotenv-cli dotenvx env-cmd cross-env dotenv-run foreman honcho overmind hivemind heroku nf goreman forego
     with-env"
);

pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh"];

/// Words in the name of a script that uses its arguments without showing them.
const USING: &[&str] = word_list!(
    "deploy start run serve server test tests build setup install release migrate migration migrations backup load sync
     encrypt validate verify check lint push up bootstrap provision seed init upload launch publish restart update
     generate gen import entrypoint manage main app worker bot dev apply configure rotate restore create e2e smoke
     compose"
);

/// True if a call of a program shows nothing of the files it reads, because of what it is asked to do.
pub(super) fn keeps_to_itself(run: &Run) -> bool {
    let has = |words: &[&str]| run.arguments.iter().any(|word| words.iter().any(|wanted| word.is(wanted)));
    let verb = || run.arguments.first().map(Argument::shown).unwrap_or_default();
    match run.program.as_str() {
        "direnv" => !has(&["exec"]),
        "cmp" => !has(&["-l", "-b", "--verbose", "--print-bytes"]),
        "diff" => has(&["-q", "--brief"]),
        "sops" => has(&["-e", "--encrypt", "encrypt"]),
        "ansible-vault" => has(&["encrypt", "rekey", "create"]),
        "age" | "rage" => !has(&["-d", "--decrypt"]),
        "gpg" | "gpg2" => has(&["-c", "-e", "--symmetric", "--encrypt", "--import"]),
        // Key tools: what these make of a private key is public, a signature, or another file.
        "ssh-keygen" | "puttygen" => !has(&["-e", "-m"]) || has(&["-y", "-l", "-lf", "-p", "-c"]),
        "openssl" => {
            let made = has(&["-noout", "-pubout", "-out", "-check"]) && !has(&["-text"]);
            let public =
                matches!(verb().as_str(), "x509" | "verify" | "crl" | "s_client" | "s_server" | "req" | "dgst");
            made || public && verb() != "dgst" || verb() == "dgst" && has(&["-sign"])
        }
        "docker" | "podman" if matches!(verb().as_str(), "compose" | "stack") => false,
        "nginx" | "caddy" | "certbot" | "kubeseal" | "mkcert" | "keytool" | "jarsigner" | "codesign" | "apksigner" => {
            true
        }
        program if is_script(program, run) => uses_files(run),
        _ => keeps_secrets(run),
    }
}

/// True if the program is a script of the project, by path or as the first word of its interpreter.
fn is_script(program: &str, run: &Run) -> bool {
    script_name(program, run).is_some()
}

fn script_name(program: &str, run: &Run) -> Option<String> {
    let is_script = |name: &str| {
        [".sh", ".py", ".js", ".ts", ".mjs", ".rb", ".bash", ".pl", ".php"].iter().any(|end| name.ends_with(end))
    };
    let runs_scripts = SHELLS.contains(&program) || INTERPRETERS.contains(&program);
    let first = || run.arguments.iter().map(Argument::shown).find(|word| !word.starts_with('-'));
    match is_script(program) {
        true => Some(program.to_owned()),
        false if runs_scripts => first().filter(|name| is_script(name)),
        false => None,
    }
}

fn uses_files(run: &Run) -> bool {
    let Some(script) = script_name(&run.program, run) else { return false };
    let name = script.rsplit('/').next().unwrap_or_default().to_lowercase();
    name.split(|letter: char| !letter.is_alphanumeric()).any(|word| USING.contains(&word))
}

/// True if a program is asked to store secrets in a place made for them, such as `gh secret set`.
fn keeps_secrets(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().take(5).map(|word| word.shown().to_lowercase()).collect();
    let mut parts = words.iter().filter(|word| !word.starts_with('-')).flat_map(|word| word.split(':'));
    let of_secrets = parts.any(|word| matches!(word, "secret" | "secrets" | "variable" | "variables" | "env"));
    of_secrets && parts.take(2).any(|verb| KEEPING.contains(&verb))
}

/// Verbs after `secret` that store something there.
const KEEPING: &[&str] = &["set", "import", "add", "bulk", "create", "put", "upload", "push", "sync"];

/// True if an option makes `perl` or `ruby` change files in place.
pub(super) fn edits_in_place(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    // After these letters comes a text.
    letters.split(['e', 'E', 'F', 'I', 'M', 'm', 'r', 'x', '-']).next().is_some_and(|flags| flags.contains('i'))
}

/// The words of a call that copies or moves files: the sources and the target.
pub(super) fn copied(run: &Run) -> Option<&[Argument]> {
    let is =
        |at: usize, words: &[&str]| run.arguments.get(at).is_some_and(|word| words.iter().any(|verb| word.is(verb)));
    let verbs = match run.program.as_str() {
        program if COPIES.contains(&program) => 0,
        "docker" | "podman" | "gsutil" | "kubectl" if is(0, &["cp", "mv"]) => 1,
        "docker" if is(0, &["compose"]) && is(1, &["cp"]) => 2,
        "rclone" if is(0, &["copy", "copyto", "move", "moveto", "sync"]) => 1,
        "aws" if is(0, &["s3"]) && is(1, &["cp", "mv", "sync"]) => 2,
        "gcloud" if is(0, &["storage"]) && is(1, &["cp", "mv"]) => 2,
        _ => return None,
    };
    Some(&run.arguments[verbs..])
}

/// True if the value of an option is not shown: excluded, written, or a key to something else.
pub(super) fn is_left_out(option: &str, program: &str) -> bool {
    ["exclude", "ignore", "output", "volume", "mount", "kubeconfig"].iter().any(|word| option.contains(word))
        || word_list!(
            "key key-file keyfile netrc-file cert identity password-file cacert capath ca credentials-file keystore
             passphrase-file"
        )
        .iter()
        .any(|word| option.ends_with(word))
        || matches!(option, "o" | "v") && matches!(program, "curl" | "docker" | "op" | "podman" | "wget")
        || option == "i" && matches!(program, "scp" | "sftp" | "ssh-add" | "ssh-copy-id" | "rsync" | "ansible" | "mosh")
        || matches!(option, "e" | "rsh") && program == "rsync"
        || option == "x" && program == "zip"
        || option == "pull"
}

/// True if it is a program that runs another with the values of a file.
pub(super) fn is_runner(run: &Run) -> bool {
    RUNNERS.contains(&run.program.as_str())
        || run.arguments.first().is_some_and(|word| RUNNERS.contains(&word.shown().as_str()))
}

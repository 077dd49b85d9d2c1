//! Every exit code and its meaning. `gsd-tools help exit-codes` prints these tables, and a test compares `docs/cli.md`
//! with them.

use std::fmt::Write as _;

use crate::failure::{DEGRADED, Reason};

impl Reason {
    /// Its name in the JSON envelope.
    fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => format!("{self:?}"),
        }
    }
}

/// The codes that are the same under both contracts.
const OF_BOTH: &[(u8, &str)] = &[
    (
        2,
        "wrong usage of `apply`, `auto`, `completions`, `cost`, `demo`, `doctor`, `explain`, `gate`, `guide`, `history`, `hooks`, \
         `install`, `lock`, `man-pages`, `package`, `recover`, `redo`, `run-with-timeout`, `runtimes`, `schema`, `status`, \
         `trust`, `undo`, `uninstall`, `update`, `worktree` or `yolo`; `status --check` without a `gsd-tools.lock`; a prompt \
         that does not fit into its budget (`prompt-budget`); in hosts that read the exit code of a hook, the hook refuses",
    ),
    (10, "`auto run`: the run needs a person; the answer names what to do"),
    (11, "`auto run`: paused or stopped, as a person asked"),
    (12, "`auto run`: the same failure came again and again"),
    (13, "`auto run`: a ceiling was reached"),
    (64, "`auto run`: a preference asks for what a run does not do, or PREFERENCES.md cannot be read"),
    (
        65,
        "a settings file, manifest, host descriptor or `gsd-tools.lock` that install or uninstall cannot read as what it \
         should be; nothing is written",
    ),
    (70, "a defect of this program"),
    (
        73,
        "a file or folder that `install`, `uninstall`, `package`, `man-pages` or a `--plan` cannot create or may not replace",
    ),
    (74, "an input or output error"),
    (75, "locked by another call, or changed while install or uninstall ran; try again"),
    (
        77,
        "needs a person: an agent, or a script without a terminal, made the call; `gate run`: nobody approved the command",
    ),
    (
        78,
        "`gate run`: no command is configured, or what it starts is not installed; `install --local` and `package --managed`: \
         `gsd-tools.lock` pins another version of the program, or for `package` another build of it",
    ),
    (124, "`run-with-timeout` and `gate run`: the time limit was reached"),
    (125, "`run-with-timeout`: the program did not start, for another reason than the next two"),
    (126, "`run-with-timeout`: the program is not executable"),
    (127, "`run-with-timeout`: the program was not found"),
    (130, "a question was cancelled with Esc, Ctrl-C or the answer no; `demo` was interrupted; nothing was changed"),
    (143, "`demo` was ended by a signal; nothing was changed"),
];

/// The codes of both contracts and when each is used: code under v1, code under v2, meaning.
fn of_contracts() -> Vec<(u8, u8, String)> {
    let mut rows = vec![
        (0, 0, "none: the command succeeded".to_owned()),
        (0, DEGRADED, "none: the answer has an `error` key, or says that nothing changed".to_owned()),
        (1, 1, "none: the answer says what failed, as `commit` does".to_owned()),
    ];
    for reason in Reason::ALL {
        let (name, code) = (format!("`{}`", reason.name()), reason.distinct_code());
        match rows.iter_mut().find(|row| row.1 == code && row.2.starts_with('`')) {
            Some((_, _, names)) => {
                names.push_str(", ");
                names.push_str(&name);
            }
            None => rows.push((1, code, name)),
        }
    }
    rows
}

const CONTRACTS: &str = "A call from a program exits with 1 if it fails (contract v1). A call that a person makes at a \
                         terminal has a code for each kind of failure (contract v2).\nTo choose one: \
                         `--exit-contract=v1` or `--exit-contract=v2`, or GSD_EXIT_CONTRACT in the environment.";

/// The help page about exit codes.
pub(crate) fn page() -> String {
    let mut page = format!("Exit codes\n\n{CONTRACTS}\n\n   v1   v2  reason, as in an error that is printed as JSON\n");
    for (first, second, meaning) in of_contracts() {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "  {first:>3}  {second:>3}  {}", meaning.replace('`', ""));
    }
    page.push_str("\nUnder both contracts:\n");
    for (code, meaning) in OF_BOTH {
        let _ = writeln!(page, "  {code:>3}  {meaning}");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables as in `docs/cli.md`.
    fn markdown() -> String {
        let mut text = "| reason | v1 | v2 |\n|---|---|---|\n".to_owned();
        for (first, second, meaning) in of_contracts() {
            let _ = writeln!(text, "| {meaning} | {first} | {second} |");
        }
        text.push_str("\nThese codes are the same under both contracts:\n\n| code | meaning |\n|---|---|\n");
        for (code, meaning) in OF_BOTH {
            let _ = writeln!(text, "| {code} | {meaning} |");
        }
        text
    }

    #[test]
    fn the_documents_have_the_tables_of_exit_codes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
        let text = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
        let start = text.find("| reason |").unwrap();
        let end = text.find("\n\n`run-with-timeout` otherwise").unwrap() + 1;
        if std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite") {
            std::fs::write(path, format!("{}{}{}", &text[..start], markdown(), &text[end..])).unwrap();
            return;
        }
        assert_eq!(&text[start..end], markdown(), "SNAPSHOTS=overwrite writes the tables of docs/cli.md");
    }

    #[test]
    fn the_page_lists_each_reason_and_code() {
        let page = page();
        for reason in Reason::ALL {
            assert!(page.contains(&reason.name()), "{page}");
        }
        assert!(OF_BOTH.is_sorted_by_key(|(code, _)| *code));
    }
}

use proptest::prelude::*;

use super::*;

/// The runs of a script, each as its program and arguments, with `<` and `>` before files.
fn told(script: &str) -> Vec<String> {
    let run = |run: &Run| {
        let reads = run.reads.iter().map(|file| format!("<{}", file.shown()));
        let writes = run.writes.iter().map(|written| format!(">{}", written.file.shown()));
        let words = run.arguments.iter().map(Argument::shown).chain(reads).chain(writes);
        std::iter::once(run.program.clone()).chain(words).collect::<Vec<_>>().join(" ").trim().to_owned()
    };
    runs(script).iter().map(run).collect()
}

#[test]
fn quotes_are_resolved() {
    for script in [
        "cat .env",
        "cat '.env'",
        "cat \".env\"",
        "cat .e\"n\"v",
        r"cat .e\nv",
        r"cat $'\x2eenv'",
        "cat $'.\\145nv'",
        "ca\\\nt .env",
        "/bin/cat .env",
        "\\cat .env",
        "CAT.EXE .env",
    ] {
        assert_eq!(told(script), ["cat .env"], "{script}");
    }
    assert_eq!(told("echo 'a b' \"c  d\" e\\ f ''"), ["echo a b c  d e f "].map(str::trim_end));
    assert_eq!(told(r#"echo "a\"b" "\$x" '\$'"#), [r#"echo a"b $x \$"#]);
}

#[test]
fn commands_are_separated() {
    assert_eq!(told("a; b && c || d | e & f\ng |& h"), ["a", "b", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(told("(a; b); { c; }"), ["a", "b", "c"]);
    assert_eq!(told("if a; then b; elif c; then d; else e; fi"), ["a", "b", "c", "d", "e"]);
    assert_eq!(told("while a; do b; done; ! c; time d"), ["a", "b", "c", "d"]);
    assert_eq!(told("f() { a; }; function g { b; }"), ["a", "b"]);
    assert_eq!(told("[[ -f a && b < c ]] && d"), ["[[ -f a b c ]]", "d"]);
    assert_eq!(told("((i++ < 3)); a"), ["a"]);
    assert_eq!(told("a # b; c\nd#e"), ["a", "d#e"]);
    assert_eq!(told("case $x in a|b) c;; *) d;; esac"), ["c", "d"]);
}

#[test]
fn files_that_are_read_and_written_are_reported() {
    assert_eq!(told("a <b >c 2>d 2>&1 >&2 &>e >>f >|g"), ["a <b >c >d >e >f >g"]);
    assert_eq!(told("< b"), ["<b"]);
    assert_eq!(told("while read x; do a; done < b"), ["read x", "a", "<b"]);
    let append: Vec<bool> = runs("a > b >> c")[0].writes.iter().map(|written| written.append).collect();
    assert_eq!(append, [false, true]);
}

#[test]
fn substitutions_come_before_the_commands_they_are_in() {
    assert_eq!(told("a $(b c) `d` \"$(e)\" <(f)"), ["b c", "d", "e", "f", "a … … … …"]);
    assert_eq!(told("a $(b $(c))"), ["c", "b …", "a …"]);
    assert_eq!(told("echo $((1 << 2)) $((a); b)"), ["a", "b", "echo … …"]);
    assert_eq!(told("a ${x:-$(b)} ${#y} ${z%$(c)}"), ["b", "c", "a … … ……"]);
    assert_eq!(told("a $(echo b)"), ["echo b", "a b"]);
}

#[test]
fn here_documents_are_text() {
    assert_eq!(told("cat <<E > a\n; b\nE\nc"), ["cat >a", "c"]);
    assert_eq!(told("a <<'E' <<-F\n$(x)\nE\n\tb\n\tF\nc"), ["a", "c"]);
    assert_eq!(told("a <<E\n$(b)\nE"), ["b", "a"]);
    assert_eq!(runs("cat <<E\nx\ny\nE")[0].input.as_deref(), Some("x\ny\n"));
    assert_eq!(runs("cat <<< 'a b'")[0].input.as_deref(), Some("a b"));
    assert_eq!(runs("a \"$(cat <<'E'\nx \"y\"\n\nz)\nE\n)\" b")[1].arguments[0].text().unwrap(), "x \"y\"\n\nz)\n");
    assert_eq!(told("bash <<E\na b\nE"), ["a b", "bash"]);
    assert_eq!(told("cat <<E"), ["cat"]);
}

#[test]
fn variables_have_the_values_the_script_gives_them() {
    assert_eq!(told("x=a; b $x \"${x}c\" $y ${y:-d}"), ["", "b a ac … d"]);
    assert_eq!(told("for x in a b; do c $x; done").last().unwrap(), "c b");
    assert_eq!(runs("for x in a b; do c $x; done")[1].arguments[0].names().count(), 2);
    assert_eq!(told("x=1 a"), ["a"]);
    assert_eq!(told("x='a b'; c $x").len(), 2);
    assert_eq!(runs("x='a b'; c $x")[1].arguments[0].names().count(), 2);
    assert_eq!(
        runs("x='a b'; c \"$x\" \"x y\"$z")[1].arguments.iter().map(|word| word.names().count()).sum::<usize>(),
        2
    );
    assert_eq!(runs("x='a b'; y=$x; c \"$y\"")[2].arguments[0].text().as_deref(), Some("a b"));
    assert_eq!(runs("for x in a $y; do c; done; d \"$x\"")[2].arguments[0].names().count(), 2);
    let unset = |script: &str| runs(script).last().unwrap().arguments[0].spellings.iter().any(Spelling::has_unset);
    for script in ["c $x", "c \"a${x%b}\"", "c ${x:-y}", "y=$x; c $y", "c ${!x}"] {
        assert!(unset(script), "{script}");
    }
    for script in ["x=1; c $x${x%b}", "c $PWD", "c $(a $x)", "c $((x + 1))", "c ${#x}", "c ${x:+y}", "c $? $1 $@"] {
        assert!(!unset(script), "{script}");
    }
}

#[test]
fn names_that_a_program_prints_are_followed() {
    let last = |script: &str| {
        let runs = runs(script);
        runs.last().unwrap().arguments[0].names().map(|name| name.text()).collect::<Vec<_>>().join(" ")
    };
    let unknown = UNKNOWN.to_string();
    for (script, names) in [
        ("a $(find b -name c -not -name d)", "b c"),
        ("a \"$(find -iname '*.c')\"", ".*.c .c *.c"),
        ("a $(ls -a b c)", "b c"),
        ("a $(git ls-files b)", "b"),
        ("a $(ls | grep '^b\\.c$' | head -1)", "b.c"),
        ("a $(ls | grep -v b)", ""),
        ("a $(cat b)", ""),
        ("a <(ls b)", ""),
    ] {
        assert_eq!(last(script), format!("{unknown} {names}").trim_end(), "{script}");
    }
    assert_eq!(last("ls b | while read -r x; do a $x; done"), format!("{unknown} b"));
    assert_eq!(last("while read -r x; do a $x; done"), unknown);
}

#[test]
fn programs_started_by_other_programs_are_found() {
    for script in [
        "sudo -u x cat a",
        "env -u P X=1 cat a",
        "X=1 env Y=2 cat a",
        "command cat a",
        "timeout -k 1 5 cat a",
        "nice -n 5 nohup cat a",
        "stdbuf -oL cat a",
        "docker exec -it c cat a",
        "docker compose exec c cat a",
        "kubectl exec pod -- cat a",
        "exec cat a",
        "busybox cat a",
    ] {
        assert_eq!(told(script), ["cat a"], "{script}");
    }
    assert_eq!(told("echo a | xargs -n 1 cat"), ["echo a", "cat a"]);
    assert_eq!(told("echo xargs | xargs"), ["echo xargs", "echo xargs"]);
    assert_eq!(told("echo 'a b' | xargs c"), ["echo a b", "c a b"]);
    assert_eq!(told("xargs -a b c < d"), ["xargs -a b <d", "c"]);
    assert_eq!(told("find . -name a -exec cat {} + -print"), ["cat {} . a", "find . -name a -exec cat {} + -print"]);
    assert_eq!(told("env"), ["env"]);
}

#[test]
fn scripts_inside_scripts_are_read() {
    assert_eq!(told("sh -c 'cat a'"), ["cat a", "sh -c cat a"]);
    assert_eq!(told("bash -lc \"cat 'a b'\" x"), ["cat a b", "bash -lc cat 'a b' x"]);
    assert_eq!(told("eval \"cat $x\" b")[0], "cat … b");
    assert_eq!(told("ssh host cat a")[0], "cat a");
    assert_eq!(told("su -c 'cat a' x")[0], "cat a x");
    assert_eq!(told("ssh -i key -p 22 host cat a")[0], "cat a");
    assert_eq!(told("watch -n 1 cat a")[0], "cat a");
    assert_eq!(told("echo 'cat a' | sh"), ["echo cat a", "cat a", "sh"]);
    assert_eq!(told("sh script.sh"), ["sh script.sh"]);
}

#[test]
fn every_result_is_limited_in_size() {
    let doubling: String =
        std::iter::once("a=xxxxxxxx;".to_owned()).chain((0..40).map(|_| "a=$a$a;".to_owned())).collect();
    assert!(runs(&doubling).len() <= 41);
    for piece in
        ["$(", "`", "${a:-", "((", "$((", "(", "<<a ", "\"$(", "sh -c '", "eval ", "{a,", "<(", "\\", "'", "$'"]
    {
        let _ = runs(&piece.repeat(5_000));
    }
    assert!(runs(&"a;".repeat(10_000)).len() <= 2_000);
}

#[test]
fn a_text_nested_in_many_others_is_read_a_few_times() {
    // Each of these is in the body of those before it; without a limit, each would double the work.
    for (repeated, is_left_out) in [
        ("<<E\n$(sh -c $x\nE\n$(\n", true),
        ("$(cat <<E\n$(", false),
        ("sh -c x=$xfind -exec $(xargs <<E\n$x\\xargs \n\nE\n<<E\n$(", false),
    ] {
        let started = std::time::Instant::now();
        let (_, is_cut) = runs_up_to_limit(&repeated.repeat(200));
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{repeated:?} took {:?}", started.elapsed());
        assert!(is_cut || !is_left_out, "{repeated:?}: whoever asks learns that there is more");
    }
}

#[test]
fn a_program_that_passes_its_input_to_itself_does_so_once() {
    for script in ["xargs xargs<<E\nxargs\n", "xargs <<< xargs", "xargs xargs xargs <<< 'xargs cat .env'"] {
        assert!(!runs(script).is_empty(), "{script}");
    }
    for wrapper in ["xargs ", "env ", "sudo "] {
        let started = std::time::Instant::now();
        let (_, is_cut) = runs_up_to_limit(&wrapper.repeat(20_000));
        assert!(is_cut && started.elapsed() < std::time::Duration::from_secs(5), "{wrapper}");
    }
    assert!(runs("xargs xargs cat <<< .env").iter().any(|run| run.arguments.iter().any(|word| word.is(".env"))));
}

proptest! {
    #[test]
    fn every_text_is_a_script(text in "(\\PC|[ \n;&|<>(){}$`'\"\\\\=*#]|<<E\n|\nE\n|sh -c |cat |x=|\\$x|\\$\\(|find -exec |xargs ){0,40}") {
        for run in runs(&text) {
            for argument in &run.arguments {
                for name in argument.names() {
                    let _ = (name.text(), name.file_name().fits(".env"));
                }
            }
        }
    }
}

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn document(text: &str) -> YamlDocument {
    YamlDocument::parse(text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

fn append(dotted: &str, value: Json) -> YamlEdit {
    YamlEdit::Append { path: dotted.split('.').map(str::to_owned).collect(), value }
}

fn ours() -> Json {
    json!({"command": "/home/u/.x/gsd-tools hook decision before-tool", "matcher": "terminal|patch", "timeout": 10})
}

const OURS: &str =
    "- command: /home/u/.x/gsd-tools hook decision before-tool\n  matcher: \"terminal|patch\"\n  timeout: 10\n";

/// [`OURS`] at an indentation.
fn at(indent: usize) -> String {
    OURS.lines().map(|line| [" ".repeat(indent).as_str(), line, "\n"].concat()).collect()
}

/// Applies the edit, compares, undoes it, and compares with the original.
#[track_caller]
fn check(before: &str, edit: &YamlEdit, expected: &str) {
    let mut document = document(before);
    let applied = document.apply(edit).unwrap_or_else(|error| panic!("{error} in {before:?}"));
    assert_eq!(document.to_string(), expected);
    assert!(applied.changed());
    assert_eq!(document.apply(edit).unwrap(), Applied::AlreadyThere);
    assert_eq!(document.revert(edit, &applied).unwrap(), Reverted::Removed);
    assert_eq!(document.to_string(), before);
    assert_eq!(document.revert(edit, &applied).unwrap(), Reverted::NotThere);
}

#[track_caller]
fn refused(text: &str, edit: &YamlEdit) -> String {
    let mut document = document(text);
    let error = document.apply(edit).unwrap_err();
    assert_eq!(document.to_string(), text);
    error.to_string()
}

#[test]
fn a_missing_list_is_added_at_the_end() {
    let edit = append("hooks.pre_tool_call", ours());
    let block = format!("hooks:\n  pre_tool_call:\n{}", at(4));
    check("", &edit, &block);
    check("model: x\n", &edit, &format!("model: x\n{block}"));
    check("model: x", &edit, format!("model: x\n{block}").trim_end());
    check("\u{feff}# mine\n\n", &edit, &format!("\u{feff}# mine\n\n{block}"));
    check("---\na: 1\n...\n", &edit, &format!("---\na: 1\n{block}...\n"));
    let windows = format!("a: 1\n{block}").replace('\n', "\r\n");
    check("a: 1\r\n", &edit, &windows);
    check("a: |\n  text\n\n# end", &edit, &format!("a: |\n  text\n\n# end\n{}", block.trim_end()));
}

#[test]
fn an_existing_map_gets_one_more_key() {
    let edit = append("hooks.pre_tool_call", ours());
    check(
        "hooks: # mine\n  on_session_start:\n    - command: a # one\n      # two\n\n# about b\nb: 1\n",
        &edit,
        &format!(
            "hooks: # mine\n  on_session_start:\n    - command: a # one\n  pre_tool_call:\n{}      # two\n\n# about b\nb: 1\n",
            at(4)
        ),
    );
    check("hooks:\n    x: 1\nb: 1\n", &edit, &format!("hooks:\n    x: 1\n    pre_tool_call:\n{}b: 1\n", at(6)));
    check("\"hooks\":\n  x: 1\n", &edit, &format!("\"hooks\":\n  x: 1\n  pre_tool_call:\n{}", at(4)));
}

#[test]
fn an_existing_list_gets_one_more_entry() {
    let edit = append("hooks.pre", ours());
    let mine = "hooks:\n  pre:\n    - command: a\n      matcher: 'b'\n";
    check(&format!("{mine}z: 1\n"), &edit, &format!("{mine}{}z: 1\n", at(4)));
    check(
        "hooks:\n  pre:\n  - a\n  post:\n  - b\n",
        &edit,
        &format!("hooks:\n  pre:\n  - a\n{}  post:\n  - b\n", at(2)),
    );
    check("hooks:\n  pre:\n  - a", &edit, format!("hooks:\n  pre:\n  - a\n{}", at(2)).trim_end());
    check(
        "hooks:\n  pre:\n  - |\n    a\n    # text\n",
        &edit,
        &format!("hooks:\n  pre:\n  - |\n    a\n    # text\n{}", at(2)),
    );
    check("a:\n- b\n", &append("a", json!("c: d")), "a:\n- b\n- \"c: d\"\n");
}

#[test]
fn an_empty_value_is_replaced_and_restored() {
    let edit = append("hooks.pre", ours());
    check("hooks: {}\nb: 1\n", &edit, &format!("hooks:\n  pre:\n{}b: 1\n", at(4)));
    check("hooks:   {} # none\n", &edit, &format!("hooks: # none\n  pre:\n{}", at(4)));
    check("hooks:\nb: 1\n", &edit, &format!("hooks:\n  pre:\n{}b: 1\n", at(4)));
    check("hooks: ~\n", &edit, &format!("hooks:\n  pre:\n{}", at(4)));
    check("hooks:\n  pre: []\n  post: 1\n", &edit, &format!("hooks:\n  pre:\n{}  post: 1\n", at(4)));
    check("hooks: null", &edit, format!("hooks:\n  pre:\n{}", at(4)).trim_end());
}

#[test]
fn text_that_cannot_be_edited_by_lines_is_refused_with_its_line() {
    let edit = append("hooks.pre", ours());
    assert_eq!(refused("a: 1\nhooks: {post: []}\n", &edit), "line 2: `hooks` is written in braces or brackets");
    assert!(refused("hooks:\n  pre: [a]\n", &edit).starts_with("line 2: `hooks.pre` is written in braces"));
    assert!(refused("hooks: &h\n  pre:\n  - a\n", &edit).starts_with("line 1: `hooks` has an anchor"));
    assert!(refused("h: &h {}\nhooks: *h\n", &edit).starts_with("line 2: `hooks` is an alias"));
    assert!(refused("hooks: !x\n  a: 1\n", &edit).starts_with("line 1: `hooks` is a value with a tag"));
    assert!(refused("{a: 1}\n", &edit).starts_with("line 1: the file is written in braces"));
    assert!(refused("hooks: 1\n", &edit).contains("`hooks` is a value in the file where a map is needed"));
    assert!(refused("hooks:\n  pre:\n    a: 1\n", &edit).contains("`hooks.pre` is a map in the file where a list"));
    assert!(refused("- a\n", &edit).contains("line 1: the file is a list where a map is needed"));
    assert!(refused("a: 1\n", &append("a.b", json!([1]))).contains("`a` is a value"));
    assert!(refused("", &append("a.b", json!([1]))).contains("cannot be written"));
    let error = YamlDocument::parse("a: 1\n---\nb: 2\n").unwrap_err();
    assert_eq!((error.line, error.message.contains("keep one")), (2, true), "{error}");
    assert!(YamlDocument::parse("---\na: 1\n---\nb: 2\n").is_err());
    assert!(YamlDocument::parse("a: 1\n\tb: 2\n").is_err());
    assert_eq!(place("a: x\nb: 1 \t# c\n"), "line 2, column 6: a tab between values; replace it by spaces");
    assert_eq!(place("a: 1\nb: 2\na: 3\n"), "line 3, column 1: duplicate key `a`");
    assert_eq!(
        place("x:\n  - k: 1\n    l: 1\nk: 1\ny:\n  - k: 1\n    k: 2\nl: 1\n"),
        "line 7, column 5: duplicate key `k`"
    );
    let error = YamlDocument::parse("a: 1\nb: [1\n").unwrap_err();
    assert!(error.line >= 2, "{error}");
}

fn place(text: &str) -> String {
    YamlDocument::parse(text).unwrap_err().to_string()
}

#[test]
fn an_empty_map_as_a_document_is_replaced_and_restored() {
    let edit = append("hooks.pre", ours());
    let block = format!("hooks:\n  pre:\n{}", at(4));
    check("{}\n", &edit, &block);
    check("{}", &edit, block.trim_end());
    check("---\n# c\n{}\n# d\n", &edit, &format!("---\n# c\n{block}# d\n"));
    check("null\r\n", &edit, &block.replace('\n', "\r\n"));
    let mut document = document("{}\n");
    let applied = document.apply(&edit).unwrap();
    let mut more = self::document(&format!("{document}mine: 1\n"));
    more.revert(&edit, &applied).unwrap();
    assert_eq!(more.to_string(), "mine: 1\n");
}

#[test]
fn a_text_at_the_end_stays_as_it_is() {
    let edit = append("hooks.pre", ours());
    let text = "# top\nmodel: x\nprompt: |\n  Be kind.\n\n  # not a comment";
    check(text, &edit, &format!("hooks:\n  pre:\n{}{text}", at(4)));
    check(
        "a: |\n  x\n\ty: z\n".replace('\t', "  \t").as_str(),
        &edit,
        &format!("a: |\n  x\n  \ty: z\nhooks:\n  pre:\n{}", at(4)),
    );
}

#[test]
fn numbers_of_any_size_are_read() {
    let edit = append("hooks.pre", ours());
    let text = "chat: 123456789012345678901234567890\nless: -123456789012345678901234567890\n";
    check(text, &edit, &format!("{text}hooks:\n  pre:\n{}", at(4)));
    let tagged = "a: !t {x: 1}\nb: !u [1]\n";
    check(tagged, &edit, &format!("{tagged}hooks:\n  pre:\n{}", at(4)));
}

#[test]
fn text_that_only_looks_like_a_key_is_not_edited() {
    let text = "a: \"one\nhooks:\n  two\"\n";
    let mut document = document(text);
    let edit = append("hooks.pre", ours());
    if let Ok(applied) = document.apply(&edit) {
        assert_eq!(read(&document.text).unwrap()["a"], read(text).unwrap()["a"]);
        document.revert(&edit, &applied).unwrap();
    }
    assert_eq!(document.to_string(), text);
}

#[test]
fn additions_of_a_person_stay_when_ours_is_removed() {
    let edit = append("hooks.pre", ours());
    let mut document = document("a: 1\n");
    let applied = document.apply(&edit).unwrap();
    let theirs = document.to_string().replace("hooks:\n", "hooks:\n  post:\n  - mine\n");
    let mut changed = self::document(&theirs);
    assert_eq!(changed.revert(&edit, &applied).unwrap(), Reverted::Removed);
    assert_eq!(changed.to_string(), "a: 1\nhooks:\n  post:\n  - mine\n");
    // Another program rewrote the file in its own style.
    let dumped = "hooks:\n  pre:\n  - command: '/home/u/.x/gsd-tools hook decision before-tool'\n    matcher: terminal|patch\n    timeout: 10\nz: 1\n";
    let mut changed = self::document(dumped);
    assert_eq!(changed.revert(&edit, &applied).unwrap(), Reverted::Removed);
    assert_eq!(changed.to_string(), "z: 1\n");
}

/// Files as people write them: nested maps, lists, texts over several lines, and comments.
fn files() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(" 1".to_owned()),
        Just(" {}".to_owned()),
        Just(" []".to_owned()),
        Just(String::new()),
        Just(" # c".to_owned()),
        Just(" 'q: #x'".to_owned()),
        Just(" \"a\n  # b: c\n  d\"".to_owned()),
        Just(" |\n    # text\n    pre:\n\n    - x".to_owned()),
        Just(" >-\n    folded\n    text".to_owned()),
        Just(" [a,\n    b]".to_owned()),
        Just("\n  - a\n  - b: 1\n    c: 2 # d".to_owned()),
        Just("\n- a\n- b".to_owned()),
        Just("\n  # only a comment".to_owned()),
        Just("\n  pre:\n    - x\n    # after x\n  post: 1".to_owned()),
        Just("\n    pre:\n    - x\n\n    - y: |\n        t\n\n".to_owned()),
        Just("\n  pre: # here\n  post: {}".to_owned()),
    ];
    let line = (prop::sample::select(vec!["a", "hooks", "pre", "\"b c\""]), leaf)
        .prop_map(|(key, value)| format!("{key}:{value}\n"));
    let filler = prop::sample::select(vec!["", "\n", "# note\n", "  # indented note\n"]).prop_map(str::to_owned);
    (
        prop::sample::select(vec!["", "\u{feff}", "---\n", "# top\n\n"]),
        prop::collection::vec((line, filler), 0..5),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(top, lines, windows, cut)| {
            let mut text: String = lines.into_iter().map(|(line, filler)| line + &filler).collect();
            text.insert_str(0, top);
            if cut {
                text.truncate(text.trim_end().len());
            }
            if windows { text.replace('\n', "\r\n") } else { text }
        })
}

proptest! {
    #[test]
    fn an_edit_adds_only_its_entry_and_leaves_no_trace(text in files(), two in any::<bool>()) {
        let Ok(mut document) = YamlDocument::parse(&text) else { return Ok(()) };
        let edits = [append("hooks.pre", ours()), append("hooks.post", json!("a: b")), append("hooks.pre", json!("c"))];
        let mut made = Vec::new();
        for edit in &edits[..if two { 3 } else { 1 }] {
            let before = document.clone();
            let Ok(applied) = document.apply(edit) else {
                prop_assert_eq!(&document, &before);
                continue;
            };
            let (path, value) = edit.parts();
            let mut wanted = read(&before.text).unwrap();
            put(&mut wanted, path, serde_yaml::to_value(value).unwrap()).unwrap();
            prop_assert_eq!(read(&document.text).unwrap(), wanted);
            for line in before.text.lines().filter(|line| line.contains('#')) {
                prop_assert!(document.text.contains(line.trim()), "{line:?} is gone from {document:?}");
            }
            made.push((edit, applied));
        }
        for (edit, applied) in made.iter().rev() {
            document.revert(edit, applied).unwrap();
        }
        prop_assert_eq!(document.to_string(), text);
    }

    #[test]
    fn any_text_is_handled(text in "(hooks:|pre:|- |  |\n|\r\n|\t|#|'|\"|[{}\\[\\]&*!|>a~]|---\n|\\.\\.\\.\n){0,24}") {
        if let Ok(mut document) = YamlDocument::parse(&text) {
            let edit = append("hooks.pre", ours());
            if let Ok(applied) = document.apply(&edit) {
                prop_assert!(matches!(document.revert(&edit, &applied), Ok(Reverted::Removed)));
            }
            prop_assert_eq!(document.to_string(), text);
        }
    }
}

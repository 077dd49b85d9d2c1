use proptest::prelude::*;

use super::*;

fn document(text: &str) -> TomlDocument {
    TomlDocument::parse(text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn set(at: &str, json: &str) -> TomlEdit {
    TomlEdit::Set { path: path(at), value: value(json) }
}

fn set_if_absent(at: &str, json: &str) -> TomlEdit {
    TomlEdit::SetIfAbsent { path: path(at), value: value(json) }
}

fn append(at: &str, json: &str) -> TomlEdit {
    TomlEdit::AppendTable { path: path(at), table: value(json).as_object().unwrap().clone() }
}

/// Applies the edit, compares, undoes it, and compares with the original.
#[track_caller]
fn check(before: &str, edit: &TomlEdit, expected: &str) {
    let mut document = document(before);
    let applied = document.apply(edit).unwrap();
    assert_eq!(document.to_string(), expected);
    assert!(applied.changed());
    assert_eq!(document.apply(edit).unwrap(), Applied::AlreadyThere);
    assert_eq!(document.revert(edit, &applied).unwrap(), Reverted::Removed);
    assert_eq!(document.to_string(), before);
    assert_eq!(document.revert(edit, &applied).unwrap(), Reverted::NotThere);
}

#[test]
fn a_missing_table_is_added_at_the_end() {
    check("", &set("features.hooks", "true"), "[features]\nhooks = true\n");
    check("\u{feff}a = 1\r\n", &set("f.h", "true"), "\u{feff}a = 1\r\n\r\n[f]\r\nh = true\r\n");
    check("a = 1", &set("f.h", "true"), "a = 1\n\n[f]\nh = true\n");
    check("a = 1\n\n", &set("f.g.h", "1"), "a = 1\n\n[f.g]\nh = 1\n");
    check("# c\n[f]\na = 1 # one\n", &set("f.g.h", "1"), "# c\n[f]\na = 1 # one\n\n[f.g]\nh = 1\n");
    check("[f.g]\na = 1\n", &set("f.h", "1"), "[f.g]\na = 1\n\n[f]\nh = 1\n");
}

#[test]
fn a_key_is_added_at_the_end_of_its_table() {
    check("[f] # flags\n\n[g]\n", &set("f.h", "true"), "[f] # flags\nh = true\n\n[g]\n");
    check(
        "[f]\r\na = 1 # one\r\n# two\r\n\r\n[g]\r\n",
        &set("f.h", "2"),
        "[f]\r\na = 1 # one\r\nh = 2\r\n# two\r\n\r\n[g]\r\n",
    );
    check("[f]\n  a = [\n    1,\n  ]", &set("f.h", "2"), "[f]\n  a = [\n    1,\n  ]\n  h = 2");
    check("[f]\na = '''\r\nx\ny'''\n[g]\n", &set("f.h", "2"), "[f]\na = '''\r\nx\ny'''\nh = 2\n[g]\n");
    check("a = 1\n\n[g]\n", &set("h", "2"), "a = 1\nh = 2\n\n[g]\n");
}

#[test]
fn the_first_root_key_goes_above_all_tables() {
    check("[g]\nx = 1\n", &set("h", "2"), "h = 2\n\n[g]\nx = 1\n");
    check("# my file\n\n# about g\n[g]\n", &set("h", "2"), "# my file\n\nh = 2\n\n# about g\n[g]\n");
    check("# my file\n", &set("h", "2"), "# my file\nh = 2\n");
    check("# my file", &set("h", "2"), "# my file\nh = 2");
    check("\r\n", &set("h", "2"), "\r\nh = 2\r\n");
}

#[test]
fn a_first_root_key_is_removed_with_its_own_blank_line() {
    let mut document = document("\n# comment\n\n[a]\n");
    let applied = document.apply(&set("h", "1")).unwrap();
    document.revert(&set("h", "1"), &applied).unwrap();
    assert_eq!(document.to_string(), "\n# comment\n\n[a]\n");
}

#[test]
fn inline_and_dotted_tables_are_extended_in_their_own_style() {
    check("f = { a = 1 } # c\n", &set("f.h", "true"), "f = { a = 1, h = true } # c\n");
    check("f = {}\n", &set("f.h", "true"), "f = { h = true }\n");
    check("f = { }\n", &set("f.h.k", "true"), "f = { h = { k = true } }\n");
    check("f = {a.b = 1, c = 2, a.d = 3}", &set("f.h", "true"), "f = {a.b = 1, c = 2, a.d = 3, h = true}");
    check("f.a = 1\nz = 2\n\n[g]\n", &set("f.h", "true"), "f.a = 1\nf.h = true\nz = 2\n\n[g]\n");
    check("[g]\n  f . a = 1\n", &set("g.f.h.k", "true"), "[g]\n  f . a = 1\n  f . h.k = true\n");
    let refused = document("f = { a.b = 1 }").apply(&set("f.a.c", "2"));
    assert_eq!(refused, Err(EditError::Unsafe { path: "f.a.c".into() }));
}

#[test]
fn a_table_is_appended_in_the_style_of_the_list() {
    let edit = append("hooks", r#"{"event": "Stop", "command": "a \"b\" \\c", "timeout": 5}"#);
    let block = "[[hooks]]\nevent = \"Stop\"\ncommand = \"a \\\"b\\\" \\\\c\"\ntimeout = 5\n";
    check("", &edit, block);
    check("a = 1\n", &edit, &format!("a = 1\n\n{block}"));
    check("[[hooks]]\nevent = \"x\"", &edit, &format!("[[hooks]]\nevent = \"x\"\n\n{block}"));
    check("[[hooks]]\n[hooks.sub]\n\n[z]\n\n", &edit, &format!("[[hooks]]\n[hooks.sub]\n\n[z]\n\n{block}"));
    let small = append("a.hooks", r#"{"k": {"l": [1, 2.5, "x", {}]}}"#);
    check("[a]\n", &small, "[a]\n\n[[a.hooks]]\nk = { l = [1, 2.5, \"x\", {}] }\n");
    check("a.b = 1\n", &append("a.h", r#"{"k": 1}"#), "a.b = 1\na.h = [{ k = 1 }]\n");
    check("a = { b = 1 }\n", &append("a.h", r#"{"k": 1}"#), "a = { b = 1, h = [{ k = 1 }] }\n");
    check("[a]\nh = [ ]\n", &append("a.h", r#"{"k": 1}"#), "[a]\nh = [{ k = 1 }]\n");
    check("h = [{ k = 1 }]\n", &append("h", r#"{"k": 2}"#), "h = [{ k = 1 }, { k = 2 }]\n");
    check(
        "h = [\n  { k = 1 }, # one\n  # end\n]\n",
        &append("h", r#"{"k": 2}"#),
        "h = [\n  { k = 1 }, # one\n  { k = 2 },\n  # end\n]\n",
    );
}

#[test]
fn a_replaced_value_is_restored_as_it_was_written() {
    check("a = 0x1F # c\n", &set("a", "true"), "a = true # c\n");
    check("[f]\na = '''\nx'''\nb = 1\n", &set("f.a", "\"y\""), "[f]\na = \"y\"\nb = 1\n");
    check("f = { a = 1.10, b = 2 }", &set("f.a", "[]"), "f = { a = [], b = 2 }");
}

#[test]
fn values_that_exist_are_not_ours() {
    let mut kept = document("a = 1\nt = 2020-01-02\n[[l]]\nx = 1\ny = 'z'\n[f]\n");
    let before = kept.clone();
    assert_eq!(kept.apply(&set_if_absent("a", "2")).unwrap(), Applied::Kept(value("1")));
    assert_eq!(kept.apply(&set_if_absent("f", "2")).unwrap(), Applied::Kept(value("{}")));
    assert_eq!(kept.apply(&set("a", "1")).unwrap(), Applied::AlreadyThere);
    assert_eq!(kept.apply(&append("l", r#"{"y": "z", "x": 1}"#)).unwrap(), Applied::AlreadyThere);
    assert_eq!(kept.to_string(), before.to_string());
    assert_eq!(kept.value(&path("t")), Some(value("\"2020-01-02\"")));
    assert_eq!(kept.value(&path("f.x")), None);
    assert!(kept.holds(&set_if_absent("a", "2")) && !kept.holds(&set("a", "2")));
}

#[test]
fn undoing_keeps_what_others_wrote() {
    let undone = |before: &str, edit: &TomlEdit, change: (&str, &str)| {
        let mut edited = document(before);
        let applied = edited.apply(edit).unwrap();
        let changed = edited.to_string().replace(change.0, change.1);
        assert_ne!(changed, edited.to_string());
        let mut changed = document(&changed);
        assert_eq!(changed.revert(edit, &applied), Ok(Reverted::Removed));
        changed.to_string()
    };
    let hooks = set("f.h", "true");
    assert_eq!(undone("a = 1", &hooks, ("true\n", "true # mine\n")), "a = 1\n# mine\n");
    assert_eq!(undone("a = 1", &hooks, ("true\n", "true\n\n[z]\n")), "a = 1\n\n[z]\n");
    assert_eq!(undone("a = 1\n", &hooks, ("true\n", "true\nx = 1\n")), "a = 1\n\n[f]\nx = 1\n");
    assert_eq!(undone("a = 1\n", &hooks, ("true\n", "true\n[f.g]\n")), "a = 1\n[f.g]\n");
    assert_eq!(undone("a = 1\n", &hooks, ("[f]", "# why\n[f] # flags")), "a = 1\n\n# why\n# flags\n");
    let table = append("l", r#"{"x": 1, "y": 2}"#);
    assert_eq!(undone("a = 1\n", &table, ("y = 2\n", "# note\ny = 2")), "a = 1\n# note");
    assert_eq!(undone("a = 1\n", &table, ("y = 2\n", "y = 2 # two\n\n[z]\n")), "a = 1\n# two\n\n[z]\n");
    assert_eq!(undone("a.b = 1\n", &set("a.c", "2"), ("c = 2", "c = 2 # two")), "a.b = 1\n# two\n");

    let mut changed = document("a = 5\n[[l]]\nx = 1\n[l.sub]\n");
    let undo = Applied::Changed(Undo::default());
    assert_eq!(changed.revert(&set("a", "1"), &undo).unwrap(), Reverted::NotThere);
    assert_eq!(changed.revert(&set("a.b", "1"), &undo).unwrap(), Reverted::NotThere);
    assert_eq!(changed.revert(&append("l", r#"{"x": 1, "sub": {}}"#), &undo).unwrap(), Reverted::NotThere);
}

#[test]
fn an_unfit_place_or_value_is_refused() {
    let cases = [
        ("f = 1\n", set("f.b", "1"), wrong("f", "a table", "a value")),
        ("[[f]]\n", set("f.b", "1"), wrong("f", "a table", "a list of tables")),
        ("[f]\n", append("f", "{}"), wrong("f", "a list of tables", "a table")),
        ("[f]\nx = 1\n", set("f", "1"), wrong("f", "a value", "a table")),
        ("", set("a", "null"), EditError::NotWritable { path: "a".into() }),
        ("", set("a", "[18446744073709551615]"), EditError::NotWritable { path: "a".into() }),
        ("", TomlEdit::Set { path: vec![], value: Value::Null }, EditError::BadPath { path: String::new() }),
    ];
    for (before, edit, expected) in cases {
        let mut document = document(before);
        assert_eq!(document.apply(&edit), Err(expected), "{before}");
        assert_eq!(document.to_string(), before);
    }
}

fn wrong(path: &str, expected: &'static str, found: &'static str) -> EditError {
    EditError::WrongKind { path: path.into(), line: Some(1), expected, found }
}

#[test]
fn strange_keys_and_texts_are_quoted() {
    let odd = TomlEdit::Set { path: vec!["a b".into(), String::new()], value: value(r#""\u0001\u007f\t\n\r\\""#) };
    check("", &odd, "[\"a b\"]\n\"\" = \"\\u0001\\u007F\\t\\n\\r\\\\\"\n");
}

#[test]
fn an_error_has_its_line() {
    let error = TomlDocument::parse("\u{feff}a = 1\r\n[b\r\n").unwrap_err();
    assert_eq!((error.line, error.column), (2, 3), "{error}");
}

#[test]
fn large_texts_are_read_in_one_pass() {
    for before in [
        "# comment\n".repeat(100_000),
        "\n".repeat(1_000_000),
        format!("[f]\n{}", (0..20_000).map(|index| format!("k{index} = [1, 2] # c\n")).collect::<Vec<_>>().concat()),
        format!("[f]\na = [\n{}]\n", "  1, # c\n".repeat(50_000)),
    ] {
        let mut document = document(&before);
        for edit in [set("f.h", "true"), set("top", "1"), append("l", "{}")] {
            let applied = document.apply(&edit).unwrap();
            document.revert(&edit, &applied).unwrap();
            assert!(document.to_string() == before);
        }
    }
    assert!(TomlDocument::parse(&format!("a = {}", "[".repeat(100_000))).is_err());
    assert!(TomlDocument::parse(&format!("{}a = 1", "a.".repeat(100_000))).is_err());
}

/// A document as people write them, made of statements as long as it parses.
fn messy_document() -> impl Strategy<Value = String> {
    let statement = prop::sample::select(vec![
        "a = 1\n",
        "b = \"x # y\" # c\n",
        "  c = 0x1F\n",
        "a.b = 1 # dotted\n",
        "b.c.d = [1, 2]\n",
        "b . d = 3\n",
        "\"a b\" = 1\n",
        "c = { a = 1 }\n",
        "a = {}\n",
        "b = { } # c\n",
        "b = { a.b = 1, c = [] , a.c = 2 }\n",
        "c = [\n  1, # one\n  2,\n]\n",
        "a = [ ]\n",
        "a = [{ k = 1 }]\n",
        "c = [\n  { x = 1 }\n # end\n]\n",
        "d = '''\r\n[a]\nx'''\n",
        "d = \"\"\"\n# not\n\"\"\" # c\n",
        "# comment\n",
        "\n",
        "  \n",
        "[a]\n",
        "[a.b]\n",
        "  [b] # table\n",
        "[b.c.d]\n",
        "[[c]]\n",
        "[[c]] # list\n",
        "[[a.c]]\n",
        "[c.a]\n",
        "[\"a b\"]\n",
    ]);
    (prop::collection::vec(statement, 0..14), any::<bool>()).prop_map(|(statements, closed)| {
        let mut text = String::new();
        for statement in statements {
            if TomlDocument::parse(&format!("{text}{statement}")).is_ok() {
                text.push_str(statement);
            }
        }
        match text.strip_suffix('\n') {
            Some(open) if !closed => open.to_owned(),
            _ => text,
        }
    })
}

fn any_edit() -> impl Strategy<Value = TomlEdit> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "a b", "new"]), 1..4);
    let path = path.prop_map(|keys| keys.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let value = prop::sample::select(vec!["1", "\"y\"", "{\"k\":[1,{}]}", "[]", "{\"x\":1}"]).prop_map(value);
    (path, value, 0..3).prop_map(|(path, value, kind)| match kind {
        0 => TomlEdit::AppendTable { path, table: value.as_object().cloned().unwrap_or_default() },
        1 => TomlEdit::Set { path, value },
        _ => TomlEdit::SetIfAbsent { path, value },
    })
}

/// Applies the edit to a plain value.
fn model(root: &mut Value, edit: &TomlEdit) {
    let mut node = root;
    let (last, parents) = edit.path().split_last().unwrap();
    for key in parents {
        node = node.as_object_mut().unwrap().entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    }
    let object = node.as_object_mut().unwrap();
    match edit {
        TomlEdit::AppendTable { table, .. } => {
            let element = Value::Object(table.clone());
            let elements = object.entry(last.clone()).or_insert_with(|| Value::Array(vec![])).as_array_mut().unwrap();
            if !elements.contains(&element) {
                elements.push(element);
            }
        }
        TomlEdit::Set { value, .. } => drop(object.insert(last.clone(), value.clone())),
        TomlEdit::SetIfAbsent { value, .. } => drop(object.entry(last.clone()).or_insert_with(|| value.clone())),
    }
}

proptest! {
    #[test]
    fn any_text_that_parses_prints_itself(text in "[ \\[\\]{}=.,\"'#a1\n\r\u{feff}]{0,40}") {
        if let Ok(document) = TomlDocument::parse(&text) {
            prop_assert_eq!(document.to_string(), text);
        }
    }

    #[test]
    fn edits_have_their_meaning_and_are_undone_without_a_trace(
        text in messy_document(), edits in prop::collection::vec(any_edit(), 1..5), crlf: bool, mark: bool,
    ) {
        let text = if crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
        let text = if mark { format!("\u{feff}{text}") } else { text };
        let mut document = document(&text);
        prop_assert_eq!(document.to_string(), text.clone());
        let mut expected = document.value(&[]).unwrap();
        let mut done = Vec::new();
        for edit in &edits {
            let before = document.to_string();
            match document.apply(edit) {
                Ok(applied) => {
                    model(&mut expected, edit);
                    done.push((edit, applied));
                }
                Err(EditError::Unsafe { .. }) => {
                    prop_assert!(before.contains("a.c = 2"), "{edit:?}");
                    prop_assert_eq!(document.to_string(), before);
                }
                Err(error) => {
                    prop_assert!(matches!(error, EditError::WrongKind { .. }), "{error}");
                    prop_assert_eq!(document.to_string(), before);
                }
            }
            prop_assert_eq!(document.value(&[]).unwrap(), expected.clone());
        }
        for (edit, applied) in done.iter().rev() {
            let reverted = document.revert(edit, applied).unwrap();
            prop_assert_eq!(reverted == Reverted::Removed, applied.changed());
        }
        prop_assert_eq!(document.to_string(), text);
    }

    #[test]
    fn undoing_does_not_touch_later_changes(text in messy_document(), edit in any_edit(), later in any_edit()) {
        let mut both = document(&text);
        let mut alone = both.clone();
        let Ok(applied) = both.apply(&edit) else { return Ok(()) };
        let fits = |document: &mut TomlDocument| document.apply(&later).is_ok_and(|later| later.changed());
        let apart = edit.path()[0] != later.path()[0] && !matches!(edit, TomlEdit::Set { .. });
        if !(apart && applied.changed() && fits(&mut alone) && fits(&mut both)) {
            return Ok(());
        }
        prop_assert_eq!(both.revert(&edit, &applied), Ok(Reverted::Removed));
        prop_assert_eq!(both.value(&[]), alone.value(&[]));
        let comments = |document: &TomlDocument| document.text.matches('#').count();
        prop_assert_eq!(comments(&both), comments(&alone));
    }
}

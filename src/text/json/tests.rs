use proptest::prelude::*;

use super::*;

const LENIENT: JsonDialect = JsonDialect::CommentsAndTrailingCommas;

fn document(text: &str) -> JsonDocument {
    JsonDocument::parse(text, LENIENT).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn append(at: &str, json: &str) -> JsonEdit {
    JsonEdit::Append { path: path(at), value: value(json) }
}

fn set(at: &str, json: &str) -> JsonEdit {
    JsonEdit::Set { path: path(at), value: value(json) }
}

fn set_if_absent(at: &str, json: &str) -> JsonEdit {
    JsonEdit::SetIfAbsent { path: path(at), value: value(json) }
}

/// Applies the edit, compares, undoes it, and compares with the original.
#[track_caller]
fn check(before: &str, edit: &JsonEdit, expected: &str) {
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
fn a_file_is_made_from_nothing() {
    let expected = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"x\": 1\n      }\n    ]\n  }\n}\n";
    check("", &append("hooks.Stop", r#"{"x":1}"#), expected);
    check(" \n\n", &set("a", "true"), "{\n  \"a\": true\n}\n");
    check("\u{feff}", &set("a", "true"), "\u{feff}{\n  \"a\": true\n}\n");
    check("\r\n", &set("a", "{}"), "{\r\n  \"a\": {}\r\n}\r\n");
    check("// only this", &set("a", "1"), "// only this\n{\n  \"a\": 1\n}");
    check("/* only this */\n", &set("a", "1"), "/* only this */\n{\n  \"a\": 1\n}\n");
}

#[test]
fn an_entry_follows_the_style_around_it() {
    check("{}", &set("a", "1"), "{\n  \"a\": 1\n}");
    check("{ }\n", &set("a", "1"), "{\n  \"a\": 1\n}\n");
    check("{\"b\":1}", &set("a", "[1,2]"), "{\"b\":1,\"a\":[1,2]}");
    check("{ \"b\": 1 }", &set("a", "{\"x\":[1,2]}"), "{ \"b\": 1, \"a\": {\"x\": [1, 2]} }");
    check("{\n\t\"b\": {}\n}", &set("b.a", "1"), "{\n\t\"b\": {\n\t\t\"a\": 1\n\t}\n}");
    check("{\n    \"b\": 1\n}\n", &set("a.c", "1"), "{\n    \"b\": 1,\n    \"a\": {\n        \"c\": 1\n    }\n}\n");
    check("{\r\n  \"b\": []\r\n}\r\n", &append("b", "1"), "{\r\n  \"b\": [\r\n    1\r\n  ]\r\n}\r\n");
    check("{\n  \"b\": [\"x\", \"y\"]\n}", &append("b", "\"z\""), "{\n  \"b\": [\"x\", \"y\", \"z\"]\n}");
    check("{\"b\": {\"c\": []}}", &append("b.c", "1"), "{\"b\": {\"c\": [1]}}");
    check(
        "{\n  \"b\": [{\n    \"x\": 1\n  }]\n}",
        &append("b", "{\"x\":2}"),
        "{\n  \"b\": [{\n    \"x\": 1\n  }, {\n    \"x\": 2\n  }]\n}",
    );
}

#[test]
fn commas_and_comments_keep_their_places() {
    check("{\n  \"b\": 1,\n}", &set("a", "1"), "{\n  \"b\": 1,\n  \"a\": 1,\n}");
    check("{\n  \"b\": 1 // one\n}", &set("a", "1"), "{\n  \"b\": 1, // one\n  \"a\": 1\n}");
    check(
        "{\n  \"b\": 1, /* one */ // more\n  // \"c\": 2\n}",
        &set("a", "1"),
        "{\n  \"b\": 1, /* one */ // more\n  \"a\": 1,\n  // \"c\": 2\n}",
    );
    check("{\"l\": [1 // c\n]}", &append("l", "2"), "{\"l\": [1, // c\n2\n]}");
    check("{\n  // nothing yet\n}\n", &set("a", "1"), "{\n  // nothing yet\n  \"a\": 1\n}\n");
    check("{ /* nothing */ }", &set("a", "1"), "{ /* nothing */ \"a\": 1 }");
    check("{ // nothing\r}", &set("a", "1"), "{ // nothing\n  \"a\": 1\r}");
    check("{\"l\": [1, ]}", &append("l", "2"), "{\"l\": [1, 2, ]}");
}

#[test]
fn a_replaced_value_is_restored_as_it_was_written() {
    check("{\"a\": 1.10, \"b\": 2}", &set("a", "true"), "{\"a\": true, \"b\": 2}");
    check("{\n  \"a\": { // mine\n    \"x\" : 1 }\n}", &set("a", "{\"y\":1}"), "{\n  \"a\": {\n    \"y\": 1\n  }\n}");
}

#[test]
fn values_that_exist_are_not_ours() {
    let mut kept = document("{\"a\": 1, \"l\": [{\"x\": 1, \"y\": 2}]}");
    let before = kept.clone();
    assert_eq!(kept.apply(&set_if_absent("a", "2")).unwrap(), Applied::Kept(value("1")));
    assert_eq!(kept.apply(&set_if_absent("a", "1")).unwrap(), Applied::AlreadyThere);
    assert_eq!(kept.apply(&append("l", r#"{"y": 2, "x": 1}"#)).unwrap(), Applied::AlreadyThere);
    assert_eq!(kept.revert(&set("a", "1"), &Applied::AlreadyThere).unwrap(), Reverted::NotThere);
    assert_eq!(kept, before);
    assert_eq!(kept.value(&path("l")), Some(value(r#"[{"x": 1, "y": 2}]"#)));
    assert_eq!(kept.value(&path("a.b")), None);
}

#[test]
fn undoing_keeps_what_others_added() {
    let mut ours = document("{\n  \"a\": 1\n}\n");
    let edit = append("hooks.Stop", "\"ours\"");
    let applied = ours.apply(&edit).unwrap();
    let edited = ours.to_string().replace("\"ours\"", "\"mine\", // keep\n      \"ours\" // whose?");
    let mut edited = document(&edited);
    assert_eq!(edited.revert(&edit, &applied).unwrap(), Reverted::Removed);
    let expected =
        "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      \"mine\" // keep\n       // whose?\n    ]\n  }\n}\n";
    assert_eq!(edited.to_string(), expected);

    let mut alone = document("");
    let applied = alone.apply(&edit).unwrap();
    let commented = alone.to_string().replace("[\n", "[\n      // mine\n");
    let mut commented = document(&commented);
    commented.revert(&edit, &applied).unwrap();
    assert_eq!(commented.to_string(), "{\n  \"hooks\": {\n    \"Stop\": [\n      // mine\n    ]\n  }\n}\n");

    let mut changed = document("{\"a\": 5}");
    let undo = Applied::Changed(Undo::default());
    assert_eq!(changed.revert(&set("a", "1"), &undo).unwrap(), Reverted::NotThere);
    assert_eq!(changed.revert(&append("a.b", "1"), &undo).unwrap(), Reverted::NotThere);
}

#[test]
fn values_of_others_can_be_removed_by_name_or_kind() {
    let mut file = document("{\n  \"a\": 1, // one\n  \"l\": [1, \"x\", 2, 1], /* list */\n  \"d\": 1,\n  \"d\": 2\n}");
    assert_eq!(file.remove(&path("a.b")), Ok(false));
    assert_eq!(file.remove(&path("none")), Ok(false));
    assert_eq!(file.remove(&path("a")), Ok(true));
    assert_eq!(file.remove_elements(&path("l"), Value::is_number), Ok(vec![value("1"), value("2"), value("1")]));
    assert_eq!(file.remove_elements(&path("none"), |_| true), Ok(vec![]));
    assert_eq!(file.remove(&path("d")), Err(EditError::DuplicateKey { path: "d".into(), line: 4 }));
    assert_eq!(file.to_string(), "{ // one\n  \"l\": [\"x\"], /* list */\n  \"d\": 1,\n  \"d\": 2\n}");
}

#[test]
fn removing_an_entry_between_comments_keeps_its_neighbours() {
    let undo = Applied::Changed(Undo::default());
    for (before, expected) in [
        ("[ // one\n 2 ]", "[ // one\n  ]"),
        ("[1, // one\n 2, 3]", "[1, // one\n  3]"),
        ("[2 /* two */, 3]", "[/* two */ 3]"),
        ("[1 // one\n , 2]", "[1 // one\n ]"),
        ("[2, 3]", "[3]"),
        ("[ 2, 3 ]", "[ 3 ]"),
        ("[2 // two\n]", "[ // two\n]"),
    ] {
        let mut list = document(&format!("{{\"l\": {before}}}"));
        list.revert(&append("l", "2"), &undo).unwrap();
        assert_eq!(list.to_string(), format!("{{\"l\": {expected}}}"));
    }
}

#[test]
fn an_unclear_or_unfit_place_is_refused() {
    let cases = [
        ("{\"a\": {}, \"a\": {}}", set("a.b", "1"), EditError::DuplicateKey { path: "a".into(), line: 1 }),
        ("{\"p\": \"allow\"}", set("p.b", "1"), wrong("p", "an object", "a string")),
        ("{\"p\": {}}", append("p", "1"), wrong("p", "a list", "an object")),
        ("[]", set("p", "1"), wrong("", "an object", "a list")),
        ("{}", JsonEdit::Set { path: vec![], value: Value::Null }, EditError::BadPath { path: String::new() }),
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
fn each_dialect_accepts_exactly_what_it_allows() {
    let accepted = |text| {
        [JsonDialect::Strict, JsonDialect::Comments, LENIENT].map(|dialect| JsonDocument::parse(text, dialect).is_ok())
    };
    assert_eq!(accepted("\u{feff}{\"a\": 1}"), [true, true, true]);
    assert_eq!(accepted("{\"a\": 1} // c"), [false, true, true]);
    assert_eq!(accepted("{\"a\": 1,}"), [false, false, true]);
    for wrong in ["{a: 1}", "{'a': 1}", "[1 2]", "[0x1]", "[+1]", "[.5]", "[NaN]", "{} {}", "{", "[\"\\x41\"]"] {
        assert_eq!(accepted(wrong), [false, false, false], "{wrong}");
    }
    let error = JsonDocument::parse("\u{feff}{\r\n  \"ä\": x\r\n}", LENIENT).unwrap_err();
    assert_eq!((error.line, error.column, error.message.as_str()), (2, 8, "unexpected word"));
}

#[test]
fn edits_and_their_results_can_be_stored() {
    let edit = append("hooks.Stop", "{\"a\":1}");
    let mut document = document("{ }");
    let applied = document.apply(&edit).unwrap();
    let kept = serde_json::to_string(&(&edit, &applied)).unwrap();
    let read: (JsonEdit, Applied) = serde_json::from_str(&kept).unwrap();
    assert_eq!(read, (edit, applied));
}

#[test]
fn large_and_deep_texts_are_read_in_one_pass() {
    let wide = format!("{{\"l\": [{}0]}}", "{\"k\": [1, 2]}, // c\n".repeat(50_000));
    check_round(&wide, &append("l", "1"));
    let lines = format!("{{\"l\": [1{}]}}", " // c\n".repeat(100_000));
    check_round(&lines, &append("l", "2"));
    let blank = format!("{{\"l\": [{}]}}", " \n".repeat(400_000));
    check_round(&blank, &append("l", "2"));
    assert!(JsonDocument::parse(&"[".repeat(1_000_000), LENIENT).is_err());
    assert!(JsonDocument::parse(&"{\"a\":".repeat(300_000), LENIENT).is_err());
}

fn check_round(before: &str, edit: &JsonEdit) {
    let mut document = document(before);
    let applied = document.apply(edit).unwrap();
    document.revert(edit, &applied).unwrap();
    assert!(document.to_string() == before);
}

/// A document as people write them: any layout, comments, trailing commas, keys from a small alphabet.
fn messy_document() -> impl Strategy<Value = String> {
    let blank = prop_oneof![
        6 => Just(String::new()),
        4 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\n\n\t".to_owned()),
        1 => Just(" // c, ] }\n".to_owned()),
        1 => Just("\n  // own line \"\n  ".to_owned()),
        1 => Just(" /* { , \n */ ".to_owned()),
        1 => Just("/*/ \"*/".to_owned()),
    ];
    let scalar = prop_oneof![
        Just("1"),
        Just("2"),
        Just("1.10"),
        Just("true"),
        Just("null"),
        Just("\"x\""),
        Just("\"// \\\" ,\""),
        Just("12345678901234567890123"),
    ]
    .prop_map(str::to_owned);
    let gap = blank.clone().boxed();
    let value = scalar.prop_recursive(3, 24, 4, move |inner| {
        let entry = (gap.clone(), inner, gap.clone());
        let list = (prop::collection::vec(entry.clone(), 0..4), gap.clone(), any::<bool>());
        let keyed = (prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..4), prop::collection::vec(entry, 4));
        prop_oneof![
            list.prop_map(|(entries, blank, trailing)| {
                let entries = entries.into_iter().map(|(before, value, after)| format!("{before}{value}{after}"));
                between("[", &entries.collect::<Vec<_>>(), &blank, trailing, "]")
            }),
            (keyed, gap.clone(), any::<bool>()).prop_map(|((keys, values), blank, trailing)| {
                let entries = keys.into_iter().zip(values);
                let entries = entries.map(|(key, (before, value, after))| format!("{before}\"{key}\":{after}{value}"));
                between("{", &entries.collect::<Vec<_>>(), &blank, trailing, "}")
            }),
        ]
    });
    (blank.clone(), prop::collection::vec((prop::sample::select(vec!["a", "b", "c"]), value), 0..4), blank).prop_map(
        |(before, members, after)| {
            let mut seen = std::collections::BTreeSet::new();
            let members = members.into_iter().filter(|(key, _)| seen.insert(*key));
            let members = members.map(|(key, value)| format!("{before}\"{key}\": {value}"));
            between(&format!("{before}{{"), &members.collect::<Vec<_>>(), &after, false, "}") + &after
        },
    )
}

fn between(open: &str, entries: &[String], blank: &str, trailing: bool, close: &str) -> String {
    let trailing = if trailing && !entries.is_empty() { "," } else { "" };
    format!("{open}{}{trailing}{blank}{close}", entries.join(","))
}

fn any_edit() -> impl Strategy<Value = JsonEdit> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "new"]), 1..4);
    let path = path.prop_map(|keys| keys.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let value = prop::sample::select(vec!["1", "\"y\"", "{\"k\":[1,{}]}", "[]", "\"// \\n\""]).prop_map(value);
    (path, value, 0..3).prop_map(|(path, value, kind)| match kind {
        0 => JsonEdit::Append { path, value },
        1 => JsonEdit::Set { path, value },
        _ => JsonEdit::SetIfAbsent { path, value },
    })
}

/// Applies the edit to a plain value.
fn model(root: &mut Value, edit: &JsonEdit) {
    let mut node = root;
    let (last, parents) = edit.path().split_last().unwrap();
    for key in parents {
        node = node.as_object_mut().unwrap().entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    }
    let object = node.as_object_mut().unwrap();
    match edit {
        JsonEdit::Append { value, .. } => {
            let elements = object.entry(last.clone()).or_insert_with(|| Value::Array(vec![])).as_array_mut().unwrap();
            if !elements.contains(value) {
                elements.push(value.clone());
            }
        }
        JsonEdit::Set { value, .. } => drop(object.insert(last.clone(), value.clone())),
        JsonEdit::SetIfAbsent { value, .. } => drop(object.entry(last.clone()).or_insert_with(|| value.clone())),
    }
}

/// Every comment of the text, in order. Strings of the generated documents contain `//` only after a quote.
fn comments(text: &str) -> Vec<String> {
    let options = CollectOptions { comments: jsonc_parser::CommentCollectionStrategy::Separate, tokens: false };
    let parsed = parse_to_ast(text, &options, &ParseOptions::default()).unwrap();
    let mut found: Vec<(usize, String)> = parsed
        .comments
        .unwrap()
        .values()
        .flat_map(|group| group.iter().map(|comment| (comment.start(), comment.text().to_owned())))
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, text)| text).collect()
}

fn line_endings(text: String, crlf: bool, mark: bool) -> String {
    let text = if crlf { text.replace('\n', "\r\n") } else { text };
    if mark { format!("\u{feff}{text}") } else { text }
}

proptest! {
    #[test]
    fn any_text_that_parses_prints_itself(text in "[ \\[\\]{}:,\"/*\\\\a1\\n\r\u{feff}]{0,40}") {
        if let Ok(document) = JsonDocument::parse(&text, LENIENT) {
            prop_assert_eq!(document.to_string(), text);
        }
    }

    #[test]
    fn edits_have_their_meaning_and_are_undone_without_a_trace(
        text in messy_document(), edits in prop::collection::vec(any_edit(), 1..5), crlf: bool, mark: bool,
    ) {
        let text = line_endings(text, crlf, mark);
        let mut document = document(&text);
        prop_assert_eq!(document.to_string(), text.clone());
        let mut kept = comments(&document.text);
        let mut expected = document.value(&[]).unwrap();
        let mut done = Vec::new();
        for edit in &edits {
            let before = document.to_string();
            let replaces = matches!(edit, JsonEdit::Set { .. }) && document.value(edit.path()).is_some();
            match document.apply(edit) {
                Ok(applied) => {
                    model(&mut expected, edit);
                    if !replaces {
                        prop_assert_eq!(comments(&document.text), kept.clone());
                    }
                    kept = comments(&document.text);
                    done.push((edit, applied));
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
        let fits = |document: &mut JsonDocument| document.apply(&later).is_ok_and(|later| later.changed());
        let apart = edit.path()[0] != later.path()[0] && !matches!(edit, JsonEdit::Set { .. });
        if !(apart && applied.changed() && fits(&mut alone) && fits(&mut both)) {
            return Ok(());
        }
        both.revert(&edit, &applied).unwrap();
        prop_assert_eq!(both.value(&[]), alone.value(&[]));
        prop_assert_eq!(comments(&both.text), comments(&alone.text));
    }
}

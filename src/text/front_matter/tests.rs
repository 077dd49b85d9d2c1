use proptest::prelude::*;

use super::*;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn get(source: &str, path: &[&str]) -> Option<Value> {
    FrontMatter::parse(source).unwrap().get_path(path)
}

#[test]
fn values_are_read_as_people_write_them() {
    let source = "---\nphase: 01-foundation\nwave: 1 # first\nquoted: \"a: b\"\nlist: [a, 'b, c', \"d\"]\nempty:\nnone: []\n\
        block:\n  - x\n  - path: src/a.ts\n    exports: [foo]\n    provides: A: module\nmap:\n  a: 1\n  b:\n    c: d\n\
        flush:\n- one\n- two\ntext: |\n  line 1\n  line 2\nurl: http://x.y/z#frag\n---\nbody\n";
    assert_eq!(get(source, &["phase"]), Some(text("01-foundation")));
    assert_eq!(get(source, &["wave"]), Some(text("1")));
    assert_eq!(get(source, &["quoted"]), Some(text("a: b")));
    assert_eq!(get(source, &["list"]), Some(Value::List(vec![text("a"), text("b, c"), text("d")])));
    assert_eq!(get(source, &["empty"]), Some(Value::Empty));
    assert_eq!(get(source, &["none"]), Some(Value::List(vec![])));
    let Some(Value::List(items)) = get(source, &["block"]) else { panic!() };
    assert_eq!(items[0], text("x"));
    assert_eq!(items[1].get("exports"), Some(&Value::List(vec![text("foo")])));
    assert_eq!(items[1].get("provides"), Some(&text("A: module")));
    assert_eq!(get(source, &["map", "b", "c"]), Some(text("d")));
    assert_eq!(get(source, &["flush"]), Some(Value::List(vec![text("one"), text("two")])));
    assert_eq!(get(source, &["text"]), Some(text("line 1\nline 2\n")));
    assert_eq!(get(source, &["url"]), Some(text("http://x.y/z#frag")));
    assert_eq!(FrontMatter::parse(source).unwrap().body(), "body\n");
}

#[test]
fn an_unclosed_block_is_no_front_matter() {
    assert!(FrontMatter::parse("---\na: 1\n").is_none());
    assert!(FrontMatter::parse("a: 1\n---\n").is_none());
}

#[test]
fn a_key_is_set_without_touching_its_neighbours() {
    let source = "\u{feff}---\r\n# about\r\na:   1   # one\r\nb: [x,y]\r\nc:\r\n  - 1\r\n\r\n# tail\r\n---\r\nbody";
    let front = FrontMatter::parse(source).unwrap();
    assert_eq!(front.with("a", &text("1")), source, "the same value keeps its bytes");
    assert_eq!(front.with("b", &text("2")), source.replace("b: [x,y]", "b: 2"));
    assert_eq!(front.with("c", &Value::List(vec![text("z")])), source.replace("c:\r\n  - 1\r\n", "c: [z]\r\n"));
    assert_eq!(front.with("d", &text("x: y")), source.replace("# tail\r\n---", "# tail\r\nd: \"x: y\"\r\n---"));
}

#[test]
fn a_comment_behind_a_value_stays() {
    let with = |source: &str, value: Value| {
        let source = format!("---\n{source}\nb: 2\n---\n");
        FrontMatter::parse(&source).unwrap().with("a", &value).lines().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(with("a:   1   # why", text("2")), "a:   2   # why");
    assert_eq!(with("a: 'it''s # x' # it's", text("2")), "a: 2 # it's");
    assert_eq!(with("a: [x, y] # why", Value::List(vec![text("z")])), "a: [z] # why");
    assert_eq!(with("a:", text("2")), "a: 2");
    assert_eq!(with("a: x#y", text("2")), "a: 2");
    assert_eq!(with("\"a\": x", text("2")), "\"a\": 2");
}

#[test]
fn an_apostrophe_in_a_comment_or_a_word_opens_nothing() {
    let source = "---\na: \"x\" # it's\n  # more\nb: [it's, y]\nc: z\n---\n";
    assert_eq!(get(source, &["a"]), Some(text("x")));
    assert_eq!(get(source, &["b"]), Some(Value::List(vec![text("it's"), text("y")])));
    assert_eq!(FrontMatter::parse(source).unwrap().problem(), None);
}

#[test]
fn block_scalars_keep_their_last_line_end_unless_told_not_to() {
    let source = "---\nlit: |\n  a\n   b\n\n  c\nstrip: |-\n  a\nfold: >\n  a\n  b\n\n  c\nend: x\n---\n";
    assert_eq!(get(source, &["lit"]), Some(text("a\n b\n\nc\n")));
    assert_eq!(get(source, &["strip"]), Some(text("a")));
    assert_eq!(get(source, &["fold"]), Some(text("a b\nc\n")));
    assert_eq!(get(source, &["end"]), Some(text("x")));
}

#[test]
fn lists_within_lists_are_read_and_told_in_one_line() {
    let source = "---\na:\n  - - x\n    - y\n  - b:\n      c: d\n    e: f\n  -\n  - {z: 1}\n  - [p, q]\n---\n";
    let value = get(source, &["a"]).unwrap();
    assert_eq!(value.items()[0], Value::List(vec![text("x"), text("y")]));
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"["[x, y]","b: c: d, e: f","","z: 1","[p, q]"]"#);
    assert_eq!(serde_json::to_string(&Value::Empty).unwrap(), "{}");
    assert_eq!(serde_json::to_string(&Value::Map(vec![("k".into(), value)])).unwrap().matches('"').count(), 12);
}

#[test]
fn what_a_stricter_reader_would_stumble_over_is_told() {
    let problem = |inside: &str| FrontMatter::parse(&format!("---\n{inside}\n---\n")).unwrap().problem();
    for sound in
        ["a: b: c", "a:\n- x\n  - y", "a: [x,\n  y\n]", "# c\n\na: 1\n  b\n# d", "a: \"x\n  y\"", "a: |\n  [", ""]
    {
        assert_eq!(problem(sound), None, "{sound}");
    }
    assert_eq!(problem("b: 1\na: [x").map(|problem| problem.line), Some(3));
    assert_eq!(problem("a: \"x").map(|problem| problem.line), Some(2));
    assert_eq!(problem("a: 1\njust text").map(|problem| problem.line), Some(3));
    assert_eq!(problem("- x\na: 1").map(|problem| problem.line), Some(2));
    assert!(is_unclosed("---\na: 1\n# T\n") && !is_unclosed("# T\n---\n") && !is_unclosed("---\n---\n"));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof!["[ -~é🚀\n]{0,12}".prop_map(Value::Text), Just(Value::List(Vec::new()))];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(prop_oneof![inner.clone(), Just(Value::Empty)], 1..4).prop_map(Value::List),
            prop::collection::btree_map("[a-z]{1,3}( [:#-][a-z])?", inner, 1..4)
                .prop_map(|entries| Value::Map(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_set_is_read_back_and_nothing_else_changes(
        head in "(k[0-9]: [ -~]{0,10}\n|  - [a-z: ]{0,6}\n|#[a-z]{0,4}\n|\n){0,6}",
        value in "[ -~é🚀]{0,20}",
    ) {
        let source = format!("---\n{head}---\nbody\n");
        let Some(front) = FrontMatter::parse(&source) else { return Ok(()) };
        prop_assume!(front.body() == "body\n");
        let edited = front.with("new", &Value::Text(value.clone()));
        let after = FrontMatter::parse(&edited).unwrap();
        prop_assert_eq!(after.get("new"), Some(Value::Text(value)));
        let start = format!("---\n{head}");
        prop_assert!(edited.starts_with(&start));
        prop_assert!(edited.ends_with("---\nbody\n"));
    }

    #[test]
    fn any_text_is_read(source in "---\n(\\PC{0,10}|[-\\[{\"'|>:# a]{0,12})(\n[-\\[{\"'|>:# a]{0,12}){0,8}\n---\n") {
        if let Some(front) = FrontMatter::parse(&source) {
            let _ = front.entries();
        }
    }

    #[test]
    fn any_value_is_read_back_as_it_was_set(value in values(), old in values(), newline in "\r?\n") {
        let source = ["---", "a: 1", "# c", "z: [x]", "---", "body"].join(&newline);
        let first = FrontMatter::parse(&source).unwrap().with("k", &old);
        let edited = FrontMatter::parse(&first).unwrap().with("k", &value);
        let front = FrontMatter::parse(&edited).unwrap();
        prop_assert_eq!(front.get("k"), Some(value), "{}", edited);
        prop_assert_eq!(front.keys().collect::<Vec<_>>(), ["a", "z", "k"]);
        prop_assert!(edited.starts_with(&["---", "a: 1", "# c", "z: [x]", "k:"].join(&newline)));
        prop_assert_eq!(front.body(), "body");
    }
}

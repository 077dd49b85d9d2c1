use proptest::prelude::*;

use super::*;
use crate::text::markdown::newline_of;

fn text(value: &str) -> Value {
    Value::from(value)
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| text(item)).collect())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn get(source: &str, path: &[&str]) -> Option<Value> {
    FrontMatter::parse(source).unwrap().get_path(path)
}

/// The value of `a` in a front matter with these lines.
fn value_of(lines: &str) -> Value {
    get(&format!("---\n{lines}\nlast: 1\n---\n"), &["a"]).unwrap()
}

/// Sets the value at `path` in the front matter of `text`, which is made if it is missing. Refused if the value would
/// not be read back, because stray lines below it would become a part of it.
fn write(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let mut splices = Splices::default();
    if let Some(front_matter) = FrontMatter::parse(text) {
        front_matter.set_path(path, value, &mut splices)?;
        let edited = splices.apply(text);
        let read = FrontMatter::parse(&edited).and_then(|edited| edited.get_path(path));
        return if read.as_ref() == Some(value) { Ok(edited) } else { Err(EditError::Unsafe { path: path.join(".") }) };
    }
    let Some((first, rest)) = path.split_first() else {
        return Err(EditError::BadPath { path: String::new() });
    };
    let newline = newline_of(text);
    let (bare, mark) = without_mark(text);
    let gap = if bare.is_empty() || bare.starts_with(['\n', '\r']) { "" } else { newline };
    splices.insert(mark, compose(&[((*first).to_owned(), nested(rest, value))], gap, newline));
    Ok(splices.apply(text))
}

#[test]
fn values_are_read_as_people_write_them() {
    let source = "---\nphase: 01-foundation\nwave: 1 # first\nquoted: \"a: b\"\nlist: [a, 'b, c', \"d\"]\nempty:\nnone: []\n\
        block:\n  - x\n  - path: src/a.ts\n    exports: [foo]\n    provides: A: module\nmap:\n  a: 1\n  b:\n    c: d\n\
        flush:\n- one\n- two\ntext: |\n  line 1\n  line 2\nurl: http://x.y/z#frag\n---\nbody\n";
    assert_eq!(get(source, &["phase"]), Some(text("01-foundation")));
    assert_eq!(get(source, &["wave"]), Some(text("1")));
    assert_eq!(get(source, &["quoted"]), Some(text("a: b")));
    assert_eq!(get(source, &["list"]), Some(list(&["a", "b, c", "d"])));
    assert_eq!(get(source, &["empty"]), Some(Value::Empty));
    assert_eq!(get(source, &["none"]), Some(Value::List(vec![])));
    let Some(Value::List(items)) = get(source, &["block"]) else { panic!() };
    assert_eq!(items[0], text("x"));
    assert_eq!(items[1].get("exports"), Some(&list(&["foo"])));
    assert_eq!(items[1].get("provides"), Some(&text("A: module")));
    assert_eq!(get(source, &["map", "b", "c"]), Some(text("d")));
    assert_eq!(get(source, &["flush"]), Some(list(&["one", "two"])));
    assert_eq!(get(source, &["text"]), Some(text("line 1\nline 2\n")));
    assert_eq!(get(source, &["url"]), Some(text("http://x.y/z#frag")));
    let front = FrontMatter::parse(source).unwrap();
    assert_eq!(front.body(), "body\n");
    assert_eq!(front.problems(), []);
    assert_eq!(front.text("empty"), None);
}

#[test]
fn scalars_end_where_comments_begin() {
    assert_eq!(value_of("a: one two  # three"), text("one two"));
    assert_eq!(value_of("a: 'it''s' # c"), text("it's"));
    assert_eq!(value_of("a: \"x \\\" \\\\ \\u00e9 \\x41 \\U0001f680 \\q\" # c"), text("x \" \\ é A 🚀 q"));
    assert_eq!(value_of("a: \"x\" and more"), text("\"x\" and more"));
    assert_eq!(value_of("a: \"open"), text("\"open"));
    assert_eq!(value_of("a: [phase] [--flag] # c"), text("[phase] [--flag]"));
    assert_eq!(value_of("a: [open, x"), text("[open, x"));
    assert_eq!(value_of("a: a#b"), text("a#b"));
    assert_eq!(value_of("a: # only"), Value::Empty);
    assert_eq!(value_of("a: null"), text("null"));
    assert_eq!(value_of("a: first\n  second # c\n  # c\n  third"), text("first second third"));
    assert_eq!(value_of("a: \"first\n  second # no\n\n  third\""), text("first second # no third"));
    assert_eq!(value_of("a: - not a list"), text("- not a list"));
}

#[test]
fn inline_lists_and_maps_nest_and_span_lines() {
    assert_eq!(value_of("a: [ ]"), list(&[]));
    assert_eq!(value_of("a: {}"), map(&[]));
    assert_eq!(value_of("a: [x, [y, 'z'], {k: v, l: }, q: r,]"), {
        let inner = map(&[("k", text("v")), ("l", Value::Empty)]);
        Value::List(vec![text("x"), list(&["y", "z"]), inner, text("q: r")])
    });
    assert_eq!(value_of("a: [\n  x, # one\n  y\n]"), list(&["x", "y"]));
    assert_eq!(value_of("a: {\"k\": http://x, l: [1]}"), map(&[("k", text("http://x")), ("l", list(&["1"]))]));
    assert_eq!(value_of("a: {k}"), text("{k}"));
}

#[test]
fn blocks_nest_by_indentation() {
    assert_eq!(value_of("a:\n  - - x\n    - y\n  -\n    - z\n  -"), {
        Value::List(vec![list(&["x", "y"]), list(&["z"]), Value::Empty])
    });
    assert_eq!(value_of("a:\n  - k:\n    - x\n    l: 1"), {
        Value::List(vec![map(&[("k", list(&["x"])), ("l", text("1"))])])
    });
    assert_eq!(value_of("a:\n    k: 1\n    # c\n\n    l:\n      m: 2"), {
        map(&[("k", text("1")), ("l", map(&[("m", text("2"))]))])
    });
    assert_eq!(value_of("a:\n  - Use this: simple\n  - \"x: y\"\n  - http://z"), {
        Value::List(vec![map(&[("Use this", text("simple"))]), text("x: y"), text("http://z")])
    });
    assert_eq!(value_of("a:\n  - first: part\n    and more words"), {
        Value::List(vec![map(&[("first", text("part"))])]);
        Value::List(vec![text("first: part and more words")])
    });
    assert_eq!(value_of("a:\n  some words\n  and more"), text("some words and more"));
    assert_eq!(value_of("a: |-\n  x # y\n    z\n\n  - w\n\n"), text("x # y\n  z\n\n- w"));
    assert_eq!(value_of("a: >\n  one\n  two\n\n  three"), text("one two\nthree\n"));
    assert_eq!(value_of("a: >other"), text(">other"));
    assert_eq!(value_of("a:\n  # nothing"), Value::Empty);
}

#[test]
fn places_that_a_stricter_reader_rejects_are_reported_by_line() {
    let source =
        "---\n<<<<<<< HEAD\na: 1\n=======\na: &x 2\n>>>>>>> other\n  in: 3\n- item: 4\nb: *x\nc: [1,\n  2\n---\n";
    let front = FrontMatter::parse(source).unwrap();
    let stray = "a line that is not `key: value`";
    let expected = [
        (2, stray),
        (4, stray),
        (5, "a duplicate key"),
        (5, "an anchor or alias"),
        (6, stray),
        (7, stray),
        (8, stray),
        (9, "an anchor or alias"),
        (10, "a bracket or quote that stays open"),
    ];
    let problems: Vec<_> = front.problems().iter().map(|problem| (problem.line, problem.what)).collect();
    assert_eq!(problems, expected);
    assert_eq!(front.problem(), front.problems().first().copied());
    assert_eq!(front.get("a"), Some(text("&x 2")));
    assert_eq!(front.keys().collect::<Vec<_>>(), ["a", "a", "b", "c"]);
}

#[test]
fn text_that_people_write_is_not_a_problem() {
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

#[test]
fn a_comment_after_a_value_stays() {
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
fn block_scalars_keep_their_last_line_end_unless_the_header_says_otherwise() {
    let source = "---\nlit: |\n  a\n   b\n\n  c\nstrip: |-\n  a\nfold: >\n  a\n  b\n\n  c\nend: x\n---\n";
    assert_eq!(get(source, &["lit"]), Some(text("a\n b\n\nc\n")));
    assert_eq!(get(source, &["strip"]), Some(text("a")));
    assert_eq!(get(source, &["fold"]), Some(text("a b\nc\n")));
    assert_eq!(get(source, &["end"]), Some(text("x")));
}

#[test]
fn nested_lists_are_read_and_shown_in_one_line() {
    let source = "---\na:\n  - - x\n    - y\n  - b:\n      c: d\n    e: f\n  -\n  - {z: 1}\n  - [p, q]\n---\n";
    let value = get(source, &["a"]).unwrap();
    assert_eq!(value.items()[0], Value::List(vec![text("x"), text("y")]));
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"["[x, y]","b: c: d, e: f","","z: 1","[p, q]"]"#);
    assert_eq!(serde_json::to_string(&Value::Empty).unwrap(), "{}");
    assert_eq!(serde_json::to_string(&Value::Map(vec![("k".into(), value)])).unwrap().matches('"').count(), 12);
}

#[test]
fn an_unclosed_block_is_not_front_matter() {
    assert!(FrontMatter::parse("---\na: 1\n").is_none());
    assert!(FrontMatter::parse("a: 1\n---\n").is_none());
    assert!(FrontMatter::parse("").is_none());
    assert_eq!(FrontMatter::parse("---\n---").unwrap().body(), "");
}

#[test]
fn values_are_serialized_as_strings_only() {
    let source = "---\nmust:\n  wave: 1\n  none:\n  artifacts:\n    - path: \"src/a.ts\"\n      exports: [\"foo\"]\n\
        \x20     v:\n        - kind: unit\n          ref: x\n    -\n---\n";
    let strings = serde_json::to_string(&get(source, &["must"]).unwrap()).unwrap();
    let artifact = "path: src/a.ts, exports: [foo], v: [kind: unit, ref: x]";
    assert_eq!(strings, format!(r#"{{"wave":"1","none":{{}},"artifacts":["{artifact}",""]}}"#));
}

#[test]
fn a_key_is_set_without_touching_its_neighbours() {
    let source = "\u{feff}---\r\n# about\r\na:   1   # one\r\nb: [x,y]\r\nc:\r\n  - 1\r\n\r\n# tail\r\n---\r\nbody";
    let front = FrontMatter::parse(source).unwrap();
    assert_eq!(front.with("a", &text("1")), source, "the same value keeps its bytes");
    assert_eq!(front.with("a", &text("2")), source.replace("a:   1   #", "a:   2   #"));
    assert_eq!(front.with("a", &list(&["- x"; 4])), {
        let item = "  - \"- x\"\r\n";
        source.replace("a:   1   # one\r\n", &format!("a:   # one\r\n{}", item.repeat(4)))
    });
    assert_eq!(front.with("b", &text("2")), source.replace("b: [x,y]", "b: 2"));
    assert_eq!(front.with("b", &Value::Empty), source.replace("b: [x,y]", "b:"));
    assert_eq!(front.with("c", &list(&["z"])), source.replace("c:\r\n  - 1\r\n", "c: [z]\r\n"));
    assert_eq!(front.with("d", &text("x: y")), source.replace("# tail\r\n---", "# tail\r\nd: \"x: y\"\r\n---"));
}

#[test]
fn keys_are_inserted_at_the_wanted_place_and_removed_with_their_lines() {
    let source = "---\na: 1\nb:\n  - x\n\n# about c\nc: |\n  text\n---\n";
    let front = FrontMatter::parse(source).unwrap();
    let edited = |edit: &dyn Fn(&mut Splices)| {
        let mut splices = Splices::default();
        edit(&mut splices);
        splices.apply(source)
    };
    assert_eq!(
        edited(&|splices| front.set_after("b", "d", &text("2"), splices)),
        source.replace("- x\n", "- x\nd: 2\n")
    );
    assert_eq!(
        edited(&|splices| front.set_after("z", "d", &text("2"), splices)),
        source.replace("text\n", "text\nd: 2\n")
    );
    assert_eq!(edited(&|splices| front.set_after("b", "a", &text("2"), splices)), source.replace("a: 1", "a: 2"));
    assert_eq!(edited(&|splices| front.remove("b", splices)), source.replace("b:\n  - x\n", ""));
    assert_eq!(edited(&|splices| front.remove("c", splices)), source.replace("c: |\n  text\n", ""));
    assert_eq!(edited(&|splices| front.remove("z", splices)), source);
}

#[test]
fn nested_keys_are_set_in_their_map() {
    let source = "---\nprogress:\n    total: 1 # all\n    deep:\n      x: 1\nflow: {a: 1}\nnone: # yet\nword: w\n---\n";
    let written = |path: &[&str], value: &str| write(source, path, &text(value));
    assert_eq!(written(&["progress", "total"], "2").unwrap(), source.replace("total: 1", "total: 2"));
    assert_eq!(written(&["progress", "total"], "1").unwrap(), source);
    assert_eq!(written(&["progress", "percent"], "60").unwrap(), source.replace("x: 1\n", "x: 1\n    percent: 60\n"));
    assert_eq!(written(&["progress", "deep", "y"], "2").unwrap(), source.replace("x: 1\n", "x: 1\n      y: 2\n"));
    assert_eq!(written(&["flow", "b"], "2").unwrap(), source.replace("flow: {a: 1}", "flow:\n  a: 1\n  b: 2"));
    assert_eq!(written(&["none", "k"], "v").unwrap(), source.replace("none: # yet\n", "none: # yet\n  k: v\n"));
    assert_eq!(written(&["new", "k"], "v").unwrap(), source.replace("word: w\n", "word: w\nnew:\n  k: v\n"));
    let refused = EditError::WrongKind { path: "word".into(), line: None, expected: "a map", found: "a text" };
    assert_eq!(written(&["word", "k"], "v"), Err(refused));
    assert_eq!(written(&[], "v"), Err(EditError::BadPath { path: String::new() }));
}

#[test]
fn a_missing_front_matter_is_made() {
    let written = |source: &str| write(source, &["x"], &text("1")).unwrap();
    assert_eq!(written("# Title\n"), "---\nx: 1\n---\n\n# Title\n");
    assert_eq!(written("\u{feff}# Title\r\n"), "\u{feff}---\r\nx: 1\r\n---\r\n\r\n# Title\r\n");
    assert_eq!(written(""), "---\nx: 1\n---\n");
    assert_eq!(written("\ntext"), "---\nx: 1\n---\n\ntext");
    assert_eq!(written("---\nopen\n"), "---\nx: 1\n---\n\n---\nopen\n");
}

#[test]
fn a_number_after_a_hash_is_text() {
    let texts =
        ["PR #152 ready; PR #114 next", "#7", "2026-09-01 #27", "asked in #general", "see (#3) and #4", "a #1 b #2"];
    for value in texts {
        for comment in ["", " # a note", "  # see #9"] {
            let source = format!("---\nbefore: 1\nk: {value}{comment}\nafter: 2\n---\n");
            assert_eq!(get(&source, &["k"]), Some(text(value)), "{source}");
            let after = write(&source, &["k"], &text("Probe")).unwrap();
            assert_eq!(after, source.replace(value, "Probe"), "{source}");
            let other = write(&source, &["after"], &text("3")).unwrap();
            assert_eq!(other, source.replace("after: 2", "after: 3"), "{source}");
        }
        let listed = format!("---\nk: [{value}, x]\nl:\n  - {value}\nm:\n  n: {value}\n---\n");
        assert_eq!(get(&listed, &["k"]), Some(list(&[value, "x"])), "{listed}");
        assert_eq!(get(&listed, &["l"]), Some(list(&[value])), "{listed}");
        assert_eq!(get(&listed, &["m", "n"]), Some(text(value)), "{listed}");
    }
    for (line, value) in
        [("2 # next", "2"), ("true #set by hand", "true"), ("\"a\" #2", "a"), ("[a] # b", "[a]"), ("x\t# y", "x")]
    {
        let read = get(&format!("---\nk: {line}\n---\n"), &["k"]).unwrap();
        assert_eq!(read.flat(), value, "{line}");
    }
    assert_eq!(get("---\nk: # a note\n---\n", &["k"]), Some(Value::Empty));
}

#[test]
fn values_are_written_in_the_shortest_safe_form() {
    let printed = |value: Value| {
        let whole = compose(&[("k".to_owned(), value)], "", "\n");
        whole["---\n".len()..whole.len() - "---\n".len()].to_owned()
    };
    for plain in ["v1.0", "2026-01-12 -- done", "01", "true", "x, y", "it's", "a [b]"] {
        assert_eq!(printed(text(plain)), format!("k: {plain}\n"));
    }
    for quoted in ["", "1.0", "2.10", "1e5", "a: b", "a #b", "- x", "[x]", " x", "x ", "🚀", "@x", "*x", "# x"] {
        assert_eq!(printed(text(quoted)), format!("k: \"{quoted}\"\n"));
    }
    assert_eq!(printed(text("a\"\n\\\u{7}")), "k: \"a\\\"\\n\\\\\\u0007\"\n");
    assert_eq!(printed(list(&["a", "b, c", "d"])), "k: [a, \"b, c\", d]\n");
    assert_eq!(printed(list(&["a", "b", "c", "d"])), "k:\n  - a\n  - b\n  - c\n  - d\n");
    assert_eq!(printed(list(&["x".repeat(60).as_str()])), format!("k:\n  - {}\n", "x".repeat(60)));
    let nested = map(&[("a: b", map(&[])), ("c", Value::List(vec![map(&[("d", text("1")), ("e", list(&["f"]))])]))]);
    assert_eq!(printed(nested), "k:\n  \"a: b\": {}\n  c:\n    - d: 1\n      e: [f]\n");
}

#[test]
fn large_front_matters_are_read_in_one_pass() {
    for line in
        ["a: 1\n", "# c\n", "\n", "- x\n", "  - x\n", "a: [\n", "a: \"\n", "x\n", "a:\n", " b: |\n", "- - - - - -\n"]
    {
        let source = format!("---\na:\n{}---\n", line.repeat(200_000 / line.len()));
        let front = FrontMatter::parse(&source).unwrap();
        assert!(front.with("a", &text("2")).len() > 10);
    }
    let deep = (0..1_000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect::<Vec<_>>().concat();
    assert!(FrontMatter::parse(&format!("---\n{deep}---\n")).is_some());
    for piece in ["[", "{a: ", "- ", "\"", "a: "] {
        let source = format!("---\na: {}\nb:\n  {}\n---\n", piece.repeat(100_000), piece.repeat(100_000));
        assert!(FrontMatter::parse(&source).unwrap().get("a").is_some());
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        "[ -~é🚀\u{85}\u{2028}\u{feff}\n\t]{0,12}",
        "[-?:,\\[\\]{}#&*!|>'\"%@` a1.]{1,6}",
        Just("null".to_owned()),
    ];
    let leaf = prop_oneof![3 => word.clone().prop_map(Value::Text), 1 => Just(Value::Empty)];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let keyed = prop::collection::vec((word.clone(), inner.clone()), 0..4).prop_map(|entries| {
            let mut seen = std::collections::BTreeSet::new();
            // Leaves out keys that another reader could treat as equal, such as `null` and `~`.
            let is_null = |key: &str| matches!(key, "null" | "~");
            entries.into_iter().filter(|(key, _)| !is_null(key) && seen.insert(key.clone())).collect()
        });
        prop_oneof![prop::collection::vec(inner, 0..5).prop_map(Value::List), keyed.prop_map(Value::Map)]
    })
}

/// True if a YAML reader reads the same document, with everything except lists and maps as text.
fn is_same(value: &Value, yaml: &serde_yaml::Value) -> bool {
    match (value, yaml) {
        (Value::Empty, serde_yaml::Value::Null) => true,
        (Value::Text(text), serde_yaml::Value::String(read)) => text == read,
        (Value::Text(text), serde_yaml::Value::Null) => matches!(text.to_lowercase().as_str(), "null" | "~"),
        (Value::Text(text), serde_yaml::Value::Bool(_) | serde_yaml::Value::Number(_)) => {
            text.parse::<bool>().is_ok() || text.contains(|letter: char| letter.is_ascii_digit())
        }
        (Value::List(items), serde_yaml::Value::Sequence(read)) => {
            items.len() == read.len() && items.iter().zip(read).all(|(item, read)| is_same(item, read))
        }
        (Value::Map(entries), serde_yaml::Value::Mapping(read)) => {
            entries.len() == read.len()
                && entries.iter().zip(read).all(|((key, value), (read_key, read))| {
                    is_same(&Value::Text(key.clone()), read_key) && is_same(value, read)
                })
        }
        _ => false,
    }
}

fn has_strays(front: &FrontMatter<'_>) -> bool {
    front.problems().iter().any(|problem| problem.what.starts_with("a line"))
}

/// Front matters as people write them: entries of all forms, comments, stray lines.
fn messy_lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a: 1\n",
        "b:   'x' # c\n",
        "c:\n",
        "  - x\n",
        "  - k: v\n",
        "    l: [1, 2]\n",
        "- flush\n",
        "  d: 2 # d\n",
        "  e:\n",
        "    f: g\n",
        "h: |\n",
        "  text # not\n",
        "i: [a,\n",
        "  b]\n",
        "]\n",
        "j: {k: 1}\n",
        "# c\n",
        "  # d\n",
        "\n",
        "  \n",
        "<<<<<<<\n",
        "l: \"open\n",
        "m: >-\n",
        "\tt: 1\n",
        "\"n o\": p\n",
        "a: again\n",
        "q: &x 1\n",
    ]);
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(source in "---\n(\\PC{0,10}|[-\\[{\"'|>:# a]{0,12})(\n[-\\[{\"'|>:# a]{0,12}){0,8}\n---\n") {
        if let Some(front) = FrontMatter::parse(&source) {
            let _ = serde_json::to_string(&front.entries());
            prop_assert!(front.problems().iter().all(|problem| problem.line <= source.lines().count()));
        }
    }

    #[test]
    fn written_values_are_read_back_by_us_and_by_other_readers(value in any_value()) {
        let whole = compose(&[("k".to_owned(), value.clone())], "", "\n");
        prop_assert_eq!(get(&whole, &["k"]), Some(value.clone()), "{}", whole);
        let lines = &whole["---\n".len()..whole.len() - "---\n".len()];
        let read: serde_yaml::Value = serde_yaml::from_str(lines).unwrap_or_else(|error| panic!("{error} in {lines}"));
        prop_assert!(is_same(&Value::Map(vec![("k".to_owned(), value)]), &read), "{read:?} from {lines}");
    }

    #[test]
    fn a_value_is_set_and_nothing_else_changes(
        lines in messy_lines(), body in "(\n|# [a-z]\n|---\n|a: 1\n){0,4}", value in any_value(), crlf: bool,
        key in prop::sample::select(vec!["a", "b", "c", "h", "i", "j", "l", "m", "n o", "new"]),
    ) {
        let source = format!("---\n{lines}---\n{body}");
        let source = if crlf { source.replace('\n', "\r\n") } else { source };
        let Some(front) = FrontMatter::parse(&source) else { return Ok(()) };
        // Stray lines can become a part of the value set above them; `write` refuses that.
        let has_strays = has_strays(&front);
        let edited = front.with(key, &value);
        let after = FrontMatter::parse(&edited).unwrap();
        prop_assert!(has_strays || after.get(key) == Some(value), "{}", edited);
        prop_assert_eq!(after.body(), front.body());
        let others = |front: &FrontMatter<'_>| {
            front.entries().into_iter().filter(|(other, _)| other != key).collect::<Vec<_>>()
        };
        prop_assert_eq!(others(&after), others(&front), "{}", edited);
        if crlf {
            prop_assert!(!edited.replace("\r\n", "").contains('\n'));
        } else {
            prop_assert!(!edited.contains('\r'));
        }
        if has_strays {
            return Ok(());
        }
        let mut splices = Splices::default();
        after.remove(key, &mut splices);
        let removed = splices.apply(&edited);
        let removed = FrontMatter::parse(&removed).unwrap();
        prop_assert_eq!(removed.get(key), None);
        prop_assert_eq!(others(&removed), others(&front));
    }

    #[test]
    fn a_nested_value_is_set_and_the_rest_stays(lines in messy_lines(), value in any_value()) {
        let source = format!("---\n{lines}---\nbody\n");
        let front = FrontMatter::parse(&source).unwrap();
        for path in [["c", "d"], ["c", "e"], ["j", "k"], ["new", "x"]] {
            match write(&source, &path, &value) {
                Ok(edited) => {
                    let after = FrontMatter::parse(&edited).unwrap();
                    prop_assert_eq!(after.get_path(&path), Some(value.clone()), "{}", edited);
                    let others = |front: &FrontMatter<'_>| {
                        front.entries().into_iter().filter(|(other, _)| other != path[0]).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(others(&after), others(&front));
                    // Only a replaced value takes the comments inside it along.
                    if front.get_path(&path).is_none() && path[0] != "j" {
                        prop_assert!(edited.matches('#').count() >= source.matches('#').count());
                    }
                }
                Err(EditError::Unsafe { .. }) => {
                    prop_assert!(has_strays(&front));
                }
                Err(error) => prop_assert!(matches!(error, EditError::WrongKind { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn a_key_inside_a_map_is_removed_with_only_its_line() {
    let source = "---\np:\n  # why\n  a: 1 # one\n  b: 2\nq: x\n---\n";
    let mut splices = Splices::default();
    FrontMatter::parse(source).unwrap().remove_inner("p", "a", &mut splices);
    assert_eq!(splices.apply(source), "---\np:\n  # why\n  b: 2\nq: x\n---\n");
}

#[test]
fn reading_some_keys_gives_the_same_values_as_reading_all() {
    let text = "---\nprovides:\n  - status: x\nlist: [a,\n  b\n]\nnote: |\n  status: no\nstatus: \"done\" # now\nafter: 1\nstatus: last\n---\n\nstatus: body\n";
    let (whole, some) = (FrontMatter::parse(text).unwrap(), FrontMatter::of_keys(text, &["status", "note"]).unwrap());
    for key in ["status", "note"] {
        assert_eq!(some.get(key), whole.get(key), "{key}");
    }
    assert_eq!(some.text("status").as_deref(), Some("last"));
    assert_eq!((some.get("after"), some.body()), (None, whole.body()));
}

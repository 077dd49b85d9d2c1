//! What the agents of the plays make up: the plans of a small project, its code and its tests.

use super::agents::{Plan, Task};

const FAREWELL: &str = "\"\"\"Says goodbye.\"\"\"\n\n\ndef farewell(name):\n    return f\"Goodbye, {name}!\"\n";
const TEST_FAREWELL: &str = "import unittest\n\nimport farewell\n\n\nclass Farewell(unittest.TestCase):\n    \
    def test_it_names_who_leaves(self):\n        self.assertEqual(farewell.farewell(\"Ada\"), \"Goodbye, Ada!\")\n";
const README: &str = "# Greet\n\n    python3 greet.py Ada\n    python3 greet.py --goodbye Ada\n";
const GREET: &str = "\"\"\"Says hello or goodbye on the command line.\"\"\"\n\nimport sys\n\nimport farewell\n\n\n\
    def greeting(name):\n    return f\"Hello, {name}!\"\n\n\ndef main(arguments):\n    leaving = \"--goodbye\" in arguments\n    \
    names = [word for word in arguments if word != \"--goodbye\"] or [\"world\"]\n    \
    say = farewell.farewell if leaving else greeting\n    print(say(names[0]))\n    return 0\n\n\n\
    if __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";

pub(crate) const FAREWELL_PLAN: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-01"],
    objective: "A function says goodbye",
    truth: "farewell names who leaves",
    tasks: &[Task {
        name: "Say goodbye",
        kind: "auto",
        files: &[("farewell.py", FAREWELL), ("test_farewell.py", TEST_FAREWELL)],
        check: "python3 -m unittest test_farewell",
        commit: ("feat", "say goodbye"),
    }],
    more: "",
};

pub(crate) const README_PLAN: Plan = Plan {
    id: "01-02",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-03"],
    objective: "A README shows both calls",
    truth: "The README shows both calls",
    tasks: &[Task {
        name: "Write the README",
        kind: "auto",
        files: &[("README.md", README)],
        check: "python3 -c \"assert '--goodbye' in open('README.md').read()\"",
        commit: ("docs", "show both calls"),
    }],
    more: "",
};

pub(crate) const SWITCH_PLAN: Plan = Plan {
    id: "01-03",
    wave: 2,
    depends_on: &["01-01", "01-02"],
    requirements: &["FARE-02"],
    objective: "The command line takes --goodbye",
    truth: "`python3 greet.py --goodbye Ada` prints `Goodbye, Ada!`",
    tasks: &[Task {
        name: "Take --goodbye",
        kind: "auto",
        files: &[("greet.py", GREET)],
        check: "python3 -c \"import greet; greet.main(['--goodbye', 'Ada'])\"",
        commit: ("feat", "take --goodbye"),
    }],
    more: "",
};

/// All of the first phase in one plan.
pub(crate) const GOODBYE_PLAN: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-01"],
    objective: "The command line says goodbye (D-01)",
    truth: "`python3 greet.py --goodbye Ada` prints `Goodbye, Ada!`",
    tasks: &[Task {
        name: "Say goodbye on the command line (D-01)",
        kind: "tracer",
        files: &[("farewell.py", FAREWELL), ("test_farewell.py", TEST_FAREWELL), ("greet.py", GREET)],
        check: "python3 -m unittest test_farewell",
        commit: ("feat", "say goodbye with a switch"),
    }],
    more: "",
};

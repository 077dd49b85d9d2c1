//! Symbolic links that a unit leaves: one that leads out of the project does not land.

/// The most links followed one after the other, as in operating systems.
const FOLLOWED: usize = 40;

/// True if a link leads out of the project: to an absolute path, above its root, or into git's folder. `path` is the
/// path of the link in the project, with `/`; `target` is its text; `link_at` returns the text of another link at a
/// path, because the link may lead through others. A link that leads to itself, or to nothing, does not lead out.
pub(crate) fn leads_out(path: &str, target: &str, link_at: impl Fn(&str) -> Option<String>) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut place: Vec<String> = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if is_absolute(target) {
        return true;
    }
    // The parts still to be walked, the next one last.
    let mut ahead: Vec<String> = parts(target).rev().collect();
    let mut followed = 0;
    while let Some(part) = ahead.pop() {
        match part.as_str() {
            ".." => {
                if place.pop().is_none() {
                    return true;
                }
                continue;
            }
            part if part.eq_ignore_ascii_case(".git") => return true,
            _ => place.push(part),
        }
        let Some(next) = link_at(&place.join("/")) else { continue };
        followed += 1;
        if followed > FOLLOWED {
            return false;
        }
        if is_absolute(&next) {
            return true;
        }
        place.pop();
        ahead.extend(parts(&next).rev());
    }
    false
}

/// The parts of a path that lead somewhere. A backslash separates too, because a checkout on Windows reads it so.
fn parts(target: &str) -> impl DoubleEndedIterator<Item = String> + '_ {
    target.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned)
}

/// `/x`, `\x`, `\\\\host\x`, `C:\x`, `C:x`
fn is_absolute(target: &str) -> bool {
    let mut letters = target.chars();
    let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':');
    target.starts_with(['/', '\\']) || is_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(path: &str, target: &str) -> bool {
        leads_out(path, target, |_| None)
    }

    #[test]
    fn links_out_of_the_project_are_distinguished_from_those_inside() {
        for (path, target) in [
            ("lib/pw", "/etc/passwd"),
            ("a", "/"),
            ("a", ".."),
            ("a", "../"),
            ("a", "../other"),
            ("lib/a", "../../x"),
            ("lib/a", "./../../x"),
            ("lib/a", "b/../../../x"),
            ("lib/a", "..//..//x"),
            ("lib/a", "../../project/lib/b"),
            ("a", "C:\\Users\\me"),
            ("a", "c:/x"),
            ("a", "C:x"),
            ("a", "\\\\host\\share"),
            ("a", "//host/share"),
            ("a", "\\\\?\\C:\\x"),
            ("a", "\\x"),
            ("lib/a", "..\\..\\x"),
            ("a", ".git/config"),
            ("lib/a", "../.GIT/hooks"),
        ] {
            assert!(leads(path, target), "{path} -> {target}");
        }
        for (path, target) in [
            ("a", "b"),
            ("a", "a"),
            ("a", "."),
            ("a", "./b"),
            ("a", "lib"),
            ("a", "lib/"),
            ("lib/a", ".."),
            ("lib/a", "../b"),
            ("lib/a", "../lib/../b"),
            ("x/y/z", "../../a/b"),
            ("a", "not-there"),
            ("a", "..b"),
            ("a", "b..c/...d"),
            ("a", "~/x"),
            ("a", ".github/x"),
            ("a", ".gitignore"),
            ("a", ""),
            ("node_modules/.bin/x", "../x/bin/x.js"),
        ] {
            assert!(!leads(path, target), "{path} -> {target}");
        }
    }

    #[test]
    fn a_link_through_another_link_is_followed() {
        let links = |path: &str| {
            let target = match path {
                "deep/down/up" => "../..",
                "out" => "/tmp",
                "loop" => "loop",
                "one" => "two",
                "two" => "one",
                "inside" => "deep/down",
                _ => return None,
            };
            Some(target.to_owned())
        };
        assert!(leads_out("a", "deep/down/up/../x", links), "the root, and then above it");
        assert!(leads_out("a", "out/x", links));
        assert!(!leads_out("a", "deep/down/up/x", links) && !leads_out("a", "inside/../x", links));
        assert!(!leads_out("loop", "loop", links) && !leads_out("one", "two", links));
    }

    proptest::proptest! {
        #[test]
        fn any_link_is_judged(path in "[a-c/.]{0,12}", target in "[a-c/.\\\\:]{0,20}", other in "[a-c/.]{0,8}") {
            let _ = leads_out(&path, &target, |at| (at == "a").then(|| other.clone()));
        }

        #[test]
        fn a_link_to_a_path_below_its_folder_stays_inside(path in "[a-c]{1,3}(/[a-c]{1,3}){0,3}", target in "[a-c]{1,3}(/[a-c]{1,3}){0,3}") {
            proptest::prop_assert!(!leads_out(&path, &target, |_| None));
        }
    }
}

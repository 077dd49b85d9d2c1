//! Versions of milestones, as people write them in headings, names of folders and STATE.md.

/// The first `v1.2` or `v1.2.3` in `text` that is a separate word, including a prerelease mark such as in `v1.2-rc1`.
pub(crate) fn version_in(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find_map(|start| {
        let word_start = start == 0 || !(bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
        if !word_start || !matches!(bytes[start], b'v' | b'V') || !bytes.get(start + 1).is_some_and(u8::is_ascii_digit)
        {
            return None;
        }
        let length = bytes[start + 1..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let version = text[start..start + 1 + length].trim_end_matches('.');
        version.contains('.').then(|| &text[start..start + version.len() + prerelease(&text[start + version.len()..])])
    })
}

/// The length of a prerelease mark at the start of `text`: `-alpha`, `-rc.1`, `b2`. Other words after a dash are a
/// name.
fn prerelease(text: &str) -> usize {
    const WORDS: &[&str] =
        &["alpha", "beta", "canary", "dev", "next", "nightly", "pre", "preview", "rc", "snapshot", "a", "b"];
    let mark = text.strip_prefix(['-', '_']).unwrap_or(text);
    let letters = mark.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !WORDS.contains(&mark[..letters].to_ascii_lowercase().as_str()) {
        return 0;
    }
    let rest = &mark[letters..];
    let number = rest.strip_prefix(['.', '-']).unwrap_or(rest);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let ends = |at: &str| !at.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    match () {
        () if digits > 0 && ends(&number[digits..]) => text.len() - number.len() + digits,
        // The meaning of a single letter is unknown.
        () if letters > 1 && ends(rest) => text.len() - rest.len(),
        () => 0,
    }
}

/// Whether two spellings name one version: `v1.0`, `1.0`, `V1.0`.
pub(crate) fn is_same_version(left: &str, right: &str) -> bool {
    let bare = |text: &'_ str| -> usize { usize::from(text.starts_with(['v', 'V'])) };
    let (left, right) = (left.trim(), right.trim());
    left[bare(left)..].eq_ignore_ascii_case(&right[bare(right)..])
}

/// Whether `text` is just a version, such as `v1.0`, `2` or `v1.2-beta.1`: it becomes part of folder and branch names.
pub(crate) fn is_version(text: &str) -> bool {
    const LONGEST: usize = 40;
    let numbers = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = numbers.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(numbers.len());
    let (numbers, rest) = numbers.split_at(end);
    let are_numbers = |text: &str| text.split('.').all(|part| !part.is_empty());
    let is_word = |text: &str| {
        text.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
    };
    let is_ending = rest.is_empty() || rest.strip_prefix(['-', '_']).is_some_and(is_word) || is_word(rest);
    text.len() <= LONGEST && are_numbers(numbers) && is_ending && !text.to_ascii_lowercase().ends_with(".lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_names_a_folder() {
        for text in ["v1.0", "1.0", "v2", "V1.2.3", "v1.0-beta", "v1.0-beta.1", "v1.1_rc", "1.0rc1", "2026.11"] {
            assert!(is_version(text), "{text}");
        }
        let long = format!("v1.{}", "0".repeat(40));
        for text in [
            "",
            "v",
            "conf.d",
            "bin",
            "-x",
            "v1.0/x",
            "v1..0",
            "v1.",
            ".1",
            "v1.0 beta",
            "v1.0;x",
            "v1.0.lock",
            "v1-",
            "1.0-a.",
            "user",
            "v1.0\n",
            "é1",
            "v1.0-x/../y",
            "..",
            "0x.lock",
            &long,
        ] {
            assert!(!is_version(text), "{text}");
        }
    }

    #[test]
    fn versions_are_words() {
        assert_eq!(version_in("ship v1.10.2."), Some("v1.10.2"));
        assert_eq!(version_in("rev1.0 or v2"), None);
        assert_eq!(version_in("V1.0 Launch"), Some("V1.0"));
        for (text, version) in [
            ("v1.0-rc1: next", "v1.0-rc1"),
            ("v1.0-alpha (now)", "v1.0-alpha"),
            ("v1.0-beta.2", "v1.0-beta.2"),
            ("v1.0rc1", "v1.0rc1"),
            ("v1.0-Sync", "v1.0"),
            ("v1.0 - alpha", "v1.0"),
            ("v1.0-prefix", "v1.0"),
            ("v1.0-a", "v1.0"),
            ("v1.0-b2", "v1.0-b2"),
        ] {
            assert_eq!(version_in(text), Some(version), "{text}");
        }
        assert!(is_same_version("v1.0", "1.0") && is_same_version("V1.0-RC1", "v1.0-rc1"));
        assert!(!is_same_version("v1.0", "v1.0-rc1") && !is_same_version("v1.1", "v1.10"));
    }
}

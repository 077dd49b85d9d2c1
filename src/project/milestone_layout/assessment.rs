//! `S01-ASSESSMENT.md`: whether the roadmap is still valid after a slice or, from other programs, the result of its
//! test.

use super::lines::{bare, scalar};
use super::uat::UatVerdict;
use super::verdict::bare_word;
use crate::text::front_matter::FrontMatter;

/// The subject of an assessment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Assessment {
    /// The roadmap was reviewed after this slice.
    Roadmap,
    /// The result of an acceptance test.
    Acceptance(UatVerdict),
    /// The subject is unclear.
    Unknown,
}

impl Assessment {
    pub(crate) fn parse(text: &str) -> Self {
        let front = FrontMatter::parse(bare(text));
        let front = front.as_ref();
        let triggering_slice = scalar(front, "triggering_slice");
        let word = scalar(front, "verdict").map(|word| bare_word(&word).to_lowercase());
        let roadmap = word.as_deref().is_some_and(|word| ["no-change", "modified"].contains(&word));
        if roadmap || triggering_slice.is_some() {
            return Self::Roadmap;
        }
        UatVerdict::parse(text).map_or(Self::Unknown, Self::Acceptance)
    }
}

/// The verdict on a slice: from its result, else from its assessment unless that is about the roadmap, else from the
/// test itself.
pub(crate) fn slice_verdict(result: Option<&str>, assessment: Option<&str>, uat: Option<&str>) -> Option<UatVerdict> {
    let assessed = || match Assessment::parse(assessment?) {
        Assessment::Acceptance(verdict) => Some(verdict),
        Assessment::Roadmap | Assessment::Unknown => None,
    };
    result.and_then(UatVerdict::parse).or_else(assessed).or_else(|| uat.and_then(UatVerdict::parse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assessment_of_the_roadmap_is_not_a_verdict_on_the_slice() {
        let roadmap = "---\ndate: 2026-01-01\ntriggering_slice: M001/S01\nverdict: no-change\n---\n**Verdict:** PASS\n";
        assert!(matches!(Assessment::parse(roadmap), Assessment::Roadmap));
        assert_eq!(slice_verdict(None, Some(roadmap), None), None);
        let fail = "---\nverdict: FAIL\n---\n";
        assert_eq!(slice_verdict(None, Some(fail), Some("**Verdict:** PASS")), Some(UatVerdict::Fail));
        assert_eq!(slice_verdict(Some("---\nverdict: PASS\n---\n"), Some(fail), None), Some(UatVerdict::Pass));
        assert_eq!(slice_verdict(Some("# empty"), None, Some("**Verdict:** partial")), Some(UatVerdict::Partial));
    }
}

//! Exit codes: one for every failure, as other programs know it, or one for each kind of failure.

use crate::failure::{Failure, Reason};
use crate::frame::Answer;
use crate::world::World;

/// The exit codes that the caller requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExitContract {
    /// 0 or 1; a payload that carries an `error` key is a success.
    #[default]
    V1,
    /// A code per kind of failure; a payload that carries an `error` key exits 80.
    V2,
}

impl ExitContract {
    /// The contract that a flag asks for, else the environment, else who reads the answer.
    pub(crate) fn asked(flag: Option<String>, world: &World, is_for_a_person: bool) -> (Self, Result<(), Failure>) {
        match flag.or_else(|| world.variable("GSD_EXIT_CONTRACT")).as_deref() {
            None if is_for_a_person => (Self::V2, Ok(())),
            None | Some("v1") => (Self::V1, Ok(())),
            Some("v2") => (Self::V2, Ok(())),
            Some(other) => {
                let unknown = Failure::new(Reason::SdkFailFast, format!("unknown exit contract `{other}`"));
                (Self::V1, Err(unknown.hint("use `v1` or `v2`; `gsd-tools help exit-codes` lists their codes")))
            }
        }
    }

    /// The answer with the exit code of this contract.
    pub(crate) fn applied(self, mut answer: Answer) -> Answer {
        if self == Self::V1 {
            answer.is_degraded = false;
            answer.outcome = answer.outcome.map_err(|error| match error.exit_code {
                None => error.exits(1),
                Some(_) => error,
            });
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_decides_the_code_unless_the_error_does() {
        let missing = || Failure::new(Reason::ConfigKeyNotFound, "no key");
        let code = |contract: ExitContract, error| contract.applied(Answer::failed(error)).outcome.unwrap_err().code();
        assert_eq!(code(ExitContract::V1, missing()), 1);
        assert_eq!(code(ExitContract::V2, missing()), 66);
        assert_eq!(code(ExitContract::V1, missing().exits(2)), 2);
    }

    #[test]
    fn the_contract_comes_from_the_flag_before_the_environment() {
        let world = World::with([("GSD_EXIT_CONTRACT", "v2")], &std::env::temp_dir());
        assert_eq!(ExitContract::asked(None, &world, false).0, ExitContract::V2);
        assert_eq!(ExitContract::asked(Some("v1".to_owned()), &world, true).0, ExitContract::V1);
        assert!(ExitContract::asked(Some("v9".to_owned()), &world, false).1.is_err());
    }

    #[test]
    fn a_person_gets_a_code_for_each_kind_of_failure() {
        let world = World::with([], &std::env::temp_dir());
        assert_eq!(ExitContract::asked(None, &world, true).0, ExitContract::V2);
        assert_eq!(ExitContract::asked(None, &world, false).0, ExitContract::V1);
        assert_eq!(ExitContract::asked(Some("v1".to_owned()), &world, true).0, ExitContract::V1);
    }
}

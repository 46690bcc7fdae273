//! The robots.txt of a host; its rules are in memory or on disk.
//!
//! What lives here: [`RobotsState`], and moving its rules to disk and back, so that long files of many hosts stay
//! within the memory limit of the queues. What does not: when they leave memory (`hosts.rs`), parsing a robots.txt
//! (`robots/`), files (`spill.rs`).
//!
//! **Invariant.** Rules are the same after they return from disk: a forbidden path stays forbidden. After
//! [`RobotsState::spill`] they take no memory.

use super::super::spill::{Place, Spill};
use crate::clock::Moment;
use crate::error::CrawlError;
use crate::robots::Robots;

/// The state of a robots.txt.
#[derive(Debug, Default)]
pub(in crate::frontier) enum RobotsState {
    /// Not yet fetched.
    #[default]
    Unknown,
    /// Fetched then, but its archive file is missing: it must be fetched again, and no older one counts.
    Lost { fetched: Moment },
    /// Being fetched.
    Asked,
    /// Fetched then, with these rules.
    Known { fetched_s: i64, rules: RobotsRules },
}

/// The rules of one robots.txt.
#[derive(Debug)]
pub(in crate::frontier) enum RobotsRules {
    /// Everything is allowed.
    Open,
    /// In memory, with their size.
    Here { robots: Box<Robots>, bytes: u32 },
    /// On disk.
    Away(Place),
}

impl RobotsRules {
    pub(in crate::frontier) fn new(robots: Robots) -> RobotsRules {
        if robots.is_open() {
            return RobotsRules::Open;
        }
        let robots = Box::new(robots.into_rules());
        let bytes = u32::try_from(robots.memory_bytes()).unwrap_or(u32::MAX);
        RobotsRules::Here { robots, bytes }
    }
}

impl RobotsState {
    pub(in crate::frontier) fn memory_bytes(&self) -> usize {
        match self {
            RobotsState::Known { rules: RobotsRules::Here { bytes, .. }, .. } => *bytes as usize,
            _ => 0,
        }
    }

    /// Returns whether a robots.txt was fetched after that moment.
    pub(in crate::frontier) fn is_after(&self, date: Moment) -> bool {
        match *self {
            RobotsState::Unknown | RobotsState::Asked => false,
            RobotsState::Lost { fetched } => fetched > date,
            RobotsState::Known { fetched_s, .. } => fetched_s > date.s,
        }
    }

    /// Returns the number of lines in memory.
    pub(in crate::frontier) fn line_count(&self) -> usize {
        match self {
            RobotsState::Known { rules: RobotsRules::Here { robots, .. }, .. } => {
                robots.line_count()
            }
            _ => 0,
        }
    }

    /// Returns whether there are known rules that may forbid a path.
    pub(in crate::frontier) fn forbids_some(&self) -> bool {
        matches!(self, RobotsState::Known { rules, .. } if !matches!(rules, RobotsRules::Open))
    }

    pub(in crate::frontier) fn replace(
        &mut self,
        state: RobotsState,
        spill: &mut Spill,
    ) -> Result<(), CrawlError> {
        let before = std::mem::replace(self, state);
        if let RobotsState::Known { rules: RobotsRules::Away(place), .. } = before {
            spill.take(place)?;
        }
        Ok(())
    }

    /// Moves the rules to disk.
    pub(in crate::frontier) fn spill(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        if let RobotsState::Known { rules, .. } = self
            && let RobotsRules::Here { robots, .. } = rules
        {
            *rules = RobotsRules::Away(spill.append(Place::NONE, &robots.to_bytes())?);
        }
        Ok(())
    }

    /// Writes rules on disk again, to free space.
    pub(in crate::frontier) fn rewrite(&mut self, spill: &mut Spill) -> Result<(), CrawlError> {
        if let RobotsState::Known { rules: RobotsRules::Away(place), .. } = self {
            let (bytes, _) = spill.take(*place)?;
            *place = spill.append(Place::NONE, &bytes)?;
        }
        Ok(())
    }

    /// Returns whether a path may be fetched; `false` while the rules are unknown. Loads the rules into memory.
    pub(in crate::frontier) fn allows(
        &mut self,
        path: &str,
        spill: &mut Spill,
    ) -> Result<bool, CrawlError> {
        let RobotsState::Known { rules, .. } = self else { return Ok(false) };
        if let RobotsRules::Away(place) = *rules {
            let (bytes, _) = spill.take(place)?;
            *rules = RobotsRules::new(Robots::from_bytes(&bytes));
        }
        Ok(match rules {
            RobotsRules::Open => true,
            RobotsRules::Here { robots, .. } => robots.allows(path).allowed,
            RobotsRules::Away(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Rules stay the same over any number of moves to disk and back.
        #[test]
        fn rules_are_unchanged_by_moves_to_disk(
            text in "([Aa]llow|[Dd]isallow): /(index.htm|[a-c%62é*$/]){0,8}\n{0,3}",
            lines in 0..5_usize,
            paths in prop::collection::vec("/[a-cB%62/]{0,8}", 1..8),
            away in prop::collection::vec(any::<bool>(), 8),
        ) {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let mut spill = Spill::create(dir.path()).expect("it is empty");
            let robots =
                Robots::parse(format!("user-agent: *\n{}", text.repeat(lines)).as_bytes(), "any");
            let rules = RobotsRules::new(robots.clone());
            let mut state = RobotsState::Known { fetched_s: 7, rules };
            for (path, is_away) in paths.iter().zip(away) {
                if is_away {
                    state.spill(&mut spill).expect("files");
                    state.rewrite(&mut spill).expect("files");
                    prop_assert_eq!(state.memory_bytes(), 0);
                }
                let allowed = state.allows(path, &mut spill).expect("files");
                prop_assert_eq!(allowed, robots.allows(path).allowed);
            }
            state.spill(&mut spill).expect("files");
            state.replace(RobotsState::Asked, &mut spill).expect("files");
            prop_assert_eq!(spill.used_bytes(), 0);
            prop_assert!(!state.allows("/", &mut spill).expect("files"));
        }
    }
}

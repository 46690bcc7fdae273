//! The three properties of an assignment: an owner for every host, balance, and few moves.

use crawl::{AgentId, Assignment, Modulo, Rendezvous};
use proptest::prelude::*;

const HOSTS: usize = 4_000;

fn hosts() -> impl Iterator<Item = String> {
    (0..HOSTS).map(|number| format!("host-{number}.example"))
}

fn agents(numbers: &[u16]) -> Vec<AgentId> {
    numbers.iter().copied().map(AgentId).collect()
}

fn check_balance(assignment: &dyn Assignment, agents: &[AgentId]) {
    for &agent in agents {
        let share = hosts().filter(|host| assignment.owner(host) == Some(agent)).count();
        let fair = HOSTS / agents.len();
        assert!((fair * 8 / 10..=fair * 12 / 10).contains(&share), "{agent:?} has {share}");
    }
}

#[test]
fn every_host_has_an_owner_and_every_owner_a_fair_share() {
    let live = agents(&[3, 5, 8, 13, 21]);
    check_balance(&Modulo::new(live.clone()), &live);
    check_balance(&Rendezvous::new(live.clone()), &live);
    assert_eq!(Modulo::new([]).owner("x"), None);
    assert_eq!(Rendezvous::new([]).owner("x"), None);
}

proptest! {
    #[test]
    fn order_and_repetitions_do_not_matter(mut live in prop::collection::vec(0..50_u16, 1..8)) {
        let forwards = agents(&live);
        live.reverse();
        live.push(live[0]);
        let backwards = agents(&live);
        for host in hosts().take(20) {
            let owner = Rendezvous::new(forwards.clone()).owner(&host);
            prop_assert_eq!(owner, Rendezvous::new(backwards.clone()).owner(&host));
            prop_assert!(owner.is_some_and(|owner| forwards.contains(&owner)));
            let owner = Modulo::new(forwards.clone()).owner(&host);
            prop_assert_eq!(owner, Modulo::new(backwards.clone()).owner(&host));
        }
    }

    #[test]
    fn hosts_move_only_to_an_agent_that_joins(
        live in prop::collection::btree_set(0..50_u16, 1..8), newcomer in 50..60_u16,
    ) {
        let old = Rendezvous::new(live.iter().copied().map(AgentId));
        let new = Rendezvous::new(live.iter().copied().chain([newcomer]).map(AgentId));
        for host in hosts().take(200) {
            let (before, after) = (old.owner(&host), new.owner(&host));
            prop_assert!(before == after || after == Some(AgentId(newcomer)));
        }
    }
}

//! The workbench against a linear search in a list of hosts, over random steps.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crawl::{Clock as _, HostId, SystemClock, Workbench};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// A new host at an address (0 for none), ready `in_ms` later.
    Insert {
        address: u8,
        in_ms: u64,
    },
    Take,
    /// The oldest visit ends, with a request or without.
    Release {
        requested: bool,
    },
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4_u8, 0..50_u64).prop_map(|(address, in_ms)| Step::Insert { address, in_ms }),
        4 => Just(Step::Take),
        3 => any::<bool>().prop_map(|requested| Step::Release { requested }),
        2 => (0..40_u64).prop_map(|ms| Step::Wait { ms }),
    ]
}

fn address(number: u8) -> Option<IpAddr> {
    (number > 0).then(|| IpAddr::from([10, 0, 0, number]))
}

/// The definition: all waiting hosts, and the state of each address.
#[derive(Default)]
struct Model {
    delay_ms: u64,
    waiting: Vec<(HostId, Option<IpAddr>, u64)>,
    held: BTreeMap<IpAddr, bool>,
    ready_ms: BTreeMap<IpAddr, u64>,
}

impl Model {
    /// Returns when a host may be visited; `None` while its address is held.
    fn moment(&self, address: Option<IpAddr>, host_ms: u64) -> Option<u64> {
        let Some(address) = address else { return Some(host_ms) };
        let held = self.held.get(&address).copied().unwrap_or(false);
        (!held).then(|| host_ms.max(self.ready_ms.get(&address).copied().unwrap_or(0)))
    }

    fn next_ms(&self) -> Option<u64> {
        self.waiting.iter().filter_map(|&(_, address, ms)| self.moment(address, ms)).min()
    }
}

fn check_walk(delay_ms: u64, steps: &[Step]) {
    let mut workbench = Workbench::new(delay_ms);
    let mut model = Model { delay_ms, ..Model::default() };
    let mut visiting = Vec::new();
    let (mut now_ms, mut hosts) = (0, 0);
    for step in steps {
        match *step {
            Step::Insert { address: number, in_ms } => {
                let host = HostId(hosts);
                hosts += 1;
                workbench.insert(host, address(number), now_ms + in_ms);
                model.waiting.push((host, address(number), now_ms + in_ms));
            }
            Step::Take => {
                let taken = workbench.take(now_ms);
                let due_ms = model.next_ms().filter(|&ms| ms <= now_ms);
                assert_eq!(taken.is_some(), due_ms.is_some(), "at {now_ms}");
                let Some(host) = taken else { continue };
                let place = model.waiting.iter().position(|(waiting, ..)| *waiting == host);
                let (_, address, host_ms) = model.waiting[place.expect("it was inserted")];
                assert_eq!(model.moment(address, host_ms), due_ms, "not the first that is due");
                let earlier =
                    |&&(_, other, ms): &&(_, Option<IpAddr>, u64)| other == address && ms < host_ms;
                assert_eq!(model.waiting.iter().find(earlier), None, "another host waits longer");
                model.waiting.retain(|(waiting, ..)| *waiting != host);
                if let Some(address) = address.filter(|_| model.delay_ms > 0) {
                    model.held.insert(address, true);
                }
                visiting.push(address);
            }
            Step::Release { requested } => {
                if visiting.is_empty() {
                    continue;
                }
                let address = visiting.remove(0);
                let finished_ms = requested.then_some(now_ms);
                workbench.release(address, finished_ms);
                if let Some(address) = address {
                    model.held.insert(address, false);
                    if requested && delay_ms > 0 {
                        let ready_ms = model.ready_ms.entry(address).or_default();
                        *ready_ms = (*ready_ms).max(now_ms + delay_ms);
                    }
                }
            }
            Step::Wait { ms } => now_ms += ms,
        }
        assert_eq!(workbench.len(), model.waiting.len());
        assert_eq!(workbench.is_empty(), model.waiting.is_empty());
        assert_eq!(workbench.next_ms(), model.next_ms(), "after {step:?}");
    }
}

proptest! {
    #[test]
    fn any_walk_matches_the_definition(
        delay_ms in prop_oneof![Just(0), 1..30_u64],
        steps in prop::collection::vec(step(), 0..120),
    ) {
        check_walk(delay_ms, &steps);
    }
}

#[test]
fn an_address_pauses_between_its_hosts() {
    let mut workbench = Workbench::new(100);
    for host in 0..3 {
        workbench.insert(HostId(host), address(1), 0);
    }
    workbench.insert(HostId(9), address(2), 5);
    assert_eq!(workbench.take(5), Some(HostId(0)));
    assert_eq!(workbench.take(5), Some(HostId(9)), "the other address is free");
    assert_eq!(workbench.take(1000), None, "one request to an address at a time");
    workbench.release(address(1), Some(20));
    assert_eq!((workbench.next_ms(), workbench.take(119)), (Some(120), None));
    assert_eq!(workbench.take(120), Some(HostId(1)));
}

/// Returns the milliseconds that `turns` turns take with `hosts` hosts in the workbench; the best of three.
fn turns_ms(hosts: u32, turns: u64) -> u64 {
    let walk = || {
        let mut workbench = Workbench::new(1);
        let address = |host: u32| Some(IpAddr::from((host % 5_000).to_be_bytes()));
        for host in 0..hosts {
            workbench.insert(HostId(host), address(host), u64::from(host));
        }
        let clock = SystemClock::new();
        for turn in 0..turns {
            let now_ms = turn * 3 + 1_000_000;
            let host = workbench.take(now_ms).expect("all are due");
            workbench.insert(host, address(host.0), now_ms + 100);
            workbench.release(address(host.0), Some(now_ms));
        }
        assert_eq!(workbench.len(), hosts as usize);
        clock.now_ms()
    };
    (0..3).map(|_| walk()).min().unwrap_or_default()
}

#[test]
fn the_cost_of_a_turn_barely_grows_with_hosts() {
    let (few_ms, many_ms) = (turns_ms(100, 50_000), turns_ms(100_000, 50_000));
    // A linear search would cost a thousand times as much.
    assert!(many_ms < 15 * few_ms.max(1), "{few_ms} ms with few hosts, {many_ms} ms with many");
}

//! All that can happen to two nodes on one database, searched exhaustively in small steps of time.
//!
//! In each step of time every node does one of: nothing (it is stopped, or disconnected), beat and
//! look, beat without receiving the answer, look without beating. Between the steps any node may
//! claim what is owned, and any node that ever had a claim may try to write with it, however old it
//! is.

use crate::{Moment, NodeId, Owner, OwnerState, Peers, Standing, State, Timing, Verdict, decide};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

const NODES: usize = 2;
/// Enough for a node to fall silent, be declared dead, and for its successor to be suspended.
const STEPS: u32 = 5;
/// The same proportions as the real ones, in steps.
const TIMING: Timing = Timing {
    beat_every: Duration::from_secs(1),
    beat_timeout: Duration::from_secs(1),
    suspend_after: Duration::from_secs(2),
    dead_after: Duration::from_secs(3),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    now: u32,
    rows: [Row; NODES],
    owner: Option<usize>,
    fence: u64,
    nodes: [Node; NODES],
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Row {
    beat: u64,
    dead: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    standing: Standing,
    peers: Peers,
    /// The fence of the last claim it made.
    claim: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Nothing,
    BeatAndLook,
    BeatUnanswered,
    Look,
}

const ACTS: [Act; 4] = [
    Act::Nothing,
    Act::BeatAndLook,
    Act::BeatUnanswered,
    Act::Look,
];

impl World {
    fn new() -> Self {
        let row = Row {
            beat: 0,
            dead: false,
        };
        let node = Node {
            standing: Standing::joined(Duration::ZERO),
            peers: Peers::default(),
            claim: None,
        };
        Self {
            now: 0,
            rows: std::array::from_fn(|_| row.clone()),
            owner: None,
            fence: 0,
            nodes: std::array::from_fn(|_| node.clone()),
        }
    }

    fn moment(&self) -> Moment {
        Duration::from_secs(self.now.into())
    }

    fn act(&mut self, at: usize, act: Act) {
        let now = self.moment();
        let beats = matches!(act, Act::BeatAndLook | Act::BeatUnanswered);
        if beats && !self.rows[at].dead {
            self.rows[at].beat += 1;
        }
        match act {
            Act::BeatAndLook if self.rows[at].dead => self.nodes[at].standing.declared_dead(),
            Act::BeatAndLook => self.nodes[at].standing.beat_confirmed(now),
            _ => {}
        }
        if matches!(act, Act::BeatAndLook | Act::Look) {
            self.look(at);
        }
    }

    fn look(&mut self, at: usize) {
        let now = self.moment();
        let living = (0..NODES).filter(|peer| *peer != at && !self.rows[*peer].dead);
        let rows: Vec<_> = living
            .map(|peer| (id(peer), self.rows[peer].beat))
            .collect();
        let outlook = self.nodes[at].peers.read(now, now, rows, &TIMING);
        for silent in outlook.silent {
            let peer = (0..NODES).find(|peer| id(*peer) == silent.node).unwrap();
            if self.rows[peer].beat != silent.beat {
                continue;
            }
            self.rows[peer].dead = true;
            let state = self.nodes[peer].standing.at(now, &TIMING);
            assert_ne!(state, State::Active, "declared dead while it acts");
        }
    }

    fn claim(&mut self, at: usize) -> bool {
        if self.nodes[at].standing.at(self.moment(), &TIMING) != State::Active {
            return false;
        }
        let owner = self.owner.map(|owner| Owner {
            node: id(owner),
            state: match self.rows[owner].dead {
                true => OwnerState::Dead,
                false => OwnerState::Living,
            },
        });
        // A claim that was made is not made again; the search need not follow that.
        if self.owner == Some(at) && self.nodes[at].claim == Some(self.fence) {
            return false;
        }
        match decide(&id(at), owner.as_ref(), self.fence) {
            Verdict::Busy => false,
            Verdict::Claim { fence } => {
                assert!(fence > self.fence, "a fence grows with every claim");
                (self.owner, self.fence) = (Some(at), fence);
                self.nodes[at].claim = Some(fence);
                true
            }
        }
    }

    /// Every node that believes to own it tries to write, even with a stale claim.
    fn check_writes(&self) {
        let writers = (0..NODES).filter(|at| self.nodes[*at].claim == Some(self.fence));
        let writers: Vec<usize> = writers.collect();
        assert!(writers.len() <= 1, "{writers:?} would all be accepted");
        if let [writer] = writers[..] {
            assert_eq!(
                self.owner,
                Some(writer),
                "a deposed owner would be accepted"
            );
        }
    }
}

fn choices() -> impl Iterator<Item = [Act; NODES]> {
    let pairs = ACTS.into_iter();
    pairs.flat_map(|first| ACTS.map(|second| [first, second]))
}

fn id(at: usize) -> NodeId {
    NodeId::new(at.to_string())
}

#[test]
fn no_node_acts_once_it_is_declared_dead_and_no_deposed_owner_writes() {
    let mut known = HashSet::new();
    let mut open = VecDeque::from([World::new()]);
    let (mut taken_over, mut revived) = (0, 0);
    while let Some(world) = open.pop_front() {
        world.check_writes();
        for at in 0..NODES {
            let mut claimed = world.clone();
            let owner = claimed.owner;
            if claimed.claim(at) {
                taken_over += usize::from(owner.is_some_and(|owner| owner != at));
                if known.insert(claimed.clone()) {
                    open.push_back(claimed);
                }
            }
        }
        if world.now == STEPS {
            continue;
        }
        for acts in choices() {
            let mut next = world.clone();
            next.now += 1;
            for (at, act) in acts.into_iter().enumerate() {
                let before = next.nodes[at].standing.at(next.moment(), &TIMING);
                next.act(at, act);
                let after = next.nodes[at].standing.at(next.moment(), &TIMING);
                revived += usize::from(before == State::Suspended && after == State::Active);
            }
            if known.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    assert!(taken_over > 0, "the search has met a takeover");
    assert!(revived > 0, "the search has met a suspension that ended");
}

#[test]
fn time_in_which_a_node_could_not_read_counts_against_no_node() {
    let seconds = Duration::from_secs;
    let timing = Timing::default();
    let mut peers = Peers::default();
    let mut look = |at: u64, beat: u64| {
        let outlook = peers.read(seconds(at), seconds(at), [(id(1), beat)], &timing);
        !outlook.silent.is_empty()
    };
    assert!(!look(0, 5));
    // The database was away for both.
    assert!(!look(40, 5));
    assert!(!look(43, 5) && !look(46, 5) && !look(49, 5));
    assert!(look(52, 5), "12 s of reads that show the same beat");
    assert!(!look(55, 6), "it beats again");
}

#[test]
fn a_node_is_suspended_by_when_its_beat_was_sent() {
    let seconds = Duration::from_secs;
    let timing = Timing::default();
    let mut standing = Standing::joined(seconds(0));
    assert_eq!(standing.at(seconds(7), &timing), State::Active);
    assert_eq!(standing.at(seconds(8), &timing), State::Suspended);
    // Confirmed at 9, but sent at 3: the peers may have counted since then.
    standing.beat_confirmed(seconds(3));
    assert_eq!(standing.at(seconds(10), &timing), State::Active);
    assert_eq!(standing.at(seconds(11), &timing), State::Suspended);
    standing.beat_confirmed(seconds(12));
    assert_eq!(standing.at(seconds(13), &timing), State::Active);
    standing.declared_dead();
    assert_eq!(standing.at(seconds(13), &timing), State::Dead);
}

#[test]
fn nodes_that_leave_are_noticed_once() {
    let timing = Timing::default();
    let mut peers = Peers::default();
    let now = Duration::from_secs(1);
    peers.read(now, now, [(id(1), 1), (id(2), 1)], &timing);
    let outlook = peers.read(now, now, [(id(2), 2)], &timing);
    assert_eq!(outlook.gone, [id(1)]);
    let outlook = peers.read(now, now, [(id(2), 3)], &timing);
    assert_eq!(outlook.gone, []);
}

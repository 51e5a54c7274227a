//! Which of the other nodes have died.

use crate::{Moment, NodeId, Timing};
use std::collections::BTreeMap;

/// A node's view of the others from the rows that it has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Peers {
    seen: BTreeMap<NodeId, LastBeat>,
    /// When the last successful read was answered.
    read_at: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LastBeat {
    beat: u64,
    /// When this beat was first read, or when reading began again after a pause.
    since: Moment,
}

/// What a look at the rows has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// To be declared dead, each only if its row still has this beat.
    pub silent: Vec<Silent>,
    /// Nodes that lived at the last look and are dead now, or have left.
    pub gone: Vec<NodeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silent {
    pub node: NodeId,
    pub beat: u64,
}

impl Peers {
    /// Takes in the living nodes and their beats, as read by a statement that was sent and answered
    /// at these moments. Failed reads are not reported here: time without them does not count
    /// against any peer, because the database may have been unavailable to all.
    pub fn read(
        &mut self,
        sent: Moment,
        answered: Moment,
        rows: impl IntoIterator<Item = (NodeId, u64)>,
        timing: &Timing,
    ) -> Outlook {
        let paused = self
            .read_at
            .is_none_or(|read_at| sent.saturating_sub(read_at) > timing.gap_max());
        self.read_at = Some(answered);
        let mut before = std::mem::take(&mut self.seen);
        let mut outlook = Outlook::default();
        for (node, beat) in rows {
            let known = before.remove(&node).filter(|seen| seen.beat == beat);
            let since = match known {
                Some(seen) if !paused => seen.since,
                _ => answered,
            };
            // The row has shown this beat at `since` and shows it after `sent`.
            if sent.saturating_sub(since) >= timing.dead_after {
                let node = node.clone();
                outlook.silent.push(Silent { node, beat });
            }
            self.seen.insert(node, LastBeat { beat, since });
        }
        outlook.gone = before.into_keys().collect();
        outlook
    }
}

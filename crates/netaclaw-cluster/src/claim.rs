//! The rules for claiming a session.

use crate::NodeId;

/// The node that a row names as its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub node: NodeId,
    pub state: OwnerState,
}

/// An owner according to its own row. A missing row was that of a dead node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerState {
    Living,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim is stored with this fence, if owner and fence are still what was read.
    Claim {
        fence: u64,
    },
    Busy,
}

/// Decides on a claim by `node` to something with this owner and fence.
pub fn decide(node: &NodeId, owner: Option<&Owner>, fence: u64) -> Verdict {
    let is_free = owner.is_none_or(|owner| owner.node == *node || owner.state == OwnerState::Dead);
    match is_free {
        true => Verdict::Claim { fence: fence + 1 },
        false => Verdict::Busy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_living_owner_is_left_alone() {
        let me = NodeId::new("me");
        let owner = |node: &str, state| Owner {
            node: NodeId::new(node),
            state,
        };
        let claim = Verdict::Claim { fence: 8 };
        assert_eq!(decide(&me, None, 7), claim);
        assert_eq!(
            decide(&me, Some(&owner("me", OwnerState::Living)), 7),
            claim
        );
        assert_eq!(decide(&me, Some(&owner("b", OwnerState::Dead)), 7), claim);
        let living = owner("b", OwnerState::Living);
        assert_eq!(decide(&me, Some(&living), 7), Verdict::Busy);
    }
}

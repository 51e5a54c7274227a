//! Limits of users and connections.

use super::file::FileLimits;
use netaclaw_engine::UserLimits;
use netaclaw_gateway::ConnectionLimits;

const RUNS_PER_USER: usize = 20;
const MESSAGES_PER_MINUTE: u32 = 300;
const ATTACHMENT_MB_PER_USER: u64 = 2048;

/// In all of them 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitSettings {
    pub(crate) users: UserLimits,
    pub(crate) attachment_bytes_per_user: u64,
    pub(crate) connections: ConnectionLimits,
}

impl LimitSettings {
    pub(super) fn load(file: &FileLimits) -> Self {
        let usual = ConnectionLimits::default();
        let attachment_mb = file
            .attachment_mb_per_user
            .unwrap_or(ATTACHMENT_MB_PER_USER);
        Self {
            users: UserLimits {
                runs_max: file.runs_per_user.unwrap_or(RUNS_PER_USER),
                messages_per_minute: file.messages_per_minute.unwrap_or(MESSAGES_PER_MINUTE),
            },
            attachment_bytes_per_user: attachment_mb.saturating_mul(1 << 20),
            connections: ConnectionLimits {
                total_max: file.connections.unwrap_or(usual.total_max),
                per_address_max: file
                    .connections_per_address
                    .unwrap_or(usual.per_address_max),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_can_be_set_or_taken_away() {
        let usual = LimitSettings::load(&FileLimits::default());
        assert_eq!(usual.users.runs_max, RUNS_PER_USER);
        assert_eq!(usual.attachment_bytes_per_user, 2 << 30);
        let file = "runs_per_user = 3\nmessages_per_minute = 0\nattachment_mb_per_user = 1\n\
                    connections = 7\nconnections_per_address = 0";
        let set = LimitSettings::load(&toml::from_str(file).unwrap());
        assert_eq!((set.users.runs_max, set.users.messages_per_minute), (3, 0));
        assert_eq!(set.attachment_bytes_per_user, 1 << 20);
        assert_eq!(
            (set.connections.total_max, set.connections.per_address_max),
            (7, 0)
        );
    }
}

-- Standing approvals of users for agents. What they cover is in `approval`, as JSON.
CREATE TABLE IF NOT EXISTS netaclaw_approval (
  id TEXT NOT NULL PRIMARY KEY,
  userId TEXT NOT NULL,
  agentId TEXT NOT NULL,
  approval TEXT NOT NULL,
  grantedAt INTEGER NOT NULL,
  FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX IF NOT EXISTS netaclaw_approval_userId ON netaclaw_approval (userId);

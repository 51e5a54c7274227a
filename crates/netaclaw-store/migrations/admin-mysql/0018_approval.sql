-- Standing approvals of users for agents. What they cover is in `approval`, as JSON.
CREATE TABLE IF NOT EXISTS netaclaw_approval (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  userId VARCHAR(64) NOT NULL,
  agentId VARCHAR(64) NOT NULL,
  approval TEXT NOT NULL,
  grantedAt BIGINT NOT NULL,
  CONSTRAINT netaclaw_approval_userId FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  CONSTRAINT netaclaw_approval_agentId FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Facts that wait for their user to confirm them. Apart from the others, so that nothing that reads those can take one for confirmed.
CREATE TABLE IF NOT EXISTS netaclaw_memory_pending (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  userId VARCHAR(64) NOT NULL,
  agentId VARCHAR(64),
  text TEXT NOT NULL,
  sessionId VARCHAR(255) NOT NULL,
  replacesId VARCHAR(64),
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  CONSTRAINT netaclaw_memory_pending_userId FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  CONSTRAINT netaclaw_memory_pending_agentId FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

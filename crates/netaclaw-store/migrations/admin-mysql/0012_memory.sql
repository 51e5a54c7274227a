-- Short facts of users; without an agent they are for all agents.
CREATE TABLE IF NOT EXISTS netaclaw_memory (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  userId VARCHAR(64) NOT NULL,
  agentId VARCHAR(64),
  text TEXT NOT NULL,
  author VARCHAR(16) NOT NULL,
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  CONSTRAINT netaclaw_memory_userId FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  CONSTRAINT netaclaw_memory_agentId FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

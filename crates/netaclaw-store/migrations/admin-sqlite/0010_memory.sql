-- Short facts of users; without an agent they are for all agents.
CREATE TABLE IF NOT EXISTS netaclaw_memory (
  id TEXT NOT NULL PRIMARY KEY,
  userId TEXT NOT NULL,
  agentId TEXT,
  text TEXT NOT NULL,
  author TEXT NOT NULL,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX IF NOT EXISTS netaclaw_memory_userId ON netaclaw_memory (userId);

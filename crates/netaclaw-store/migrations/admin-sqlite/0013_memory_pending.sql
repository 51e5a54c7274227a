-- Facts that wait for their user to confirm them. Apart from the others, so that nothing that reads those can take one for confirmed.
CREATE TABLE IF NOT EXISTS netaclaw_memory_pending (
  id TEXT NOT NULL PRIMARY KEY,
  userId TEXT NOT NULL,
  agentId TEXT,
  text TEXT NOT NULL,
  sessionId TEXT NOT NULL,
  replacesId TEXT,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE,
  FOREIGN KEY (agentId) REFERENCES netaclaw_agent (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX IF NOT EXISTS netaclaw_memory_pending_userId ON netaclaw_memory_pending (userId);

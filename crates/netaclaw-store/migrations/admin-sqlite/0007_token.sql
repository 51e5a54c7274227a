-- `hash` is of the secret half of the token; the other half is the id.
CREATE TABLE IF NOT EXISTS netaclaw_token (
  id TEXT NOT NULL PRIMARY KEY,
  userId TEXT NOT NULL,
  label TEXT NOT NULL,
  scope TEXT NOT NULL,
  hash BLOB NOT NULL,
  expiresAt INTEGER,
  revokedAt INTEGER,
  lastUsedAt INTEGER,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE
) STRICT;

-- `sealedSecrets` is version, nonce and ciphertext of a JSON object; it opens only in its own row.
CREATE TABLE IF NOT EXISTS netaclaw_mcp_server (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  sealedSecrets BLOB,
  secretNames TEXT NOT NULL,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  UNIQUE (name)
) STRICT;

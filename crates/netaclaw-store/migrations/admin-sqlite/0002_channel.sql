-- `sealedKey` is version, nonce and ciphertext; it opens only in the row it was made for.
CREATE TABLE IF NOT EXISTS netaclaw_channel (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  sealedKey BLOB,
  keyLast4 TEXT,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  UNIQUE (name)
) STRICT;

-- `sealedKey` is version, nonce and ciphertext; it opens only in the row it was made for.
CREATE TABLE IF NOT EXISTS netaclaw_channel (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  data LONGTEXT NOT NULL,
  sealedKey BLOB,
  keyLast4 VARCHAR(32),
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  UNIQUE KEY netaclaw_channel_name (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

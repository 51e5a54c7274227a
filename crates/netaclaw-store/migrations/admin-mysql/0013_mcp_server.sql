-- `sealedSecrets` is version, nonce and ciphertext of a JSON object; it opens only in its own row.
CREATE TABLE IF NOT EXISTS netaclaw_mcp_server (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  data LONGTEXT NOT NULL,
  sealedSecrets MEDIUMBLOB,
  secretNames LONGTEXT NOT NULL,
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  UNIQUE KEY netaclaw_mcp_server_name (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

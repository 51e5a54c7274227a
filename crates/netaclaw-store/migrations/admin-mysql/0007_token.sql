-- `hash` is of the secret half of the token; the other half is the id.
CREATE TABLE IF NOT EXISTS netaclaw_token (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  userId VARCHAR(64) NOT NULL,
  label VARCHAR(200) NOT NULL,
  scope VARCHAR(32) NOT NULL,
  hash VARBINARY(32) NOT NULL,
  expiresAt BIGINT,
  revokedAt BIGINT,
  lastUsedAt BIGINT,
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  CONSTRAINT netaclaw_token_userId FOREIGN KEY (userId) REFERENCES netaclaw_user (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

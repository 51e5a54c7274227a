-- `passwordHash` is Argon2id in PHC form; without one only tokens let the user in.
CREATE TABLE IF NOT EXISTS netaclaw_user (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  label VARCHAR(200) NOT NULL,
  role VARCHAR(32) NOT NULL,
  status VARCHAR(32) NOT NULL,
  passwordHash VARCHAR(200),
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  UNIQUE KEY netaclaw_user_name (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

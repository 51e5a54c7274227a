-- The whole agent is `data`; what must be unique, or changes without its editor, is a column.
CREATE TABLE IF NOT EXISTS netaclaw_agent (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  isDefault BIGINT NOT NULL,
  data LONGTEXT NOT NULL,
  rev BIGINT NOT NULL,
  createdAt BIGINT NOT NULL,
  updatedAt BIGINT NOT NULL,
  UNIQUE KEY netaclaw_agent_name (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

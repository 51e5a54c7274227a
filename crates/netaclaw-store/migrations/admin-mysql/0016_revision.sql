-- Increased by every change in its own transaction, so that a process sees by one small row whether what it has read still counts.
CREATE TABLE IF NOT EXISTS netaclaw_admin_revision (
  area VARCHAR(32) NOT NULL PRIMARY KEY,
  revision BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Only ever added to. `fields` is a JSON list of names; values are not written down.
CREATE TABLE IF NOT EXISTS netaclaw_audit (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at BIGINT NOT NULL,
  who VARCHAR(200) NOT NULL,
  action VARCHAR(32) NOT NULL,
  kind VARCHAR(32) NOT NULL,
  targetId VARCHAR(64) NOT NULL,
  targetName VARCHAR(200) NOT NULL,
  fields TEXT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

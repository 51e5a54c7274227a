-- Whoever changes something holds this table's one row until it is done, so that changes come one
-- after the other, as SQLite has it by nature.
CREATE TABLE IF NOT EXISTS netaclaw_admin_writer (
  id BIGINT NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

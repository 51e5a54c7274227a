-- Increased by every change in its own transaction, so that a process sees by one small row whether what it has read still counts.
CREATE TABLE IF NOT EXISTS netaclaw_admin_revision (
  area TEXT NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT;

INSERT OR IGNORE INTO netaclaw_admin_revision (area, revision) VALUES ('configuration', 1), ('accounts', 1);

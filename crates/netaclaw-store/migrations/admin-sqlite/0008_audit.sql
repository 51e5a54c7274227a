-- Only ever added to. `fields` is a JSON list of names; values are not written down.
CREATE TABLE IF NOT EXISTS netaclaw_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  kind TEXT NOT NULL,
  targetId TEXT NOT NULL,
  targetName TEXT NOT NULL,
  fields TEXT NOT NULL
) STRICT;

-- The whole agent is `data`; what must be unique, or changes without its editor, is a column.
CREATE TABLE IF NOT EXISTS netaclaw_agent (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  isDefault INTEGER NOT NULL,
  data TEXT NOT NULL,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  UNIQUE (name)
) STRICT;

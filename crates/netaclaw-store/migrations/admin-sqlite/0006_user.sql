-- `passwordHash` is Argon2id in PHC form; without one only tokens let the user in.
CREATE TABLE IF NOT EXISTS netaclaw_user (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  passwordHash TEXT,
  rev INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  UNIQUE (name)
) STRICT;

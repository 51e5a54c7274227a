-- Who owns a session, and under which claim. The fence grows with every claim and every release; a
-- statement that stores something of a session names the fence it was made under.
--
-- Not every server has ADD COLUMN IF NOT EXISTS, and this must be repeatable.
SET @netaclaw_step = (
  SELECT IF(COUNT(*) > 0, 'DO 0',
    'ALTER TABLE neta_agent_session ADD COLUMN ownerNode VARCHAR(64) NULL, ADD COLUMN fence BIGINT UNSIGNED NOT NULL DEFAULT 0, ADD KEY neta_agent_session_owner (ownerNode)')
  FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'neta_agent_session' AND column_name = 'fence');
PREPARE netaclaw_step FROM @netaclaw_step;
EXECUTE netaclaw_step;
DEALLOCATE PREPARE netaclaw_step;

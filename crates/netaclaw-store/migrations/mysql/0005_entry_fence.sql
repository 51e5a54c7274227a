-- Under which claim of its session a row was written, and for which request of a client. A request
-- stores one message of a session, whichever node it reached.
SET @netaclaw_step = (
  SELECT IF(COUNT(*) > 0, 'DO 0',
    'ALTER TABLE neta_agent_session_entry ADD COLUMN fence BIGINT UNSIGNED NOT NULL DEFAULT 0, ADD COLUMN requestId VARCHAR(255) NULL, ADD UNIQUE KEY neta_agent_session_entry_request (sessionId, requestId)')
  FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'neta_agent_session_entry' AND column_name = 'fence');
PREPARE netaclaw_step FROM @netaclaw_step;
EXECUTE netaclaw_step;
DEALLOCATE PREPARE netaclaw_step;

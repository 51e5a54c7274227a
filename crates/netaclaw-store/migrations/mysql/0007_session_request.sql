-- The part of the id that a request decides, where a request made the session: no two sessions are
-- of one request.
SET @netaclaw_step = (
  SELECT IF(COUNT(*) > 0, 'DO 0',
    'ALTER TABLE neta_agent_session ADD COLUMN requestKey VARCHAR(22) GENERATED ALWAYS AS (IF(CHAR_LENGTH(sessionId) = 36 AND SUBSTRING(sessionId, 15, 4) = ''7ec5'', RIGHT(sessionId, 22), NULL)) VIRTUAL, ADD UNIQUE KEY neta_agent_session_request (requestKey)')
  FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'neta_agent_session' AND column_name = 'requestKey');
PREPARE netaclaw_step FROM @netaclaw_step;
EXECUTE netaclaw_step;
DEALLOCATE PREPARE netaclaw_step;

-- When an entry was written, for people who ask in SQL. It is the first timestamp in the entry
-- itself, so that rows that were written before this column was there have it as well.
SET @netaclaw_step = (
  SELECT IF(COUNT(*) > 0, 'DO 0',
    'ALTER TABLE neta_agent_session_entry ADD COLUMN createdAt VARCHAR(32) GENERATED ALWAYS AS (IF(LOCATE(''"timestamp":"'', envelope) = 0, NULL, LEFT(SUBSTRING_INDEX(SUBSTRING(envelope, LOCATE(''"timestamp":"'', envelope) + 13), ''"'', 1), 32))) VIRTUAL')
  FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'neta_agent_session_entry' AND column_name = 'createdAt');
PREPARE netaclaw_step FROM @netaclaw_step;
EXECUTE netaclaw_step;
DEALLOCATE PREPARE netaclaw_step;

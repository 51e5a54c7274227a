-- Entries: the log of each session, appended only.
--
-- An entry is the text `envelope` with `message` put in at byte `messageAt`; that is the truth.
-- The other columns repeat parts of it for people who ask in SQL.
CREATE TABLE IF NOT EXISTS neta_agent_session_entry (
  sessionId        VARCHAR(128)    NOT NULL,
  -- The order of the log, from 1. Below 0 while the entry is in flight and not part of it.
  entrySeq         BIGINT          NOT NULL,
  -- The id; with a `#` and a suffix where an imported log has it twice, where it is very long or
  -- has a `#` or a space at its end, which the index cannot tell apart.
  entryId          VARCHAR(255)    NOT NULL,
  parentEntryId    LONGTEXT        NULL,
  type             VARCHAR(64)     NOT NULL,
  message          LONGTEXT        NULL,
  summary          LONGTEXT        NULL,
  firstKeptEntryId LONGTEXT        NULL,
  tokensBefore     BIGINT UNSIGNED NULL,
  thinkingLevel    LONGTEXT        NULL,
  provider         LONGTEXT        NULL,
  modelId          LONGTEXT        NULL,
  customType       LONGTEXT        NULL,
  data             LONGTEXT        NULL,
  display          BOOLEAN         NULL,
  targetEntryId    LONGTEXT        NULL,
  label            LONGTEXT        NULL,
  details          LONGTEXT        NULL,
  -- The instance of NetaClaw that wrote the row.
  sourceRuntime    VARCHAR(64)     NOT NULL,
  status           VARCHAR(16)     NOT NULL,
  envelope         LONGTEXT        NOT NULL,
  messageAt        INT UNSIGNED    NULL,
  PRIMARY KEY (sessionId, entrySeq),
  UNIQUE KEY neta_agent_session_entry_id (sessionId, entryId),
  CONSTRAINT neta_agent_session_entry_status CHECK (status = IF(entrySeq < 0, 'in_flight', 'completed')),
  CONSTRAINT neta_agent_session_entry_message CHECK ((message IS NULL) = (messageAt IS NULL)),
  CONSTRAINT neta_agent_session_entry_session FOREIGN KEY (sessionId)
    REFERENCES neta_agent_session (sessionId)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

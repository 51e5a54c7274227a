-- Sessions. What is known about a session without reading its entries.
--
-- Text is compared byte by byte, and ids and JSON are kept exactly as they were written, at any
-- length. JSON stands in text columns because MySQL's JSON type orders keys and rewrites numbers.
-- It is not checked with JSON_VALID: MariaDB refuses what is nested 32 deep, both refuse lone
-- surrogates, and all of that is valid in a session. Only text that was parsed gets here.
CREATE TABLE IF NOT EXISTS neta_agent_session (
  sessionId       VARCHAR(128) NOT NULL,
  provider        VARCHAR(16)  NOT NULL DEFAULT 'mysql',
  rootEntryId     LONGTEXT     NULL,
  leafEntryId     LONGTEXT     NULL,
  cwd             LONGTEXT     NOT NULL,
  sessionFile     LONGTEXT     NULL,
  parentSessionId LONGTEXT     NULL,
  agentId         LONGTEXT     NULL,
  userId          LONGTEXT     NULL,
  title           LONGTEXT     NULL,
  status          VARCHAR(16)  NOT NULL DEFAULT 'active',
  metadata        LONGTEXT     NOT NULL,
  -- ISO 8601, UTC, milliseconds: sorts as it reads.
  createdAt       VARCHAR(32)  NOT NULL,
  updatedAt       VARCHAR(32)  NOT NULL,
  -- The first line of the session's file form, unknown fields included.
  header          LONGTEXT     NOT NULL,
  -- The entrySeq of the next entry.
  nextSeq         BIGINT       NOT NULL,
  messageCount    BIGINT       NOT NULL DEFAULT 0,
  firstMessage    LONGTEXT     NULL,
  PRIMARY KEY (sessionId),
  KEY neta_agent_session_recent (updatedAt),
  KEY neta_agent_session_user (userId(100)),
  CONSTRAINT neta_agent_session_status CHECK (status IN ('active', 'archived', 'deleted')),
  CONSTRAINT neta_agent_session_header CHECK (LEFT(header, 1) = '{'),
  CONSTRAINT neta_agent_session_metadata CHECK (LEFT(metadata, 1) = '{')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

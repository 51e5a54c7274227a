-- Nodes: the processes that own sessions of this database.
--
-- A node increases its beat while it lives. Times of different machines are never compared: whether a
-- node lives is decided by peers that see its beat change or stay. A node whose row is not there is dead.
CREATE TABLE IF NOT EXISTS netaclaw_node (
  -- New for each start, and after the node was declared dead.
  nodeId    VARCHAR(64)     NOT NULL,
  -- The start of the process, as its data directory knows it.
  instance  VARCHAR(64)     NOT NULL,
  -- For people: what kind of process it is, and where.
  name      VARCHAR(255)    NOT NULL,
  version   VARCHAR(64)     NOT NULL,
  state     VARCHAR(16)     NOT NULL DEFAULT 'live',
  beat      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- Shown, never compared.
  startedAt VARCHAR(32)     NOT NULL,
  PRIMARY KEY (nodeId),
  KEY netaclaw_node_instance (instance),
  CONSTRAINT netaclaw_node_state CHECK (state IN ('live', 'draining', 'dead'))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

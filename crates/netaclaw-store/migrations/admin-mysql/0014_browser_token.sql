-- The tokens that browsers came in with: the one that a browser was given ends with the one it came in with.
CREATE TABLE IF NOT EXISTS netaclaw_browser_token (
  tokenId VARCHAR(64) NOT NULL PRIMARY KEY,
  issuedWith VARCHAR(64) NOT NULL,
  CONSTRAINT netaclaw_browser_token_tokenId FOREIGN KEY (tokenId) REFERENCES netaclaw_token (id) ON DELETE CASCADE,
  CONSTRAINT netaclaw_browser_token_issuedWith FOREIGN KEY (issuedWith) REFERENCES netaclaw_token (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

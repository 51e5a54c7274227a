-- The tokens that browsers came in with: the one that a browser was given ends with the one it came in with.
CREATE TABLE IF NOT EXISTS netaclaw_browser_token (
  tokenId TEXT NOT NULL PRIMARY KEY,
  issuedWith TEXT NOT NULL,
  FOREIGN KEY (tokenId) REFERENCES netaclaw_token (id) ON DELETE CASCADE,
  FOREIGN KEY (issuedWith) REFERENCES netaclaw_token (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX IF NOT EXISTS netaclaw_browser_token_issuedWith ON netaclaw_browser_token (issuedWith);

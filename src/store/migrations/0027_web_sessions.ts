/** Sessions of people in a browser, and links that log in once. A new password and a removed user end both, by triggers. */
export const webSessions = `
CREATE TABLE web_session (
  -- Random; the token against forged requests is derived from it.
  id TEXT PRIMARY KEY,
  -- Only digests: a copy of the database logs nobody in.
  token_hash TEXT NOT NULL UNIQUE,
  -- The cookie before the last rotation, which requests under way still carry.
  previous_hash TEXT UNIQUE,
  -- Until when that one is accepted; null = until the new one was used.
  previous_until INTEGER,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_session_of_user ON web_session (user_id, used_at);
CREATE INDEX web_session_idle ON web_session (used_at);

CREATE TABLE login_link (
  token_hash TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_link_of_user ON login_link (user_id);
CREATE INDEX login_link_expired ON login_link (expires_at);

CREATE TRIGGER web_session_password AFTER UPDATE OF password_hash ON user BEGIN
  DELETE FROM web_session WHERE user_id = new.id;
  DELETE FROM login_link WHERE user_id = new.id;
END;
CREATE TRIGGER web_session_user AFTER DELETE ON user BEGIN
  DELETE FROM web_session WHERE user_id = old.id;
  DELETE FROM login_link WHERE user_id = old.id;
END;
`;

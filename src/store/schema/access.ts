/** Tables: who may log in, and what the service knows of itself. */

import { refuseFormerKeys } from './sealed.js';

export const access = `
-- The instance and its settings --------------------------------------------------------------------------------------
CREATE TABLE instance (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Values are JSON; those of secrets are sealed.
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at INTEGER NOT NULL) WITHOUT ROWID;
${refuseFormerKeys('setting', ['value'])}
-- Holds no row: a statement that would insert one fails and ends its batch (driver/guard.ts).
CREATE TABLE batch_guard (holds INTEGER NOT NULL CONSTRAINT batch_guard_holds CHECK (holds = 1));

-- Logins -------------------------------------------------------------------------------------------------------------
CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  rights TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- When an assistant first logged in with the password; NULL = never, or somebody else has set another one since.
  assistant_at INTEGER
);

CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  version TEXT NOT NULL CHECK (version IN ('v1', 'v2')),
  legacy_id TEXT UNIQUE,
  key_hash TEXT UNIQUE,
  secret_hash TEXT NOT NULL DEFAULT '',
  last7 TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'read_write')),
  approves INTEGER NOT NULL DEFAULT 0 CHECK (approves IN (0, 1)),
  enabled INTEGER NOT NULL DEFAULT 1,
  user_id INTEGER REFERENCES user (id) ON DELETE SET NULL,
  last_access INTEGER,
  created_at INTEGER NOT NULL,
  -- When an assistant first used it; NULL = never.
  assistant_at INTEGER
);

-- Sessions of people in a browser. Only digests of tokens are stored, so a copy of the database cannot be used to log in.
CREATE TABLE web_session (
  -- Random; the token against forged requests is derived from it.
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  -- The cookie before the last rotation, which requests under way still carry.
  previous_hash TEXT UNIQUE,
  -- Until when that one is accepted; NULL = until the new one was used.
  previous_until INTEGER,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_session_of_user ON web_session (user_id, used_at);
CREATE INDEX web_session_idle ON web_session (used_at);

-- Links that log in once.
CREATE TABLE login_link (
  token_hash TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_link_of_user ON login_link (user_id);
CREATE INDEX login_link_expired ON login_link (expires_at);

-- A new password, other rights and the removal of a user end sessions and links.
CREATE TRIGGER web_session_password AFTER UPDATE OF password_hash ON user BEGIN
  DELETE FROM web_session WHERE user_id = new.id;
  DELETE FROM login_link WHERE user_id = new.id;
END;
CREATE TRIGGER web_session_rights AFTER UPDATE OF rights, enabled ON user
WHEN old.rights <> new.rights OR old.enabled <> new.enabled BEGIN
  DELETE FROM web_session WHERE user_id = new.id;
  DELETE FROM login_link WHERE user_id = new.id;
END;
CREATE TRIGGER web_session_user AFTER DELETE ON user BEGIN
  DELETE FROM web_session WHERE user_id = old.id;
  DELETE FROM login_link WHERE user_id = old.id;
END;

-- One row per Idempotency-Key of one principal. The body is sealed, as an answer may hold a token; and the fingerprint, as by it a
-- password in the call could be guessed.
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- Process that runs the call, to tell a running one from one that died.
  owner TEXT NOT NULL,
  -- NULL while the call runs.
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);
${refuseFormerKeys('idempotency', ['body', 'fingerprint'])}`;

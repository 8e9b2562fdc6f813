/** Tables: changes that wait for a person. */
export const approvals = `
-- Requests to approve one call: of one caller, with one input, and with what it would have done when it was asked for.
CREATE TABLE approval (
  id TEXT PRIMARY KEY,
  -- Who asked: the credential, not its name.
  asker TEXT NOT NULL,
  asker_name TEXT NOT NULL,
  via TEXT NOT NULL,
  client TEXT NOT NULL,
  operation TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- NULL = unknown.
  sites INTEGER,
  -- JSON: every kind of change of the call that was not free, with its sites.
  changes TEXT NOT NULL,
  -- Of the input with its secrets, so it depends on the secret key.
  input_digest TEXT NOT NULL,
  plan_digest TEXT NOT NULL,
  -- JSON, without secrets.
  input TEXT NOT NULL,
  plan TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'refused', 'used', 'expired', 'replaced', 'withdrawn')),
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  note TEXT NOT NULL DEFAULT '',
  used_at INTEGER
);
-- A call repeated while it waits asks only once.
CREATE UNIQUE INDEX approval_open ON approval (asker, operation, input_digest) WHERE state IN ('waiting', 'approved');
CREATE INDEX approval_of_call ON approval (asker, operation, input_digest, asked_at);
CREATE INDEX approval_newest ON approval (asked_at);
CREATE INDEX approval_waiting ON approval (asker, asked_at) WHERE state = 'waiting';
`;

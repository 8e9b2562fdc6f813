/** Webhooks and chat channels that alerts are sent to, and each sending of an alert to one of them. */
export const alertRecipients = `
CREATE TABLE alert_recipient (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Drawn before the row is there, for its target is sealed to it.
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- webhook, slack, discord, teams, telegram, ntfy
  type TEXT NOT NULL,
  -- Sealed JSON: address, signing secret, token. An address of these services is a secret by itself.
  target TEXT NOT NULL,
  -- The host of the address, which may be shown.
  host TEXT NOT NULL,
  -- JSON arrays; empty = all.
  kinds TEXT NOT NULL DEFAULT '[]',
  site_ids TEXT NOT NULL DEFAULT '[]',
  -- Minutes of the dashboard's day between which nothing is sent; null = none.
  quiet_from INTEGER,
  quiet_to INTEGER,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_sent_at INTEGER,
  last_failed_at INTEGER,
  last_error TEXT NOT NULL DEFAULT ''
);
CREATE TABLE alert_delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  alert_id INTEGER NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
  recipient_id INTEGER NOT NULL REFERENCES alert_recipient (id) ON DELETE CASCADE,
  -- queued, sending, sent, dead
  status TEXT NOT NULL DEFAULT 'queued',
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try_at INTEGER NOT NULL,
  lease_until INTEGER,
  last_error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (alert_id, recipient_id)
);
CREATE INDEX alert_delivery_of_recipient ON alert_delivery (recipient_id);
CREATE INDEX alert_delivery_open ON alert_delivery (recipient_id, next_try_at) WHERE status IN ('queued', 'sending');
CREATE INDEX alert_delivery_dead ON alert_delivery (id) WHERE status = 'dead';

-- When it was decided who of them gets the alert. Alerts from before are told to none.
ALTER TABLE alert ADD COLUMN routed_at INTEGER;
UPDATE alert SET routed_at = at;
CREATE INDEX alert_to_route ON alert (id) WHERE routed_at IS NULL;
`;

/**
 * Tables: monitors, certificates, domains, alerts. Every site has its monitor and its certificate plan from the moment it
 * exists: a trigger makes them, so that no way of adding a site can forget it. `next_check_at` 0 = at the next run,
 * NULL = not at all (switched off). Times are milliseconds since the epoch unless they say otherwise.
 */

import { refuseFormerKeys } from './sealed.js';

export const monitoring = `
-- Monitors -----------------------------------------------------------------------------------------------------------
-- Settings: NULL = use the global one. State: all that the engine knows, so that a restart changes nothing.
CREATE TABLE monitor (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  active INTEGER CHECK (active IN (0, 1)),
  interval_min INTEGER,
  timeout_s INTEGER,
  maxretries INTEGER,
  type TEXT,
  method TEXT,
  -- JSON array of HTTP codes.
  expected_status TEXT,
  keyword TEXT,
  -- Of the last beat: 0 down, 1 up, 2 pending, 99 none yet.
  status INTEGER NOT NULL DEFAULT 99,
  -- Last certain state: 1 up, 0 down. A monitor that was never checked counts as up.
  confirmed INTEGER NOT NULL DEFAULT 1,
  -- What people were last told: 1 up, 0 down, 2 that it keeps changing.
  told INTEGER NOT NULL DEFAULT 1,
  failures INTEGER NOT NULL DEFAULT 0,
  down_count INTEGER NOT NULL DEFAULT 0,
  flapping_until INTEGER,
  last_check_at INTEGER,
  last_http_code INTEGER,
  last_ping_ms INTEGER,
  last_msg TEXT NOT NULL DEFAULT '',
  next_check_at INTEGER DEFAULT 0,
  -- Not checked before then, because somebody works on the site; NULL or past = as planned.
  maintenance_until INTEGER,
  -- Grows with each recorded check: a result that was measured against an older state is dropped.
  seq INTEGER NOT NULL DEFAULT 0,
  -- Where in its interval the site has its turn, 0 to 1: the golden ratio spreads any run of ids evenly.
  phase REAL GENERATED ALWAYS AS (site_id * 0.6180339887498949 - CAST(site_id * 0.6180339887498949 AS INTEGER)) VIRTUAL
);
CREATE INDEX monitor_due ON monitor (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX monitor_by_status ON monitor (status);

-- Maintenance that returns each week, on the clock of the site.
CREATE TABLE maintenance_window (
  id INTEGER PRIMARY KEY,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  -- 0 Sunday to 6 Saturday, and minutes of the day; one that ends before it begins ends on the next day.
  weekday INTEGER NOT NULL,
  from_min INTEGER NOT NULL,
  to_min INTEGER NOT NULL,
  -- When it is looked at next, and when the last one began that was begun.
  next_at INTEGER NOT NULL DEFAULT 0,
  begun_at INTEGER
);
CREATE INDEX maintenance_window_due ON maintenance_window (next_at);
CREATE INDEX maintenance_window_by_site ON maintenance_window (site_id);

CREATE TABLE heartbeat (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  important INTEGER NOT NULL,
  ping_ms INTEGER,
  http_code INTEGER,
  -- Seconds since the beat before.
  duration INTEGER NOT NULL,
  down_count INTEGER NOT NULL,
  msg TEXT NOT NULL
);
CREATE INDEX heartbeat_by_site ON heartbeat (site_id, at);

-- hour: hours since the epoch. Seconds in each state; answer times of beats that were up.
CREATE TABLE monitor_hour (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  up_s REAL NOT NULL,
  down_s REAL NOT NULL,
  pending_s REAL NOT NULL,
  pings INTEGER NOT NULL,
  ping_sum INTEGER NOT NULL,
  ping_min INTEGER,
  ping_max INTEGER,
  PRIMARY KEY (site_id, hour)
) WITHOUT ROWID;
CREATE INDEX monitor_hour_old ON monitor_hour (hour);
CREATE INDEX monitor_hour_down ON monitor_hour (site_id, hour) WHERE down_s > 0;

-- The same by day (days since the epoch, UTC), once the day is over: kept when its hours are deleted.
CREATE TABLE monitor_day (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  up_s REAL NOT NULL,
  down_s REAL NOT NULL,
  pending_s REAL NOT NULL,
  pings INTEGER NOT NULL,
  ping_sum INTEGER NOT NULL,
  ping_min INTEGER,
  ping_max INTEGER,
  PRIMARY KEY (site_id, day)
) WITHOUT ROWID;
CREATE INDEX monitor_day_old ON monitor_day (day);

CREATE TABLE incident (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  http_code INTEGER,
  msg TEXT NOT NULL,
  down_count INTEGER NOT NULL,
  -- Who has seen it.
  acknowledged_at INTEGER,
  acknowledged_by TEXT NOT NULL DEFAULT '',
  acknowledged_note TEXT NOT NULL DEFAULT ''
);
CREATE INDEX incident_newest ON incident (started_at);
CREATE INDEX incident_by_site ON incident (site_id, started_at, ended_at);
CREATE INDEX incident_old ON incident (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX incident_open ON incident (site_id) WHERE ended_at IS NULL;

-- Matters that a person has set aside, by the name of their occurrence: what happens again has another.
CREATE TABLE attention_mark (
  subject TEXT PRIMARY KEY,
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  -- acknowledged, snoozed, done.
  state TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- When a snooze ends.
  until INTEGER,
  by_name TEXT NOT NULL,
  note TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX attention_mark_by_site ON attention_mark (site_id);
CREATE INDEX attention_mark_newest ON attention_mark (at);
-- When a site became unreachable is not stored: it is over when it is reached.
CREATE TRIGGER attention_mark_reached AFTER UPDATE OF reachable ON site_detail WHEN old.reachable = 0 AND new.reachable = 1 BEGIN
  DELETE FROM attention_mark WHERE subject = 'unreachable:' || new.site_id;
END;

-- The fleet as it was last counted on a day (days since the epoch, UTC), and once the day is over its uptime. NULL = not known.
CREATE TABLE fleet_day (
  day INTEGER PRIMARY KEY,
  -- Sites by status; those that are down are among the connected ones.
  connected INTEGER,
  disconnected INTEGER,
  suspended INTEGER,
  down INTEGER,
  -- Pending updates, and sites with known vulnerabilities.
  updates INTEGER,
  vulnerable INTEGER,
  -- Seconds, of all monitored sites.
  up_s REAL,
  down_s REAL
);

-- One row: what the engine knows beyond single sites.
CREATE TABLE monitor_engine (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- Global settings that next_check_at was computed with, JSON.
  planned TEXT NOT NULL DEFAULT '',
  -- The last day that is summed in monitor_day; NULL = none yet.
  summed_day INTEGER
);
INSERT INTO monitor_engine (id) VALUES (1);

-- Whether a machine's own network is up.
CREATE TABLE monitor_network (
  -- Name of the machine.
  host TEXT PRIMARY KEY,
  down_since INTEGER,
  -- When the references were asked last, and when one last answered.
  asked_at INTEGER,
  ok_at INTEGER
) WITHOUT ROWID;

-- Alerts -------------------------------------------------------------------------------------------------------------
-- What people are told, once each: the key says what "once" means.
CREATE TABLE alert (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  -- JSON object.
  facts TEXT NOT NULL,
  -- When it was decided which recipients get it.
  routed_at INTEGER,
  -- An alert that no one was to get is dealt with, but not mailed: mailed_at is the time of the mail that told of it.
  delivered_at INTEGER,
  mail_key TEXT,
  mailed_at INTEGER
);
CREATE INDEX alert_to_route ON alert (id) WHERE routed_at IS NULL;
CREATE INDEX alert_by_mail ON alert (mail_key) WHERE mail_key IS NOT NULL;
CREATE INDEX alert_by_site ON alert (site_id, id);
CREATE INDEX alert_waiting ON alert (id) WHERE delivered_at IS NULL;
CREATE INDEX alert_old ON alert (at);

-- Webhooks and chats that alerts are sent to, and each sending of an alert to one of them.
CREATE TABLE alert_recipient (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Drawn before the row is there, for its target is sealed to it.
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- webhook, slack, discord, teams, telegram, ntfy
  type TEXT NOT NULL,
  -- Sealed JSON: address, signing secret, token. An address of these services is a secret.
  target TEXT NOT NULL,
  -- The host of the address, which may be shown.
  host TEXT NOT NULL,
  -- JSON arrays; empty = all.
  kinds TEXT NOT NULL DEFAULT '[]',
  site_ids TEXT NOT NULL DEFAULT '[]',
  -- Minutes of the dashboard's day between which nothing is sent; NULL = none.
  quiet_from INTEGER,
  quiet_to INTEGER,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_sent_at INTEGER,
  last_failed_at INTEGER,
  last_error TEXT NOT NULL DEFAULT ''
);
${refuseFormerKeys('alert_recipient', ['target'])}
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

-- Certificates and domains -------------------------------------------------------------------------------------------
-- The certificate last seen on the site's own address; good = trusted chain, right name, in date.
CREATE TABLE site_certificate (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('valid', 'expiring', 'expired', 'invalid', 'unknown')),
  good INTEGER NOT NULL DEFAULT 0,
  issuer_o TEXT,
  issuer_cn TEXT,
  subject_cn TEXT,
  subject_alt_names TEXT NOT NULL DEFAULT '[]',
  serial TEXT,
  signature_algorithm TEXT,
  fingerprint TEXT,
  valid_from INTEGER,
  valid_to INTEGER,
  error TEXT,
  last_check INTEGER NOT NULL
);
CREATE INDEX site_certificate_by_end ON site_certificate (valid_to);
CREATE TABLE certificate_plan (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  next_check_at INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX certificate_due ON certificate_plan (next_check_at);

-- A domain is looked up once, however many sites live under it.
CREATE TABLE domain (
  name TEXT PRIMARY KEY,
  registrar TEXT,
  registrar_url TEXT,
  registrar_iana_id TEXT,
  creation_date INTEGER,
  updated_date INTEGER,
  expiry_date INTEGER,
  domain_status TEXT NOT NULL DEFAULT '[]',
  name_servers TEXT NOT NULL DEFAULT '[]',
  source TEXT CHECK (source IN ('rdap', 'whois', 'manual')),
  -- Why the last lookup told nothing; '' when it did.
  error TEXT NOT NULL DEFAULT '',
  last_check INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  next_check_at INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX domain_due ON domain (next_check_at);
CREATE INDEX domain_by_end ON domain (expiry_date);

-- domain NULL = the site's host has none (an address, localhost, a private name). No row = not looked up yet.
CREATE TABLE site_domain (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  domain TEXT REFERENCES domain (name)
);
CREATE INDEX site_domain_by_domain ON site_domain (domain);

-- Every site has its monitor and its certificate plan -----------------------------------------------------------------
CREATE TRIGGER site_monitor_insert AFTER INSERT ON site BEGIN
  INSERT INTO monitor (site_id) VALUES (new.id);
  INSERT INTO certificate_plan (site_id) VALUES (new.id);
END;
CREATE TRIGGER site_monitor_suspend AFTER UPDATE OF suspended ON site WHEN old.suspended <> new.suspended BEGIN
  UPDATE monitor SET next_check_at = 0, seq = seq + 1 WHERE site_id = new.id;
END;
-- The monitor looks at the same page as a check. The time is written at once: only the batch that changes a status stamps it.
CREATE TRIGGER site_monitor_looked AFTER UPDATE OF last_check_at ON monitor WHEN new.last_check_at IS NOT NULL BEGIN
  UPDATE site SET unreached = CASE WHEN new.status = 1 THEN 0 ELSE max(unreached, 1) END
    WHERE id = new.site_id AND (unreached = 0) = (new.status <> 1);
  UPDATE site_detail SET status_since = new.last_check_at WHERE site_id = new.site_id AND status_since = 0;
END;
CREATE TRIGGER site_monitor_moves AFTER UPDATE OF url ON site WHEN old.url <> new.url BEGIN
  UPDATE certificate_plan SET next_check_at = 0 WHERE site_id = new.id;
  DELETE FROM site_domain WHERE site_id = new.id;
  -- An address without TLS has none, and no check replaces it.
  DELETE FROM site_certificate WHERE site_id = new.id AND new.url NOT LIKE 'https:%';
END;
`;

/** History of what the service did, performance audits, the time tracker, report records, and mail. Times are ms. */
export const engines = `
-- What the service itself changed on a site; what others changed stands in site_change.
CREATE TABLE site_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  context TEXT NOT NULL CHECK (context IN ('plugin', 'theme', 'core', 'translation')),
  action TEXT NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL DEFAULT '',
  new_version TEXT NOT NULL DEFAULT '',
  at INTEGER NOT NULL
);
CREATE INDEX site_history_newest ON site_history (site_id, at DESC, id DESC);

-- Performance audits -------------------------------------------------------------------------------------------------
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  strategy TEXT NOT NULL CHECK (strategy IN ('desktop', 'mobile')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  requested_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER,
  engine TEXT NOT NULL DEFAULT '',
  response_code INTEGER,
  performance INTEGER,
  seo INTEGER,
  accessibility INTEGER,
  best_practices INTEGER,
  lab_data TEXT NOT NULL DEFAULT '{}',
  others_data TEXT NOT NULL DEFAULT '[]',
  error TEXT
);
-- At most one open audit of a site and strategy: asking twice queues once.
CREATE UNIQUE INDEX audit_open ON audit (site_id, strategy) WHERE status IN ('pending', 'running');
CREATE INDEX audit_queue ON audit (id) WHERE status IN ('pending', 'running');
CREATE INDEX audit_newest ON audit (site_id, strategy, id DESC);
CREATE INDEX audit_age ON audit (finished_at) WHERE finished_at IS NOT NULL;
CREATE TABLE audit_choice (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  -- NULL = as the module's setting says.
  strategy TEXT CHECK (strategy IN ('desktop', 'mobile', 'both')),
  schedule TEXT CHECK (schedule IN ('none', 'daily', 'weekly', 'monthly'))
);

-- Time tracker -------------------------------------------------------------------------------------------------------
-- Decimals (hours, prices) are text: money is never a float.
CREATE TABLE time_bucket (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  title_key TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  hours TEXT NOT NULL,
  recurrence TEXT NOT NULL CHECK (recurrence IN ('none', 'weekly', 'monthly', 'quarterly', 'yearly')),
  hourly_price TEXT NOT NULL DEFAULT '0',
  -- First day of the first period, in the dashboard's calendar.
  starts_on TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX time_bucket_by_title ON time_bucket (title_key, id);
-- No row: the bucket serves every client.
CREATE TABLE time_bucket_client (
  bucket_id INTEGER NOT NULL REFERENCES time_bucket (id) ON DELETE CASCADE,
  client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  PRIMARY KEY (bucket_id, client_id)
) WITHOUT ROWID;
CREATE INDEX time_bucket_client_by_client ON time_bucket_client (client_id, bucket_id);

CREATE TABLE time_task (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  search TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  client_id INTEGER REFERENCES client (id) ON DELETE SET NULL,
  bucket_id INTEGER REFERENCES time_bucket (id) ON DELETE SET NULL,
  timer_mode TEXT NOT NULL CHECK (timer_mode IN ('count_up', 'count_down')),
  status TEXT NOT NULL DEFAULT 'idle' CHECK (status IN ('idle', 'running', 'paused', 'completed')),
  payment_status TEXT NOT NULL DEFAULT 'unbilled',
  hourly_price TEXT NOT NULL DEFAULT '0',
  -- Sum of the closed entries, and the start of the open one: lists need not read the entries.
  closed_ms INTEGER NOT NULL DEFAULT 0,
  running_since INTEGER,
  -- What the bucket had left when a count_down was started, seconds.
  allowance INTEGER,
  -- Rounding in force when the task was completed, so that a later change of settings does not change a bill.
  rounding_unit INTEGER,
  rounding_direction TEXT,
  started_at INTEGER,
  completed_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((status = 'running') = (running_since IS NOT NULL))
);
CREATE INDEX time_task_newest ON time_task (created_at DESC, id DESC);
CREATE INDEX time_task_by_status ON time_task (status, id);
CREATE INDEX time_task_by_client ON time_task (client_id, id) WHERE client_id IS NOT NULL;
CREATE INDEX time_task_by_bucket ON time_task (bucket_id, id) WHERE bucket_id IS NOT NULL;
CREATE TABLE time_task_site (
  task_id INTEGER NOT NULL REFERENCES time_task (id) ON DELETE CASCADE,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  PRIMARY KEY (task_id, site_id)
) WITHOUT ROWID;
CREATE INDEX time_task_site_by_site ON time_task_site (site_id, task_id);
CREATE TABLE time_entry (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES time_task (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK (ended_at IS NULL OR ended_at >= started_at)
);
CREATE UNIQUE INDEX time_entry_open ON time_entry (task_id) WHERE ended_at IS NULL;
CREATE INDEX time_entry_by_task ON time_entry (task_id, started_at);

-- client_id 0 = the global settings. NULL = not set here.
CREATE TABLE time_setting (
  client_id INTEGER PRIMARY KEY,
  timer_mode TEXT,
  currency_symbol TEXT,
  currency_position TEXT,
  thousand_separator TEXT,
  decimal_separator TEXT,
  decimals INTEGER,
  rounding_enabled INTEGER,
  rounding_direction TEXT,
  rounding_minutes INTEGER,
  hourly_price TEXT
);
INSERT INTO time_setting VALUES (0, 'count_up', '$', 'left', ',', '.', 2, 0, 'nearest', 15, '0');
CREATE TRIGGER time_setting_of_client AFTER DELETE ON client BEGIN
  DELETE FROM time_setting WHERE client_id = old.id;
END;

-- Reports ------------------------------------------------------------------------------------------------------------
-- Activity and figures of tools that the service does not run itself, told to it by their owners.
CREATE TABLE report_record (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  segment TEXT NOT NULL,
  action TEXT NOT NULL DEFAULT '',
  facts TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX report_record_newest ON report_record (site_id, segment, at DESC, id DESC);

-- Mail ---------------------------------------------------------------------------------------------------------------
CREATE TABLE mail (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- What happened, once: the same event never makes a second mail.
  event_key TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  site_id INTEGER REFERENCES site (id) ON DELETE SET NULL,
  recipients TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  html TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sending', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_try_at INTEGER NOT NULL,
  lease_until INTEGER,
  last_error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  sent_at INTEGER
);
CREATE INDEX mail_due ON mail (next_try_at, id) WHERE status IN ('queued', 'sending');
CREATE INDEX mail_age ON mail (created_at);
`;

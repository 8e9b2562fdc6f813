/** Tables: costs, guidance, performance audits, the time tracker, reports, mail. Times are milliseconds. */
export const records = `
-- Costs --------------------------------------------------------------------------------------------------------------
CREATE TABLE cost (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL DEFAULT 'cost' CHECK (kind IN ('cost', 'income')),
  name TEXT NOT NULL,
  url TEXT NOT NULL DEFAULT '',
  type TEXT NOT NULL CHECK (type IN ('subscription', 'lifetime')),
  product_type TEXT NOT NULL DEFAULT '',
  license_type TEXT NOT NULL CHECK (license_type IN ('single_site', 'multi_site')),
  cost_status TEXT NOT NULL CHECK (cost_status IN ('active', 'canceled', 'onhold', 'expired', 'pending_cancelation')),
  payment_method TEXT NOT NULL DEFAULT '',
  -- Decimal text, up to 8 places: money is never a float.
  price TEXT NOT NULL,
  renewal_type TEXT CHECK (renewal_type IN ('weekly', 'monthly', 'quarterly', 'yearly')),
  last_renewal TEXT,
  note TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE TABLE cost_target (
  cost_id INTEGER NOT NULL REFERENCES cost (id) ON DELETE CASCADE,
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  tag_id INTEGER REFERENCES tag (id) ON DELETE CASCADE,
  client_id INTEGER REFERENCES client (id) ON DELETE CASCADE,
  CHECK ((site_id IS NOT NULL) + (tag_id IS NOT NULL) + (client_id IS NOT NULL) = 1)
);
CREATE UNIQUE INDEX cost_target_once ON cost_target (cost_id, ifnull(site_id, 0), ifnull(tag_id, 0), ifnull(client_id, 0));
CREATE INDEX cost_target_by_site ON cost_target (site_id) WHERE site_id IS NOT NULL;
CREATE INDEX cost_target_by_tag ON cost_target (tag_id) WHERE tag_id IS NOT NULL;
CREATE INDEX cost_target_by_client ON cost_target (client_id) WHERE client_id IS NOT NULL;
-- Asked before a product type or payment method is deleted.
CREATE INDEX cost_by_product_type ON cost (product_type) WHERE product_type <> '';
CREATE INDEX cost_by_payment_method ON cost (payment_method) WHERE payment_method <> '';

-- Guidance ------------------------------------------------------------------------------------------------------------
-- What to watch out for before sites are changed: of a site, of a client's sites, or, without either, of all.
CREATE TABLE guidance (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  client_id INTEGER REFERENCES client (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  author TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL = for good.
  until INTEGER,
  -- NULL = a program proposed it, and nobody has confirmed it.
  confirmed_by TEXT,
  CHECK (site_id IS NULL OR client_id IS NULL)
);
CREATE INDEX guidance_by_site ON guidance (site_id) WHERE site_id IS NOT NULL;
CREATE INDEX guidance_by_client ON guidance (client_id) WHERE client_id IS NOT NULL;

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

/** Example records for the interface description. */

export const exampleSite = {
  id: 1,
  name: 'Example',
  url: 'https://example.com/',
  client_id: null,
  status: 'connected',
};

export const examplePlugin = {
  slug: 'akismet/akismet.php',
  name: 'Akismet',
  version: '5.3',
  description: 'Keeps spam out of the comments.',
  active: 1,
  mu: 0,
  is_child_agent: false,
  update_version: '5.3.1',
};

export const exampleTheme = {
  slug: 'twentytwentyfive',
  name: 'Twenty Twenty-Five',
  title: 'Twenty Twenty-Five',
  version: '1.3',
  description: 'Made for any kind of site.',
  active: 1,
  parent_active: 0,
  child_active: 0,
  child_theme: null,
  update_version: null,
};

export const exampleOffer = {
  Name: 'Akismet',
  Version: '5.3',
  current_version: '5.3',
  new_version: '5.3.1',
  update: { slug: 'akismet/akismet.php', new_version: '5.3.1' },
};

export const exampleFullSite = {
  ...exampleSite,
  client_name: null,
  admin_username: 'admin',
  note: '',
  notes: '',
  ip: '203.0.113.7',
  is_staging: false,
  suspended: 0,
  wp_version: '6.8.2',
  php_version: '8.3.6',
  child_version: '6.1',
  mysql_version: '8.0.36',
  memory_limit: '256M',
  database_size: null,
  language: 'en_US',
  timezone: 'Europe/Berlin',
  active_theme: 'Twenty Twenty-Five 1.3',
  http_status: '200 - OK',
  http_code: 200,
  health_status: 'Good',
  health_score: 92,
  last_check: { reachable: true, http_status: 200, checked_at: '2026-11-20T04:00:03Z' },
  status_reason: null,
  status_since: null,
  sync_errors: '',
  icon: null,
  last_sync: '2026-11-20T04:00:00Z',
  last_backup: { plugin: 'updraftplus', made_at: '2026-11-20T01:12:00Z', looked_at: '2026-11-20T04:00:00Z' },
  last_post_time: '2026-11-18T09:30:00Z',
  is_ignoreCoreUpdates: 0,
  is_ignorePluginUpdates: 0,
  is_ignoreThemeUpdates: 0,
  verify_certificate: 1,
  force_use_ipv4: 2,
  ssl_version: 0,
  automatic_update: 0,
  backup_before_upgrade: 2,
  disable_health_checking: 2,
  health_threshold: 0,
  monitoring_emails: [],
  plugins: [examplePlugin],
  themes: [exampleTheme],
  recent_posts: [],
  recent_pages: [],
  recent_comments: [],
  categories: ['News'],
  wp_upgrades: null,
  plugin_upgrades: { 'akismet/akismet.php': exampleOffer },
  theme_upgrades: {},
  premium_upgrades: {},
  translation_upgrades: [],
  ignored_plugins: {},
  ignored_themes: {},
  stats: { plugin_updates: 1, theme_updates: 0, wp_update_available: false, health_score: 92 },
  tags: { 1: 'Shops' },
  tag_list: [{ id: 1, name: 'Shops', color: '#5EC130' }],
};

const times = { created_at: '2026-11-01T08:00:00Z', updated_at: '2026-11-20T08:00:00Z' };

export const exampleListedClient = {
  id: 1,
  name: 'Example Ltd',
  email: 'office@example.com',
  phone: '',
  status: 'active',
  sites_count: 2,
  created_at: times.created_at,
};

export const exampleClient = {
  ...exampleListedClient,
  address_1: '',
  address_2: '',
  city: '',
  state: '',
  zip: '',
  country: '',
  note: '',
  ...times,
};

export const exampleListedTag = { id: 1, name: 'Shops', color: '#5EC130', sites_count: 4 };
export const exampleTag = { ...exampleListedTag, ...times };

export const exampleCost = {
  id: 1,
  kind: 'cost',
  name: 'Hosting',
  url: '',
  type: 'subscription',
  product_type: 'hosting',
  license_type: 'single_site',
  cost_status: 'active',
  payment_method: 'paypal',
  price: '12.50',
  renewal_type: 'monthly',
  last_renewal: '2026-11-01',
  next_renewal: '2026-12-01',
  note: '',
  sites: [1],
  groups: [],
  clients: [],
  ...times,
};
